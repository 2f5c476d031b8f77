"""Softmax regression of K ≥ 3 classes: its losses, its sums over rows, its laws, its verdicts, its interruptions.

What fails for a known reason is marked so, strictly: whoever mends it takes the mark away.
"""

import itertools
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples
from referees.separation import INTERCEPT, limit, separation_by_highs
from referees.softmax import Long, class_mean_loss, class_newton, kind_of_class_separation, log_softmax
from sklearn.datasets import load_iris, load_wine

from separatrix import BudgetWarning, LogisticRegression, SeparationWarning
from separatrix.data import Rows
from separatrix.data.rows import SMALL
from separatrix.fitting.certificates.separation import class_separates
from separatrix.fitting.coordinates import frame_of
from separatrix.fitting.minimise import minimise
from separatrix.fitting.problem import METHODS, LeastSquares, Problem
from separatrix.fitting.risk.margin import Ask, Frame
from separatrix.fitting.risk.softmax import ClassRisk
from separatrix.losses import GaussNewton, LogisticSquared, LogLikelihood
from separatrix.losses.penalty import ridge
from separatrix.losses.softmax import SoftmaxGaussNewton, SoftmaxLikelihood, SoftmaxSquared, softmax
from separatrix.numerics.threads import ordered_map
from separatrix.results.proofs import Limit, Optimality, Separation

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SOLVERS = ["newton", "lbfgs"]
LOSSES = [SoftmaxLikelihood(), SoftmaxSquared()]
CURVED = [*LOSSES, SoftmaxGaussNewton()]
HESSIAN = Ask(hessian=True)
TIGHT = 1e-14
"""Weights err by the square root of the gap: a gap of 10⁻¹⁴ lets them be compared to 10⁻⁶."""
LONG_ROUNDING = 1e-18
"""What a mean loss near one may be off by in long double."""

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
every_curved_loss = pytest.mark.parametrize("loss", CURVED, ids=lambda loss: type(loss).__name__)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def drawn(n=240, d=3, K=4, seed=0, size=1.0):
    """Rows whose labels are drawn from a softmax of their scores: nothing separates them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    return X, (size * X @ rng.normal(size=(d, K)) + 0.3 * rng.normal(size=K) + rng.gumbel(size=(n, K))).argmax(axis=1)


def clustered(n=60, d=2, K=3, seed=0):
    """Rows in K heaps on a circle, which one set of weights tells apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    angle = 2 * np.pi * y / K
    X = rng.uniform(-1, 1, size=(n, d))
    X[:, 0] += 9 * np.cos(angle) + 5
    X[:, 1] += 9 * np.sin(angle) - 3
    return X, y


def fit(X, y, sample_weight=None, **settings):
    return LogisticRegression(**{"tol": TIGHT, **settings}).fit(X, y, sample_weight)


def quietly(X, y, sample_weight=None, **settings):
    """A fit whose warnings are of no interest: its verdict says the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(**settings).fit(X, y, sample_weight)


def assert_same(model, other, atol=1e-6):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-6, atol=atol)


def assert_optimum(model, X, y, truth, *, l2=0.0, cost=None, atol=1e-6):
    """The verdict is optimal, what it claims is true, and the weights are the referee's in the promised form."""
    verdict = model.verdict_
    assert verdict.status == "optimal"
    assert isinstance(verdict.certificate, Optimality)
    here = class_mean_loss(X, y, model.coef_, model.intercept_, l2=l2, cost=cost)
    assert float(here) == pytest.approx(verdict.claim.value, rel=1e-13)
    assert here - truth.value <= verdict.certificate.gap + LONG_ROUNDING
    weights, intercept = truth.pivot if l2 == 0 else (truth.weights.astype(float), truth.intercept.astype(float))
    off = np.abs(np.column_stack([model.coef_ - weights, model.intercept_ - intercept]))
    assert (off <= verdict.certificate.coefficients + 1e-12).all()
    np.testing.assert_allclose(off, 0, atol=atol)


# ---------------------------------------------------------------------------------------------- losses of scores


@st.composite
def scored(draw, classes=st.integers(2, 6), most=30.0, soft=None):
    """Scores of some rows, K × rows, and their targets: indices, or probabilities."""
    K, n = draw(classes), draw(st.integers(1, 4))
    s = draw(arrays(float, (K, n), elements=st.floats(-most, most)))
    if draw(st.booleans()) if soft is None else soft:
        T = draw(arrays(float, (n, K), elements=st.floats(0, 1)))
        T[T.sum(axis=1) < 1e-3] = 1
        return s, T / T.sum(axis=1, keepdims=True)
    return s, draw(arrays(int, n, elements=st.integers(0, K - 1)))


def assert_derivative(f, claimed, s, q):
    """Five-point differences along q in long double, each held to the size of what was subtracted."""
    s, q = s.astype(Long), q.astype(Long)
    h = np.finfo(Long).eps ** Long(0.2)
    stencil = [f(s + step * h * q) for step in (-2, -1, 1, 2)]
    estimate = (stencil[0] - 8 * stencil[1] + 8 * stencil[2] - stencil[3]) / (12 * h)
    size = np.abs(stencil).max(axis=0) + np.abs(claimed) + 1e-3  # of the fifth derivative h⁴ is left
    assert (np.abs(estimate - claimed) <= 1e-10 * size).all()


def directions(K, n, seed):
    return np.random.default_rng(seed).uniform(-1, 1, size=(K, n))


@every_loss
@LAW
@given(scored(), st.integers(0, 2**32 - 1))
def test_slope_is_the_derivative_of_value(loss, case, seed):
    s, target = case
    q = directions(*s.shape, seed)
    slope = loss.slope(softmax(s.astype(Long), target))
    assert_derivative(lambda at: loss.value(softmax(at, target)), (slope * q).sum(axis=0), s, q)


@every_loss
@LAW
@given(scored(), st.integers(0, 2**32 - 1))
def test_bend_is_the_derivative_of_slope(loss, case, seed):
    s, target = case
    q = directions(*s.shape, seed)
    bend = loss.bend(softmax(s.astype(Long), target), q.astype(Long))
    assert_derivative(lambda at: loss.slope(softmax(at, target)), bend, s, q)


def test_wrong_derivatives_are_noticed():
    s, target, loss = directions(3, 2, 0), np.array([0, 2]), SoftmaxLikelihood()
    slope = loss.slope(softmax(s.astype(Long), target))
    with pytest.raises(AssertionError):
        assert_derivative(lambda at: loss.value(softmax(at, target)), (slope * s).sum(axis=0) * (1 + 1e-7) + 1e-7, s, s)


@every_curved_loss
@LAW
@given(scored())
def test_curvature_is_bend_entry_by_entry_and_symmetric(loss, case):
    s, target = case
    at, unit = softmax(s, target), np.eye(len(s))
    for k, j in itertools.product(range(len(s)), repeat=2):
        entry = loss.curvature(at, k, j)
        np.testing.assert_allclose(entry, loss.bend(at, np.outer(unit[j], np.ones(s.shape[1])))[k], atol=1e-14)
        np.testing.assert_allclose(entry, loss.curvature(at, j, k), atol=1e-15)


@LAW
@given(scored())
def test_gauss_newton_has_the_value_and_slope_of_the_squared_error_and_the_curvature_two_a_squared(case):
    s, target = case
    at, linearised, squared = softmax(s, target), SoftmaxGaussNewton(), SoftmaxSquared()
    assert (linearised.value(at) == squared.value(at)).all()
    assert (linearised.slope(at) == squared.slope(at)).all()
    for i in range(s.shape[1]):
        p = at.p[:, i]
        A = np.diag(p) - np.outer(p, p)
        found = [[linearised.curvature(at, k, j)[i] for j in range(len(p))] for k in range(len(p))]
        np.testing.assert_allclose(found, 2 * A @ A, atol=1e-15)
        assert np.linalg.eigvalsh(found).min() > -1e-15


