"""The linear program that finds all rows that can be separated, rows added and solved again from the last basis."""

from __future__ import annotations

import highspy
import numpy as np

from ..numerics.arrays import Floats

TIGHT = 1e-9
"""Feasibility tolerances that are tried first."""
USUAL = 1e-7
"""The solver's own feasibility tolerances."""


class Program:
    """max Σᵢtᵢ  subject to  aᵢᵀv ≥ tᵢ, 0 ≤ tᵢ ≤ 1, v free.

    The rules that err on no row are a cone, closed under addition and scaling: so at the optimum every tᵢ is 0 or 1,
    and those at 1 are the largest set of rows that one rule separates while it errs on none.
    """

    def __init__(self, width: int) -> None:
        self.width, self.rows = width, 0
        self.highs = silent()
        for _ in range(width):
            self.highs.addVar(-highspy.kHighsInf, highspy.kHighsInf)
        self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add(self, A: Floats) -> None:
        """More rows; each is scaled by a power of two to about one."""
        A = A * row_scale(A)[:, None]
        k, width = len(A), self.width
        zeros = np.zeros(k)
        self.highs.addCols(
            k, np.ones(k), zeros, np.ones(k), 0, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        )  # fmt: skip
        own = width + self.rows + np.arange(k, dtype=np.int32)
        index = np.hstack([np.tile(np.arange(width, dtype=np.int32), (k, 1)), own[:, None]])
        value = np.hstack([A, np.full((k, 1), -1.0)])
        keep = value != 0
        starts = np.append(0, np.cumsum(keep.sum(axis=1))).astype(np.int32)
        self.highs.addRows(
            k, zeros, np.full(k, highspy.kHighsInf), int(starts[-1]), starts[:-1], index[keep], value[keep]
        )  # fmt: skip
        self.rows += k

    def solve(self) -> tuple[Floats, Floats] | None:
        """v and t; None if the solver gave up."""
        if not solved(self.highs):
            return None
        found = np.asarray(self.highs.getSolution().col_value)
        return found[: self.width], found[self.width :]


def few_that_balance(A: Floats, prefer: Floats) -> Floats | None:
    """λ ≥ 0 with Aᵀλ = 0, not all zero, a vertex: at most rank + 1 are positive; those that cost least, first."""
    scale = row_scale(A)
    A = A * scale[:, None]
    highs, (m, width) = silent(), A.shape
    for _ in range(width):
        highs.addRow(0.0, 0.0, 0, np.empty(0, np.int32), np.empty(0))
    highs.addRow(1.0, 1.0, 0, np.empty(0, np.int32), np.empty(0))
    value = np.hstack([A, np.ones((m, 1))])
    index = np.tile(np.arange(width + 1, dtype=np.int32), (m, 1))
    keep = value != 0
    starts = np.append(0, np.cumsum(keep.sum(axis=1))).astype(np.int32)
    highs.addCols(
        m, prefer, np.zeros(m), np.full(m, highspy.kHighsInf), int(starts[-1]), starts[:-1], index[keep], value[keep]
    )  # fmt: skip
    if not solved(highs):
        return None
    return np.asarray(highs.getSolution().col_value) * scale


def even_balance(A: Floats) -> Floats | None:
    """λ with Aᵀλ = 0, Σλ = 1 and the least of them as large as can be; None if that is not positive."""
    scale, m = row_scale(A), len(A)
    highs = silent()
    highs.addCols(
        m + 1, np.append(np.zeros(m), -1.0), np.zeros(m + 1), np.full(m + 1, highspy.kHighsInf), 0,
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0),
    )  # fmt: skip
    places = np.arange(m, dtype=np.int32)
    for column in (A * scale[:, None]).T:
        highs.addRow(0.0, 0.0, m, places, np.ascontiguousarray(column))
    highs.addRow(1.0, 1.0, m, places, np.ones(m))
    for i in range(m):
        highs.addRow(0.0, highspy.kHighsInf, 2, np.array([i, m], np.int32), np.array([1.0, -1.0]))
    if not solved(highs):
        return None
    found = np.asarray(highs.getSolution().col_value)
    return found[:m] * scale if found[m] > 0 else None


def farthest(G: Floats, f: Floats) -> Floats | None:
    """argmax fβ over Gβ ≥ 0 and |βⱼ| ≤ 1."""
    highs, (m, q) = silent(), G.shape
    highs.addCols(
        q, -f, np.full(q, -1.0), np.ones(q), 0, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    )  # fmt: skip
    starts, index = (q * np.arange(m)).astype(np.int32), np.tile(np.arange(q, dtype=np.int32), m)
    highs.addRows(m, np.zeros(m), np.full(m, highspy.kHighsInf), m * q, starts, index, np.ascontiguousarray(G).ravel())
    if not solved(highs):
        return None
    return np.asarray(highs.getSolution().col_value)


def row_scale(A: Floats) -> Floats:
    """For each row a power of two that brings its largest number to about one."""
    largest = np.abs(A).max(axis=1, initial=0.0)
    return np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))  # type: ignore[no-any-return]


def solved(highs: highspy.Highs) -> bool:
    """Solve; again with the usual tolerances and without presolve, should the solver give up."""
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            highs.setOptionValue(name, USUAL)
        highs.setOptionValue("presolve", "off")
        highs.clearSolver()
        highs.run()
    return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def silent() -> highspy.Highs:
    """The solver, set up for one thread, the simplex method and tight tolerances."""
    highs = highspy.Highs()
    for name, value in (
        ("output_flag", False), ("threads", 1), ("random_seed", 0), ("solver", "simplex"),
        ("primal_feasibility_tolerance", TIGHT), ("dual_feasibility_tolerance", TIGHT),
    ):  # fmt: skip
        highs.setOptionValue(name, value)
    return highs
