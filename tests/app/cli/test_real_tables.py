"""Real tables from file to answer: every command, its numbers against scikit-learn on the same rows."""

import csv
import gzip
import io
import lzma
from pathlib import Path

import numpy as np
import pytest
from places import SHARED
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

FOLDER = SHARED / "tabular"


def text_of(name):
    opened = {".xz": lzma.open, ".gz": gzip.open}[Path(name).suffix]
    with opened(shared(name), "rt", encoding="utf-8") as stream:
        return stream.read()


def shared(name):
    if not (FOLDER / name).exists():
        pytest.skip(f"{name} of the shared data is not here")
    return str(FOLDER / name)


def generated():
    """A mixed table with quotes, empty cells and a level that tells much."""
    rng = np.random.default_rng(5)
    n = 300
    age, pay, city = (
        rng.integers(18, 80, n),
        rng.lognormal(3, 0.6, n).round(2),
        rng.choice(["Bonn", "Rome, old", "Oslo"], n),
    )
    score = 0.04 * (age - 45) + 0.05 * (pay - 20) + 1.5 * (city == "Oslo") + rng.logistic(size=n)
    with open("mixed.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "age", "pay", "city", "bought"])
        for k in range(n):
            label = "yes" if score[k] > 0.5 else "no"
            writer.writerow([f"p{k}", age[k], "" if k % 25 == 0 else pay[k], city[k], label])
    return ("mixed.csv",), "bought", ("--missing", "impute"), (0.7, 0.9)


def german():
    return (shared("german.data.xz"),), "x20", ("--no-header",), (0.8, 0.86)


def spambase():
    return (shared("spambase.data.xz"),), "spam", ("--sample", "1500"), (0.95, 0.995)


def adult():
    options = ("--no-header", "--na", "?", "--missing", "impute", "--drop", "x13", "--sample", "2000")
    return (shared("adult.data.xz"),), "x14", options, (0.88, 0.93)


def columns_as_they_came(text, target):
    """The table that `predict` passed on: its cells, its labels, the probability of the second class."""
    rows = list(csv.DictReader(io.StringIO(text)))
    labels = sorted({row[target] for row in rows})
    y = np.array([row[target] == labels[1] for row in rows])
    return rows, y, np.array([float(row[f"probability of {labels[1]}"]) for row in rows]), labels


def by_scikit_learn(rows, y, decisions, na):
    """Probabilities of a regression on the same columns: means and indicators for what is missing, one of K levels."""
    numbers = [each["name"] for each in decisions if each["kind"] == "number"]
    levels = [each["name"] for each in decisions if each["kind"] == "category"]
    cells = {name: np.array([row[name] for row in rows], dtype=object) for name in numbers + levels}
    made, parts = [], []
    for name in numbers:
        missing = np.isin(cells[name], ["", *na])
        values = np.array([np.nan if gap else float(cell) for gap, cell in zip(missing, cells[name], strict=True)])
        made += [np.where(missing, np.nanmean(values), values), missing.astype(float)]
    for name in levels:
        found, counts = np.unique(cells[name][~np.isin(cells[name], ["", *na])].astype(str), return_counts=True)
        missing = np.isin(cells[name], ["", *na])
        parts.append(np.where(missing, found[counts.argmax()], cells[name]))
        made.append(missing.astype(float))
    X = np.column_stack([*made, *parts]) if parts else np.column_stack(made)
    width = len(made)
    encoder = ColumnTransformer(
        [("n", StandardScaler(), list(range(width))), ("c", OneHotEncoder(), list(range(width, X.shape[1])))]
    )
    matrix = encoder.fit_transform(X.astype(object))
    return LogisticRegression(C=1e8, tol=1e-9, max_iter=5000).fit(matrix, y).predict_proba(matrix)[:, 1]


@pytest.mark.parametrize("table", [generated, german, adult, pytest.param(spambase, marks=pytest.mark.slow)])
def test_from_a_table_to_an_answer(table, tmp_path, monkeypatch, command, answer):
    monkeypatch.chdir(tmp_path)
    files, target, options, band = table()
    reading = [each for each in options if each not in ("--missing", "impute")]
    again = [each for k, each in enumerate(reading) if each != "--drop" and (not k or reading[k - 1] != "--drop")]

    status, described = answer("schema", *files, "--target", target, *reading)
    assert status == 0
    decisions = described["columns"]

    status, fit = answer("fit", *files, "--target", target, *options)
    assert (status, fit["output"]) == (0, "model.json")
    used = {each["name"] for each in decisions if each["kind"] in ("number", "category")}
    made = {each["name"].split("=")[0].removesuffix(" is missing") for each in fit["coefficients"]}
    assert made <= {*used, "(intercept)"}

    status, out, _ = command("predict", "model.json", *files, "--proba", *again)
    assert status == 0
    rows, y, p, labels = columns_as_they_came(out, target)
    na = [reading[k + 1] for k, each in enumerate(reading) if each == "--na"]
    theirs = by_scikit_learn(rows, y, decisions, na)
    assert log_loss(y, p) <= log_loss(y, theirs) + 1e-7  # ours is the minimum
    assert log_loss(y, p) == pytest.approx(log_loss(y, theirs), abs=2e-3)

    status, judged = answer("evaluate", "model.json", *files, *again, "--require", f"auc>={band[0]}")
    assert status == 0
    measured = {each["name"]: each["value"] for each in judged["measures"]}
    assert measured["auc"] == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert measured["log_loss"] == pytest.approx(log_loss(y, p), abs=1e-9)
    assert band[0] < measured["auc"] < band[1]
    assert judged["seen_in_training"]

    learners = ("--learners", "logistic:l2=0.01,least-squares", "--cv", "2")
    status, board = answer("compare", *files, "--target", target, *options, *learners)
    assert status == 0
    assert {"logistic:l2=0.01", "least-squares"} <= {each["learner"] for each in board["leaderboard"]}

    status, settled = answer("separable", *files, "--target", target, *options)
    assert (status, settled["checked"]) == (1, True)
    assert settled["kind"] in ("overlap", "quasi-separated")

    status, page = answer("summary", "model.json")
    assert (status, page["rows"], page["target"]) == (0, len(rows), target)
    status, why = answer("explain", "model.json", *files, "--row", "1", *again)
    assert status == 0
    assert why["rows"][0]["prediction"] in labels


def test_new_rows_of_adult_are_judged(tmp_path, monkeypatch, answer, command):
    """Learnt from one file, judged by another, whose labels end in a full stop: that is said, not repaired."""
    monkeypatch.chdir(tmp_path)
    (file,), target, options, band = adult()
    assert command("fit", file, "--target", target, *options)[0] == 0
    text = text_of("adult.test.xz")
    Path("raw.data").write_text(text)
    Path("test.data").write_text(text.replace("K.\n", "K\n"))
    same = ("--no-header", "--na", "?", "--sample", "2000", "--unseen", "reference")
    status, _, said = command("evaluate", "model.json", "raw.data", *same)
    assert status == 3
    assert "the model does not know the class" in said
    status, data = answer("evaluate", "model.json", "test.data", *same, "--by", "x9")
    assert (status, data["seen_in_training"]) == (0, False)
    auc = next(each for each in data["measures"] if each["name"] == "auc")
    assert 0.86 < auc["low"] < auc["value"] < auc["high"] < band[1]


def titanic():
    text = text_of("titanic_openml40945.arff.gz")
    names = [line.split("'")[1] for line in text.splitlines() if line.startswith("@attribute")]
    cells = csv.reader(text[text.index("@data") + 6 :].splitlines(), escapechar="\\")
    rows = [["" if cell == "?" else cell for cell in row] for row in cells if row]
    with open("titanic.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *rows])
    return rows


def test_titanics_missing_values_are_an_error_until_something_is_said(tmp_path, monkeypatch, command, answer):
    monkeypatch.chdir(tmp_path)
    rows = titanic()
    typed = ("fit", "titanic.csv", "--target", "survived", "--drop", "boat", "--drop", "body", "--drop", "home.dest")
    status, _, said = command(*typed)
    assert status == 3
    assert "titanic.csv line 17, column 'age': 263 values are missing, the first here" in said
    assert "--missing impute" in said
    assert not Path("model.json").exists()
    status, data = answer(*typed, "--missing", "impute", "--objective", "firth")
    assert status == 0
    weights = {each["name"]: each["weight"] for each in data["coefficients"]}
    assert {"age is missing", "fare is missing", "embarked is missing"} <= set(weights)
    assert weights["sex=female"] > 2
    assert weights["pclass"] < -0.5
    status, data = answer("evaluate", "model.json", "titanic.csv", "--by", "sex", "--require", "auc>=0.8")
    assert (status, data["rows"]) == (0, len(rows))
    status, out, _ = command("predict", "model.json", "titanic.csv", "--only")
    assert (status, len(out.splitlines())) == (0, len(rows) + 1)


@pytest.mark.parametrize("size", [1000, pytest.param(None, marks=pytest.mark.slow)])
def test_mushrooms_are_separable_and_the_weights_prove_it(size, tmp_path, monkeypatch, answer, command):
    monkeypatch.chdir(tmp_path)
    name = shared("mushrooms_categorical.csv.xz")
    options = () if size is None else ("--sample", str(size))
    status, data = answer("separable", name, "--target", "class", *options, "-o", "proof.json")
    assert (status, data["kind"], data["rows"]) == (0, "separated", size or 8124)
    (rule,) = data["certificate"]["rules"]
    assert command("fit", name, "--target", "class", "--l2", "0.01", *options)[0] == 0
    status, out, _ = command("predict", "model.json", name, *options)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == data["rows"]
    for row in rows:
        score = rule["intercept"] + sum(rule["weights"].get(f"{column}={cell}", 0.0) for column, cell in row.items())
        assert (score > 0) == (row["class"] == "p")