@every_loss
@LAW
@given(scored(), st.floats(-50, 50), st.randoms(use_true_random=False))
def test_a_constant_changes_no_loss_and_a_permutation_of_the_classes_only_permutes(loss, case, constant, random):
    s, target = case
    order = list(range(len(s)))
    random.shuffle(order)
    renamed = target[:, order] if target.ndim == 2 else np.argsort(order)[target]
    at = softmax(s, target)
    for other, rows in ((softmax(s + constant, target), slice(None)), (softmax(s[order], renamed), order)):
        np.testing.assert_allclose(loss.value(other), loss.value(at), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(loss.slope(other), loss.slope(at)[rows], atol=1e-12)
    np.testing.assert_allclose(loss.slope(at).sum(axis=0), 0, atol=1e-15)


@every_curved_loss
@LAW
@given(scored(soft=False))
def test_a_label_is_the_probability_one(loss, case):
    s, target = case
    hard, soft = softmax(s, target), softmax(s, np.eye(len(s))[target])
    np.testing.assert_allclose(loss.value(hard), loss.value(soft), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(loss.slope(hard), loss.slope(soft), atol=1e-14)
    np.testing.assert_allclose(loss.bend(hard, s), loss.bend(soft, s), atol=1e-12)


@every_loss
@LAW
@given(scored())
def test_no_loss_is_negative_and_no_target_is_better_served_than_by_its_own_probabilities(loss, case):
    s, target = case
    at = softmax(s, target)
    value = loss.value(at)
    assert (value >= 0).all()
    assert (at.p >= 0).all()
    np.testing.assert_allclose(at.p.sum(axis=0), 1, rtol=1e-14)
    own = loss.value(softmax(np.log(np.maximum(at.p, 1e-300)), at.p.T))
    assert (own <= loss.value(softmax(s, at.p.T)) + 1e-12).all()


EXTREMES = np.array(list(itertools.product([-1e5, -700.0, 0.0, 1e-300, 40.0, 1e5], repeat=3))).T


@every_curved_loss
@pytest.mark.parametrize("soft", [False, True], ids=["labels", "probabilities"])
def test_scores_of_a_hundred_thousand_make_no_nan_and_no_warning(loss, soft):
    n = EXTREMES.shape[1]
    target = np.random.default_rng(0).dirichlet(np.ones(3), size=n) if soft else np.arange(n) % 3
    at = softmax(EXTREMES, target)
    found = [loss.value(at), loss.slope(at), loss.bend(at, EXTREMES / 1e5), loss.curvature(at, 0, 0)]
    assert all(np.isfinite(each).all() for each in found)
    np.testing.assert_allclose(at.p.sum(axis=0), 1, rtol=1e-15)
    if not soft and isinstance(loss, SoftmaxLikelihood):
        behind = EXTREMES.max(axis=0) - EXTREMES[target, np.arange(n)]
        assert (found[0] >= behind).all()
        np.testing.assert_allclose(found[0], behind, atol=np.log(3) + 1e-9, rtol=0)


@examples(20, 60, arrays(float, st.integers(1, 5), elements=st.floats(-700, -1)), st.integers(0, 5))
def test_a_sure_row_keeps_the_digits_of_its_loss_its_slope_and_its_curvature(others, at_class):
    """The true class is far ahead: the loss is about Σ exp(−lead), and 1 − p must not be taken from p."""
    y = min(at_class, len(others))
    s = np.insert(others, y, 0.0)[:, None]
    at, loss = softmax(s, np.array([y])), SoftmaxLikelihood()
    rest = np.exp(others.astype(Long)).sum()
    for found, exact in (
        (loss.value(at)[0], np.log1p(rest)),
        (loss.slope(at)[y, 0], -rest / (1 + rest)),
        (loss.curvature(at, y, y)[0], rest / (1 + rest) ** 2),
    ):
        assert found == pytest.approx(float(exact), rel=1e-14, abs=1e-320)


@pytest.mark.parametrize("y", [0, 1])
def test_two_classes_are_the_losses_of_a_margin(y):
    """Likelihood as it is; the squared error twice, because it counts both classes."""
    m = np.linspace(-40, 40, 321)
    s = np.array([0.3 * m, -0.7 * m])[[y, 1 - y]] + 1.0
    at = softmax(s, np.full(m.size, y))
    for loss, margin, times in (
        (SoftmaxLikelihood(), LogLikelihood(), 1),
        (SoftmaxSquared(), LogisticSquared(), 2),
        (SoftmaxGaussNewton(), GaussNewton(), 2),
    ):
        tiny = 1e-15 * np.exp(-np.maximum(m, 0))  # what the rounding of 1 − p may leave of a slope that is its square
        np.testing.assert_allclose(loss.value(at), times * margin.value(m), rtol=1e-13)
        assert (np.abs(loss.slope(at)[y] - times * margin.slope(m)) <= tiny + 1e-12 * np.abs(margin.slope(m))).all()
        assert (np.abs(loss.slope(at)[1 - y] + times * margin.slope(m)) <= tiny + 1e-12 * np.abs(margin.slope(m))).all()
        np.testing.assert_allclose(loss.curvature(at, y, y), times * margin.curvature(m), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(loss.curvature(at, 0, 1), -times * margin.curvature(m), rtol=1e-12, atol=1e-15)


def third_derivative(loss, s, q, target):
    """d/dt of qᵀ(∂²f/∂s²)q along s + tq, by differences in long double."""
    h, q = Long(1e-4), q.astype(Long)

    def bent(t):
        return (q * loss.bend(softmax(s.astype(Long) + t * q, target), q)).sum(axis=0)

    return (bent(-2 * h) - 8 * bent(-h) + 8 * bent(h) - bent(2 * h)) / (12 * h)


@LAW
@given(scored(most=8.0), st.integers(0, 2**32 - 1))
def test_the_third_derivative_is_within_its_bound(case, seed):
    """Of the squared error 10·range³; of the likelihood the range times the second derivative, which proofs rest on."""
    s, target = case
    q = directions(*s.shape, seed)
    span = q.max(axis=0) - q.min(axis=0)
    assert (np.abs(third_derivative(SoftmaxSquared(), s, q, target)) <= SoftmaxSquared.third * span**3 + 1e-12).all()
    likelihood = SoftmaxLikelihood()
    second = (q * likelihood.bend(softmax(s, target), q)).sum(axis=0)
    assert (np.abs(third_derivative(likelihood, s, q, target)) <= span * second + 1e-12).all()


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_third_derivative_is_within_its_bound_at_many_points(K):
    """Scores, targets and rates of every kind; and the bound is of the right size."""
    rng = np.random.default_rng(K)
    n = 20_000
    s, T = rng.normal(size=(K, n)) * rng.choice([0.3, 1, 3], size=n), rng.dirichlet(np.full(K, 0.1), size=n)
    q = rng.choice([0.0, 0.5, 1.0], size=(K, n))
    span = q.max(axis=0) - q.min(axis=0)
    third = np.abs(third_derivative(SoftmaxSquared(), s, q, T))
    assert (third <= SoftmaxSquared.third * span**3 + 1e-12).all()
    assert third.max() > SoftmaxSquared.third / 50


@LAW
@given(scored(soft=False, most=5.0))
@example((np.zeros((3, 1)), np.array([2])))
@example((np.array([[1.0], [1.0], [-50.0]]), np.array([1])))
def test_mistakes_are_at_most_twice_the_squared_error_and_the_likelihood_in_bits(case):
    """J₀₁ ≤ 2·LMSE of K classes and J₀₁ ≤ NLL/log 2, row by row; a tie may be a mistake."""
    s, target = case
    at, column = softmax(s, target), np.arange(s.shape[1])
    others = s.copy()
    others[target, column] = -np.inf
    mistake = others.max(axis=0) >= s[target, column]
    assert (mistake <= 2 * SoftmaxSquared().value(at) + 1e-12).all()
    assert (mistake <= SoftmaxLikelihood().value(at) / np.log(2) + 1e-12).all()


def test_the_bounds_on_mistakes_cannot_be_better():
    """Two classes at one half each: the squared error is ½ and the likelihood one bit."""
    at = softmax(np.array([[0.0], [0.0], [-800.0]]), np.array([0]))
    assert 2 * SoftmaxSquared().value(at)[0] == pytest.approx(1, rel=1e-15)
    assert SoftmaxLikelihood().value(at)[0] / np.log(2) == pytest.approx(1, rel=1e-15)


# ------------------------------------------------------------------------------------------------ sums over rows


def risk_of(X, y, K, *, loss=None, l2=0.0, cost=(), lifted=True, frame=None, careful=False):
    rows = Rows.of(X, np.asarray(y), np.asarray(cost, float))
    frame = frame_of(rows, lifted, 0) if frame is None else frame
    penalty = ridge(l2).framed(frame.scale, frame.lifted)
    return ClassRisk(loss or SoftmaxLikelihood(), rows, frame, penalty, np.arange(frame.width), K, careful)


def point(risk, seed=1, size=1.0):
    """Weights without a part along the gauge."""
    V = size * np.random.default_rng(seed).normal(size=(risk.classes, risk.frame.width))
    return (V - V.mean(axis=0)).ravel()


def assert_same_jet(one, other, rtol=1e-11):
    assert one.value == pytest.approx(other.value, rel=rtol)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.hessian, other.hessian, rtol=rtol, atol=rtol)
    assert one.margin == pytest.approx(other.margin, rel=1e-8)


TARGETS = {
    "labels": lambda y, K: y,
    "probabilities": lambda y, K: np.random.default_rng(5).dirichlet(np.ones(K), size=len(y)),
}
every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@every_loss
@every_target
@pytest.mark.parametrize("lifted", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_gradient_hessian_and_product_are_derivatives(loss, target, lifted, l2):
    X, y = drawn(60, 3, 4)
    cost = np.random.default_rng(2).integers(0, 4, size=60)
    risk = risk_of(X * [1, 100, 0.01], target(y, 4), 4, loss=loss, l2=l2, lifted=lifted, cost=cost)
    v, h = point(risk), 1e-3
    at = risk(v, HESSIAN)

    def difference(f, u):
        return (f(v - 2 * h * u) - 8 * f(v - h * u) + 8 * f(v + h * u) - f(v + 2 * h * u)) / (12 * h)

    for seed in range(3):
        u = point(risk, seed + 10, size=0.3)
        assert difference(lambda w: risk(w).value, u) == pytest.approx(at.gradient @ u, rel=1e-8, abs=1e-10)
        slope = difference(lambda w: risk(w).gradient, u)
        np.testing.assert_allclose(at.hessian @ u, slope, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(risk.product(v, u), at.hessian @ u, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(at.hessian, at.hessian.T, atol=1e-14)


@every_loss
def test_the_gauge_has_no_curvature_but_what_the_hessian_is_given(loss):
    """Adding one vector to the weights of all classes changes no loss."""
    X, y = drawn(80, 3, 4)
    risk = risk_of(X, y, 4, loss=loss)
    v, along = point(risk), np.tile([0.3, -1.0, 2.0, 0.7], 4)
    assert risk(v + along).value == pytest.approx(risk(v).value, rel=1e-13)
    np.testing.assert_allclose(risk.product(v, along), 0, atol=1e-14)
    np.testing.assert_allclose(risk(v).gradient.reshape(4, -1).sum(axis=0), 0, atol=1e-14)
    assert along @ risk(v, HESSIAN).hessian @ along > 0.01


@every_target
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_the_value_is_the_referees_in_the_users_units(target, l2):
    X, y = drawn(70, 3, 4)
    X, T = X * [1, 100, 0.01] + [0, 300, -1], target(y, 4)
    cost = np.random.default_rng(2).random(70)
    risk = risk_of(X, T, 4, l2=l2, cost=cost)
    v = point(risk)
    users = [risk.frame.to_user(row) for row in v.reshape(4, -1)]
    expected = class_mean_loss(X, T, [w for w, _ in users], [b for _, b in users], l2=l2, cost=cost)
    assert risk(v).value == pytest.approx(float(expected), rel=1e-13)


@every_loss
@every_target
def test_a_cost_of_two_is_the_row_twice_and_a_cost_of_zero_the_row_absent(loss, target):
    X, y = drawn(50, 3, 4)
    X[7] = 1e8  # a row that does not count
    y = target(y, 4)
    cost = np.random.default_rng(4).integers(0, 4, size=50)
    cost[7] = 0
    frame = Frame(np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 0.5]), True)
    weighted = risk_of(X, y, 4, loss=loss, cost=cost, frame=frame, l2=0.1)
    copied = risk_of(np.repeat(X, cost, axis=0), np.repeat(y, cost, axis=0), 4, loss=loss, frame=frame, l2=0.1)
    v, u = point(weighted), point(weighted, 9)
    assert_same_jet(weighted(v, HESSIAN), copied(v, HESSIAN))
    np.testing.assert_allclose(weighted.product(v, u), copied.product(v, u), rtol=1e-11, atol=1e-13)


@every_loss
def test_a_row_of_probabilities_is_a_row_for_each_class_with_these_costs(loss):
    """For the likelihood, which is linear in the target; the squared error is not."""
    X, _ = drawn(40, 3, 3)
    T = np.random.default_rng(5).dirichlet(np.ones(3), size=40)
    soft = risk_of(X, T, 3, loss=loss)
    split = risk_of(np.repeat(X, 3, axis=0), np.tile([0, 1, 2], 40), 3, cost=T.ravel(), frame=soft.frame, loss=loss)
    v = point(soft)
    np.testing.assert_allclose(soft(v).gradient, split(v).gradient, atol=1e-13)
    same = abs(soft(v).value - split(v).value) < 1e-12
    assert same == isinstance(loss, SoftmaxLikelihood)


@pytest.mark.parametrize("careful", [False, True])
def test_an_offset_of_a_million_is_harmless(careful):
    """Offsets, centres and rows are multiples of 2⁻²⁰, so that their sums are exact and only the pass is judged."""
    X, y = drawn(200, 3, 4)
    X, offset = np.round(X * 2**20) / 2**20, np.array([1e6, -1e6, 3.0])
    frame = Frame(np.array([0.25, -0.5, 0.125]), np.array([1.0, 2.0, 0.5]), True)
    plain = risk_of(X, y, 4, frame=frame, careful=careful)
    moved = risk_of(X + offset, y, 4, frame=replace(frame, center=frame.center + offset), careful=careful)
    v, u = point(plain), point(plain, 9)
    assert_same_jet(moved(v, HESSIAN), plain(v, HESSIAN), rtol=1e-13)
    np.testing.assert_allclose(moved.product(v, u), plain.product(v, u), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_layout_and_precision_gives_the_same_sums(dtype, order):
    X, y = drawn(9000, 3, 4)
    single = X.astype(np.float32)
    expected = risk_of(single.astype(float), y, 4)
    given = risk_of(np.asarray(single if dtype == np.float32 else single.astype(float), order=order), y, 4)
    given = replace(given, frame=expected.frame)
    v, u = point(expected), point(expected, 9)
    assert_same_jet(given(v, HESSIAN), expected(v, HESSIAN))
    np.testing.assert_allclose(given.product(v, u), expected.product(v, u), rtol=1e-11, atol=1e-13)


@every_loss
def test_any_partition_of_the_rows_gives_the_same_sums_and_any_threads_the_same_bits(loss):
    X, y = drawn(40_000, 27, 3)
    assert X.size > SMALL
    cost = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    risk = risk_of(X, y, 3, loss=loss, cost=cost)
    assert len(list(risk.rows.runs())) > 8  # or there would be nothing to share out
    v, u = point(risk, size=0.2), point(risk, 9)
    whole, product = risk(v, HESSIAN), risk.product(v, u)
    for threads in (2, 3):
        with ordered_map(threads) as each:
            shared = replace(risk, rows=replace(risk.rows, map=each))
            at = shared(v, HESSIAN)
            assert shared.product(v, u).tobytes() == product.tobytes()
        assert (at.value, at.margin) == (whole.value, whole.margin)
        assert at.gradient.tobytes() == whole.gradient.tobytes()
        assert at.hessian.tobytes() == whole.hessian.tobytes()
    cuts = [0, 1, 17, 5000, 23_456, len(y)]
    parts = [replace(risk, rows=risk.rows.take(slice(lo, hi))) for lo, hi in itertools.pairwise(cuts)]
    shares = [part.rows.weight / risk.rows.weight for part in parts]
    values = [part(v) for part in parts if part.rows.weight]
    shares = [share for share in shares if share]
    assert sum(s * at.value for s, at in zip(shares, values, strict=True)) == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(
        sum(s * at.gradient for s, at in zip(shares, values, strict=True)), whole.gradient, atol=1e-13
    )
    assert min(at.margin for at in values) == pytest.approx(whole.margin, rel=1e-12)


def test_columns_without_a_weight_are_as_if_they_were_not_there():
    X, y = drawn(50, 4, 3)
    risk = risk_of(X, y, 3, l2=0.2)
    some = replace(risk, active=np.array([0, 2, 4]))
    v = point(risk).reshape(3, -1)
    v[:, [1, 3]] = 0
    whole, part = risk(v.ravel(), HESSIAN), some(v[:, some.active].ravel(), HESSIAN)
    picked = np.ravel_multi_index(np.ix_(range(3), some.active), v.shape).ravel()
    assert part.value == whole.value
    np.testing.assert_allclose(part.gradient, whole.gradient[picked], rtol=1e-14)
    np.testing.assert_allclose(part.hessian, whole.hessian[np.ix_(picked, picked)], rtol=1e-13, atol=1e-15)


def test_the_margin_is_that_of_the_worst_row_that_counts():
    X, y = drawn(50, 3, 4)
    cost = np.ones(50)
    risk = risk_of(X, y, 4)
    v = point(risk)
    s = risk.frame.coordinates(X) @ v.reshape(4, -1).T
    own = s[np.arange(50), y].copy()
    s[np.arange(50), y] = -np.inf
    margins = own - s.max(axis=1)
    assert risk(v).margin == pytest.approx(margins.min(), rel=1e-12)
    cost[margins < np.median(margins)] = 0
    counted = risk_of(X, y, 4, cost=cost, frame=risk.frame)
    assert counted(v).margin == pytest.approx(margins[cost > 0].min(), rel=1e-12)
    T = np.eye(4)[y]
    assert risk_of(X, T, 4, frame=risk.frame)(v).margin == pytest.approx(margins.min(), rel=1e-12)
    T[3] = 0.25
    assert risk_of(X, T, 4, frame=risk.frame)(v).margin == -np.inf


# ------------------------------------------------------------------------------------ the form of the weights


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_a_penalty_the_last_class_is_exactly_zero(solver, fit_intercept):
    X, y = drawn()
    model = fit(X, y, solver=solver, fit_intercept=fit_intercept, tol=1e-12, max_passes=1000)
    assert model.coef_.shape == (4, 3)
    assert model.intercept_.shape == (4,)
    assert not model.coef_[-1].any()
    assert model.intercept_[-1] == 0
    assert_optimum(model, X, y, class_newton(X, y, 4, fit_intercept=fit_intercept), atol=2e-5)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("l2", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_with_a_penalty_weights_and_intercepts_add_up_to_zero(solver, l2, fit_intercept):
    X, y = drawn()
    X += [0.0, 5.0, -2.0]
    settings = {"solver": solver, "l2": l2, "fit_intercept": fit_intercept, "tol": 1e-12, "max_passes": 5000}
    model = fit(X, y, **settings)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-6)
    assert_optimum(model, X, y, class_newton(X, y, 4, l2=l2, fit_intercept=fit_intercept), l2=l2, atol=2e-5)


@pytest.mark.parametrize(("solver", "l2"), [("newton", 1e-6), ("newton", 1e-12), ("lbfgs", 1e-6)])
def test_weights_add_up_to_zero_however_small_the_penalty(solver, l2):
    X, y = drawn()
    model = LogisticRegression(solver=solver, l2=l2).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-13)


@every_solver
def test_every_reference_predicts_the_same_and_the_pivot_is_one_of_them(solver):
    X, y = drawn()
    model = fit(X, y, solver=solver)
    P = model.predict_proba(X)
    for cls in (0, 1, 2, 3, None):
        rule = model.rule_.to_reference(cls)
        np.testing.assert_allclose(rule.probability(X), P, atol=1e-14)
        assert (rule.classify(X) == model.predict(X)).all()
    pivot = model.rule_.to_reference(3)
    assert pivot.weights.tolist() == model.coef_.tolist()
    truth = class_newton(X, y, 4)  # symmetric
    scores = X @ truth.weights.T + truth.intercept
    np.testing.assert_allclose(P, np.exp(log_softmax(scores)).astype(float), atol=1e-8)


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_which_class_is_the_last_does_not_matter(l2):
    X, y = drawn()
    model, turned = fit(X, y, l2=l2), fit(X, (y + 1) % 4, l2=l2)
    np.testing.assert_allclose(turned.predict_proba(X)[:, [1, 2, 3, 0]], model.predict_proba(X), atol=1e-7)


def test_with_a_penalty_the_pivot_would_be_another_fit():
    """The same predictions, written with the last class at zero, cost more: that is why the weights are symmetric."""
    X, y = drawn()
    model = fit(X, y, l2=0.1)
    pivot = model.rule_.to_reference(3)
    np.testing.assert_allclose(pivot.probability(X), model.predict_proba(X), atol=1e-14)
    assert class_mean_loss(X, y, pivot.weights, pivot.intercept, l2=0.1) > model.verdict_.claim.value + 1e-3


def internal(X, y, *, l2=0.0, lifted=True, solver="newton"):
    """A softmax of two classes, which the learner never makes: it has one row of weights for them."""
    rows = Rows.of(X, y.astype(np.intp), np.empty(0))
    problem = Problem(
        rows, SoftmaxLikelihood(), ridge(l2), lifted, METHODS[solver], LeastSquares(), TIGHT, 500, 0, classes=2
    )
    run = minimise(problem)
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("lifted", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
def test_the_softmax_of_two_classes_is_the_logistic_function(solver, lifted):
    """The pivot's weights are minus the binary ones; a ridge must be doubled, for two rows of weights share it."""
    X, y = drawn(150, 3, 3, seed=2)
    X, y = X[y < 2], y[y < 2]
    binary, outcome = fit(X, y, fit_intercept=lifted), internal(X, y, lifted=lifted, solver=solver)
    assert outcome.status == "optimal"
    assert outcome.value == pytest.approx(binary.verdict_.claim.value, rel=1e-13)
    np.testing.assert_allclose(outcome.weights, [-binary.coef_[0], 0 * binary.coef_[0]], atol=2e-6)
    np.testing.assert_allclose(outcome.intercept, [-binary.intercept_[0], 0], atol=2e-6)
    for l2 in (0.01, 1.0):
        binary = fit(X, y, l2=l2, fit_intercept=lifted)
        outcome = internal(X, y, l2=2 * l2, lifted=lifted, solver=solver)
        assert outcome.value == pytest.approx(binary.verdict_.claim.value, rel=1e-13)
        np.testing.assert_allclose(outcome.weights, np.outer([-0.5, 0.5], binary.coef_[0]), atol=2e-6)
        np.testing.assert_allclose(outcome.intercept, [-binary.intercept_[0] / 2, binary.intercept_[0] / 2], atol=2e-6)


# ------------------------------------------------------------------------------------------ solvers and starts


@pytest.mark.parametrize("l2", [0.0, 0.03])
def test_solvers_agree(l2):
    X, y = drawn()
    truth = class_newton(X, y, 4, l2=l2)
    for solver in ("auto", "newton", "lbfgs", "gradient"):
        model = fit(X, y, l2=l2, solver=solver, tol=1e-13, max_passes=2000)
        assert_optimum(model, X, y, truth, l2=l2, atol=5e-6)


def test_solvers_agree_where_rows_are_many_and_a_sample_steers():
    X, y = drawn(30_000, 8, 5, size=0.4)
    fits = [fit(X, y, solver=solver, tol=1e-12) for solver in SOLVERS]
    assert all(model.verdict_.ok for model in fits)
    assert_same(*fits, atol=1e-5)


STARTS = {
    "least-squares": "least-squares",
    "zero": "zero",
    "random": "random",
    "weights": np.random.default_rng(1).normal(size=(4, 3)),
    "weights and intercepts": np.random.default_rng(1).normal(size=(4, 4)),
    "flat": np.random.default_rng(1).normal(size=16),
}


@every_solver
@pytest.mark.parametrize("init", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_every_start_reaches_the_same_optimum(solver, init, l2):
    X, y = drawn()
    model = fit(X, y, l2=l2, solver=solver, init=init, random_state=3)
    assert model.verdict_.ok
    assert_same(model, fit(X, y, l2=l2))


def test_a_start_far_away_reaches_the_optimum_too():
    X, y = drawn()
    start = 1e3 * np.random.default_rng(0).normal(size=(4, 4))
    LogisticRegression(solver="newton", init=start[0]).fit(X[y < 2], y[y < 2])
    assert LogisticRegression(solver="newton", init=start).fit(X, y).verdict_.ok


def test_a_start_that_is_given_is_where_the_fit_starts():
    X, y = drawn()
    start = np.random.default_rng(1).normal(size=(4, 4))
    first = next(LogisticRegression(init=start).steps(X, y))
    pivot = start - start[-1]
    np.testing.assert_allclose(np.column_stack([first.weights, first.intercept]), pivot, rtol=1e-11, atol=1e-13)
    assert (first.step, first.moved_by) == (0, "start")
    first = next(LogisticRegression(init=start, l2=0.1).steps(X, y))
    symmetric = start - start.mean(axis=0)
    np.testing.assert_allclose(np.column_stack([first.weights, first.intercept]), symmetric, rtol=1e-11, atol=1e-13)


def test_the_start_at_zero_has_loss_log_k():
    X, y = drawn()
    first = next(LogisticRegression(init="zero").steps(X, y))
    assert not first.weights.any()
    assert not first.intercept.any()
    assert first.value == pytest.approx(np.log(4), rel=1e-15)


def test_the_default_start_of_newton_is_least_squares_on_indicators():
    X, y = drawn()
    first = next(LogisticRegression(solver="newton").steps(X, y))
    Z = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(Z, np.eye(4)[y], rcond=None)[0].T
    np.testing.assert_allclose(
        np.column_stack([first.weights, first.intercept]), expected - expected[-1], rtol=1e-9, atol=1e-12
    )


def test_random_starts_differ_by_seed_and_only_by_seed():
    X, y = drawn()

    def start(seed):
        return next(LogisticRegression(init="random", random_state=seed).steps(X, y)).weights.tolist()

    assert start(1) == start(1)
    assert start(1) != start(2)


def test_a_start_of_the_wrong_size_is_refused():
    X, y = drawn()
    with pytest.raises(ValueError, match="for each of the 4 classes"):
        LogisticRegression(init=[1.0, 2.0, 3.0, 4.0]).fit(X, y)


# --------------------------------------------------------------------------------------------------------- costs


@st.composite
def tables(draw, costs=True):
    """Small integers, so that a linear programme can tell whether their classes are separated."""
    n, d, K = draw(st.integers(6, 24)), draw(st.integers(1, 3)), draw(st.integers(3, 4))
    X = draw(arrays(float, (n, d), elements=st.integers(-4, 4)))
    noise = draw(arrays(int, n, elements=st.integers(0, K - 1)))
    ordered = np.clip(X[:, 0].astype(int) + 1, 0, K - 1)
    y = np.where(draw(arrays(bool, n)), ordered, noise) if draw(st.booleans()) else noise
    times = draw(arrays(int, n, elements=st.integers(0, 3))) if costs else np.ones(n, int)
    assume(set(y[times > 0]) == set(range(K)) and X[times > 0].any())
    return X, y, times, K


@examples(20, 60, tables(), st.sampled_from([0.0, 0.01]), st.booleans(), st.sampled_from(SOLVERS))
def test_a_weight_is_a_number_of_copies(table, l2, fit_intercept, solver):
    X, y, times, _ = table
    settings = {"l2": l2, "fit_intercept": fit_intercept, "solver": solver}
    weighted = quietly(X, y, times, **settings)
    copied = quietly(np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    assert weighted.verdict_.status == copied.verdict_.status
    assert weighted.verdict_.rank == copied.verdict_.rank
    if weighted.verdict_.status in ("optimal", "quasi-separated"):
        assert weighted.verdict_.claim.value == pytest.approx(copied.verdict_.claim.value, rel=1e-9)
        rows = X[times > 0]
        np.testing.assert_allclose(weighted.predict_proba(rows), copied.predict_proba(rows), rtol=0, atol=1e-4)


@every_solver
def test_weight_two_is_the_row_twice(solver):
    X, y = drawn()
    cost = np.ones(len(y))
    cost[[3, 50]] = 2
    twice = fit(np.vstack([X, X[[3, 50]]]), np.append(y, y[[3, 50]]), solver=solver)
    assert_same(fit(X, y, cost, solver=solver), twice)


@every_solver
@pytest.mark.parametrize("value", [0.0, 1e3, 1e6, 1e10])
def test_weight_zero_is_the_row_absent(value, solver):
    X, y = drawn()
    cost = np.ones(len(y))
    cost[[3, 50]] = 0
    X[[3, 50]] += value
    rest = cost > 0
    weighted = fit(X, y, cost, solver=solver)
    assert weighted.verdict_.ok
    assert_same(weighted, fit(X[rest], y[rest]))


@every_solver
def test_rows_that_nearly_all_weigh_nothing_do_not_mislead_the_sample(solver):
    X, y = drawn(20_000, 4, 3)
    cost = np.zeros(len(y))
    cost[:300] = 1
    model = LogisticRegression(solver=solver).fit(X, y, cost)
    assert model.verdict_.ok
    assert_same(model, fit(X[:300], y[:300]), atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_sample_in_which_no_row_counts_does_not_break_the_fit(classes):
    X, y = drawn(100_000, 4, classes, size=0.3)
    cost = np.zeros(len(y))
    cost[:60] = 1
    model = LogisticRegression(solver="lbfgs", l2=0.01).fit(X, y, cost)
    assert_same(model, fit(X[:60], y[:60], l2=0.01), atol=1e-4)


def test_a_class_that_weighs_nothing_is_named():
    X, y = drawn()
    with pytest.raises(ValueError, match="class 2"):
        LogisticRegression().fit(X, y, (y != 2).astype(float))


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e12])
@every_solver
def test_the_unit_of_the_weights_does_not_matter(unit, solver):
    X, y = drawn()
    cost = np.random.default_rng(1).random(len(y))
    assert_same(fit(X, y, cost * unit, l2=0.1, solver=solver), fit(X, y, cost, l2=0.1))


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_no_unit_of_the_weights_is_too_small_or_too_large(unit):
    X, y = drawn(20_000, 6, 4)
    cost = np.full(len(y), unit)
    LogisticRegression(solver="newton", l2=1e-4).fit(X, y, cost)
    LogisticRegression(solver="lbfgs", l2=1e-4).fit(X[y < 2], y[y < 2], cost[y < 2])
    assert LogisticRegression(solver="lbfgs", l2=1e-4).fit(X, y, cost).verdict_.ok


@every_solver
def test_class_weights_are_costs(solver):
    X, y = drawn()
    factors = {0: 1.0, 1: 3.0, 2: 0.5, 3: 2.0}
    weighted = fit(X, y, class_weight=factors, solver=solver)
    assert_same(weighted, fit(X, y, np.array([factors[k] for k in y])))
    balanced = fit(X, y, class_weight="balanced")
    assert_same(balanced, fit(X, y, 1 / np.bincount(y)[y]))
    shares = np.average(balanced.predict_proba(X), axis=0, weights=1 / np.bincount(y)[y])
    np.testing.assert_allclose(shares, 0.25, atol=1e-6)


@every_solver
def test_probabilities_as_targets_are_rows_of_every_class_with_these_costs(solver):
    X, y = drawn(150, 3, 3)
    T = np.random.default_rng(5).dirichlet(np.ones(3), size=150)
    T[:40] = np.eye(3)[y[:40]]
    soft = fit(X, T, solver=solver, l2=0.01)
    split = fit(np.repeat(X, 3, axis=0), np.tile([0, 1, 2], 150), T.ravel(), l2=0.01)
    assert_same(soft, split)
    assert_same(fit(X, np.eye(3)[y]), fit(X, y))


# ---------------------------------------------------------------------------------- units, columns, classes, names

SCALES = {
    "all small": [1e-6] * 3,
    "all large": [1e6] * 3,
    "mixed": [1e-6, 1e6, 1.0],
    "signs": [-1e-6, -1e6, 1e3],
}
OFFSETS = {"none": [0.0] * 3, "all": [1e6, -1e6, 1e6], "mixed": [1e6, 1e3, 0.0]}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
@every_solver
def test_scales_and_offsets_leave_unpenalised_probabilities_alone(scale, offset, solver):
    """The offset is in units of the column before it is scaled, so that it is a million deviations."""
    X, y = drawn()
    X = np.round(X * 2**20) / 2**20
    moved = (X + offset) * scale
    model, plain = LogisticRegression(solver=solver).fit(moved, y), LogisticRegression(solver=solver).fit(X, y)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.predict_proba(moved), plain.predict_proba(X), rtol=0, atol=1e-8)


@examples(
    20,
    60,
    arrays(int, 3, elements=st.integers(-6, 6)),
    arrays(int, 3, elements=st.integers(-(10**6), 10**6)),
    st.sampled_from(SOLVERS),
)
def test_any_scales_and_offsets_leave_unpenalised_probabilities_alone(exponents, offsets, solver):
    X, y = drawn(80)
    X = np.round(X * 2**20) / 2**20
    scale = 2.0 ** (3 * exponents)
    model = LogisticRegression(solver=solver).fit((X + offsets) * scale, y)
    assert model.verdict_.ok
    plain = LogisticRegression(solver=solver).fit(X, y)
    np.testing.assert_allclose(model.predict_proba((X + offsets) * scale), plain.predict_proba(X), rtol=0, atol=1e-8)


@every_solver
@pytest.mark.parametrize(("scale", "l2"), [(1e-3, 1e-3), (1e-3, 1.0), (100.0, 1e-3), (100.0, 1.0)])
def test_a_penalty_acts_in_the_users_units(scale, l2, solver):
    X, y = drawn()
    X = X * [1.0, scale, 1.0]
    model, truth = fit(X, y, l2=l2, solver=solver), class_newton(X, y, 4, l2=l2)
    deviation = X.std(axis=0)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.coef_ * deviation, truth.weights.astype(float) * deviation, atol=2e-6)


@every_solver
@pytest.mark.parametrize(("scale", "l2"), [(1e6, 1e-3), (1e6, 1e-6), (1e4, 1e-6), (1.0, 1e-14), (1.0, 1e-18)])
def test_a_small_penalty_on_large_columns_is_proved_too(scale, l2, solver):
    X, y = drawn()
    X = X * [1.0, scale, 1.0]
    LogisticRegression(l2=l2, solver=solver).fit(X[y < 2], y[y < 2])
    assert LogisticRegression(l2=l2, solver=solver).fit(X, y).verdict_.ok


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_the_order_of_rows_columns_and_classes_does_not_matter(l2):
    X, y = drawn()
    model = fit(X, y, l2=l2)
    rows, columns, names = np.random.default_rng(0).permutation(len(y)), [2, 0, 1], np.array([2, 0, 3, 1])
    assert_same(model, fit(X[rows], y[rows], l2=l2))
    turned = fit(np.ascontiguousarray(X[:, columns]), y, l2=l2)
    np.testing.assert_allclose(turned.coef_, model.coef_[:, columns], atol=1e-6)
    renamed = fit(X, names[y], l2=l2)
    np.testing.assert_allclose(renamed.predict_proba(X)[:, names], model.predict_proba(X), atol=1e-6)
    same = renamed.rule_.to_reference(names[3]) if l2 == 0 else renamed.rule_
    np.testing.assert_allclose(same.weights[names], model.coef_, atol=1e-6)
    np.testing.assert_allclose(same.intercept[names], model.intercept_, atol=1e-6)


def test_labels_may_be_strings_in_any_order():
    X, y = drawn(240, 3, 3)
    names = np.array(["oak", "ash", "elm"])
    model = fit(X, names[y])
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    plain = fit(X, np.array([2, 0, 1])[y])
    assert model.coef_.tolist() == plain.coef_.tolist()
    assert (model.predict(X) == np.array(["ash", "elm", "oak"])[plain.predict(X)]).all()
    assert model.rule_.classes == ("ash", "elm", "oak")
    assert model.verdict_.claim.classes == ("ash", "elm", "oak")
    floats = fit(X, np.array([7.0, -3.0, 2.0])[y])
    assert floats.classes_.tolist() == [-3.0, 2.0, 7.0]
    assert floats.coef_.tolist() == plain.coef_.tolist()


@every_solver
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_a_duplicate_and_a_constant_column_are_told_and_change_no_unpenalised_prediction(solver, l2):
    X, y = drawn()
    more = np.column_stack([X[:, 0], np.full(len(y), 3.7), X, X[:, 1] - 2 * X[:, 2]])
    frame = pd.DataFrame(more, columns=["first", "constant", "again", "b", "c", "combined"])
    model = fit(frame, y, l2=l2, solver=solver)
    assert model.verdict_.ok
    assert model.verdict_.rank.rank == 4
    assert model.verdict_.rank.of == 7
    assert model.verdict_.rank.aliased == ("constant", "again", "combined")
    assert "combinations of the others" in str(model.verdict_)
    if l2 == 0:
        np.testing.assert_allclose(model.predict_proba(frame), fit(X, y).predict_proba(X), atol=1e-8)
        assert not model.coef_[-1].any()
        np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 2], atol=1e-9)  # the shortest weights
        np.testing.assert_allclose(model.coef_[:, 1], 0, atol=1e-9)
    else:
        assert_optimum(model, more, y, class_newton(more, y, 4, l2=l2), l2=l2)


@every_solver
@pytest.mark.parametrize("noise", [1e-4, 1e-6, 1e-7])
def test_the_difference_of_nearly_equal_columns_can_have_a_large_weight(solver, noise):
    """From 10⁻⁶ on the value is right and the verdict does not claim to have proved it."""
    rng = np.random.default_rng(0)
    x, difference = rng.normal(size=(2, 400))
    y = (np.column_stack([difference, -difference, 0 * x]) + rng.gumbel(size=(400, 3))).argmax(axis=1)
    X = np.column_stack([x, x + noise * difference])
    plain = fit(np.column_stack([x, (X[:, 1] - x) / noise]), y)
    model = quietly(X, y, solver=solver)
    assert model.verdict_.claim.value == pytest.approx(plain.verdict_.claim.value, rel=1e-8)
    assert np.abs(model.coef_).max() > 0.1 / noise
    assert model.verdict_.ok or "nearly combinations" in model.verdict_.cause


# ------------------------------------------------------------------------------------------------ rows in memory


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@every_solver
def test_any_layout_in_memory_gives_the_same_optimum(dtype, order, solver):
    X, y = drawn()
    X = X.astype(np.float32)
    given, before = np.asarray(X, dtype=dtype, order=order), X.copy()
    given.setflags(write=False)
    model = fit(given, y, solver=solver)
    assert model.coef_.dtype == np.float64
    assert (given == before).all()
    assert_same(model, fit(X.astype(float), y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_mostly_zeros_are_rows_like_others(dtype):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((12_000, 40)) < 0.1, rng.random((12_000, 40)), 0).astype(dtype)
    y = (2 * X @ rng.normal(size=(40, 4)) + rng.gumbel(size=(12_000, 4))).argmax(axis=1)
    cost = rng.integers(0, 3, size=len(y))
    fits = [fit(X, y, cost, solver="lbfgs", tol=1e-12, n_threads=threads) for threads in (1, 2, 3)]
    assert len({model.coef_.tobytes() for model in fits}) == 1
    assert_same(fits[0], fit(X, y, cost, solver="newton"), atol=2e-5)


@every_solver
@pytest.mark.parametrize(("dtype", "order"), [(np.float64, "C"), (np.float32, "F")])
def test_any_number_of_threads_gives_the_same_bits(solver, dtype, order):
    X, y = drawn(40_000, 27, 3, size=0.3)
    X = np.asarray(X, dtype=dtype, order=order)
    fits = [LogisticRegression(solver=solver, n_threads=threads).fit(X, y) for threads in (1, 2, 3)]
    assert fits[0].verdict_.ok
    for other in fits[1:]:
        assert other.coef_.tobytes() == fits[0].coef_.tobytes()
        assert other.intercept_.tobytes() == fits[0].intercept_.tobytes()
        assert other.verdict_.to_dict() == fits[0].verdict_.to_dict()
        assert [record[:4] for record in other.history_] == [record[:4] for record in fits[0].history_]


# ------------------------------------------------------------------------------------------------- the verdict


@examples(
    30, 100, tables(), st.sampled_from([0.0, 0.0, 1e-4, 0.3]), st.booleans(), st.sampled_from([*SOLVERS, "gradient"])
)
def test_what_a_verdict_says_is_true(table, l2, fit_intercept, solver):
    """Optimal: the true gap is within the certificate. Separated or in part: linear programmes say so, and only so."""
    X, y, times, K = table
    counts = times > 0
    model = quietly(X, y, times, l2=l2, fit_intercept=fit_intercept, solver=solver)
    verdict = model.verdict_
    kind = "overlap" if l2 else kind_of_class_separation(X[counts], y[counts], K, fit_intercept=fit_intercept)
    short = kind == "overlap" and solver == "gradient" and verdict.status == "budget"
    assert short or verdict.status == ("optimal" if kind == "overlap" else kind)
    assert verdict.ok == (verdict.status == "optimal")
    assert verdict.check(X, y, times) is True
    if verdict.ok:
        truth = class_newton(X, y, K, l2=l2, cost=times, fit_intercept=fit_intercept)
        here = class_mean_loss(X, y, model.coef_, model.intercept_, l2=l2, cost=times)
        assert -LONG_ROUNDING <= here - truth.value <= verdict.certificate.gap + LONG_ROUNDING
        assert float(here) == pytest.approx(verdict.claim.value, rel=1e-13)
        assert verdict.certificate.gap <= max(1e-10 * verdict.claim.value, 1e-20)
        if l2 > 0 or not verdict.rank.aliased:
            weights, intercept = truth.pivot if l2 == 0 else (truth.weights, truth.intercept)
            off = np.abs(np.column_stack([model.coef_ - weights, model.intercept_ - intercept]).astype(float))
            assert (off <= verdict.certificate.coefficients * (1 + 1e-6) + 1e-9).all()
    elif verdict.status == "separated":
        assert_separates(verdict.certificate, X[counts], y[counts])
    elif verdict.status == "quasi-separated":
        assert_limit(model, X, y, K, times)


def assert_limit(model, X, y, K, weight=None):
    """The rows and coefficients that linear programmes name; the deviance, probabilities and weights of the limit."""
    verdict, found, one = model.verdict_, model.verdict_.separability, model.fit_intercept
    answer = separation_by_highs(X, y, weight=weight, fit_intercept=one, classes=K)
    known = limit(X, y, answer, weight=weight, fit_intercept=one, classes=K)
    total = len(y) if weight is None else weight.sum()
    assert verdict.status == found.kind == answer.kind == "quasi-separated"
    assert isinstance(verdict.certificate, Limit)
    assert verdict.certificate.deviance == pytest.approx(known.deviance, rel=1e-7, abs=1e-9)
    assert verdict.claim.value == pytest.approx(known.deviance / 2 / total, rel=1e-7, abs=1e-9)
    assert found.rows.tolist() == list(answer.rows)
    assert found.partly.tolist() == list(answer.partly)
    counts = np.ones(len(y), bool) if weight is None else weight > 0
    P = model.predict_proba(X)[counts]
    np.testing.assert_allclose(P, known.probabilities[counts], atol=1e-5)
    assert ((P == 0) == (known.probabilities[counts] == 0)).all()
    assert np.isfinite(model.coef_).all()
    for k, group in enumerate(found.coefficients.values()):
        for j, name in enumerate(verdict.claim.columns):
            status = answer.coefficients[k][j]
            assert group[name] == status
            if status == "finite" and not answer.aliased:
                assert model.coef_[k, j] == pytest.approx(known.coefficients[k, j + one], rel=1e-4, abs=1e-4)
            if status in ("+inf", "-inf"):
                assert model.coef_[k, j] * float(status) > 0
        assert not one or group[INTERCEPT] == answer.coefficients[k][INTERCEPT]


def assert_separates(certificate, X, y):
    """Every row's own class has the strictly largest score, and the margin is the nearest row's distance."""
    assert isinstance(certificate, Separation)
    W, b = certificate.weights.astype(Long), np.asarray(certificate.intercept, Long)
    s, index = X.astype(Long) @ W.T + b, np.arange(len(y))
    lengths = np.linalg.norm((W[:, None] - W[None]).astype(float), axis=2)
    lead = s[index, y][:, None] - s
    others = np.arange(len(W)) != y[:, None]
    assert (lead[others] > 0).all()
    distance = lead[others].astype(float) / lengths[y][others]
    assert certificate.margin == pytest.approx(distance.min(), rel=1e-6)


def test_what_rounding_could_feign_is_no_separation():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0, 1, 2])
    W, b, none = X.copy(), np.zeros(3), np.empty(0)
    assert class_separates(Rows.of(X, y, none), W, b)
    assert class_separates(Rows.of(X, np.eye(3)[y], none), W, b)
    tie, hairline = np.vstack([X, [[0.0, 0.0]]]), np.vstack([X, [[1e6 + 1e-10, 1e6]]])
    for rows in (tie, hairline):
        more = np.append(y, 0)
        assert not class_separates(Rows.of(rows, more, none), W, b)
        assert class_separates(Rows.of(rows, more, np.array([1.0, 1.0, 1.0, 0.0])), W, b)
    assert not class_separates(Rows.of(X, np.array([0, 1, 1]), none), W, b)
    T = np.eye(3)[y]
    T[0] = [0.9, 0.1, 0.0]
    assert not class_separates(Rows.of(X, T, none), W, b)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_separated_classes_are_told_with_a_rule_that_separates(solver, dtype, fit_intercept):
    X, y = clustered()
    X = (X - (0 if fit_intercept else [5, -3])).astype(dtype)
    with pytest.warns(SeparationWarning, match="no maximum"):
        model = LogisticRegression(solver=solver, fit_intercept=fit_intercept).fit(X, y)
    assert model.verdict_.status == "separated"
    assert not model.verdict_.ok
    assert_separates(model.verdict_.certificate, X, y)
    assert (model.predict(X) == y).all()
    P = model.predict_proba(X)
    assert (np.eye(3)[y] == P).all()  # the limit as the weights grow
    assert (model.predict_log_proba(X) == np.where(P == 1, 0, -np.inf)).all()
    assert not model.rule_.probabilistic
    assert not model.coef_[-1].any()
    assert (model.distance(X) > 0).all()


