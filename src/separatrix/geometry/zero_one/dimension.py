"""How many columns count: those that are no combinations of others, nor constant where there is an intercept."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ...numerics.exact import Row, combination_of_columns
from .problem import FAR, last_bit

BLOCK = 10_000
"""Rows at a time that are proved to be combinations."""
ENOUGH = 3
"""More columns than this need no count: no enumeration is for them."""
NEAR = 1e-8
"""Relative to its length: what is left of a column beyond the others, below which it is asked whether it is nothing."""


def basis(X: Floats, lifted: bool) -> tuple[int, ...] | None:
    """The columns that count, if all others are combinations of them in exact arithmetic; None if more than `ENOUGH`.

    In floating point it is guessed, in fractions proved: a column that is nearly a combination is one of its own.
    """
    chosen: list[int] = []
    left = [j for j in range(X.shape[1]) if not (lifted and (X[:, j] == X[0, j]).all()) and X[:, j].any()]
    left = [j for k, j in enumerate(left) if not any(np.array_equal(X[:, j], X[:, i]) for i in left[:k][-ENOUGH:])]
    for j in left:
        if len(chosen) > ENOUGH:
            return None
        if not _explained(X, chosen, j, lifted):
            chosen.append(j)
    return tuple(chosen)


def _explained(X: Floats, chosen: list[int], j: int, lifted: bool) -> bool:
    """Whether column j is a combination of the chosen ones, and of a constant where there is an intercept."""
    if not chosen:
        return not X[:, j].any()
    ones = [np.ones((len(X), 1))] * lifted
    A = np.hstack([X[:, chosen], *ones])
    scale = np.abs(A).max(axis=0)
    fitted = np.linalg.lstsq(A / scale, X[:, j], rcond=None)[0]
    if np.abs(A / scale @ fitted - X[:, j]).max() > NEAR * np.abs(X[:, j]).max():
        return False
    return _exactly(np.column_stack([A, X[:, j]]))


def _exactly(A: Floats) -> bool:
    """Whether the last column is a combination of the others: found on a few rows in fractions, proved on all."""
    width = A.shape[1] - 1
    few = _spread(A, width)
    factors = combination_of_columns(A[few])
    return factors is not None and _vanishes(A, [*factors, Fraction(-1)])


def _spread(A: Floats, width: int) -> NDArray[np.intp]:
    """The extreme rows, and those that are farthest from all combinations of the ones before."""
    found = [A.argmin(axis=0), A.argmax(axis=0)]
    scale = np.abs(A).max(axis=0)
    R = A[:, :width] / np.where(scale[:width] > 0, scale[:width], 1.0)
    for _ in range(width):
        sizes = np.abs(R).max(axis=1)
        at = int(sizes.argmax())
        if sizes[at] == 0:
            break
        found.append(np.array([at]))
        k = int(np.abs(R[at]).argmax())
        R = R - np.outer(R[:, k] / R[at, k], R[at])
        R[:, k] = 0.0
    return np.unique(np.concatenate(found))


def _vanishes(A: Floats, factors: Row) -> bool:
    """Σₖ fₖaₖ = 0 on every row, in whole numbers: of 64 bits where they are small."""
    used = [k for k, factor in enumerate(factors) if factor]
    lows = [int(last_bit(A[A[:, k] != 0, k]).min(initial=FAR)) for k in used]
    exact = [factors[k] * Fraction(2) ** low for k, low in zip(used, lows, strict=True)]
    common = math.lcm(*(value.denominator for value in exact))
    whole = [int(value * common) for value in exact]
    for start in range(0, len(A), BLOCK):
        block = A[start : start + BLOCK, used]
        columns = [_whole(block[:, k], low) for k, low in enumerate(lows)]
        largest = sum(abs(n) * int(abs(column).max()) for n, column in zip(whole, columns, strict=True))
        kind: Any = np.int64 if largest < 2**62 and max(map(abs, whole)) < 2**62 else object
        total = sum(column.astype(kind) * kind(n) if kind is np.int64 else column.astype(object) * n
                    for n, column in zip(whole, columns, strict=True))  # fmt: skip
        if np.any(total != 0):
            return False
    return True


def _whole(column: Floats, low: int) -> NDArray[Any]:
    """The numbers divided by a power of two that divides all of them."""
    digits, power = np.frexp(column)
    if int(power.max(initial=0)) - low <= 60:
        return np.asarray(np.ldexp(digits, power - low).astype(np.int64))
    whole = (digits * 2.0**53).astype(np.int64).tolist()
    shifts = (power.astype(np.int64) - 53 - low).tolist()
    made = [(m << s if s >= 0 else m >> -s) if m else 0 for m, s in zip(whole, shifts, strict=True)]
    return np.array(made, dtype=object)
