"""Rows that are equal are one: what no rule can avoid is set aside, what is left has one sign and one cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import EPS, Floats

# Columns in units far from one, divided by powers of two: no digit is lost, no square overflows or vanishes.

Powers = NDArray[np.int64]

ORDINARY = 200
"""Columns whose largest number is between 2⁻²⁰⁰ and 2²⁰⁰ are left as they are."""
HIGHEST = 1023
"""The largest exponent with which weights keep all their digits."""
LOWEST = -1020
"""The smallest exponent with which weights keep all their digits."""


def powers_of(X: Floats) -> Powers:
    """For each column the power of two of its largest number, zero if that is ordinary."""
    power = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1].astype(np.int64)
    return np.where(np.abs(power) > ORDINARY, power, 0)


def divided(X: Floats, power: Powers) -> Floats:
    """The columns divided by these powers of two."""
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(X, -power), dtype=float) if power.any() else X


def loses(X: Floats) -> int | None:
    """A column whose numbers are too far apart to be divided without losing digits; None if there is none."""
    power = powers_of(X)
    with np.errstate(under="ignore"):
        lost = (np.ldexp(divided(X, power), power) != X).any(axis=0)
    return int(np.flatnonzero(lost)[0]) if lost.any() else None


def inside(power: Powers, weights: Floats, intercept: float) -> tuple[Floats, float]:
    """A rule for the columns as they were given, as one for the divided ones, times a power of two."""
    every, shift = np.append(weights, intercept), np.append(power, 0)
    if not power.any() or not every.any() or not np.isfinite(every).all():
        return weights, intercept
    common = int((np.frexp(every)[1] + shift)[every != 0].max())
    with np.errstate(under="ignore"):
        made = np.ldexp(every, shift - common)
    return made[:-1], float(made[-1])


def outside(power: Powers, weights: Floats, intercept: float) -> tuple[Floats, float] | None:
    """A rule for the divided columns, as one for those that were given; times a power of two, where it must be.

    None if weights of such different sizes cannot be written down.
    """
    if not power.any():
        return weights, intercept
    every, shift = np.append(weights, intercept), -np.append(power, 0)
    there = every != 0
    sizes = np.frexp(every[there])[1] + shift[there]
    if not len(sizes):
        return weights, intercept
    sizes = np.append(sizes, np.frexp(np.abs(every).max())[1])  # scores are about as large as this
    common = -int((sizes.max() + sizes.min()) // 2)
    if sizes.max() + common > HIGHEST or sizes.min() + common < LOWEST:
        return None
    made = np.ldexp(every, np.where(there, shift + common, 0))
    return made[:-1], float(made[-1])


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


# What a rule costs, if it costs that on every machine: no row is on a side by rounding.

TINY = float(np.finfo(float).tiny)
SMALLEST_POWER = -1074
"""The exponent of the smallest number."""
FAR = 5000
"""An exponent above all others."""


class CountedRule(NamedTuple):
    """A rule for the rows of the problem, the rows it gets wrong, and what they cost in units, the base included."""

    weights: Floats
    intercept: float
    wrong: NDArray[np.bool_]
    cost: int


def counted(problem: Problem, weights: Floats, intercept: float) -> CountedRule | None:
    """The rule with its cost; None if the side of a row depends on the order in which a machine adds up its score."""
    if not (np.isfinite(weights).all() and np.isfinite(intercept)):
        return None
    theirs, X = problem.outside(weights, intercept), problem.given
    if theirs is None:
        return None
    w, b = theirs
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = X @ w + b
        size = np.abs(X) @ np.abs(w) + abs(b)
    if not np.isfinite(size).all():
        return None
    doubt = np.abs(scores) <= (len(w) + 4) * (EPS * size + TINY)
    doubt &= bool(w.any()) or b != 0  # else every score is zero, and no doubt
    if doubt.any() and not _without_rounding(X[doubt], w, b).all():
        return None
    wrong = (scores > 0) != (problem.sign > 0)
    return CountedRule(weights, float(intercept), wrong, problem.paid(wrong))


def seems_wrong(problem: Problem, weights: Floats, intercept: float) -> NDArray[np.bool_] | None:
    """The rows that the rule gets wrong as this machine adds up; None if scores overflow."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = problem.X @ weights + intercept
    return (scores > 0) != (problem.sign > 0) if np.isfinite(scores).all() else None


def _without_rounding(X: Floats, weights: Floats, intercept: float) -> NDArray[np.bool_]:
    """Whether xᵀw + b, added up in whatever order, is exact; of two terms, whether both are exact.

    All terms are multiples of the least of their last bits. A sum of some of them is no larger than that of all
    positive or of all negative ones; where this has no more than 53 bits, so has every sum of them.
    """
    values, factors = np.append(X, np.ones((len(X), 1)), axis=1), np.append(weights, intercept)
    with np.errstate(under="ignore"):
        terms = values * factors
    there = (values != 0) & (factors != 0)
    last = np.where(there, last_bit(values) + last_bit(factors), FAR)
    lowest = last.min(axis=1)
    with np.errstate(over="ignore", under="ignore"):
        products = ((np.abs(terms) <= np.ldexp(1.0, last + 53)) & (last >= SMALLEST_POWER)) | ~there
        most = np.maximum(np.maximum(terms, 0).sum(axis=1), np.maximum(-terms, 0).sum(axis=1))
        sums = most * (1 + 1e-12) <= np.ldexp(1.0, lowest + 53)
    return np.asarray(products.all(axis=1) & (sums | (there.sum(axis=1) <= 2)), dtype=bool)


def last_bit(values: Floats) -> NDArray[np.int64]:
    """The exponent of the last bit that is one: the number is an odd multiple of this power of two."""
    digits, power = np.frexp(values)
    whole = (digits * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(float))[1]
    return np.asarray(power.astype(np.int64) - 54 + lowest, dtype=np.int64)


# The rows as searches and programs read them: columns of about one size, the intercept a column of ones.


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """z = ((x − c)/s, 1) with an intercept, x/s without; A holds the rows yz."""

    A: Floats
    centre: Floats
    scale: Floats
    lifted: bool

    @classmethod
    def of(cls, problem: Problem) -> ScaledRows:
        """Scales are deviations, centres the numbers of a column nearest to its mean: what is equal stays equal."""
        X, lifted = problem.X, problem.lifted
        count = max(1, len(X))
        centre = np.zeros(X.shape[1])
        if lifted and len(X):
            centre = np.take_along_axis(X, np.abs(X - (X / count).sum(axis=0)).argmin(axis=0)[None], axis=0)[0]
        spread = np.abs(X - centre).max(axis=0, initial=0.0)
        part = (X - centre) / np.where(spread > 0, spread, 1.0)
        deviation = spread * np.sqrt(np.square(part).sum(axis=0) / count)
        scale = np.where(deviation > 0, deviation, 1.0)
        Z = (X - centre) / scale
        Z = np.column_stack([Z, np.ones(len(X))]) if lifted else Z
        return cls(np.ascontiguousarray(Z * problem.sign[:, None]), centre, scale, lifted)

    def inside(self, weights: Floats, intercept: float) -> Floats:
        """A rule in the user's units as v, with scores zᵀv."""
        v = weights * self.scale
        return np.append(v, intercept + weights @ self.centre) if self.lifted else v

    def outside(self, v: Floats) -> tuple[Floats, float]:
        """v in the user's units."""
        weights = v[: len(self.scale)] / self.scale
        return weights, float(v[-1] - weights @ self.centre) if self.lifted else 0.0