def test_where_scores_tie_separated_classes_share_the_probability():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), [0, 1, 2]
    model = quietly(X, y, fit_intercept=False)
    assert model.verdict_.status == "separated"
    np.testing.assert_array_equal(model.predict_proba([[0.0, 0.0]]), [[1 / 3, 1 / 3, 1 / 3]])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba([[0.0, 0.0]]), np.log([[1 / 3, 1 / 3, 1 / 3]]))


def test_separation_of_each_class_from_the_rest_is_not_needed():
    """Five heaps in a row: no line tells a middle one from all the others, yet one set of weights tells all apart."""
    X = (np.repeat(np.arange(5.0), 6) + np.tile(np.linspace(-0.3, 0.3, 6), 5))[:, None]
    y = np.repeat(np.arange(5), 6)
    model = quietly(X, y)
    assert model.verdict_.status == "separated"
    assert_separates(model.verdict_.certificate, X, y)


def test_a_penalty_gives_separated_classes_finite_weights():
    X, y = clustered()
    for l2 in (1e-6, 1e-2):
        model = fit(X, y, l2=l2, tol=1e-12)
        truth = class_newton(X, y, 3, l2=l2, passes=80)
        assert_optimum(model, X, y, truth, l2=l2, atol=1e-4)
        P = model.predict_proba(X)
        assert ((P > 0) & (P < 1)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_are_all_sure_do_not_break_the_proof(classes):
    X, y = np.repeat(np.eye(classes), 5, axis=0), np.repeat(np.arange(classes), 5)
    model = quietly(X, y, l2=1e-12, fit_intercept=False)
    assert model.verdict_.status in ("optimal", "budget")
    assert (model.predict(X) == y).all()


def test_four_blood_types():
    """A, B, AB and O by two antigens seen through noise: four classes whose probabilities sum to one.  [000 §8.4]"""
    antigens = {"O": (0, 0), "A": (1, 0), "B": (0, 1), "AB": (1, 1)}
    y = np.repeat(list(antigens), 60)
    clear = np.array([antigens[kind] for kind in y], dtype=float)
    noisy = clear + np.random.default_rng(0).normal(0, 0.35, clear.shape)
    model = LogisticRegression().fit(noisy, y)
    assert model.classes_.tolist() == ["A", "AB", "B", "O"]
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(noisy, y)
    P = model.predict_proba(clear)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-15)
    assert (model.predict(clear) == y).all()
    assert (model.classes_[P.argmax(axis=1)] == y).all()
    with pytest.warns(SeparationWarning):
        assert LogisticRegression().fit(clear, y).verdict_.status == "separated"


