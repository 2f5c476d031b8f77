"""Fewer mistakes by search along lines: along each, every place where a row changes its side is tried."""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np

from ...numerics.arrays import Floats
from .problem import Problem
from .scaled_rows import ScaledRows

STALL = 12
"""Rounds without fewer mistakes after which a new start is tried."""
KICKS = (0.05, 0.2, 0.5, 1.0)
"""How far from the best rule a new start is, in units of its length."""


def along(m: Floats, q: Floats, weight: Floats) -> tuple[float, float]:
    """argmin over t of Σᵢ cᵢ 1[mᵢ + tqᵢ ≤ 0], and that sum: in the middle of the widest stretch.

    Between two places −mᵢ/qᵢ nothing changes, so sorting them and adding up tells all.
    """
    moves = np.flatnonzero(q)
    fixed = float(weight[(q == 0) & (m <= 0)].sum())
    if not len(moves):
        return 0.0, fixed
    with np.errstate(over="ignore"):
        t = -m[moves] / q[moves]
    order = np.argsort(t)
    t, rising = t[order], q[moves][order] > 0
    c = weight[moves][order]
    sums = fixed + float(c[rising].sum()) + np.append(0.0, np.cumsum(np.where(rising, -c, c)))
    reach = 1.0 + abs(t[0]) + abs(t[-1])
    edges = np.concatenate([[t[0] - reach], t, [t[-1] + reach]])
    width = np.diff(edges)
    open_ = width > 0
    least = sums[open_].min()
    k = int(np.argmax(np.where(open_ & (sums <= least), width, -1.0)))
    return float(edges[k] + width[k] / 2), float(sums[k])


def descend(
    problem: Problem, scaled: ScaledRows, start: Floats, seed: int, until: float
) -> Generator[Floats | None, None, None]:
    """Rules with fewer and fewer mistakes, as they are found; None after a round of directions without one.

    A round ends early when the time is over.
    """
    rng, weight, A = np.random.default_rng(seed), problem.weight, scaled.A
    best, v, least, since = start, start, _cost(A @ start, weight), 0
    while True:
        m = A @ v
        for direction in _directions(A, m, rng):
            if time.perf_counter() > until:
                break
            q = A @ direction
            t, _ = along(m, q, weight)
            if np.isfinite(t):  # as good as before or better: on a plateau it wanders
                v, m = v + t * direction, m + t * q
        v = v / max(float(np.linalg.norm(v)), 1e-300)
        cost = _cost(A @ v, weight)
        if cost < least - 1e-9:
            best, least, since = v, cost, 0
            yield best
        else:
            since += 1
            yield None
        if since and since % STALL == 0:
            size = KICKS[(since // STALL) % len(KICKS)] * max(float(np.linalg.norm(best)), 1e-300)
            v = best + size * rng.standard_normal(len(best)) / np.sqrt(len(best))


def _cost(m: Floats, weight: Floats) -> float:
    return float(weight[m <= 0].sum())


def _directions(A: Floats, m: Floats, rng: np.random.Generator) -> Generator[Floats, None, None]:
    """The columns in random order, pairs of them, random directions, and towards rows that are wrong."""
    width = A.shape[1]
    unit = np.eye(width)
    for j in rng.permutation(width)[:40].tolist():
        yield unit[j]
    for _ in range(min(width * (width - 1) // 2, 20)):
        i, j = rng.integers(width, size=2)
        yield unit[i] + (1 if rng.random() < 0.5 else -1) * unit[j]
    for _ in range(min(width, 20)):
        yield rng.standard_normal((width,))
    wrong = np.flatnonzero(m <= 0)
    if len(wrong):
        for i in rng.choice(wrong, min(len(wrong), 6)).tolist():
            yield A[i]
