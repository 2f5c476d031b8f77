"""Joint features: the descent, its end, and the best of several."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..losses.penalty import Penalty
from ..losses.softmax import ClassLoss, softmax
from ..numerics.arrays import Floats
from .certificates.joint import joint_bounds
from .minimise import Watch, watched
from .plans.plan import FULL, Plan
from .problem import NEWTON, Bounds, Outcome
from .problem import Fit as Descent
from .risk.joint import JointBasis, JointRisk, Sample
from .scan.joint_scan import separated_by
from .solvers.descent import State
from .solvers.newton import Newton, SaddleFree
from .starts import lowest_of


@dataclass(frozen=True, eq=False)
class JointProblem:
    """The mean loss of the rows plus the penalty, and how to go about it."""

    sample: Sample
    loss: ClassLoss
    penalty: Penalty
    free: tuple[int, ...]
    tol: float
    max_passes: float
    init: Floats
    seed: int = 0
    starts: int = 1
    rate: None = None
    """No fixed rate."""


class JointProgress(NamedTuple):
    """Where a fit stands after a pass."""

    theta: Floats
    value: float
    gradient_norm: float
    step: float
    passes: float
    negative_curvature: bool
    start: int


class JointMinimum(NamedTuple):
    """A minimum that was found."""

    value: float
    theta: Floats
    starts: int
    """How many starts led there."""


@dataclass(frozen=True, eq=False)
class JointOutcome:
    """Where a fit ended."""

    status: str
    theta: Floats
    value: float
    passes: float
    bounds: Bounds | None
    basis: JointBasis
    stalled: bool = False
    settled: bool = False
    """Whether the value has all but converged."""
    minima: tuple[JointMinimum, ...] = ()
    lower: tuple[int, float] = (0, 0.0)
    """How many starts ran off below the minimum that was kept, and how far down they came."""


Fit = Generator[JointProgress, None, JointOutcome]


def minimise_joint(problem: JointProblem) -> Fit:
    """The minimum of the likelihood; or the lowest of the minima of the squared error that its starts lead to."""
    basis = JointBasis.of(problem.sample, problem.penalty.strength, problem.free)
    risk = JointRisk.of(problem.loss, problem.sample, basis, problem.penalty.strength, problem.free)
    run = lowest_of(
        lambda number: _descent(JointPlan(problem, risk, number)), 1 if problem.loss.convex else problem.starts,
        lambda theta, _: basis.coordinates(theta),
    )  # fmt: skip
    while True:
        try:
            at = next(run)
        except StopIteration as end:
            outcome: Outcome = end.value
            break
        passes = basis.passes + at.passes
        yield JointProgress(
            at.place()[0], at.value, at.gradient_norm, at.step, passes, at.negative_curvature, at.start
        )  # fmt: skip
    return JointOutcome(
        outcome.status, outcome.weights, outcome.value, basis.passes + outcome.passes, outcome.bounds, basis,
        outcome.stalled, outcome.settled,
        tuple(JointMinimum(found.value, found.weights, found.starts) for found in outcome.minima), outcome.lower,
    )  # fmt: skip


def joint_loss(problem: JointProblem, theta: Floats) -> float:
    """Σᵢ (cᵢ/C) f(Eᵢθ; tᵢ)."""
    sample = problem.sample
    parts = (
        float(
            sample.share[rows] @ problem.loss.value(softmax((sample.differences(rows) @ theta).T, sample.target[rows]))
        )
        for rows in sample.features.runs()
    )
    return math.fsum(parts)


class JointPlan(Plan):
    """Newton's method on the coordinates of joint features."""

    problem: JointProblem
    method = NEWTON

    def __init__(self, problem: JointProblem, risk: JointRisk, number: int) -> None:
        self.problem, self.risk, convex = problem, risk, problem.loss.convex
        self.start = _start(problem, risk.basis, number)
        self.weights = self.start.size
        zero = risk(np.zeros_like(self.start)).value if problem.init.any() and convex else math.inf
        self.direction = Newton(FULL, zero) if convex else SaddleFree(FULL)

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        return self.risk.basis.theta(v), 0.0

    def separates(self, weights: Floats, intercept: float) -> bool:
        sample = self.problem.sample
        return sample.among is None and separated_by(sample.features, sample.own.astype(np.int64), weights)

    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        return joint_bounds(self.risk, state.v), 2.0

    def growth(self, change: Floats) -> Floats:
        return change


def _descent(plan: JointPlan) -> Descent:
    if plan.start.size:
        return (yield from watched(plan))
    at = State(plan.start, plan.risk(plan.start), 0.0, 0.0, 1.0)  # no class differs from another in any feature
    status = "optimal" if plan.problem.loss.convex else "local"
    return Watch(plan).end(status, at, joint_bounds(plan.risk, plan.start))


def _start(problem: JointProblem, basis: JointBasis, number: int) -> Floats:
    """Zero, or as asked; later ones at random, with scores of about ±2."""
    r = basis.kept.size
    if number == 0:
        return basis.coordinates(problem.init)
    K = problem.sample.features.shape[1]
    spread = 2 * math.sqrt((K - 1) / max(r, 1))
    return np.random.default_rng(problem.seed + number).standard_normal(r) * spread
