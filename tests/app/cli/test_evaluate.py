"""`separatrix evaluate`: numbers, groups, thresholds, costs, requirements, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

import separatrix
from separatrix.app.models.file import write as write_model
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table

ROWS = 240


def table_text(seed, k=2, rows=ROWS):
    """Numbers, a category, a weight, a patient and the class."""
    random = np.random.default_rng(seed)
    age, city = random.normal(size=rows).round(3), random.choice(["Bonn", "Rome"], rows)
    z = np.column_stack([0 * age, 1.5 * age + (city == "Rome"), -age])[:, :k]
    label = np.array(["no", "yes", "maybe"])[(z + random.gumbel(size=z.shape)).argmax(axis=1)]
    weight, patient = random.integers(1, 4, rows), random.integers(0, 60, rows)
    lines = [f"{a},{c},{w},p{p},{y}" for a, c, w, p, y in zip(age, city, weight, patient, label, strict=True)]
    return "\n".join(["age,city,weight,patient,y", *lines]) + "\n"


@pytest.fixture
def learnt(write):
    """A model in model.json, the rows it was learnt from in train.csv, others in test.csv."""

    def taught(k=2, estimator=None, **facts):
        train = write(table_text(1, k), "train.csv")
        write(table_text(2, k), "test.csv")
        with open_table([train]) as table:
            decisions = decide(table, target="y", drop=("patient", "weight"))
            encoding = learn_encoding(table, decisions)
            codes, levels = table.coded("y")
            X, y = encoding.matrix(table), np.array(levels)[codes]
            found = {"target": "y", "fingerprint": table.fingerprint(), **facts}
        model = (estimator or separatrix.LogisticRegression()).fit(X, y)
        write_model(model_of(model, encoding=encoding, training=found), "model.json")
        with open_table(["test.csv"]) as table:
            codes, levels = table.coded("y")
            return model, encoding.matrix(table), np.array(levels)[codes], table.numbers("weight")

    return taught


def by_name(data):
    return {one["name"]: one for one in data["measures"]}


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(learnt, answer, weighted):
    model, X, y, w = learnt()
    status, data = answer("evaluate", "model.json", "test.csv", *(["--weights", "weight"] if weighted else []))
    w = w if weighted else None
    p, found = model.predict_proba(X)[:, 1], by_name(data)
    assert status == 0
    assert data["positive"] == "yes"
    assert not data["seen_in_training"]
    assert found["auc"]["value"] == pytest.approx(metrics.roc_auc_score(y, p, sample_weight=w))
    assert found["log_loss"]["value"] == pytest.approx(metrics.log_loss(y, p, sample_weight=w))
    assert found["accuracy"]["value"] == pytest.approx(metrics.accuracy_score(y, model.predict(X), sample_weight=w))
    np.testing.assert_allclose(data["confusion"], metrics.confusion_matrix(y, model.predict(X), sample_weight=w))
    assert sum(one["rows"] for one in data["calibration"]) == ROWS


def test_three_classes(learnt, answer, command):
    model, X, y, _ = learnt(3)
    status, data = answer("evaluate", "model.json", "test.csv", "--require", "sensitivity[maybe]>=0.05")
    found = by_name(data)
    assert status == 0
    assert found["auc_hand_till"]["value"] == pytest.approx(
        metrics.roc_auc_score(y, model.predict_proba(X), multi_class="ovo")
    )
    assert {one["of"] for one in data["by_class"]} == {"maybe", "no", "yes"}
    assert "sensitivity[maybe]" in command("evaluate", "model.json", "test.csv")[1]
    status, _, err = command("evaluate", "model.json", "test.csv", "--cost", "fp=1,fn=2")
    assert status == 2
    assert "--cost is for two classes; the model has 3" in err
    assert command("evaluate", "model.json", "test.csv", "--threshold", "0.5")[0] == 2


def test_labels_that_have_no_probabilities(learnt, answer):
    learnt(estimator=separatrix.AveragedPerceptron())
    found = by_name(answer("evaluate", "model.json", "test.csv")[1])
    assert found["log_loss"]["why"] == "there are no probabilities"
    assert found["auc"]["value"] > 0.6


def test_a_requirement_that_is_not_met_is_a_no_and_says_by_how_much(learnt, answer, command):
    learnt()
    asked = ("evaluate", "model.json", "test.csv", "--require", "auc>=0.5", "--require")
    status, data = answer(*asked, "log-loss<=0.1")
    assert status == 1
    assert [check["met"] for check in data["requirements"]] == [True, False]
    value = by_name(data)["log_loss"]["value"]
    assert data["requirements"][1]["by"] == pytest.approx(value - 0.1)
    status, out, err = command(*asked, "log-loss<=0.1")
    assert status == 1
    assert f"{value - 0.1:.3g} too high" in err
    assert "auc>=0.5: met." in err
    assert "too high" not in out
    assert "next: separatrix compare test.csv --target y" in err
    assert command(*asked, "auc.low>=0.5")[0] == 0


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (("--require", "acu>=0.8"), "Did you mean 'auc'?"),
        (("--require", "auc=0.8"), "is not a requirement"),
        (("--require", "cost<1"), "--cost fp=1,fn=5"),
        (("--cost", "fp=1"), "give both costs"),
        (("--cost", "fp=x,fn=1"), "give both costs"),
        (("--cost", "fp=0,fn=0"), "not both 0"),
        (("--thresholds", "a,b"), "give table, or a list"),
        (("--level", "95"), "between 0 and 1"),
        (("--positive", "yess"), "Did you mean 'yes'?"),
        (("--number", "age"), "Unknown option"),
        (("--by", "town"), "the table has no such column"),
        (("--target", "z"), "--target z: the table has no such column"),
    ],
)
def test_what_cannot_be_is_a_usage_error(learnt, command, typed, sentence):
    learnt()
    status, out, err = command("evaluate", "model.json", "test.csv", *typed)
    assert status == 2
    assert sentence in " ".join(err.split())
    assert out == ""


def test_groups_and_their_differences(learnt, answer, command):
    learnt()
    _, data = answer("evaluate", "model.json", "test.csv", "--by", "city", "--by", "weight")
    assert [each["column"] for each in data["by"]] == ["city", "weight"]
    groups = data["by"][0]["groups"]
    assert [each["group"] for each in groups] == ["Bonn", "Rome"]
    assert sum(each["rows"] for each in groups) == ROWS
    first, second = (each["differences"][0]["value"] for each in groups)
    assert first == pytest.approx(-second)
    assert "Rome" in command("evaluate", "model.json", "test.csv", "--by", "city")[1]


def test_rows_without_a_level_are_a_group_of_their_own(learnt, write, answer):
    learnt()
    write("y,city,age,sex\n" + "yes,Bonn,1,f\nno,Rome,0,m\nyes,Rome,2,\n" * 5, "gaps.csv")
    _, data = answer("evaluate", "model.json", "gaps.csv", "--by", "sex")
    assert [(each["group"], each["rows"]) for each in data["by"][0]["groups"]] == [("f", 5), ("m", 5), ("(missing)", 5)]


def test_many_levels_are_not_measured_one_by_one(learnt, write, command):
    learnt()
    write("y,city,age\n" + "".join(f"{'yes' if k % 2 else 'no'},Bonn,{k}\n" for k in range(150)), "long.csv")
    status, _, err = command("evaluate", "model.json", "long.csv", "--by", "age")
    assert status == 2
    assert "150 levels" in err


def test_rows_of_a_patient_are_taken_together(learnt, answer, command):
    learnt()
    _, data = answer("evaluate", "model.json", "test.csv", "--group", "patient")
    assert "of the groups" in by_name(data)["accuracy"]["method"]
    assert "groups together" in command("evaluate", "model.json", "test.csv", "--group", "patient")[2]


def test_thresholds_and_costs(learnt, answer, command):
    learnt()
    _, data = answer("evaluate", "model.json", "test.csv", "--thresholds", "table", "--cost", "fp=1,fn=5")
    assert [each["threshold"] for each in data["thresholds"]] == pytest.approx(np.arange(1, 10) / 10)
    assert data["cheapest"]["if_probabilities_are_true"] == pytest.approx(1 / 6)
    best = data["cheapest"]["threshold"]
    _, there = answer("evaluate", "model.json", "test.csv", "--threshold", repr(best), "--cost", "fp=1,fn=5")
    assert by_name(there)["cost"]["value"] == pytest.approx(data["cheapest"]["cost"])
    assert by_name(there)["cost"]["value"] <= by_name(data)["cost"]["value"]
    _, listed = answer("evaluate", "model.json", "test.csv", "--thresholds", "0.25,0.75")
    assert [each["threshold"] for each in listed["thresholds"]] == [0.25, 0.75]
    out, err = command("evaluate", "model.json", "test.csv", "--thresholds", "table", "--cost", "fp=1,fn=5")[1:]
    assert "flagged" in out
    assert "Mistakes cost least" in err


def test_the_rows_that_were_learnt_from_are_known_again(learnt, answer, command):
    learnt()
    assert answer("evaluate", "model.json", "train.csv")[1]["seen_in_training"]
    assert "the numbers are too good" in " ".join(command("evaluate", "model.json", "train.csv", "--quiet")[2].split())


def test_a_class_that_the_model_does_not_know_and_a_missing_one(learnt, write, command):
    learnt()
    write("age,city,y\n1,Bonn,yes\n2,Rome,perhaps\n", "strange.csv")
    status, _, err = command("evaluate", "model.json", "strange.csv")
    assert status == 3
    assert "strange.csv line 3, column 'y': the model does not know the class 'perhaps'" in " ".join(err.split())
    write("age,city,y\n1,Bonn,yes\n2,Rome,\n", "gap.csv")
    status, _, err = command("evaluate", "model.json", "gap.csv")
    assert status == 3
    assert "gap.csv line 3, column 'y'" in err


def test_columns_in_any_order_levels_unseen_and_few_rows(learnt, write, answer, command):
    learnt()
    write("y,more,city,age\nyes,1,Oslo,1\nno,2,Rome,0\n", "few.csv")
    assert command("evaluate", "model.json", "few.csv")[0] == 3
    status, data = answer("evaluate", "model.json", "few.csv", "--unseen", "reference")
    assert status == 0
    assert data["rows"] == 2
    assert "its numbers say little" in command("evaluate", "model.json", "few.csv", "--unseen", "reference")[2]
    write("y,town,age\nyes,Bonn,1\n", "other.csv")
    status, _, err = command("evaluate", "model.json", "other.csv")
    assert status == 3
    assert "the model needs the column 'city'" in err
    write("y,city,age\nyes,Bonn,1\n", "one.csv")
    assert by_name(answer("evaluate", "model.json", "one.csv")[1])["auc"]["why"] == "every row is of class 'yes'"


def test_a_model_that_does_not_know_its_target(learnt, command):
    learnt(target=None)
    status, _, err = command("evaluate", "model.json", "test.csv")
    assert status == 2
    assert "--target COLUMN" in err
    assert command("evaluate", "model.json", "test.csv", "--target", "y")[0] == 0


def test_a_model_saved_without_an_encoding_reads_its_columns_as_numbers(write, answer, command):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2)).round(2)
    y = (X.sum(axis=1) + random.normal(size=80) > 0).astype(int)
    import pandas as pd

    write("b,y,a\n" + "".join(f"{b},{t},{a}\n" for (a, b), t in zip(X, y, strict=True)))
    model = separatrix.LogisticRegression().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    write_model(model_of(model), "plain.json")
    _, data = answer("evaluate", "plain.json", "data.csv", "--target", "y")
    assert by_name(data)["accuracy"]["value"] == pytest.approx(model.score(pd.DataFrame(X, columns=["a", "b"]), y))
    write("a,y\n1,0\n", "short.csv")
    assert "the model needs the column 'b'" in command("evaluate", "plain.json", "short.csv", "--target", "y")[2]
    write("a,b,y\n1,2,0\n1,,1\n", "gap.csv")
    assert command("evaluate", "plain.json", "gap.csv", "--target", "y")[0] == 3


def test_the_same_seed_gives_the_same_bytes(learnt, command):
    learnt()
    first, second = (command("evaluate", "model.json", "test.csv", "--json", "--seed", "3")[1] for _ in range(2))
    assert first == second
    json.loads(first)


def test_evaluating_imports_neither_scikit_learn_nor_numba(learnt):
    learnt()
    code = (
        "import sys; from separatrix.app.cli.running import run; "
        "run(['evaluate', 'model.json', 'test.csv', '--quiet']);"
        "print([name for name in ('sklearn', 'numba', 'pandas') if name in sys.modules], file=sys.stderr)"
    )
    home = {"PYTHONPATH": str(Path(separatrix.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, **home})
    assert done.stderr.decode().strip() == "[]"
