"""What inference says, against code of its own, statsmodels and published numbers; and when it says nothing."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.reference_data import lizards, spector, spector_as_stata_had_it
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array
from scipy.stats import chi2

from separatrix import BudgetWarning, Inference, InferenceRefused, LogisticRegression, SeparationWarning
from separatrix.features import Polynomial
from separatrix.inference.constrained import constrained_maximum
from separatrix.inference.profile import _followed, profile_ends

FORCED = {"force": True}


def coins(n=400, d=3, seed=0, scale=1.0):
    """Rows whose log-odds are linear."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    w = np.linspace(1, -0.5, d) * scale
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ w - 0.2))).astype(int)


def dice(n=600, d=2, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) * 0.7 + rng.normal(size=K) * 0.3
    return X, (scores + rng.gumbel(size=(n, K))).argmax(axis=1)


def log_likelihood(X, y, beta, cost=None):
    """Σ c log p of labels 0, 1, … by the book; beta is intercept, weights; of K classes a row for all but the last."""
    Z = np.column_stack([np.ones(len(X)), X])
    beta = np.atleast_2d(beta)
    scores = (
        np.column_stack([Z @ beta.T, np.zeros(len(X))])
        if len(beta) > 1
        else np.column_stack([0 * Z[:, 0], Z @ beta[0]])
    )
    p = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return float((p[np.arange(len(y)), y] * (1 if cost is None else cost)).sum())


def hessian(f, at, h=1e-4):
    """∂²f by differences."""
    n = at.size
    H, E = np.empty((n, n)), np.eye(n) * h
    for i in range(n):
        for j in range(n):
            H[i, j] = (f(at + E[i] + E[j]) - f(at + E[i] - E[j]) - f(at - E[i] + E[j]) + f(at - E[i] - E[j])) / 4 / h**2
    return H


def profile(X, y, j, value, beta, cost=None):
    """max ℓ over all coefficients but the j-th, which is `value`; by scipy."""
    rest = np.delete(np.arange(beta.size), j)

    def loss(v):
        full = np.insert(v, j, value)
        return -log_likelihood(X, y, full, cost)

    return -minimize(loss, beta[rest], method="BFGS", options={"gtol": 1e-7}).fun


# --------------------------------------------------------------------------------------------------------- numbers


def test_the_covariance_is_the_inverse_of_the_curvature():
    X, y = coins()
    found = LogisticRegression(tol=1e-16).fit(X, y).inference(X, y)
    H = -hessian(lambda b: log_likelihood(X, y, b), found.coefficients)
    np.testing.assert_allclose(np.linalg.inv(found.covariance), H, rtol=1e-5)
    assert found.names == ("intercept", "x0", "x1", "x2")
    assert found.refused is None
    assert not found.reasons


