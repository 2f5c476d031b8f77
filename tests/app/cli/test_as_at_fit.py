"""How the table was read at the fit is remembered by the model: nobody types it again, and whoever does is heard."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import separatrix
from separatrix.app.cli.options import KnownTable, Reading, as_at_the_fit
from separatrix.app.cli.schema import published
from separatrix.app.models.document import ModelFileError
from separatrix.app.tasks.saved import reading_to_keep

SAID = ("--na", "?", "--na", "-", "--decimal", ",", "--no-header", "--encoding", "latin-1")

WHERE = "x0 > -1 or x0 is null"


@pytest.fixture
def here(tmp_path, monkeypatch, command):
    """Decimal commas, two marks for what is missing, no names, letters of Latin-1; and a model of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    a = rng.normal(size=80).round(2)
    y = np.where(a + rng.logistic(size=80) > 0, "für", "wider")
    cells = ["?" if k % 13 == 0 else "-" if k % 17 == 0 else f"{value}".replace(".", ",") for k, value in enumerate(a)]
    Path("t.csv").write_text("".join(f"{u};{v}\n" for u, v in zip(cells, y, strict=True)), encoding="latin-1")
    status, _, said = command("fit", "t.csv", "--target", "x1", "--missing", "impute", *SAID, "--quiet")
    assert status == 0, said
    return tmp_path


def test_the_model_file_holds_what_was_said_and_nothing_else(here):
    document = json.loads(Path("model.json").read_text())
    assert document["training"]["reading"] == {
        "na": ["?", "-"], "decimal": ",", "header": False, "encoding": "latin-1",
    }  # fmt: skip
    jsonschema.validate(document, published("model"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"training": {"reading": {"where": "1=1"}}}, published("model"))
    assert reading_to_keep(Reading()) == {}
    assert reading_to_keep(Reading(where="a > 1", sample=5, drop=("x",), header=True)) == {"header": True}


@pytest.mark.parametrize("typed", [("predict",), ("evaluate",), ("explain", "--row", "2"), ("report", "-o", "r.json")])
def test_nothing_has_to_be_typed_again(here, command, typed):
    first, *rest = typed
    status, out, said = command(first, "model.json", "t.csv", *rest)
    assert status == 0, said
    words = " ".join(said.split())
    assert "The table is read as at the fit: --na '?' --na - --decimal , --no-header --encoding latin-1." in words
    status, again, _ = command(first, "model.json", "t.csv", *rest, *SAID)
    assert (status, again) == (0, out)


def test_what_is_typed_is_heard_and_only_the_rest_is_remembered(here, command):
    Path("n.csv").write_text("x0;x1\n0.5;für\nnix;wider\n")
    status, out, said = command("predict", "model.json", "n.csv", "--na", "nix", "--decimal", ".", "--header",
                                "--encoding", "utf-8", "--only", "--quiet")  # fmt: skip
    assert status == 0, said
    assert len(out.splitlines()) == 3
    status, _, said = command("predict", "model.json", "n.csv", "--decimal", ".", "--header", "--encoding", "utf-8")
    assert status == 3  # nix is no number, and not among the marks of the fit
    assert "nix" in said


def test_a_file_of_another_kind_has_its_own_header_and_letters(here, command):
    Path("n.jsonl").write_text('{"x0": 0.5, "x1": "für"}\n{"x0": "?", "x1": "wider"}\n', encoding="utf-8")
    status, out, said = command("evaluate", "model.json", "n.jsonl", "--json")
    assert status == 0, said
    assert json.loads(out)["rows"] == 2


@pytest.mark.parametrize(
    "reading",
    [{"na": "?"}, {"na": [1]}, {"decimal": ";"}, {"header": "no"}, {"encoding": 8}, {"where": "1=1"}, ["na"], "na"],
)
def test_a_file_that_says_otherwise_is_refused(here, reading):
    document = json.loads(Path("model.json").read_text())
    document["training"]["reading"] = reading
    Path("m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="reading"):
        separatrix.load("m.json", accept_changes=True)


def test_a_model_that_remembers_nothing_adds_nothing(here):
    model = separatrix.app.models.from_learner.model_of(
        separatrix.LogisticRegression().fit([[0.0], [1.0], [0.5], [0.2]], [0, 1, 0, 1])
    )
    said = KnownTable(na=("x",))
    assert as_at_the_fit(said, model, ("t.csv",)) == (said, "")


def test_which_rows_were_taken_is_asked_anew_and_told(here, command):
    status, _, said = command("fit", "t.csv", "--target", "x1", "--missing", "impute", *SAID, "--where", WHERE,
                              "-o", "w.json")  # fmt: skip
    assert status == 0, said
    assert "where" not in json.loads(Path("w.json").read_text())["training"]["reading"]
    status, _, said = command("report", "w.json", "t.csv", "-o", "r.json")
    assert status == 0, said
    assert f"fitted with --where '{WHERE}'; say it again" in " ".join(said.split())
    status, _, said = command("report", "w.json", "t.csv", "-o", "r.json", "--where", WHERE)
    assert "say it again" not in said
    checks = {each["name"]: each["state"] for each in json.loads(Path("r.json").read_text())["checks"]}
    assert checks["Repeatable"] == "passed"
