"""`separatrix predict`: every column as it went in, then what the model says."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix

from .tables import matrix, shop


@pytest.fixture
def fitted(write, command):
    """A table and a model of it."""

    def made(*typed, **how):
        text = shop(**how)
        write(text)
        assert command("fit", "data.csv", "--target", "bought", "--quiet", *typed)[0] == 0
        return text

    return made


def rows_of(out, separator=","):
    return list(csv.DictReader(io.StringIO(out), delimiter=separator))


def test_columns_come_out_as_they_went_in(fitted, command):
    text = fitted("--l2", "0.01")
    status, out, _ = command("predict", "model.json", "data.csv", "--proba", "--distance")
    assert status == 0
    before, after = rows_of(text), rows_of(out)
    added = ["prediction", "probability of no", "probability of yes", "distance"]
    assert list(after[0]) == [*before[0], *added]
    assert [{name: row[name] for name in before[0]} for row in after] == before
    X, y = matrix(text)
    own = separatrix.LogisticRegression(l2=0.01).fit(X, y)
    assert [row["prediction"] for row in after] == own.predict(X).tolist()
    np.testing.assert_array_equal([float(row["probability of yes"]) for row in after], own.predict_proba(X)[:, 1])
    np.testing.assert_allclose([float(row["distance"]) for row in after], own.rule_.distance(X), rtol=1e-12)


def test_cells_that_only_look_like_numbers_stay_texts(fitted, write, command):
    fitted()
    write('age,income,city,code,note\n 40 ,20.50,Bonn,007,"say ""hi"", then\nleave"\n1e1,+3,Oslo,1.10,\n')
    status, out, _ = command("predict", "model.json", "data.csv")
    assert status == 0
    assert [list(row.values())[:-1] for row in rows_of(out)] == [
        [" 40 ", "20.50", "Bonn", "007", 'say "hi", then\nleave'],
        ["1e1", "+3", "Oslo", "1.10", ""],
    ]


def test_the_order_of_columns_is_free_and_the_target_need_not_be_there(fitted, write, command):
    text = fitted()
    there = [row["prediction"] for row in rows_of(command("predict", "model.json", "data.csv")[1])]
    out = io.StringIO()
    writer = csv.DictWriter(out, ["city", "more", "income", "age"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows([{**row, "more": "x"} for row in rows_of(text)])
    write(out.getvalue(), "other.csv")
    found = rows_of(command("predict", "model.json", "other.csv")[1])
    assert [row["prediction"] for row in found] == there
    assert list(found[0]) == ["city", "more", "income", "age", "prediction"]


def test_all_formats_say_the_same(fitted, command, answer, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    fitted()
    want = [(row["prediction"], float(row["probability of yes"])) for row in
            rows_of(command("predict", "model.json", "data.csv", "--proba")[1])]  # fmt: skip
    plain = command("predict", "model.json", "data.csv", "--proba", "--format", "tsv")[1]
    assert [(row["prediction"], float(row["probability of yes"])) for row in rows_of(plain, "\t")] == want
    lines = command("predict", "model.json", "data.csv", "--proba", "--only", "--format", "jsonl")[1]
    found = [json.loads(line) for line in lines.splitlines()]
    assert [(row["prediction"], row["probability of yes"]) for row in found] == want
    assert list(found[0]) == ["prediction", "probability of no", "probability of yes"]
    assert command("predict", "model.json", "data.csv", "--proba", "-o", "out.json")[1] == ""
    found = json.loads((tmp_path / "out.json").read_text())
    assert [(row["prediction"], row["probability of yes"]) for row in found] == want
    assert command("predict", "model.json", "data.csv", "--proba", "-o", "out.parquet")[0] == 0
    table = duckdb.sql("SELECT prediction, \"probability of yes\" FROM 'out.parquet'").fetchall()
    assert table == want
    data = answer("predict", "model.json", "data.csv", "--proba")[1]
    assert [(row["prediction"], row["probabilities"]["yes"]) for row in data["predictions"]] == want


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_the_threshold_decides(threshold, fitted, answer):
    fitted()
    _, data = answer("predict", "model.json", "data.csv", "--proba", "--threshold", str(threshold))
    assert all(
        (row["prediction"] == "yes") == (row["probabilities"]["yes"] >= threshold) for row in data["predictions"]
    )
    if threshold == 0.5:
        plain = answer("predict", "model.json", "data.csv")[1]
        assert [row["prediction"] for row in plain["predictions"]] == [row["prediction"] for row in data["predictions"]]


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_contributions_are_the_largest_of_the_model(classes, fitted, command, answer):
    text = fitted("--standardise", "--l2", "0.01", classes=classes)
    _, data = answer("predict", "model.json", "data.csv", "--explain")
    raw = [(float(row["age"]), float(row["income"])) for row in rows_of(text)]
    for row, (age, income) in zip(data["predictions"], raw, strict=True):
        sizes = [abs(each["contribution"]) for each in row["because"]]
        assert 1 <= len(sizes) <= 3
        assert sizes == sorted(sizes, reverse=True)
        values = {each["name"]: each["value"] for each in row["because"]}
        assert values.get("age", age) == pytest.approx(age)
        assert values.get("income", income) == pytest.approx(income)
    words = rows_of(command("predict", "model.json", "data.csv", "--explain")[1])[0]["because"]
    first = data["predictions"][0]["because"][0]
    value = first["value"] if isinstance(first["value"], str) else f"{first['value']:.6g}"
    assert words.startswith(f"{first['name']} = {value} ")


def test_unseen_levels_and_missing_values(fitted, write, command, answer):
    fitted()
    write("age,income,city\n40,20,Bonn\n50,,Paris\n")
    status, _, said = command("predict", "model.json", "data.csv")
    assert status == 3
    assert "column 'income'" in said
    write("age,income,city\n40,20,Bonn\n40,20,Paris\n")
    status, _, said = command("predict", "model.json", "data.csv")
    assert status == 3
    assert "data.csv line 3, column 'city'" in said
    assert "--unseen reference" in said
    _, data = answer("predict", "model.json", "data.csv", "--unseen", "reference", "--proba")
    assert data["predictions"][0] == data["predictions"][1]


def test_a_name_that_is_taken(fitted, write, command):
    fitted()
    write("prediction,age,income,city\nold,40,20,Bonn\n")
    status, out, said = command("predict", "model.json", "data.csv")
    assert (status, out) == (2, "")
    assert "--prefix" in said
    assert "--only" in said
    found = rows_of(command("predict", "model.json", "data.csv", "--prefix", "new ")[1])
    assert list(found[0]) == ["prediction", "age", "income", "city", "new prediction"]
    assert list(rows_of(command("predict", "model.json", "data.csv", "--only")[1])[0]) == ["prediction"]


@pytest.mark.parametrize(
    ("typed", "status", "parts"),
    [
        (["nothing.json", "data.csv"], 3, ["nothing.json"]),
        (["data.csv", "data.csv"], 3, ["data.csv", "not JSON"]),
        (["model.json", "other.csv"], 3, ["the model needs the column 'income'", "Did you mean 'incom'?"]),
        (["model.json", "data.csv", "--threshold", "2"], 2, ["between 0 and 1"]),
        (["model.json", "data.csv", "-o", "model.json"], 2, ["would be lost"]),
        (["model.json", "data.csv", "-o", "data.csv"], 2, ["would be lost"]),
        (["model.json", "data.csv", "-o", "out.xls"], 2, ["'.xls' tells no format"]),
        (["model.json", "data.csv", "-o", "no/out.csv"], 2, ["no folder 'no'"]),
        (["plain.json", "data.csv"], 2, ["without a table"]),
        (["pocket.json", "data.csv", "--proba"], 2, ["has no probabilities"]),
        (["kernel.json", "data.csv", "--distance"], 2, ["is no plane"]),
        (["kernel.json", "data.csv", "--explain"], 2, ["not linear"]),
        (["three.json", "data.csv", "--threshold", "0.5"], 2, ["for two classes"]),
    ],
)
def test_what_cannot_be_is_said(typed, status, parts, fitted, write, command, tmp_path):
    text = fitted()
    write("age,incom,city\n1,2,Bonn\n", "other.csv")
    X, y = matrix(text)
    separatrix.save(separatrix.LogisticRegression().fit(X, y), "plain.json")
    if typed[0] in ("pocket.json", "kernel.json"):
        name = typed[0].partition(".")[0]
        extra = ["--kernel", "rbf"] if name == "kernel" else []
        command("fit", "data.csv", "--target", "bought", "--learner", name, "--max-passes", "3", "-o", typed[0], *extra)
    if typed[0] == "three.json":
        command("fit", "data.csv", "--target", "city", "--l2", "1", "-o", "three.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found, out, said = command("predict", *typed)
    assert (found, out) == (status, "")
    said = re.sub(r"\s+", " ", said)
    assert all(part in said for part in parts), said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_neither_scikit_learn_nor_numba_nor_scipy_is_imported(fitted, tmp_path):
    fitted()
    code = (
        "import sys\nfrom separatrix.app.cli.running import run\n"
        "status = run(['predict', 'model.json', 'data.csv', '--proba', '--distance', '--explain', '-o', 'out.csv'])\n"
        "loaded = [name for name in ('sklearn', 'numba', 'scipy', 'pandas', 'rich') if name in sys.modules]\n"
        "sys.exit(f'{status} {loaded}' if status or loaded else 0)"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(separatrix.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(rows_of((tmp_path / "out.csv").read_text())) == 120
