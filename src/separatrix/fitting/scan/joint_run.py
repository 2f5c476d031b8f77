"""A perceptron's run on joint features, and what its weights make of the rows."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...data.maps.joint_rows import Features
from ...numerics.arrays import Floats, Integers
from ...numerics.linalg import EPS
from ...results.mistake_log import MistakeLog
from .online import row_order
from .perceptron import FOREVER, TIES, NotFiniteScoreError
from .run import ORDERS
from .tally import Tally


@dataclass(frozen=True, eq=False)
class JointState:
    """θ after a number of steps."""

    theta: Floats
    early: Floats
    """Σₗ η(sₗ + 1)(Φ(xₗ, yₗ) − Φ(xₗ, ŷₗ)), sₗ the steps of the mistakes."""
    steps: int = 0
    run: int = 0
    """How many rows were right since the last mistake."""
    mistakes: int = 0

    @property
    def mean(self) -> Floats:
        """θ̄ = (1/(T + 1)) Σₜ θₜ, over the weights before each of T steps and after the last."""
        return self.theta - self.early / (self.steps + 1)


@dataclass(frozen=True, eq=False)
class JointCourse:
    """The rows, in which order, for how long."""

    features: Features
    target: Integers
    start: Floats
    rate: float
    ties: str
    order: str
    seed: int
    max_passes: float
    patience: int = FOREVER

    @property
    def unit(self) -> float:
        """η where the start is zero: then the scan counts in steps of η, and η changes no mistake, to the last bit."""
        return 1.0 if self.start.any() else self.rate

    @property
    def steps(self) -> int:
        """How many there are at the most."""
        return min(FOREVER, max(1, round(self.max_passes * len(self.features))))


class JointStretch(NamedTuple):
    """A part of a run that the scan did in one go."""

    state: JointState
    log: MistakeLog
    passes: float
    pass_number: int
    mistakes: int
    """In this pass so far."""


def run(course: JointCourse, room: int) -> Generator[JointStretch, None, str]:
    """Stretch after stretch, at most `room` mistakes in each; returns why it ended: clean, patience or spent."""
    n, rng, how = len(course.features), np.random.default_rng(course.seed), ORDERS[course.order]
    state, number = JointState(course.start / course.unit, np.zeros_like(course.start)), 0
    while state.steps < course.steps:
        number += 1
        before, order = state.mistakes, row_order(how.kind, n, rng)[: course.steps - state.steps]
        while order.size:
            after, log = scan(course, state, order, room)
            order, state = order[after.steps - state.steps :], after
            yield JointStretch(state, log, state.steps / n, number, state.mistakes - before)
            if state.run >= course.patience:
                return "patience"
        if state.mistakes == before and state.steps >= number * n and how.whole:
            return "clean"
    return "spent"


def scan(course: JointCourse, state: JointState, order: Integers, room: int) -> tuple[JointState, MistakeLog]:
    """Wherever another class is as strong as y: θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), until the order or the room ends."""
    from .joint_kernels import joint_kernel

    theta, early = state.theta.copy(), state.early.copy()
    log, at, rival = (np.empty(min(room, order.size), np.int64) for _ in range(3))
    made, done, streak = 0, 0, state.run
    for F, part, names in _readable(course.features, order):
        here = course.target if names is None else course.target[names]
        gone, new, streak = joint_kernel()(
            F, part, here, course.rate / course.unit, TIES[course.ties], course.patience, theta, early,
            state.steps + done, streak, log[made:], at[made:], rival[made:],
        )  # fmt: skip
        if streak < 0:
            raise NotFiniteScoreError
        if names is not None:
            log[made : made + new] = names[log[made : made + new]]
        made, done = made + new, done + gone
        if gone < part.size or streak >= course.patience:
            break
    after = JointState(theta, early, state.steps + done, streak, state.mistakes + made)
    rows = log[:made]
    return after, MistakeLog(rows, at[:made], course.target[rows], rival[:made], after.steps)


def _readable(features: Features, order: Integers) -> Iterator[tuple[Floats, Integers, Integers | None]]:
    """Φ as the compiled scan takes it, with the order; what is not kept is asked for in the order of its turns."""
    if features.kept is not None:
        yield features.kept, order, None
        return
    for block in replace(features, X=np.empty((order.size, 0))).runs():
        names = order[block]
        yield np.ascontiguousarray(features[names]), np.arange(names.size), names


def joint_tally(features: Features, target: Integers, theta: Floats) -> Tally:
    """Mistakes, separation and margin of θ; the margin is the least θ·(Φ(x, y) − Φ(x, c))/‖θ‖."""
    length = float(np.linalg.norm(theta))
    mistakes, separated, least, finite = 0, length > 0, math.inf, True
    for rows in features.runs():
        F, own = features[rows], target[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            s = F @ theta
        finite = finite and bool(np.isfinite(s).all())
        mistakes += int(np.count_nonzero(s.argmax(axis=1) != own))
        lead = s[np.arange(len(own)), own][:, None] - s
        np.put_along_axis(lead, own[:, None], math.inf, 1)
        least = min(least, float(lead.min(initial=math.inf)))
        if separated:
            separated = bool((lead > 0).all()) and _surely(F, own, theta, lead)
    return Tally(mistakes, separated and finite, least / length if length else -math.inf, finite)


def _surely(F: Floats, own: Integers, theta: Floats, lead: Floats) -> bool:
    """Whether leads that are positive as computed are so in exact arithmetic."""
    size = (np.abs(F) @ np.abs(theta)).max(axis=1, keepdims=True)
    unsure = np.argwhere(~(lead > 2 * (theta.size + 4) * EPS * size))
    return all(leads_exactly(F[i, own[i]], F[i, k], theta) for i, k in unsure)


def leads_exactly(mine: Floats, its: Floats, theta: Floats) -> bool:
    """Whether θ·(Φ(x, y) − Φ(x, c)) > 0, in fractions."""
    total = Fraction(0)
    for a, b, weight in zip(mine.tolist(), its.tolist(), theta.tolist(), strict=True):
        total += (Fraction(a) - Fraction(b)) * Fraction(weight)
    return total > 0


def separated_by(features: Features, target: Integers, theta: Floats) -> bool:
    """Whether θ gives every row's own class a strictly higher score than any other."""
    return joint_tally(features, target, theta).separated
