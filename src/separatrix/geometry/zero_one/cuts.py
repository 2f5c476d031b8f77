"""Rows that no rule gets all right: the corners of a polytope, proved in whole numbers.

A rule is right on all rows of a set, or else there are λ ≥ 0 with Σᵢ λᵢyᵢ(xᵢ, 1) = 0, not all zero on the second
class (Motzkin). The supports of the corners of these λ are the infeasible sets that have no smaller one inside (Gleeson
and Ryan), so one linear program gives one, and its costs say which is wanted.
"""

from __future__ import annotations

import math

import highspy
import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ...numerics.exact import null_vector, whole_rows
from ..program import silent
from .problem import Problem
from .scaled_rows import ScaledRows

Indices = NDArray[np.intp]
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
