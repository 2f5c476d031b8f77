"""The minimum of one small likelihood of two classes in a single compiled call, with the proof that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.frame import Frame
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor
from ..certificates.proof import TOO_SURE, conclusion, margin_rounding
from ..coordinates import CLEAR, WeightMap
from ..problem import Outcome, Problem
from ..watch import NOTHING

MOST_COLUMNS = 64
"""The widest rows of which a fit makes a copy of its own."""
MOST_NUMBERS = 1 << 22
"""The most numbers of which it makes one."""
STEPS = 60
"""The most steps."""
SURELY = 100.0
"""By how much the rank must be clearer than clear: what is nearer to the edge is left to a fit that looks closer."""
FARTHEST = 1e6
"""How many deviations zero may be from the rows: beyond, an intercept in the user's units costs more than the gap."""


def is_small(rows: int, columns: int) -> bool:
    """Whether so many rows of so many columns are few enough, and no fewer than the weights."""
    return columns <= MOST_COLUMNS and rows * (columns + 1) <= MOST_NUMBERS and rows > columns + 1


@dataclass(frozen=True)
class SmallFit:
    """Where the compiled call ended."""

    frame: Frame
    Z: Floats
    """The rows in the frame, column by column."""
    v: Floats
    gradient: Floats
    hessian: Floats
    """Of all rows but those too sure to matter."""
    radius: float
    """The largest ‖z‖² of those rows."""
    value: float
    passes: float
    steps: Floats
    """For each step on all rows its passes, value, slope and length."""

    @classmethod
    def of(cls, problem: Problem) -> SmallFit | None:
        """None where columns are nearly dependent, classes separated, numbers not finite, or steps too many."""
        from .small_kernel import fit_kernel

        rows, lifted = problem.rows, problem.lifted
        X, sign, cost = rows.X, rows.y, rows.cost
        if cost.size and not cost.all():
            counting = np.flatnonzero(cost)
            X, sign, cost = X[counting], sign[counting], cost[counting]
        X = np.ascontiguousarray(X, dtype=np.float64)
        n, d = X.shape
        p = d + lifted
        center, scale, square, v, g = np.empty(d), np.empty(d), np.empty(n), np.zeros(p), np.empty(p)
        Z, H, history = np.empty((p, n)), np.empty((p, p)), np.empty((STEPS, 4))
        settled, steps, value, passes, radius = fit_kernel()(
            X, sign, cost, problem.l2, lifted, problem.tol, SURELY * CLEAR, TOO_SURE, problem.max_passes - 1,
            center, scale, Z, square, v, g, H, history,
        )  # fmt: skip
        if not settled:
            return None
        return cls(Frame(center, scale, lifted), Z, v, g, H, radius, value, passes, history[:steps])

    def proved(self, problem: Problem) -> Outcome | None:
        """The outcome with its proof; None where the proof does not reach the gap that was asked for."""
        if self.frame.offset > FARTHEST:
            return None
        slip = margin_rounding(self.frame, self.v, self.radius)
        spread = WeightMap(self.frame, None).spread
        found = conclusion(self.hessian, self.radius, self.gradient, self._leverage, slip, spread, 1.0, self.Z.shape[1])
        if found is None or not found.gap <= problem.tol * max(abs(self.value), NOTHING):
            return None
        weights, level = self.frame.to_user(self.v)
        none, growth = np.empty(0, np.intp), np.zeros(weights.size)
        return Outcome("optimal", weights, level, self.value, self.passes, found, none, growth, False, True, False)

    def _leverage(self, made: Factor) -> float:
        from .small_kernel import leverage_kernel

        inverse = np.ascontiguousarray(made.inverse())  # LAPACK's order is the other one
        return float(leverage_kernel()(self.Z, self.v, TOO_SURE, inverse)) * (1 + 1e-10)
