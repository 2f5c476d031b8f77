"""Rules that are right on given rows, where there are such.

Without an intercept a boundary may have to pass through rows of the first class, as where x and −x both are of it. The
rows that no rule gets strictly right span a space; the weights must be perpendicular to it, exactly. So they are sought
as whole multiples of whole vectors that are.
"""

from __future__ import annotations

from collections.abc import Iterator

import highspy
import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ...numerics.exact import null_vectors, whole_rows
from ..program import row_scale, silent
from .problem import CountedRule, Problem, ScaledRows, counted, seems_wrong

BITS = (0, 3, 6, 12, 20, 30)
"""Digits of the multiples: few at first, so that products stay exact."""
EXACT = 2**53
ROOM = 1e-9
"""The least distance, in units of the rows, that a program of floats can tell from none."""


def rules_on_faces(X: Floats, up: NDArray[np.bool_], seconds: float) -> Iterator[Floats]:
    """Weights with xᵀw > 0 on the second class and xᵀw ≤ 0 on the first, as floats allow."""
    flat = _always_zero(X, up, seconds)
    if flat is None or not flat.any():
        return
    basis = perpendicular(X[flat])
    if not basis:
        yield np.zeros(X.shape[1])
        return
    B = np.array(basis, dtype=object)
    rest = X[~flat] @ np.array(B, dtype=float).T
    rest = rest * (np.where(up[~flat], 1.0, -1.0) * row_scale(rest))[:, None]
    u = apart(rest, np.ones(len(rest), bool), seconds)
    if u is None:
        return
    for bits in BITS:
        whole = [round(value * 2**bits) for value in u.tolist()]
        weights = [sum(k * b[j] for k, b in zip(whole, basis, strict=True)) for j in range(X.shape[1])]
        if max(map(abs, weights), default=0) < EXACT:
            yield np.array(weights, dtype=float)


def _always_zero(X: Floats, up: NDArray[np.bool_], seconds: float) -> NDArray[np.bool_] | None:
    """The rows of the first class on which every rule that errs nowhere is zero; None if there is no such rule.

    max Σᵢ tᵢ with −xᵢᵀv ≥ tᵢ, 0 ≤ tᵢ ≤ 1 on the first class and xᵢᵀv ≥ 1 on the second: at the optimum t is 0 or 1.
    """
    A = np.where(up[:, None], X, -X)
    A = A * row_scale(A)[:, None]
    n, width = A.shape
    highs, free, first = silent(), np.full(width, highspy.kHighsInf), np.flatnonzero(~up)
    cost = np.append(np.zeros(width), -np.ones(len(first)))
    highs.addCols(
        len(cost), cost, np.append(-free, np.zeros(len(first))), np.append(free, np.ones(len(first))), 0,
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0),
    )  # fmt: skip
    for i in range(n):
        at, value = np.flatnonzero(A[i]), A[i][A[i] != 0]
        if not up[i]:
            at, value = np.append(at, width + np.searchsorted(first, i)), np.append(value, -1.0)
        highs.addRow(float(up[i]), highspy.kHighsInf, len(at), at.astype(np.int32), value)
    highs.setOptionValue("time_limit", max(seconds, 0.01))
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    flat = np.zeros(n, bool)
    flat[first] = np.asarray(highs.getSolution().col_value)[width:] < 0.5
    return flat


def perpendicular(X: Floats) -> list[list[int]]:
    """Whole vectors that span all that is perpendicular to the rows, exactly."""
    basis = null_vectors(whole_rows(X))
    assert basis is not None, "no limit was set"
    return basis


def apart(A: Floats, strict: NDArray[np.bool_], seconds: float) -> Floats | None:
    """argmax of t with aᵢᵀv ≥ t on the strict rows, aᵢᵀv ≥ 0 on the others, −1 ≤ v ≤ 1; None if t = 0."""
    n, width = A.shape
    highs, one = silent(), np.ones(width + 1)
    highs.addCols(
        width + 1, np.append(np.zeros(width), -1.0), np.append(-one[:-1], 0.0), one, 0, np.empty(0, np.int32),
        np.empty(0, np.int32), np.empty(0),
    )  # fmt: skip
    if n:
        value = np.column_stack([A, -strict.astype(float)])
        keep = value != 0
        starts = np.append(0, np.cumsum(keep.sum(axis=1))).astype(np.int32)
        index = np.tile(np.arange(width + 1, dtype=np.int32), (n, 1))
        highs.addRows(
            n, np.zeros(n), np.full(n, highspy.kHighsInf), int(starts[-1]), starts[:-1], index[keep], value[keep]
        )  # fmt: skip
    highs.setOptionValue("time_limit", max(seconds, 0.01))
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = np.asarray(highs.getSolution().col_value)
    return found[:width] if found[width] > ROOM or not strict.any() else None


def firm(
    problem: Problem, scaled: ScaledRows, weights: Floats, intercept: float, most: int, seconds: float
) -> CountedRule | None:
    """The rule; where rounding decides on a row, another that is right where this one seems to be, if it costs less."""
    kept = counted(problem, weights, intercept)
    if kept is not None:
        return kept
    wrong = seems_wrong(problem, weights, intercept)
    if wrong is None or problem.paid(wrong) >= most:
        return None
    return rule_for(problem, scaled, ~wrong, seconds)


def rule_for(problem: Problem, scaled: ScaledRows, right: NDArray[np.bool_], seconds: float) -> CountedRule | None:
    """A rule for which these rows are right, with room to spare where that can be; None if none is found."""
    best: CountedRule | None = None
    for weights, intercept in _candidates(problem, scaled, right, seconds):
        kept = counted(problem, weights, intercept)
        if kept is not None and (best is None or kept.cost < best.cost):
            best = kept
        if best is not None and not best.wrong[right].any():
            break
    return best


def _candidates(
    problem: Problem, scaled: ScaledRows, right: NDArray[np.bool_], seconds: float
) -> Iterator[tuple[Floats, float]]:
    v = apart(scaled.A[right], np.ones(int(right.sum()), bool), seconds)
    if v is not None:
        yield scaled.outside(v)
    if not problem.lifted:
        for weights in rules_on_faces(problem.X[right], problem.sign[right] > 0, seconds):
            yield weights, 0.0
