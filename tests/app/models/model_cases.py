"""Documents of all kinds of rules, and ways to change them."""

import copy
import json
import warnings
from functools import cache

import numpy as np

from separatrix import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    GaussianNaiveBayes,
    KernelPerceptron,
    LogisticRegression,
    NaiveBayes,
    OneVsOne,
    OneVsRest,
    OnlinePerceptron,
    OnlineToBatch,
    VotedPerceptron,
)
from separatrix.app.models.document import written
from separatrix.app.models.file import fingerprint_of, to_document
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.columns import Decision
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.table import Columns
from separatrix.families import Categorical, Gaussian
from separatrix.features import GaussianBasis, Lift, Polynomial, Standardise

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=60) * 3 + 40
CELLS = {
    "age": [None if k % 9 == 0 else x for k, x in enumerate(NUMBERS.tolist())],
    "city": [None if k % 7 == 0 else ["Bonn", "Rome", "Köln"][k * k % 3] for k in range(60)],
    "bit": (RNG.random(60) > 0.5).astype(float),
}
TABLE = Columns(CELLS)
DECISIONS = [
    Decision("age", "number", "", missing=7), Decision("city", "category", "", missing=9), Decision("bit", "number", "")
]  # fmt: skip
ENCODING = learn_encoding(TABLE, DECISIONS, missing="impute", standardise=True)
X = ENCODING.matrix(TABLE)
TWO = np.where(X[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
THREE = np.digitize(X[:, 0] + RNG.normal(size=60), [-0.5, 0.5])
LEARNERS = {
    "linear": (LogisticRegression(class_weight="balanced", prior="data", l2=0.01), TWO),
    "linear of three": (LogisticRegression(l2=0.1), THREE),
    "quasi-separated": (LogisticRegression(), np.where(X[:, -1] > 0, "yes", TWO)),
    "features": (LogisticRegression(l2=0.1, features=[Standardise(), Polynomial(2), Lift("square")]), TWO),
    "basis": (LogisticRegression(l2=0.1, features=GaussianBasis(count=3, random_state=0)), TWO),
    "quadratic": (GaussianDiscriminant(covariance="own", shrinkage=0.1), THREE),
    "naive Bayes": (GaussianNaiveBayes(variance="own"), TWO),
    "naive Bayes of levels": (NaiveBayes(families={0: Gaussian("own"), ...: Categorical()}), THREE),
    "naive Bayes of bits": (BernoulliNaiveBayes(threshold=0.3), THREE),
    "kernel": (KernelPerceptron("rbf", reading="voted", max_passes=2), TWO),
    "kernel of three": (KernelPerceptron("polynomial", max_passes=2), THREE),
    "voted": (VotedPerceptron(max_passes=2), THREE),
    "committee": (OnlineToBatch(LogisticRegression(solver="stochastic", learning_rate=0.1)), TWO),
    "ballot": (OnlineToBatch(OnlinePerceptron()), TWO),
    "one-vs-one": (OneVsOne(LogisticRegression(l2=0.1)), THREE),
    "one-vs-rest": (OneVsRest(LogisticRegression(l2=0.1, features=Polynomial(2))), THREE),
}


@cache
def model(name):
    learner, y = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model_of(learner.fit(X, y), encoding=ENCODING, X=X)


@cache
def text(name):
    return written(to_document(model(name))).decode()


def document(name="linear"):
    return json.loads(text(name))


STRANGE = [None, True, False, -1, 0, 1, 2.5, -1e-3, 1e308, 10**19, "", "x", "linear", "number", [], [[]], [1],
           [1.5, -2], [[1, 2], [3]], {}, {"a": 1}, {"kind": "linear"},
           {"tensor": "a", "dtype": "F64", "shape": [2]}]  # fmt: skip


def places(value, path=()):
    """Every place in a document."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def put(value, path, new):
    value = copy.deepcopy(value)
    at(value, path[:-1])[path[-1]] = new
    return value


def removed(value, path):
    value = copy.deepcopy(value)
    del at(value, path[:-1])[path[-1]]
    return value


def sealed(value):
    """With the fingerprint of what it holds now: as who means to deceive would do."""
    return {**value, "fingerprint": fingerprint_of(value)}
