"""Models of all kinds, and rows to ask them about."""

import csv
import gzip
import lzma
import warnings
from functools import cache

import numpy as np
import pytest
from places import SHARED

from separatrix import (
    AveragedPerceptron,
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    GaussianNaiveBayes,
    JointClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    OneVsRest,
    Perceptron,
    PoissonNaiveBayes,
)
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.columns import Decision
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.table import Columns
from separatrix.features import GaussianBasis, Interactions, Lift, Polynomial, Standardise

TABLES = SHARED / "tabular"
LEVELS = ["plain", "O'Neil", 'say "no"', "two\nlines", "tab\there", "naïve — ñ 東京 🙂",
          "back\\slash\\n", "??=/*?*/", "%s {x}",
          "'); DROP TABLE data; --", " spaced ", "UPPER", "upper", "1.50", "=1+1", "NULL"]  # fmt: skip
NAMES = ["select", 'na"me', "Größe", "a b", "*/ int x; /*", "x'; --", "Übung\n2"]


def strange_table(rows=300, seed=0):
    """Names and levels that break what is not quoted; values missing in two columns of numbers and in one of levels."""
    rng = np.random.default_rng(seed)
    select = rng.normal(40, 12, rows)
    name = rng.exponential(1e4, rows)
    size = rng.choice(LEVELS, rows)
    a_b = rng.choice(["yes", "no", "n/a"], rows, p=[0.5, 0.3, 0.2])
    comment, quote = rng.normal(size=rows) * 1e-3, rng.integers(0, 5, rows).astype(float)
    lone = np.full(rows, "the only level")
    columns = [select, name, size, a_b, comment, quote, lone]
    gaps = [0.2, 0, 0.1, 0, 0, 0.3, 0]
    cells = {
        label: [None if rng.random() < gap else x for x in column.tolist()]
        for label, column, gap in zip(NAMES, columns, gaps, strict=True)
    }
    score = (select - 40) / 12 + (size == "UPPER") - 2 * (a_b == "no") + 0.2 * quote + rng.logistic(size=rows) * 0.7
    return cells, score


def asked(cells, count=60):
    """Rows of a table, and beside them what a model may refuse: missing, unseen, not finite."""
    rows = [dict(zip(cells, line, strict=True)) for line in zip(*cells.values(), strict=True)][:count]
    for name, column in cells.items():
        text = isinstance(next(x for x in column if x is not None), str)
        rows += [{**rows[k], name: None} for k in (0, 1)]
        wrong = ["never seen", "", "Plain"] if text else [float("inf"), float("-inf"), 1e12, -1e12]
        rows += [{**rows[2], name: cell} for cell in wrong if text or cell == cell]
    return rows


def encoded(cells, standardise=True):
    table = Columns(cells)
    decisions = [
        Decision(name, "category" if isinstance(next(x for x in column if x is not None), str) else "number", "test",
                 missing=sum(x is None for x in column))
        for name, column in cells.items()
    ]  # fmt: skip
    encoding = learn_encoding(table, decisions, missing="impute", standardise=standardise)
    return encoding, encoding.matrix(table)


@cache
def strange(kind):
    cells, score = strange_table()
    encoding, X = encoded(cells, standardise=kind != "raw units")
    y = np.where(score > np.median(score), "yes \"'\\\n", "no")
    if kind == "three classes":
        y = np.digitize(score, np.quantile(score, [0.3, 0.6]))
    learner = LogisticRegression(l2=0.01)
    if kind == "naive Bayes":
        learner = GaussianNaiveBayes(variance="own", smoothing=1e-3)
    if kind == "prior":
        learner = LogisticRegression(l2=0.01, class_weight="balanced", prior="data")
        y = np.digitize(score, np.quantile(score, [0.3, 0.6]))
    return model_of(learner.fit(X, y), encoding=encoding, X=X), asked(cells)


STRANGE = ("two classes", "three classes", "raw units", "prior", "naive Bayes")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3)) * [1, 3, 0.5] + [0, 5, -1]
SCORE = X[:, 0] - 0.4 * (X[:, 1] - 5) + RNG.normal(size=90) * 0.8
TWO, THREE = np.where(SCORE > 0, "yes", "no"), np.digitize(SCORE, [-0.8, 0.8])
APART = np.where(X[:, 0] + X[:, 1] > 5, "yes", "no")
APART_THREE = np.digitize(X[:, 0] + X[:, 1], [3.0, 7.0])
BITS, COUNTS = (X > [0, 5, -1]).astype(float), np.abs(np.round(X))
QUASI_X = np.column_stack([np.repeat([0.0, 0.0, 1.0, 2.0], 5), RNG.normal(size=20)])
QUASI_Y = np.repeat(["no", "yes", "yes", "yes"], 5)
QUASI_Y[:2] = "yes"

