"""Wherever the rows are, a fit comes to the same end: all batch fits from a place that hands out a block at a time."""

from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
import sklearn.base
from data.dull import DullSource
from rarely import some_of

from laws.test_weights import LAWS, LEARNERS, decided_alike
from separatrix import LogisticRegression, Perceptron, Pocket, VotedPerceptron
from separatrix.data import Rows
from separatrix.features import Polynomial
from separatrix.learners.closed import batches, naive_bayes, naive_bayes_input
from separatrix.learners.geometry import margin, separability
from separatrix.learners.logistic import training
from separatrix.learners.perceptron import base as perceptrons

SETTINGS = {
    "likelihood": {},
    "newton": {"solver": "newton", "l2": 1e-3},
    "lbfgs": {"solver": "lbfgs"},
    "gradient": {"solver": "gradient", "l2": 0.1, "max_passes": 2000},
    "ridge": {"l2": 0.01},
    "no intercept": {"fit_intercept": False},
    "class weights": {"class_weight": "balanced"},
    "squared": {"objective": "squared", "starts": 2, "random_state": 0},
    "Gauss-Newton": {"objective": "squared", "solver": "gauss-newton", "starts": 1},
    "Firth": {"objective": "firth"},
    "cross-validated": {"l2": "cv"},
}


def drawn(classes, n=700, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 3][:d] + [0, 100, 0, -5][:d]
    scores = ((X - X.mean(0)) / X.std(0)) @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


@pytest.fixture
def places(monkeypatch):
    """What a fit makes of rows in memory, and of rows in blocks; the fits from blocks are counted."""
    made = []

    def fit(model, X, y, compiled=None, **given):
        inside = sklearn.base.clone(model).fit(X, y, **given)
        original = training.rows_of

        def dull(*args, **named):
            rows = original(*args, **(named if compiled is None else {"compiled": compiled}))
            made.append(DullSource(rows))
            return made[-1]

        with monkeypatch.context() as patch:
            patch.setattr(training, "rows_of", dull)
            outside = sklearn.base.clone(model).fit(X, y, **given)
        assert made
        return inside, outside

    return fit


def agree(inside, outside, X, y, sample_weight=None):
    assert outside.verdict_.status == inside.verdict_.status
    assert outside.verdict_.check(X, y, sample_weight)
    P, Q = inside.predict_proba(X), outside.predict_proba(X)
    np.testing.assert_allclose(Q, P, atol=2e-4)


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_two_classes(places, settings, compiled):
    X, y = drawn(2)
    agree(*places(LogisticRegression(**settings), X, y, compiled), X, y)


@pytest.mark.parametrize("name", ["likelihood", "newton", "lbfgs", "ridge", "squared", "no intercept"])
def test_many_classes(places, name):
    X, y = drawn(3)
    agree(*places(LogisticRegression(**SETTINGS[name]), X, y), X, y)


def test_weights_and_probabilities_as_targets(places):
    X, y = drawn(2)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y)).astype(float)
    agree(*places(LogisticRegression(), X, y, sample_weight=weight), X, y, weight)
    share = rng.random(len(y))
    agree(*places(LogisticRegression(l2=1e-3), X, share), X, share)
    shares = rng.dirichlet([1, 1, 1], len(y))
    agree(*places(LogisticRegression(l2=1e-3), X, shares), X, shares)


@pytest.mark.parametrize(
    ("n", "columns", "classes"),
    [(600, 30, 2), (600, 30, 3), (120, 2010, 2), pytest.param(120, 2010, 3, marks=pytest.mark.slow)],
)
def test_sparse_rows(places, n, columns, classes):
    """With more than 2000 columns no matrix of them is made."""
    X = scipy.sparse.random_array((n, columns), density=0.05, format="csr", rng=np.random.default_rng(0))
    y = (X @ np.random.default_rng(1).normal(size=columns) > 0).astype(int)
    y[::7] = 1 - y[::7]
    labels = y if classes == 2 else np.where(np.arange(n) % 5 == 0, 2, y)
    agree(*places(LogisticRegression(l2=0.01), X, labels), X, labels)