@pytest.mark.parametrize("solver", ["auto", *SOLVERS, "gradient"])
@pytest.mark.parametrize("tol", [1e-3, 1e-10])
def test_iris_is_quasi_separated_and_never_called_optimal(solver, tol):
    """setosa stands apart; between the other two the limit is the fit of their rows alone."""
    X, y = load_iris(return_X_y=True)
    assert kind_of_class_separation(np.round(10 * X), y, 3) == "quasi-separated"
    with pytest.warns() as caught:
        model = LogisticRegression(solver=solver, tol=tol).fit(X, y)
    assert [each.category for each in caught] == [SeparationWarning]
    assert model.verdict_.status == "quasi-separated"
    assert not model.verdict_.ok
    assert model.verdict_.check(X, y) is True
    assert not model.verdict_.check(X, (y + 1) % 3)
    assert_limit(model, X, y, 3)
    assert model.verdict_.separability.rows.tolist() == list(range(50))
    two = fit(X[50:], y[50:] == 1)
    np.testing.assert_allclose(model.coef_[1], two.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(model.intercept_[1], two.intercept_[0], rtol=1e-4)
    assert model.verdict_.certificate.deviance == pytest.approx(200 * two.verdict_.claim.value, rel=1e-8)
    assert model.score(X, y) > 0.97


def test_the_weights_of_iris_that_go_to_infinity_are_named_and_so_are_the_others():
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.warns(SeparationWarning, match="Quasi-separated") as caught:
        verdict = LogisticRegression().fit(X, y).verdict_
    assert str(caught[0].message) == str(verdict)
    gone, stay = re.search(r"Maximum likelihood sends (.*); (.*) stay finite\.", verdict.cause).groups()
    for name in (*X.columns, INTERCEPT):
        assert f"{name} of 0 → ±∞" in gone
        assert f"{name} of 1" not in gone
        assert f"{name} of 1" in stay
    assert "separates 50 rows" in verdict.cause
    assert "100 rows from some of the other classes" in verdict.cause
    assert f"falls to {verdict.certificate.deviance:.6g}" in verdict.cause
    assert "l2 > 0" in verdict.remedy


def test_a_flag_that_is_raised_in_one_class_only_is_named():
    frame, y = flagged([0.0, 1.0, 0.0])
    with pytest.warns(SeparationWarning, match="sends flag of 0 → ±∞ and flag of 1 → [+]∞; a of 0, b of 0"):
        model = LogisticRegression().fit(frame, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(frame, y) is True
    assert model.verdict_.separability.rows.tolist() == np.flatnonzero(frame["flag"]).tolist()
    assert_limit(model, frame, y, 3)
    penalised = fit(frame, y, l2=1e-3)
    assert penalised.verdict_.ok


def test_a_flag_that_grows_for_some_classes_only_is_named():
    """Of the third class, which is never flagged, the weight stays where it is."""
    frame, y = flagged([-1.0, 1.0, 0.0])
    with pytest.warns(SeparationWarning, match="sends flag of 0 → −∞ and flag of 1 → [+]∞; a of 0, b of 0"):
        model = LogisticRegression().fit(frame, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(frame, y) is True
    assert_limit(model, frame, y, 3)


@pytest.mark.parametrize("values", [[0.0, 1.0, 0.0], [-1.0, 1.0, 0.0]], ids=str)
def test_without_a_closer_look_the_column_whose_weights_keep_growing_is_named(monkeypatch, values):
    """More weights than linear programs are asked about: nothing is proved, and the cause says what it suspects."""
    frame, y = flagged(values)
    monkeypatch.setattr("separatrix.learners.logistic.conclusion.MOST_WEIGHTS", 7)
    with pytest.warns(BudgetWarning, match="the weights of flag keep growing"):
        verdict = LogisticRegression().fit(frame, y).verdict_
    assert verdict.status == "budget"
    assert verdict.certificate is None
    assert verdict.separability is None
    assert "quasi-separation" in verdict.cause
    assert "l2 > 0" in verdict.remedy


def flagged(values):
    """Two columns that overlap, and one that is a value of the class in every fourth row and zero in the others."""
    X, y = drawn(300, 2, 3, size=0.7)
    flag = np.array(values)[y] * (np.arange(300) % 4 == 0)
    return pd.DataFrame({"a": X[:, 0], "flag": flag, "b": X[:, 1]}), y


def test_wine_is_separated_and_with_a_penalty_optimal():
    X, y = load_wine(return_X_y=True)
    assert quietly(X, y).verdict_.status == "separated"
    model = fit(X, y, l2=0.01, tol=1e-12)
    assert_optimum(model, X, y, class_newton(X, y, 3, l2=0.01), l2=0.01, atol=1e-4)


@every_solver
def test_a_tolerance_that_is_asked_for_is_proved(solver):
    X, y = drawn()
    truth = class_newton(X, y, 4).value
    for tol in (1e-2, 1e-6, 1e-14):
        model = LogisticRegression(solver=solver, tol=tol).fit(X, y)
        found = model.verdict_.certificate
        assert model.verdict_.ok
        assert found.relative_gap <= tol
        assert found.gap == pytest.approx(found.relative_gap * model.verdict_.claim.value)
        here = class_mean_loss(X, y, model.coef_, model.intercept_)
        assert here - truth <= found.gap + LONG_ROUNDING
        assert found.coefficients.shape == (4, 4)
        assert (found.coefficients[-1] == 0).all()
        assert (found.coefficients[:-1] > 0).all()


def test_too_few_passes_are_told_with_what_is_known():
    X, y = drawn()
    with pytest.warns(BudgetWarning, match="max_passes"):
        model = LogisticRegression(solver="gradient", max_passes=3).fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.n_passes_ < 10
    assert model.coef_.shape == (4, 3)


# -------------------------------------------------------------------------------------------------- unusual shapes


@every_solver
def test_a_class_with_one_row_among_the_others(solver):
    """Its row lies in the midst of every other class, so its weights are finite."""
    X, y = drawn(200, 2, 3, size=0.5)
    y[:] = np.where(y == 2, 0, y)
    X[0], y[0] = X.mean(axis=0), 2
    model = fit(X, y, solver=solver)
    assert (y == 2).sum() == 1
    assert_optimum(model, X, y, class_newton(X, y, 3), atol=1e-5)
    assert model.predict_proba(X)[:, 2].sum() == pytest.approx(1, abs=1e-6)


@every_solver
def test_a_class_with_one_row_outside_the_others_is_never_called_optimal(solver):
    X, y = drawn(200, 2, 3, size=0.5)
    y[:] = np.where(y == 2, 0, y)
    X[0], y[0] = [50.0, 50.0], 2
    with pytest.warns(SeparationWarning, match="Quasi-separated"):
        model = LogisticRegression(solver=solver).fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y) is True
    assert_limit(model, X, y, 3)
    assert model.verdict_.separability.rows.tolist() == [0]
    others = fit(X[1:], y[1:])  # between the other two classes the limit is their own fit
    np.testing.assert_allclose(model.coef_[1] - model.coef_[0], others.coef_[0], atol=1e-5)
    assert model.verdict_.certificate.deviance == pytest.approx(398 * others.verdict_.claim.value, rel=1e-9)
    assert fit(X, y, solver=solver, l2=0.01, tol=1e-10).verdict_.ok


def test_every_class_with_one_row():
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.arange(6)
    assert separation_by_highs(X, y, classes=6).kind == "separated"
    verdict = quietly(X, y).verdict_
    assert verdict.status == "separated"
    assert verdict.check(X, y) is True
    assert_optimum(fit(X, y, l2=0.01), X, y, class_newton(X, y, 6, l2=0.01), l2=0.01)


@every_solver
def test_a_hundred_classes(solver):
    X, y = drawn(3000, 3, 100, size=0.3)
    assert set(y) == set(range(100))
    model = LogisticRegression(solver=solver, l2=0.01).fit(X, y)
    assert model.verdict_.ok
    assert model.coef_.shape == (100, 3)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(P.mean(axis=0), np.bincount(y) / len(y), atol=1e-5)  # the intercepts' equations
    slope = (P - np.eye(100)[y]).T @ X / len(y) + 0.01 * model.coef_
    np.testing.assert_allclose(slope, 0, atol=1e-5)


@every_solver
def test_rows_so_far_out_that_probabilities_underflow(solver):
    X, y = drawn(240, 2, 3)
    X[:6] *= 1e4
    y[:6] = fit(X[6:], y[6:], l2=1e-3).predict(X[:6])
    model = LogisticRegression(solver=solver, l2=1e-3).fit(X, y)
    assert model.verdict_.ok
    P, log_P = model.predict_proba(X), model.predict_log_proba(X)
    assert (P == 0).any()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-13)
    assert np.isfinite(log_P).all()
    assert log_P.min() < -1000
    assert_optimum(model, X, y, class_newton(X, y, 3, l2=1e-3), l2=1e-3, atol=1e-3)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_rows_than_columns_with_a_penalty(solver, fit_intercept):
    X, y = drawn(20, 35, 3)
    model = fit(X, y, l2=0.1, solver=solver, fit_intercept=fit_intercept, tol=1e-12, max_passes=2000)
    truth = class_newton(X, y, 3, l2=0.1, fit_intercept=fit_intercept)
    assert_optimum(model, X, y, truth, l2=0.1, atol=1e-5)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-8)


