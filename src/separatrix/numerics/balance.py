"""Whether a few rows balance exactly: in whole numbers where rounding could decide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .arrays import Floats

WORK = 300_000
"""Steps of an elimination up to which it is done in whole numbers: some tenths of a second."""
CLEAR = 1e-9
"""Multipliers that are so much larger than their rounding have a sure sign."""


def surely_balance(rows: Floats, multipliers: Floats) -> bool:
    """Whether positive factors exist with Σᵢ λᵢrᵢ = 0, these being such up to rounding.

    Rows that are one more than their columns, and span them, always balance: only the signs are in question. Any others
    do so by coincidence, which whole numbers decide; where that is too much work, the last digits must do.
    """
    sizes = np.linalg.norm(rows, axis=1)
    if len(rows) == rows.shape[1] + 1 and sizes.all():
        scaled = rows / sizes[:, None]
        least = np.linalg.svd(scaled / np.maximum(np.abs(scaled).max(axis=0), np.finfo(float).tiny), compute_uv=False)[
            -1
        ]
        parts = multipliers * sizes
        if least * float((parts / parts.max()).min()) > CLEAR:
            return True
    if len(rows) ** 2 * rows.shape[1] > WORK:
        return True
    found = null_vector(rows)
    return found is not None and (all(each > 0 for each in found) or all(each < 0 for each in found))


def null_vector(rows: Floats) -> list[Fraction] | None:
    """λ ≠ 0 with Σᵢ λᵢrᵢ = 0, exactly; None unless it is the only one but for its length.  [Bareiss 1968]"""
    equations, m = [_whole(column) for column in rows.T.tolist()], len(rows)
    rank, previous = 0, 1
    pivots: list[int] = []
    for j in range(m):
        at = next((i for i in range(rank, len(equations)) if equations[i][j]), None)
        if at is None:
            if rank < j:
                return None  # a second coincidence
            continue
        equations[rank], equations[at] = equations[at], equations[rank]
        top = equations[rank]
        for i in range(rank + 1, len(equations)):
            factor, low = equations[i][j], equations[i]
            equations[i] = [(top[j] * b - factor * a) // previous for a, b in zip(top, low, strict=True)]
        previous, rank = top[j], rank + 1
        pivots.append(j)
    if rank != m - 1:
        return None
    free = next(j for j in range(m) if j not in pivots)
    found = [Fraction(0)] * m
    found[free] = Fraction(1)
    for i in range(rank - 1, -1, -1):
        j, row = pivots[i], equations[i]
        found[j] = -sum((row[k] * found[k] for k in range(j + 1, m)), Fraction(0)) / row[j]
    return found


def _whole(numbers: list[float]) -> list[int]:
    """The numbers in units of their smallest last digit."""
    exact = [each.as_integer_ratio() for each in numbers]
    unit = math.lcm(*(below for _, below in exact))
    return [above * (unit // below) for above, below in exact]
