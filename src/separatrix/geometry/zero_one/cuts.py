"""Rows that no rule gets all right: the corners of a polytope, proved in whole numbers.

A rule is right on all rows of a set, or else there are λ ≥ 0 with Σᵢ λᵢyᵢ(xᵢ, 1) = 0, not all zero on the second
class (Motzkin). The supports of the corners of these λ are the infeasible sets that have no smaller one inside (Gleeson
and Ryan), so one linear program gives one, and its costs say which is wanted.
"""

from __future__ import annotations

import math
import time
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ..program import silent
from .frame import Frame
from .problem import Problem

Indices = NDArray[np.intp]
FAINT = 1e-9
"""A multiplier that is as good as zero; the exact ones are found anyway."""
LARGEST = 120
"""Rows of a cut, beyond which exact multipliers take too long."""


class TimeUpError(Exception):
    """The clock ran out inside a linear program."""


class Separator:
    """min Σᵢ gᵢλᵢ  subject to  Σᵢ λᵢaᵢ = 0, Σ over the second class of λ = 1, λ ≥ 0, for some rows of the problem."""

    def __init__(self, problem: Problem, frame: Frame, rows: Indices) -> None:
        self.problem, self.rows = problem, rows
        A, up = frame.A[rows], problem.sign[rows] > 0
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
        """The rows of a corner that cost little, none of them out; None if the other rows can be separated."""
        n = len(self.rows)
        self.highs.changeColsCost(n, self.places, np.ascontiguousarray(prefer))
        upper = np.where(without, 0.0, highspy.kHighsInf)
        self.highs.changeColsBounds(n, self.places, np.zeros(n), upper)
        self.highs.setOptionValue("time_limit", float(self.highs.getRunTime() + max(seconds, 0.01)))
        self.highs.run()
        status = self.highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise TimeUpError
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        found = np.asarray(self.highs.getSolution().col_value)
        return np.flatnonzero(found > FAINT * found.max())


def exact_multipliers(problem: Problem, rows: Indices, deadline: float = math.inf) -> tuple[Indices, list[int]] | None:
    """λ > 0, whole numbers without a common factor, with Σᵢ λᵢyᵢ(xᵢ, 1) = 0 exactly; None if there is no such λ.

    Rows whose multiplier turns out to be zero are left out.
    """
    if len(rows) > LARGEST:
        return None
    signs = problem.sign[rows].tolist()
    columns = [_whole(column) for column in problem.X[rows].T.tolist()]
    columns += [[1] * len(rows)] * problem.lifted
    system = np.array([[s * x for s, x in zip(signs, c, strict=True)] for c in columns if any(c)], dtype=object)
    found = null_vector(system, len(rows), deadline)
    if found is None:
        return None
    found = [-value for value in found] if max(found) <= 0 else found
    there = [k for k, value in enumerate(found) if value]
    if min(found) < 0 or not any(signs[k] > 0 for k in there):
        return None
    return rows[there], [found[k] for k in there]


def null_vector(system: Any, width: int, deadline: float = math.inf) -> list[int] | None:
    """n ≠ 0 with Mn = 0, whole numbers, where there is one direction of such n only: elimination in integers.

    The numbers grow with every column, so that many take seconds: hence the clock.
    """
    M, previous = system.reshape(-1, width).copy(), 1
    pivots: list[int] = []
    for column in range(width):
        if time.perf_counter() > deadline:
            raise TimeUpError
        row = len(pivots)
        at = next((i for i in range(row, len(M)) if M[i, column]), None)
        if at is None:
            continue
        M[[row, at]] = M[[at, row]]
        others = np.arange(len(M)) != row
        M[others] = (M[row, column] * M[others] - M[others, column][:, None] * M[row]) // previous
        previous = M[row, column]
        pivots.append(column)
    if len(pivots) != width - 1:
        return None
    free = next(k for k in range(width) if k not in pivots)
    vector = [0] * width
    vector[free] = previous
    for row, column in enumerate(pivots):
        vector[column] = -M[row, free]
    common = math.gcd(*vector)
    return [value // common for value in vector]


def _whole(column: list[float]) -> list[int]:
    """The numbers times the power of two that makes them whole, without their common factor."""
    ratios = [value.as_integer_ratio() for value in column]
    largest = max(below for _, below in ratios)
    whole = [above * (largest // below) for above, below in ratios]
    common = math.gcd(*whole) or 1
    return [value // common for value in whole]