def test_of_three_classes_too():
    X, y = dice()
    found = LogisticRegression(tol=1e-16).fit(X, y).inference(X, y)
    assert found.equations == (0, 1)
    assert found.reference == 2
    assert found.coefficients.shape == (2, 3)
    H = -hessian(lambda b: log_likelihood(X, y, b.reshape(2, 3)), found.coefficients.ravel())
    np.testing.assert_allclose(np.linalg.inv(found.covariance), H, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_beside_statsmodels(seed):
    rng = np.random.default_rng(seed)
    X, y = coins(500 + 100 * seed, 2 + seed, seed)
    X = X * 10.0 ** rng.integers(-1, 2, X.shape[1]) + rng.normal(size=X.shape[1])
    model = LogisticRegression(tol=1e-14).fit(X, y)
    for kind, theirs in (("model", "nonrobust"), ("robust", "HC0")):
        peer = sm.Logit(y, sm.add_constant(X)).fit(method="newton", tol=1e-12, disp=0, cov_type=theirs)
        found = model.inference(X, y, covariance=kind)
        np.testing.assert_allclose(found.standard_errors, peer.bse, rtol=1e-6)
        np.testing.assert_allclose(found.z, peer.tvalues, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found.p, peer.pvalues, rtol=1e-4, atol=1e-12)
        np.testing.assert_allclose(found.interval(0.9), peer.conf_int(0.1), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_beside_statsmodels_with_classes(seed):
    X, y = dice(900, 3, 3 + seed % 2, seed)
    model = LogisticRegression(tol=1e-14).fit(X, y)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(method="newton", tol=1e-12, disp=0)
    found = model.inference(X, y).with_reference(0)
    assert found.equations == tuple(range(1, y.max() + 1))
    np.testing.assert_allclose(found.coefficients, np.asarray(peer.params).T, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.standard_errors, np.asarray(peer.bse).T, rtol=1e-6)
    np.testing.assert_allclose(found.p, np.asarray(peer.pvalues).T, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize(
    ("table", "errors"),
    [
        (spector, [4.931324213602699, 1.2629410756290684, 0.1415542056736955, 1.0645642544971294]),
        (spector_as_stata_had_it, [4.93132462871, 1.26294114526, 0.141554207662, 1.06456430165]),
    ],
)
def test_spector(table, errors):
    """Stata had GPA in single precision; its published digits are those of that table."""
    X, y, *_ = table()
    found = LogisticRegression(tol=1e-20).fit(X, y).inference(X, y, **FORCED)
    np.testing.assert_allclose(found.standard_errors, errors, rtol=2e-11)
    assert "fewer than 10 for each" in found.reasons[0]
    assert found.forced


def test_lizards_by_counts():
    X, y, _coef, _intercept, _value, cost = lizards()
    found = LogisticRegression(tol=1e-20).fit(X, y, cost).inference(X, y, cost)
    expected = [0.34147692263594254, 0.2570899106450919, 0.21126940267560035, 0.3223826364052886, 0.25017700523393316]
    np.testing.assert_allclose(found.standard_errors, [*expected, 0.29900057692376614], rtol=1e-9)
    assert found.refused is None
    assert found.rows == cost.sum()


# --------------------------------------------------------------------------------------------------------- profiles


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_at_the_ends_of_a_profile_the_likelihood_has_fallen_just_so_far(level):
    X, y = coins(120, 2, 3)
    model = LogisticRegression(tol=1e-16).fit(X, y)
    found = model.inference(X, y)
    top, fall = log_likelihood(X, y, found.coefficients), chi2.ppf(level, 1) / 2
    for j, ends in enumerate(found.interval(level, method="profile")):
        assert ends[0] < found.coefficients[j] < ends[1]
        for end in ends:
            assert top - profile(X, y, j, end, found.coefficients) == pytest.approx(fall, rel=1e-5)


def test_a_profile_by_root_finding_is_the_same():
    X, y = coins(80, 1, 5, scale=2.5)
    model = LogisticRegression(tol=1e-16).fit(X, y)
    found = model.inference(X, y)
    top, fall, b = log_likelihood(X, y, found.coefficients), chi2.ppf(0.95, 1) / 2, found.coefficients
    for j in range(2):
        above = brentq(lambda t, j=j: top - profile(X, y, j, t, b) - fall, b[j], b[j] + 20, xtol=1e-10)
        assert found.interval(method="profile")[j, 1] == pytest.approx(above, rel=1e-5)


def test_profiles_of_three_classes():
    X, y = dice(300, 2)
    model = LogisticRegression(tol=1e-16).fit(X, y)
    for found in (model.inference(X, y), model.inference(X, y).with_reference(1)):
        ends = found.interval(method="profile")
        assert ends.shape == (2, 3, 2)
        functions, summit = found.functions, found.fitted.summit
        for at, end in ((0, ends[0, 0, 0]), (5, ends[1, 2, 1])):
            held = constrained_maximum(summit.likelihood, summit.v, functions[[at]], np.array([end]))
            assert 2 * (summit.value - held.value) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-7)
            assert float(functions[at] @ held.v) == pytest.approx(end)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(12, 60), scale=st.floats(0.0, 3.0))
def test_both_ways_to_an_end_agree(seed, n, scale):
    X, y = coins(n, 2, seed, scale)
    if len(set(y.tolist())) < 2:
        return
    with pytest.warns(SeparationWarning) if not _overlaps(X, y) else _silence():
        model = LogisticRegression(tol=1e-14).fit(X, y)
    if model.verdict_.status != "optimal":
        return
    found = model.inference(X, y, **FORCED)
    summit, fall = found.fitted.summit, chi2.ppf(0.95, 1) / 2
    ends = profile_ends(summit, found.functions, fall)
    for j, side in ((0, 0), (1, 1), (2, 0)):
        slow = _followed(summit, found.functions[j], (-1.0, 1.0)[side], fall, summit.v)
        assert ends[j, side] == pytest.approx(slow, rel=1e-6, abs=1e-8)


def _overlaps(X, y):
    from separatrix import separability

    return separability(X, y).kind == "overlap"


class _silence:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def test_a_profile_is_skewed_where_wald_is_not():
    """Nearly separated: the upper end is far away, and finite."""
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 4.5, 4.4])
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1])
    model = LogisticRegression().fit(x[:, None], y)
    found = model.inference(x[:, None], y, **FORCED)
    low, high = found.interval(method="profile")[1]
    assert 0 < low < found.coefficients[1] < high < np.inf
    assert high - found.coefficients[1] > 3 * (found.coefficients[1] - low)


