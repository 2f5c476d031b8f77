"""Compiled reading of C-ordered rows: some columns of some of them, and the sums of squares of columns by weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from ...numerics.jit import EXACT, SUMS, made_once
from .passes import _compiled, _matrix


def _squares(X, lo, hi, center, weight, sums):  # type: ignore[no-untyped-def]
    """sⱼ ← sⱼ + Σᵢ vᵢ (xᵢⱼ − cⱼ)² over the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        v = weight[i]
        if v > 0:
            for j in range(center.size):
                z = X[i, j] - center[j]
                sums[j] += v * z * z


def _chosen(X, rows, columns, found):  # type: ignore[no-untyped-def]
    """Some columns of some rows."""
    for k in range(rows.size):
        i = rows[k]
        for j in range(columns.size):
            found[k, j] = X[i, columns[j]]


@made_once
def squares_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled sums for rows of one precision."""
    vector, numbers = types.Array(types.float64, 1, "C"), types.Array(types.float64, 1, "C", readonly=True)
    signature = types.void(_matrix(dtype, "C", readonly=True), types.int64, types.int64, numbers, numbers, vector)
    return _compiled(_squares, signature, cached=True, **SUMS)


@made_once
def chosen_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled choice for rows of one precision."""
    places = types.Array(types.intp, 1, "C", readonly=True)
    signature = types.void(_matrix(dtype, "C", readonly=True), places, places, _matrix(dtype, "C", readonly=False))
    return _compiled(_chosen, signature, cached=True, **EXACT)
