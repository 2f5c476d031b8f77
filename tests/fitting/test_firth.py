"""Firth's logistic regression: the penalised likelihood, its maximum, its proof and its laws."""

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.test_references import SHARED, needs_shared_data, reference_results
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from separatrix import BudgetWarning, LogisticRegression, OneVsOne, OneVsRest
from separatrix.features import Polynomial
from separatrix.fitting.certificates.firth import Rounding, firth_bounds, quick_firth_bounds
from separatrix.fitting.firth import ascent as firth_ascent
from separatrix.fitting.firth import view as firth_view
from separatrix.fitting.firth.ends import balancing_shift
from separatrix.fitting.risk.firth import Block, Firth, in_memory

LAW = settings(max_examples=25, deadline=None, derandomize=True)


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
@given(seed=st.integers(0, 10**6), n=st.sampled_from([9, 20, 40]), costs=st.booleans(), cut=st.integers(1, 8))
def test_the_twist_is_the_trace_of_a_square_with_few_rows_and_with_many(seed, n, costs, cut):
    Z, t, cost = some_rows(seed, n=n, d=7, costs=costs)
    v = np.random.default_rng(seed + 1).normal(size=7) / 3
    p = 1 / (1 + np.exp(-Z @ v))
    own = (cost if costs else 1.0) * p * (1 - p)
    Y = np.linalg.solve(np.linalg.cholesky((Z.T * own) @ Z), Z.T)
    B = [(Y * (own * (1 - 2 * p) * column)) @ Y.T for column in Z.T]
    parts = [slice(0, cut), slice(cut, n)]

    def read(look):
        return (look(Block(rows, np.asfortranarray(Z[rows]), t[rows], cost[rows])) for rows in parts)

    for firth in (Firth(in_memory(Z, t, cost), n), Firth(read, n)):
        found = firth.twist(firth.glance(v))
        wanted = np.array([[np.trace(a @ b) for a in B] for b in B])
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())
        along = [firth.twist_along(firth.glance(v), u) for u in np.eye(7)]
        np.testing.assert_allclose(along, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())


def test_steps_by_conjugate_gradients_end_in_the_same_maximum(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 12))
    y = (X @ rng.normal(size=12) > 0).astype(int)
    whole = firth_fit(X, y, tol=1e-13)
    monkeypatch.setattr(firth_ascent, "DEAR", 0)
    led = firth_fit(X, y, tol=1e-13)
    assert whole.verdict_.status == led.verdict_.status == "local"
    assert led.verdict_.check(X, y)
    assert not np.array_equal(led.coef_, whole.coef_)
    np.testing.assert_allclose(led.coef_, whole.coef_, rtol=1e-5)


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


# --------------------------------------------------------------------------------------------------- the proof's theory


EXACT = Rounding(1.0, 1.0, 1.0)


def third_derivative(f, t):
    """By central differences of a function of a number."""
    h = 2e-3
    return (f(t + 2 * h) - 2 * f(t + h) + 2 * f(t - h) - f(t - 2 * h)) / (2 * h**3)


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), far=st.sampled_from([0.3, 1.0, 3.0]))
def test_the_third_derivatives_are_bounded_as_the_proof_says(seed, costs, far):
    """|log|A|‴| ≤ 6 maxᵢ|sᵢ| Σᵢ hᵢsᵢ² and |ℓ‴| ≤ maxᵢ|sᵢ| Σᵢ cᵢwᵢsᵢ², sᵢ = zᵢᵀu."""
    Z, t, cost = some_rows(seed, n=8, costs=costs)
    rng = np.random.default_rng(seed + 1)
    v, u = far * rng.normal(size=3), rng.normal(size=3)
    s = Z @ u / np.abs(Z @ u).max()
    u = u / np.abs(Z @ u).max()
    firth = Firth(in_memory(Z, t, cost), len(Z))
    at = firth.glance(v)
    of_penalty = third_derivative(lambda x: firth.glance(v + x * u).log_determinant, 0.0)
    of_likelihood = third_derivative(lambda x: firth.glance(v + x * u).likelihood, 0.0)
    assert abs(of_penalty) <= 6 * firth.slope(at).h @ s**2 * (1 + 1e-3) + 1e-5
    assert abs(of_likelihood) <= (at.w * (cost if costs else 1)) @ s**2 * (1 + 1e-3) + 1e-5


@LAW
@given(seed=st.integers(0, 10**6), step=st.floats(0.01, 1.0))
def test_weights_and_leverages_change_as_slowly_as_the_proof_says(seed, step):
    """w(v + u) ≤ e^S w(v) and h(v + u) ≤ e^2S h(v), S = maxᵢ|zᵢᵀu|."""
    Z, t, cost = some_rows(seed, n=8)
    rng = np.random.default_rng(seed + 1)
    v, u = rng.normal(size=3), step * rng.normal(size=3)
    most = np.abs(Z @ u).max()
    firth = Firth(in_memory(Z, t, cost), len(Z))
    before, after = firth.glance(v), firth.glance(v + u)
    assert (after.w <= np.exp(most) * before.w * (1 + 1e-12)).all()
    assert (firth.slope(after).h <= np.exp(2 * most) * firth.slope(before).h * (1 + 1e-9)).all()