def test_levels_are_nested():
    X, y = coins()
    found = LogisticRegression().fit(X, y).inference(X, y)
    for method in ("wald", "profile"):
        narrow, wide = found.interval(0.8, method), found.interval(0.99, method)
        assert (wide[:, 0] < narrow[:, 0]).all()
        assert (narrow[:, 1] < wide[:, 1]).all()


def test_wald_intervals_cover_as_often_as_they_say():
    hits = total = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 2))
        y = (rng.random(300) < 1 / (1 + np.exp(-X @ [0.7, -0.4] - 0.2))).astype(int)
        for method in ("wald", "profile"):
            ends = LogisticRegression().fit(X, y).inference(X, y).interval(0.9, method)
            hits += int(((ends[:, 0] <= [0.2, 0.7, -0.4]) & (ends[:, 1] >= [0.2, 0.7, -0.4])).sum())
            total += 3
    assert 0.85 < hits / total < 0.95


# ------------------------------------------------------------------------------------------------------------ tests


def test_a_likelihood_ratio_test_is_that_of_the_smaller_fit():
    X, y = coins(400, 4, 7)
    found = LogisticRegression(tol=1e-14).fit(X, y).inference(X, y)
    top = found.fitted.summit.value
    for columns, kept in ((["x1", "x3"], [0, 2]), ("x0", [1, 2, 3])):
        small = LogisticRegression(tol=1e-14).fit(X[:, kept], y)
        test = found.test(columns)
        assert test.statistic == pytest.approx(2 * (top + len(y) * small.verdict_.claim.value), rel=1e-8)
        assert test.degrees == 4 - len(kept)
        assert test.p == pytest.approx(chi2.sf(test.statistic, test.degrees))
    assert "x1 and x3 have no weight" in str(found.test([2, "x3"]))
    no_intercept = LogisticRegression(tol=1e-14, fit_intercept=False).fit(X, y)
    assert found.test("intercept").statistic == pytest.approx(2 * (top + len(y) * no_intercept.verdict_.claim.value))


def test_of_three_classes_a_column_has_a_weight_for_each_but_one():
    X, y = dice(500, 3)
    model = LogisticRegression(tol=1e-14).fit(X, y)
    found = model.inference(X, y)
    small = LogisticRegression(tol=1e-14).fit(X[:, [0, 2]], y)
    expected = 2 * len(y) * (small.verdict_.claim.value - model.verdict_.claim.value)
    for each in (found, found.with_reference(0)):
        test = each.test("x1")
        assert test.degrees == 2
        assert test.statistic == pytest.approx(expected, rel=1e-7)


