"""Fits made together are the fits that would be made alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from separatrix import LogisticRegression
from separatrix.data import Sparse
from separatrix.data.block import block_of
from separatrix.features import Polynomial
from separatrix.learners.logistic import side_by_side
from separatrix.learners.logistic.side_by_side import Task, fit_together
from separatrix.numerics.linalg import factor


@pytest.fixture(autouse=True)
def _compiled_always(monkeypatch):
    monkeypatch.setattr(side_by_side, "COMPILE_FROM", 0)


@pytest.fixture
def alone(monkeypatch):
    """How many tasks were left to the estimator's own fit."""
    calls, own = [], side_by_side._alone
    monkeypatch.setattr(side_by_side, "_alone", lambda *given: (calls.append(given[-1]), own(*given))[1])
    return calls


def problem(n, d, classes=4, seed=0, spread=1.5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + spread * rng.standard_normal((classes, d))[y] / np.sqrt(d)
    return (X * rng.uniform(0.1, 10, d) + rng.uniform(-5, 5, d)).astype(dtype), y


def one_against_rest(y):
    return [Task(None, y == k) for k in np.unique(y)]


def one_against_one(y):
    pairs = [(a, b) for a in np.unique(y) for b in np.unique(y) if a < b]
    return [Task(rows := np.flatnonzero((y == a) | (y == b)), y[rows] == b) for a, b in pairs]


def rows_of(task, n):
    return np.arange(n) if task.rows is None else task.rows


def agree(model, estimator, X, task, weight=None, near=3e-5):
    """The same attributes, status, rank and, as far as both gaps allow, probabilities; and a proof that holds."""
    rows = rows_of(task, len(X))
    cost = None if weight is None else weight[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = clone(estimator).fit(X[rows], task.positive.astype(int), cost)
    assert model.verdict_.check(X[rows], task.positive, cost)
    assert model.verdict_.status == own.verdict_.status
    assert model.verdict_.rank == own.verdict_.rank
    assert sorted(vars(model)) == sorted(vars(own))
    assert model.get_params() == own.get_params()
    assert model.classes_.tolist() == [0, 1]
    assert (model.n_features_in_, model.l2_) == (own.n_features_in_, own.l2_)
    assert model.rule_.classes == own.rule_.classes
    np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), atol=near)
    proof = model.verdict_.certificate
    if model.verdict_.status == "optimal":
        assert proof.relative_gap <= estimator.tol
        assert proof.coefficients.shape == own.verdict_.certificate.coefficients.shape
        assert 0 < model.n_passes_ <= estimator.max_passes
        assert model.history_[-1].value == pytest.approx(own.history_[-1].value, rel=1e-9)
        assert all(a.value >= b.value - 1e-12 for a, b in zip(model.history_[1:], model.history_[2:], strict=False))


@pytest.mark.parametrize("reduction", [one_against_rest, one_against_one])
@pytest.mark.parametrize(("l2", "lifted"), [(0.0, True), (1e-3, True), (1e-3, False), (0.0, False)])
@pytest.mark.parametrize("d", [3, 17])
def test_few_columns_as_alone(reduction, l2, lifted, d, alone):
    X, y = problem(900, d)
    estimator, tasks = LogisticRegression(l2=l2, fit_intercept=lifted), reduction(y)
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)
    assert not alone


@pytest.mark.parametrize("reduction", [one_against_rest, one_against_one])
@pytest.mark.parametrize(("l2", "lifted"), [(0.0, True), (1e-3, True), (1e-3, False)])
def test_many_columns_as_alone(reduction, l2, lifted, alone):
    X, y = problem(3000, 66, classes=3)  # more rows than a sample has
    estimator, tasks = LogisticRegression(l2=l2, fit_intercept=lifted), reduction(y)[:2]
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)
    assert not alone


@pytest.mark.parametrize("d", [6, 66])
def test_weights_of_rows_and_classes(d, alone):
    X, y = problem(1200, d, classes=3)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    for class_weight in (None, "balanced", {0: 2.0, 1: 0.5}):
        estimator = LogisticRegression(l2=1e-3, class_weight=class_weight)
        tasks = one_against_rest(y)[:1]
        for model, task in zip(fit_together(estimator, X, tasks, weight), tasks, strict=True):
            agree(model, estimator, X, task, weight)
    assert not alone


def test_rows_that_cost_nothing_do_not_count(alone):
    X, y = problem(800, 5)
    weight = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    X[weight == 0] *= 1e6
    estimator, tasks = LogisticRegression(l2=1e-3), one_against_rest(y)
    for model, task in zip(fit_together(estimator, X, tasks, weight), tasks, strict=True):
        agree(model, estimator, X, task, weight)
    assert not alone