@every_solver
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_rows_than_columns_without_a_penalty_are_separated(solver, fit_intercept):
    X, y = drawn(20, 35, 3)
    model = quietly(X, y, solver=solver, fit_intercept=fit_intercept)
    assert model.verdict_.status == "separated"
    assert_separates(model.verdict_.certificate, X, y)
    assert not model.coef_[-1].any()
    assert model.verdict_.rank.rank == 20
    assert len(model.verdict_.rank.aliased) == 35 + fit_intercept - 20


@every_solver
def test_fewer_rows_than_columns_with_twins_of_different_classes_are_not_separated(solver):
    X, y = drawn(20, 35, 3)
    X[1], y[:2] = X[0], [0, 1]
    model = quietly(X, y, solver=solver)
    verdict = model.verdict_
    assert verdict.status == "quasi-separated"
    assert verdict.check(X, y) is True
    assert verdict.separability.rows.tolist() == list(range(2, 20))
    assert verdict.separability.partly.tolist() == [0, 1]
    assert verdict.certificate.deviance == pytest.approx(4 * np.log(2), rel=1e-9)
    P = np.eye(3)[y]
    P[:2] = [0.5, 0.5, 0]
    np.testing.assert_allclose(model.predict_proba(X), P, atol=1e-7)


@every_solver
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_rows_than_columns_take_any_probabilities_that_are_asked(solver, fit_intercept):
    """Scores of any kind are possible, so the minimum is where p = t; of all weights there these are the shortest."""
    X, _ = drawn(20, 35, 3)
    X += 3.0
    T = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    model = fit(X, T, solver=solver, fit_intercept=fit_intercept)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.predict_proba(X), T, atol=1e-6)
    centred = X - fit_intercept * X.mean(axis=0)
    logits = np.log(T / T[:, -1:])
    shortest = np.linalg.lstsq(centred, logits - fit_intercept * logits.mean(axis=0), rcond=None)[0].T
    np.testing.assert_allclose(model.coef_, shortest, atol=1e-5)


