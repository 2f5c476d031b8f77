"""The verdict: what it proves is true, what it cannot prove it does not claim, and a check can be trusted."""

import dataclasses
import itertools
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples, some_of
from referees.logistic import kind_of_separation, mean_loss, newton
from referees.separation import INTERCEPT, limit, separation, separation_by_highs

from separatrix import BudgetWarning, LogisticRegression, SeparationWarning, Verdict
from separatrix.fitting.problem import Bounds
from separatrix.geometry.separation.search import HiddenSeparationError
from separatrix.results.claims import Claim
from separatrix.results.proofs import Limit, Optimality, Separation
from separatrix.results.verdict import STATUSES, Rank, listed

SOLVERS = ["auto", "newton", "lbfgs", "gradient"]
STATUS = {"separated": "separated", "quasi-separated": "quasi-separated", "overlap": "optimal"}
QUASI = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])


def overlapping(n=100, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.linspace(1, -1, d) + rng.logistic(size=n) > 0).astype(int)


def separated(n=40, d=3, seed=0):
    """Rows on two sides of a plane, none nearer to it than one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 2
    X[:, 0] = np.where(y == 1, 1, -1) * (1 + np.abs(X[:, 0])) + 5
    return X, y


def like_endometrial(n=79, seed=0):
    """Two numbers that overlap, and a flag which is raised in one class only: its weight wants to be infinite."""
    X, y = overlapping(n, 2, seed)
    flag = (y == 1) & (np.arange(n) % 4 == 0)
    return np.column_stack([flag, X]), y


def like_sex2(n=239, seed=0):
    """Flags of which the last is raised in five rows, all of the same class."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 6)) < 0.4).astype(float)
    y = (X[:, :5] @ [-1, 0.2, 2, -2, -0.7] + rng.logistic(size=n) > 0).astype(int)
    X[:, 5] = 0
    X[np.flatnonzero(y == 1)[:5], 5] = 1
    return X, y


def quietly(X, y, sample_weight=None, **settings):
    """A fit whose warnings are of no interest: its verdict says the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(**settings).fit(X, y, sample_weight)


# ------------------------------------------------------------------------------- the certificate bounds the truth


def assert_bounds_hold(model, X, y, cost=None):
    """The gap and the coefficients' errors, against an optimum in long double."""
    claim, proof = model.verdict_.claim, model.verdict_.certificate
    truth = newton(X, y, l2=claim.l2, cost=cost, fit_intercept=claim.fit_intercept)
    reached = mean_loss(X, y, model.coef_[0], model.intercept_[0], l2=claim.l2, cost=cost)
    size = 1 + np.abs(model.intercept_[0]) + (np.abs(X) @ np.abs(model.coef_[0])).max()
    noise = 64 * float(np.finfo(np.longdouble).eps) * size
    assert float(reached - truth.value) <= proof.gap + noise
    assert claim.value == pytest.approx(float(reached), rel=1e-12)
    assert proof.rho * proof.nu < 1
    assert proof.gap <= 1e-10 * claim.value
    assert proof.relative_gap == pytest.approx(proof.gap / claim.value, rel=1e-12)
    if np.linalg.cond(X / np.abs(X).max(axis=0)) > 1e5 and claim.l2 == 0:
        return  # the referee's own weights are not good enough
    off = np.append(model.coef_[0] - truth.weights, model.intercept_[0] - truth.intercept).astype(float)
    rounding = np.append(np.abs(model.coef_[0]), np.abs(X).max(axis=0) @ np.abs(model.coef_[0]) + 1) * 1e-14
    assert (np.abs(off) <= proof.coefficients + rounding).all()


@st.composite
def problems(draw):
    """Small tables of overlapping classes on columns of different scales, with costs now and then."""
    n, d = draw(st.integers(6, 30)), draw(st.integers(1, 4))
    cells = st.floats(-10, 10, width=32).map(lambda x: round(x, 3))
    X = draw(arrays(float, (n, d), elements=cells))
    X = X * 10.0 ** draw(arrays(int, d, elements=st.integers(-3, 3)))
    y = draw(arrays(int, n, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n)
    cost = draw(st.none() | arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 10.0])))
    assume(cost is None or (cost[y == 0].any() and cost[y == 1].any()))
    assume((X if cost is None else X[cost > 0]).any())
    return X, y, cost


@examples(25, 80, problems(), st.sampled_from(SOLVERS[:3]), st.booleans())
def test_the_proof_of_a_maximum_likelihood_bounds_the_truth(problem, solver, fit_intercept):
    X, y, cost = problem
    model = quietly(X, y, cost, solver=solver, fit_intercept=fit_intercept)
    assert model.verdict_.check(X, y, cost)
    if model.verdict_.ok and not model.verdict_.rank.aliased:
        assert_bounds_hold(model, X, y, cost)


@examples(30, 80, problems(), st.sampled_from(SOLVERS[:3]), st.booleans(), st.sampled_from([1e-4, 0.01, 1.0, 100.0]))
def test_the_proof_of_a_ridge_fit_bounds_the_truth(problem, solver, fit_intercept, l2):
    X, y, cost = problem
    model = quietly(X, y, cost, solver=solver, fit_intercept=fit_intercept, l2=l2)
    assert model.verdict_.status in {"optimal", "budget"}
    assert model.verdict_.check(X, y, cost)
    if model.verdict_.ok:
        assert_bounds_hold(model, X, y, cost)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_an_easy_problem_is_optimal_with_a_proof_that_bounds_the_truth(solver, l2, fit_intercept, weighted):
    X, y = overlapping()
    cost = np.random.default_rng(1).random(len(y)) if weighted else None
    model = LogisticRegression(solver=solver, l2=l2, fit_intercept=fit_intercept).fit(X, y, cost)
    assert model.verdict_.ok
    assert isinstance(model.verdict_.certificate, Optimality)
    assert_bounds_hold(model, X, y, cost)


