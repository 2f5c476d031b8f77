"""The compiled Σ vᵢ xᵢxᵢᵀ over CSR rows, from the pairs of their numbers: a matrix, or its diagonal alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from ...numerics.jit import EXACT, made_once
from .passes import _compiled, _matrix, _rows


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


@made_once
def gram_kernels(dtype: str, index: str) -> tuple[Callable[..., Any], ...]:
    """The matrix, its diagonal, and Σ vᵢ xᵢ."""
    weight, vector = types.Array(types.float64, 1, "C", readonly=True), types.Array(types.float64, 1, "C")
    parts, integer, options = _rows(dtype, index), types.int64, {**EXACT, "cached": True}

    def made(kernel: Any, out: Any) -> Any:
        return _compiled(kernel, types.void(parts, integer, integer, weight, out), **options)  # type: ignore[arg-type]

    return made(_gram, _matrix("float64", "C", readonly=False)), made(_diagonal, vector), made(_pull, vector)