def test_walds_test_is_z_squared():
    X, y = coins()
    for kind in ("model", "robust"):
        found = LogisticRegression().fit(X, y).inference(X, y, covariance=kind)
        test = found.test("x1", method="wald")
        assert test.statistic == pytest.approx(found.z[2] ** 2)
        assert test.p == pytest.approx(found.p[2])
    assert found.test("x1").method == "wald"  # a robust covariance has no likelihood to compare


# ---------------------------------------------------------------------------------------------------------- weights


def everything(found):
    test = found.test(found.names[1])
    return np.concatenate([
        np.ravel(found.coefficients), np.ravel(found.covariance), np.ravel(found.interval(method="profile")),
        [test.statistic, found.rows],
    ])  # fmt: skip


@pytest.mark.parametrize("make", [coins, dice])
def test_weight_two_is_a_row_twice_and_zero_a_row_absent(make):
    X, y = make(250)
    cost = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    X[cost == 0] *= 1e3
    many = np.repeat(np.arange(len(y)), cost.astype(int))
    weighted = LogisticRegression(tol=1e-16).fit(X, y, cost).inference(X, y, cost)
    repeated = LogisticRegression(tol=1e-16).fit(X[many], y[many]).inference(X[many], y[many])
    assert weighted.reasons == repeated.reasons == ()
    np.testing.assert_allclose(everything(weighted), everything(repeated), rtol=1e-6, atol=1e-9)
    robust = {"covariance": "robust"}
    weighted = LogisticRegression(tol=1e-16).fit(X, y, cost).inference(X, y, cost, weights="frequency", **robust)
    repeated = LogisticRegression(tol=1e-16).fit(X[many], y[many]).inference(X[many], y[many], **robust)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-6, atol=1e-12)


def test_so_is_the_refusal():
    X, y = coins(60, 3, 2)
    assert "fewer than 10" in LogisticRegression().fit(X, y).inference(X, y).refused
    five = np.full(60, 5.0)
    assert LogisticRegression().fit(X, y, five).inference(X, y, five).refused is None
    robust = LogisticRegression().fit(X, y, five).inference(X, y, five, covariance="robust")
    assert "fewer than 10" in robust.refused  # there weights are no numbers of rows


def test_the_robust_covariance_does_not_mind_the_unit_of_the_weights():
    X, y = coins()
    cost = np.random.default_rng(0).uniform(0.5, 2, len(y))
    one = LogisticRegression(tol=1e-14).fit(X, y, cost).inference(X, y, cost, covariance="robust")
    other = LogisticRegression(tol=1e-14).fit(X, y, 7 * cost).inference(X, y, 7 * cost, covariance="robust")
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-8)
    Z = sm.add_constant(X)
    p = 1 / (1 + np.exp(-Z @ one.coefficients))
    bread = np.linalg.inv((Z.T * (cost * p * (1 - p))) @ Z)
    np.testing.assert_allclose(one.covariance, bread @ ((Z.T * (cost * (y - p)) ** 2) @ Z) @ bread, rtol=1e-6)


def test_class_weights_and_fractions_need_the_robust_covariance():
    X, y = coins()
    cost = np.random.default_rng(0).uniform(0.5, 2, len(y))
    found = LogisticRegression().fit(X, y, cost).inference(X, y, cost)
    assert "sample_weight[0] = " in found.refused
    assert "robust" in found.refused
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    assert "class_weight" in model.inference(X, y).refused
    assert model.inference(X, y, covariance="robust").refused is None
    share = np.clip(np.random.default_rng(0).random(len(y)), 0.05, 0.95)
    soft = LogisticRegression().fit(X, share)
    assert "no shares of whole numbers" in soft.inference(X, share).refused
    assert soft.inference(X, share, covariance="robust").standard_errors.shape == (4,)


# --------------------------------------------------------------------------------------------------------- refusals