def test_features_made_on_the_fly(places):
    X, y = drawn(2)
    agree(*places(LogisticRegression(features=Polynomial(2), l2=1e-3), X[:, :2], y), X[:, :2], y)


def test_columns_that_depend_on_others_are_named(places):
    X, y = drawn(2)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    inside, outside = places(LogisticRegression(), X, y)
    agree(inside, outside, X, y)
    assert outside.verdict_.rank == inside.verdict_.rank


def test_separation_is_found(places):
    X, _ = drawn(2)
    z = X[:, 0] + X[:, 2]
    inside, outside = places(LogisticRegression(), X, (z > 0).astype(int))
    assert outside.verdict_.status == inside.verdict_.status == "separated"
    assert outside.verdict_.check(X, (z > 0).astype(int))


def test_fewer_rows_than_columns(places):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 90)), rng.integers(0, 2, 40)
    agree(*places(LogisticRegression(l2=0.1), X, y), X, y)


def test_a_jet_of_blocks_is_that_of_the_rows():
    X, y = drawn(2)
    rows = Rows.of(X, np.where(y > 0, 1, -1).astype(np.int8), np.arange(700.0) % 3)
    for size in (1, 61, 699, 700):
        dull = DullSource(rows, size)
        assert dull.weight == rows.weight
        total = dull.fold(lambda part, lo, hi: part.dense(lo, hi).sum(axis=0))
        np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)
        assert dull.any()


BUILDERS = [(training, "rows_of"), (margin, "rows_of"), (separability, "rows_of"), (batches, "class_rows"),
            (naive_bayes, "class_rows"), (naive_bayes_input, "class_rows"), (perceptrons, "class_rows")]  # fmt: skip
"""Where learners make rows of what they are given: the one place at which these may lie elsewhere."""
OTHERS = {
    "joint": "makes features of rows and classes, all at once",
    "joint, penalised": "makes features of rows and classes, all at once",
    "surface": "reads the rows of one or two columns, all at once",
}


@pytest.fixture(params=some_of([7, 1, 100], 3))
def elsewhere(monkeypatch, request):
    """All learners read their rows from a place that hands out so many at a time; the list of these places."""
    made = []

    def dull(original):
        def build(*args, **named):
            made.append(DullSource(original(*args, **named), request.param))
            return made[-1]

        return build

    @contextmanager
    def moved():
        with monkeypatch.context() as patch:
            for module, name in BUILDERS:
                patch.setattr(module, name, dull(getattr(module, name)))
            yield made

    return moved


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in OTHERS])
def test_every_learner_comes_to_the_same_end(elsewhere, name):
    learner = LEARNERS[name]
    inside = learner.answer(learner.X, learner.y)
    with elsewhere() as made:
        outside = learner.answer(learner.X, learner.y)
    assert made
    assert decided_alike(inside, outside)


@pytest.mark.parametrize(("name", "law"), some_of([(name, law) for name in LEARNERS for law in LAWS], 4))
def test_the_laws_of_weights_hold_there(elsewhere, name, law):
    learner = LEARNERS[name]
    with elsewhere():
        assert decided_alike(*LAWS[law](learner)) == (law not in learner.but)


@pytest.mark.filterwarnings("ignore:No separating rule")
@pytest.mark.parametrize("learner", [Perceptron, Pocket, VotedPerceptron])
@pytest.mark.parametrize("classes", [2, 3])
def test_perceptrons_take_the_same_steps(elsewhere, learner, classes):
    X, y = drawn(classes)
    model = learner(max_passes=3, order="random", random_state=0)
    inside = sklearn.base.clone(model).fit(X, y)
    with elsewhere() as made:
        outside = sklearn.base.clone(model).fit(X, y)
    assert made
    assert (outside.coef_ == inside.coef_).all()
    assert (outside.mistakes_ == inside.mistakes_).all()
    assert outside.verdict_.to_dict() == inside.verdict_.to_dict()
