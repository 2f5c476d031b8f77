"""A likelihood of two classes whose Gram matrix is known: Newton's steps are steered by few rows, those that bend most.

The curvature of a likelihood comes from the rows near the boundary. Drawn with chances in proportion to their
curvature, some rows of each weight stand for the Hessian of them all well enough to steer by, at a fraction of its
price; the diagonal is that of all rows, so that a column that is rare in the sample is not taken for a flat one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data import Rows
from ...data.frame import Frame
from ...losses.margin import MarginLoss
from ...numerics.arrays import Floats
from ...numerics.linalg import Dependence, Factor, factor, shifted, steady_factor
from ..coordinates import CLEAR, dependence_by_products, dependence_of
from ..plans.margin import MarginPlan
from ..plans.plan import PLAIN, STEER, FramedPlan
from ..problem import Outcome, Problem, Progress
from ..risk.margin import Ask, Jet, Risk
from ..solvers.descent import descend
from ..solvers.lbfgs import PreconditionedLBFGS
from ..watch import Watch
from .shared import BLOCK

PLENTY = 32
"""Rows for each weight from which on a pass is dear beside a Hessian of a sample."""
FEW_ROWS = 4
"""Rows of a sample for each weight, where a pass is cheap (benchmarks/reductions.py)."""
MANY_ROWS = 6
"""Rows of a sample for each weight, where a pass is dear."""
FEWEST = 1024
"""Rows of a sample at the least."""
MOST_COLUMNS = 2000
"""The most columns."""
LEAST_ROWS = 4
"""The fewest rows for each column."""


def is_steerable(rows: int, columns: int) -> bool:
    """Whether there are rows enough for a sample to be less than all of them, and no more columns than fit a matrix."""
    return columns <= MOST_COLUMNS and rows >= LEAST_ROWS * columns


class Rank(NamedTuple):
    """Which columns are combinations of others, None if no column is; and whether that is settled."""

    dependence: Dependence | None
    settled: bool = True


def rank_told(gram: Floats) -> Rank:
    """What the mean products of the columns tell of their rank at once: that it is full, or nothing."""
    made = factor(gram)
    return Rank(None, settled=made is not None and made.weakest > CLEAR)


def rank_of(rows: Rows, frame: Frame, gram: Floats, *, needed: bool) -> Rank:
    """The rank of the columns, their mean products being known.

    Where these do not tell, a QR of all rows does, at the price of a whole fit: it is made only if the fit depends on
    the rank, which with a penalty it does not.
    """
    told = rank_told(gram)
    if told.settled:
        return told
    found = dependence_of(rows, frame, gram) if needed else dependence_by_products(rows, frame, gram)
    if found is None:
        return Rank(None, settled=False)
    return Rank(found if found.aliased.size else None)


def steered_minimum(
    problem: Problem, frame: Frame, gram: Floats, rank: Rank
) -> tuple[Outcome, list[tuple[Progress, float]]] | None:
    """The outcome, and each step with its seconds; None where columns are so nearly dependent that this is no way."""
    began = time.perf_counter()
    plan = SampledPlan(problem, frame, gram, rank.dependence)
    plan.ranked = rank.settled
    bent = factor(shifted(2 * gram, 8 * plan.ridge))
    if bent is None or not bent.weakest > CLEAR:
        return None
    watch, steps = Watch(plan), []
    at = plan.risk(plan.start, PLAIN)
    for state in descend(plan.risk, plan.start, plan.direction, passes=plan.passes + 1, at=at):
        steps.append((watch.progress(state), time.perf_counter() - began))
        outcome = watch.judge(state)
        if outcome is not None:
            return outcome, steps
    raise AssertionError("a descent ends with a stalled state, and that is always an outcome")


@dataclass(frozen=True)
class SampledRisk(Risk):
    """A risk whose Hessian, asked for to steer by, is the curvature of each row: what to make of it is left open."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        if not ask.steering:
            return super().__call__(v, ask)
        from ...data.compiled.passes import pass_kernel
        from ...data.compiled.readers import layout, readable

        rows, frame, d = self.rows, self.frame, self.frame.center.size
        order, curvature = layout(rows.X), np.empty(len(rows))
        kernel = pass_kernel(self.loss, rows.X.dtype.name, order)
        w, b = v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0

        def run(part: Any, lo: int, hi: int) -> Jet:
            gradient = np.zeros(d)
            value, pulls, margin = kernel(
                readable(part.X), part.y, part.cost, lo, hi, order in ("F", "A"), frame.center, w, b, gradient,
                curvature[lo:hi],
            )  # fmt: skip
            return Jet(value, np.append(gradient / frame.scale, [pulls] * frame.lifted), None, margin)

        total, penalty = rows.fold(run), self.ridge * v
        value = total.value / rows.weight + float(penalty @ v) / 2
        return Jet(value, total.gradient / rows.weight + penalty, curvature, total.margin)