@pytest.mark.parametrize("d", [6, 66])
@pytest.mark.parametrize("make", [np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X[::-1]])
def test_layouts_and_precisions(make, d):
    X, y = problem(1200, d, classes=3)
    X, estimator = make(X), LogisticRegression(l2=1e-3)
    tasks = [one_against_rest(y)[0], one_against_one(y)[0]]
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)


@pytest.mark.parametrize("lifted", [True, False])
@pytest.mark.parametrize("d", [6, 66])
def test_constant_columns_have_no_weight_and_are_told(d, lifted, alone):
    X, y = problem(1200, d, classes=3)
    X[:, 1], X[y < 2, 3] = 0.0, 0.0
    if lifted:
        X[y > 0, 4] = 7.0
    estimator, tasks = LogisticRegression(l2=1e-3, fit_intercept=lifted), one_against_one(y)
    models = fit_together(estimator, X, tasks)
    for model, task in zip(models, tasks, strict=True):
        agree(model, estimator, X, task)
    assert not alone
    assert models[0].coef_[0, [1, 3]].tolist() == [0, 0]
    assert models[0].verdict_.rank.aliased == ("x1", "x3")


@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("d", [6, 66])
def test_columns_that_are_combinations(d, l2, alone):
    X, y = problem(1200, d, classes=3)
    X[:, 2] = X[:, 0]
    estimator, tasks = LogisticRegression(l2=l2), one_against_rest(y)[:2]
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)
        assert model.verdict_.rank.aliased == ("x2",)
    assert len(alone) == (0 if d > 64 and l2 else 2)


@pytest.mark.parametrize("d", [4, 66])
def test_classes_that_are_separated(d, alone):
    X, y = problem(1200, d, classes=2)
    X[:, 0] = np.where(y == 1, 1.0, -1.0) * (1 + np.abs(X[:, 0]))
    tasks = one_against_rest(y)
    with pytest.warns(UserWarning, match="Separated"):
        models = fit_together(LogisticRegression(), X, tasks)
    assert [model.verdict_.status for model in models] == ["separated"] * 2
    assert all(m.verdict_.check(X, task.positive) for m, task in zip(models, tasks, strict=True))
    assert len(alone) == 2
    estimator = LogisticRegression(l2=1e-2)
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)


def test_classes_that_are_separated_in_part(alone):
    X, y = problem(600, 3, classes=2)
    X[:, 2] = np.where(y == 1, np.arange(len(y)) % 3 == 0, 0)
    tasks = [Task(None, y == 1)]
    with pytest.warns(UserWarning, match="rows"):
        (model,) = fit_together(LogisticRegression(), X, tasks)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, tasks[0].positive)
    assert len(alone) == 1


def test_few_rows(alone):
    X, y = problem(300, 8, classes=40)
    tasks = one_against_one(y)[:30]
    estimator = LogisticRegression(l2=1e-2)
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        agree(model, estimator, X, task)
    assert 0 < len(alone) < 30


