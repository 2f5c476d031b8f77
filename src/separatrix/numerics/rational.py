"""Directions that are zero on given rows, in fractions; worked out in whole numbers.

A float is a whole number times a power of two, so a row of floats times a power of two is a row of whole numbers. Their
elimination by Bareiss divides without remainder: no fraction is reduced until the end.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from .arrays import Floats

LARGEST, BITS = 60, 8000
"""Weights, and bits of a determinant, beyond which exact elimination takes too long."""

Row = list[Fraction]


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
    solved = _eliminated(A[np.ix_(rows, np.append(rest, own))])
    if solved is None:
        return None
    numerators, determinant = solved
    directions = []
    for k, j in enumerate(own):
        direction = [Fraction(0)] * size
        direction[j] = Fraction(N[j, k])
        for i, weight in enumerate(rest):
            direction[weight] = -Fraction(numerators[i][k], determinant) * direction[j]
        directions.append(direction)
    return directions


def _own_weights(N: Floats) -> NDArray[np.intp]:
    """For each direction a weight that no other direction has."""
    alone = np.count_nonzero(N, axis=1) == 1
    places = [np.flatnonzero(alone & (column != 0))[:1] for column in N.T]
    return np.concatenate(places) if places else np.empty(0, np.intp)


def _eliminated(system: Floats) -> tuple[list[list[int]], int] | None:
    """N and Δ ≠ 0 with A N = Δ B, of a system [A B]; None if A is singular, or its determinant too long."""
    n, previous = len(system), 1
    M = np.array([_whole(row) for row in system.tolist()], dtype=object).reshape(system.shape)
    for k in range(n):
        at = next((i for i in range(k, n) if M[i, k]), None)
        if at is None or abs(M[at, k]).bit_length() > BITS:
            return None
        M[[k, at]] = M[[at, k]]
        below = M[k + 1 :, k + 1 :]
        M[k + 1 :, k + 1 :] = (M[k, k] * below - M[k + 1 :, k][:, None] * M[k, k + 1 :]) // previous
        previous = M[k, k]
    N = M[:, n:]
    for i in range(n - 1, -1, -1):
        N[i] = (previous * N[i] - M[i, i + 1 : n] @ N[i + 1 :]) // M[i, i]
    return N.tolist(), previous


def _whole(row: list[float]) -> list[int]:
    """The row times the number that makes it whole and leaves no common factor."""
    ratios = [x.as_integer_ratio() for x in row]
    most = max(below for _, below in ratios)  # all are powers of two
    numbers = [above * (most // below) for above, below in ratios]
    shared = math.gcd(*numbers) or 1
    return [number // shared for number in numbers]


def balances_exactly(A: Floats, multipliers: Floats) -> bool:
    """Whether Aᵀλ = 0 for some λ near these, exactly, of rows that balance in one way only."""
    m = len(A)
    if m > LARGEST:
        return False
    pivots = qr((A * multipliers[:, None])[:-1], mode="r", pivoting=True)[1][: m - 1]
    solved = _eliminated(A[:, pivots].T) if len(pivots) == m - 1 else None
    if solved is None:
        return False
    numerators, last = solved
    exact = [*(-number for (number,) in numerators), last]
    given = multipliers.tolist()
    near = all(abs(x / last * given[-1] - y) <= 1e-4 * y for x, y in zip(exact, given, strict=True))
    return near and not any(_sum_of_products(exact, _whole(column)) for column in A.T.tolist())


def _sum_of_products(a: list[int], b: list[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True) if y)


def combined(directions: list[Row], whole: Floats) -> Floats:
    """Σₖ wholeₖ directionₖ, each number rounded once."""
    parts = [(Fraction(int(w)), direction) for w, direction in zip(whole.tolist(), directions, strict=True) if w]
    size = len(directions[0])
    return np.array([float(sum((w * d[j] for w, d in parts if d[j]), Fraction(0))) for j in range(size)])


def rounded(directions: list[Row]) -> Any:
    """The same, each number rounded once: size × directions."""
    return np.array([[float(x) for x in direction] for direction in directions]).T
