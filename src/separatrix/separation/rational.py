"""Directions that are zero on given rows, in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Floats = NDArray[np.float64]

LARGEST, BITS = 60, 4000
"""Weights, and bits of a fraction, beyond which exact elimination takes too long."""

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
    system = [[Fraction(x) for x in row] for row in A[np.ix_(rows, np.append(rest, own))].tolist()]
    solved = _eliminated(system, rest.size)
    if solved is None:
        return None
    directions = []
    for k, j in enumerate(own):
        direction = [Fraction(0)] * size
        direction[j] = Fraction(N[j, k])
        for i, weight in enumerate(rest):
            direction[weight] = -solved[i][rest.size + k] * direction[j]
        directions.append(direction)
    return directions


def _own_weights(N: Floats) -> NDArray[np.intp]:
    """For each direction a weight that no other direction has."""
    alone = np.count_nonzero(N, axis=1) == 1
    places = [np.flatnonzero(alone & (column != 0))[:1] for column in N.T]
    return np.concatenate(places) if places else np.empty(0, np.intp)


def _eliminated(system: list[Row], count: int) -> list[Row] | None:
    """The first `count` columns made the unit matrix; None if they are dependent, or the fractions grow too long."""
    for k in range(count):
        pivot = next((i for i in range(k, count) if system[i][k]), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        top = system[k][k]
        system[k] = [x / top if x else x for x in system[k]]
        if max(x.denominator.bit_length() for x in system[k]) > BITS:
            return None
        for i in range(count):
            factor = system[i][k]
            if i != k and factor:
                system[i] = [x - factor * y if y else x for x, y in zip(system[i], system[k], strict=True)]
    return system


def balances_exactly(A: Floats, multipliers: Floats) -> bool:
    """Whether Aᵀλ = 0 for some λ near these, exactly, of rows that balance in one way only."""
    m = len(A)
    if m > LARGEST:
        return False
    pivots = qr((A * multipliers[:, None])[:-1], mode="r", pivoting=True)[1][: m - 1]
    system = [[Fraction(x) for x in column] for column in A[:, pivots].T.tolist()]
    solved = _eliminated(system, m - 1)
    if solved is None:
        return False
    exact = [*(-row[m - 1] for row in solved), Fraction(1)]
    given = multipliers.tolist()
    near = all(abs(float(x) * given[-1] - y) <= 1e-4 * y for x, y in zip(exact, given, strict=True))
    return near and not any(
        sum((x * Fraction(a) for x, a in zip(exact, column, strict=True)), Fraction(0)) for column in A.T.tolist()
    )


def combined(directions: list[Row], whole: Floats) -> Floats:
    """Σₖ wholeₖ directionₖ, each number rounded once."""
    parts = [(Fraction(int(w)), direction) for w, direction in zip(whole.tolist(), directions, strict=True) if w]
    size = len(directions[0])
    return np.array([float(sum((w * d[j] for w, d in parts if d[j]), Fraction(0))) for j in range(size)])


def rounded(directions: list[Row]) -> Any:
    """The same, each number rounded once: size × directions."""
    return np.array([[float(x) for x in direction] for direction in directions]).T