@every_solver
def test_fewer_rows_that_count_than_columns(solver):
    X, y = drawn(40, 30, 3)
    cost = np.ones(40)
    cost[18:] = 0
    weighted = LogisticRegression(l2=0.01, solver=solver).fit(X, y, cost)
    assert weighted.verdict_.ok
    assert_same(weighted, fit(X[:18], y[:18], l2=0.01), atol=1e-4)


@every_solver
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_feature(solver, fit_intercept):
    X, y = drawn(200, 1, 3)
    model = fit(X, y, solver=solver, fit_intercept=fit_intercept)
    assert_optimum(model, X, y, class_newton(X, y, 3, fit_intercept=fit_intercept))
    if not fit_intercept:
        assert not model.intercept_.any()
        np.testing.assert_allclose(model.predict_proba([[0.0]]), 1 / 3, rtol=1e-15)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_that_say_nothing_leave_the_shares_of_the_classes(fit_intercept):
    y = np.array([0] * 5 + [1] * 3 + [2] * 2)
    model = LogisticRegression(fit_intercept=fit_intercept).fit(np.zeros((10, 2)), y)
    shares = [0.5, 0.3, 0.2] if fit_intercept else [1 / 3] * 3
    assert model.verdict_.ok
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba([[7.0, -2.0]]), [shares], rtol=1e-5)
    assert model.verdict_.rank.rank == fit_intercept


