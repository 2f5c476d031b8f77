"""`separatrix fit`: what is saved is what the learner learns from the table, and all that was done is said."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix.app.tasks.learners import LEARNERS

from .tables import matrix, shop


def test_the_model_is_the_learners_own(write, answer):
    text = shop()
    write(text)
    status, data = answer("fit", "data.csv", "--target", "bought", "--l2", "0.01")
    X, y = matrix(text)
    own = separatrix.LogisticRegression(l2=0.01, random_state=0).fit(X, y)
    model = separatrix.load("model.json")
    assert status == 0
    assert model.classes == ("no", "yes")
    assert model.features[:2] == ("age", "income")
    np.testing.assert_array_equal(model.rule.linear().weights, own.coef_[0])
    np.testing.assert_array_equal(model.probabilities(X), own.predict_proba(X))
    assert data["verdict"]["status"] == own.verdict_.status == "optimal"
    assert [each["name"] for each in data["ignored"]] == ["id"]
    weights = {each["name"]: each["weight"] for each in data["coefficients"]}
    assert weights["age"] == own.coef_[0, 0]
    assert weights["(intercept)"] == own.intercept_[0]


THIN = [
    [], ["--l2", "0.01"], ["--l2", "cv"], ["--cv", "2"], ["--weights", "age"], ["--missing", "impute"],
    ["--standardise"], ["--class-weight", "balanced"], ["--no-fit-intercept"], ["--init", "zero"],
]  # fmt: skip


@pytest.mark.parametrize("asked", THIN, ids=" ".join)
def test_a_large_table_with_categories_is_learnt_without_its_zeros(asked, write, answer, monkeypatch):
    from separatrix.app.tables import encoding as table_rows

    write(shop(400, missing="--missing" in asked))
    typed = ("fit", "data.csv", "--target", "bought", *asked)
    _, plain = answer(*typed, "-o", "plain.json")
    for name, least in (("LARGE", 0), ("THINNER", 0)):
        monkeypatch.setattr(table_rows, name, least)
    given = []
    monkeypatch.setattr(
        "separatrix.app.tasks.lesson.table_rows", lambda *args: given.append(1) or table_rows.table_rows(*args)
    )
    status, thin = answer(*typed, "-o", "thin.json")
    assert status == 0
    assert given == [1]
    assert thin["verdict"]["status"] == plain["verdict"]["status"] == "optimal"
    for one, other in zip(thin["coefficients"], plain["coefficients"], strict=True):
        assert one["name"] == other["name"]
        assert one["weight"] == pytest.approx(other["weight"], rel=1e-6)
    one, other = (json.loads(Path(f"{name}.json").read_text()) for name in ("thin", "plain"))
    assert one["training"].keys() == other["training"].keys()
    assert (one["training"]["summary"] is None) is (other["training"]["summary"] is None)
    X = np.random.default_rng(0).normal(size=(50, len(separatrix.load("thin.json").features)))
    np.testing.assert_allclose(
        *(separatrix.load(f"{name}.json").probabilities(X) for name in ("thin", "plain")), rtol=1e-6
    )


EXTRA = {
    "zero-one": ["--where", "age < 40", "--drop", "income", "--drop", "city"],
    "bernoulli-naive-bayes": ["--threshold", "20"],
    "perceptron": ["--max-passes", "5"],
    "joint-perceptron": ["--max-passes", "5"],
    "pocket": ["--max-passes", "5"],
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_fitted_saved_and_predicts(name, write, answer):
    write(shop(60))
    status, data = answer("fit", "data.csv", "--target", "bought", "--learner", name, *EXTRA.get(name, []))
    assert status == 0
    assert data["learner"] == name
    assert data["parameters"].keys() >= LEARNERS[name].defaults.keys()
    status, found = answer("predict", "model.json", "data.csv")
    assert status == 0
    assert sum(found["counts"].values()) == found["rows"] == 60
    assert answer("summary", "model.json")[1]["learner"] == name


@pytest.mark.parametrize("reduction", ["one-vs-rest", "one-vs-one", "output-code"])
def test_several_classifiers_of_two(reduction, write, answer):
    write(shop(classes=("a", "b", "c")))
    status, data = answer("fit", "data.csv", "--target", "bought", "--reduction", reduction, "--l2", "0.1")
    assert (status, data["reduction"]) == (0, reduction)
    assert [each["class"] for each in data["classes"]] == ["a", "b", "c"]
    assert answer("predict", "model.json", "data.csv", "--proba")[0] == 0


def test_the_same_seed_the_same_bytes_and_the_command_is_kept(write, command, tmp_path):
    write(shop(missing=True))
    typed = [
        "--target",
        "bought",
        "--missing",
        "impute",
        "--standardise",
        "--l2",
        "cv",
        "--seed",
        "5",
        "--no-averaging",
    ]
    folder = tmp_path / "in a folder"
    folder.mkdir()
    (folder / "data.csv").write_text(shop(missing=True))
    assert command("fit", str(folder / "data.csv"), *typed, "-o", "one.json")[0] == 0
    kept = separatrix.load("one.json").training["command"]
    assert str(tmp_path) not in (tmp_path / "one.json").read_text()
    again = shlex.split(kept)
    assert again[:3] == ["separatrix", "fit", "data.csv"]
    assert command(*again[1:], "-o", "two.json")[0] == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_weight_is_a_number_of_rows(write, command):
    rows = [("1", "no", 2), ("2", "yes", 1), ("3", "no", 3), ("4", "yes", 2), ("2.5", "yes", 0)]
    write("x,y,w\n" + "".join(f"{x},{y},{w}\n" for x, y, w in rows), "weighted.csv")
    write("x,y\n" + "".join(f"{x},{y}\n" * w for x, y, w in rows), "plain.csv")
    assert command("fit", "weighted.csv", "--target", "y", "--weights", "w", "-o", "w.json")[0] == 0
    assert command("fit", "plain.csv", "--target", "y", "-o", "p.json")[0] == 0
    one, other = (separatrix.load(name).rule.linear().weights for name in ("w.json", "p.json"))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_missing_values_are_an_error_or_filled_and_told(write, command, answer):
    write(shop(missing=True))
    status, _, said = command("fit", "data.csv", "--target", "bought")
    assert status == 3
    assert "data.csv line 2, column 'income'" in said
    assert "--missing impute" in said
    status, data = answer("fit", "data.csv", "--target", "bought", "--missing", "impute")
    assert status == 0
    assert data["indicators"] == ["income"]
    assert "income is missing" in {each["name"] for each in data["coefficients"]}
    assert "1 indicator" in " ".join(command("fit", "data.csv", "--target", "bought", "--missing", "impute")[2].split())


def test_standardising_changes_weights_and_no_prediction(write, command, answer):
    write(shop())
    command("fit", "data.csv", "--target", "bought", "-o", "raw.json")
    command("fit", "data.csv", "--target", "bought", "--standardise", "-o", "standard.json")
    found = [answer("predict", name, "data.csv", "--proba")[1] for name in ("raw.json", "standard.json")]
    one, other = ([each["probabilities"]["yes"] for each in data["predictions"]] for data in found)
    np.testing.assert_allclose(one, other, rtol=1e-8)
    assert (
        separatrix.load("standard.json").rule.linear().weights[0]
        != separatrix.load("raw.json").rule.linear().weights[0]
    )


def test_the_penalty_is_chosen_and_told(write, command, answer):
    write(shop())
    _, data = answer("fit", "data.csv", "--target", "bought", "--l2", "cv")
    X, y = matrix(shop())
    assert data["chosen_l2"] == separatrix.LogisticRegression(l2="cv", random_state=0).fit(X, y).l2_ > 0
    assert f"l2 = {data['chosen_l2']:.6g}" in command("fit", "data.csv", "--target", "bought", "--l2", "cv")[2]
    assert answer("fit", "data.csv", "--target", "bought", "--l2", "0.1")[1]["chosen_l2"] is None


def test_separated_classes_are_told_of_firth(write, command, answer):
    write("x,y\n" + "".join(f"{i},{'no' if i < 10 else 'yes'}\n" for i in range(20)))
    status, _, said = command("fit", "data.csv", "--target", "y")
    assert status == 0
    assert "Separated" in said
    assert "--objective firth" in said
    assert command("fit", "data.csv", "--target", "y", "--strict")[0] == 4
    assert separatrix.load("model.json").verdict["status"] == "separated"
    status, data = answer("fit", "data.csv", "--target", "y", "--objective", "firth", "--strict")
    assert (status, data["verdict"]["ok"], data["replaced"]) == (0, True, True)


def test_a_verdict_that_is_not_ok_is_said_when_quiet_too(write, command):
    write(shop())
    quiet = command("fit", "data.csv", "--target", "bought", "--quiet")
    assert quiet[1:] == ("", "")
    status, out, said = command(
        "fit", "data.csv", "--target", "bought", "--quiet", "--learner", "perceptron", "--max-passes", "2"
    )
    assert (status, out) == (0, "")
    assert said.startswith("note: No separating rule was found")


def test_cross_validation_is_told_and_kept(write, command, answer):
    write(shop(missing=True))
    typed = [
        "fit",
        "data.csv",
        "--target",
        "bought",
        "--missing",
        "impute",
        "--standardise",
        "--cv",
        "4",
        "--seed",
        "2",
    ]
    _, data = answer(*typed)
    measures = {each["name"]: each for each in data["cross_validation"]["measures"]}
    assert data["cross_validation"]["folds"] == 4
    assert 0.5 < measures["auc"]["low"] < measures["auc"]["value"] < measures["auc"]["high"] < 1
    assert answer(*typed)[1] == {**data, "replaced": True}
    assert separatrix.load("model.json").training["cross_validation"] == data["cross_validation"]
    assert "Predicted out of 4 folds" in command(*typed)[2]
    group = answer("fit", "data.csv", "--target", "bought", "--group", "age", "--drop", "income", "--cv", "3")[1]
    assert group["cross_validation"]["grouped"]
    assert "age" not in group["columns"]


def test_features_of_columns(write, answer):
    write(shop())
    status, data = answer(
        "fit", "data.csv", "--target", "bought", "--features", "standardise,polynomial:2", "--l2", "0.1"
    )
    assert status == 0
    assert "age·income" in {each["name"] for each in data["coefficients"]}
    assert answer("predict", "model.json", "data.csv", "--explain")[0] == 0


def test_a_target_that_looks_like_a_measurement_is_told(write, command):
    rows = [(k % 25, k % 7, "ab"[k % 2]) for k in range(200)]
    write("age,x,kind\n" + "".join(f"{a},{x},{kind}\n" for a, x, kind in rows))
    status, _, said = command("fit", "data.csv", "--target", "age", "--learner", "gaussian-naive-bayes", "--quiet")
    assert status == 0
    assert "'age' has 25 different numbers, and each of them was learnt as a class" in said
    _, _, said = command("fit", "data.csv", "--target", "x", "--learner", "gaussian-naive-bayes", "--quiet")
    assert "different numbers" not in said


def test_a_dry_run_fits_nothing(write, answer, tmp_path):
    write(shop())
    status, data = answer("fit", "data.csv", "--target", "bought", "--dry-run")
    assert (status, data["dry_run"], data["rows"]) == (0, True, 120)
    assert {each["name"]: each["kind"] for each in data["columns"]}["city"] == "category"
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize(
    ("typed", "status", "parts"),
    [
        (["data.csv"], 2, ["--target COLUMN", "separatrix schema data.csv"]),
        (["data.csv", "--target", "bougth"], 2, ["Did you mean 'bought'?"]),
        (["data.csv", "--target", "bought", "--learner", "logistik"], 2, ['Did you mean "logistic"?']),
        (["data.csv", "--target", "bought", "--l3", "1"], 2, ["--l3"]),
        (["data.csv", "--target", "bought", "--kernel", "x"], 2, ["--kernel belongs to kernel"]),
        (["data.csv", "--target", "bought", "--solver", "newtn"], 2, ["--solver is 'newtn'", "'newton'"]),
        (["data.csv", "--target", "bought", "--l2", "-1"], 2, ["--l2 is -1"]),
        (["data.csv", "--target", "bought", "--max-passes", "many"], 2, ["--max-passes is 'many'", "a number"]),
        (["data.csv", "--target", "bought", "--cv", "1"], 2, ["--cv is 1"]),
        (["data.csv", "--target", "bought", "--cv", "1000"], 3, ["1000 folds of 120 rows", "--cv 2"]),
        (["data.csv", "--target", "bought", "--weights", "age", "--learner", "pocket"], 2, ["knows no weights"]),
        (["data.csv", "--target", "bought", "--weights", "bought"], 2, ["the same column"]),
        (["data.csv", "--target", "bought", "-o", "no/where.json"], 2, ["there is no folder 'no'"]),
        (["data.csv", "--target", "bought", "-o", "data.csv"], 2, ["is what is read here"]),
        (["data.csv", "--target", "bought", "-o", "."], 2, ["is a folder"]),
        (["data.csv", "--target", "bought", "--features", "cubes"], 2, ["'cubes'", "polynomial:2"]),
        (["data.csv", "--target", "bought", "--features", "interactions", "--learner", "margin"], 2, ["'logistic'"]),
        (["data.csv", "--target", "bought", "--decide", "votes"], 2, ["--decide belongs to one-vs-one, output-code"]),
        (["data.csv", "--target", "id"], 3, ["120 different values in 120 rows"]),
        (["data.csv", "--target", "bought", "--where", "bought = 'no'"], 3, ["every row is of one class, 'no'"]),
        (["nothing.csv", "--target", "bought"], 3, ["nothing.csv"]),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_and_no_file_is_written(typed, status, parts, write, command, tmp_path):
    write(shop())
    found, out, said = command("fit", *typed)
    assert (found, out) == (status, "")
    said = re.sub(r"\s+", " ", said)
    assert said.startswith("error: ")
    assert all(part in said for part in parts), said
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}
    assert (tmp_path / "data.csv").read_text() == shop()


def test_bad_weights_are_named_by_their_place(write, command):
    write("x,y,w\n1,a,1\n2,b,-3\n3,a,1\n4,b,1\n")
    status, _, said = command("fit", "data.csv", "--target", "y", "--weights", "w")
    assert status == 3
    assert "data.csv line 3, column 'w'" in said


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent to a process")
@pytest.mark.parametrize(
    "learner",
    [
        ["logistic", "--solver", "gradient", "--learning-rate", "1e-12", "--max-passes", "1e9"],
        pytest.param(["perceptron", "--max-passes", "1e9"], marks=pytest.mark.slow),
    ],
    ids=["logistic", "perceptron"],
)
def test_one_interrupt_saves_the_model(learner, write, tmp_path):
    write(shop())
    typed = [sys.executable, "-m", "separatrix", "fit", "data.csv", "--target", "bought", "--learner", *learner]
    here = {**os.environ, "PYTHONPATH": str(Path(separatrix.__file__).parents[1])}
    with subprocess.Popen(
        typed, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=here
    ) as running:
        line = ""
        while "step" not in line:
            line = running.stderr.readline()
            assert line, "the fit ended before it was interrupted"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "marked interrupted" in said
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["status"] == document["verdict"]["status"] == "interrupted"
    assert separatrix.load(tmp_path / "model.json").interrupted


def test_an_interrupt_saves_what_a_reduction_has(write, command, monkeypatch, tmp_path):
    write(shop())
    fitted = []

    def stopped(model, X, y):
        fitted.append(model)
        steps = model.stretches(X, y)
        next(steps)
        steps.close()
        raise KeyboardInterrupt

    typed = ["--target", "bought", "--learner", "perceptron", "--reduction", "one-vs-rest"]
    with monkeypatch.context() as patched:
        patched.setattr(separatrix.Perceptron, "fit", stopped)
        status, _, said = command("fit", "data.csv", *typed)
    assert (status, len(fitted)) == (130, 1)
    assert "marked interrupted" in said
    assert separatrix.load(tmp_path / "model.json").interrupted
    assert command("predict", "model.json", "data.csv")[0] == 0