def drawn(curvature: Floats, size: int) -> tuple[Any, Floats]:
    """About `size` rows with chances in proportion to their curvature, spread evenly; one over the chance of each."""
    chance = np.minimum(1.0, curvature * (size / max(float(curvature.sum()), 1e-300)))
    steps = np.floor(np.cumsum(chance) + 0.5)
    rows = np.flatnonzero(np.diff(steps, prepend=0.0) > 0)
    return rows, 1 / chance[rows]


class SampledPlan(MarginPlan):
    """L-BFGS from zero upon the Gram matrix first, then upon the Hessians of samples."""

    def __init__(self, problem: Problem, frame: Frame, gram: Floats, dependence: Dependence | None) -> None:
        FramedPlan.__init__(self, problem, frame)
        assert isinstance(problem.loss, MarginLoss)
        self.solver, self.dependence = "lbfgs", dependence
        self.risk = SampledRisk(problem.loss, problem.rows, frame, self.ridge, self.active)
        self.start = np.zeros(frame.width)
        at_zero = gram / 4
        at_zero[np.diag_indices_from(at_zero)] += self.ridge
        self.gram = steady_factor(at_zero)
        each = MANY_ROWS if len(problem.rows) >= PLENTY * frame.width else FEW_ROWS
        size = max(FEWEST, each * frame.width)
        cost = size / len(problem.rows) * frame.width / 15
        self.size = size
        self.direction = PreconditionedLBFGS(self.gram, PLAIN, STEER, cost, self._factorised)

    def proof_share(self) -> float:
        """One row for each weight will do where a penalty bends what they leave flat."""
        few = min(1.0, self.weights / len(self.problem.rows))
        return few if self.problem.l2 else super().proof_share()

    def caution(self, share: float) -> float:
        """A proof is dear beside a pass: better be sure."""
        return max(share, 0.03) / 4 if self.problem.l2 else super().caution(share)

    def _factorised(self, curvature: Floats) -> Factor:
        """The factor of the Hessian of a sample, its diagonal that of all rows."""
        from ...data.compiled.passes import root_kernel
        from ...data.compiled.readers import layout

        rows, frame = self.problem.rows, self.frame
        picked, inverse = drawn(curvature, self.size)
        weight, total = curvature[picked] / rows.weight * inverse, np.zeros((frame.width, frame.width))
        X, A = np.empty((BLOCK, rows.X.shape[1]), rows.X.dtype), np.empty((BLOCK, frame.width), np.float32)
        kernel = root_kernel(X.dtype.name, layout(X), "float32")
        for lo in range(0, len(picked), BLOCK):
            hi = min(lo + BLOCK, len(picked))
            block = A[: hi - lo]
            np.take(rows.X, picked[lo:hi], axis=0, out=X[: hi - lo], mode="clip")
            kernel(X, 0, hi - lo, frame.center, 1 / frame.scale, weight[lo:hi], block)
            total += block.T @ block
        diagonal = np.diag_indices_from(total)
        total[diagonal] = np.maximum(total[diagonal], self._diagonal(curvature)) + self.ridge
        return steady_factor(total)

    def _diagonal(self, curvature: Floats) -> Floats:
        """Hⱼⱼ of all rows, without the penalty."""
        from ...data.compiled.columns import squares_kernel

        rows, frame, d = self.problem.rows, self.frame, self.frame.center.size

        def run(part: Any, lo: int, hi: int) -> Floats:
            sums = np.zeros(d)
            squares_kernel(part.X.dtype.name)(part.X, lo, hi, frame.center, curvature, sums)
            return sums

        own = rows.fold(run) / frame.scale**2
        return np.append(own, [curvature.sum()] * frame.lifted) / rows.weight
