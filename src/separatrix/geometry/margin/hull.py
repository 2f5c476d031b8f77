"""The signed rows as points, and a pass that finds the lowest of them along a direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows, Sparse
from ...data.reading import occurring, ranges, written
from ...fitting.problem import NotFiniteError
from ...numerics.arrays import Floats

Indices = NDArray[np.intp]

BLOCK = 1 << 17
"""Numbers of X that are centred, or made double, at a time: they stay in the cache."""
FAR = 16
"""A column is centred where its middle is so many times as large as its half range."""


class LowestRows(NamedTuple):
    """What a pass along a direction found."""

    levels: Floats
    """The lowest score in each group, up to rounding."""
    rows: Indices
    """Some of the lowest rows of each run and group, lowest first within each."""
    scores: Floats


@dataclass(frozen=True)
class Hull:
    """conv{yᵢ(xᵢ − c)}, in two groups by yᵢ where the intercept is free, else one; yᵢ(xᵢ, 1) where it is in the norm.

    Two groups have the difference of two hulls: of it, as of one hull, the point nearest to the origin is sought. The
    centre is common to both classes, so that it changes no difference.
    """

    rows: Rows
    """Of sparse rows without the columns of zeros."""
    columns: Indices
    """The columns of the user's X that are there."""
    given: int
    """How many columns the user's X has."""
    free: bool
    """Whether the intercept is free: two groups."""
    lifted: bool
    """Whether the intercept is a weight as the others are."""
    centre: Floats
    reach: Floats
    """The largest |xⱼ − cⱼ|."""
    unit: float
    """A power of two near the largest number: points are measured in it, so that no square overflows."""

    @classmethod
    def of(cls, rows: Rows, *, free: bool, lifted: bool) -> Hull:
        """One pass for the ranges of the columns; it also finds what is not finite."""
        columns, given = occurring(rows.X), int(rows.X.shape[1])
        if len(columns) < given:
            rows = replace(rows, X=rows.X.select(columns))
        low, high = np.full(rows.X.shape[1], np.inf), np.full(rows.X.shape[1], -np.inf)
        for least, most in rows.each(lambda side, lo, hi: ranges(side.X[lo:hi])):
            low, high = np.minimum(low, least), np.maximum(high, most)  # they pass NaN on
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise NotFiniteError
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        centre = np.where((np.abs(middle) > FAR * half) & (half > 0) & free, middle, 0.0)
        reach = np.maximum(np.abs(high - centre), np.abs(low - centre))
        largest = max(float(reach.max()), 1.0 if lifted else 0.0)
        exponent = min(max(math.frexp(largest)[1], -1000), 1000)
        return cls(rows, columns, given, free, lifted, centre, reach, 2.0**exponent)

    @property
    def groups(self) -> int:
        """Two hulls or one."""
        return 2 if self.free else 1

    @property
    def width(self) -> int:
        """How many weights, the intercept counted where it is one."""
        return int(self.rows.X.shape[1]) + self.lifted

    def in_all_columns(self, weights: Floats) -> Floats:
        """The weights of all columns of the user's X, from those of the columns that are there."""
        full = np.zeros(self.given)
        full[self.columns] = weights[: len(self.columns)]
        return full

    @property
    def counts(self) -> NDArray[np.bool_] | None:
        """Which rows count; None if all do."""
        return self.rows.cost > 0 if self.rows.cost.size else None

    def group(self, rows: Indices) -> Indices:
        """The group of each row: with a free intercept 1 for the second class, else 0."""
        return (self.rows.y[rows] > 0).astype(np.intp) * self.free

    def points(self, rows: Indices, dtype: Any = np.float64) -> Any:
        """yᵢ(xᵢ − c), or yᵢ(xᵢ, 1), in units of `unit`."""
        X = written(self.rows.X, rows).astype(dtype) - self.centre
        if self.lifted:
            X = np.column_stack([X, np.ones(len(X), dtype=dtype)])
        return X * (self.rows.y[rows].astype(dtype) / self.unit)[:, None]

    def lowest(self, direction: Floats, quota: int) -> LowestRows:
        """One pass: the lowest scores yᵢ(xᵢ − c)ᵀv of each group, and up to `quota` rows a run that have them."""
        levels, rows, scores = np.full(self.groups, np.inf), [], []
        for found in self.rows.each(lambda side, lo, hi: self._lowest(direction, quota, lo, hi)):
            for g, (at, score) in enumerate(found):
                levels[g] = min(levels[g], score.min(initial=np.inf))
                rows.append(at)
                scores.append(score)
        if not np.isfinite(levels).all():
            raise NotFiniteError
        return LowestRows(levels, np.concatenate(rows), np.concatenate(scores))

    def below(self, direction: Floats, bounds: Floats) -> Indices:
        """One pass: all rows with a score of at most the bound of their group."""
        signs = self.rows.y

        def found(side: Rows, lo: int, hi: int) -> Indices:
            limit = bounds[(signs[lo:hi] > 0).astype(np.intp) * self.free]
            return lo + np.flatnonzero(self._scores(direction, lo, hi) <= limit)

        return np.concatenate(list(self.rows.each(found)))

    def doubt(self, direction: Floats) -> float:
        """How much rounding may change a score, at most."""
        size = float(self.reach @ np.abs(direction[: len(self.reach)])) + self.lifted * abs(float(direction[-1]))
        return (self.width + 4) * float(np.finfo(float).eps) * size

    def _lowest(self, direction: Floats, quota: int, lo: int, hi: int) -> Iterator[tuple[Indices, Floats]]:
        scores, second = self._scores(direction, lo, hi), self.rows.y[lo:hi] > 0
        members = (~second, second) if self.free else (None,)
        return iter([_least(scores, member, quota, lo) for member in members])

    def _scores(self, direction: Floats, lo: int, hi: int) -> Floats:
        """yᵢ(xᵢ − c)ᵀv, infinite for rows that do not count."""
        X, d = self.rows.X, self.rows.X.shape[1]
        v, level = direction[:d], float(direction[-1]) if self.lifted else 0.0
        if isinstance(X, Sparse):
            scores = X[lo:hi].scores_and_sizes(self.centre, v[None], np.zeros(1), sized=False)[0][0]
        elif X.dtype == np.float64 and not self.centre.any():
            scores = X[lo:hi] @ v
        else:
            scores, size = np.empty(hi - lo), max(1, BLOCK // d)
            for at in range(lo, hi, size):
                end = min(hi, at + size)
                scores[at - lo : end - lo] = (X[at:end] - self.centre) @ v
        scores += level
        scores *= self.rows.y[lo:hi]
        if self.rows.cost.size:
            scores[self.rows.cost[lo:hi] == 0] = np.inf
        return scores  # type: ignore[no-any-return]


def _least(scores: Floats, member: NDArray[np.bool_] | None, quota: int, offset: int) -> tuple[Indices, Floats]:
    """The lowest scores of the members, in order."""
    if member is not None:
        scores = np.where(member, scores, np.inf)
    at = np.argpartition(scores, quota)[:quota] if quota < len(scores) else np.arange(len(scores))
    at = at[np.argsort(scores[at], kind="stable")]
    at = at[scores[at] < np.inf]
    return at + offset, scores[at]
