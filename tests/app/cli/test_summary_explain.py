"""`separatrix summary` and `separatrix explain`: what a saved model says of itself and of single rows."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

import separatrix
from separatrix.app.models.file import fingerprint_of
from separatrix.app.tables.opening import open_table

from .tables import matrix, shop


def fitted(write, command, *typed, **how):
    text = shop(**how)
    write(text)
    assert command("fit", "data.csv", "--target", "bought", "--quiet", *typed)[0] == 0
    return text


# ------------------------------------------------------------------------------------------------------------- summary


def test_the_page_is_that_of_the_fit(write, command, answer, tmp_path):
    fitted(write, command)
    model = separatrix.load("model.json")
    X, y = matrix(shop())
    own = separatrix.LogisticRegression(random_state=0).fit(X, y).summary(X, y)
    status, page, _ = command("summary", "model.json")
    assert status == 0
    weight = re.compile(r"^intercept .*$", re.M)
    assert weight.search(page)[0].split() == weight.search(str(own))[0].split()
    assert f"fitted by: {model.training['command']}" in page
    data = answer("summary", "model.json")[1]
    assert data["summary"]["measures"] == own.to_dict()["measures"]
    assert [each["weight"] for each in data["summary"]["coefficients"]] == [
        each["weight"] for each in own.to_dict()["coefficients"]
    ]
    table = list(csv.DictReader(io.StringIO(command("summary", "model.json", "--format", "csv")[1])))
    assert [float(row["weight"]) for row in table] == [each["weight"] for each in own.to_dict()["coefficients"]]
    assert json.loads(command("summary", "model.json", "--format", "json")[1])["summary"] == data["summary"]
    assert command("summary", "model.json", "--format", "html")[1].startswith("<section")
    assert r"\begin{tabular}" in command("summary", "model.json", "--format", "latex")[1]
    status, out, said = command("summary", "model.json", "-o", "page.txt")
    assert (status, out) == (0, "")
    assert "page.txt" in said
    assert (tmp_path / "page.txt").read_text() == page


@pytest.mark.parametrize("learner", ["pocket", "discriminant", "kernel", "naive-bayes", "least-squares"])
def test_other_models_have_a_page_too(learner, write, command, answer):
    fitted(write, command, "--learner", learner)
    verdict = separatrix.load("model.json").verdict
    status, page, _ = command("summary", "model.json")
    assert status == 0
    assert re.sub(r"\s+", " ", verdict["text"]) in re.sub(r"\s+", " ", page)
    assert f"learner     {learner}" in page
    data = answer("summary", "model.json")[1]
    assert data["summary"] is None
    assert data["verdict"]["status"] == verdict["status"]
    assert bool(data["coefficients"]) == (learner != "kernel")
    assert command("summary", "model.json", "--format", "html")[0] == 2
    assert command("summary", "model.json", "--format", "csv")[0] == (2 if learner == "kernel" else 0)


@pytest.mark.parametrize("broken", [{}, [], "page", {"head": 3}, {"head": {}, "status": "x"}])
def test_a_summary_that_was_tampered_with(broken, write, command, tmp_path):
    fitted(write, command)
    document = json.loads((tmp_path / "model.json").read_text())
    document["training"]["summary"] = broken
    document["fingerprint"] = fingerprint_of(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    status, out, said = command("summary", "model.json")
    assert (status, out) == (3, "")
    assert "model.json: training.summary" in said


# ------------------------------------------------------------------------------------------------------------- explain


@pytest.mark.parametrize(
    ("classes", "typed"),
    [
        (("no", "yes"), ["--l2", "0.01"]),
        (("no", "yes"), ["--l2", "0.01", "--standardise"]),
        (("a", "b", "c"), ["--l2", "0.01"]),
        (("a", "b", "c"), ["--learner", "discriminant"]),
    ],
)
def test_contributions_lead_from_the_base_rate_to_the_probability(classes, typed, write, command, answer):
    text = fitted(write, command, *typed, classes=classes)
    rows = list(csv.DictReader(io.StringIO(text)))
    predicted = answer("predict", "model.json", "data.csv", "--proba")[1]["predictions"]
    status, data = answer("explain", "model.json", "data.csv", "--row", "3", "--row", "40")
    assert status == 0
    for found, place in zip(data["rows"], (2, 39), strict=True):
        assert (found["row"], found["place"]) == (place + 1, f"data.csv line {place + 2}")
        assert found["prediction"] == predicted[place]["prediction"]
        assert found["probability"] == pytest.approx(predicted[place]["probabilities"][found["class"]], rel=1e-9)
        total = found["base"] + math.fsum(each["contribution"] for each in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-9)
        assert found["base_rate"] == pytest.approx(sum(row["bought"] == found["class"] for row in rows) / len(rows))
        ages = [each["value"] for each in found["contributions"] if each["name"] == "age"]
        assert ages == [pytest.approx(float(rows[place]["age"]))]
        means = [each["mean"] for each in found["contributions"] if each["name"] == "age"]
        assert means == [pytest.approx(sum(float(row["age"]) for row in rows) / len(rows))]
    page = command("explain", "model.json", "data.csv", "--row", "3")[1]
    assert page.startswith("data.csv line 4")
    assert "base rate" in page


def test_a_class_against_another(write, command, answer):
    fitted(write, command, "--l2", "0.1", classes=("a", "b", "c"))
    typed = ["explain", "model.json", "data.csv", "--row", "1", "--for-class"]
    one = answer(*typed, "a", "--against", "b")[1]["rows"][0]
    other = answer(*typed, "b", "--against", "a")[1]["rows"][0]
    assert (one["class"], one["against"]) == ("a", "b")
    assert one["score"] == pytest.approx(-other["score"])
    assert command(*typed, "a", "--against", "a")[0] == 2
    status, _, said = command(*typed, "aa")
    assert status == 2
    assert "Did you mean 'a'?" in said


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_scores_without_probabilities(classes, write, command, answer):
    fitted(write, command, "--learner", "averaged", classes=classes)
    found = answer("explain", "model.json", "data.csv", "--row", "5")[1]["rows"][0]
    assert found["kind"] == "score"
    total = found["base"] + math.fsum(each["contribution"] for each in found["contributions"])
    assert total == pytest.approx(found["score"])
    if len(classes) == 3:
        assert found["class"] == found["prediction"]
        assert found["score"] >= 0
    else:
        assert (found["score"] > 0) == (found["prediction"] == found["class"])
    assert "average row" in command("explain", "model.json", "data.csv", "--row", "5")[1]


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        (["--row", "0"], "the table has the rows 1 to 120"),
        (["--row", "121"], "the table has the rows 1 to 120"),
        ([], "The table has 120 rows: say which"),
        (["--for-class", "maybe"], "no such class"),
    ],
)
def test_rows_that_are_not_there(typed, part, write, command):
    fitted(write, command)
    status, out, said = command("explain", "model.json", "data.csv", *typed)
    assert (status, out) == (2, "")
    assert part in re.sub(r"\s+", " ", said)


def test_few_rows_are_all_explained_and_a_kernel_none(write, command, answer):
    fitted(write, command)
    _, data = answer("explain", "model.json", "data.csv", "--where", "id IN ('p003', 'p077')")
    assert [each["row"] for each in data["rows"]] == [1, 2]
    assert [each["place"] for each in data["rows"]] == ["data.csv line 5", "data.csv line 79"]
    command("fit", "data.csv", "--target", "bought", "--learner", "kernel", "--kernel", "rbf", "--max-passes", "2")
    assert command("explain", "model.json", "data.csv", "--row", "1")[0] == 2


@pytest.mark.parametrize("classes", [("no", "yes"), ("low", "middle", "high")])
def test_a_column_of_naive_bayes_counts_with_its_square(classes, write, command, answer):
    write(shop(classes=classes))
    assert command("fit", "data.csv", "--target", "bought", "--learner", "naive-bayes")[0] == 0
    model = separatrix.load("model.json")
    status, data = answer("explain", "model.json", "data.csv", "--row", "3")
    (row,) = data["rows"]
    assert status == 0
    columns = [part.column.name for part in model.parts]
    assert sorted(each["name"] for each in row["contributions"]) == sorted(columns)
    with open_table(["data.csv"]) as table:
        X = model.encoding.matrix(table)[2:3]
    for j, part in enumerate(model.parts):  # another value of a column moves the score by what it says, and only there
        other = X.copy()
        other[0, part.places.start] += 1
        moved = (model.by_column(model.contributions(other)) - model.by_column(model.contributions(X)))[0]
        np.testing.assert_allclose(np.delete(moved, j, axis=-1), 0, atol=1e-12)
        change = np.atleast_1d(model.scores(other)[0] - model.scores(X)[0])
        between = np.atleast_1d(moved[..., j])
        np.testing.assert_allclose(between - between[0], change - change[0], atol=1e-9)
        if len(classes) == 2:
            np.testing.assert_allclose(between, change, atol=1e-9)
    _, told = answer("predict", "model.json", "data.csv", "--explain")
    assert {each["name"] for record in told["predictions"] for each in record["because"]} <= set(columns)
