"""One row at a time: passes of the stochastic scan, each followed by a look at where they lead."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...data.frame import Frame
from ...losses.margin import MarginLoss
from ...losses.softmax import ClassLoss
from ...numerics.arrays import EPS, Floats
from ..certificates.separation import class_separates, separates
from ..coordinates import frame_of
from ..minimise import plan_of
from ..problem import (
    LBFGS,
    NEWTON,
    At,
    AtRandom,
    Bounds,
    Fit,
    NotFiniteError,
    Oscillation,
    OscillationWatch,
    Outcome,
    Problem,
    Progress,
)
from ..risk.evaluate import Evaluation
from ..solvers.descent import State
from .online import LearningRate, OnlineState, row_order, scan

DECAY = 0.75
"""The default schedule falls as the passes to this power."""


@dataclass(frozen=True)
class StochasticSettings:
    """The targets and costs of the rows, and how steps are taken."""

    target: Any
    """The probability of the second class, the index of the class, or a row of probabilities, for each row."""
    cost: Floats
    rate: Callable[[Any], Any] | None
    order: str
    averaging: bool


def stochastic_gradient(problem: Problem, settings: StochasticSettings) -> Fit:
    """Passes over the rows, one row a step, until the weights converge, go round in rings, or the passes are spent."""
    rows, many = problem.rows.gathered(), isinstance(problem.loss, ClassLoss)
    counted: Any = np.flatnonzero(rows.costs > 0) if rows.cost.size else len(rows)
    count = int(np.size(counted)) if rows.cost.size else len(rows)
    frame = frame_of(rows, problem.lifted, problem.seed)
    look, rng = (
        Evaluation(problem.loss, problem.rows, problem.penalty, problem.classes, frame),
        np.random.default_rng(problem.seed),
    )
    rate = settings.rate or default_rate(frame, count, rows.weight / count * steepness_at_zero(problem.loss))
    state = begin(problem)
    weights, intercept = reading(state, many, averaging=False)
    wobble, moved_by, done, move = OscillationWatch(np.append(weights, intercept)), "start", 0.0, math.inf
    while True:
        at = look(weights, intercept)
        if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
            raise NotFiniteError
        norm, passes = float(np.linalg.norm(at.gradient)), 2 * done + 1
        place = partial(_as_they_are, weights, intercept)
        yield Progress(place, at.value, norm, move if done else 0.0, passes, moved_by)
        parts = class_separates if many else separates
        falls = many or math.isinf(problem.loss.clear)  # type: ignore[union-attr]
        if falls and problem.penalty.idle and at.margin > 0 and parts(rows, weights, intercept):
            return _outcome("separated", problem, weights, intercept, at.value, passes)
        steady = done and _constant(rate) and not settings.averaging
        rings = wobble.add(at.value, np.append(weights, intercept)) if steady else None
        converged = move <= math.sqrt(problem.tol)
        if rings is not None or converged or done >= problem.max_passes:
            return _judge(problem, frame, weights, intercept, at.value, passes, rings, converged)
        part = min(1.0, problem.max_passes - done)
        order = row_order(settings.order, counted, rng)[: max(1, round(part * count))]
        state = scan(
            state, rows.block, settings.target, settings.cost, order, loss=problem.loss, rate=rate,
            l2=problem.penalty.strength / problem.loss.excess, fit_intercept=problem.lifted,
            averaging=settings.averaging,
        )  # fmt: skip
        done, moved_by, before = done + len(order) / count, "stochastic", (weights, intercept)
        weights, intercept = reading(state, many, averaging=settings.averaging)
        if not (np.isfinite(weights).all() and np.isfinite(intercept).all()):
            return _diverged(problem, *before, at.value, passes)
        move = _relative_move(weights, intercept, *before)
        if not math.isfinite(move):
            return _diverged(problem, *before, at.value, passes)


def steepness_at_zero(loss: MarginLoss | ClassLoss) -> float:
    """φ″(0) in units of the likelihood's; one for the losses whose steps the texts write down."""
    convex = isinstance(loss, MarginLoss) and loss.convex
    return 4 * float(loss.curvature(np.zeros(1))[0]) if convex else 1.0  # type: ignore[call-arg, arg-type]


