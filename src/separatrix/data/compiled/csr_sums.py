"""Compiled sums over CSR rows: scores with what their rounding is relative to, the ranges of the columns, and
Σ vᵢ xᵢxᵢᵀ from the pairs of a row's numbers.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import register_jitable

from ...numerics.jit import EXACT, kernel, read, write
from .readers import rows_type


@register_jitable(**EXACT)
def _add(x, w, score, size):  # type: ignore[no-untyped-def]
    """score ← score + xw, size ← size + |xw|."""
    for v in range(w.size):
        product = x * w[v]
        score[v] += product
        if size.size:
            size[v] += abs(product)


@register_jitable(**EXACT)
def _score_one(values, columns, starts, center, w, b, scores, sizes):  # type: ignore[no-untyped-def]
    """sᵢ and its size as `_score` has them, of one rule with no column where zeros count."""
    for i in range(len(starts) - 1):
        score, size = b, abs(b)
        for e in range(starts[i], starts[i + 1]):
            product = (values[e] - center[columns[e]]) * w[columns[e], 0]
            score += product
            size += abs(product)
        scores[i, 0] = score
        if sizes.size:
            sizes[i, 0] = size


def _score(values, columns, starts, center, far, W, b, scores, sizes):  # type: ignore[no-untyped-def]
    """sᵢ = Σⱼ (xᵢⱼ − cⱼ)wⱼ + b and Σⱼ |(xᵢⱼ − cⱼ)wⱼ| + |b|; `far` are the columns with c ≠ 0, where zeros count too."""
    if b.size == 1 and not far.size:
        _score_one(values, columns, starts, center, W, b[0], scores, sizes)
        return
    for i in range(len(starts) - 1):
        score, size, f = scores[i], sizes[i], 0
        for v in range(b.size):
            score[v] = b[v]
            if size.size:
                size[v] = abs(b[v])
        for e in range(starts[i], starts[i + 1]):
            j = columns[e]
            while f < far.size and far[f] < j:
                _add(-center[far[f]], W[far[f]], score, size)
                f += 1
            f += 1 if f < far.size and far[f] == j else 0
            _add(values[e] - center[j], W[j], score, size)
        while f < far.size:
            _add(-center[far[f]], W[far[f]], score, size)
            f += 1


def _range(values, columns, first, last, low, high, counts):  # type: ignore[no-untyped-def]
    """The least and the largest number of each column, and how many there are; a NaN stays."""
    for e in range(first, last):
        j, x = columns[e], values[e]
        low[j] = x if x < low[j] or x != x else low[j]
        high[j] = x if x > high[j] or x != x else high[j]
        counts[j] += 1


def _gram(X, lo, hi, weight, G):  # type: ignore[no-untyped-def]
    """G ← G + Σᵢ vᵢ xᵢxᵢᵀ, its upper half: the columns of a row rise."""
    values, columns, starts = X
    for i in range(lo, hi):
        first, last, v = starts[i], starts[i + 1], weight[i - lo]
        for e in range(first, last):
            row, part = columns[e], v * values[e]
            for f in range(e, last):
                G[row, columns[f]] += part * values[f]


def _diagonal(X, lo, hi, weight, diagonal):  # type: ignore[no-untyped-def]
    """gⱼ ← gⱼ + Σᵢ vᵢ xᵢⱼ²."""
    values, columns, starts = X
    for i in range(lo, hi):
        v = weight[i - lo]
        for e in range(starts[i], starts[i + 1]):
            diagonal[columns[e]] += v * values[e] * values[e]


def _pull(X, lo, hi, weight, sums):  # type: ignore[no-untyped-def]
    """sⱼ ← sⱼ + Σᵢ vᵢ xᵢⱼ."""
    values, columns, starts = X
    for i in range(lo, hi):
        v = weight[i - lo]
        for e in range(starts[i], starts[i + 1]):
            sums[columns[e]] += v * values[e]


_i = types.int64


@kernel()
def score_kernel(dtype: str, index: str) -> Any:
    """The compiled scores and their sizes, for one precision of the numbers and one kind of column numbers."""
    numbers, places, out = (read(dtype), read(index)), read("int64"), write("float64", 2)
    return _score, types.void(*numbers, places, read(), places, read("float64", 2), read(), out, out)


@kernel()
def range_kernel(dtype: str, index: str) -> Any:
    """The compiled ranges of columns."""
    return _range, types.void(read(dtype), read(index), _i, _i, write(), write(), write("int64"))


@kernel()
def gram_kernel(dtype: str, index: str) -> Any:
    """The compiled Σ vᵢ xᵢxᵢᵀ."""
    return _gram, types.void(rows_type(dtype, index), _i, _i, read(), write("float64", 2))


@kernel()
def gram_diagonal_kernel(dtype: str, index: str) -> Any:
    """The compiled diagonal of Σ vᵢ xᵢxᵢᵀ."""
    return _diagonal, types.void(rows_type(dtype, index), _i, _i, read(), write())


@kernel()
def pull_kernel(dtype: str, index: str) -> Any:
    """The compiled Σ vᵢ xᵢ."""
    return _pull, types.void(rows_type(dtype, index), _i, _i, read(), write())
