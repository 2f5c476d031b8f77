"""The minima of t ↦ J(p + t·d), each by what its loss allows: a count, a sort of breakpoints, or roots of the slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...errors import Refusal
from ...losses.margin import Exponential
from ...numerics.arrays import Floats
from .plane import Criterion

SCAN = 2001
"""Points at which a slope with many roots is computed."""
FEW = 500
"""Up to this many rows the slope is computed around each breakpoint too."""
AROUND = np.array([-6.0, -3.0, -1.5, -0.75, -0.3, 0.0, 0.3, 0.75, 1.5, 3.0, 6.0])
"""Where, around a breakpoint, in units of the row's margin."""
BLOCK = 1 << 19
"""Margins computed at a time: 4 MiB."""
FLAT = 1e-9
"""A plateau is wider than this part of the distance between the places at which a slope is seen on either side."""
LEVEL = 1e-13
"""A slope of this part of the largest one counts as zero."""


class Spot(NamedTuple):
    """The minimisers of one valley: low = high, or an interval of them; infinite where J falls for ever."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Line:
    """m = b + a·t for each row."""

    criterion: Criterion
    point: Floats
    direction: Floats

    @property
    def rates(self) -> Floats:
        """z·d, the rates of the scores."""
        return self.criterion.plane.Z @ self.direction

    def at(self, t: float) -> Floats:
        """θ = p + t·d."""
        return np.asarray(self.point + t * self.direction)

    def values(self, t: Floats) -> Floats:
        """J at each t."""
        return self.criterion.values(self.point + np.multiply.outer(t, self.direction))

    def breaks(self, margin: float = 0.0) -> tuple[Floats, NDArray[np.bool_]]:
        """The t at which each row has the given margin, and which rows have such a t."""
        plane, rates = self.criterion.plane, self.rates
        moving = rates != 0
        away = margin * plane.sign - plane.Z @ self.point
        return away[moving] / rates[moving], moving

    def minima(self) -> list[Spot]:
        """All valleys found; a convex loss has one."""
        if not self.rates.any():
            raise Refusal("No row has a number other than zero along this line: J is constant on it.")
        if self.criterion.counts:
            return self._fewest()
        return [self.straight()] if self.criterion.polyhedral else self._roots()

    def straight(self) -> Spot:
        """Where the slope passes zero if φ = [κ − m]₊: from −Σ c[a]₊ it rises by c|a| at each breakpoint."""
        plane = self.criterion.plane
        t, moving = self.breaks(self.criterion.loss.kinks[0])
        rate = (plane.sign * self.rates)[moving]
        rise = plane.weight[moving] * np.abs(rate)
        order = np.argsort(t, kind="stable")
        slope = np.cumsum(rise[order]) - rise[rate > 0].sum()
        slope[np.abs(slope) <= LEVEL * rise.sum()] = 0
        before = np.concatenate(
            [[-rise[rate > 0].sum()], slope]
        )  # the slope left of each breakpoint, and after the last
        t = np.concatenate([[-np.inf], t[order], [np.inf]])
        flat = np.flatnonzero(before == 0)
        if len(flat):
            return Spot(float(t[flat[0]]), float(t[flat[-1] + 1]))
        turn = t[1 + np.argmax(slope > 0)]
        return Spot(float(turn), float(turn))

    def _fewest(self) -> list[Spot]:
        """The intervals between breakpoints in which mistakes are fewest."""
        plane = self.criterion.plane
        t, moving = self.breaks()
        places, group = np.unique(t, return_inverse=True)
        rising, up, c = self.rates[moving] > 0, plane.sign[moving] > 0, plane.weight[moving]

        def total(mask: NDArray[np.bool_]) -> Floats:
            return np.bincount(group[mask], c[mask], minlength=len(places)).astype(np.float64)

        gain, lose = total(rising & ~up) - total(rising & up), total(~rising & up) - total(~rising & ~up)
        still = (plane.Z[~moving] @ self.point > 0) != (plane.sign[~moving] > 0)
        start = c[rising & up].sum() + c[~rising & ~up].sum() + plane.weight[~moving][still].sum()
        between = start + np.concatenate([[0.0], np.cumsum(gain + lose)])
        ring = np.empty(2 * len(places) + 1)
        ring[::2], ring[1::2] = between, between[:-1] + lose
        least = ring <= ring.min() + (1e-12 * plane.total if (ring != np.round(ring)).any() else 0.0)
        ends = np.concatenate([[-np.inf], places, [np.inf]])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], least, [False]]).astype(int)))
        return [Spot(float(ends[(a + 1) // 2]), float(ends[b // 2 + (b % 2 == 1)])) for a, b in edges.reshape(-1, 2)]

    def _roots(self) -> list[Spot]:
        """Where the slope passes from below zero to above, or the plateau where it is zero in between."""
        slope = self._sign_of_slope()
        if self.criterion.loss.convex:
            return [self._only_root(slope)]
        grid = self._scan()
        slopes = self._slopes(grid)
        seen = np.flatnonzero(slopes)
        if not len(seen):  # so far out that no step is wider than the numbers are apart
            return self._fewest()
        down = slopes[seen] < 0
        turns = down[:-1] & ~down[1:]
        spots = [self._valley(slope, grid, i, j) for i, j in zip(seen[:-1][turns], seen[1:][turns], strict=True)]
        spots += [] if down[0] else [Spot(-np.inf, -np.inf)]  # still falling outwards, beyond every breakpoint
        return sorted([*spots, *([Spot(np.inf, np.inf)] if down[-1] else [])])

    def _valley(self, slope: Callable[[float], float], grid: Floats, i: int, j: int) -> Spot:
        """The minimum between a place where J falls and the next one where it rises, or the plateau between them."""
        if j == i + 1:
            return self._between(slope, grid[i], grid[j])
        low, high = _edge(slope, grid[i], grid[i + 1]), _edge(slope, grid[j], grid[j - 1])
        if high - low <= FLAT * (grid[j] - grid[i]):
            return Spot(float(low + high) / 2, float(low + high) / 2)
        return Spot(float(low), float(high))

    def _sign_of_slope(self) -> Callable[[float], float]:
        """J′(t); of e⁻ᵐ divided by the largest of the rows' e⁻ᵐ, so that it has the same sign and cannot overflow."""
        if not isinstance(self.criterion.loss, Exponential):
            return lambda t: float(self.criterion.derivatives(self.at(t))[0] @ self.direction)
        plane = self.criterion.plane
        moving = self.rates != 0
        b, a = (plane.sign * (plane.Z @ self.point))[moving], (plane.sign * self.rates)[moving]
        rise = plane.weight[moving] * a / plane.total

        def relative(t: float) -> float:
            m = b + t * a
            return float(-rise @ np.exp(m.min() - m))

        return relative

    def _falls(self, way: float) -> bool:
        """Whether no row's margin falls that way: then every φ that falls for ever has no minimum there."""
        return self.criterion.endless and bool((way * self.criterion.plane.sign * self.rates >= 0).all())

    def _between(self, slope: Callable[[float], float], a: float, b: float) -> Spot:
        t = float(brentq(slope, a, b, xtol=1e-13 * max(1.0, abs(a), abs(b)), rtol=8.9e-16))
        return Spot(t, t)

    def _only_root(self, slope: Callable[[float], float]) -> Spot:
        for way in (-1.0, 1.0):
            if self._falls(way):
                return Spot(way * np.inf, way * np.inf)
        t = np.concatenate([self.breaks(margin)[0] for margin in (0.0, *self.criterion.loss.kinks)])
        a, b = float(t.min()) - 1, float(t.max()) + 1
        step = b - a
        while slope(a) > 0:
            a, step = a - step, 2 * step
        while slope(b) < 0:
            b, step = b + step, 2 * step
        return self._level(slope, a, b)

    def _level(self, slope: Callable[[float], float], a: float, b: float) -> Spot:
        """The root; where a squared hinge is zero, or φ″ is lost in rounding, the two ends of the floor."""
        if slope(a) == 0 or slope(b) == 0:  # beyond all breakpoints, so the floor goes on
            low = -np.inf if slope(a) == 0 else _edge(slope, a, b)
            return Spot(low, np.inf if slope(b) == 0 else _edge(slope, b, a))
        found = self._between(slope, a, b)
        if slope(found.low) != 0 or isinstance(self.criterion.loss, Exponential):
            return found
        _, curvature = self.criterion.derivatives(self.at(found.low))
        if self.direction @ curvature @ self.direction > 0:
            return found
        return Spot(_edge(slope, a, found.low), _edge(slope, b, found.low))

    def _scan(self) -> Floats:
        t, moving = self.breaks()
        rate = np.abs(self.rates[moving])
        light = float(np.log(self.criterion.plane.weight.max() / self.criterion.plane.weight.min()))
        pad = (12.0 + light) / float(np.median(rate))
        points = [np.linspace(t.min() - pad, t.max() + pad, SCAN)]
        if len(t) > FEW:  # then around the ends of the deepest plateaus only
            ends = np.array([end for spot in self._fewest() for end in spot])
            near = np.isin(t, ends)
            t, rate = t[near][:FEW], rate[near][:FEW]
        points += [(t[:, None] + AROUND / rate[:, None]).ravel()]
        return np.unique(np.concatenate(points))

    def _slopes(self, grid: Floats) -> Floats:
        """J′(t) at many t, in blocks as J itself."""
        criterion, plane = self.criterion, self.criterion.plane
        b, a = plane.sign * (plane.Z @ self.point), plane.sign * self.rates
        found = np.zeros(len(grid))
        wide = max(1, BLOCK // len(b))
        for i in range(0, len(grid), wide):
            found[i : i + wide] = criterion.loss.slope(b + np.multiply.outer(grid[i : i + wide], a)) @ (
                plane.weight * a
            )
        return found


def _edge(slope: Callable[[float], float], outside: float, inside: float) -> float:
    """Where a slope that is zero inside ceases to be zero, by bisection."""
    for _ in range(200):
        middle = outside + (inside - outside) / 2
        if middle in (outside, inside):
            break
        outside, inside = (outside, middle) if slope(middle) == 0 else (middle, inside)
    return inside
