"""The scan of a perceptron on joint features, and what its weights make of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numba import types

from ...data.maps.joint_rows import Features
from ...numerics.arrays import EPS, Floats, Integers
from ...numerics.jit import kernel, read, write
from ...results.mistake_log import MistakeLog
from .perceptron import TIES, NotFiniteScoreError
from .run import Passes
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
    """The training rows, the update rule, and the passes."""

    features: Features
    target: Integers
    theta: Floats
    """Where it starts."""
    rate: float
    ties: str
    passes: Passes

    @property
    def unit(self) -> float:
        """η where the start is zero: then the scan counts in steps of η, and η changes no mistake, to the last bit."""
        return 1.0 if self.theta.any() else self.rate

    def begin(self, *, averaged: bool) -> JointScan:
        """The scan at the start."""
        return JointScan(self, averaged=averaged)

    def tally(self, theta: Floats) -> Tally:
        """Mistakes and separation; the margin in units of ‖θ‖."""
        return joint_tally(self.features, self.target, theta)

    def leads_and_reach(self, u: Floats) -> tuple[Floats, float]:
        """The least lead of each row under u, and the largest ‖Φ(x, y) − Φ(x, c)‖."""
        leads, reach = [], 0.0
        for rows in self.features.runs():
            F, own = self.features[rows], self.target[rows][:, None]
            apart = np.take_along_axis(F, own[:, :, None], 1) - F
            lead = apart @ u
            np.put_along_axis(lead, own, math.inf, 1)
            leads.append(lead.min(axis=1))
            reach = max(reach, float(np.linalg.norm(apart, axis=2).max(initial=0.0)))
        return np.concatenate(leads), reach


class JointScan:
    """Where a run stands: the state, and the mistakes of the last stretch."""

    def __init__(self, course: JointCourse, *, averaged: bool) -> None:
        self.course, self.averaged, self.log = course, averaged, MistakeLog.empty()
        self.state = JointState(course.theta / course.unit, np.zeros_like(course.theta))

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.course.features)

    @property
    def steps(self) -> int:
        """Rows looked at so far."""
        return self.state.steps

    @property
    def mistakes(self) -> int:
        """So far."""
        return self.state.mistakes

    @property
    def idle(self) -> int:
        """For how many steps θ has not changed."""
        return self.state.run

    @property
    def theta(self) -> Floats:
        """The last weights."""
        return self.course.unit * self.state.theta

    @property
    def read(self) -> Floats:
        """The weights as they are read: the last, or the mean of all."""
        return self.course.unit * self.state.mean if self.averaged else self.theta

    def turns(self, order: Integers, room: int) -> Iterator[None]:
        """Look at these rows in turn, at most `room` mistakes in a stretch."""
        while order.size:
            before = self.state.steps
            self.state, self.log = scan(self.course, self.state, order, room)
            order = order[self.state.steps - before :]
            yield

    def end(self, *, clean: bool) -> None:
        """Nothing is left to be done."""


def scan(course: JointCourse, state: JointState, order: Integers, room: int) -> tuple[JointState, MistakeLog]:
    """Wherever another class is as strong as y: θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), until the order or the room ends."""
    theta, early = state.theta.copy(), state.early.copy()
    log, at, rival = (np.empty(min(room, order.size), np.int64) for _ in range(3))
    made, done, streak = 0, 0, state.run
    for F, part, names in _readable(course.features, order):
        here = course.target if names is None else course.target[names]
        gone, new, streak = joint_kernel()(
            F, part, here, course.rate / course.unit, TIES[course.ties], course.passes.patience, theta, early,
            state.steps + done, streak, log[made:], at[made:], rival[made:],
        )  # fmt: skip
        if streak < 0:
            raise NotFiniteScoreError
        if names is not None:
            log[made : made + new] = names[log[made : made + new]]
        made, done = made + new, done + gone
        if gone < part.size or streak >= course.passes.patience:
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


# The compiled perceptron on joint features: look at a row, and where another class is as strong, move and log it.
#
# It ends as the scans of `perceptron_kernels` do, and its ties are theirs.


def joint_scan(F, rows, target, eta, tied, patience, theta, early, first, run, log, at, rival):  # type: ignore[no-untyped-def]
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), ŷ the strongest class other than y, where it is as strong as y.  [004 §4.5]

    `early` grows by η(step + 1)(Φ(x, y) − Φ(x, ŷ)): what the mean of all θ lacks.
    """
    made = 0
    for n in range(rows.size):
        i = rows[n]
        y = target[i]
        own, best, other = 0.0, -np.inf, -1
        for j in range(theta.size):
            own += theta[j] * F[i, y, j]
        for k in range(F.shape[1]):
            if k != y:
                s = 0.0
                for j in range(theta.size):
                    s += theta[j] * F[i, k, j]
                # of equals the first; where the tie is for the later class, the last
                if s > best or other < 0 or (s == best and tied[0] and not tied[1]):
                    best, other = s, k
        m = own - best
        if not (m > -np.inf and m < np.inf):
            return n, made, -1
        # tied[1]: a tie with a class before y is a mistake; tied[0]: with a class after it
        if m > 0 or (m == 0 and not (tied[1] if other < y else tied[0])):
            run += 1
            if run >= patience:
                return n + 1, made, run
            continue
        if made == log.size:
            return n, made, run
        log[made], at[made], rival[made], run = i, first + n, other, 0
        made += 1
        late = first + n + 1.0
        for j in range(theta.size):
            step = eta * (F[i, y, j] - F[i, other, j])
            theta[j] += step
            early[j] += late * step
    return rows.size, made, run


@kernel()
def joint_kernel() -> Any:
    """The compiled scan."""
    i, ties, log = types.int64, types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(i, 3)(
        read("float64", 3), read("int64"), read("int64"), types.float64, ties, i, write(), write(), i, i, log, log, log
    )
    return joint_scan, signature
