"""Exact arithmetic: elimination in whole numbers, sums of products without rounding, rows that balance exactly.

A float is a whole number times a power of two, so a row of floats times a power of two is a row of whole numbers. Their
elimination by Bareiss divides without remainder: no fraction is reduced until the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from .arrays import Floats

Row = list[Fraction]

LARGEST = 60
"""Weights beyond which exact elimination takes too long."""
BITS = 8000
"""Bits of a determinant beyond which exact elimination takes too long."""
WORK = 300_000
"""Steps of an elimination up to which it is done in whole numbers: some tenths of a second."""
CLEAR = 1e-9
"""Multipliers that are so much larger than their rounding have a sure sign."""
NEAR = 1e-4
"""The most, relative, by which exact multipliers may differ from rounded ones."""


MANTISSA = 53
"""Binary digits of a double."""


def whole_numbers(values: Sequence[float]) -> list[int]:
    """The numbers times the power of two that makes them whole, without their common factor.

    >>> whole_numbers([0.25, -0.75])
    [1, -3]
    """
    ratios = [value.as_integer_ratio() for value in values]
    largest = max(below for _, below in ratios)  # all are powers of two
    whole = [above * (largest // below) for above, below in ratios]
    common = math.gcd(*whole) or 1
    return [value // common for value in whole]


def whole_rows(A: Floats) -> NDArray[Any]:
    """Each row of A as whole numbers."""
    return np.array([whole_numbers(row) for row in A.tolist()], dtype=object).reshape(A.shape)


def exact_dot(a: Floats, b: Floats) -> Fraction:
    """Σⱼ aⱼbⱼ, exactly.

    >>> float(exact_dot(np.array([1e16, 1.0, -1e16]), np.ones(3)))
    1.0
    """
    (x, p), (y, q) = _in_whole_numbers(a), _in_whole_numbers(b)
    exponent = p + q
    least = int(exponent.min(initial=0))
    total = sum(m * n << k for m, n, k in zip(x, y, (exponent - least).tolist(), strict=True))
    return Fraction(total) * Fraction(2) ** least


def _in_whole_numbers(a: Floats) -> tuple[list[int], NDArray[np.int64]]:
    """m and e with a = m·2ᵉ."""
    if not np.isfinite(a).all():
        raise ValueError("NaN and infinity are no numbers that could be added exactly.")
    part, exponent = np.frexp(np.asarray(a, np.float64))
    return np.ldexp(part, MANTISSA).astype(np.int64).tolist(), exponent.astype(np.int64) - MANTISSA


class Elimination(NamedTuple):
    """MN = 0 read off: row k says Δ·n_pivot(k) + Σ over the other columns of matrix[k, j]·nⱼ = 0."""

    matrix: NDArray[Any]
    """Its entries in pivot columns are not kept up to date: Δ in the pivot's own row, 0 in the others."""
    pivots: list[int]
    """The pivot columns, one for each of the first rows; the other rows are zero in all eliminated columns."""
    determinant: int
    """Δ."""


def eliminated(
    M: NDArray[Any], columns: int, *, bits: float = math.inf, deadline: float = math.inf
) -> Elimination | None:
    """M in the form of Gauss and Jordan, in whole numbers, its first columns eliminated.  [Bareiss 1968]

    None if a pivot has more bits, or takes longer than the deadline: the numbers grow with every column.
    """
    M, previous = M.copy(), 1
    pivots: list[int] = []
    others = np.arange(M.shape[1])
    for column in range(columns):
        row = len(pivots)
        at = next((i for i in range(row, len(M)) if M[i, column]), None)
        if at is None:
            continue
        if M[at, column].bit_length() > bits or time.perf_counter() > deadline:
            return None
        M[[row, at]] = M[[at, row]]
        others = others[others != column]
        rest = np.ix_(np.arange(len(M)) != row, others)
        M[rest] = (M[row, column] * M[rest] - np.delete(M[:, column], row)[:, None] * M[row, others]) // previous
        previous = M[row, column]
        pivots.append(column)
    return Elimination(M, pivots, previous)


