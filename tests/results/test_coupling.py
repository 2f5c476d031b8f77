"""Probabilities of K classes from those of binary classifiers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import strategies as st
from rarely import examples
from scipy.optimize import minimize

from separatrix.results.coding import (
    SURE,
    all_but_the_last_against_rest,
    averaged,
    coupled,
    dense,
    exhaustive,
    odds_of,
    one_against_one,
    one_against_rest,
    shared,
    sparse,
)

CODES = {
    "rest": one_against_rest, "rest, K − 1": all_but_the_last_against_rest, "pairs": one_against_one,
    "exhaustive": exhaustive, "dense": lambda K: dense(K, np.random.default_rng(0)),
    "sparse": lambda K: sparse(K, np.random.default_rng(0)),
}  # fmt: skip


def duel_probabilities(p, M):
    plus, minus = p @ (M > 0), p @ (M < 0)
    return plus / (plus + minus)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("classes", [3, 4, 7])
def test_probabilities_that_agree_are_found_again(code, classes):
    M = CODES[code](classes)
    p = np.random.default_rng(classes).dirichlet(np.ones(classes), size=200) * 0.9 + 0.1 / classes
    np.testing.assert_allclose(coupled(duel_probabilities(p, M), M), p, atol=1e-9)


def disagreement(p, r, M):
    return float(np.square(r * (p @ (M < 0)) - (1 - r) * (p @ (M > 0))).sum())


@pytest.mark.parametrize("code", CODES)
def test_the_least_disagreement(code):
    M = CODES[code](4)
    rng = np.random.default_rng(1)
    for r in rng.random((25, M.shape[1])):
        found = coupled(r[None], M)[0]
        rival = min(
            (
                minimize(disagreement, start, (r, M), bounds=[(0, 1)] * 4, tol=1e-14,
                         constraints={"type": "eq", "fun": lambda p: p.sum() - 1}, method="SLSQP")
                for start in (np.full(4, 0.25), rng.dirichlet(np.ones(4)))
            ),
            key=lambda end: end.fun,
        )  # fmt: skip
        assert disagreement(found, r, M) <= rival.fun + 1e-9
        np.testing.assert_allclose(found, rival.x, atol=2e-4)


def test_pairs_as_wu_lin_and_weng_have_them():
    """Qp = λe with Qᵢᵢ = Σⱼ rⱼᵢ², Qᵢⱼ = −rⱼᵢrᵢⱼ, and never negative though nothing forces it."""
    rng = np.random.default_rng(0)
    M = one_against_one(5)
    r = rng.random((300, 10))
    R = np.zeros((300, 5, 5))  # R[a, b]: a against b
    for at, (a, b) in enumerate(combinations(range(5), 2)):
        R[:, b, a], R[:, a, b] = r[:, at], 1 - r[:, at]
    Q = -R.transpose(0, 2, 1) * R
    for i in range(5):
        Q[:, i, i] = (R[:, :, i] ** 2).sum(axis=1)
    p = coupled(r, M)
    slope = np.einsum("nij,nj->ni", Q, p)
    np.testing.assert_allclose(slope, np.broadcast_to(slope.mean(axis=1, keepdims=True), slope.shape), atol=1e-10)
    assert (p > 0).all()


def test_one_against_the_rest_is_the_nearest_point_of_the_simplex():
    r = np.array([[0.5, 0.4, 0.4], [0.9, 0.9, 0.1], [1.0, 0.0, 0.0]])
    p = coupled(r, one_against_rest(3))
    np.testing.assert_allclose(p, [[0.4, 0.3, 0.3], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], atol=1e-6)


@examples(
    20,
    60,
    st.sampled_from(sorted(CODES)),
    st.integers(2, 6),
    st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.3, 0.5, 1 - 1e-16, 1.0]), min_size=40, max_size=40),
)
def test_never_nan_and_always_one_in_all(code, classes, numbers):
    M = CODES[code](classes)
    r = np.resize(np.array(numbers), (12, M.shape[1]))
    ways = [coupled(r, M), averaged(r, M)]
    if M.shape[1] == classes:
        ways.append(shared(r, r - 0.5))
    if M.shape[1] == classes - 1:
        ways.append(odds_of(r))
    for p in ways:
        assert p.shape == (12, classes)
        assert np.isfinite(p).all()
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


def test_classifiers_that_contradict_each_other():
    M = one_against_one(3)
    circle = np.array([[0.0, 1.0, 0.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    np.testing.assert_allclose(coupled(circle, M), 1 / 3, atol=1e-6)
    assert 0 < SURE < 1e-6


def test_shares():
    np.testing.assert_allclose(shared(np.array([[0.2, 0.6, 0.0]]), np.zeros((1, 3))), [[0.25, 0.75, 0.0]])
    nobody = shared(np.zeros((2, 3)), np.array([[-900.0, -800.0, -800.0], [-1.0, -2.0, -3.0]]))
    np.testing.assert_allclose(nobody, [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(odds_of(np.array([[0.5, 0.75], [0.0, 0.0], [1.0, 1.0]])),
                               [[0.2, 0.6, 0.2], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])  # fmt: skip


def test_many_rows_come_in_blocks():
    M = one_against_one(12)
    r = np.random.default_rng(0).random((5000, M.shape[1]))
    np.testing.assert_allclose(coupled(r, M)[4321], coupled(r[4321:4322], M)[0], rtol=1e-9)
