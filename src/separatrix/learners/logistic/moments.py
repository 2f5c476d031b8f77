"""Means and deviations of the columns of X, by weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...data import Sparse
from ...data.categorical import CategoricalRows
from ...data.frame import written_out
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread, ordered_map, thread_count

AT_ONCE = 1 << 18
"""Numbers in X up to which one product makes the means."""
LARGE = 1 << 22
"""Numbers in X from which several threads read it."""
CACHED = 1 << 18
"""Numbers of a block, which stays in the cache."""
NEAR = 0.25
"""The part of the mean square about a point near the mean that its distance may make up."""


def means_of(X: Any, cost: Floats) -> Floats:
    """x̄ = Σ cᵢxᵢ/Σ cᵢ."""
    weight = _shares(cost, len(X))
    total = np.zeros(X.shape[1])
    with np.errstate(all="ignore"), one_blas_thread():  # of rows that are not finite the fit will tell
        if isinstance(X, CategoricalRows):
            return _moments_of_table(X, cost, total)[0]
        if isinstance(X, np.ndarray) and X.size <= AT_ONCE:
            return weight @ X + total  # in double precision
        if isinstance(X, Sparse):
            return total + np.bincount(X.named, X.numbers * np.repeat(weight, np.diff(X.starts)), X.shape[1])
        return _summed(X, weight, lambda block, weight: weight @ block, total)


def moments_of(X: Any, cost: Floats, near: Floats) -> tuple[Floats, Floats]:
    """x̄ and s; of dense rows in one pass, by what is `near` the means: s² = Σ cᵢ(xᵢ − a)²/Σ cᵢ − (x̄ − a)².

    Where a is too far away for that, as many digits being lost as it is deviations away, s is had from x̄ itself.
    """
    if isinstance(X, CategoricalRows):
        return _moments_of_table(X, cost, near)
    if isinstance(X, Sparse) or not np.isfinite(near).all():
        means = means_of(X, cost)
        return means, deviations_of(X, cost, means)
    weight, width = _shares(cost, len(X)), X.shape[1]

    def sums(block: Floats, weight: Floats) -> Floats:
        away = block - near
        return np.concatenate([weight @ away, weight @ np.square(away, out=away)])

    with one_blas_thread():
        total = _summed(X, weight, sums, np.zeros(2 * width))
    away, squares = total[:width], total[width:]
    means = near + away
    if not (np.square(away) <= NEAR * squares).all():
        return means, deviations_of(X, cost, means)
    return means, np.sqrt(squares - np.square(away))


def _moments_of_table(X: CategoricalRows, cost: Floats, near: Floats) -> tuple[Floats, Floats]:
    """Of its numbers as of any; of an indicator that is 1 in a share p of the rows, p and √(p(1 − p))."""
    at, share = X.map.of_numbers, X.shares(cost / cost.sum() if cost.size else cost)
    means, deviations = moments_of(X.raw.numbers, cost, near[at]) if at.size else (near[at], near[at])
    return X.map.joined(means, share), X.map.joined(deviations, np.sqrt(np.maximum(share * (1 - share), 0)))


def deviations_of(X: Any, cost: Floats, means: Floats) -> Floats:
    """s = √(Σ cᵢ(xᵢ − x̄)²/Σ cᵢ): the divisor is the weight of all rows, not one less."""
    weight = _shares(cost, len(X))
    total = np.zeros(X.shape[1])
    if isinstance(X, Sparse):
        each = np.repeat(weight, np.diff(X.starts))
        there = np.bincount(X.named, each, X.shape[1])
        total += np.bincount(X.named, each * np.square(X.numbers - means[X.named]), X.shape[1])
        total += np.maximum(1 - there, 0) * np.square(means)
        return np.sqrt(total)
    with one_blas_thread():
        return np.sqrt(_summed(X, weight, lambda block, weight: weight @ np.square(block - means), total))


def _shares(cost: Floats, rows: int) -> Floats:
    return cost / cost.sum() if cost.size else np.full(rows, 1 / rows)


def _summed(X: Any, weight: Floats, of: Callable[[Floats, Floats], Floats], total: Floats) -> Floats:
    """Σ f(block, weights), block by block in their order, whatever the number of threads."""
    size = max(16, CACHED // max(1, X.shape[1]))

    def part(lo: int) -> Floats:
        rows = slice(lo, min(lo + size, len(X)))
        with np.errstate(all="ignore"):
            return np.asarray(of(written_out(X[rows]), weight[rows]))

    with ordered_map(thread_count() if X.size >= LARGE else 1) as each:
        for found in each(part, range(0, len(X), size)):
            total += found
    return total