def maximum(firth, v):
    """By Newton's method with the whole curvature, from nearby."""
    for _ in range(60):
        at = firth.glance(v)
        slope = firth.slope(at)
        step = np.linalg.solve(firth.curvature(at, slope) + firth.twist(at) / 2, slope.gradient)
        while firth.glance(v + step).value < at.value - 1e-11:
            step /= 2
        v = v + step
    return v


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), off=st.sampled_from([1e-6, 1e-3, 0.03]), whole=st.booleans())
def test_the_maximum_is_where_the_proof_says(seed, costs, off, whole):
    Z, t, cost = some_rows(seed, n=20, costs=costs)
    firth, total = Firth(in_memory(Z, t, cost), len(Z)), cost.sum() if costs else len(t)
    best = maximum(firth, np.zeros(3))
    v = best + off * np.random.default_rng(seed + 1).normal(size=3)
    at = firth.glance(v)
    slope = firth.slope(at)
    M = firth.curvature(at, slope) + (firth.twist(at) / 2 if whole else 0)
    found = firth_bounds(firth, at, slope, M, total, lambda inverse: np.sqrt(np.diag(inverse)), EXACT)
    if off <= 1e-3:
        assert found is not None
    if found is not None:
        gap = (firth.glance(best).value - at.value) / total
        assert -1e-14 <= gap <= found.gap * (1 + 1e-9) + 1e-14
        assert (np.abs(v - best) <= found.spread * found.distance * (1 + 1e-9) + 1e-9).all()
        assert np.sqrt((v - best) @ M @ (v - best) / total) <= found.distance * (1 + 1e-9) + 1e-9


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), off=st.sampled_from([1e-6, 1e-3, 0.03]))
def test_the_information_alone_proves_no_more_than_is_true(seed, costs, off):
    Z, t, cost = some_rows(seed, n=60, costs=costs)
    firth, total = Firth(in_memory(Z, t, cost), len(Z)), cost.sum() if costs else len(t)
    best = maximum(firth, np.zeros(3))
    at = firth.glance(best + off * np.random.default_rng(seed + 1).normal(size=3))
    slope = firth.slope(at)
    deviations = lambda inverse: np.sqrt(np.diag(inverse))  # noqa: E731
    found = quick_firth_bounds(at, slope, cost, total, deviations, EXACT)
    if found is None:  # a row has much leverage
        return
    more = firth_bounds(firth, at, slope, firth.curvature(at, slope), total, deviations, EXACT)
    assert more.gap <= found.gap * (1 + 1e-9)
    assert (more.spread <= found.spread * (1 + 1e-9)).all()
    gap = (firth.glance(best).value - at.value) / total
    assert -1e-14 <= gap <= found.gap * (1 + 1e-9) + 1e-14
    assert (np.abs(at.v - best) <= found.spread * found.distance * (1 + 1e-9) + 1e-9).all()


def test_the_information_alone_proves_something_where_rows_are_many():
    Z, t, cost = some_rows(5, n=400)
    firth = Firth(in_memory(Z, t, cost), len(Z))
    at = firth.glance(maximum(firth, np.zeros(3)))
    found = quick_firth_bounds(at, firth.slope(at), cost, cost.sum(), lambda inverse: np.zeros(4), EXACT)
    assert found.gap < 1e-20


def test_the_information_alone_proves_nothing_where_a_row_has_all_the_leverage():
    Z = np.column_stack([[1e3, 1.0, 0, -1, 0.5, 2], np.ones(6)])
    firth = Firth(in_memory(Z, np.array([1.0, 0, 1, 0, 1, 0]), np.empty(0)), 6)
    at = firth.glance(np.zeros(2))
    assert quick_firth_bounds(at, firth.slope(at), np.empty(0), 6.0, lambda inverse: np.zeros(3), EXACT) is None


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), soft=st.booleans())
def test_zero_needs_no_exponential(seed, costs, soft):
    Z, t, cost = some_rows(seed, costs=costs, soft=soft)
    firth = Firth(in_memory(Z, t, cost), len(Z))
    (quick, slope), at = firth.at_zero(), firth.glance(np.zeros(3))
    for one, other in zip(quick, at, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slope, firth.slope(at).gradient, atol=1e-12)