def test_it_refuses_what_is_penalised():
    X, y = coins()
    model = LogisticRegression(l2=0.01).fit(X, y)
    found = model.inference(X, y)
    assert "shrunk by l2 = 0.01" in found.refused
    assert str(found).startswith("No inference.")
    for name in ("coefficients", "covariance", "standard_errors", "z", "p", "odds_ratios"):
        with pytest.raises(InferenceRefused, match=r"shrunk by l2 = 0.01.*force=True"):
            getattr(found, name)
    for call in (found.interval, lambda: found.test("x0"), lambda: found.interval(method="profile")):
        with pytest.raises(InferenceRefused, match="shrunk"):
            call()
    forced = model.inference(X, y, force=True)
    assert forced.refused is None
    assert forced.forced
    assert forced.reasons == found.reasons
    assert str(forced).startswith("† Forced: The weights are shrunk")
    assert str(forced).count("†") == 5
    H = -hessian(lambda b: log_likelihood(X, y, b) - len(y) * 0.005 * (b[1:] ** 2).sum(), forced.coefficients)
    np.testing.assert_allclose(np.linalg.inv(forced.covariance), H, rtol=1e-5)
    with pytest.raises(InferenceRefused, match="needs the maximum of a likelihood"):
        forced.interval(method="profile")


def test_penalised_classes_add_up_to_zero():
    X, y = dice()
    model = LogisticRegression(l2=0.05, tol=1e-14).fit(X, y)
    forced = model.inference(X, y, force=True)

    def value(b):
        b = np.vstack([b.reshape(2, 3), np.zeros(3)])
        W = b[:, 1:] - b[:, 1:].mean(axis=0)
        return log_likelihood(X, y, b[:-1]) - len(y) * 0.025 * (W**2).sum()

    H = -hessian(value, forced.coefficients.ravel())
    np.testing.assert_allclose(np.linalg.inv(forced.covariance), H, rtol=1e-4, atol=1e-3)


def test_it_refuses_what_is_separated():
    x = np.arange(60.0)[:, None]
    y = (np.arange(60) >= 30).astype(int)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(x, y)
    assert "The classes are separated" in model.inference(x, y).refused
    assert np.isfinite(model.inference(x, y, force=True).standard_errors).all()


def test_it_refuses_what_is_quasi_separated_and_names_the_coefficients():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=300), "treated": (np.arange(300) < 40).astype(float)})
    y = (rng.random(300) < 0.5).astype(int)
    y[:40] = 1
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(X, y)
    found = model.inference(X, y)
    assert "quasi-separated" in found.refused
    assert "treated → +∞" in found.refused
    assert "firth" in found.refused


def test_it_refuses_what_is_not_determined():
    X, y = coins()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = LogisticRegression().fit(X, y)
    found = model.inference(X, y)
    assert "x3 is a combination of other columns" in found.refused
    forced = model.inference(X, y, force=True)
    assert np.isfinite(forced.standard_errors).all()
    with pytest.raises(InferenceRefused, match="not determined"):
        forced.interval(method="profile")
    with pytest.raises(InferenceRefused, match="not determined"):
        forced.test("x0")


def test_it_refuses_what_did_not_end():
    X, y = coins(3000, 8)
    with pytest.warns(BudgetWarning):
        model = LogisticRegression(solver="gradient", max_passes=3).fit(X, y)
    assert "'budget'" in model.inference(X, y).refused
    with pytest.raises(InferenceRefused):
        model.inference(X, y, force=True).interval(method="profile")


def test_it_gives_all_its_reasons():
    X, y = coins(30, 3)
    found = LogisticRegression(l2=0.1, class_weight="balanced").fit(X, y).inference(X, y)
    assert len(found.reasons) == 3
    assert all(each in found.refused for each in found.reasons)


# ------------------------------------------------------------------------------------------------------- other rows


