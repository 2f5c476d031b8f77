"""Joint features: the descent, its end, and the best of several."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..losses.softmax import ClassLoss, softmax
from ..numerics.arrays import Floats
from .certificates.joint import joint_bounds
from .problem import Bounds, NotFiniteError
from .risk.joint import JointBasis, JointRisk, Sample
from .risk.margin import Ask
from .scan.joint_scan import separated_by
from .solvers.descent import State, descend
from .solvers.newton import Newton, SaddleFree
from .watch import CLEAR_MARGIN, HAIRLINE_STEPS, HOPELESS, NOTHING

FULL = Ask(hessian=True)
SAME_VALUE, SAME_WEIGHTS = 1e-6, 1e-3
READY = 0.5
"""The part of the gap asked for that must be in sight before a proof is tried."""


@dataclass(frozen=True, eq=False)
class JointProblem:
    """The mean loss of the rows plus (l2/2)‖θ‖², and how to go about it."""

    sample: Sample
    loss: ClassLoss
    l2: float
    free: tuple[int, ...]
    tol: float
    max_passes: float
    init: Floats
    seed: int = 0
    starts: int = 1
    limited: bool = False
    """Whether it is what a limit leaves of a likelihood: then it is not asked whether θ separates the rows."""


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
    try:
        basis = JointBasis.of(problem.sample, problem.l2, problem.free)
    except OverflowError:
        raise NotFiniteError from None
    risk = JointRisk.of(problem.loss, problem.sample, basis, problem.l2, problem.free)
    outcomes: list[JointOutcome] = []
    passes = basis.passes
    for number in range(1 if problem.loss.convex else problem.starts):
        outcome = yield from _descent(problem, risk, _start(problem, basis, number), number, passes)
        outcomes.append(outcome)
        passes = outcome.passes
        if outcome.status == "separated":
            break
    ended = [o for o in outcomes if o.status != "budget"] or outcomes
    best = min(ended, key=lambda o: (o.status != "separated", o.value))
    below = [o.value for o in outcomes if o.status == "budget" and o.value < best.value * (1 - SAME_VALUE)]
    lower = (len(below), min(below)) if below and best.status == "local" else (0, 0.0)
    return replace(best, passes=passes, minima=_distinct(outcomes), lower=lower)


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


def _start(problem: JointProblem, basis: JointBasis, number: int) -> Floats:
    """Zero, or as asked; later ones at random, with scores of about ±2."""
    r = basis.kept.size
    if number == 0:
        return basis.coordinates(problem.init)
    K = problem.sample.features.shape[1]
    spread = 2 * math.sqrt((K - 1) / max(r, 1))
    return np.random.default_rng(problem.seed + number).standard_normal(r) * spread


def _descent(problem: JointProblem, risk: JointRisk, v: Floats, number: int, before: float) -> Fit:
    zero = risk(np.zeros_like(v)).value if problem.init.any() and risk.loss.convex else math.inf
    direction = Newton(FULL, zero) if risk.loss.convex else SaddleFree(FULL)
    watch = Watch(problem, risk, before)
    if not v.size:  # no class differs from another in any feature
        return watch.end(
            "optimal" if risk.loss.convex else "local", State(v, risk(v), 0.0, 0.0, 1.0), joint_bounds(risk, v)
        )
    for state in descend(risk, v, direction):
        if not (math.isfinite(state.at.value) and np.isfinite(state.at.gradient).all()):
            raise NotFiniteError
        yield JointProgress(
            risk.basis.theta(state.v), state.at.value, float(np.linalg.norm(state.at.gradient)), state.step,
            before + state.passes + watch.proofs, state.negative, number,
        )  # fmt: skip
        outcome = watch.judge(state)
        if outcome is not None:
            return outcome
    raise AssertionError("a descent ends with a state that has stalled")


class Watch:
    """Reads the states of a descent."""

    def __init__(self, problem: JointProblem, risk: JointRisk, before: float) -> None:
        self.problem, self.risk, self.before = problem, risk, before
        self.proofs, self.attempt_below, self.hairline = 0.0, math.inf, 0

    def judge(self, state: State) -> JointOutcome | None:
        """The outcome, if this state is one."""
        problem = self.problem
        over = state.stalled or state.passes + self.proofs >= problem.max_passes
        if problem.l2 == 0 and not problem.limited and state.at.margin > 0 and self._separates(state):
            self.hairline += 1
            if state.at.margin >= CLEAR_MARGIN or self.hairline > HAIRLINE_STEPS or over:
                return self.end("separated", state, None)
            return None
        goal, in_sight = problem.tol * max(abs(state.at.value), NOTHING), state.decrement / 2
        if not over and in_sight > min(READY * goal, self.attempt_below):
            return None
        found = joint_bounds(self.risk, state.v)
        self.proofs += 2
        if found is not None and found.gap <= goal:
            return self.end("optimal" if found.only else "local", state, found)
        hopeless = problem.loss.convex and in_sight < HOPELESS * goal
        if over or hopeless:
            return self.end("budget", replace(state, stalled=state.stalled or hopeless), found, in_sight <= goal)
        self.attempt_below = in_sight / 4 if found is None else in_sight / 2 * goal / found.gap
        return None

    def _separates(self, state: State) -> bool:
        sample = self.problem.sample
        return separated_by(sample.features, sample.own.astype(np.int64), self.risk.basis.theta(state.v))

    def end(self, status: str, state: State, found: Bounds | None, settled: bool = True) -> JointOutcome:
        """Where it ended."""
        passes = self.before + state.passes + self.proofs
        return JointOutcome(
            status,
            self.risk.basis.theta(state.v),
            state.at.value,
            passes,
            found,
            self.risk.basis,
            state.stalled,
            settled,
        )


def _distinct(outcomes: list[JointOutcome]) -> tuple[JointMinimum, ...]:
    """The different minima, lowest first, each with the number of starts that led there."""
    found: list[JointMinimum] = []
    for outcome in sorted((o for o in outcomes if o.status == "local"), key=lambda o: o.value):
        v = outcome.basis.coordinates(outcome.theta)
        for i, known in enumerate(found):
            other = outcome.basis.coordinates(known.theta)
            near = abs(known.value - outcome.value) <= SAME_VALUE * max(abs(known.value), 1e-300)
            if near and np.linalg.norm(v - other) <= SAME_WEIGHTS * max(float(np.linalg.norm(v)), 1e-300):
                found[i] = known._replace(starts=known.starts + 1)
                break
        else:
            found.append(JointMinimum(outcome.value, outcome.theta, 1))
    return tuple(found)
