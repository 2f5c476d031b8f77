"""What every loss promises, and the functions of one number that the losses are made of."""

import math

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from separatrix.losses import ALL, Exponential, Hinge, LogisticSquared, LogLikelihood, MarginLoss, Perceptron, ZeroOne
from separatrix.numerics.functions import exponential, log_sum_exp, positive, sigmoid, softplus, step

GRID = np.linspace(-30, 30, 241)
METHODS = ("value", "slope", "curvature")

every_loss = pytest.mark.parametrize("loss", ALL, ids=lambda loss: type(loss).__name__)
every_method = pytest.mark.parametrize("method", METHODS)
every_precision = pytest.mark.parametrize("dtype", [np.float32, np.float64])
numbers = st.floats(-600, 600)


def smooth_grid(loss: MarginLoss, clearance: float) -> np.ndarray:
    """Margins farther than `clearance` from every kink."""
    return GRID[[all(abs(m - kink) > clearance for kink in loss.kinks) for m in GRID]]


def assert_derivative(f, derivative, points: np.ndarray) -> None:
    """Five-point differences in the widest precision there is, each held to the size of what was subtracted."""
    m = points.astype(np.longdouble)
    h = np.longdouble(np.finfo(np.longdouble).eps) ** np.longdouble(0.2)
    stencil = [f(m - 2 * h), f(m - h), f(m + h), f(m + 2 * h)]
    estimate = (stencil[0] - 8 * stencil[1] + 8 * stencil[2] - stencil[3]) / (12 * h)
    claimed = derivative(m)
    size = np.abs(stencil).max(axis=0) + np.abs(claimed)
    assert (np.abs(estimate - claimed) <= 1e-10 * size).all()


@every_loss
def test_slope_is_the_derivative_of_value(loss: MarginLoss) -> None:
    assert_derivative(loss.value, loss.slope, smooth_grid(loss, 0.01))


@every_loss
def test_curvature_is_the_derivative_of_slope(loss: MarginLoss) -> None:
    assert_derivative(loss.slope, loss.curvature, smooth_grid(loss, 0.01))


def test_wrong_derivatives_are_noticed() -> None:
    loss = LogLikelihood()
    with pytest.raises(AssertionError):
        assert_derivative(loss.value, lambda m: loss.slope(m) * (1 + 1e-8), GRID)


@every_loss
@every_method
@every_precision
def test_finite_far_from_zero_and_in_the_precision_given(loss: MarginLoss, method: str, dtype: type) -> None:
    m = np.array([-1e6, -1e3, -100, -1, 0, 1, 100, 1e3, 1e6], dtype=dtype)
    found = getattr(loss, method)(m)
    assert found.dtype == dtype
    assert np.isfinite(found).all()


@every_loss
@every_method
def test_a_python_number_is_a_margin_too(loss: MarginLoss, method: str) -> None:
    for m in (-1e6, 0.0, 1.0, 1e6):
        assert float(getattr(loss, method)(m)) == getattr(loss, method)(np.array([m]))[0], m


@every_loss
def test_value_is_never_negative(loss: MarginLoss) -> None:
    assert (loss.value(GRID) >= 0).all()


@every_loss
def test_convex_as_claimed_by_its_chords(loss: MarginLoss) -> None:
    value = loss.value(GRID)
    middle = loss.value((GRID[:, None] + GRID) / 2)
    chord = (value[:, None] + value) / 2
    assert (middle <= chord * (1 + 1e-12)).all() == loss.convex


@every_loss
def test_convex_as_claimed_by_its_curvature(loss: MarginLoss) -> None:
    around = np.array(loss.kinks)[:, None] + [-1e-9, 1e-9]
    jumps = bool((np.abs(np.diff(loss.value(around), axis=1)) > 1e-6).any())
    if jumps:
        assert not loss.convex  # the curvature beside a jump says nothing
    else:
        assert (loss.curvature(GRID) >= 0).all() == loss.convex