def test_the_bound_on_the_distance_holds_in_the_norm_of_the_hessian():
    X, y = overlapping()
    model = LogisticRegression(tol=1e-4, solver="gradient").fit(X, y)
    truth, p = newton(X, y), model.predict_proba(X)[:, 1]
    Z = np.column_stack([X, np.ones(len(X))])
    H = (Z.T * (p * (1 - p))) @ Z / len(y)
    off = np.append(model.coef_[0] - truth.weights, model.intercept_[0] - truth.intercept).astype(float)
    distance = np.sqrt(off @ H @ off)
    assert 1e-9 < distance <= model.verdict_.certificate.distance < 100 * distance
    assert model.verdict_.certificate.share == 1.0


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7, 1e-13])
def test_the_gap_is_below_what_was_asked(tol):
    X, y = overlapping()
    model = LogisticRegression(tol=tol).fit(X, y)
    assert model.verdict_.ok
    assert model.verdict_.certificate.relative_gap <= tol
    truth = newton(X, y)
    assert float(mean_loss(X, y, model.coef_[0], model.intercept_[0]) / truth.value - 1) <= tol


def test_a_proof_from_a_part_of_the_rows_bounds_the_truth():
    X, y = overlapping(30_000, 12, seed=2)
    model = LogisticRegression(solver="lbfgs").fit(X, y)
    assert model.verdict_.ok
    assert 0 < model.verdict_.certificate.share < 1
    assert model.verdict_.check(X, y)
    better = LogisticRegression(solver="newton", tol=1e-14).fit(X, y)
    off = np.append(model.coef_[0] - better.coef_[0], model.intercept_[0] - better.intercept_[0])
    assert (np.abs(off) <= model.verdict_.certificate.coefficients + better.verdict_.certificate.coefficients).all()
    assert model.verdict_.claim.value - better.verdict_.claim.value <= model.verdict_.certificate.gap


# ------------------------------------------------------------------------------------------------------ the check


@pytest.fixture(params=[0.0, 0.1], ids=["likelihood", "ridge"])
def fitted(request):
    X, y = overlapping()
    return LogisticRegression(l2=request.param).fit(X, y), X, y


def with_claim(verdict, **changes):
    return dataclasses.replace(verdict, claim=dataclasses.replace(verdict.claim, **changes))


def test_a_verdict_checks_on_its_own_data_in_any_order(fitted):
    model, X, y = fitted
    shuffled = np.random.default_rng(0).permutation(len(y))
    assert model.verdict_.check(X, y) is True
    assert model.verdict_.check(X[shuffled], y[shuffled])
    assert model.verdict_.check(X.tolist(), y.tolist())
    assert model.verdict_.check(pd.DataFrame(X), pd.Series(y))


def test_a_verdict_fails_on_flipped_labels(fitted):
    model, X, y = fitted
    assert not model.verdict_.check(X, 1 - y)
    one = y.copy()
    one[17] = 1 - one[17]
    assert not model.verdict_.check(X, one)


def test_a_verdict_fails_on_other_data(fitted):
    model, X, y = fitted
    moved = X.copy()
    moved[3, 1] += 0.01
    assert not model.verdict_.check(moved, y)
    assert not model.verdict_.check(X[:-1], y[:-1])
    assert not model.verdict_.check(np.vstack([X, X[:1]]), np.append(y, y[0]))


@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-4])
def test_a_verdict_fails_for_other_weights(fitted, size):
    model, X, y = fitted
    other = model.verdict_.claim.weights + size * np.array([1.0, 0.0, 0.0])
    value = float(mean_loss(X, y, other, model.intercept_[0], l2=model.l2))
    assert not with_claim(model.verdict_, weights=other).check(X, y)
    assert not with_claim(model.verdict_, weights=other, value=value).check(X, y)
    assert not with_claim(model.verdict_, intercept=model.intercept_[0] + size).check(X, y)


def test_a_verdict_fails_for_another_loss_or_penalty(fitted):
    model, X, y = fitted
    value = model.verdict_.claim.value
    assert not with_claim(model.verdict_, value=value * (1 + 1e-6)).check(X, y)
    assert not with_claim(model.verdict_, value=value * (1 - 1e-6)).check(X, y)
    assert not with_claim(model.verdict_, l2=model.l2 + 1e-3).check(X, y)
    assert not with_claim(model.verdict_, class_weight=(2.0, 1.0)).check(X, y)


def test_a_verdict_fails_where_a_smaller_gap_is_claimed():
    X, y = overlapping()
    verdict = LogisticRegression(tol=1e-4, solver="gradient").fit(X, y).verdict_
    assert verdict.certificate.relative_gap > 1e-10
    assert verdict.check(X, y)
    for factor in (0.1, 1e-3):
        boast = dataclasses.replace(verdict.certificate, gap=verdict.certificate.gap * factor)
        assert not dataclasses.replace(verdict, certificate=boast).check(X, y)


