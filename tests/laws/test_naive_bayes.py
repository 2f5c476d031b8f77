"""Laws of naive Bayes: pieces, weights, order, storage and precision make no difference."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix import BernoulliNaiveBayes, GaussianNaiveBayes, NaiveBayes, PoissonNaiveBayes

TOL = 1e-12


def counts(rng, n, classes):
    """Rows of small whole numbers, such as any family but Bernoulli takes."""
    y = rng.permutation(np.arange(n) % classes)
    return rng.poisson(1 + y[:, None], (n, 4)).astype(float), y


def binary(rng, n, classes):
    X, y = counts(rng, n, classes)
    return (X > 1).astype(float), y


def reals(rng, n, classes):
    y = rng.permutation(np.arange(n) % classes)
    return rng.normal(100 + y[:, None], 1 + y[:, None], (n, 4)), y


def gappy(rng, n, classes):
    X, y = reals(rng, n, classes)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def thresholded(rng, n, classes):
    X, y = reals(rng, n, classes)
    return X - 100, y


MODELS = {
    "gaussian": (GaussianNaiveBayes(), reals),
    "shared": (GaussianNaiveBayes(variance="shared"), reals),
    "gaps": (GaussianNaiveBayes(), gappy),
    "bare": (GaussianNaiveBayes(smoothing=0, priors="equal"), reals),
    "bernoulli": (BernoulliNaiveBayes(), binary),
    "threshold": (BernoulliNaiveBayes(threshold=0.25), thresholded),
    "poisson": (PoissonNaiveBayes(smoothing=0.5), counts),
    "categorical": (NaiveBayes(families="categorical"), counts),
    "geometric": (NaiveBayes(families="geometric"), counts),
    "exponential": (NaiveBayes(families="exponential"), counts),
    "mixed": (NaiveBayes(families={0: "poisson", 1: "categorical", 2: "gaussian", ...: "geometric"}), counts),
}
each = pytest.mark.parametrize("name", MODELS)


def drawn(name, seed, n=60):
    from sklearn.base import clone

    model, rows = MODELS[name]
    rng = np.random.default_rng(seed)
    X, y = rows(rng, n, int(rng.integers(2, 5)))
    return clone(model), X, y, rng


def same(a, b, tol=TOL):
    """Estimates to `tol` of their size, and so the terms of the scores."""
    p, q = a.parameters_, b.parameters_
    assert (a.classes_ == b.classes_).all()
    for name in ("log_prior", "mean", "variance", "linear", "square", "constant"):
        mine, its = np.nan_to_num(getattr(p, name)), np.nan_to_num(getattr(q, name))
        size = np.maximum(np.abs(its), np.abs(its).max(axis=0) if its.ndim > 1 else 1) + 1
        assert (np.abs(mine - its) <= tol * size).all(), name
    assert p.tables.keys() == q.tables.keys()
    for j, table in p.tables.items():
        assert table.values.tolist() == q.tables[j].values.tolist()
        np.testing.assert_allclose(table.probability, q.tables[j].probability, rtol=tol)
    assert a.rule_.columns == b.rule_.columns
    assert p.silent == q.silent


@each
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pieces_make_no_difference(name, seed):
    whole, X, y, rng = drawn(name, seed)
    pieces = drawn(name, seed)[0]
    cost = rng.integers(1, 4, len(y)) / 2 if rng.random() < 0.5 else None
    whole.fit(X, y, cost)
    cuts = [0, *np.sort(rng.integers(0, len(y), rng.integers(1, 8))).tolist(), len(y)]
    for lo, hi in itertools.pairwise(cuts):
        if lo < hi:
            pieces.partial_fit(X[lo:hi], y[lo:hi], sample_weight=None if cost is None else cost[lo:hi])
    same(pieces, whole)
    assert pieces.verdict_.check(X, y, cost)
    assert pieces.history_[-1].rows == len(y)


@each
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_weight_of_two_is_a_row_twice_and_zero_is_none(name, seed):
    model, X, y, rng = drawn(name, seed)
    times = np.concatenate([np.ones(30, int), rng.integers(0, 3, len(y) - 30)])
    weighted = model.fit(X, y, times.astype(float))
    repeated = drawn(name, seed)[0].fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    same(weighted, repeated)
    assert weighted.verdict_.check(X, y, times)


@each
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_and_columns_makes_no_difference(name, seed):
    model, X, y, rng = drawn(name, seed)
    order = rng.permutation(len(y))
    same(model.fit(X, y), drawn(name, seed)[0].fit(X[order], y[order]))
    if name != "mixed":
        turn = rng.permutation(X.shape[1])
        np.testing.assert_allclose(
            drawn(name, seed)[0].fit(X[:, turn], y).decision_function(X[:, turn]), model.decision_function(X),
            rtol=1e-9, atol=1e-9,
        )  # fmt: skip


@each
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sparse_rows_are_the_same_rows(name, seed):
    model, X, y, _ = drawn(name, seed)
    model.fit(X, y)
    CSR = sparse.csr_array(X)
    other = drawn(name, seed)[0].fit(CSR, y)
    same(other, model, 1e-11)
    np.testing.assert_allclose(model.decision_function(CSR), model.decision_function(X), rtol=1e-9, atol=1e-8)
    features = model.features(CSR)
    features = features.toarray() if sparse.issparse(features) else features
    np.testing.assert_array_equal(features, model.features(X))
    assert other.verdict_.check(CSR, y)


@each
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_single_precision_and_storage_order_are_read_as_they_are(name, seed):
    model, X, y, _ = drawn(name, seed)
    single = X.astype(np.float32)
    model.fit(single.astype(float), y)
    for rows in (single, np.asfortranarray(single), np.asfortranarray(single.astype(float)), single[::-1][::-1]):
        other = drawn(name, seed)[0].fit(rows, y)
        same(other, model)
        np.testing.assert_allclose(other.decision_function(rows), model.decision_function(single.astype(float)),
                                   rtol=1e-10, atol=1e-10)  # fmt: skip


@each
def test_many_rows_are_read_by_compiled_code_to_the_same_end(name):
    model, X, y, _ = drawn(name, 3, 120_000)
    few = drawn(name, 3, 120_000)[0]
    model.fit(X, y)
    for lo in range(0, len(y), 30_000):
        few.partial_fit(X[lo : lo + 30_000], y[lo : lo + 30_000])
    same(few, model)
    assert model.verdict_.check(X, y)