@every_loss
def test_bound_is_the_least_that_covers_the_mistakes(loss: MarginLoss) -> None:
    mistakes = np.append(GRID[GRID <= 0], [-1e-9, -1e-3, -1e6])
    least = float(loss.value(mistakes).min())
    if least > 0:
        assert loss.bound == pytest.approx(1 / least, rel=1e-12, abs=0)
        assert (loss.bound * loss.value(mistakes) >= 1 - 1e-12).all()
    else:
        assert loss.bound == math.inf


@pytest.mark.parametrize("k", [1.0, 1e6, 1e300])
def test_no_multiple_of_the_perceptron_loss_covers_a_tie(k: float) -> None:
    assert k * Perceptron().value(0.0) < 1


def test_mistakes_are_at_most_four_squared_errors_and_the_likelihood_over_log_2() -> None:
    mistake = GRID <= 0
    assert (mistake <= 4 * LogisticSquared().value(GRID)).all()
    assert (mistake <= LogLikelihood().value(GRID) / math.log(2) * (1 + 1e-15)).all()


def test_mistakes_are_a_quarter_of_the_squared_distance_of_signs() -> None:
    """1[m ≤ 0] = (y − sign z)²/4, the sign being −1 at zero: they part at z = 0, y = −1 alone.  [004 §4.2]"""
    for y in (-1, 1):
        sign = np.where(GRID > 0, 1, -1)
        apart = ZeroOne().value(y * GRID) != (y - sign) ** 2 / 4
        assert GRID[apart].tolist() == ([0.0] if y == -1 else [])


def test_the_likelihood_is_a_distribution_of_labels_and_not_of_weights() -> None:
    """Σ_y p(y ∣ x, w) = 1, and ∫ p(y ∣ x, w) dw over [−T, T] is T: it grows for ever.  [000 §8.1.1; 002 §1.1]"""
    likelihood = np.exp(-LogLikelihood().value(GRID))
    np.testing.assert_allclose(likelihood + np.exp(-LogLikelihood().value(-GRID)), 1, rtol=1e-14)
    for T in (1.0, 10.0, 100.0):
        w = np.linspace(-T, T, 20_001)
        assert np.trapezoid(np.exp(-LogLikelihood().value(w)), w) == pytest.approx(T, rel=1e-12)


@every_loss
def test_slope_at_a_kink_is_the_left_one(loss: MarginLoss) -> None:
    for kink in loss.kinks:
        left = float(loss.slope(kink - 1e-9))
        assert float(loss.slope(kink)) == pytest.approx(left, abs=1e-8)


@pytest.mark.parametrize("loss", [loss for loss in ALL if loss.kinks], ids=lambda loss: type(loss).__name__)
def test_every_kink_is_one(loss: MarginLoss) -> None:
    for kink in loss.kinks:
        jumps = [abs(float(getattr(loss, name)(kink + 1e-9) - getattr(loss, name)(kink - 1e-9))) for name in METHODS]
        assert max(jumps) > 0.5


@pytest.mark.parametrize("loss", [Perceptron(), Hinge()], ids=["Perceptron", "Hinge"])
def test_a_tie_pulls_as_a_mistake_does(loss: MarginLoss) -> None:
    (kink,) = loss.kinks
    assert [float(loss.slope(m)) for m in (kink - 1e-9, kink, kink + 1e-9)] == [-1, -1, 0]


@every_loss
@every_method
@every_precision
def test_array_api_arrays_give_the_same_numbers(loss: MarginLoss, method: str, dtype: type) -> None:
    m = np.concatenate([GRID, [-1e6, 1e6]]).astype(dtype)
    strict = getattr(loss, method)(array_api_strict.asarray(m))
    assert isinstance(strict, type(array_api_strict.asarray(m)))
    np.testing.assert_array_equal(np.from_dlpack(strict), getattr(loss, method)(m), strict=True)