def null_vectors(M: NDArray[Any], **limits: float) -> list[list[int]] | None:
    """A basis of {n : Mn = 0}: whole vectors without a common factor, each positive in a place where the others are 0.

    None if a limit of the elimination was met.
    """
    width = M.shape[1]
    found = eliminated(M, width, **limits)
    if found is None:
        return None
    basis = []
    for free in np.setdiff1d(np.arange(width), found.pivots).tolist():
        vector = [0] * width
        vector[free] = found.determinant
        for row, column in enumerate(found.pivots):
            vector[column] = -found.matrix[row, free]
        common = math.gcd(*vector) if found.determinant > 0 else -math.gcd(*vector)
        basis.append([value // common for value in vector])
    return basis


def null_vector(M: NDArray[Any], **limits: float) -> list[int] | None:
    """n ≠ 0 with Mn = 0, if it is the only one but for its length; None too if a limit of the elimination was met.

    >>> null_vector(whole_rows(np.array([[0.25, -0.75]])))
    [3, 1]
    """
    found = null_vectors(M, **limits)
    return found[0] if found is not None and len(found) == 1 else None


def combination_of_columns(A: Floats) -> Row | None:
    """f with Σₖ fₖaₖ = a of the last column, over those before it; None if the last is no combination of them."""
    width = A.shape[1] - 1
    found = eliminated(whole_rows(A), width)
    assert found is not None
    if found.matrix[len(found.pivots) :, width].any():
        return None
    factors = [Fraction(0)] * width
    for row, column in enumerate(found.pivots):
        factors[column] = Fraction(found.matrix[row, width], found.determinant)
    return factors


def exact_directions(A: Floats, N: Floats) -> list[Row] | None:
    """The directions of which N holds rounded ones, zero on the rows of A exactly: its columns, or None if too large.

    Each column of N has a weight of its own, at which all others are zero; the rest follow from independent rows.
    """
    size, q = N.shape
    own = _own_weights(N)
    rest = np.setdiff1d(np.arange(size), own)
    if own.size < q or size > LARGEST:
        return None
    if not rest.size:
        return [[Fraction(int(i == j)) for i in range(size)] for j in own]
    rows = qr(A[:, rest].T, mode="r", pivoting=True)[1][: rest.size]
    found = eliminated(whole_rows(A[np.ix_(rows, np.append(rest, own))]), rest.size, bits=BITS)
    if found is None or len(found.pivots) < rest.size:
        return None
    directions = []
    for k, j in enumerate(own):
        direction = [Fraction(0)] * size
        direction[j] = Fraction(N[j, k])
        for i, weight in enumerate(rest):
            direction[weight] = -Fraction(found.matrix[i, rest.size + k], found.determinant) * direction[j]
        directions.append(direction)
    return directions


def _own_weights(N: Floats) -> NDArray[np.intp]:
    """For each direction a weight that no other direction has: one that is exactly one, rather than rounded."""
    alone = np.count_nonzero(N, axis=1) == 1
    places = [np.flatnonzero(alone & (column != 0)) for column in N.T]
    chosen = [min(there, key=lambda j: column[j] != 1) for there, column in zip(places, N.T, strict=True) if there.size]
    return np.array(chosen, np.intp)


def combined(directions: list[Row], whole: Floats) -> Floats:
    """Σₖ wholeₖ directionₖ, each number rounded once."""
    parts = [(Fraction(int(w)), direction) for w, direction in zip(whole.tolist(), directions, strict=True) if w]
    size = len(directions[0])
    return np.array([float(sum((w * d[j] for w, d in parts if d[j]), Fraction(0))) for j in range(size)])


def rounded(directions: list[Row]) -> Any:
    """The directions with each number rounded once: size × directions."""
    return np.array([[float(x) for x in direction] for direction in directions]).T


def balances_exactly(A: Floats, multipliers: Floats) -> bool:
    """Whether Aᵀλ = 0 for some λ near these, exactly, of rows that balance in one way only."""
    m = len(A)
    if m > LARGEST:
        return False
    pivots = qr((A * multipliers[:, None])[:-1], mode="r", pivoting=True)[1][: m - 1]
    exact = null_vector(whole_rows(A[:, pivots].T), bits=BITS) if len(pivots) == m - 1 else None
    if exact is None or not exact[-1]:
        return False
    given = multipliers.tolist()
    near = all(abs(x / exact[-1] * given[-1] - y) <= NEAR * y for x, y in zip(exact, given, strict=True))
    return near and not (whole_rows(A.T) @ np.array(exact, dtype=object)).any()


def surely_balance(rows: Floats, multipliers: Floats) -> bool:
    """Whether positive factors exist with Σᵢ λᵢrᵢ = 0, these being such up to rounding.

    Rows that are one more than their columns, and span them, always balance: only the signs are in question. Any others
    do so by coincidence, which whole numbers decide; where that is too much work, the last digits must do.
    """
    sizes = np.linalg.norm(rows, axis=1)
    if len(rows) == rows.shape[1] + 1 and sizes.all():
        scaled = rows / sizes[:, None]
        unit = np.maximum(np.abs(scaled).max(axis=0), np.finfo(float).tiny)
        least = np.linalg.svd(scaled / unit, compute_uv=False)[-1]
        parts = multipliers * sizes
        if least * float((parts / parts.max()).min()) > CLEAR:
            return True
    if len(rows) ** 2 * rows.shape[1] > WORK:
        return True
    found = null_vector(whole_rows(rows.T))
    return found is not None and min(found) > 0
