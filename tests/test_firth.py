"""Firth's logistic regression: the penalised likelihood, its maximum, its proof and its laws."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.firth import Block, Firth, in_memory

LAW = settings(max_examples=40, deadline=None, derandomize=True)


# ------------------------------------------------------------------------------------- the penalised likelihood itself


def some_rows(seed, n=12, d=3, *, costs=True, soft=False):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.normal(size=(n, d - 1)), np.ones(n)])
    t = rng.uniform(size=n) if soft else (rng.uniform(size=n) < 0.5).astype(float)
    return Z, t, rng.uniform(0.2, 3, size=n) if costs else np.empty(0)


def penalised(Z, t, cost, v):
    """ℓ* as the formula has it."""
    p = 1 / (1 + np.exp(-Z @ v))
    c = cost if cost.size else np.ones(len(t))
    A = (Z.T * (c * p * (1 - p))) @ Z
    return (c * (t * np.log(p) + (1 - t) * np.log(1 - p))).sum() + np.linalg.slogdet(A)[1] / 2


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), soft=st.booleans())
def test_the_jet_is_the_formula_and_its_slope(seed, costs, soft):
    Z, t, cost = some_rows(seed, costs=costs, soft=soft)
    v = np.random.default_rng(seed + 1).normal(size=3)
    jet = Firth(in_memory(Z, t, cost), len(Z))(v)
    np.testing.assert_allclose(jet.value, penalised(Z, t, cost, v), rtol=1e-12)
    step = 1e-5
    slope = [
        (penalised(Z, t, cost, v + step * e) - penalised(Z, t, cost, v - step * e)) / (2 * step) for e in np.eye(3)
    ]
    np.testing.assert_allclose(jet.gradient, slope, atol=1e-7)
    p = 1 / (1 + np.exp(-Z @ v))
    c = cost if cost.size else 1.0
    np.testing.assert_allclose(jet.information, (Z.T * (c * p * (1 - p))) @ Z, rtol=1e-12)


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), soft=st.booleans())
def test_the_curvature_and_the_twist_make_the_hessian(seed, costs, soft):
    Z, t, cost = some_rows(seed, costs=costs, soft=soft)
    v = np.random.default_rng(seed + 1).normal(size=3)
    firth = Firth(in_memory(Z, t, cost), len(Z))
    at = firth.glance(v)
    twist, step = firth.twist(at), 1e-5
    found = firth.curvature(at, firth.slope(at)) + twist / 2
    hessian = [(firth(v + step * e).gradient - firth(v - step * e).gradient) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, -np.array(hessian), atol=2e-7 * np.abs(found).max())
    assert np.linalg.eigvalsh(twist).min() >= -1e-12 * np.abs(twist).max()


@LAW
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 11))
def test_blocks_add_up(seed, cut):
    Z, t, cost = some_rows(seed)
    v = np.array([0.3, -1.0, 0.5])
    parts = [slice(0, cut), slice(cut, len(Z))]

    def read(look):
        return (look(Block(rows, np.asfortranarray(Z[rows]), t[rows], cost[rows])) for rows in parts)

    one, two = Firth(in_memory(Z, t, cost), len(Z)), Firth(read, len(Z))
    assert np.isclose(one(v).value, two(v).value, rtol=1e-13)
    np.testing.assert_allclose(one(v).gradient, two(v).gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.twist(one.glance(v)), two.twist(two.glance(v)), rtol=1e-9, atol=1e-12)


def test_a_singular_information_has_no_slope():
    Z = np.column_stack([np.arange(4.0), np.ones(4)])
    jet = Firth(in_memory(Z, np.zeros(4), np.empty(0)), 4)(np.array([0.0, 2000.0]))  # every w underflows
    assert jet.value == -np.inf
    assert np.isnan(jet.gradient).all()
