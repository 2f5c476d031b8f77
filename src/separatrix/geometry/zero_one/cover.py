"""The least cost that touches every cut: a linear program that grows, and a packing in whole numbers that proves it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import highspy
import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats, Indices
from ...numerics.exact import null_vector, whole_rows
from ...results.proofs import PARTS, Leaf
from ..program import silent
from .problem import Problem, ScaledRows

APART = 10**6
"""How many times the least cost the largest one is, beyond which floats do not see the least."""


class Cover:
    """min Σᵢ cᵢzᵢ  subject to  Σ over S of zᵢ ≥ 1 for every cut S found so far, z ≥ 0, some z fixed at 0 or 1."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.highs = problem, silent()
        self.cuts: list[tuple[int, ...]] = []
        self.multipliers: list[tuple[int, ...]] = []
        self.known: set[tuple[int, ...]] = set()
        self.column: dict[int, int] = {}
        self.rows: list[int] = []

    def add(self, rows: Indices, multipliers: list[int]) -> bool:
        """One more cut; False if it is there already."""
        order = np.argsort(rows)
        cut = tuple(rows[order].tolist())
        if cut in self.known:
            return False
        for i in cut:
            if i not in self.column:
                self.column[i] = len(self.rows)
                self.rows.append(i)
                self.highs.addCol(
                    float(self.problem.weight[i]), 0.0, highspy.kHighsInf, 0, np.empty(0, np.int32), np.empty(0)
                )
        places = np.array([self.column[i] for i in cut], dtype=np.int32)
        self.highs.addRow(1.0, highspy.kHighsInf, len(cut), places, np.ones(len(cut)))
        self.known.add(cut)
        self.cuts.append(cut)
        self.multipliers.append(tuple(multipliers[k] for k in order.tolist()))
        return True

    def solve(self, right: frozenset[int], wrong: frozenset[int], seconds: float) -> tuple[Floats, Floats] | None:
        """z of all rows and the dual of each cut, with these rows fixed; None if the solver has no answer."""
        n = len(self.rows)
        if not n:
            return np.zeros(len(self.problem)), np.empty(0)
        lower, upper = np.zeros(n), np.full(n, highspy.kHighsInf)
        for i in wrong:
            if i in self.column:
                lower[self.column[i]] = 1.0
        for i in right:
            if i in self.column:
                upper[self.column[i]] = 0.0
        self.highs.changeColsBounds(n, np.arange(n, dtype=np.int32), lower, upper)
        self.highs.setOptionValue("time_limit", float(self.highs.getRunTime() + max(seconds, 0.01)))
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = self.highs.getSolution()
        z = np.zeros(len(self.problem))
        z[self.rows] = np.asarray(found.col_value)
        return z, np.asarray(found.row_dual)

    def blocked(self, right: frozenset[int]) -> int | None:
        """A cut whose rows are all to be right, which no rule can make them."""
        return next((k for k, cut in enumerate(self.cuts) if right.issuperset(cut)), None)

    def packings(self, duals: Floats, right: frozenset[int], wrong: frozenset[int]) -> Iterator[Leaf]:
        """The duals in whole parts; and where costs are too far apart for a program of floats, without them."""
        yield self._packing(duals, right, wrong)
        costs = self.problem.cost.tolist()
        if max(costs) > APART * min(costs):
            yield self._packing(np.zeros(len(duals)), right, wrong)

    def _packing(self, duals: Floats, right: frozenset[int], wrong: frozenset[int]) -> Leaf:
        """The duals in whole parts, lowered where a row would carry more than its cost, raised where there is room.

        Cuts of dear rows are raised first, as much as the cheapest of their rows can carry.
        """
        unit = max(self.problem.cost.tolist(), default=1) * PARTS
        free = {
            k: [i for i in cut if i not in right] for k, cut in enumerate(self.cuts) if wrong.isdisjoint(cut)
        }  # fmt: skip
        room = {i: int(self.problem.cost[i]) * PARTS for rows in free.values() for i in rows}
        parts: dict[int, int] = {}

        def carry(k: int, most: int) -> None:
            part = min([most, *(room[i] for i in free[k])])
            if part > 0:
                parts[k] = parts.get(k, 0) + part
                for i in free[k]:
                    room[i] -= part

        for k in np.flatnonzero(duals > 0).tolist():
            if k in free:
                carry(k, round(Fraction(float(duals[k])) * unit))
        dear = sorted((k for k in free if free[k]), key=lambda k: -min(room[i] for i in free[k]))
        for k in dear:
            carry(k, unit)
        return Leaf(tuple(parts), tuple(parts.values()))

    def bound(self, leaf: Leaf, wrong: frozenset[int]) -> int:
        """What every rule costs at the least that errs on these rows, in units, without the base."""
        packed = sum(part for k, part in zip(leaf.cuts, leaf.parts, strict=True) if wrong.isdisjoint(self.cuts[k]))
        paid = sum(int(self.problem.cost[i]) for i in wrong)
        return self.problem.rounded_up(paid + Fraction(packed, PARTS))