@LAW
@given(seed=st.integers(0, 10**6), costs=st.booleans(), far=st.sampled_from([1.0, 30.0, 900.0]))
def test_a_row_of_the_first_class_is_its_opposite_of_the_second(seed, costs, far):
    Z, t, cost = some_rows(seed, costs=costs)
    one, two = Firth(in_memory(Z, t, cost), len(Z)), Firth(in_memory(Z * (2 * t - 1)[:, None], t[:0], cost), len(Z))
    v = np.random.default_rng(seed + 1).normal(size=3)
    v *= far / np.abs(Z @ v).max()
    at, other = one.glance(v), two.glance(v)
    np.testing.assert_allclose(other.likelihood, at.likelihood, rtol=1e-12)
    np.testing.assert_allclose(other.w, at.w, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(other.information, at.information, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.abs(other.error), np.abs(at.error), rtol=1e-11, atol=1e-300)
    if far == 1:
        np.testing.assert_allclose(two.slope(other).gradient, one.slope(at).gradient, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(two.twist(other), one.twist(at), rtol=1e-9, atol=1e-11)


def test_a_point_far_from_any_maximum_proves_nothing():
    Z, t, cost = some_rows(3, n=20)
    firth = Firth(in_memory(Z, t, cost), len(Z))
    at = firth.glance(np.array([4.0, -4.0, 2.0]))
    slope = firth.slope(at)
    M = firth.curvature(at, slope) + firth.twist(at) / 2
    assert firth_bounds(firth, at, slope, M, cost.sum(), lambda inverse: np.zeros(4), EXACT) is None


# -------------------------------------------------------------------------------------------------------- the fit


def firth_fit(X, y, sample_weight=None, **settings):
    return LogisticRegression(**{"objective": "firth", **settings}).fit(X, y, sample_weight)


def everything(model):
    return np.append(model.coef_[0], model.intercept_)


def table(seed, n=40, d=3, noise=1.0):
    """Rows whose classes overlap, or with noise=0 are separated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + noise * rng.logistic(size=n) > 0).astype(int)
    y[0], y[1] = 0, 1
    return X, y


def close(one, other, **room):
    np.testing.assert_allclose(everything(one), everything(other), **{"rtol": 1e-6, "atol": 1e-7, **room})


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_point_of_a_grid_is_higher(noise, fit_intercept):
    X, y = table(5, n=15, d=1 if fit_intercept else 2, noise=noise)
    model = firth_fit(X, y, fit_intercept=fit_intercept)
    Z = np.column_stack([X, np.ones(15)]) if fit_intercept else X
    best = everything(model)[:2]
    top = penalised(Z, y, np.empty(0), best)
    for width in (1e-3, 0.1, 12.0):
        for a in np.linspace(-width, width, 25):
            for b in np.linspace(-width, width, 25):
                assert penalised(Z, y, np.empty(0), best + np.array([a, b])) <= top + 1e-11
    assert model.verdict_.status == "local"
    assert model.verdict_.ok


@needs_shared_data
def test_reference_numbers_of_endometrial():
    data = pandas.read_csv(SHARED / "separation" / "endometrial.csv")
    known = reference_results()["endometrial"]["firth_computed"]
    model = firth_fit(data[["NV", "PI", "EH"]], data["HG"], tol=1e-14)
    found = np.append(model.intercept_, model.coef_[0])
    np.testing.assert_allclose(found, known["coef"], rtol=0, atol=1e-8)
    proof = model.verdict_.certificate
    np.testing.assert_allclose(-79 * proof.mean_loss, known["loglik"], rtol=1e-8)
    np.testing.assert_allclose(-79 * model.verdict_.claim.value, known["penalized_loglik"], rtol=1e-9)
    published = reference_results()["endometrial"]["firth_logistf"]["coef"]
    np.testing.assert_allclose(found, published, rtol=1e-6)


@needs_shared_data
def test_reference_numbers_of_sex2():
    data = pandas.read_csv(SHARED / "separation" / "sex2.csv")
    known = reference_results()["sex2"]["firth_computed"]
    model = firth_fit(data[["age", "oc", "vic", "vicl", "vis", "dia"]], data["case"])
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0]), known["coef"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(-239 * model.verdict_.claim.value, known["penalized_loglik"], rtol=1e-9)
    assert model.verdict_.check(data[["age", "oc", "vic", "vicl", "vis", "dia"]], data["case"])


@needs_shared_data
def test_reference_numbers_of_lizards_as_fractions():
    data = pandas.read_csv(SHARED / "separation" / "lizards.csv")
    X = np.column_stack([
        data["height"] == ">=5ft", data["diameter"] == ">2in", data["light"] == "shady", data["time"] == "midday",
        data["time"] == "late",
    ]).astype(float)  # fmt: skip
    count = (data["grahami"] + data["opalinus"]).to_numpy()
    model = firth_fit(X, (data["grahami"] / count).to_numpy(), count)
    known = reference_results()["lizards"]["firth_computed"]["coef"]
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0]), known, rtol=0, atol=1e-8)


HARD = {
    "99 % of one class": lambda rng: (rng.normal(size=(400, 3)), np.arange(400) % 100 == 0),
    "ten rows": lambda rng: (rng.normal(size=(10, 4)), np.arange(10) > 4),
    "columns of a thousand": lambda rng: (rng.choice([-1e3, 1e3], size=(40, 3)), np.arange(40) % 2),
    "a row far out": lambda rng: (np.append(rng.normal(size=(30, 2)), [[1e9, 0.0]], axis=0), np.arange(31) > 9),
    "heavy tails": lambda rng: ((X := rng.standard_cauchy(size=(300, 4))), X[:, 0] > 0),
    "units far apart": lambda rng: (rng.normal(size=(60, 3)) * [1, 1e8, 1e-8] + [1e6, 0, 0], np.arange(60) % 3 == 0),
    "one row of a class": lambda rng: (rng.normal(size=(30, 2)), np.arange(30) == 7),
    "zero far away": lambda rng: ((X := rng.normal(size=(50, 2)) + np.array([1e7, 0])), X[:, 0] > X[:, 1] + 1e7),
    "crossed factors": lambda rng: ((X := rng.integers(0, 2, size=(90, 7)).astype(float)), X[:, 0] > X[:, 1]),
    "many columns": lambda rng: (rng.normal(size=(80, 30)), np.arange(80) % 2),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hard_tables_end_with_a_proof(name, fit_intercept):
    X, y = HARD[name](np.random.default_rng(1))
    model = firth_fit(X, y.astype(int), fit_intercept=fit_intercept)
    assert model.verdict_.status == "local"
    assert model.verdict_.certificate.relative_gap <= 1e-10
    assert model.verdict_.check(X, y.astype(int))
    assert np.isfinite(everything(model)).all()


@pytest.mark.parametrize("init", ["zero", "random", np.array([3.0, -2.0, 1.0, 0.5]), np.full(4, 1e4)])
def test_every_start_ends_at_the_same_maximum(init):
    X, y = table(2)
    close(firth_fit(X, y), firth_fit(X, y, init=init, random_state=1))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("far", [1e3, 1e4])
def test_a_start_where_the_information_is_singular_is_drawn_in(seed, far):
    X, y = table(seed)
    assert firth_fit(X, y, init=np.full(4, far)).verdict_.status == "local"


@pytest.mark.parametrize("rare", [0.0, -3.0])
@pytest.mark.parametrize("how", ["plain", "weights", "no intercept", "soft"])
def test_the_first_step_is_the_discriminant_where_rows_are_many(rare, how, monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.normal(3, 2, size=(1500, 4))
    y = (rng.logistic(size=1500) < X @ [0.5, -0.4, 0, 0.1] + rare).astype(int)
    y = 0.05 + 0.9 * y if how == "soft" else y
    weight = rng.uniform(0.5, 2, size=1500) if how == "weights" else None
    quick = firth_fit(X, y, weight, fit_intercept=how != "no intercept")
    assert quick.verdict_.check(X, y, weight)
    monkeypatch.setattr(firth_ascent, "discriminant", lambda *_: None)
    slow = firth_fit(X, y, weight, fit_intercept=how != "no intercept")
    close(quick, slow)
    if how != "no intercept":
        assert quick.history_[1].value < slow.history_[1].value
        assert len(quick.history_) < len(slow.history_)


# ---------------------------------------------------------------------------------------------------------- laws

TABLES = given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.3, 1.0]))
FEW = settings(max_examples=15, deadline=None, derandomize=True)


@FEW
@TABLES
def test_a_weight_of_two_is_a_row_twice_and_of_zero_a_row_absent(seed, noise):
    X, y = table(seed, n=25, noise=noise)
    weight = np.random.default_rng(seed).integers(0, 3, size=25).astype(float)
    weight[:2] = 1
    again = np.repeat(np.arange(25), weight.astype(int))
    one, two = firth_fit(X, y, weight), firth_fit(X[again], y[again])
    close(one, two)
    np.testing.assert_allclose(one.verdict_.claim.value, two.verdict_.claim.value, rtol=1e-9, atol=1e-10)
    assert one.verdict_.check(X, y, weight)


@FEW
@TABLES
def test_the_labels_do_not_matter_and_swapped_they_flip_the_signs(seed, noise):
    X, y = table(seed, noise=noise)
    model = firth_fit(X, y)
    words = firth_fit(X, np.array(["no", "yes"])[y])
    assert (everything(words) == everything(model)).all()
    assert words.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(everything(firth_fit(X, 1 - y)), -everything(model), rtol=1e-6, atol=1e-7)


@FEW
@TABLES
def test_the_order_of_rows_does_not_matter(seed, noise):
    X, y = table(seed, noise=noise)
    order = np.random.default_rng(seed).permutation(len(y))
    close(firth_fit(X, y), firth_fit(X[order], y[order]))


@FEW
@TABLES
def test_scales_and_offsets_of_columns_do_not_matter(seed, noise):
    X, y = table(seed, noise=noise)
    scale, offset = np.array([1e-8, 1.0, 1e8]), np.array([1e-4, 1e6, -1e10])
    one, two = firth_fit(X, y), firth_fit(X * scale + offset, y)
    np.testing.assert_allclose(two.coef_[0] * scale, one.coef_[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        two.decision_function(X * scale + offset), one.decision_function(X), rtol=1e-5, atol=1e-5
    )
    assert two.verdict_.check(X * scale + offset, y)


@FEW
@TABLES
def test_swapping_columns_swaps_weights(seed, noise):
    X, y = table(seed, noise=noise)
    np.testing.assert_allclose(
        firth_fit(X[:, [2, 0, 1]], y).coef_[0], firth_fit(X, y).coef_[0][[2, 0, 1]], rtol=1e-6, atol=1e-7
    )


@FEW
@given(seed=st.integers(0, 10**6))
def test_a_probability_is_a_row_of_each_class(seed):
    X, _ = table(seed, n=20)
    t = np.random.default_rng(seed).uniform(size=20)
    soft = firth_fit(X, t)
    both = firth_fit(np.vstack([X, X]), np.repeat([0, 1], 20), np.append(1 - t, t))
    close(soft, both)
    close(soft, firth_fit(X, np.column_stack([1 - t, t])))
    assert soft.verdict_.check(X, t)


def test_class_weights_are_costs():
    X, y = table(4)
    factors = {0: 0.5, 1: 3.0}
    model = firth_fit(X, y, class_weight=factors)
    close(model, firth_fit(X, y, np.where(y, 3.0, 0.5)))
    assert model.verdict_.check(X, y)
    share = len(y) / (2 * np.bincount(y))
    close(firth_fit(X, y, class_weight="balanced"), firth_fit(X, y, share[y]))


@pytest.mark.parametrize(
    "kind",
    [np.asfortranarray, lambda X: X.astype(np.float32), sparse.csr_array, pandas.DataFrame, lambda X: X[::-1][::-1]],
)
def test_any_kind_of_table(kind):
    X, y = table(6)
    X = X.astype(np.float32).astype(float)
    model = firth_fit(kind(X), y)
    close(model, firth_fit(X, y))
    assert model.verdict_.check(kind(X), y)


def test_features_are_what_the_model_is_linear_in():
    X, y = table(7, n=60)
    model = firth_fit(X, y, features=Polynomial(2))
    close(model, firth_fit(model.features_.transform(X), y))
    assert model.verdict_.check(X, y)
    assert model.coef_.shape == (1, 9)


def test_aliased_columns_are_named_and_get_the_shortest_weights():
    X, y = table(8, noise=0.0)
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    model, plain = firth_fit(wide, y), firth_fit(X, y)
    assert model.verdict_.rank == (4, 6, ("x3", "x4"))
    np.testing.assert_allclose(model.decision_function(wide), plain.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.verdict_.claim.value, plain.verdict_.claim.value, rtol=1e-10)
    null = np.array([1.0, 1, 0, -1, 0])
    assert abs(model.coef_[0] @ null) < 1e-9
    assert model.coef_[0, 4] == pytest.approx(0, abs=1e-12)
    assert model.verdict_.check(wide, y)


@pytest.mark.parametrize(("n", "d"), [(6, 5), (6, 6), (6, 40), (3, 2), (2, 1)])
def test_no_more_rows_than_weights(n, d):
    X, y = table(9, n=n, d=d)
    model = firth_fit(X, y)
    assert model.verdict_.status == "local"
    assert model.verdict_.rank.rank == min(n, d + 1)
    assert model.verdict_.check(X, y)
    if d + 1 >= n:  # every row has a weight of its own: t − p + ½ − p = 0
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.where(y, 0.75, 0.25), atol=1e-6)


def test_nearly_dependent_columns():
    X, y = table(10)
    X[:, 2] = X[:, 0] + X[:, 1] + 1e-6 * X[:, 2]
    model = firth_fit(X, y)
    assert model.verdict_.ok
    assert not model.verdict_.rank.aliased
    assert model.verdict_.check(X, y)


def test_a_table_of_zeros_leaves_nothing_to_determine():
    y = [0, 1, 0, 1]
    model = firth_fit(np.zeros((4, 2)), y, fit_intercept=False)
    assert "Nothing to determine" in str(model.verdict_)
    assert not model.coef_.any()
    assert model.verdict_.check(np.zeros((4, 2)), y)
    level = firth_fit(np.ones((5, 1)), [0, 1, 0, 0, 0])
    np.testing.assert_allclose(level.predict_proba(np.ones((1, 1)))[0, 1], 1.5 / 6, rtol=1e-9)  # (k + ½)/(n + 1)


def test_rows_that_are_read_in_blocks_give_the_same(monkeypatch):
    X, y = table(11, n=5000, d=3)
    t = np.random.default_rng(0).uniform(size=5000)
    weight = np.random.default_rng(1).integers(0, 3, 5000).astype(float)
    whole = [
        firth_fit(X, y),
        firth_fit(X, t, weight),
        firth_fit(sparse.csr_array(X), y),
        firth_fit(X, y, objective="flic"),
    ]
    monkeypatch.setattr(firth_view, "AT_ONCE", 0)
    monkeypatch.setattr(firth_view, "block_rows", lambda width: 700)
    parts = [
        firth_fit(X, y),
        firth_fit(X, t, weight),
        firth_fit(sparse.csr_array(X), y),
        firth_fit(X, y, objective="flic"),
    ]
    for one, other in zip(whole, parts, strict=True):
        close(one, other, rtol=1e-9, atol=1e-10)
        assert one.verdict_.certificate.rho == pytest.approx(other.verdict_.certificate.rho)
    few = table(12, n=30)
    assert firth_fit(*few).verdict_.ok


def test_any_number_of_threads_gives_the_same_bits():
    X, y = table(12, n=140_000, d=8)
    one, two = firth_fit(X, y, n_threads=1), firth_fit(X, y, n_threads=2)
    assert (everything(one) == everything(two)).all()
    assert one.verdict_.certificate.gap == two.verdict_.certificate.gap


def test_separated_rows_are_no_warning():
    X, y = table(13, noise=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = firth_fit(X, y)
    assert model.verdict_.ok
    assert "the only maximum is not proved" in str(model.verdict_)
    assert model.predict_proba(X).min() > 0


# ---------------------------------------------------------------------------------------------------------- FLIC


@FEW
@TABLES
def test_flic_balances_the_probabilities_and_keeps_the_weights(seed, noise):
    X, y = table(seed, noise=noise)
    cost = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    flic, firth = firth_fit(X, y, cost, objective="flic"), firth_fit(X, y, cost)
    assert (flic.coef_ == firth.coef_).all()
    assert flic.verdict_.certificate.intercept == firth.intercept_[0]
    np.testing.assert_allclose(cost @ flic.predict_proba(X)[:, 1], cost @ y, rtol=1e-11)
    assert flic.rule_.intercept == flic.intercept_[0]
    assert flic.verdict_.check(X, y, cost)
    assert "FLIC" in str(flic.verdict_)


def test_the_balancing_shift_is_found_from_afar():
    scores, target = np.array([50.0, -60.0, 0.0, 40.0]), np.array([0.0, 0.0, 1.0, 0.0])
    shift = balancing_shift(scores, target, np.ones(4))
    p = 1 / (1 + np.exp(-(scores + shift)))
    assert p.sum() == pytest.approx(1.0, rel=1e-9)


# ------------------------------------------------------------------------------------------------------ the verdict


@pytest.mark.parametrize("objective", ["firth", "flic"])
def test_a_verdict_that_was_tampered_with_fails(objective):
    X, y = table(14)
    verdict = firth_fit(X, y, objective=objective).verdict_
    claim, proof = verdict.claim, verdict.certificate
    assert verdict.check(X, y)
    claims = [
        replace(claim, weights=claim.weights * (1 + 1e-4)), replace(claim, value=claim.value + 1e-6),
        replace(claim, intercept=claim.intercept + 1e-4), replace(claim, rows=claim.rows + 1),
        replace(claim, l2=0.1), replace(claim, objective="likelihood"), replace(claim, class_weight=(1.0, 2.0)),
        replace(claim, weights=claim.weights * np.nan),
    ]  # fmt: skip
    for wrong in claims:
        assert not replace(verdict, claim=wrong).check(X, y), wrong
    proofs = [
        replace(proof, gap=-1e-10), replace(proof, mean_loss=proof.mean_loss * 1.001), replace(proof, intercept=0.5),
        replace(proof, log_determinant=proof.log_determinant + 1e-4), replace(proof, relative_gap=0.0, gap=1e-3), None,
    ]  # fmt: skip
    for wrong in proofs:
        assert not replace(verdict, certificate=wrong).check(X, y), wrong
    assert not replace(verdict, rank=verdict.rank._replace(aliased=("x1",))).check(X, y)
    assert not verdict.check(X, 1 - y)
    assert not verdict.check(X + 1e-3, y)
    assert not verdict.check(X, y, np.full(len(y), 2.0))
    assert not verdict.check(X[1:], y[1:])


def test_a_gap_that_is_too_small_fails():
    """All numbers but the gap are those of a point beside the maximum."""
    X, y = table(15)
    verdict = firth_fit(X, y).verdict_
    w, b = verdict.claim.weights + 1e-3, verdict.claim.intercept
    Z, total = np.column_stack([X, np.ones(len(y))]), len(y)
    p = 1 / (1 + np.exp(-(X @ w + b)))
    value = penalised(Z, y, np.empty(0), np.append(w, b))
    size = np.linalg.slogdet((Z.T * (p * (1 - p))) @ Z)[1]
    claim = replace(verdict.claim, weights=w, value=-value / total)
    loss = (size / 2 - value) / total
    for gap, holds in ((verdict.certificate.gap, False), (1e-9, False), (1e-5, True)):
        ample = {"nu": 0.01, "rho": 100.0, "distance": 0.1, "coefficients": np.ones(4)}
        proof = replace(
            verdict.certificate, mean_loss=loss, log_determinant=size, gap=gap, relative_gap=gap / loss, **ample
        )
        assert replace(verdict, claim=claim, certificate=proof).check(X, y) == holds


def test_a_verdict_as_plain_numbers():
    X, y = table(16)
    told = firth_fit(X, y).verdict_.to_dict()
    assert told["certificate"]["kind"] == "penalisedlocality"
    assert told["status"] == "local"
    assert json.loads(json.dumps(told)) == told


# -------------------------------------------------------------------------------------------------- the way there


def test_steps_are_the_fit():
    X, y = table(17)
    fitted, stepped = firth_fit(X, y), LogisticRegression(objective="firth")
    steps = list(stepped.steps(X, y))
    assert (everything(fitted) == everything(stepped)).all()
    assert [record[:4] for record in fitted.history_] == [record[:4] for record in stepped.history_]
    assert len(steps) == len(fitted.history_)
    values = [step.value for step in steps]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
    assert values[-1] == fitted.verdict_.claim.value
    assert fitted.n_passes_ >= steps[-1].passes


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_loose_tolerance_is_proved_too(seed):
    """A proof needs a point nearer than the tolerance does where some rows are far out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, size=(1000, 4))
    y = (X[:, 0] + rng.logistic(size=1000) > 0).astype(int)
    model = firth_fit(X, y, tol=1e-2)
    assert model.verdict_.status == "local"
    assert model.verdict_.check(X, y)


def test_too_few_passes_is_a_budget():
    X, y = table(18)
    with pytest.warns(BudgetWarning, match="max_passes"):
        model = firth_fit(X, y, max_passes=1)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(X, y)
    with pytest.warns(BudgetWarning, match="not fitted again"):
        firth_fit(X, y, max_passes=1, objective="flic")


def test_whoever_stops_reading_finds_the_attributes_set():
    X, y = table(19)
    model = LogisticRegression(objective="firth")
    for step in model.steps(X, y):
        if step.step:
            break
    assert model.verdict_.status == "interrupted"
    assert (model.coef_[0] == step.weights).all()
    assert model.verdict_.check(X, y)


def test_a_stopped_fit_can_be_checked_though_it_names_no_column():
    X, y = table(19)
    X = np.column_stack([np.full(len(X), 3.0), X, X[:, 0] - X[:, 1]])
    model = LogisticRegression(objective="firth")
    for step in model.steps(X, y):
        if step.step:
            break
    assert model.verdict_.rank.rank is None
    assert model.verdict_.check(X, y)
    assert not model.verdict_.check(X, 1 - y)


def test_ctrl_c_keeps_where_it_stood(monkeypatch):
    X, y = table(19)
    model, steps = LogisticRegression(objective="flic"), firth_ascent.Ascent.next
    calls = []

    def tired(self, state):
        calls.append(state)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return steps(self, state)

    monkeypatch.setattr(firth_ascent.Ascent, "next", tired)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert len(model.history_) == 3
    assert model.coef_.any()


def test_a_warm_start_goes_on():
    X, y = table(20)
    model = LogisticRegression(objective="firth", warm_start=True).fit(X, y)
    cold = len(model.history_)
    model.fit(X, y)
    assert len(model.history_) < cold
    close(model, firth_fit(X, y))


def test_numba_is_not_needed():
    code = (
        "import sys, numpy as np; from separatrix import LogisticRegression;"
        "LogisticRegression(objective='flic').fit(np.arange(8.0)[:, None], [0, 0, 1, 0, 1, 0, 1, 1]);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ------------------------------------------------------------------------------------------ what does not go together


@pytest.mark.parametrize(
    ("given_settings", "said"),
    [
        ({"l2": 0.1}, "objective='firth' and l2=0.1"),
        ({"l2": "cv"}, "objective='firth' and l2='cv'"),
        ({"solver": "lbfgs"}, "objective='firth' and solver='lbfgs'"),
        ({"solver": "stochastic"}, "objective='firth' and solver='stochastic'"),
        ({"solver": "gauss-newton"}, "objective='firth' and solver='gauss-newton'"),
        ({"objective": "flic", "fit_intercept": False}, "objective='flic' and fit_intercept=False"),
    ],
)
def test_pairs_that_make_no_sense_are_named(given_settings, said):
    X, y = table(21)
    with pytest.raises(ValueError, match=said):
        firth_fit(X, y, **given_settings)


def test_more_than_two_classes_are_refused_with_the_way_out():
    X, _ = table(22)
    with pytest.raises(ValueError, match=r"OneVsRest\(LogisticRegression\(objective='firth'\)\) does"):
        firth_fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("whole", [OneVsRest, OneVsOne])
def test_inside_a_reduction(whole):
    rng = np.random.default_rng(23)
    X = rng.normal(size=(6000, 3)) + np.repeat([[0, 0, 0], [3, 0, 0], [0, 3, 0]], 2000, axis=0)
    y = np.repeat([0, 1, 2], 2000)
    model = whole(LogisticRegression(objective="firth")).fit(X, y)
    member = model.estimators_[0]
    assert member.verdict_.claim.objective == "firth"
    rows = np.ones(6000, bool) if whole is OneVsRest else y < 2
    side = (y == 0).astype(int)[rows]
    alone = firth_fit(X[rows], side)
    np.testing.assert_allclose(np.abs(everything(member)), np.abs(everything(alone)), rtol=1e-6)
    assert model.verdict_.check(X, y)


def test_bad_numbers_are_named():
    X, y = table(24)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 'x1'\]"):
        firth_fit(X, y)


def test_csr_rows_that_are_too_wide_are_refused():
    X = sparse.random_array((3000, 5000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"objective='firth' needs a 5000 × 5000 matrix"):
        firth_fit(X, np.arange(3000) % 2)


@pytest.mark.parametrize("objective", ["firth", "flic"])
def test_it_is_a_classifier_of_two_classes_for_scikit_learn(objective):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(LogisticRegression(objective=objective))
    assert not get_tags(LogisticRegression(objective=objective)).classifier_tags.multi_class
    assert get_tags(LogisticRegression()).classifier_tags.multi_class


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_a_weight_end_where_the_proof_says(seed, weighted):
    """Value, mean loss and weights are what they are said to be."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    y = (X / np.abs(X).max(axis=0) @ rng.normal(size=6) * 6 + rng.logistic(size=2000) > 0).astype(int)
    cost = rng.integers(1, 4, 2000).astype(float) if weighted else np.empty(0)
    model = LogisticRegression(objective="firth").fit(X, y, cost if weighted else None)
    best = LogisticRegression(objective="firth", tol=1e-16, init="zero").fit(X, y, cost if weighted else None)
    Z, total = np.column_stack([X, np.ones(2000)]), cost.sum() if weighted else 2000.0
    claim, proof = model.verdict_.claim, model.verdict_.certificate
    here, top = (penalised(Z, y, cost, everything(each)) for each in (model, best))
    assert -total * claim.value == pytest.approx(here, rel=1e-12, abs=1e-9)
    assert (top - here) / total <= proof.gap + 1e-14
    eta = Z @ everything(model)
    loss = np.logaddexp(0, eta) - y * eta
    assert proof.mean_loss == pytest.approx(np.average(loss, weights=cost if weighted else None), rel=1e-12)
    assert (np.abs(everything(model) - everything(best)) <= proof.coefficients + 1e-9 * np.abs(everything(best))).all()
    assert model.verdict_.check(X, y, cost if weighted else None)


def in_long_doubles(X, t, cost, weights, intercept):
    """ℓ and log|A|, the columns centred for A: that changes nothing but rounding."""
    X = X.astype(np.longdouble)
    eta = X @ weights.astype(np.longdouble) + intercept
    p = 1 / (1 + np.exp(-eta))
    Z = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])
    A, size = (Z.T * (cost * p * (1 - p))) @ Z, np.longdouble(0)
    for k in range(len(A)):
        size += np.log(A[k, k])
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :] / A[k, k])
    return -(cost * (t * np.logaddexp(0, -eta) + (1 - t) * np.logaddexp(0, eta))).sum(), size


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["labels", "weighted", "probabilities", "rare"])
def test_the_certificate_is_right_in_long_doubles(kind, seed):
    """To 10⁻¹¹ of the likelihood; and no gap is larger than the one that is said."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(3000, 5)), rng.normal(size=5)
    score = X @ w / np.linalg.norm(w) - (2 if kind == "rare" else 0)
    t = 1 / (1 + np.exp(-score)) if kind == "probabilities" else (score + rng.logistic(size=3000) > 0).astype(float)
    cost = rng.uniform(0.5, 2, 3000) if kind == "weighted" else np.ones(3000)
    given = X, t if kind == "probabilities" else t.astype(int), cost if kind == "weighted" else None
    model = firth_fit(*given)
    best = firth_fit(*given, tol=1e-15, init="zero")
    proof, claim, total = model.verdict_.certificate, model.verdict_.claim, cost.sum()
    loss, size = in_long_doubles(X, t, cost, model.coef_.ravel(), model.intercept_[0])
    assert abs(total * proof.mean_loss + loss) <= 1e-11 * abs(loss)
    assert abs(proof.log_determinant - size) <= 2e-11 * abs(loss)
    assert abs(total * claim.value + loss + size / 2) <= 1e-11 * abs(loss)
    top_loss, top_size = in_long_doubles(X, t, cost, best.coef_.ravel(), best.intercept_[0])
    above = (top_loss + top_size / 2 - loss - size / 2) / total
    assert -1e-17 <= above <= proof.gap + 1e-17  # the rounding of the long doubles
    assert proof.gap <= 1e-10 * proof.mean_loss
    assert model.verdict_.check(*given)
