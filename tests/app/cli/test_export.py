"""`separatrix export`: a saved model in another language."""

import json

import jsonschema
import numpy as np
import pytest

import separatrix
from separatrix import KernelPerceptron, LogisticRegression
from separatrix.app.cli.schema import published

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=60) > 0, "yes", "no")


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    separatrix.save(LogisticRegression().fit(X, Y), "model.json")
    return separatrix.load("model.json")


def test_the_text_goes_to_stdout(model, command):
    status, out, err = command("export", "model.json", "--to", "sql", "--dialect", "sqlite", "--table", "my data")
    assert status == 0
    assert out == separatrix.export(model, "sql", dialect="sqlite", table="my data")
    assert "rows were run through it and agree" in err


@pytest.mark.parametrize("to", ["onnx", "sql", "python", "c", "spreadsheet"])
def test_files_and_json(model, command, tmp_path, to):
    if to == "onnx":
        pytest.importorskip("onnx")
    first = command("export", "model.json", "--to", to, "-o", "out")
    assert first[0] == 0
    assert "The model is in out. " in first[2]
    status, out, _ = command("export", "model.json", "--to", to, "-o", "out", "--json")
    answer = json.loads(out)
    jsonschema.validate(answer, published("export"))
    content = (tmp_path / "out").read_bytes()
    expected = separatrix.export(model, to)
    assert status == 0
    assert content == (expected if to == "onnx" else expected.encode())
    assert answer["bytes"] == len(content)
    assert (answer["checked_rows"] > 0) == (to in ("onnx", "sql", "python"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_answer_without_a_file_holds_the_text(model, command):
    _, out, _ = command("export", "model.json", "--to", "c", "--name", "score", "--no-probabilities", "--json")
    answer = json.loads(out)
    jsonschema.validate(answer, published("export"))
    assert answer["text"] == separatrix.export(model, "c", name="score", probabilities=False)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--to", "c", "--table", "t"], 2, "--table is no option of --to c, which has --name."),
        (["--to", "onnx"], 2, "name one:  --output model.onnx"),
        (["--to", "python", "--name", "class"], 2, "name is 'class'; it must be"),
        (["--to", "fortran"], 2, "fortran"),
        ([], 2, "--to"),
    ],
)
def test_wrong_usage(model, command, words, status, said):
    found = command("export", "model.json", *words)
    assert found[0] == status
    assert said in found[2]


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_has_no_formula_and_a_file_that_is_not_there(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    separatrix.save(KernelPerceptron("rbf", max_passes=2).fit(X, Y), "kernel.json")
    status, _, err = command("export", "kernel.json", "--to", "sql", "-o", "out.sql")
    assert status == 3
    assert "KernelPerceptron has a rule of kind 'kernel'" in " ".join(err.split())
    assert not (tmp_path / "out.sql").exists()
    assert command("export", "nothing.json", "--to", "sql")[0] == 3
