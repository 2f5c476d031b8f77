"""The directions of descent and the one loop that follows them."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.data import Rows
from separatrix.fitting.plans.margin import first_step, least_squares
from separatrix.fitting.risk.margin import Ask, Frame, Risk
from separatrix.fitting.solvers.descent import Direction, State, descend
from separatrix.fitting.solvers.lbfgs import PreconditionedLBFGS
from separatrix.fitting.solvers.newton import Gradient, Newton
from separatrix.losses import LogisticSquared, LogLikelihood, MarginLoss, Squared
from separatrix.losses.penalty import Ridge
from separatrix.numerics.functions import sigmoid
from separatrix.numerics.linalg import factor

PLAIN, FULL = Ask(), Ask(hessian=True)
DIRECTIONS: dict[str, Callable[[], Direction]] = {
    "Newton": lambda: Newton(FULL),
    "Gradient": lambda: Gradient(PLAIN),
    "Preconditioned": lambda: PreconditionedLBFGS(None, PLAIN, FULL, 2.0),
}
every_direction = pytest.mark.parametrize("direction", DIRECTIONS.values(), ids=DIRECTIONS.keys())
seeds = st.integers(0, 2**32 - 1)


def make_risk(seed: int = 0, *, n: int = 60, loss: MarginLoss | None = None, ridge: float = 0.01, lifted: bool = True):
    """A risk with noise enough that the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(X @ [1, -1, 0.5] + 1.5 * rng.standard_normal(n) > 0, 1, -1).astype(np.int8)
    frame = Frame(np.zeros(3), np.ones(3), lifted)
    penalty = Ridge(np.append(np.full(3, ridge), [0.0] * lifted))
    return Risk(loss or LogLikelihood(), Rows.of(X, y, np.empty(0)), frame, penalty, np.arange(frame.width))


def design(risk: Risk) -> np.ndarray:
    return risk.frame.coordinates(risk.rows.dense())


def quadratic(H: np.ndarray, minimum: np.ndarray) -> Callable[[np.ndarray, Any], SimpleNamespace]:
    """½(v − m)ᵀH(v − m)."""

    def f(v: np.ndarray, ask: Ask) -> SimpleNamespace:
        g = H @ (v - minimum)
        return SimpleNamespace(value=float((v - minimum) @ g) / 2, gradient=g, hessian=H if ask.hessian else None)

    return f


def recorded(f: Callable[..., Any], asked: list[Ask]) -> Callable[..., Any]:
    def g(v: np.ndarray, ask: Ask) -> Any:
        asked.append(ask)
        return f(v, ask)

    return g


def settled(states: Iterable[State], most: int = 2000) -> State:
    """The first state from which nothing is to be gained, which must be among the first so many."""
    found = next((state for state in islice(states, most) if state.decrement <= 1e-24 or state.stalled), None)
    assert found is not None
    return found


def solved(risk: Callable[..., Any], v: np.ndarray, direction: Direction) -> np.ndarray:
    return settled(descend(risk, v, direction)).v


def lengths(states: Iterator[State], minimum: np.ndarray, count: int) -> list[float]:
    return [float(np.linalg.norm(state.v - minimum)) for state in islice(states, count)]


H = np.array([[4.0, 1, 0], [1, 3, -1], [0, -1, 2]])
MINIMUM = np.array([1.0, -2, 3])


def test_newton_solves_a_quadratic_in_one_step() -> None:
    start, second = islice(descend(quadratic(H, MINIMUM), np.zeros(3), Newton(FULL)), 2)
    assert start.step == 0
    assert second.step == 1
    np.testing.assert_allclose(second.v, MINIMUM, rtol=1e-13)
    assert start.decrement == pytest.approx(2 * start.at.value, rel=1e-12)


@every_direction
def test_every_direction_solves_a_quadratic(direction: Callable[[], Direction]) -> None:
    np.testing.assert_allclose(solved(quadratic(H, MINIMUM), np.full(3, 50.0), direction()), MINIMUM, rtol=1e-11)


def test_newton_converges_quadratically() -> None:
    risk = make_risk()
    minimum = solved(risk, np.zeros(4), Newton(FULL))
    error = lengths(descend(risk, minimum + np.array([0.8, -0.8, 0.8, 0.8]), Newton(FULL)), minimum, 9)
    measurable = [(before, after) for before, after in pairwise(error) if after > 1e-13]
    assert len(measurable) >= 3
    assert all(after <= before**2 for before, after in measurable)
    assert error[-1] < 1e-13


