"""`separatrix.write_report`: the command's report from Python, of files, learners and tables in memory."""

import json

import numpy as np
import pytest

import separatrix
import separatrix.errors
from separatrix.app.cli.running import run

from .made import WICKED, fitted


@pytest.fixture(scope="module")
def rows():
    """Two numbers, a class that they tell in part."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    return X, np.where(X[:, 0] + rng.normal(size=120) > 0, "yes", "no")


def test_files_give_the_facts_of_the_command(tmp_path, known):
    data, model = fitted(tmp_path, "two")
    found = separatrix.write_report(model, data, tmp_path / "r.html")
    theirs = known["two"]
    assert {**found["repeat"], "report": ""} == {**theirs["repeat"], "report": ""}
    assert json.loads(json.dumps(found["held_out"])) == theirs["held_out"]
    assert found["checks"] == theirs["checks"]
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert 'id="model-file"' in text
    assert "separatrix.write_report(&#39;two.json&#39;" in text


@pytest.mark.parametrize("ending", ["md", "json"])
def test_the_name_of_the_file_tells_the_format(tmp_path, ending, rows):
    X, y = rows
    learner = separatrix.LogisticRegression().fit(X, y)
    found = separatrix.write_report(learner, {"x0": X[:, 0], "x1": X[:, 1], "y": y}, tmp_path / f"r.{ending}",
                                    target="y", cv=2)  # fmt: skip
    text = (tmp_path / f"r.{ending}").read_text(encoding="utf-8")
    assert text.startswith("# Report") if ending == "md" else json.loads(text) == json.loads(json.dumps(found))


def test_a_learner_and_a_frame_are_known_to_belong_together_by_what_they_teach(tmp_path, rows):
    """No fingerprint tells which rows a learner saw; but taught again by these it is the same."""
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=["first column", "x1"]).assign(y=y)
    learner = separatrix.LogisticRegression().fit(frame[["first column", "x1"]], y)
    found = separatrix.write_report(learner, frame, tmp_path / "r.html", target="y", cv=3)
    states = {each["name"]: each["state"] for each in found["checks"]}
    assert states["Repeatable"] == states["Certificate"] == "passed"
    assert found["repeat"]["seen"]
    line = found["weights"]["blocks"][0]["lines"][1]
    assert found["weights"]["intervals"]  # of the learner that was taught again: its file keeps none
    told = learner.inference(frame[["first column", "x1"]], y)
    assert [line["low"], line["high"]] == pytest.approx(np.reshape(told.interval(), (-1, 2))[1].tolist())
    other = frame.assign(y=y[::-1])
    found = separatrix.write_report(learner, other, tmp_path / "r.html", target="y", cv=3)
    (check,) = [each for each in found["checks"] if each["name"] == "Repeatable"]
    assert check["state"] == "not known"
    assert "does not say which rows" in check["sentence"]
    assert not found["weights"]["intervals"]


def test_numbers_of_a_table_in_memory_are_read_to_the_last_bit(tmp_path, rows):
    X, y = rows
    model = separatrix.LogisticRegression().fit(X, y)
    found = separatrix.write_report(model, {"x0": X[:, 0], "x1": X[:, 1], "y": y}, tmp_path / "r.json", target="y")
    assert found["data"]["columns"][0]["maximum"] == X[:, 0].max()


def differing(first, second, path=""):
    """Where two reports differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = [*first, *(key for key in second if key not in first)]
        return [each for key in keys for each in differing(first.get(key), second.get(key), f"{path}/{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [
            each for k, pair in enumerate(zip(first, second, strict=True)) for each in differing(*pair, f"{path}/{k}")
        ]
    return [] if first == second else [path]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_a_table_in_memory_gives_the_report_of_its_file(tmp_path, monkeypatch, kind):
    """Numbers, levels, true and false, missing cells."""
    pandas, polars, arrow = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, city = rng.normal(size=200), rng.choice(["Bonn", "Oslo", "Rome"], 200)
    y = np.where(a + (city == "Bonn") + rng.logistic(size=200) > 0, "yes", "no")
    frame = pandas.DataFrame(
        {"a": a, "b": rng.integers(0, 5, 200), "city": city, "flag": rng.random(200) < 0.5, "y": y}
    )
    frame.loc[3, "a"], frame.loc[5, "city"] = np.nan, None
    frame.to_csv("t.csv", index=False)
    assert run(["fit", "t.csv", "--target", "y", "--missing", "impute", "--quiet"]) == 0
    table = {
        "pandas": frame, "polars": polars.from_pandas(frame), "arrow": arrow.Table.from_pandas(frame),
        "mapping": {name: list(frame[name]) for name in frame},
    }[kind]  # fmt: skip
    for where in (None, "a > 0 and city <> 'Bonn'"):
        files, memory = (
            json.loads(json.dumps(separatrix.write_report("model.json", data, "r.json", where=where)))
            for data in ("t.csv", table)
        )
        for each in (files, memory):
            for name in ("files", "fingerprint", "report"):
                each["repeat"].pop(name)
        assert differing(files, memory) == []


def test_a_condition_sees_the_table_in_memory_and_nothing_else(tmp_path, rows):
    X, y = rows
    table = {"x0": X[:, 0], "x1": X[:, 1], "y": y}
    model = separatrix.LogisticRegression().fit(X, y)
    (tmp_path / "t.csv").write_text("x0\n1\n")
    for where in ("nothing > 1", "x0 > 0) or (1=1", f"x0 in (select x0 from read_csv('{tmp_path}/t.csv'))"):
        with pytest.raises(separatrix.errors.SettingError, match="where is"):
            separatrix.write_report(model, table, tmp_path / "r.json", target="y", where=where)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [({"cv": 1}, ValueError, "cv is 1"), ({"level": 2}, ValueError, "level is 2"),
     ({"format": "pdf"}, ValueError, "format is 'pdf'"), ({"positive": "perhaps"}, ValueError, "positive is 'perhaps'"),
     ({"target": None}, ValueError, "which column holds the classes"), ({"data": 5}, TypeError, "data is int"),
     ({"target": "colour"}, ValueError, "colour")],
)  # fmt: skip
def test_what_cannot_be_is_said_in_words_of_python_and_nothing_is_written(tmp_path, rows, given, error, said):
    X, y = rows
    arguments = {"data": {"x0": X[:, 0], "x1": X[:, 1], "y": y}, "target": "y"} | given
    with pytest.raises(error, match=said) as raised:
        separatrix.write_report(separatrix.LogisticRegression().fit(X, y), path=tmp_path / "r.html", **arguments)
    assert "--" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_name_stays_a_name(tmp_path):
    data, model = fitted(tmp_path, "three")
    separatrix.write_report(str(model), [str(data)], tmp_path / "r.md", cv=2)
    assert WICKED not in (tmp_path / "r.md").read_text(encoding="utf-8")
