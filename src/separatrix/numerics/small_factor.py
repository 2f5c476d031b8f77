"""Compiled arithmetic of small symmetric matrices, for kernels that need it between two sums over rows."""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from .jit import EXACT, SUMS


@register_jitable(**SUMS)
def dot(a, b, n):  # type: ignore[no-untyped-def]
    """Σₖ aₖbₖ of the first n."""
    s = 0.0
    for k in range(n):
        s += a[k] * b[k]
    return s


@register_jitable(**EXACT)
def factored(H, L, size):  # type: ignore[no-untyped-def]
    """L and D with H = D LLᵀ D; the least part of a column's square that is its own, none if H is not definite."""
    p, weakest = len(H), np.inf
    for j in range(p):
        if not H[j, j] > 0:
            return 0.0
        size[j] = math.sqrt(H[j, j])
    for j in range(p):
        for i in range(j, p):
            s = H[i, j] / (size[i] * size[j])
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                weakest = min(weakest, s)
                if not s > 0:
                    return 0.0
                L[j, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return weakest


@register_jitable(**EXACT)
def solved(L, size, g, d):  # type: ignore[no-untyped-def]
    """d = H⁻¹g."""
    p = len(L)
    for j in range(p):
        s = g[j] / size[j]
        for k in range(j):
            s -= L[j, k] * d[k]
        d[j] = s / L[j, j]
    for j in range(p - 1, -1, -1):
        s = d[j]
        for k in range(j + 1, p):
            s -= L[k, j] * d[k]
        d[j] = s / L[j, j]
    for j in range(p):
        d[j] /= size[j]