def test_it_is_told_of_other_rows():
    X, y = coins()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="not the rows that the model was fitted to"):
        model.inference(X, 1 - y)
    with pytest.raises(ValueError, match="fitted to 400"):
        model.inference(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="not the rows"):
        model.inference(X, y, np.linspace(0.5, 1.5, 400))
    with pytest.raises(ValueError, match="NaN"):
        model.inference(np.where(np.arange(400)[:, None] == 5, np.nan, X), y)
    with pytest.raises(ValueError, match="y\\[0\\] is 7, which is unknown"):
        model.inference(X, y + 7)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"covariance": "hc3"}, "covariance"),
        ({"weights": "sampling"}, "do not go together"),
        ({"weights": "cost", "covariance": "robust"}, "weights"),
        ({"force": 1}, "force"),
    ],
)
def test_bad_questions(asked, said):
    X, y = coins()
    with pytest.raises(ValueError, match=said):
        LogisticRegression().fit(X, y).inference(X, y, **asked)


def test_bad_readings():
    X, y = coins()
    found = LogisticRegression().fit(X, y).inference(X, y)
    for level in (0, 1, 95, "95", True, np.nan):
        with pytest.raises(ValueError, match="level is"):
            found.interval(level)
    with pytest.raises(ValueError, match="method is 'score'"):
        found.interval(method="score")
    for columns, said in (
        ([], "empty"),
        ("age", "no coefficient 'age'"),
        (9, "places"),
        (["x0", 1], "twice"),
        (1.5, "columns is 1.5"),
    ):
        with pytest.raises(ValueError, match=said):
            found.test(columns)
    robust = LogisticRegression().fit(X, y).inference(X, y, covariance="robust")
    with pytest.raises(ValueError, match=r"robust.*do not go together"):
        robust.interval(method="profile")
    with pytest.raises(ValueError, match="reference is 5"):
        found.with_reference(5)
    with pytest.raises(ValueError, match="no likelihood"):
        LogisticRegression(objective="squared").fit(X, y).inference(X, y)


# ------------------------------------------------------------------------------------------------------------- forms