def test_what_is_claimed_is_rounded_up_but_never_to_where_the_proof_ends():
    """Hardly any curvature is left where rows are far out: ρ is large, and so is ν where `tol` is."""
    X, y = overlapping()
    X = np.vstack([X, 1e6 * np.eye(X.shape[1])])
    y = np.append(y, np.arange(X.shape[1]) % 2)
    for tol in (1e-10, 0.5):
        verdict = LogisticRegression(tol=tol, l2=1e-3).fit(X, y).verdict_
        proof = verdict.certificate
        assert verdict.ok
        assert proof.rho * proof.nu < 1
        assert verdict.check(X, y)
    bounds = Bounds(1e-9, 1e6, 1e-18, 1e-9, np.ones(2), 1.0).rounded_up(0.5)
    assert bounds.nu == bounds.distance == pytest.approx(1e-7)
    assert Bounds(1e-9, 0.0, 1e-18, 1e-9, np.ones(2), 1.0).rounded_up(0.5).nu == pytest.approx(1e-3)


def test_optimal_without_a_proof_does_not_check(fitted):
    model, X, y = fitted
    assert not dataclasses.replace(model.verdict_, certificate=None).check(X, y)


def test_an_unknown_label_makes_the_check_fail(fitted):
    model, X, y = fitted
    for known in (0, 1):
        strange = y.copy()
        strange[np.flatnonzero(y == known)[0]] = 2
        assert not model.verdict_.check(X, strange)
    assert not model.verdict_.check(X, np.array(["no", "yes"])[y])


def test_the_check_needs_the_costs_of_the_fit():
    X, y = overlapping()
    cost = np.random.default_rng(3).random(len(y)) + 0.1
    verdict = LogisticRegression().fit(X, y, cost).verdict_
    assert verdict.check(X, y, cost)
    assert verdict.check(X, y, sample_weight=cost * 7)  # the mean loss does not depend on their unit
    assert not verdict.check(X, y)
    assert not verdict.check(X, y, cost[::-1])


def test_the_check_knows_class_weights():
    X, y = overlapping()
    for class_weight in ("balanced", {0: 5.0}):
        assert LogisticRegression(class_weight=class_weight).fit(X, y).verdict_.check(X, y)