def test_gradient_descent_does_not() -> None:
    risk = make_risk()
    minimum = solved(risk, np.zeros(4), Newton(FULL))
    error = lengths(descend(risk, minimum + 0.5, Gradient(PLAIN)), minimum, 6)
    assert error[-1] > 1e-6


def test_newtons_step_is_iteratively_reweighted_least_squares() -> None:
    """w + (XᵀP(I − P)X)⁻¹Xᵀ(y − p) is the least-squares fit of Xw + (y − p)/(p(1 − p)), weighted by p(1 − p)."""
    risk = make_risk(ridge=0.0)
    v = np.array([0.3, 0.2, -0.5, 0.1])
    _, after = islice(descend(risk, v, Newton(FULL)), 2)
    Z, y = design(risk), (risk.rows.y + 1) / 2
    p = sigmoid(Z @ v)
    weight = p * (1 - p)
    root = np.sqrt(weight)
    expected = np.linalg.lstsq(root[:, None] * Z, root * (Z @ v + (y - p) / weight), rcond=None)[0]
    assert after.step == 1
    np.testing.assert_allclose(after.v, expected, rtol=1e-10)


def assert_never_rises(states: Iterable[State]) -> None:
    """Values fall, but for the rounding of a sum."""
    values = [state.at.value for state in states]
    assert all(after <= before + 64 * np.finfo(float).eps * abs(before) for before, after in pairwise(values))


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")  # of a step without end
@every_direction
@given(seed=seeds, size=st.sampled_from([0.0, 1.0, 10.0, 1e3, 1e6]), convex=st.booleans(), ridge=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_the_value_never_rises(
    direction: Callable[[], Direction], seed: int, size: float, convex: bool, ridge: float
) -> None:
    risk = make_risk(seed, n=30, loss=LogLikelihood() if convex else LogisticSquared(), ridge=ridge)
    start = size * np.random.default_rng(seed).standard_normal(4)
    assert_never_rises(islice(descend(risk, start, direction()), 25))


@every_direction
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_every_direction_reaches_the_same_minimum(direction: Callable[[], Direction], seed: int) -> None:
    risk = make_risk(seed)
    expected = solved(risk, np.zeros(4), Newton(FULL))
    end = settled(descend(risk, 3 * np.random.default_rng(seed).standard_normal(4), direction()))
    assert end.at.value == pytest.approx(risk(expected, PLAIN).value, rel=1e-13)
    np.testing.assert_allclose(end.v, expected, atol=1e-8)


@every_direction
def test_a_descent_ends_where_no_weight_moves(direction: Callable[[], Direction]) -> None:
    *before, end = islice(descend(make_risk(), np.zeros(4), direction()), 300)
    assert end.stalled
    assert not any(state.stalled for state in before)
    assert np.linalg.norm(end.at.gradient) < 1e-7
    assert end.at.value == pytest.approx(min(state.at.value for state in before), rel=1e-14)


@every_direction
def test_a_descent_does_not_go_round_in_a_ring(direction: Callable[[], Direction]) -> None:
    for seed in range(30):
        start = 3 * np.random.default_rng(seed).standard_normal(4)
        *_, end = islice(descend(make_risk(seed), start, direction()), 200)
        assert end.stalled


@every_direction
def test_a_descent_from_a_bad_start_stalls_only_at_the_minimum(direction: Callable[[], Direction]) -> None:
    """From far out, where every curvature is nearly zero, Newton's step is far too long."""
    risk = make_risk()
    expected = risk(solved(risk, np.zeros(4), Newton(FULL)), PLAIN).value
    for seed in range(10):
        start = 1e3 * np.random.default_rng(seed).standard_normal(4)
        end = settled(descend(risk, start, direction()))
        assert end.at.value == pytest.approx(expected, rel=1e-9)


@every_direction
def test_a_descent_from_an_exact_minimum_stalls_at_once(direction: Callable[[], Direction]) -> None:
    first, second = descend(quadratic(H, np.zeros(3)), np.zeros(3), direction())
    assert (first.decrement, first.stalled) == (0, False)
    assert (second.decrement, second.stalled, second.passes) == (0, True, 1)


@every_direction
def test_passes_are_those_that_were_made(direction: Callable[[], Direction]) -> None:
    asked: list[Ask] = []
    for state in islice(descend(recorded(make_risk(), asked), np.full(4, 9.0), direction(), passes=2.5), 8):
        assert state.passes == 2.5 + len(asked)


def test_a_jet_that_is_known_is_not_asked_for_again() -> None:
    asked: list[Ask] = []
    risk, v = make_risk(), np.ones(4)
    state = next(descend(recorded(risk, asked), v, Newton(FULL), passes=1, at=risk(v, FULL)))
    assert (state.passes, asked) == (1, [])


def barrier(v: np.ndarray, ask: Ask) -> SimpleNamespace:
    """v − log v, which has no value at or below zero."""
    x = float(v[0])
    if x <= 0:
        return SimpleNamespace(value=np.nan, gradient=np.full(1, np.nan), hessian=np.full((1, 1), np.nan))
    return SimpleNamespace(value=x - np.log(x), gradient=np.array([1 - 1 / x]), hessian=np.array([[1 / x**2]]))


@pytest.mark.parametrize("direction", [Newton(FULL), Gradient(PLAIN)], ids=["Newton", "Gradient"])
@pytest.mark.parametrize("start", [1e-3, 30.0])
def test_a_step_beyond_what_is_finite_is_shortened(direction: Direction, start: float) -> None:
    states = list(islice(descend(barrier, np.array([start]), direction), 60))
    assert_never_rises(states)
    np.testing.assert_allclose(states[-1].v, 1, rtol=1e-6)


def test_a_descent_where_nothing_is_finite_stalls() -> None:
    states = list(islice(descend(barrier, np.array([-1.0]), Gradient(PLAIN)), 3))
    assert [state.stalled for state in states] == [False, True]


STRETCHED = np.diag(np.logspace(0, 6, 40))


def steered(
    hessian: np.ndarray, steering: np.ndarray, cost: float
) -> tuple[list[Ask], PreconditionedLBFGS, np.ndarray]:
    """What a descent to the minimum at (1, …, 1) asked for, its direction, and where it ended."""
    asked: list[Ask] = []
    direction = PreconditionedLBFGS(factor(steering), PLAIN, FULL, cost)
    direction.target = 1e-12
    states = descend(recorded(quadratic(hessian, np.ones(len(hessian))), asked), np.zeros(len(hessian)), direction)
    state = next(state for state in islice(states, 500) if state.decrement <= direction.target)
    return asked, direction, state.v


def test_a_good_factor_is_enough() -> None:
    """Steered by half of the Hessian all over, no pass asks for one."""
    asked, _, end = steered(STRETCHED, STRETCHED / 2, 1.0)
    np.testing.assert_allclose(end, 1, atol=1e-5)
    assert FULL not in asked
    assert len(asked) <= 8


def test_a_hessian_is_asked_for_when_progress_is_slow() -> None:
    asked, direction, end = steered(STRETCHED, np.eye(40), 1.0)
    np.testing.assert_allclose(end, 1, atol=1e-5)
    assert asked[0] == PLAIN
    assert FULL in asked
    assert len(asked) <= 30
    np.testing.assert_allclose(direction.factor.solve(np.ones(40)), 1 / np.diag(STRETCHED), rtol=1e-12)


def test_a_hessian_is_asked_for_later_where_it_costs_more() -> None:
    poor = np.diag(np.diag(STRETCHED) ** 0.8)
    cheap, dear = (steered(STRETCHED, poor, cost)[0] for cost in (1.0, 40.0))
    assert cheap.index(FULL) < [*dear, FULL].index(FULL)


def test_without_a_factor_the_first_pass_brings_a_hessian() -> None:
    asked: list[Ask] = []
    next(descend(recorded(make_risk(), asked), np.zeros(4), PreconditionedLBFGS(None, PLAIN, FULL, 1.0)))
    assert asked == [FULL]


@pytest.mark.parametrize("lifted", [True, False])
def test_least_squares_start_is_the_fit_to_zeros_and_ones(lifted: bool) -> None:
    risk = make_risk(n=80, loss=Squared(), ridge=0.0, lifted=lifted)
    found = least_squares(risk(np.zeros(risk.frame.width), FULL), lifted=lifted)
    target = (risk.rows.y + 1) / 2 if lifted else risk.rows.y / 2
    np.testing.assert_allclose(found, np.linalg.lstsq(design(risk), target, rcond=None)[0], rtol=1e-11)


@pytest.mark.parametrize("lifted", [True, False])
def test_the_start_on_the_scale_of_log_odds_is_newtons_first_step_from_zero(lifted: bool) -> None:
    squared = make_risk(n=80, loss=Squared(), ridge=0.0, lifted=lifted)
    zero = np.zeros(squared.frame.width)
    start = first_step(LogLikelihood(), least_squares(squared(zero, FULL), lifted=lifted), lifted=lifted)
    _, after = islice(descend(make_risk(n=80, ridge=0.0, lifted=lifted), zero, Newton(FULL)), 2)
    assert after.step == 1
    np.testing.assert_allclose(start, after.v, rtol=1e-11)