def default_rate(frame: Frame, n: int, cost: float = 1.0) -> LearningRate:
    """η₀ = 1/(c̄ E‖(x, 1)‖²), a quarter of the inverse of a row's largest curvature, falling with the passes.

    A row's step is multiplied by its cost, so that the mean cost c̄ divides: the unit of the costs does not matter.
    """
    size = float(np.sum(frame.scale**2 + frame.center**2)) + frame.lifted
    return LearningRate(1 / max(size, EPS) / cost, power=DECAY, delay=float(n))


def begin(problem: Problem) -> OnlineState:
    """The start that was asked for; zero in place of least squares, which is no start for single rows."""
    d, many = problem.rows.shape[1], isinstance(problem.loss, ClassLoss)
    shape = (problem.classes if many else 1, d)
    start = problem.start
    if isinstance(start, At):
        weights, intercept = start
        return OnlineState(np.reshape(weights, shape).astype(float), np.reshape(intercept, shape[:1]).astype(float))
    if isinstance(start, AtRandom):
        return OnlineState(np.random.default_rng(problem.seed).standard_normal(shape) / d, np.zeros(shape[0]))
    return OnlineState(np.zeros(shape), np.zeros(shape[0]))


def reading(state: OnlineState, many: bool, *, averaging: bool) -> tuple[Floats, Any]:
    """The weights to be read off: the last, or the mean of all."""
    weights, intercept = state.averaged() if averaging else state.last()
    return (weights, intercept) if many else (weights[0], float(intercept[0]))


def _as_they_are(weights: Floats, intercept: Any) -> tuple[Floats, Any]:
    return weights, intercept


def _constant(rate: Any) -> bool:
    return isinstance(rate, LearningRate) and rate.power == 0


def _relative_move(weights: Floats, intercept: Any, old_weights: Floats, old_intercept: Any) -> float:
    new, old = np.append(weights, intercept), np.append(old_weights, old_intercept)
    with np.errstate(over="ignore", invalid="ignore"):
        return _ratio(new, old)


def _ratio(new: Floats, old: Floats) -> float:
    return float(np.linalg.norm(new - old)) / max(float(np.linalg.norm(new)), 1e-300)


def _judge(
    problem: Problem, frame: Frame, weights: Floats, intercept: Any, value: float, passes: float,
    rings: Oscillation | None, converged: bool,
) -> Outcome:  # fmt: skip
    """The certificate at the end: chance leads close to a minimum, and how close can still be proved."""
    method, start = LBFGS if problem.loss.convex else NEWTON, At(weights, intercept)
    literal = replace(problem, method=method, start=start, rate=1.0)  # so that no column is dropped
    plan = plan_of(literal, frame)
    at = plan.risk(plan.start)
    found, cost = plan.prove(State(plan.start, at, 0.0, 0.0, 0.0), plan.proof_share(), problem.tol * abs(at.value))
    proved = found is not None and found.gap <= problem.tol * abs(at.value)
    status = ("optimal" if found.only else "local") if proved and found is not None else "budget"
    d, dependence = weights.shape[-1], plan.dependence
    aliased = np.empty(0, np.intp) if dependence is None else dependence.aliased[dependence.aliased < d]
    ended = _outcome(status, problem, weights, intercept, value, passes + plan.passes + cost, found)
    return replace(ended, aliased=aliased, oscillation=rings, converged=converged)


def _diverged(problem: Problem, weights: Floats, intercept: Any, value: float, passes: float) -> Outcome:
    """The weights overflowed: the last ones that had not are kept."""
    ended = _outcome("budget", problem, weights, intercept, value, passes)
    return replace(ended, oscillation=Oscillation(math.inf, value, math.inf))


def _outcome(
    status: str, problem: Problem, weights: Floats, intercept: Any, value: float, passes: float,
    found: Bounds | None = None,
) -> Outcome:  # fmt: skip
    d = problem.rows.shape[1]
    return Outcome(
        status, weights, intercept, value, passes, found, np.empty(0, np.intp), np.zeros(d), False, True, False
    )
