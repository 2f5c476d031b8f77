"""Integrals of functions that jump: panels are halved where two rules of quadrature disagree.

Gauss–Hermite rules are for smooth functions. A 0-1 loss jumps at a boundary and min(η, 1 − η) has a kink there: n
nodes are then wrong by about 1/√n and 1/n, while every halving of a panel gains at least a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ...numerics.arrays import Floats
from .estimate import Estimate

Indices = NDArray[np.intp]

_HALF = [0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926]
_HALF += [0.741531185599394439863864773280788, 0.586087235467691130294144691368259]
_HALF += [0.405845151377397166906606412076961, 0.207784955007898467600689403773245]
_KRONROD = [
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
]
_KRONROD += [0.140653259715525918745189590510238, 0.169004726639267902826583426598550]
_KRONROD += [0.190350578064785409913256402421014, 0.204432940075298892414161999234649]
_GAUSS = [0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780]
_GAUSS += [0.0, 0.381830050505118944950369775488975, 0.0]

NODES: Floats = np.array([*(-x for x in _HALF), 0.0, *_HALF[::-1]])
KRONROD: Floats = np.array([*_KRONROD, 0.209482141084727828012999174891714, *_KRONROD[::-1]])
GAUSS: Floats = np.array([*_GAUSS, 0.417959183673469387755102040816327, *_GAUSS[::-1]])
"""The 15 nodes of Kronrod's rule on [−1, 1], its weights, and those of Gauss's rule on every second node."""


class Care(NamedTuple):
    """When a panel is halved: while its two rules differ by more than `tolerance`, at most `depth` times."""

    tolerance: float
    depth: int


ROUNDING = 1e-14
"""Of the integral of |f|: two rules never agree better."""
LINE = Care(1e-13, 60)
"""Of an integral over a line."""
INNER = Care(1e-10, 40)
"""Of the inner integrals over a plane."""
OUTER = Care(1e-8, 12)
"""Of the outer one."""


class Integrals(NamedTuple):
    """A value for each owner, and the error that the difference of two rules suggests."""

    values: Floats
    errors: Floats


def integrate(f: Callable[[Indices, Floats], Floats], breaks: Floats, owners: int, care: Care) -> Integrals:
    """∫ fᵢ(t) dt from the first of the breaks to the last, for each owner i, all panels of a depth in one call of f."""
    lo, hi = np.tile(breaks[:-1], owners), np.tile(breaks[1:], owners)
    who = np.repeat(np.arange(owners), len(breaks) - 1)
    values, errors = np.zeros(owners), np.zeros(owners)
    for depth in range(care.depth + 1):
        middle, half = (lo + hi) / 2, (hi - lo) / 2
        t = middle[:, None] + half[:, None] * NODES
        y = f(np.repeat(who, len(NODES)), t.ravel()).reshape(t.shape)
        if np.isinf(y).any():
            values[np.repeat(who, len(NODES))[np.isinf(y.ravel())]] = np.inf  # a loss without bound, on a set with mass
            return Integrals(values, errors)
        value, error = half * (y @ KRONROD), half * np.abs(y @ (KRONROD - GAUSS))
        again = (error > care.tolerance + ROUNDING * half * (np.abs(y) @ KRONROD)) & (depth < care.depth)
        np.add.at(values, who[~again], value[~again])
        np.add.at(errors, who[~again], error[~again])
        if not again.any():
            break
        who = np.tile(who[again], 2)
        lo, hi = np.concatenate([lo[again], middle[again]]), np.concatenate([middle[again], hi[again]])
    return Integrals(values, errors)


def over_line(f: Callable[[Floats], Floats], breaks: Floats) -> tuple[float, float]:
    """∫ f(t) dt and its error; f takes rows of one column."""
    found = integrate(lambda _, t: f(t[:, None]), breaks, 1, LINE)
    return float(found.values[0]), float(found.errors[0])


def over_plane(f: Callable[[Floats], Floats], breaks: tuple[Floats, Floats]) -> tuple[float, float]:
    """∫∫ f(s, t) dt ds and its error: along each t-line the jumps are found, what is left is smooth in s."""
    first, second = breaks
    worst = 0.0

    def along(_: Indices, s: Floats) -> Floats:
        nonlocal worst
        inner = integrate(lambda i, t: f(np.column_stack([s[i], t])), second, len(s), INNER)
        worst = max(worst, float(inner.errors.max()))
        return inner.values

    outer = integrate(along, first, 1, OUTER)
    return float(outer.values[0]), float(outer.errors[0]) + worst * float(first[-1] - first[0])


SHIFTS = 16
"""Means that are taken, whose spread gives the standard error."""
POINTS = 8192
"""Points of each mean."""
EVEN_DIMENSIONS = 12
"""The most dimensions in which points are spread evenly."""


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
