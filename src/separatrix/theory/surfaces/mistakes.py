"""Where the fewest mistakes are made: J₀₁(cθ) = J₀₁(θ) for c > 0, so cones of (θ₀, θ₁), found by sorting.  [004 §4.2]

A row's score changes its sign where θ crosses the line through the origin that is perpendicular to z. The rows' lines
cut the plane into cells: open sectors, and the rays between them, on which a row has score 0 and is taken for the
first class. From one cell to the next the mistakes change by the rows of one line, so one pass over the sorted lines
counts them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .plane import Plane

SAME = 1e-12
"""Sums of weights that are not whole numbers are equal up to this part of all weights."""
NEAR = 1e-14
"""Angles nearer than this are compared exactly, as fractions."""


class Interval(NamedTuple):
    """The thresholds −θ₀/θ₁ of a cone, on one side of θ₁ = 0."""

    sign: int
    """The sign of θ₁: +1 if the second class is above the threshold, −1 if it is below."""
    low: float
    high: float
    with_low: bool
    with_high: bool

    def __str__(self) -> str:
        left, right = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"{left}{self.low:g}, {self.high:g}{right} with θ₁ {'>' if self.sign > 0 else '<'} 0"


@dataclass(frozen=True)
class Cone:
    """All θ from one ray to another, counter-clockwise; J₀₁ is the same for all."""

    start: tuple[float, float]
    end: tuple[float, float]
    with_start: bool
    with_end: bool
    whole: bool = False
    """Whether it is the whole plane but the origin; start and end then mean nothing."""
    thresholds: tuple[Interval, ...] = ()
    """Where −θ₀/θ₁ may lie, for each sign of θ₁, if there is one column; an infinite end stands for θ₁ = 0."""


class Cells(NamedTuple):
    """The sectors and rays in counter-clockwise order: ray k ends sector k."""

    rays: Floats
    sectors: Floats
    """Weight of the mistakes in each sector."""
    on_rays: Floats
    places: Floats
    """The distinct numbers of a single column; empty if there are two."""

    def least(self) -> float:
        """The least weight of mistakes in a cell."""
        return float(min(self.sectors.min(), self.on_rays.min()))

    def sector(self, theta: Floats) -> int:
        """The sector that θ lies in."""
        angles = np.arctan2(self.rays[:, 1], self.rays[:, 0]) % (2 * np.pi)
        return int(np.searchsorted(angles, np.arctan2(theta[1], theta[0]) % (2 * np.pi))) % len(angles)


def cells(plane: Plane) -> Cells:
    """All cells of the plane, by one sort."""
    group, lines = line_of_each_row(plane)
    up = plane.sign > 0
    ahead = np.einsum("ij,ij->i", plane.Z, np.column_stack([lines[:, 1], -lines[:, 0]])[group]) > 0
    lying = group >= 0

    def total(mask: NDArray[np.bool_]) -> Floats:
        chosen = mask & lying
        return np.bincount(group[chosen], plane.weight[chosen], minlength=len(lines)).astype(np.float64)

    lose, gain = total(ahead & up) - total(ahead & ~up), total(~ahead & up) - total(~ahead & ~up)
    at_origin = float(plane.weight[~lying & up].sum())
    first = total(ahead & ~up).sum() + total(~ahead & up).sum() + at_origin
    turns = np.concatenate([lose - gain, gain - lose])
    sectors = first + np.concatenate([[0.0], np.cumsum(turns)[:-1]])
    on_rays = sectors + np.concatenate([lose, gain])
    places = -lines[:, 0] if plane.lifted else np.empty(0)
    return Cells(np.vstack([lines, -lines]), sectors, on_rays, places)


def line_of_each_row(plane: Plane) -> tuple[NDArray[np.intp], Floats]:
    """The line of each row, −1 where z = 0, and a direction of each in the upper half-plane, by growing angle."""
    Z = plane.Z
    if plane.lifted:
        places, group = np.unique(Z[:, 1], return_inverse=True)
        return group.astype(np.intp), np.column_stack([-places, np.ones(len(places))])
    rays = np.column_stack([-Z[:, 1], Z[:, 0]])
    rays[(rays[:, 1] < 0) | ((rays[:, 1] == 0) & (rays[:, 0] < 0))] *= -1
    lying = np.flatnonzero(rays.any(axis=1))
    angle = np.arctan2(rays[lying, 1], rays[lying, 0])
    order = lying[np.argsort(angle, kind="stable")]
    order, new = _told_apart(rays, order, np.sort(angle, kind="stable"))
    group = np.full(len(Z), -1, dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return group, rays[order[new]]


def _told_apart(rays: Floats, order: NDArray[np.intp], angle: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The order of rays whose angles nearly agree by exact slopes, and which of them begin a new line."""
    new = np.ones(len(order), dtype=bool)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(angle) > NEAR]))
    for a, b in zip(starts, [*starts[1:], len(order)], strict=True):
        if b - a > 1:
            keys = {int(i): _slope(rays[i]) for i in order[a:b]}
            order[a:b] = sorted(keys, key=lambda i: keys[i])
            new[a + 1 : b] = [
                keys[int(i)] != keys[int(j)] for i, j in zip(order[a : b - 1], order[a + 1 : b], strict=True)
            ]
    return order, new