def test_the_check_refuses_tables_of_another_shape(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="the verdict speaks of 3 columns"):
        model.verdict_.check(X[:, :2], y)
    with pytest.raises(ValueError, match="X has 100 rows, y 99"):
        model.verdict_.check(X, y[:-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_check_reads_either_precision(dtype):
    X, y = overlapping()
    X = X.astype(dtype)
    assert LogisticRegression().fit(X, y).verdict_.check(X, y)


@examples(30, 80, problems(), st.sampled_from([0.0, 0.01]), st.integers(0, 10**6))
def test_no_check_passes_on_a_flipped_label(problem, l2, row):
    X, y, cost = problem
    model = quietly(X, y, cost, l2=l2)
    i = row % len(y)
    assume(model.verdict_.ok and (cost is None or cost[i] > 0) and abs(model.decision_function(X)[i]) > 1e-6)
    y[i] = 1 - y[i]
    assert not model.verdict_.check(X, y, cost)


# ------------------------------------------------------------------------------------------------------ separated


@pytest.mark.parametrize("solver", SOLVERS)
def test_separable_rows_are_separated_with_one_warning(solver):
    X, y = separated()
    with pytest.warns() as caught:
        model = LogisticRegression(solver=solver).fit(X, y)
    assert [each.category for each in caught] == [SeparationWarning]
    assert caught[0].filename == __file__
    assert model.verdict_.status == "separated"
    assert not model.verdict_.ok
    assert model.score(X, y) == 1
    assert model.verdict_.check(X, y)


def test_the_warning_says_what_it_means_and_the_ways_out():
    X, y = separated()
    with pytest.warns(SeparationWarning) as caught:
        model = LogisticRegression().fit(X, y)
    text = str(caught[0].message)
    assert text == str(model.verdict_)
    for words in ("all 40 rows", "the likelihood has no maximum", "tend to 0 and 1", "Use the rule", "l2 > 0"):
        assert words in text


def test_the_margin_is_the_distance_of_the_nearest_row():
    X, y = separated()
    model = quietly(X, y)
    proof = model.verdict_.certificate
    assert isinstance(proof, Separation)
    assert proof.margin == pytest.approx(np.abs(model.distance(X)).min(), rel=1e-10)
    assert proof.margin > 0
    assert proof.weights.tolist() == model.coef_[0].tolist()
    assert proof.intercept == model.intercept_[0]


def test_the_check_of_a_separation_is_exact():
    """A row that rounding would put on either side, decided by fractions."""
    X, y = np.array([[-1.0], [1.0], [0.1]]), np.array([0, 1, 1])
    verdict = quietly(X, y).verdict_
    exactly_on, just_off = (
        dataclasses.replace(verdict, certificate=Separation(np.array([3.0]), intercept, 0.0))
        for intercept in (-0.3, np.nextafter(-0.3, 0))
    )
    assert 3 * 0.1 - 0.3 > 0  # in floating point; in truth 3 · 0.1 is a little more than 0.3, both as rounded
    assert exactly_on.check(X, y)
    assert just_off.check(X, y)
    for intercept in (-0.30000000000000004, -0.31):
        beyond = dataclasses.replace(verdict, certificate=Separation(np.array([3.0]), intercept, 0.0))
        assert not beyond.check(X, y)


def test_a_separation_fails_on_a_row_of_the_other_side():
    X, y = separated()
    verdict = quietly(X, y).verdict_
    assert verdict.check(X, y)
    y[5] = 1 - y[5]
    assert not verdict.check(X, y)


def test_a_separation_fails_on_a_row_of_the_boundary():
    X, y = np.array([[-1.0], [1.0], [2.0]]), np.array([0, 1, 1])
    verdict = quietly(X, y).verdict_
    on = dataclasses.replace(verdict, certificate=Separation(np.array([1.0]), -1.0, 0.0))
    assert not on.check(X, y)
    assert on.check(X, y, sample_weight=[1, 0, 1])  # a row that does not count need not be on its side


@pytest.mark.parametrize("solver", SOLVERS[:3])
@pytest.mark.parametrize("at", [1.0, -1e6, 1e9])
@pytest.mark.parametrize("ulps", [1, 2, 5, 50, 1000])
def test_a_separation_is_claimed_only_where_rounding_cannot_feign_it(solver, at, ulps):
    """Two points that are a few of the smallest steps apart: separable in truth, hardly so in double precision."""
    X, y = np.array([[at], [at], [at], [at]]), [0, 0, 1, 1]
    X[2:] += ulps * np.spacing(abs(at))
    verdict = quietly(X, y, solver=solver).verdict_
    assert verdict.status == "separated" or (ulps < 50 and verdict.status == "budget")
    assert verdict.check(X, y)


def test_limit_probabilities_are_zero_one_and_one_half_on_the_boundary():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["a", "a", "b", "b"]
    model = quietly(X, y)
    boundary = -model.intercept_[0] / model.coef_[0, 0]
    at = np.array([[-5.0], [boundary], [1.5]])
    assert model.decision_function(at)[1] == 0
    assert model.predict_proba(at).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    with np.errstate(divide="ignore"):
        assert model.predict_log_proba(at).tolist() == np.log(model.predict_proba(at)).tolist()
    assert model.predict(at).tolist() == ["a", "a", "b"]


def test_the_rule_of_a_separated_fit_claims_no_other_probabilities():
    X, y = separated()
    model = quietly(X, y)
    try:
        p = model.rule_.probability(X)
    except ValueError:
        return
    assert p.tolist() == model.predict_proba(X)[:, 1].tolist()


def test_a_penalty_makes_separable_rows_optimal():
    X, y = separated()
    assert LogisticRegression(l2=1e-3).fit(X, y).verdict_.ok


@pytest.mark.parametrize("n", [40, 450_000], ids=["interpreted", "compiled"])
def test_a_row_that_does_not_count_does_not_stand_in_the_way_of_separation(n):
    X, y = separated(n, 1)
    lowest, cost = X[:, 0].argmin(), np.ones(len(y))
    y[lowest], cost[lowest] = 1 - y[lowest], 0
    model = quietly(X, y, cost)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y, cost)
    assert quietly(X, y).verdict_.status != "separated"


@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 5), (10, 30)])
def test_few_rows_are_separated(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    model = quietly(X, np.arange(n) % 2)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, np.arange(n) % 2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_twins_of_both_classes_are_never_separated_in_many_columns(solver):
    """Fewer rows than columns, and two of them are equal: the n × n system may not tell them apart by rounding.

    The third row is separated, and of the twins one half is left to each class: the deviance is 4 log 2.
    """
    X, y = np.array([[1.0, 1, 0, 1], [-1, 1, -1, -1], [1, 1, 0, 1]]), [0, 1, 1]
    for seed in range(20):
        turned = X @ np.random.default_rng(seed).normal(size=(4, 9)) if seed else X
        for fit_intercept in (False, True):
            model = quietly(turned, y, solver=solver, fit_intercept=fit_intercept)
            assert model.verdict_.status == "quasi-separated"
            assert model.verdict_.check(turned, y) is True
            assert model.verdict_.separability.rows.tolist() == [1]
            assert model.verdict_.certificate.deviance == pytest.approx(4 * np.log(2), rel=1e-9)
            np.testing.assert_allclose(model.predict_proba(turned)[:, 1], [0.5, 1, 0.5], atol=1e-7)


# --------------------------------------------------------------------------- separated, quasi-separated or overlap


@st.composite
def small_integers(draw):
    """Tables of small integers: ties, duplicates, dependent columns and every kind of separation."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    top = draw(st.integers(1, 5))
    X = draw(arrays(float, (n, d), elements=st.integers(-top, top).map(float)))
    y = draw(arrays(int, n, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n)
    return X, y


@examples(80, 300, small_integers(), st.sampled_from(SOLVERS[:3]), st.booleans())
def test_verdicts_agree_with_a_linear_programme(table, solver, fit_intercept):
    X, y = table
    assume(fit_intercept or X.any())
    model = quietly(X, y, solver=solver, fit_intercept=fit_intercept)
    kind = kind_of_separation(X, y, fit_intercept=fit_intercept)
    assert model.verdict_.status == STATUS[kind]
    assert model.verdict_.check(X, y) is True
    if kind == "quasi-separated":
        assert_limit(model, X, y, separation(X, y, fit_intercept=fit_intercept))


def assert_limit(model, X, y, answer):
    """The rows and coefficients that a referee names; the deviance, probabilities and finite weights of the limit."""
    verdict, found = model.verdict_, model.verdict_.separability
    one = verdict.claim.fit_intercept
    assert found.kind == answer.kind == "quasi-separated"
    assert found.rows.tolist() == list(answer.rows)
    assert found.rank.aliased == tuple(f"x{j}" for j in answer.aliased)
    columns = range(X.shape[1])
    assert [found.coefficients[f"x{j}"] for j in columns] == [answer.coefficients[j] for j in columns]
    assert not one or found.coefficients[INTERCEPT] == answer.coefficients[INTERCEPT]
    known = limit(X, y, answer, fit_intercept=one)
    assert isinstance(verdict.certificate, Limit)
    assert verdict.certificate.deviance == pytest.approx(known.deviance, rel=1e-8)
    assert verdict.claim.value == pytest.approx(known.deviance / 2 / len(y), rel=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), known.probabilities, atol=1e-6)
    assert np.isfinite(model.coef_).all()
    for j in columns:
        if answer.coefficients[j] == "finite" and not answer.aliased:
            limiting = known.coefficients[0, j + one]
            assert model.coef_[0, j] == pytest.approx(limiting, rel=1e-5, abs=1e-5 / (np.abs(X[:, j]).max() or 1))
        if answer.coefficients[j] in ("+inf", "-inf"):
            assert model.coef_[0, j] * float(answer.coefficients[j]) > 0


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_nothing_but_zeros_and_no_intercept(l2):
    X, y = np.zeros((4, 2)), [0, 1, 0, 1]
    model = LogisticRegression(fit_intercept=False, l2=l2).fit(X, y)
    assert model.verdict_.ok
    assert model.coef_.tolist() == [[0, 0]]
    assert model.verdict_.rank == (0, 2, ("x0", "x1"))
    assert model.verdict_.check(X, y)


@examples(25, 80, small_integers(), st.integers(0, 100), st.sampled_from(SOLVERS))
def test_gradient_descent_too_never_proves_what_is_false(table, row, solver):
    X, y = table
    kind = kind_of_separation(X, y)
    verdict = quietly(X, y, solver=solver, max_passes=40).verdict_
    assert verdict.check(X, y) is True
    if kind == "overlap" and solver == "gradient" and verdict.status == "budget":
        assert "the minimum is known to exist" in verdict.cause or "The classes overlap" in verdict.cause
    else:
        assert verdict.status == STATUS[kind]


@examples(30, 80, problems(), st.integers(0, 10**6), st.sampled_from(SOLVERS[:3]))
def test_twins_of_both_classes_are_never_separated(problem, row, solver):
    X, y, _ = problem
    i = row % len(y)
    X, y = np.vstack([X, X[i]]), np.append(y, 1 - y[i])
    model = quietly(X, y, solver=solver)
    assert model.verdict_.status in {"optimal", "quasi-separated"}
    assert model.verdict_.check(X, y) is True
    p = model.predict_proba(X[[i, -1]])[:, 1]
    assert p[0] == p[1]
    assert 0 < p[0] < 1
    if model.verdict_.status == "quasi-separated":
        assert not {i, len(y) - 1} & set(model.verdict_.separability.rows.tolist())


@examples(30, 80, problems(), st.sampled_from(SOLVERS[:3]), st.floats(1e-3, 10))
def test_separable_rows_are_always_separated(problem, solver, gap):
    X, y, _ = problem
    X[:, 0] = np.abs(X[:, 0]) * np.where(y == 1, 1, -1) + np.where(y == 1, gap, -gap) * (1 + np.abs(X[:, 0]).max())
    model = quietly(X, y, solver=solver)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tol", some_of([1e-4, 1e-6, 1e-12, 1e-8, 1e-10, 1e-14], 2))
@pytest.mark.parametrize("make", [lambda: QUASI, like_endometrial, like_sex2], ids=["four points", "flag", "flags"])
def test_quasi_separation_is_never_called_optimal(make, solver, tol):
    X, y = make()
    assert kind_of_separation(X, y) == "quasi-separated"
    with pytest.warns() as caught:
        model = LogisticRegression(solver=solver, tol=tol).fit(X, y)
    assert [each.category for each in caught] == [SeparationWarning]
    assert caught[0].filename == __file__
    assert str(caught[0].message) == str(model.verdict_)
    assert model.verdict_.status == "quasi-separated"
    assert not model.verdict_.ok
    assert model.verdict_.check(X, y) is True
    assert_limit(model, X, y, separation_by_highs(X, y))


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_quasi_separation_is_never_called_optimal_on_any_scale(scale, offset):
    X, y = like_endometrial()
    moved = X * scale + offset * scale
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(moved, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(moved, y) is True
    assert model.verdict_.separability.rows.tolist() == np.flatnonzero(X[:, 0]).tolist()
    known = limit(X, y, separation_by_highs(X, y))
    assert model.coef_[0, 0] > 0
    np.testing.assert_allclose(model.coef_[0, 1:] * scale, known.coefficients[0, 2:], rtol=1e-5)
    assert model.verdict_.certificate.deviance == pytest.approx(known.deviance, rel=1e-8)


@pytest.mark.parametrize("init", ["zero", "random", [200.0, 0.0, 0.0, 0.0], [-50.0, 1.0, 1.0, 1.0]], ids=str)
def test_quasi_separation_is_never_called_optimal_from_any_start(init):
    X, y = like_endometrial()
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(init=init, random_state=0).fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y) is True
    assert_limit(model, X, y, separation_by_highs(X, y))


def test_the_cause_names_the_column_that_goes_to_infinity_and_those_that_do_not():
    X, y = like_endometrial()
    table = pd.DataFrame(X, columns=["NV", "PI", "EH"])
    with pytest.warns(SeparationWarning, match="Quasi-separated"):
        verdict = LogisticRegression().fit(table, y).verdict_
    assert "Maximum likelihood sends NV → +∞; PI, EH and (intercept) stay finite." in verdict.cause
    assert f"a rule separates {int(X[:, 0].sum())} rows" in verdict.cause
    assert f"The deviance falls to {verdict.certificate.deviance:.6g}" in verdict.cause
    assert "l2 > 0" in verdict.remedy


FORGERIES = {
    "no certificate": lambda found: dataclasses.replace(found, certificate=None),
    "no separation": lambda found: dataclasses.replace(found, separability=None),
    "another deviance": lambda found: with_proof(found, deviance=found.certificate.deviance / 2),
    "another limit": lambda found: with_proof(found, weights=found.certificate.weights + 1),
}


def with_proof(verdict, **changes):
    return dataclasses.replace(verdict, certificate=dataclasses.replace(verdict.certificate, **changes))


@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_limit_does_not_check(forged):
    X, y = like_endometrial()
    verdict = quietly(X, y).verdict_
    assert verdict.check(X, y)
    assert not forged(verdict).check(X, y)


def test_an_overlap_that_is_called_quasi_separated_does_not_check():
    X, y = overlapping()
    verdict = LogisticRegression().fit(X, y).verdict_
    assert not dataclasses.replace(verdict, status="quasi-separated").check(X, y)


# --------------------------------------------------------------------------------------------------------- budget


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("max_passes", [1, 2, 3])
def test_a_small_budget_ends_with_one_warning_that_says_so(solver, max_passes):
    X, y = overlapping()
    with pytest.warns() as caught:
        model = LogisticRegression(solver=solver, max_passes=max_passes, tol=1e-14).fit(X, y)
    assert [each.category for each in caught] == [BudgetWarning]
    assert caught[0].filename == __file__
    assert str(caught[0].message) == str(model.verdict_)
    assert model.verdict_.status == "budget"
    assert not model.verdict_.ok
    assert re.search(r"after \d", model.verdict_.cause)
    assert model.verdict_.remedy
    assert model.verdict_.check(X, y)


def test_a_small_budget_asks_for_more_passes_and_suspects_no_separation():
    for seed, solver, passes in itertools.product(range(5), ("newton", "lbfgs", "gradient"), (1, 2, 3, 4)):
        X, y = overlapping(seed=seed)
        verdict = quietly(X, y, solver=solver, max_passes=passes, tol=1e-14).verdict_
        assert f"Raise max_passes above {passes}" in verdict.remedy
        assert "separat" not in str(verdict)


@pytest.mark.parametrize("far", [1e5, 1e6, 1e8])
def test_a_far_row_on_its_own_side_is_not_taken_for_separation(far):
    X, y = overlapping()
    X[0], y[0] = [far, 0, 0], 1
    assert kind_of_separation(X, y) == "overlap"
    assert "separat" not in str(quietly(X, y).verdict_)


def test_the_check_bears_a_far_row():
    X, y = overlapping()
    X[0], y[0] = [1e4, 0, 0], 1
    model = LogisticRegression().fit(X, y)
    assert model.decision_function(X[:1])[0] > 11_400
    assert model.verdict_.check(X, y)


def test_a_budget_that_proves_existence_says_how_near_it_came():
    X, y = overlapping()
    with pytest.warns(BudgetWarning):
        verdict = LogisticRegression(solver="newton", max_passes=4, tol=1e-15).fit(X, y).verdict_
    assert isinstance(verdict.certificate, Optimality)
    assert "the minimum is known to exist" in verdict.cause
    truth = newton(X, y)
    assert verdict.claim.value - float(truth.value) <= verdict.certificate.gap + 1e-16


def too_many_weights(monkeypatch):
    monkeypatch.setattr("separatrix.learners.logistic.conclusion.MOST_WEIGHTS", 3)


def rounding(monkeypatch):
    def defeated(*_):
        raise HiddenSeparationError

    monkeypatch.setattr("separatrix.learners.logistic.conclusion.separation_of", defeated)


@pytest.mark.parametrize("hindrance", [too_many_weights, rounding])
@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_without_a_closer_look_the_cause_names_the_column_that_keeps_growing(monkeypatch, hindrance, solver):
    """Too many weights for linear programs, or rounding that defeats them: nothing is proved, nothing is claimed."""
    X, y = like_endometrial()
    table = pd.DataFrame(X, columns=["NV", "PI", "EH"])
    hindrance(monkeypatch)
    with pytest.warns(BudgetWarning, match="quasi-separation"):
        verdict = LogisticRegression(solver=solver).fit(table, y).verdict_
    assert verdict.status == "budget"
    assert verdict.certificate is None
    assert verdict.separability is None
    assert "the weights of NV keep growing" in verdict.cause
    assert "PI" not in verdict.cause
    assert "l2 > 0" in verdict.remedy
    assert verdict.check(table, y)


@pytest.mark.parametrize("hindrance", [too_many_weights, rounding])
def test_without_a_closer_look_separated_rows_are_separated_all_the_same(monkeypatch, hindrance):
    X, y = separated()
    hindrance(monkeypatch)
    with pytest.warns(SeparationWarning):
        verdict = LogisticRegression().fit(X, y).verdict_
    assert verdict.status == "separated"
    assert verdict.separability is None
    assert verdict.check(X, y)


def test_a_budget_without_a_proof_says_that_the_classes_overlap():
    X, y = overlapping()
    with pytest.warns(BudgetWarning, match="The classes overlap, so there is a minimum at finite weights"):
        verdict = LogisticRegression(max_passes=1, init="zero").fit(X, y).verdict_
    assert verdict.status == "budget"
    assert verdict.certificate is None
    assert verdict.separability.kind == "overlap"
    assert verdict.separability.check(X, y)
    assert "Raise max_passes" in verdict.remedy
    assert verdict.check(X, y)


def test_an_ample_budget_changes_nothing():
    X, y = overlapping()
    one, other = (LogisticRegression(max_passes=passes).fit(X, y) for passes in (50, 5000))
    assert one.coef_.tolist() == other.coef_.tolist()


# ----------------------------------------------------------------------------------------------------------- rank


def shortest(X, scores):
    """The shortest weights, and their intercept, that give these scores."""
    centred = X - X.mean(axis=0)
    weights = np.linalg.lstsq(centred, scores - scores.mean(), rcond=1e-10)[0]
    return weights, scores.mean() - X.mean(axis=0) @ weights


def assert_rank(model, X, y, rank, aliased, kept):
    """The rank, the same predictions as without the aliased columns, and the shortest weights."""
    verdict = model.verdict_
    assert verdict.ok
    assert verdict.rank == Rank(rank, X.shape[1] + 1, aliased)
    assert verdict.check(X, y)
    assert f"rank {rank} of {X.shape[1] + 1}" in str(verdict)
    lean = LogisticRegression(tol=1e-13).fit(X[:, kept], y)
    assert not lean.verdict_.rank.aliased
    np.testing.assert_allclose(model.predict_proba(X), lean.predict_proba(X[:, kept]), atol=1e-7)
    weights, intercept = shortest(X, lean.decision_function(X[:, kept]))
    np.testing.assert_allclose(model.coef_[0], weights, atol=1e-5)
    np.testing.assert_allclose(model.intercept_[0], intercept, atol=1e-5)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "auto"])
def test_a_column_given_twice(solver):
    X, y = overlapping()
    X = np.column_stack([X, X[:, 1]])
    model = LogisticRegression(solver=solver, tol=1e-13).fit(X, y)
    assert_rank(model, X, y, 4, ("x3",), [0, 1, 2])
    assert model.coef_[0, 1] == pytest.approx(model.coef_[0, 3], rel=1e-8)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_full_set_of_dummies(solver):
    _, y = overlapping(120)
    level = np.arange(120) % 3
    X = np.column_stack([level == k for k in range(3)] + [np.sin(np.arange(120))]).astype(float)
    model = LogisticRegression(solver=solver, tol=1e-13).fit(X, y)
    assert_rank(model, X, y, 4, ("x2",), [0, 1, 3])
    assert model.coef_[0, :3].sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("constant", [0.0, 1.0, -3.5, 1e6, 0.1])
def test_a_constant_column(constant):
    X, y = overlapping()
    X = np.column_stack([X, np.full(len(X), constant)])
    model = LogisticRegression(tol=1e-13).fit(X, y)
    assert_rank(model, X, y, 4, ("x3",), [0, 1, 2])
    assert model.coef_[0, 3] == pytest.approx(0, abs=1e-12)


def test_a_constant_column_is_the_intercept_where_there_is_none():
    X, y = overlapping()
    ones = np.column_stack([X, np.ones(len(X))])
    without, with_one = LogisticRegression(fit_intercept=False).fit(ones, y), LogisticRegression().fit(X, y)
    assert without.verdict_.rank == (4, 4, ())
    np.testing.assert_allclose(without.predict_proba(ones), with_one.predict_proba(X), atol=1e-6)


def test_the_sum_of_two_columns_on_very_different_scales():
    X, y = overlapping()
    X = np.column_stack([X * [1e-6, 1, 1e6], 1e6 * X[:, 0] - X[:, 2]])
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.rank == (4, 5, ("x3",))
    lean = LogisticRegression().fit(X[:, :3], y)
    np.testing.assert_allclose(model.predict_proba(X), lean.predict_proba(X[:, :3]), atol=1e-6)


def test_columns_that_are_only_nearly_equal_keep_their_rank():
    X, y = overlapping(400)
    X = np.column_stack([X, X[:, 0] + 1e-5 * np.random.default_rng(3).normal(size=len(X))])
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.rank == (5, 5, ())
    assert model.verdict_.ok
    assert model.verdict_.check(X, y)


def test_rank_counts_only_rows_that_count():
    X, y = overlapping()
    X = np.column_stack([X, X[:, 0]])
    X[0, 3] += 1
    cost = np.ones(len(y))
    assert not quietly(X, y, cost).verdict_.rank.aliased
    cost[0] = 0
    assert LogisticRegression().fit(X, y, cost).verdict_.rank == (4, 5, ("x3",))


def test_the_check_of_aliased_columns_counts_only_rows_that_count():
    X, y = overlapping()
    X, cost = np.column_stack([X, X[:, 0]]), np.ones(len(y))
    X[0, 3] += 1
    cost[0] = 0
    assert LogisticRegression().fit(X, y, cost).verdict_.check(X, y, cost)


def test_fewer_rows_than_columns_have_the_rank_of_the_rows():
    """Five different rows, each of both classes: nothing separates them, the optimum is flat and its weights zero."""
    X = np.repeat(np.random.default_rng(5).normal(size=(5, 12)), 2, axis=0)
    y = np.arange(10) % 2
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.rank == Rank(5, 13, tuple(f"x{j}" for j in range(4, 12)))
    np.testing.assert_allclose(model.coef_, 0, atol=1e-6)
    assert model.verdict_.check(X, y)


def test_fewer_rows_than_columns_give_the_shortest_weights():
    rng = np.random.default_rng(6)
    X = np.repeat(rng.normal(size=(4, 12)), [3, 3, 2, 3], axis=0)
    y = np.array([0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1])
    model = LogisticRegression(tol=1e-13).fit(X, y)
    assert model.verdict_.ok
    odds = np.log([1 / 2, 2, 1, 2])
    weights, intercept = shortest(X, np.repeat(odds, [3, 3, 2, 3]))
    assert weights @ X[0] + intercept == pytest.approx(odds[0])  # four points in general position take any scores
    np.testing.assert_allclose(model.decision_function(X), np.repeat(odds, [3, 3, 2, 3]), atol=1e-5)
    centred = X - X.mean(axis=0)
    off_the_rows = model.coef_[0] - np.linalg.pinv(centred) @ (centred @ model.coef_[0])
    np.testing.assert_allclose(off_the_rows, 0, atol=1e-8)


def test_a_vanishing_penalty_leads_to_the_shortest_weights():
    X, y = overlapping()
    X = np.column_stack([X, X[:, 0] + 2 * X[:, 1], np.ones(len(X))])
    limit = LogisticRegression(tol=1e-13).fit(X, y)
    near = LogisticRegression(l2=1e-9, tol=1e-13).fit(X, y)
    assert near.verdict_.ok
    np.testing.assert_allclose(near.coef_, limit.coef_, atol=1e-5)
    assert near.verdict_.rank == limit.verdict_.rank == Rank(4, 6, ("x3", "x4"))


def test_a_false_alias_does_not_check():
    X, y = overlapping()
    verdict = LogisticRegression().fit(X[:, :2], y).verdict_
    claim = dataclasses.replace(
        verdict.claim, columns=("x0", "x1", "x2"), weights=np.append(verdict.claim.weights, 0.0)
    )
    proof = dataclasses.replace(verdict.certificate, coefficients=np.insert(verdict.certificate.coefficients, 2, 0.0))
    wide = dataclasses.replace(verdict, claim=claim, certificate=proof, rank=Rank(3, 4, ("x2",)))
    assert not wide.check(X, y)  # the third column is no combination of the others, and its gradient is not zero
    assert wide.check(np.column_stack([X[:, :2], X[:, 0]]), y)


# ---------------------------------------------------------------------------------------------------- as an object


@pytest.fixture(params=["optimal", "separated", "quasi-separated", "budget", "interrupted"])
def verdict(request):
    if request.param == "interrupted":
        model = LogisticRegression()
        next(model.steps(*overlapping()))
        return model.verdict_
    tables = {"separated": separated(), "quasi-separated": like_endometrial()}
    short = {"max_passes": 1, "init": "zero"} if request.param == "budget" else {}
    found = quietly(*tables.get(request.param, overlapping()), **short).verdict_
    assert found.status == request.param
    return found


def test_as_a_dictionary_it_survives_json(verdict):
    plain = verdict.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["status"] == verdict.status
    assert plain["ok"] is (verdict.status == "optimal")
    assert plain["rank"] == {"rank": verdict.rank.rank, "of": verdict.rank.of, "aliased": []}
    assert plain["claim"]["weights"] == verdict.claim.weights.tolist()
    kinds = {"optimal": "optimality", "separated": "separation", "quasi-separated": "limit"}
    assert (plain["certificate"] or {}).get("kind") == kinds.get(verdict.status)
    lie = {"separated": "separated", "quasi-separated": "quasi-separated", "budget": "overlap"}
    assert (plain["separability"] or {}).get("kind") == lie.get(verdict.status)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [0.0, 1.0], [1, 2]], ids=str)
def test_labels_of_any_kind_survive_json(labels):
    X, y = overlapping()
    plain = LogisticRegression().fit(X, np.array(labels)[y]).verdict_.to_dict()
    assert json.loads(json.dumps(plain))["claim"]["classes"] == labels


def test_interrupted_before_the_first_pass_it_survives_json_too(monkeypatch):
    from separatrix.fitting.risk.margin import Risk

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Risk, "__call__", stop)
    model = LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*overlapping())
    json.dumps(model.verdict_.to_dict(), allow_nan=False)


def test_as_text_it_is_a_few_sentences_with_numbers(verdict):
    text = str(verdict)
    sentences = re.findall(r"[.](?= |$)", text)
    assert 2 <= len(sentences) <= (5 if verdict.status == "quasi-separated" else 4)
    assert re.search(r"\d", text)
    assert "\n" not in text
    assert text[0].isupper()
    assert text.endswith(".")


def test_the_words_of_an_optimum_are_its_numbers():
    X, y = overlapping()
    verdict = LogisticRegression().fit(X, y).verdict_
    assert f"{verdict.claim.value:.8g}" in verdict.cause
    assert "1e-10 was asked" in verdict.cause
    assert verdict.remedy == ""


def test_it_is_frozen(verdict):
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.status = "optimal"


def test_only_known_statuses_exist(verdict):
    assert len(STATUSES) == 7
    with pytest.raises(ValueError, match="status is 'perfect'; it must be one of optimal, local"):
        dataclasses.replace(verdict, status="perfect")


def test_only_a_minimum_is_ok():
    claim = Claim((0, 1), ("x",), np.zeros(1), 0.0, True, 0.0, (1.0, 1.0), 1.0, 2)
    oks = [Verdict(status, Rank(2, 2, ()), None, "", "", claim).ok for status in STATUSES]
    assert oks == [status in {"optimal", "local"} for status in STATUSES]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (list("abcdefg"), "a, b, c, d, e and 2 more"),
    ],
)
def test_lists_of_names(names, text):
    assert listed(names) == text
