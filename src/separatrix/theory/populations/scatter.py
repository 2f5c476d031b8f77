"""Means over scattered points, where there are too many dimensions for a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from ...numerics.arrays import Floats
from .estimate import Estimate

SHIFTS, POINTS, EVEN_DIMENSIONS = 16, 8192, 12


def scattered_mean(f: Callable[[Floats], Floats], d: int, rng: np.random.Generator, *, normal: bool = True) -> Estimate:
    """The mean of 16 means, and their standard error, over 8192 points each.

    Up to 12 dimensions the points are spread evenly, k·α mod 1 with a random shift, αⱼ = g⁻ʲ and gᵈ⁺¹ = g + 1; beyond
    that they are plain random numbers.
    """
    even = d <= EVEN_DIMENSIONS
    means = np.empty(SHIFTS)
    for i in range(SHIFTS):
        u = _even_points(d, rng.random(d)) if even else rng.random((POINTS, d))
        u = np.clip(u, 2.0**-53, 1 - 2.0**-53)
        means[i] = f(ndtri(u) if normal else u).mean()
    how = f"{'quasi-' if even else ''}Monte Carlo, {SHIFTS}×{POINTS} points"
    return Estimate(float(means.mean()), float(means.std(ddof=1)) / np.sqrt(SHIFTS), how)


def _even_points(d: int, shift: Floats) -> Floats:
    g = 2.0
    for _ in range(64):
        g = (1 + g) ** (1 / (d + 1))
    steps = g ** -np.arange(1.0, d + 1)
    return np.asarray((np.arange(POINTS)[:, None] * steps + shift) % 1.0)