# Rows that no rule gets all right: the corners of a polytope, proved in whole numbers.
#
# A rule is right on all rows of a set, or else there are λ ≥ 0 with Σᵢ λᵢyᵢ(xᵢ, 1) = 0, not all zero on the second
# class (Motzkin). The supports of the corners of these λ are the infeasible sets that have no smaller one inside
# (Gleeson
# and Ryan), so one linear program gives one, and its costs say which is wanted.

FAINT = 1e-9
"""A multiplier that is as good as zero; the exact ones are found anyway."""
LARGEST = 120
"""Rows of a cut, beyond which exact multipliers take too long."""


class Separator:
    """min Σᵢ gᵢλᵢ  subject to  Σᵢ λᵢaᵢ = 0, Σ over the second class of λ = 1, λ ≥ 0, for some rows of the problem."""

    def __init__(self, problem: Problem, scaled: ScaledRows, rows: Indices) -> None:
        self.problem, self.rows = problem, rows
        A, up = scaled.A[rows], problem.sign[rows] > 0
        n, width = A.shape
        self.highs = silent()
        self.places = np.arange(n, dtype=np.int32)
        for k in range(width + 1):
            self.highs.addRow(float(k == width), float(k == width), 0, np.empty(0, np.int32), np.empty(0))
        value = np.column_stack([A, up.astype(float)])
        keep = value != 0
        starts = np.append(0, np.cumsum(keep.sum(axis=1))).astype(np.int32)
        index = np.tile(np.arange(width + 1, dtype=np.int32), (n, 1))
        self.highs.addCols(
            n, np.zeros(n), np.zeros(n), np.full(n, highspy.kHighsInf), int(starts[-1]), starts[:-1], index[keep],
            value[keep],
        )  # fmt: skip

    def find(self, prefer: Floats, without: NDArray[np.bool_], seconds: float) -> Indices | None:
        """The rows of a corner that cost little, none of them out; None if there is none, or no time is left."""
        n = len(self.rows)
        self.highs.changeColsCost(n, self.places, np.ascontiguousarray(prefer))
        upper = np.where(without, 0.0, highspy.kHighsInf)
        self.highs.changeColsBounds(n, self.places, np.zeros(n), upper)
        self.highs.setOptionValue("time_limit", float(self.highs.getRunTime() + max(seconds, 0.01)))
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = np.asarray(self.highs.getSolution().col_value)
        return np.flatnonzero(found > FAINT * found.max())


def exact_multipliers(problem: Problem, rows: Indices, deadline: float = math.inf) -> tuple[Indices, list[int]] | None:
    """λ > 0, whole numbers without a common factor, with Σᵢ λᵢyᵢ(xᵢ, 1) = 0 exactly; None if there is no such λ.

    None too if it takes longer than the deadline. Rows whose multiplier turns out to be zero are left out.
    """
    if len(rows) > LARGEST:
        return None
    signs = problem.sign[rows].tolist()
    columns = np.vstack([whole_rows(problem.X[rows].T), np.ones((int(problem.lifted), len(rows)), dtype=object)])
    found = null_vector(columns[columns.any(axis=1)] * np.array(signs, dtype=object), deadline=deadline)
    if found is None:
        return None
    there = [k for k, value in enumerate(found) if value]
    if min(found) < 0 or not any(signs[k] > 0 for k in there):
        return None
    return rows[there], [found[k] for k in there]