def _slope(ray: Floats) -> tuple[bool, Fraction]:
    """A number that grows with the angle in [0, π): −cot, after the ray at angle 0."""
    return ray[1] != 0, -Fraction(float(ray[0])) / Fraction(float(ray[1])) if ray[1] else Fraction(0)


def cones(found: Cells) -> list[tuple[Cone, tuple[float, float]]]:
    """The cones of the least mistakes, each with a θ of it; adjoining cells of equal mistakes are one cone."""
    ring = np.column_stack([found.sectors, found.on_rays]).ravel()
    slack = SAME * float(ring.max()) if (ring != np.round(ring)).any() else 0.0
    least = ring <= ring.min() + slack
    if least.all():
        everything = tuple(Interval(s, -np.inf, np.inf, False, False) for s in (1, -1)) if len(found.places) else ()
        return [(Cone((1.0, 0.0), (1.0, 0.0), True, True, True, everything), (1.0, 0.0))]
    begins = np.flatnonzero(least & ~np.roll(least, 1))
    runs = []
    for a in begins:
        length = int(np.argmin(np.roll(least, -int(a))))
        runs.append([(int(a) + i) % len(ring) for i in range(length)])
    return [_cone(found, run) for run in runs]


def _cone(found: Cells, run: list[int]) -> tuple[Cone, tuple[float, float]]:
    n = len(found.rays)
    first, last = run[0], run[-1]
    start = found.rays[first // 2] if first % 2 else found.rays[(first // 2 - 1) % n]
    end = found.rays[last // 2]
    pieces = _thresholds(found, run) if len(found.places) else ()
    cone = Cone(_pair(start), _pair(end), bool(first % 2), bool(last % 2), False, pieces)
    return cone, _inside(found, run)


def _pair(ray: Floats) -> tuple[float, float]:
    return float(ray[0]) + 0.0, float(ray[1]) + 0.0


def _inside(found: Cells, run: list[int]) -> tuple[float, float]:
    """A θ of the cone: in the middle of its widest sector, or on its ray."""
    sectors = [cell // 2 for cell in run if cell % 2 == 0]
    if not sectors:
        return _pair(found.rays[run[0] // 2])
    n, g = len(found.rays), len(found.places)
    if g and any(k % g for k in sectors):
        x = found.places
        k = max((k for k in sectors if k % g), key=lambda k: x[k % g] - x[k % g - 1])
        low, high, sign = x[k % g - 1], x[k % g], 1.0 if k < g else -1.0
        middle = low + (high - low) / 2
        middle = low if sign > 0 and middle >= high else high if sign < 0 and middle <= low else middle
        return float(-sign * middle) + 0.0, sign
    if g:
        return (1.0, 0.0) if sectors[0] == 0 else (-1.0, 0.0)
    unit = found.rays / np.hypot(*found.rays.T)[:, None]
    middle = max((unit[k] + unit[(k - 1) % n] for k in sectors), key=lambda u: -float(np.hypot(*u)))
    return _pair(middle / np.hypot(*middle))


def _thresholds(found: Cells, run: list[int]) -> tuple[Interval, ...]:
    """The cells of a run as intervals of −θ₀/θ₁, adjoining ones joined."""
    x, g = found.places, len(found.places)
    pieces: list[Interval] = []
    for cell in run:
        k, ray = divmod(cell, 2)
        side = 1 if k < g else -1
        if ray:
            parts = [Interval(side, x[k % g], x[k % g], True, True)]
        elif k % g:
            parts = [Interval(side, x[k % g - 1], x[k % g], False, False)]
        else:
            parts = [Interval(-side, x[-1], np.inf, False, False), Interval(side, -np.inf, x[0], False, False)]
        for part in parts:
            last = pieces[-1] if pieces else None
            if last is not None and last.sign == part.sign and last.high == part.low:
                pieces[-1] = last._replace(high=part.high, with_high=part.with_high)
            else:
                pieces.append(part)
    return tuple(Interval(p.sign, float(p.low), float(p.high), p.with_low, p.with_high) for p in pieces)
