"""From many rows that balance to few: one after the other is taken out, and the others make up for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...numerics.arrays import Floats

Indices = NDArray[np.intp]

REFRESH = 60
"""Exchanges after which the inverse of the basis is worked out anew."""
STEADY, NOTHING = 1e-9, 1e-11
"""A share of a row, relative to its largest, that is none; a multiplier, relative to the largest, that is zero."""


def thinned(A: Floats, multipliers: Floats) -> tuple[Indices, Floats] | None:
    """At most (columns + 1) of the rows, and λ > 0 with Aᵀλ = 0; None if rounding gets in the way.

    Independent rows are a basis, in which every other row is a combination, a = cᵀB: to take t of it out, add tc to the
    multipliers of the basis. Either all of it goes, or a row of the basis is used up before, and it takes its place.
    """
    width = A.shape[1]
    order = qr((A * multipliers[:, None]).T, mode="r", pivoting=True)[1].astype(np.intp)
    basis, rest = order[:width].copy(), order[width:][np.argsort(multipliers[order[width:]])]
    left = multipliers / multipliers.max()
    try:
        inverse, changes = _inverse(A[basis]), 0
        for j in rest[:-1]:
            c = A[j] @ inverse
            out, t = _first_used_up(left[basis], c)
            t = min(t, float(left[j]))
            left[basis] += t * c
            left[j] -= t
            if left[j] > 0:  # row `out` of the basis is used up
                left[basis[out]], basis[out], changes = 0.0, j, changes + 1
                inverse = _exchanged(inverse, c, out) if changes % REFRESH else _inverse(A[basis])
        return _settled(A, basis, int(rest[-1]))
    except np.linalg.LinAlgError:
        return None


def _inverse(B: Floats) -> Floats:
    return np.asarray(np.linalg.inv(B), dtype=np.float64)


def _first_used_up(left: Floats, c: Floats) -> tuple[int, float]:
    """The row of the basis whose multiplier is the first to reach zero, of several the steadiest; and when."""
    size = float(np.abs(c).max(initial=0.0))
    falls = c < -STEADY * size
    room = np.divide(np.maximum(left, 0.0), -c, out=np.full(len(c), np.inf), where=falls)
    least = float(room.min(initial=np.inf))
    near = np.flatnonzero(room <= least * (1 + STEADY)) if np.isfinite(least) else np.zeros(1, np.intp)
    return int(near[np.abs(c[near]).argmax()]), max(least, 0.0)


def _exchanged(inverse: Floats, c: Floats, out: int) -> Floats:
    """The inverse after row `out` of the matrix became cᵀ times the matrix."""
    column = inverse[:, out] / c[out]
    c = c.copy()
    c[out] -= 1.0
    return inverse - np.outer(column, c)


def _settled(A: Floats, basis: Indices, last: int) -> tuple[Indices, Floats] | None:
    """The multipliers of the basis and one more row, to their last digits."""
    system = np.linalg.solve(A[basis].T, -A[last])
    rows, found = np.append(basis, last), np.append(system, 1.0)
    found[np.abs(found) < NOTHING * np.abs(found).max()] = 0.0
    return (rows[found > 0], found[found > 0]) if (found >= 0).all() else None