def test_the_form_of_the_rows_does_not_matter():
    X, y = coins(500, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    X = X.astype(np.float32).astype(float)
    model = LogisticRegression(tol=1e-14)
    plain = model.fit(X, y).inference(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for other in (csr_array(X), np.asfortranarray(X), X.astype(np.float32), frame):
        found = model.fit(other, y).inference(other, y)
        np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(found.interval(method="profile"), plain.interval(method="profile"), rtol=1e-5)
    assert found.names == ("intercept", "a", "b", "c")


def test_units_of_columns_only_change_units():
    X, y = coins()
    unit, shift = np.array([1e-6, 1.0, 1e8]), np.array([0.0, 1e5, 1e9])
    plain = LogisticRegression(tol=1e-14).fit(X, y).inference(X, y)
    moved = LogisticRegression(tol=1e-14).fit(X * unit + shift, y).inference(X * unit + shift, y)
    np.testing.assert_allclose(moved.standard_errors[1:] * unit, plain.standard_errors[1:], rtol=1e-6)
    for method in ("wald", "profile"):
        np.testing.assert_allclose(
            moved.interval(method=method)[1:] * unit[:, None], plain.interval(method=method)[1:], rtol=1e-5
        )


def test_features_have_coefficients_of_their_own():
    X, y = coins(800, 2)
    mapped = LogisticRegression(features=Polynomial(2), tol=1e-14).fit(X, y)
    table = Polynomial(2).fit_transform(X)
    plain = LogisticRegression(tol=1e-14).fit(table, y).inference(table, y)
    found = mapped.inference(X, y)
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-6, atol=1e-12)
    assert len(found.names) == 6


def test_without_an_intercept():
    X, y = coins()
    found = LogisticRegression(fit_intercept=False, tol=1e-14).fit(X, y).inference(X, y)
    peer = sm.Logit(y, X).fit(tol=1e-12, disp=0, method="newton")
    np.testing.assert_allclose(found.standard_errors, peer.bse, rtol=1e-6)
    assert found.names == ("x0", "x1", "x2")


def test_a_column_may_be_called_intercept():
    X, y = coins()
    X = pd.DataFrame(X, columns=["intercept", "b", "c"])
    assert LogisticRegression().fit(X, y).inference(X, y).names == ("(intercept)", "intercept", "b", "c")


def test_classes_of_any_kind_and_the_other_way_round():
    X, y = coins()
    names = np.array(["no", "yes"])[y]
    found = LogisticRegression().fit(X, names).inference(X, names)
    assert found.equations == ("yes",)
    assert found.reference == "no"
    turned = found.with_reference("yes")
    np.testing.assert_array_equal(turned.coefficients, -found.coefficients)
    np.testing.assert_allclose(turned.interval(method="profile")[:, 0], -found.interval(method="profile")[:, 1])
    np.testing.assert_allclose(found.odds_ratios * turned.odds_ratios, 1)


def test_the_number_of_threads_does_not_change_a_bit():
    X, y = coins(60_000, 40, 1, 0.3)
    one, two = (LogisticRegression(n_threads=n).fit(X, y).inference(X, y).covariance for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_it_can_be_written_down():
    X, y = coins()
    found = LogisticRegression().fit(X, y).inference(X, y)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["names"][0] == "intercept"
    assert len(told["interval"]) == 4
    assert told["refused"] is None
    refused = LogisticRegression(l2=1.0).fit(X, y).inference(X, y)
    assert "coefficients" not in refused.to_dict()
    assert "shrunk" in refused.to_dict()["refused"]
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Inference)
    np.testing.assert_array_equal(again.covariance, found.covariance)


@pytest.mark.parametrize("make", [coins, dice])
def test_columns_that_are_nearly_the_same_keep_their_digits(make):
    """The information would have lost them; the standard errors are those of the sum and the difference."""
    X, y = make(400, 2)
    near = np.random.default_rng(5).normal(size=len(y))
    apart = np.column_stack([X, near])
    close = np.column_stack([X, X[:, 0] + 2.0**-18 * near])
    plain = LogisticRegression().fit(apart, y).inference(apart, y)
    found = LogisticRegression().fit(close, y).inference(close, y)
    ours, theirs = (np.atleast_2d(each.standard_errors)[:, -1] for each in (found, plain))
    np.testing.assert_allclose(ours * 2.0**-18, theirs, rtol=1e-5)


@pytest.mark.parametrize("make", [coins, dice])
def test_a_root_is_the_root_of_the_information(make):
    X, y = make()
    found = LogisticRegression().fit(X, y).inference(X, y).fitted
    R = found.likelihood.root(found.v)
    np.testing.assert_allclose(R.matrix(), found.likelihood.information(found.v), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_found_where_classes_are_all_but_separated(seed):
    """Units far apart, scores in the hundreds: a parabola at the maximum says little about where the ends are."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(60, 200)), int(rng.integers(2, 5)), int(rng.choice([2, 3]))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d) + rng.normal(size=d)
    scores = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(d, K)) * 8
    y = (scores + rng.gumbel(size=(n, K))).argmax(axis=1)
    if len(set(y.tolist())) < K or not _overlaps(X, y):
        pytest.skip("separated: there is nothing to infer")
    found = LogisticRegression().fit(X, y).inference(X, y, **FORCED)
    summit, ends = found.fitted.summit, found.interval(method="profile").reshape(-1, 2)
    values = found.functions @ summit.v
    assert (ends[:, 0] < values).all()
    assert (values < ends[:, 1]).all()
    for j, side in ((0, 0), (len(ends) - 1, 1)):
        held = constrained_maximum(summit.likelihood, summit.v, found.functions[[j]], ends[[j], side])
        assert held.settled
        assert 2 * (summit.value - held.value) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)


@pytest.mark.parametrize("make", [coins, dice])
def test_signed_roots_are_those_of_likelihood_ratio_tests_and_agree_with_profiles(make):
    X, y = make(150)
    found = LogisticRegression(tol=1e-14).fit(X, y).inference(X, y, **FORCED)
    roots = found.signed_roots()
    if roots.ndim == 1:
        assert roots[2] ** 2 == pytest.approx(found.test("x1").statistic, rel=1e-8)
    assert (np.sign(roots) == np.sign(found.coefficients)).all()
    for level in (0.3, 0.6, 0.95):
        ends = found.interval(level, method="profile")
        holds_zero = (ends[..., 0] <= 0) & (ends[..., 1] >= 0)
        np.testing.assert_array_equal(holds_zero, roots**2 <= chi2.ppf(level, 1))


def test_a_common_factor_of_the_weights_is_noticed():
    X, y = coins()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="weigh 800 together; the model was fitted to rows that weigh 400"):
        model.inference(X, y, np.full(400, 2.0))
    for objective in ("likelihood", "firth"):
        heavy = LogisticRegression(objective=objective).fit(X, y, np.full(400, 4.0))
        with pytest.raises(ValueError, match="give the same sample_weight"):
            heavy.inference(X, y)


@pytest.mark.parametrize("make", [coins, dice])
def test_class_weights_are_in_the_scores_of_every_row_that_is_counted(make):
    X, y = make(300)
    factors = {label: 1.0 + 2 * label for label in set(y.tolist())}
    model = LogisticRegression(class_weight=factors, tol=1e-14)
    robust = {"covariance": "robust"}
    one = model.fit(X, y).inference(X, y, **robust).covariance
    np.testing.assert_allclose(model.fit(X, y).inference(X, y, weights="frequency", **robust).covariance, one)
    cost = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    many = np.repeat(np.arange(len(y)), cost.astype(int))
    weighted = model.fit(X, y, cost).inference(X, y, cost, weights="frequency", **robust)
    repeated = model.fit(X[many], y[many]).inference(X[many], y[many], **robust)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e30, 1e200])
def test_robust_errors_do_not_hang_on_the_unit_of_the_weights(unit):
    X, y = coins()
    cost = np.random.default_rng(0).uniform(0.5, 2, len(y))
    one = LogisticRegression(tol=1e-14).fit(X, y, cost).inference(X, y, cost, covariance="robust")
    other = LogisticRegression(tol=1e-14).fit(X, y, unit * cost).inference(X, y, unit * cost, covariance="robust")
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=1e-6)


def test_shares_of_whole_numbers_are_outcomes():
    x, k, n = np.arange(4.0)[:, None], np.array([3, 10, 20, 28]), np.full(4, 30.0)
    found = LogisticRegression(tol=1e-14).fit(x, k / n, n).inference(x, k / n, n)
    rows = np.repeat(x, 30, axis=0)
    y = np.concatenate([np.arange(30) < each for each in k]).astype(int)
    plain = LogisticRegression(tol=1e-14).fit(rows, y).inference(rows, y)
    assert found.refused is None
    np.testing.assert_allclose(everything(found), everything(plain), rtol=1e-7)


def test_a_row_is_named_by_its_own_place():
    X, y = coins()
    cost = np.ones(400)
    cost[3], cost[10] = 0, 1.5
    assert "sample_weight[10] = 1.5" in LogisticRegression().fit(X, y, cost).inference(X, y, cost).refused


def test_what_is_gone_to_infinity_is_not_a_number():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 2))
    X[:, 1] = rng.uniform(size=100) < 0.2
    y = ((X[:, 0] + rng.logistic(size=100) > 0) | (X[:, 1] > 0)).astype(int)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(X, y)
    forced = model.inference(X, y, force=True)
    assert not any("combination" in each for each in forced.reasons)
    assert not (np.abs(forced.z) > 100).any()
    with pytest.raises(InferenceRefused, match="needs the maximum of a likelihood"):
        forced.interval(method="profile")


def test_advice_can_be_followed():
    X, y = dice(40, 3)
    assert "for two of the classes at a time" in LogisticRegression(l2=0.1).fit(X, y).inference(X, y).refused
    X, y = coins()
    weighted = LogisticRegression(objective="firth", class_weight={0: 1.0, 1: 2.0}).fit(X, y).inference(X, y)
    assert "objective='likelihood' with covariance='robust'" in weighted.refused


def test_parameters_that_change_after_the_fit_change_nothing():
    X, y = coins()
    model = LogisticRegression().fit(X, y)
    before = model.inference(X, y).covariance
    np.testing.assert_array_equal(model.set_params(fit_intercept=False).inference(X, y).covariance, before)
