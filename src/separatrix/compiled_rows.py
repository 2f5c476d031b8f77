"""How a compiled pass reads rows: from an array, or from CSR parts (values, columns, starts), where zeros are skipped.

Each of these has one text for either kind of X, and Numba picks it by the type of X. Sums may be split over vector
lanes. NaN and infinity keep their meaning: they show bad input. Where zeros are skipped the centre is left to the
caller: it moves every score by the same number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

SUMS = {"fastmath": {"contract", "reassoc", "nsz"}, "error_model": "numpy"}
"""For sums, which may be split over vector lanes."""
TILE = 64


def _by_kind(name: Any, of_array: Any, of_parts: Any) -> Any:
    """A function for compiled code that is the one or the other, by its first argument."""
    overload(name, jit_options=SUMS, strict=False)(
        lambda X, *_: of_parts if isinstance(X, types.BaseTuple) else of_array
    )
    return name


def _array_scores(X, lo, rows, center, w, b, z):  # type: ignore[no-untyped-def]
    for k in range(rows):
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


def _array_room(X, gather):  # type: ignore[no-untyped-def]
    return np.empty((TILE if gather else 0, X.shape[1]), X.dtype)


def _parts_room(X, gather):  # type: ignore[no-untyped-def]
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


def room(X: Any, gather: Any) -> Any:
    """Room for a tile of rows, if they are to be gathered."""


def take(X: Any, lo: Any, rows: Any, tile: Any) -> None:
    """Gather rows that do not lie side by side."""


_by_kind(scores, _array_scores, _parts_scores)
_by_kind(sizes, _array_sizes, _parts_sizes)
_by_kind(pull, _array_pull, _parts_pull)
_by_kind(room, _array_room, _parts_room)
_by_kind(take, _array_take, _parts_take)
