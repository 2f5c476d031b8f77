"""Moments of classes: against long double, in pieces, with costs, offsets, gaps and zeros left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from separatrix.data import Sparse
from separatrix.fitting.closed.moments import SCATTERS, Moments

EPS = float(np.finfo(float).eps)


def reference(X, target, classes, cost):
    """Weight, mean and scatter of each class in long double, by their definitions."""
    X, found = X.astype(np.longdouble), []
    for k in range(classes):
        here = (target == k) & (cost > 0)
        w, Z = cost[here].astype(np.longdouble)[:, None], X[here]
        mean = (w * Z).sum(axis=0) / w.sum() if here.any() else np.zeros(X.shape[1], np.longdouble)
        found.append((w.sum(), mean, (w * (Z - mean)).T @ (Z - mean)))
    return found


def of_kind(scatters, kind):
    full = np.array([np.asarray(each, float) for each in scatters])
    return {"diagonal": np.array([np.diag(each) for each in full]), "pooled": full.sum(axis=0), "own": full}[kind]


def assert_close(made, wanted, kind, size=1.0):
    for k, (weight, mean, _) in enumerate(wanted):
        assert made.weight[k] == pytest.approx(float(weight), rel=1e-13)
        assert np.abs((made.mean[k] - mean) + made.rest[k]).max() <= 1e-13 * size
    S = of_kind([each[2] for each in wanted], kind)
    assert np.abs(made.scatter - S).max() <= 2e-12 * max(np.abs(S).max(), 1e-300)


@pytest.mark.parametrize("kind", SCATTERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_one_read_agrees_with_the_definition(kind, dtype, order, offset):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((3000, 6)) * [1, 10, 0.1, 1, 2, 3] + offset, dtype=dtype, order=order)
    if offset:
        X = np.asarray(X[np.argsort(X[:, 0])], order=order)  # the mean so far is always off
    target, cost = rng.integers(0, 3, 3000), rng.integers(0, 4, 3000).astype(float)  # class 3 has no rows
    wanted = reference(X, target, 4, cost)
    whole = Moments.of(X, target, 4, cost, kind=kind)
    assert_close(whole, wanted, kind, max(1.0, offset * 1e-2))
    assert whole.rows.tolist() == [int(((target == k) & (cost > 0)).sum()) for k in range(4)]
    first, second = (Moments.of(X[p], target[p], 4, cost[p], kind=kind) for p in (slice(0, 1000), slice(1000, None)))
    assert_close(first + second, wanted, kind, max(1.0, offset * 1e-2))
    assert_close((whole - second) + second, wanted, kind, max(1.0, offset * 1e-2))


def test_many_rows_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(1)
    X, target = rng.standard_normal((60_000, 8)) + 100, rng.integers(0, 3, 60_000)
    for kind in SCATTERS:
        one, two = (Moments.of(X, target, 3, kind=kind, n_threads=t) for t in (1, 2))
        assert np.array_equal(one.mean, two.mean)
        assert np.array_equal(one.scatter, two.scatter)
        assert_close(one, reference(X, target, 3, np.ones(60_000)), kind, 10)


@pytest.mark.parametrize("kind", SCATTERS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zeros_that_are_left_out_are_counted(kind, index, dtype):
    rng = np.random.default_rng(2)
    dense = (rng.standard_normal((500, 9)) + 3).astype(dtype) * (rng.random((500, 9)) < 0.3)
    dense[:, 0] = 1e4 + rng.standard_normal(500)  # a column that has no zeros, far from zero
    rows = csr_array(dense)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    target, cost = rng.integers(0, 3, 500), rng.integers(0, 3, 500).astype(float)
    assert_close(Moments.of(Sparse.of(rows), target, 3, cost, kind=kind), reference(dense, target, 3, cost), kind, 1e3)


def test_missing_numbers_are_skipped_column_by_column():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 4)) + 50
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = np.where(rng.random(900) < 0.5, np.nan, X[:, 3])
    target = rng.integers(0, 2, 900)
    whole = Moments.of(X, target, 2, gaps=True)
    pieces = Moments.of(X[:300], target[:300], 2, gaps=True) + Moments.of(X[300:], target[300:], 2, gaps=True)
    for made in (whole, pieces):
        for k in (0, 1):
            here = X[target == k]
            there = (~np.isnan(here)).sum(axis=0)
            assert np.array_equal(made.present[k], there)
            assert np.allclose(made.mean[k], np.nanmean(here, axis=0), rtol=1e-14)
            assert np.allclose(made.scatter[k], np.nanvar(here, axis=0) * there, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", SCATTERS)
def test_what_is_not_finite_is_found_in_the_same_pass(bad, kind):
    X, target = np.random.default_rng(4).standard_normal((50, 3)), np.arange(50) % 2
    assert Moments.of(X, target, 2, kind=kind).finite
    X[31, 1] = bad
    assert not Moments.of(X, target, 2, kind=kind).finite


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(SCATTERS))
def test_any_pieces_in_any_order_make_the_whole(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    X, target = rng.standard_normal((n, 3)) * 10 ** rng.uniform(-3, 3), rng.integers(0, 3, n)
    cuts = np.sort(rng.integers(0, n + 1, 3))
    parts = [Moments.of(X[p], target[p], 3, kind=kind) for p in np.split(np.arange(n), cuts)]
    made = Moments.none(3, 3, kind)
    for i in rng.permutation(len(parts)):
        made = made + parts[i]
    whole = Moments.of(X, target, 3, kind=kind)
    size = np.abs(X).max()
    assert np.abs(made.mean - whole.mean).max() <= 1e-14 * size
    assert np.abs(made.scatter - whole.scatter).max() <= 1e-13 * n * size**2
    assert np.array_equal(made.rows, whole.rows)


def test_the_total_is_that_of_one_class():
    rng = np.random.default_rng(5)
    X, target = rng.standard_normal((400, 3)) + 1e5, rng.integers(0, 4, 400)
    X += 10 * target[:, None]
    for kind in SCATTERS:
        n, mean, scatter = Moments.of(X, target, 4, kind=kind).total()
        alone = Moments.of(X, np.zeros(400, int), 1, kind="diagonal" if kind == "diagonal" else "pooled")
        assert n == 400
        assert np.allclose(mean, alone.mean[0], rtol=1e-14)
        assert np.allclose(scatter, alone.within(), rtol=1e-11)


def test_sums_and_room_for_classes_that_come_later():
    X, target = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 1, 0])
    for kind in SCATTERS:
        made = Moments.of(X, target, 2, kind=kind)
        assert np.allclose(made.sums, [X[target == k].sum(axis=0) for k in (0, 1)])
        grown = made.grown(np.array([2, 0]), 3)
        assert np.array_equal(grown.rows, [3, 0, 3])
        assert np.array_equal(grown.mean[[2, 0]], made.mean)
        whole = Moments.of(X, np.array([2, 0])[target], 3, kind=kind)
        assert np.allclose(grown.scatter, whole.scatter)


def test_what_does_not_go_together_is_refused():
    X, target = np.ones((4, 2)), np.array([0, 1, 0, 1])
    made = Moments.of(X, target, 2)
    with pytest.raises(ValueError, match="do not go with"):
        made + Moments.of(X, target, 2, kind="pooled")
    with pytest.raises(ValueError, match="do not go with"):
        made - Moments.of(X, target, 2, kind="own")
    with pytest.raises(ValueError, match="kind must be 'diagonal'"):
        Moments.of(X, target, 2, kind="pooled", gaps=True)
    with pytest.raises(ValueError, match="kind is 'full'"):
        Moments.of(X, target, 2, kind="full")
    with pytest.raises(ValueError, match="taken out"):
        made - Moments.of(np.ones((6, 2)), np.zeros(6, int), 2)
    with pytest.raises(ValueError, match="there are 2"):
        Moments.of(X, np.array([0, 1, 2, 1]), 2)
    with pytest.raises(ValueError, match="4 rows"):
        Moments.of(X, target[:3], 2)
    empty = made - made
    assert not empty.rows.any()
    assert not empty.mean.any()
    assert not empty.scatter.any()
