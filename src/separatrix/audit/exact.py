"""Sums that rounding cannot falsify: products and sums without error, fractions, and elimination in integers.

A float is a whole number times a power of two. So the sum and the product of two floats are again two floats each,
what rounding left included; and modulo an odd prime every float has a residue, so that ranks have a lower bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
SMALLEST = 2.0**-960
"""From here on a product and its error are floats; below, fractions take over."""
LARGEST = 2.0**990
"""Up to here a product and its error are floats; above, fractions take over."""
FAINT = 1e-290
"""A product below this may have lost its digits."""
SPLIT = 2.0**27 + 1
PRIMES = 2**20 - 3, 999_983
"""Small enough that sums of thousands of products are exact in double precision; two, should one be unlucky."""
PASSES = 5


# --------------------------------------------------------------------------------------------- sums without error


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """ab = p + e, p = fl(ab): Dekker's, by Veltkamp's halves."""
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a: Any) -> tuple[Any, Any]:
    c = SPLIT * a
    high = c - (c - a)
    return high, a - high


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b = s + e, s = fl(a + b): Knuth's."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def splits(a: Any, b: Any) -> Any:
    """Where `two_product` is exact: no part of ab is too small or too large for a float."""
    size = np.abs(a * b)
    fits = (np.abs(a) < LARGEST) & (np.abs(b) < LARGEST) & (size < LARGEST)
    return fits & ((size > SMALLEST) | (a == 0) | (b == 0))


def distil(terms: Any) -> None:
    """Keep the sums down the columns, with most of each in the last row: a row less of carried errors every pass."""
    total = terms[0].copy()
    for j in range(1, len(terms)):
        total, terms[j - 1] = two_sum(total, terms[j])
    terms[-1] = total


def weighed_sum(a: Any, b: Any) -> Fraction:
    """Σᵢ aᵢbᵢ, exactly: the sum to a float, then the sum of what is left, until nothing is."""
    if not splits(a, b).all():
        return sum((Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)), Fraction(0))
    terms, total = np.concatenate(two_product(a, b)).tolist(), Fraction(0)
    while part := math.fsum(terms):
        terms.append(-part)
        total += Fraction(part)
    return total


# ------------------------------------------------------------------------------------------ elimination in integers


def independent(A: Any, most: int) -> tuple[list[int], list[int]]:
    """Rows and columns of A that cross in a matrix of full rank: the first such rows, at most so many.

    Modulo a prime: what is independent there is so in truth.
    """
    found: tuple[list[int], list[int]] = [], []
    for prime in PRIMES:
        new = _independent(A, most, prime)
        found = new if len(new[0]) > len(found[0]) else found
        if len(found[0]) >= min(most, *A.shape):
            break
    return found


def _independent(A: Any, most: int, prime: int, chunk: int = 512) -> tuple[list[int], list[int]]:
    rows: list[int] = []
    columns: list[int] = []
    basis = np.zeros((0, A.shape[1]))  # reduced: the identity on its columns
    for lo in range(0, len(A), chunk):
        C = residues(A[lo : lo + chunk], prime)
        C = (C - C[:, columns] @ basis) % prime
        for i in range(len(C)):
            if len(rows) == most:
                return rows, columns
            if not C[i].any():
                continue
            j = int(np.argmax(C[i] > 0))
            pivot = C[i] * pow(int(C[i, j]), -1, prime) % prime
            C = (C - C[:, j, None] * pivot) % prime
            basis = np.vstack([(basis - basis[:, j, None] * pivot) % prime, pivot])
            rows, columns = [*rows, lo + i], [*columns, j]
    return rows, columns


def residues(A: Any, prime: int) -> Any:
    """m·2ᵉ modulo the prime, for every number of A."""
    mantissa, exponent = np.frexp(A)
    powers, where = np.unique(exponent, return_inverse=True)
    factor = np.array([pow(2, int(e) - 53, prime) for e in powers], dtype=np.int64)[where.reshape(A.shape)]
    return ((mantissa * 2.0**53).astype(np.int64) % prime * factor % prime).astype(float)


def solve(A: Any, right: list[Fraction]) -> tuple[list[int], int] | None:
    """n and Δ ≠ 0 with A n/Δ = right, by Bareiss's elimination, whose divisions leave nothing; None if singular."""
    n, previous = len(right), 1
    M = np.array([_whole([*row, value]) for row, value in zip(A.tolist(), right, strict=True)], dtype=object)
    M = M.reshape(n, n + 1)
    for k in range(n):
        at = next((i for i in range(k, n) if M[i, k]), None)
        if at is None:
            return None
        M[[k, at]] = M[[at, k]]
        rest = M[k + 1 :, k + 1 :]
        M[k + 1 :, k + 1 :] = (M[k, k] * rest - M[k + 1 :, k][:, None] * M[k, k + 1 :]) // previous
        previous = M[k, k]
    found = M[:, n].tolist()
    for i in range(n - 1, -1, -1):  # Δ times the solution is whole, by Cramer's rule
        found[i] = (
            previous * found[i] - sum(a * x for a, x in zip(M[i, i + 1 : n], found[i + 1 :], strict=True))
        ) // M[i, i]
    return found, previous


def _whole(row: list[Any]) -> list[int]:
    """The row times the smallest number that makes all of it whole, without their common factor."""
    ratios = [value.as_integer_ratio() for value in row]
    scale = math.lcm(*(below for _, below in ratios))
    whole = [above * (scale // below) for above, below in ratios]
    shared = math.gcd(*whole) or 1
    return [value // shared for value in whole]
