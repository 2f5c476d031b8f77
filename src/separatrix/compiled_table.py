"""The compiled Σ vᵢ xᵢxᵢᵀ over a table's rows: a row adds to what belongs to its levels, and to no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from .compiled import EXACT, TABLE, _compiled, _matrix, _rows
from .once import made_once


def _gram(X, lo, hi, center, inverse_scale, weight, N, C, L):  # type: ignore[no-untyped-def]
    """N ← N + Σ v zzᵀ, C ← C + Σ v ezᵀ, L ← L + Σ v eeᵀ with z the numbers (x − c)/s and 1, e the levels.

    L has one half of each pair, and nothing of its diagonal.
    """
    numbers, places = X
    p, q = numbers.shape[1], places.shape[1]
    z = np.ones(p + 1)
    for i in range(lo, hi):
        v = weight[i - lo]
        for j in range(p):
            z[j] = (numbers[i, j] - center[j]) * inverse_scale[j]
        for j in range(p + 1):
            part, own = v * z[j], N[j]
            for k in range(p + 1):
                own[k] += part * z[k]
        for a in range(q):
            place = places[i, a]
            own = C[place]
            for k in range(p + 1):
                own[k] += v * z[k]
            for b in range(a):
                L[place, places[i, b]] += v


@made_once
def table_gram_kernel() -> Callable[..., Any]:
    """The compiled sums."""
    numbers, out = types.Array(types.float64, 1, "C", readonly=True), _matrix("float64", "C", readonly=False)
    signature = types.void(
        _rows("float64", TABLE), types.int64, types.int64, numbers, numbers, numbers, out, out, out
    )  # fmt: skip
    return _compiled(_gram, signature, cached=True, **EXACT)