# -------------------------------------------------------------------------------------- too large for a Hessian


@pytest.fixture(scope="module")
def large():
    """9 classes × 251 weights: more than the proof by a whole Hessian allows."""
    return drawn(3000, 250, 9, size=0.04)


@pytest.mark.parametrize(("l2", "fit_intercept"), [(1e-2, True), (1e-2, False), (1.0, True), (1e-4, True)])
def test_a_problem_too_large_for_its_hessian_is_proved_by_a_witness(large, l2, fit_intercept):
    X, y = large
    model = LogisticRegression(l2=l2, fit_intercept=fit_intercept).fit(X, y)
    found = model.verdict_.certificate
    assert model.verdict_.status == "optimal"
    assert found.witness is not None
    assert found.witness.size in (9 * 250, 9 * 251)
    assert np.isfinite(found.witness).all()
    assert found.relative_gap <= 1e-10
    better = LogisticRegression(l2=l2, fit_intercept=fit_intercept, tol=1e-12, init=_as_start(model)).fit(X, y)
    values = [class_mean_loss(X, y, m.coef_, m.intercept_, l2=l2) for m in (model, better)]
    assert values[0] - values[1] <= found.gap
    off = np.abs(np.column_stack([model.coef_ - better.coef_, model.intercept_ - better.intercept_]))
    assert (off <= found.coefficients + better.verdict_.certificate.coefficients).all()


