"""Rows without their zeros: the same products, the same fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import LogisticRegression
from separatrix.data import sparse
from separatrix.data.sparse import pack, pays

LAW = settings(max_examples=60, deadline=None, derandomize=True)


def mostly_zeros(n, d, density, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0).astype(dtype)


def in_runs(n, size=7):
    return [(lo, min(lo + size, n)) for lo in range(0, n, size)]


@pytest.mark.parametrize("out", ["float64", "float32"])
@LAW
@given(
    n=st.integers(1, 40), d=st.integers(1, 40), classes=st.integers(1, 40), seed=st.integers(0, 99),
    single=st.booleans(),
)  # fmt: skip
def test_products_are_those_of_all_numbers(out, n, d, classes, seed, single):
    X = mostly_zeros(n, d, 0.2, seed, np.float32 if single else np.float64)
    packed = pack(X, in_runs(n), map, out)
    if packed is None:  # too few zeros in so small a table
        assert np.count_nonzero(X) > 0.3 * X.size
        return
    rng = np.random.default_rng(seed + 1)
    W, R = rng.normal(size=(classes, d)).astype(out), rng.normal(size=(classes, n)).astype(out)
    digits = 1e-12 if out == "float64" else 2e-5
    lo, hi = sorted(rng.integers(0, n + 1, 2).tolist())
    np.testing.assert_allclose(packed.scores(W, lo, hi), W @ X[lo:hi].T, atol=digits * 10)
    np.testing.assert_allclose(packed.class_pull(R[:, lo:hi], lo, hi), R[:, lo:hi] @ X[lo:hi], atol=digits * 10)


def test_a_nan_is_not_lost():
    X = np.zeros((3, 40))
    X[1, 5] = np.nan
    packed = pack(X, in_runs(3), map)
    scores = packed.scores(np.ones((2, 40)), 0, 3)
    assert np.isnan(scores[:, 1]).all()
    assert np.isfinite(scores[:, [0, 2]]).all()


def test_it_pays_for_zeros_only():
    sparse = mostly_zeros(500, 50, 0.1, 0)
    assert pays(sparse, 5)
    assert not pays(np.asfortranarray(sparse), 5)
    assert not pays(sparse + 1.0, 5)
    assert not pays(sparse[:, :8].copy(), 5)


@pytest.fixture(scope="module")
def table():
    X = mostly_zeros(9000, 60, 0.1, 3)
    scores = X @ np.random.default_rng(4).normal(size=(60, 5))
    return X, (scores + np.random.default_rng(5).gumbel(size=scores.shape)).argmax(axis=1)


def test_a_fit_without_zeros_is_the_same_fit(table, monkeypatch):
    X, y = table
    packed = LogisticRegression(l2=1e-3, solver="lbfgs").fit(X, y)
    monkeypatch.setattr(sparse, "pays", lambda *_: False)
    plain = LogisticRegression(l2=1e-3, solver="lbfgs").fit(X, y)
    assert packed.verdict_.status == plain.verdict_.status == "optimal"
    assert packed.verdict_.check(X, y)
    np.testing.assert_allclose(packed.coef_, plain.coef_, atol=2e-5)


def test_threads_do_not_change_a_bit(table):
    X, y = table
    one, two = (LogisticRegression(l2=1e-3, solver="lbfgs", n_threads=k).fit(X, y) for k in (1, 2))
    assert (one.coef_ == two.coef_).all()


def test_a_fit_packs_only_where_it_pays(table, monkeypatch):
    X, y = table
    packed = []
    monkeypatch.setattr(sparse, "pack", lambda *given: packed.append(given[0].shape) or pack(*given))
    LogisticRegression(l2=1e-3, solver="lbfgs").fit(X, y)
    assert packed
    packed.clear()
    LogisticRegression(l2=1e-3, solver="lbfgs").fit(X + 1.0, y)
    assert not packed


def test_nan_in_a_packed_fit_is_named(table):
    X, y = table
    X = X.copy()
    X[77, 5] = np.nan
    with pytest.raises(ValueError, match=r"X\[77, 'x5'\] is NaN"):
        LogisticRegression(l2=1e-3, solver="lbfgs").fit(X, y)