def test_influence_of_a_row_is_largest_at_minus_log_2() -> None:
    """|e p(1 − p)| is half the slope of the squared error: 4/27 at margin −log 2, 1/8 at the boundary."""
    loss, m = LogisticSquared(), np.linspace(-3, 3, 60_001)
    influence = np.abs(loss.slope(m)) / 2
    p = sigmoid(m)
    np.testing.assert_allclose(influence, (1 - p) * p * (1 - p), rtol=1e-13)
    assert m[influence.argmax()] == pytest.approx(-math.log(2), abs=1e-4)
    assert abs(float(loss.slope(-math.log(2)))) / 2 == pytest.approx(4 / 27, rel=1e-14, abs=0)
    assert abs(float(loss.slope(0.0))) / 2 == pytest.approx(1 / 8, rel=1e-14, abs=0)
    assert float(loss.curvature(-math.log(2))) == pytest.approx(0, abs=1e-16)


@given(numbers)
def test_sigmoid_is_half_of_one_plus_tanh(z: float) -> None:
    assert float(sigmoid(2 * z)) == pytest.approx((1 + math.tanh(z)) / 2, abs=5e-16)
    assert 2 * float(sigmoid(z)) - 1 == pytest.approx(math.tanh(z / 2), abs=1e-15)


@given(numbers)
def test_sigmoids_of_opposite_numbers_add_up_to_one(z: float) -> None:
    assert float(sigmoid(z) + sigmoid(-z)) == pytest.approx(1, abs=3e-16)


@given(numbers)
def test_sigmoid_keeps_its_digits_in_the_tail(z: float) -> None:
    assert math.log(float(sigmoid(z))) == pytest.approx(-float(softplus(-z)), rel=1e-14, abs=2e-16)


@given(st.floats(-1e6, 1e6))
def test_softplus_falls_by_z_at_minus_z(z: float) -> None:
    assert float(softplus(z) - softplus(-z)) == pytest.approx(z, rel=1e-15, abs=5e-16)


@given(st.floats(-700, 30))
def test_softplus_is_the_logarithm_that_it_says(z: float) -> None:
    assert float(softplus(z)) == pytest.approx(math.log1p(math.exp(z)), rel=1e-14, abs=0)


@given(st.floats(-1e6, 1e6))
def test_positive_part_and_step(z: float) -> None:
    assert float(positive(z)) == max(z, 0)
    assert float(step(z)) == (z > 0)


@every_precision
def test_exponential_is_held_only_where_it_would_overflow(dtype: type) -> None:
    edge = math.log(float(np.finfo(dtype).max)) - 1
    z = np.array([-5, 0, 1, edge - 1, edge + 0.9, 1e6], dtype=dtype)
    np.testing.assert_array_equal(exponential(z)[:4], np.exp(z[:4]))
    assert exponential(z)[4] == exponential(z)[5] == pytest.approx(np.finfo(dtype).max / np.e, rel=1e-4)


def test_exponential_loss_is_the_exponential() -> None:
    np.testing.assert_allclose(Exponential().value(GRID), np.exp(-GRID), rtol=1e-15)


matrices = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.floats(-1e3, 1e3), min_size=width, max_size=width), min_size=1, max_size=4)
)


@given(matrices, st.sampled_from([0, 1, -1]))
def test_log_sum_exp_is_scipys(rows: list[list[float]], axis: int) -> None:
    z = np.array(rows)
    np.testing.assert_allclose(log_sum_exp(z, axis=axis), logsumexp(z, axis=axis), rtol=1e-14, atol=1e-14)


def test_log_sum_exp_of_a_class_without_chance() -> None:
    z = np.array([[-np.inf, 0.0, 0.0], [-np.inf, 1e6, -1e6]])
    np.testing.assert_allclose(log_sum_exp(z), [math.log(2), 1e6], rtol=1e-15)


def test_log_sum_exp_of_array_api_arrays() -> None:
    z = np.array([[1.0, 2.0, 3.0], [-800.0, 0.0, 800.0]])
    found = log_sum_exp(array_api_strict.asarray(z))
    np.testing.assert_array_equal(np.from_dlpack(found), log_sum_exp(z))