@pytest.mark.parametrize("d", [7, 66])
def test_bits_hang_on_neither_threads_nor_the_other_tasks(d):
    X, y = problem(3000, d, classes=4)
    X[y < 2, 3] = 0.0
    estimator = LogisticRegression(l2=1e-3)
    tasks = one_against_rest(y) + one_against_one(y)
    first = fit_together(estimator, X, tasks, n_threads=1)
    others = [fit_together(estimator, X, tasks, n_threads=threads) for threads in (2, 3)]
    others.append([fit_together(estimator, X, [task])[0] for task in tasks])
    for models in others:
        for a, b in zip(first, models, strict=True):
            assert a.coef_.tobytes() == b.coef_.tobytes()
            assert a.intercept_.tobytes() == b.intercept_.tobytes()
            assert a.verdict_.to_dict() == b.verdict_.to_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "squared", "starts": 1},
        {"solver": "gradient", "max_passes": 5},
        {"init": "random", "random_state": 0},
        {"init": [0.0] * 5},
        {"warm_start": True},
        {"max_passes": 2},
        {"l2": "cv"},
    ],
)
def test_what_is_not_plain_is_left_to_the_estimator(settings, alone):
    X, y = problem(300, 5)
    estimator, tasks = LogisticRegression(**{"l2": 1e-2, **settings}), one_against_rest(y)[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = fit_together(estimator, X, tasks)
        own = [clone(estimator).fit(X, task.positive.astype(int)) for task in tasks]
    assert len(alone) == 2
    for a, b in zip(models, own, strict=True):
        assert a.coef_.tobytes() == b.coef_.tobytes()


def test_small_tables_do_not_wait_for_a_compiler(alone, monkeypatch):
    monkeypatch.setattr(side_by_side, "COMPILE_FROM", 1 << 14)
    X, y = problem(300, 5)
    fit_together(LogisticRegression(), X, one_against_rest(y))
    assert len(alone) == 4


@pytest.mark.parametrize("kind", [csr_array, lambda X: Sparse.of(csr_array(X))])
def test_sparse_rows(kind, alone):
    X, y = problem(400, 6)
    X[np.abs(X) < 2] = 0.0
    estimator, tasks = LogisticRegression(l2=1e-2), one_against_one(y)[:2]
    for model, task in zip(fit_together(estimator, kind(X), tasks), tasks, strict=True):
        agree(model, estimator, X, task)
    assert len(alone) == 2


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_number_is_named_by_its_place_in_X(bad, kind):
    X, y = problem(400, 5)
    X[317, 2] = bad
    for names, word in ((None, "X\\[317, 'x2'\\]"), (tuple("abcde"), "X\\[317, 'c'\\]")):
        with pytest.raises(ValueError, match=word):
            fit_together(LogisticRegression(), kind(X), one_against_one(y), columns=names)


def test_one_class_only_is_said():
    X, y = problem(400, 5)
    with pytest.raises(ValueError, match="one class only"):
        fit_together(LogisticRegression(), X, [Task(None, y >= 0)])


def test_columns_have_their_names():
    X, y = problem(400, 5)
    names = tuple("abcde")
    X[:, 1] = 3.0
    (model,) = fit_together(LogisticRegression(l2=0.1), X, one_against_rest(y)[:1], columns=names)
    assert model.verdict_.rank.aliased == ("b",)
    assert model.verdict_.claim.columns == names


def test_features_are_left_to_the_fit_alone(alone):
    X, y = problem(400, 5)
    estimator, tasks = LogisticRegression(l2=0.1, features=Polynomial(2)), one_against_rest(y)
    for model, task in zip(fit_together(estimator, X, tasks), tasks, strict=True):
        assert model.coef_.shape == (1, 20)
        assert model.verdict_.check(X, task.positive.astype(int))
    assert len(alone) == len(tasks)


def test_a_loose_tolerance_asks_for_the_exact_leverage(monkeypatch):
    X, y = problem(3000, 8)
    asked = []
    own = side_by_side.SmallFit._leverage
    monkeypatch.setattr(side_by_side.SmallFit, "_leverage", lambda *given: (asked.append(1), own(*given))[1])
    for tol in (0.5, 0.1, 0.01):
        for model, task in zip(
            fit_together(LogisticRegression(tol=tol), X, one_against_rest(y)), one_against_rest(y), strict=True
        ):
            assert model.verdict_.check(X, task.positive.astype(int))
    assert asked


def test_the_exact_leverage():
    X, y = problem(500, 6)
    task = one_against_rest(y)[0]
    shared = side_by_side.SideBySide.of(LogisticRegression(), block_of(X), np.empty(0), tuple("abcdef"))
    ready, _ = shared._prepared(task)
    small = side_by_side.SmallFit.of(ready.problem)
    made = factor(small.hessian)
    sure = 1 / (2 + 2 * np.cosh(small.v @ small.Z)) < 1e-10
    sizes = np.einsum("in,ij,jn->n", small.Z, np.linalg.inv(small.hessian), small.Z)
    assert small._leverage(made) == pytest.approx(sizes[~sure].max(), rel=1e-6)


@pytest.mark.parametrize("d", [6, 80])
@pytest.mark.parametrize("unit", [1e-300, 1e-40, 1e40, 1e300])
def test_the_unit_of_the_weights_does_not_matter(d, unit):
    X, y = problem(2000, d)
    cost = np.random.default_rng(0).uniform(0.5, 2, 2000)
    tasks = one_against_rest(y)[:2]
    plain = fit_together(LogisticRegression(l2=1e-3), X, tasks, cost)
    for model, other, task in zip(
        fit_together(LogisticRegression(l2=1e-3), X, tasks, unit * cost), plain, tasks, strict=True
    ):
        assert model.verdict_.status == "optimal"
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
        assert model.verdict_.check(X, task.positive.astype(int), unit * cost)


def test_far_from_zero_the_fit_alone_looks_closer(alone):
    X, y = problem(2000, 3)
    X[:, 0] += 1e8
    tasks = one_against_rest(y)
    fit_together(LogisticRegression(l2=1e-12), X, tasks)
    assert len(alone) == len(tasks)


def test_a_clone_shares_nothing_with_the_estimator():
    X, y = problem(400, 5)
    estimator = LogisticRegression(class_weight={0: 2.0})
    models = fit_together(estimator, X, one_against_rest(y))
    models[0].class_weight[0] = 5.0
    assert estimator.class_weight == models[1].class_weight == {0: 2.0}


def test_an_interrupt_passes_through(monkeypatch):
    X, y = problem(400, 5)

    def stop(problem):
        raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side.SmallFit, "of", stop)
    with pytest.raises(KeyboardInterrupt):
        fit_together(LogisticRegression(), X, one_against_rest(y), n_threads=2)
