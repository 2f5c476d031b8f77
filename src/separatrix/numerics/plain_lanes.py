"""The twins of `llvm` in plain Numba: the same sums in the same order, so the same bits, but slower."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.extending import register_jitable

from .jit import EXACT

BLOCK = 16
"""Columns that are worked on together: each has a sum of its own."""
CACHE_LINE = 64
"""Bytes."""
CLASS_LANES = {"float64": 4, "float32": 8}
"""Classes in one vector, by precision."""


@register_jitable(**EXACT)
def _sum(W, k, X, i, first, whole, total):  # type: ignore[no-untyped-def]
    """total + Σ Wₖⱼ Xᵢⱼ over one column of each whole block."""
    for j in range(first, whole, BLOCK):
        total += W[k, j] * X[i, j]
    return total


@register_jitable(**EXACT)
def _lane(W, k, X, i, lane):  # type: ignore[no-untyped-def]
    """One of four lanes: four sums over blocks of 16 columns; two of them take the next 8, one the 4 after these."""
    columns = W.shape[1]
    whole = columns & -BLOCK
    a, b = _sum(W, k, X, i, lane, whole, 0.0), _sum(W, k, X, i, lane + 4, whole, 0.0)
    c, d = _sum(W, k, X, i, lane + 8, whole, 0.0), _sum(W, k, X, i, lane + 12, whole, 0.0)
    if columns & 8:
        a += W[k, whole + lane] * X[i, whole + lane]
        b += W[k, whole + lane + 4] * X[i, whole + lane + 4]
    if columns & 4:
        j = (columns & -8) + lane
        c += W[k, j] * X[i, j]
    return (a + b) + (c + d)


@register_jitable(**EXACT)
def dense_score(W, k, start, X, i):  # type: ignore[no-untyped-def]
    """start + Σⱼ Wₖⱼ Xᵢⱼ."""
    columns = W.shape[1]
    even, odd, single = 0.0, 0.0, start
    if columns & 2:
        j = columns & -4
        even += W[k, j] * X[i, j]
        odd += W[k, j + 1] * X[i, j + 1]
    if columns & 1:
        single += W[k, columns - 1] * X[i, columns - 1]
    two = (_lane(W, k, X, i, 0) + _lane(W, k, X, i, 2)) + (_lane(W, k, X, i, 1) + _lane(W, k, X, i, 3))
    return two + ((even + odd) + single)


@register_jitable(**EXACT)
def dense_move_and_score(W, k, keep, pull, h, start, X, i):  # type: ignore[no-untyped-def]
    """Wₖ ← keep Wₖ + pull Xₕ, then start + Σⱼ Wₖⱼ Xᵢⱼ."""
    for j in range(W.shape[1]):
        W[k, j] *= keep
    for j in range(W.shape[1]):  # a loop of its own: here it is this product that joins the sum unrounded
        W[k, j] += pull * X[h, j]
    return dense_score(W, k, start, X, i)


@register_jitable
def dense_fetch_far(X, i):  # type: ignore[no-untyped-def]
    """No hint: plain Numba has none."""


@register_jitable
def line_far(numbers, e):  # type: ignore[no-untyped-def]
    """No hint: plain Numba has none."""


dense_fetch_near, line_near = dense_fetch_far, line_far


@cache
def gather(count: int) -> Any:
    """The products of one CSR row with so many vectors of classes."""

    @register_jitable(**EXACT)
    def products(values, columns, first, last, W, S, r):  # type: ignore[no-untyped-def]
        """Sᵣ = Σₑ valuesₑ W[columnsₑ]."""
        S[r, :] = 0
        for e in range(first, last):
            for c in range(W.shape[1]):
                S[r, c] += values[e] * W[columns[e], c]

    return products


@cache
def scatter(count: int) -> Any:
    """What one CSR row adds to so many vectors of classes."""

    @register_jitable(**EXACT)
    def sums(values, columns, first, last, R, r, G):  # type: ignore[no-untyped-def]
        """G[columnsₑ] ← G[columnsₑ] + valuesₑ Rᵣ for every e."""
        for e in range(first, last):
            for c in range(G.shape[1]):
                G[columns[e], c] += values[e] * R[r, c]

    return sums
