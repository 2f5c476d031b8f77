"""Rows that are equal are one: what no rule can avoid is set aside, what is left has one sign and one cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .units import Powers, divided, outside, powers_of

Whole = NDArray[Any]
"""Python's integers: sums of costs never overflow and are never rounded."""

CLOSE = 10**9
SURE = 2.0**62
"""Sums below this are the same in int64."""


@dataclass(frozen=True, eq=False)
class Problem:
    """min over w, b of Σᵢ cᵢ 1[ŷᵢ ≠ yᵢ], ŷ = +1 iff xᵀw + b > 0, over distinct rows with positive costs."""

    X: Floats
    """Columns in units far from one are divided by powers of two."""
    given: Floats
    """The rows as the user has them."""
    power: Powers
    sign: NDArray[np.int8]
    cost: Whole
    """In units: whole numbers."""
    base: int
    """What rows that are equal and of both classes cost whatever the rule."""
    unit: Fraction
    places: NDArray[np.intp]
    """The first row of the user's X that is equal to each."""
    lifted: bool
    """Whether there is an intercept."""
    step: int
    """The greatest common divisor of the costs: every sum of costs, the base not counted, is a multiple."""
    least: int
    """The least cost that was given of a row: what differs by 10⁻⁹ of it is one number, if costs are not whole."""
    weight: Floats
    """The costs as floats, the largest one: where a digit does not matter."""

    def __len__(self) -> int:
        return len(self.X)

    def outside(self, weights: Floats, intercept: float) -> tuple[Floats, float] | None:
        """A rule for the rows as the user has them; None if it cannot be written down."""
        return outside(self.power, weights, intercept)

    def paid(self, wrong: NDArray[np.bool_]) -> int:
        """What these rows cost, and the base."""
        return self.base + int(self.cost[wrong].sum())

    def rounded_up(self, bound: Fraction) -> int:
        """The least possible cost that is not below the bound, neither with the base."""
        return max(0, -(-bound // self.step)) * self.step

    def meet(self, lower: int, upper: int) -> bool:
        """Whether two bounds in units are one: of costs that are not whole, up to 10⁻⁹ of the least of them."""
        return lower >= upper or (self.unit.denominator > 1 and (upper - lower) * CLOSE <= self.least)

    def number(self, units: int | Fraction) -> Any:
        """Units as a number: whole where the costs are, else the nearest float."""
        value = self.unit * units
        return int(value) if self.unit.denominator == 1 and value.denominator == 1 else float(value)

    def floor(self, units: int) -> Any:
        """Units as a number that is never above what is meant."""
        value, found = self.unit * units, self.number(units)
        return found if Fraction(found) <= value else float(np.nextafter(found, -math.inf))


def merged(X: Floats, second: NDArray[np.bool_], cost: Floats, lifted: bool) -> Problem:
    """The problem of these rows and costs (none: all one). Rows that cost nothing are not there."""
    there = np.flatnonzero(cost) if cost.size else np.arange(len(X))
    X, second = X[there], second[there]
    whole, unit = whole_costs(cost[there] if cost.size else np.ones(len(X)))
    power = powers_of(X)
    distinct, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)  # −0 is 0
    group = group.ravel()
    for_second, for_first = (_sums(whole, group, mask, len(distinct)) for mask in (second, ~second))
    net = for_second - for_first
    kept = np.flatnonzero(net != 0)
    left = np.abs(net[kept])
    largest = max(left.tolist(), default=1)
    return Problem(
        np.ascontiguousarray(divided(distinct[kept], power)), np.ascontiguousarray(distinct[kept]), power,
        np.where(net[kept] > 0, 1, -1).astype(np.int8), left,
        int(np.minimum(for_second, for_first).sum()), unit, there[first[kept]], lifted,
        math.gcd(*left.tolist()) or 1, min(whole.tolist()), np.array([c / largest for c in left.tolist()], dtype=float),
    )  # fmt: skip


def whole_costs(cost: Floats) -> tuple[Whole, Fraction]:
    """c = unit · whole, exactly: the unit is the largest power of two, at most one, that divides all costs."""
    if (cost == np.floor(cost)).all() and cost.sum() < SURE:
        return cost.astype(np.int64).astype(object), Fraction(1)
    digits, power = np.frexp(cost)
    low = min(int(power[cost > 0].min()) - 53, 0)
    mantissas = (digits * 2.0**53).astype(np.int64).tolist()
    whole = [m << (e - 53 - low) if m else 0 for m, e in zip(mantissas, power.tolist(), strict=True)]
    common = math.gcd(*whole, 1 << -low)  # a power of two
    return np.array([c // common for c in whole], dtype=object), Fraction(common, 1 << -low)


def _sums(whole: Whole, group: NDArray[np.intp], mask: NDArray[np.bool_], count: int) -> Whole:
    """Σ of the costs of each group's rows in the mask."""
    if sum(whole.tolist()) < 2**53:
        return np.bincount(group[mask], whole[mask].astype(float), minlength=count).astype(np.int64).astype(object)
    sums = np.zeros(count, dtype=object)
    np.add.at(sums, group[mask], whole[mask])
    return sums