def _as_start(model):
    return np.column_stack([model.coef_, model.intercept_]) if model.fit_intercept else model.coef_


def test_a_witness_proves_with_costs_single_precision_and_other_units(large):
    X, y = large
    cost = np.random.default_rng(0).integers(0, 3, size=len(y))
    moved = ((X + 1e3) * 2.0 ** np.random.default_rng(0).integers(-5, 5, size=250)).astype(np.float32)
    model = LogisticRegression(l2=1e-2).fit(moved, y, cost)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.certificate.witness is not None


def test_a_witness_without_a_penalty():
    X, y = drawn(4000, 34, 60, size=0.1)
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.certificate.witness is not None
    assert not model.coef_[-1].any()
    assert not model.verdict_.certificate.coefficients[-1].any()
    P = model.predict_proba(X)
    np.testing.assert_allclose((P - np.eye(60)[y]).T @ X / len(y), 0, atol=1e-5)


def test_a_proof_that_a_witness_cannot_give_is_not_blamed_on_rounding_or_on_the_columns(large):
    """Without a penalty a witness needs that no probability is tiny; a whole Hessian proves this minimum."""
    verdict = quietly(*large).verdict_
    assert verdict.ok or "rounding" not in verdict.cause


def test_few_rows_and_many_classes_are_proved_by_a_witness_too():
    X, y = drawn(240, 260, 9, size=0.2)
    model = LogisticRegression(l2=0.05, solver="lbfgs").fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.certificate.witness is not None
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-6)


# --------------------------------------------------------------------------------- steps, interruptions, warm starts


def interrupt_after(monkeypatch, calls):
    """Ctrl-C during a pass over the rows, after so many undisturbed ones."""
    made, undisturbed = [], ClassRisk.__call__

    def passing(self, *arguments):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(1)
        return undisturbed(self, *arguments)

    monkeypatch.setattr(ClassRisk, "__call__", passing)


def assert_interrupted(model, X, y):
    assert model.verdict_.status == "interrupted"
    assert not model.verdict_.ok
    assert model.verdict_.certificate is None
    assert "nterrupted" in str(model.verdict_)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.coef_.shape == (4, X.shape[1])
    assert model.intercept_.shape == (4,)
    assert model.n_features_in_ == X.shape[1]
    assert len(model.predict(X)) == len(y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.n_passes_ == (model.history_[-1].passes if model.history_ else 0)


@pytest.mark.parametrize("taken", [1, 2, 3])
@every_solver
def test_who_stops_reading_the_steps_finds_the_attributes_set(solver, taken):
    X, y = drawn()
    model = LogisticRegression(init="zero", solver=solver, tol=TIGHT)
    steps = model.steps(X, y)
    last = [next(steps) for _ in range(taken)][-1]
    steps.close()
    assert_interrupted(model, X, y)
    assert model.coef_.tolist() == last.weights.tolist()
    assert model.intercept_.tolist() == last.intercept.tolist()
    assert len(model.history_) == taken
    assert model.verdict_.claim.value == last.value
    here = class_mean_loss(X, y, model.coef_, model.intercept_)
    assert float(here) == pytest.approx(last.value, rel=1e-12)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("calls", [0, 1, 2, 3, 4])
def test_ctrl_c_sets_the_attributes_and_goes_on_up(monkeypatch, solver, calls):
    X, y = drawn()
    interrupt_after(monkeypatch, calls)
    model = LogisticRegression(solver=solver, init="zero", tol=1e-13)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_interrupted(model, X, y)


def test_ctrl_c_before_the_first_pass_leaves_a_rule_that_predicts(monkeypatch):
    X, y = drawn()
    interrupt_after(monkeypatch, 0)
    model = LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_interrupted(model, X, y)
    assert model.history_ == []
    assert "before the first pass" in model.verdict_.cause
    np.testing.assert_allclose(model.predict_proba(X), 0.25)


def test_ctrl_c_with_fewer_rows_than_columns(monkeypatch):
    X, y = drawn(24, 40, 4)
    interrupt_after(monkeypatch, 4)
    model = LogisticRegression(l2=0.1, tol=TIGHT)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_interrupted(model, X, y)
    assert model.history_


def test_steps_never_climb_and_end_at_the_fit():
    X, y = drawn()
    for solver in (*SOLVERS, "gradient"):
        model = LogisticRegression(solver=solver, init="zero", max_passes=1000)
        steps = list(model.steps(X, y))
        values = [step.value for step in steps]
        assert len(values) > 3
        assert all(later <= earlier * (1 + 1e-13) for earlier, later in itertools.pairwise(values))
        assert steps[-1].weights.tolist() == model.coef_.tolist()
        assert {step.moved_by for step in steps[1:]} == {solver}


def test_a_warm_start_needs_fewer_passes_and_begins_where_the_last_fit_ended():
    X, y = drawn()
    model = LogisticRegression(warm_start=True, init="zero").fit(X, y)
    cold, ended = model.n_passes_, model.coef_.copy()
    first = next(model.steps(X, y))
    np.testing.assert_allclose(first.weights, ended, rtol=1e-10, atol=1e-12)
    model.fit(X, y)
    assert model.n_passes_ < cold
    assert model.verdict_.ok
    np.testing.assert_allclose(model.coef_, ended, atol=1e-5)
    symmetric = next(model.set_params(l2=0.1).steps(X, y))
    np.testing.assert_allclose(symmetric.weights, model.rule_.to_reference(None).weights, atol=1e-5)


def test_a_warm_start_goes_on_after_an_interruption():
    X, y = drawn()
    model = LogisticRegression(warm_start=True, init="zero")
    for _ in itertools.islice(steps := model.steps(X, y), 3):
        pass
    steps.close()
    left = model.coef_.copy()
    np.testing.assert_allclose(next(model.steps(X, y)).weights, left, rtol=1e-10, atol=1e-12)
    assert model.fit(X, y).verdict_.ok
    assert_same(model, fit(X, y), atol=1e-4)


def test_a_warm_start_with_other_columns_or_another_number_of_classes_starts_afresh():
    X, y = drawn()
    model = LogisticRegression(warm_start=True).fit(X, y).fit(X[:, :2], y)
    assert model.coef_.tolist() == LogisticRegression().fit(X[:, :2], y).coef_.tolist()
    model.fit(X[:, :2], np.minimum(y, 2))
    assert model.coef_.tolist() == LogisticRegression().fit(X[:, :2], np.minimum(y, 2)).coef_.tolist()
    model.fit(X[:, :2], np.minimum(y, 1))
    assert model.coef_.tolist() == LogisticRegression().fit(X[:, :2], np.minimum(y, 1)).coef_.tolist()


# ---------------------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_predictions_agree_with_one_another(l2):
    X, y = drawn()
    model = fit(X, y, l2=l2)
    z = model.decision_function(X)
    np.testing.assert_allclose(z, X @ model.coef_.T + model.intercept_, rtol=1e-12, atol=1e-13)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P, np.exp(log_softmax(z.astype(Long))).astype(float), rtol=1e-12)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P), rtol=1e-11)
    assert (model.predict(X) == model.classes_[z.argmax(axis=1)]).all()
    np.testing.assert_allclose(model.rule_.probability(X), P, rtol=1e-12)
    assert (model.rule_.classify(X) == model.predict(X)).all()
    np.testing.assert_allclose(P.mean(axis=0), np.bincount(y) / len(y), atol=1e-7)  # the intercepts' equations
    with pytest.raises(ValueError, match="two classes"):
        model.influence(X, y)
