"""Directions that are zero on given rows, and coordinates in which columns are far from dependent."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...numerics.arrays import Floats
from ...numerics.linalg import EPS

Indices = NDArray[np.intp]

RANK = 1e-10
"""Singular values, relative to the largest, that count as zero."""
SAME = 1e-13
"""Numbers that differ by this part of themselves differ by rounding."""
MOST = 1000
"""The largest denominator that is small."""
POOR = 1e-5
"""Singular values, relative, below which coordinates are changed."""


def conditioner(A: Floats) -> Floats | None:
    """C that makes the columns of AC orthogonal and of one length, where those of A are nearly dependent."""
    length = np.linalg.norm(A, axis=1)
    _, s, Vt = np.linalg.svd(A / length[:, None], full_matrices=False)
    if len(s) < A.shape[1] or s[-1] > POOR * s[0] or s[-1] <= RANK * s[0]:
        return None
    return np.asarray(Vt.T * (s[0] / s))


def null_space(A: Floats) -> Floats:
    """N with AN = 0, in the simplest numbers that can be had: one for each of its own weights, whole where possible."""
    length = np.linalg.norm(A, axis=1)
    A = A[length > 0] / length[length > 0, None]
    if not len(A):
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A, full_matrices=len(A) < A.shape[1])
    N = Vt[int((s > RANK * s[0]).sum()) :].T
    if not N.size:
        return N
    own = np.sort(qr(N.T, mode="r", pivoting=True)[1][: N.shape[1]])
    return np.column_stack(
        [_neat(A, column, j, own) for j, column in zip(own, np.linalg.solve(N[own].T, N.T), strict=True)]
    )


def _neat(A: Floats, column: Floats, j: int, own: Indices) -> Floats:
    """The direction with exactly one at its own weight, zero at those of the others, and as simple as it may be.

    Of columns that are nearly dependent it holds a share that is rounding: what is small goes, if it is no worse so.
    """
    column = column.copy()
    column[own] = 0.0
    column[j] = 1.0
    left = max(float(np.abs(A @ column).max()), EPS)
    for same in (1e-8, 1e-10, 1e-12, SAME):
        cleared = np.where(np.abs(column) > same * np.abs(column).max(), column, 0.0)
        for neat in (simple(cleared), cleared):
            if np.abs(A @ neat).max() <= 4 * left * np.abs(neat).max():
                return neat
    return column


def simple(column: Floats) -> Floats:
    """The column times the number that makes it whole, if denominators are small up to rounding; else as it is."""
    largest = float(np.abs(column).max())
    fractions = [Fraction(x).limit_denominator(MOST) for x in (column / largest).tolist()]
    if any(abs(float(f) - x) > SAME for f, x in zip(fractions, (column / largest).tolist(), strict=True)):
        return np.where(np.abs(column) > SAME * largest, column, 0.0)
    common = lcm(*(f.denominator for f in fractions))
    return np.array([float(f * common) for f in fractions]) if common <= MOST**3 else column
