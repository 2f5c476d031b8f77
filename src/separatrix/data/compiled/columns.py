"""Compiled reading of C-ordered rows: some columns of some of them, and the sums of squares of columns by weight."""

from __future__ import annotations

from typing import Any

from numba import types

from ...numerics.jit import SUMS, kernel, read, write


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


@kernel(options=SUMS)
def squares_kernel(dtype: str) -> Any:
    """The compiled sums for rows of one precision."""
    return _squares, types.void(read(dtype, 2), types.int64, types.int64, read(), read(), write())


@kernel()
def chosen_kernel(dtype: str) -> Any:
    """The compiled choice for rows of one precision."""
    return _chosen, types.void(read(dtype, 2), read("intp"), read("intp"), write(dtype, 2))
