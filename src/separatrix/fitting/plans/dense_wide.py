"""Dense rows of many columns with a penalty: passes over the rows, and a factor only where they would be more.

Of d columns or n rows a matrix costs as much as min(n, d)/32 passes, in double precision twice that, and Newton's
method wants one at every step. L-BFGS upon the Hessian's diagonal needs some 20 to 60 passes where columns are not much
alike; where they are, a factor is made once or twice on the way. The proof is by the penalty, with a witness.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...data import Rows
from ...data.frame import Frame
from ...losses.margin import MarginLoss
from ...numerics.arrays import EPS, Floats
from ..certificates.wide import Reach, lengths
from ..coordinates import VANISHING
from ..problem import LBFGS, NotFiniteError, Problem
from ..risk.curved import CurvedRisk
from ..solvers.descent import State
from ..solvers.patient import FactorCost, PatientLBFGS
from .plan import STEER
from .single_factor import ColumnFactors, RowFactors
from .wide import WidePlan

FEWEST_COLUMNS = 500
"""Columns, or with fewer rows than columns rows, from which on matrices cost more than these passes."""
MOST_ROWS = 16
"""Rows for each column from which on the Hessian of a sample steers better."""
SURE = 1e-11
"""The part of max ‖x‖² that l2 must be at the least for a proof by the penalty."""


def goes_by_passes(problem: Problem) -> bool:
    """Whether rows are dense, penalised and of so many columns that passes over them are the fastest way."""
    rows, (n, d) = problem.rows, problem.rows.shape
    if not (rows.at_hand and rows.compiled and rows.kind.at_hand and problem.penalty.strength > 0):
        return False
    if not isinstance(problem.loss, MarginLoss) or not problem.loss.convex or math.isinf(problem.loss.twist):
        return False
    if problem.rate is not None or problem.method not in (None, LBFGS):
        return False
    return d >= FEWEST_COLUMNS and n < MOST_ROWS * d


class DenseWidePlan(WidePlan):
    """L-BFGS upon the diagonal, then upon a factor in single precision if that pays; a proof by the penalty."""

    risk: CurvedRisk
    direction: PatientLBFGS
    reach: Reach

    def __init__(self, problem: Problem) -> None:
        self.rows = rows = replace(problem.rows.gathered(), light=True)
        n, d = rows.shape
        center = center_of(rows) if problem.lifted else np.zeros(d)
        self.reach, spread = extent_of(rows, center)
        # of fewer rows than columns one scale: weights are then combinations of rows, in the user's units
        scale = np.full(d, spread or 1.0) if n < d else scale_of(rows, center)
        super().__init__(problem, Frame(center, scale, problem.lifted))

    def _risk(self) -> CurvedRisk:
        assert isinstance(self.problem.loss, MarginLoss)
        return CurvedRisk(self.problem.loss, self.rows, self.frame, self.penalty, self.active)

    @property
    def provable_at_all(self) -> bool:
        """Whether there is anything to be learnt, and l2 is not so small beside the rows that rounding hides it."""
        return self.reach.square > 0 and self.problem.penalty.strength > SURE * self.reach.square

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        return self.frame.to_user(v)

    def estimate(self, state: State) -> float:
        return state.decrement

    def _solve(self, g: Floats) -> Floats:
        return self.direction.solve(g)

    def _direction(self) -> PatientLBFGS:
        n, d = self.rows.shape
        make = (RowFactors if n < d else ColumnFactors)(self.rows, self.frame, self.ridge)
        return PatientLBFGS(STEER, self._diagonal, self.risk.product, make, factor_cost(n, d))

    def _diagonal(self, curvature: Floats) -> Floats:
        """About Hⱼⱼ: the columns' mean squares are one."""
        return float(curvature.sum()) / self.rows.weight + self.ridge  # type: ignore[no-any-return]


def factor_cost(n: int, d: int) -> FactorCost:
    """What a factor costs, in passes on as many threads: its products, and its elimination on one (measured)."""
    least = min(n, d)
    products, elimination = 2 + least / 32, least**3 / (45 * n * d)
    if n < d:
        return FactorCost(products + elimination, elimination, 2.5)
    return FactorCost(products + elimination, products + elimination, 1.0 + d / n)


def center_of(rows: Rows) -> Floats:
    """The means of the columns, by cost."""

    def sums(part: Rows, lo: int, hi: int) -> Floats:
        cost = part.cost[lo:hi] if part.cost.size else np.ones(hi - lo)
        return part.block[lo:hi].pull(cost)  # type: ignore[no-any-return]

    with np.errstate(over="ignore", invalid="ignore"):
        center: Floats = rows.fold(sums, blas=True) / rows.weight
    if not np.isfinite(center).all():
        raise NotFiniteError
    return center


def scale_of(rows: Rows, center: Floats) -> Floats:
    """The root mean squares of the columns about a centre, by cost; one for a column that is constant."""
    from ...data.compiled.readers import squares_kernel

    def sums(part: Rows, lo: int, hi: int) -> Floats:
        total = np.zeros(center.size)
        for here, X in part.block[lo:hi].blocks():
            cost = part.cost[lo:hi][here] if part.cost.size else np.ones(len(X))
            squares_kernel(X.dtype.name)(np.ascontiguousarray(X), 0, len(X), center, cost, total)
        return total

    scale = np.sqrt(rows.fold(sums) / rows.weight)
    if not np.isfinite(scale).all():
        raise NotFiniteError
    return np.where(scale > np.maximum(64 * EPS * np.abs(center), VANISHING), scale, 1.0)


def extent_of(rows: Rows, center: Floats) -> tuple[Reach, float]:
    """How far rows reach from a centre, and the root mean square of their numbers about it."""

    def run(part: Rows, lo: int, hi: int) -> tuple[float, float]:
        found = lengths(part, lo, hi, center)
        cost = part.cost[lo:hi] if part.cost.size else np.ones(hi - lo)
        return float(found.max(initial=0.0)), float(cost @ found)

    with np.errstate(over="ignore", invalid="ignore"):
        largest, total = zip(*rows.each(run, blas=True), strict=True)
    if not np.isfinite(sum(total)):
        raise NotFiniteError
    return Reach(max(largest), center.size), math.sqrt(sum(total) / rows.weight / center.size)
