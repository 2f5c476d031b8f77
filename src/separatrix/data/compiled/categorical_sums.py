"""The compiled Σ vᵢ xᵢxᵢᵀ over a table's rows: a row adds to what belongs to its levels, and to no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ...numerics.jit import kernel, read, write
from ..categorical import TABLE
from .readers import rows_type


def _gram(X, lo, hi, center, inverse_scale, weight, N, C, L):  # type: ignore[no-untyped-def]
    """N ← N + Σ v zzᵀ, C ← C + Σ v ezᵀ, L ← L + Σ v eeᵀ with z the numbers (x − c)/s and 1, e the levels.

    L has one half of each pair, and nothing of its diagonal.
    """
    numbers, places = X
    p, q = numbers.shape[1], places.shape[1]
    z, u = np.ones((4, p + 1)), np.zeros((4, p + 1))
    z0, z1, z2, z3 = z[0], z[1], z[2], z[3]
    for start in range(lo, hi, 4):  # four rows at a time: N is read and written a quarter as often
        rows = min(4, hi - start)
        for r in range(rows):
            i, own_z, own_u = start + r, z[r], u[r]
            v = weight[i - lo]
            for j in range(p):
                own_z[j] = (numbers[i, j] - center[j]) * inverse_scale[j]
            for j in range(p + 1):
                own_u[j] = v * own_z[j]
            for a in range(q):
                place = places[i, a]
                own = C[place]
                for k in range(p + 1):
                    own[k] += own_u[k]
                for b in range(a):
                    L[place, places[i, b]] += v
        for r in range(rows, 4):
            u[r, :] = 0.0
        for j in range(p + 1):
            own, u0, u1, u2, u3 = N[j], u[0, j], u[1, j], u[2, j], u[3, j]
            for k in range(p + 1):
                own[k] += (u0 * z0[k] + u1 * z1[k]) + (u2 * z2[k] + u3 * z3[k])


@kernel()
def table_gram_kernel() -> Any:
    """The compiled sums."""
    out, i = write("float64", 2), types.int64
    return _gram, types.void(rows_type("float64", TABLE), i, i, read(), read(), read(), out, out, out)
