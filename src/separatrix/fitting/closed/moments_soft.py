"""Moments where a row belongs to every class in part: nₖ = Σᵢ cᵢtᵢₖ, μₖ = Σᵢ cᵢtᵢₖxᵢ/nₖ."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ...data import Sparse
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from .moments import SMALL, Moments

BLOCK = 1 << 18
"""Numbers of a block of rows."""


def soft_moments(X: Any, share: Floats, cost: Floats, n_threads: int | None = None) -> Moments:
    """The pooled moments, a row counting cᵢtᵢₖ in class k: one product more than for labels, in the same pass.

    The scatter within the classes is that of all rows less what is between them; `total` puts that back.
    """
    size = max(64, BLOCK // max(1, X.shape[1]))
    starts = range(0, len(X), size)
    threads = thread_count(n_threads) if X.size >= SMALL else 1
    nothing = Moments.none(share.shape[1], X.shape[1], "pooled")

    def part(lo: int) -> Moments:
        rows = X[lo : lo + size]
        here = np.asarray(rows.dense() if isinstance(rows, Sparse) else rows, dtype=np.float64)
        return _block(here, share[lo : lo + size], cost[lo : lo + size] if cost.size else None)

    with ordered_map(threads) as each, one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        return reduce(Moments.merge, each(part, starts), nothing)


def _block(X: Floats, share: Floats, cost: Floats | None) -> Moments:
    weights = share if cost is None else share * cost[:, None]
    counts = weights.sum(axis=1) > 0
    if not counts.all():
        X, weights = X[counts], weights[counts]
    classes, d = weights.shape[1], X.shape[1]
    if not len(X):
        return Moments.none(classes, d, "pooled")
    base = X[0] + (X - X[0]).mean(axis=0)
    Z, n = X - base, weights.sum(axis=0)
    sums = weights.T @ Z
    off = np.divide(sums, n[:, None], out=np.zeros_like(sums), where=n[:, None] > 0)
    mean = np.where(n[:, None] > 0, base + off, 0.0)
    rest = np.where(n[:, None] > 0, off - (mean - base), 0.0)
    rooted = np.sqrt(weights.sum(axis=1))[:, None] * Z
    scatter = rooted.T @ rooted - sums.T @ off
    return Moments((weights > 0).sum(axis=0), n, mean, rest, scatter, "pooled")
