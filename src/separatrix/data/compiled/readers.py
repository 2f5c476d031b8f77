"""How a compiled pass reads rows: from an array; from CSR parts (values, columns, starts), where zeros are skipped; or
from the parts of a table (numbers, places), where of every category one indicator is there or none.

Each of these has one text for each kind of X, and Numba picks it by the type of X. Sums may be split over vector
lanes. NaN and infinity keep their meaning: they show bad input. Where zeros are skipped the centre is left to the
caller: it moves every score by the same number. Of a table the numbers have their centres; weights and gradients hold
the numbers, then all indicators, then a place for none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from ...numerics.jit import SUMS, kernel, read, write
from ..categorical import TABLE

TILE = 64
"""Rows whose margins are worked on together, at the most."""
LONG = 512
"""Numbers in a row of an array from which on four rows are scored at once."""
CACHED = 1 << 16
"""Numbers of long rows that are worked on together: they are read again while they are near."""
TABLE_PARTS = 2
"""Numbers and places; CSR rows have three parts."""


def rows_type(dtype: str, layout: str) -> Any:
    """The type of the rows in a layout: an array, CSR parts, or those of a table."""
    if layout in ("C", "F", "A"):
        return read(dtype, 2, layout)
    if layout == TABLE:
        return types.Tuple([read(dtype, 2), read("int32", 2)])
    return types.Tuple([read(dtype), read(layout), read("int64")])


def _by_kind(name: Any, of_array: Any, of_parts: Any, of_table: Any) -> Any:
    """A function for compiled code that is one of these, by its first argument."""

    def chosen(X, *_):  # type: ignore[no-untyped-def]
        if not isinstance(X, types.BaseTuple):
            return of_array
        return of_table if len(X) == TABLE_PARTS else of_parts

    overload(name, jit_options=SUMS, strict=False)(chosen)
    return name


def _array_scores(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    fours = rows // 4 * 4 if w.size > LONG else 0  # c and w are then read once for four rows
    for k in range(0, fours, 4):
        i, s0, s1, s2, s3 = lo + k, 0.0, 0.0, 0.0, 0.0
        for j in range(w.size):
            c, v = center[j], w[j]
            s0 += (X[i, j] - c) * v
            s1 += (X[i + 1, j] - c) * v
            s2 += (X[i + 2, j] - c) * v
            s3 += (X[i + 3, j] - c) * v
        z[k], z[k + 1], z[k + 2], z[k + 3] = s0 + b, s1 + b, s2 + b, s3 + b
    for k in range(fours, rows):
        s = 0.0
        for j in range(w.size):
            s += (X[lo + k, j] - center[j]) * w[j]
        z[k] = s + b


def _parts_scores(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    values, columns, starts = X
    for k in range(rows):
        s = 0.0
        for e in range(starts[lo + k], starts[lo + k + 1]):
            s += values[e] * w[columns[e]]
        z[k] = s + b


def _table_scores(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    numbers, places = X
    p, q = numbers.shape[1], places.shape[1]
    for k in range(rows):
        s = 0.0
        for j in range(p):
            s += (numbers[lo + k, j] - center[j]) * w[j]
        for j in range(q):
            s += w[p + places[lo + k, j]]
        z[k] = s + b


def _array_sizes(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    for k in range(rows):
        s = 0.0
        for j in range(w.size):
            s += abs((X[lo + k, j] - center[j]) * w[j])
        z[k] = s + abs(b)


def _parts_sizes(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    values, columns, starts = X
    for k in range(rows):
        s = 0.0
        for e in range(starts[lo + k], starts[lo + k + 1]):
            s += abs(values[e] * w[columns[e]])
        z[k] = s + abs(b)


def _table_sizes(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    numbers, places = X
    p, q = numbers.shape[1], places.shape[1]
    for k in range(rows):
        s = 0.0
        for j in range(p):
            s += abs((numbers[lo + k, j] - center[j]) * w[j])
        for j in range(q):
            s += abs(w[p + places[lo + k, j]])
        z[k] = s + abs(b)


def _array_pull(X, lo, rows, center, r, g):  # type: ignore[no-untyped-def]
    k = 0  # four rows at a time: g is read and written once for four
    while k + 4 <= rows:
        i, r0, r1, r2, r3 = lo + k, r[k], r[k + 1], r[k + 2], r[k + 3]
        for j in range(center.size):
            c = center[j]
            g[j] += r0 * (X[i, j] - c) + r1 * (X[i + 1, j] - c) + r2 * (X[i + 2, j] - c) + r3 * (X[i + 3, j] - c)
        k += 4
    while k < rows:
        for j in range(center.size):
            g[j] += r[k] * (X[lo + k, j] - center[j])
        k += 1


def _parts_pull(X, lo, rows, center, r, g):  # type: ignore[no-untyped-def]
    values, columns, starts = X
    for k in range(rows):
        for e in range(starts[lo + k], starts[lo + k + 1]):
            g[columns[e]] += r[k] * values[e]


def _table_pull(X, lo, rows, center, r, g):  # type: ignore[no-untyped-def]
    numbers, places = X
    p, q = numbers.shape[1], places.shape[1]
    k = 0  # four rows at a time, as of an array
    while k + 4 <= rows:
        i, r0, r1, r2, r3 = lo + k, r[k], r[k + 1], r[k + 2], r[k + 3]
        for j in range(p):
            c = center[j]
            g[j] += (
                r0 * (numbers[i, j] - c)
                + r1 * (numbers[i + 1, j] - c)
                + r2 * (numbers[i + 2, j] - c)
                + r3 * (numbers[i + 3, j] - c)
            )
        k += 4
    while k < rows:
        for j in range(p):
            g[j] += r[k] * (numbers[lo + k, j] - center[j])
        k += 1
    for k in range(rows):
        for j in range(q):
            g[p + places[lo + k, j]] += r[k]


def _array_step(X):  # type: ignore[no-untyped-def]
    return max(4, min(TILE, CACHED // X.shape[1] // 4 * 4)) if X.shape[1] > LONG else TILE


def _parts_step(X):  # type: ignore[no-untyped-def]
    return TILE


def _array_room(X, gather):  # type: ignore[no-untyped-def]
    return np.empty((TILE if gather else 0, X.shape[1]), X.dtype)


def _parts_room(X, gather):  # type: ignore[no-untyped-def]
    return np.empty((0, 0), X[0].dtype)


def _table_room(X, gather):  # type: ignore[no-untyped-def]
    return np.empty((0, 0), X[0].dtype)


def _array_take(X, lo, rows, tile):  # type: ignore[no-untyped-def]
    for j in range(X.shape[1]):
        for k in range(rows):
            tile[k, j] = X[lo + k, j]


def _parts_take(X, lo, rows, tile):  # type: ignore[no-untyped-def]
    pass


def scores(X: Any, lo: Any, rows: Any, center: Any, w: Any, b: Any, z: Any) -> None:
    """zᵢ = (xᵢ − c)ᵀw + b."""


def sizes(X: Any, lo: Any, rows: Any, center: Any, w: Any, b: Any, z: Any) -> None:
    """zᵢ = Σⱼ |(xᵢⱼ − cⱼ)wⱼ| + |b|: what the rounding of a score is relative to."""


def pull(X: Any, lo: Any, rows: Any, center: Any, r: Any, g: Any) -> None:
    """g ← g + Σᵢ rᵢ (xᵢ − c)."""


def step(X: Any) -> Any:
    """How many rows are worked on together."""


def room(X: Any, gather: Any) -> Any:
    """Room for a tile of rows, if they are to be gathered."""


def take(X: Any, lo: Any, rows: Any, tile: Any) -> None:
    """Gather rows that do not lie side by side."""


_by_kind(scores, _array_scores, _parts_scores, _table_scores)
_by_kind(sizes, _array_sizes, _parts_sizes, _table_sizes)
_by_kind(pull, _array_pull, _parts_pull, _table_pull)
_by_kind(step, _array_step, _parts_step, _parts_step)
_by_kind(room, _array_room, _parts_room, _table_room)
_by_kind(take, _array_take, _parts_take, _parts_take)


# Compiled reading of C-ordered rows: some columns of some of them, and the sums of squares of columns by weight.


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