LEARNERS = {
    "two": (LogisticRegression(), X, TWO),
    "three": (LogisticRegression(l2=0.1), X, THREE),
    "firth": (LogisticRegression(objective="firth"), X, TWO),
    "prior of two": (LogisticRegression(prior={"no": 0.9, "yes": 0.1}), X, TWO),
    "prior of three": (LogisticRegression(l2=0.1, class_weight="balanced", prior="data"), X, THREE),
    "separated": (LogisticRegression(), X, APART),
    "separated, three": (LogisticRegression(), X, APART_THREE),
    "separated, prior": (LogisticRegression(class_weight="balanced", prior="data"), X, APART),
    "quasi-separated": (LogisticRegression(), QUASI_X, QUASI_Y),
    "quasi-separated, prior": (LogisticRegression(class_weight="balanced", prior="data"), QUASI_X, QUASI_Y),
    "polynomial": (LogisticRegression(l2=0.1, features=Polynomial(3)), X, TWO),
    "many features": (LogisticRegression(l2=0.1, features=[Standardise(), Interactions(), Lift("square")]), X, THREE),
    "gaussians": (LogisticRegression(l2=0.1, features=[Standardise(), GaussianBasis(count=4, random_state=0)]), X, TWO),
    "least squares": (LeastSquaresClassifier(), X, TWO),
    "least squares, three": (LeastSquaresClassifier(), X, THREE),
    "perceptron": (Perceptron(max_passes=5), X, TWO),
    "averaged perceptron": (AveragedPerceptron(max_passes=5), X, THREE),
    "margin": (MaxMarginClassifier(), X, APART),
    "one Gaussian": (GaussianDiscriminant(), X, THREE),
    "Gaussians of their own": (GaussianDiscriminant(covariance="own", shrinkage=0.1), X, TWO),
    "three Gaussians": (GaussianDiscriminant(covariance="own", shrinkage=0.1), X, THREE),
    "a row for each of two": (JointClassifier(l2=0.1), X, TWO),
    "naive Bayes": (GaussianNaiveBayes(variance="own"), X, THREE),
    "naive Bayes of two": (GaussianNaiveBayes(variance="own"), X, TWO),
    "naive Bayes, shared": (GaussianNaiveBayes(variance="shared"), X, TWO),
    "naive Bayes of bits": (BernoulliNaiveBayes(), BITS, TWO),
    "naive Bayes above": (BernoulliNaiveBayes(threshold=0.3), X, THREE),
    "naive Bayes of counts": (PoissonNaiveBayes(), COUNTS, THREE),
    "one for each": (OneVsRest(LogisticRegression(l2=0.1)), X, THREE),
    "one for each of two": (OneVsRest(LogisticRegression(l2=0.1)), X, TWO),
    "one for each, separated": (OneVsRest(LogisticRegression()), X, APART_THREE),
    "one for each, features": (OneVsRest(LogisticRegression(l2=0.1, features=Polynomial(2))), X, THREE),
    "one perceptron for each": (OneVsRest(Perceptron(max_passes=3)), X, THREE),
    "true and false": (LogisticRegression(), X, TWO == "yes"),
    "numbers": (Perceptron(max_passes=3), X, np.where(TWO == "yes", 2.0, -1.0)),
}  # fmt: skip


@cache
def learnt(name):
    learner, A, y = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of perceptrons that do not end
        model = model_of(learner.fit(A, y), X=A)
    new = RNG.normal(size=(15, A.shape[1])) * 2 + A.mean(axis=0)
    rows = [dict(zip(model.columns, line, strict=True)) for line in np.vstack([A[:15], new]).tolist()]
    rows += [{**rows[0], model.columns[0]: cell} for cell in (None, float("inf"), 1e6, -1e6, 0.5, -1.0)]
    rows += [dict.fromkeys(model.columns), {**rows[1], model.columns[0]: None, model.columns[-1]: None}]
    return model, rows


# --------------------------------------------------------------------------------------------------------- real tables


def real(file):
    path = TABLES / file
    if not path.exists():
        pytest.skip("the folder shared/data/tabular is not here")
    return path


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


@cache
def adult():
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
             "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]  # fmt: skip
    with lzma.open(real("adult.data.xz"), "rt") as stream:
        lines = [line for line in csv.reader(stream, skipinitialspace=True) if line][:4000]
    return _fitted(names, lines, "income", 2000)


@cache
def titanic():
    names = ["pclass", "survived", "name", "sex", "age", "sibsp", "parch", "ticket", "fare", "cabin", "embarked",
             "boat", "body", "home.dest"]  # fmt: skip
    with gzip.open(real("titanic_openml40945.arff.gz"), "rt") as stream:
        body = [line for line in stream if line.strip() and line[0] not in "@%"]
    lines = list(csv.reader(body, quotechar='"' if '"' in body[0] else "'"))
    kept = ["pclass", "survived", "sex", "age", "sibsp", "parch", "fare", "embarked", "cabin"]
    places = [names.index(name) for name in kept]
    return _fitted(kept, [[line[j] for j in places] for line in lines], "survived", 700)


@cache
def german():
    """Without gaps; the first rows lack some levels."""
    with lzma.open(real("german.data.xz"), "rt") as stream:
        lines = [line for line in csv.reader(stream) if line]
    return _fitted([f"A{j}" for j in range(1, 21)] + ["class"], lines, "class", 200)


def _fitted(names, lines, target, train):
    """Fitted to the first rows, asked about all: levels that only later rows have are unseen."""
    texts = {name: [None if line[j] == "?" else line[j] for line in lines] for j, name in enumerate(names)}
    y = texts.pop(target)
    cells = {}
    for name, column in texts.items():
        numbers = [None if x is None else _number(x) for x in column]
        is_number = all(n is not None for n, x in zip(numbers, column, strict=True) if x is not None)
        if name == "cabin":
            column = [None if x is None else x[0] for x in column]
        cells[name] = numbers if is_number else column
    encoding, X = encoded({name: column[:train] for name, column in cells.items()})
    model = model_of(LogisticRegression(l2=1e-3).fit(X, np.array(y[:train])), encoding=encoding, X=X)
    rows = [dict(zip(cells, line, strict=True)) for line in zip(*cells.values(), strict=True)]
    columns = {column.name: column for column in encoding.columns}
    refused = [row for row in rows if any(
        (cell is None and columns[name].fill is None) or (isinstance(cell, str) and cell not in columns[name].levels)
        for name, cell in row.items())]  # fmt: skip
    return model, [*rows[:: len(rows) // 100], *refused[:8]]
