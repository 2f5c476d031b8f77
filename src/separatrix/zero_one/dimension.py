"""How many columns count: those that are no combinations of others, nor constant where there is an intercept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Row = list[Fraction]

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
    """Whether the last column is a combination of the others, which are independent: elimination in fractions."""
    width = A.shape[1] - 1
    reduced: list[tuple[int, Row]] = []
    for row in _spread(A):
        x = [Fraction(value) for value in row]
        for at, pivot in reduced:
            if x[at]:
                factor = x[at]
                x = [a - factor * b for a, b in zip(x, pivot, strict=True)]
        lead = next((k for k in range(width) if x[k]), None)
        if lead is not None:
            reduced.append((lead, [a / x[lead] for a in x]))
        elif x[width]:
            return False
    return True


def _spread(A: Floats) -> list[list[float]]:
    """All rows, the extreme ones first: what depends is found out early."""
    order = np.unique(np.concatenate([A.argmin(axis=0), A.argmax(axis=0)]))
    rest = np.setdiff1d(np.arange(len(A)), order)
    return A[np.concatenate([order, rest])].tolist()  # type: ignore[no-any-return]
