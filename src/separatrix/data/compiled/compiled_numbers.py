"""Compiled passes over the numbers of rows that are mostly zeros: scores with what their rounding is relative to, and
the ranges of the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import register_jitable

from ...numerics.jit import EXACT, made_once
from .passes import _compiled, _matrix


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
    """The same of one rule, with no column where zeros count."""
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


def _types(dtype: str, index: str) -> tuple[Any, Any]:
    number, integer = (types.float32 if dtype == "float32" else types.float64), types.int64
    integer = types.int32 if index == "int32" else types.int64
    return types.Array(number, 1, "C", readonly=True), types.Array(integer, 1, "C", readonly=True)


@made_once
def number_kernels(dtype: str, index: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Scores and ranges, for one precision of the numbers and one kind of column numbers."""
    values, columns = _types(dtype, index)
    whole = types.Array(types.int64, 1, "C", readonly=True)
    numbers, vector = types.Array(types.float64, 1, "C", readonly=True), types.Array(types.float64, 1, "C")
    read, write = _matrix("float64", "C", readonly=True), _matrix("float64", "C", readonly=False)
    score = types.void(values, columns, whole, numbers, whole, read, numbers, write, write)
    ranges = types.void(
        values, columns, types.int64, types.int64, vector, vector, types.Array(types.int64, 1, "C")
    )  # fmt: skip
    options = {**EXACT, "cached": True}
    return _compiled(_score, score, **options), _compiled(_range, ranges, **options)  # type: ignore[arg-type]
