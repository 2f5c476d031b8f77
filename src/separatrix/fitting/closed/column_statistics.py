"""What naive Bayes keeps of the rows: moments of each class and column, and how often each level occurs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.block import Block
from ...data.source import Source
from ...losses.families import Bernoulli, Categorical
from ...numerics.arrays import Floats, Integers
from .moments import Moments, moments_of_run

BLOCK_NUMBERS = 1 << 22
"""Numbers of X that are made anew at a time."""
FEW_LEVELS = 1 << 12
"""Levels 0, 1, … that are counted without a sort."""
COMPILE_FROM = 400_000
"""Numbers from which the compiled count of what is above a threshold repays loading it."""


class InfiniteError(ValueError):
    """X holds an infinity, or numbers so large that their squares overflow."""


@dataclass(frozen=True, eq=False)
class ColumnFamilies:
    """A family for each column; a threshold makes 1[x > threshold] of those that are Bernoulli."""

    by_column: tuple[Any, ...]
    threshold: float | None = None

    @property
    def distinct(self) -> list[Any]:
        """Each family once."""
        found: list[Any] = []
        for each in self.by_column:
            if each not in found:
                found.append(each)
        return found

    def columns(self, family: Any) -> NDArray[np.intp]:
        """The columns of one family."""
        return np.array([j for j, each in enumerate(self.by_column) if each == family], np.intp)

    @property
    def categorical(self) -> NDArray[np.intp]:
        """The columns that hold categories."""
        return self.columns(Categorical())

    def cut(self, X: Block) -> Any:
        """1[x > threshold] in the Bernoulli columns; what is missing stays missing."""
        if self.threshold is None:
            return X
        return X.changed(partial(_above, threshold=self.threshold), self.columns(Bernoulli()))


def _above(X: Any, threshold: float) -> Any:
    made = np.greater(X, threshold).astype(X.dtype)
    if not np.isfinite(X.sum()):
        if np.isinf(X).any():
            raise InfiniteError
        made[np.isnan(X)] = np.nan
    return made


@dataclass(frozen=True, eq=False)
class Levels:
    """How much the rows of each class weigh at each level of a column."""

    values: Floats
    """The levels, sorted."""
    counts: Floats
    """Classes × levels."""

    @classmethod
    def of(cls, column: Any, target: Integers, classes: int, cost: Floats) -> Levels:
        """The counts of a column; what is missing is not counted, and a level of no weight is none."""
        there = np.isfinite(column)
        if not there.all():
            column, target, cost = column[there], target[there], cost[there] if cost.size else cost
        if not len(column):
            return cls(np.empty(0), np.zeros((classes, 0)))
        if column.min() >= 0 and column.max() < FEW_LEVELS and (column == np.floor(column)).all():
            values, place = np.arange(int(column.max()) + 1.0), column.astype(np.int64)
        else:
            values, place = np.unique(column.astype(float), return_inverse=True)
        counts = np.bincount(
            target * len(values) + place.ravel(), cost if cost.size else None, classes * len(values)
        ).reshape(classes, -1)
        seen = counts.any(axis=0)
        return cls(values[seen], counts[:, seen].astype(float))

    def merge(self, other: Levels) -> Levels:
        """The counts of both, over the levels of either."""
        values = np.union1d(self.values, other.values)
        counts = np.zeros((len(self.counts), len(values)))
        for part in (self, other):
            counts[:, np.searchsorted(values, part.values)] += part.counts
        return Levels(values, counts)

    def grown(self, classes: Integers, count: int) -> Levels:
        """With room for more classes."""
        counts = np.zeros((count, len(self.values)))
        counts[classes] = self.counts
        return Levels(self.values, counts)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """All that naive Bayes learns from rows; that of two sets of rows is merged."""

    moments: Moments
    levels: dict[int, Levels] = field(default_factory=dict)
    """Of the categorical columns."""
    rows: int = 0
    """How many, those that do not count among them."""
    whole: bool = True
    """Whether all costs are whole numbers: then sums of whole numbers are."""

    @classmethod
    def none(cls, classes: int, families: ColumnFamilies) -> ColumnStatistics:
        """Of no rows."""
        nothing = Levels(np.empty(0), np.zeros((classes, 0)))
        return cls(
            Moments.none(classes, len(families.by_column), "diagonal"), {int(j): nothing for j in families.categorical}
        )

    def merge(self, other: ColumnStatistics) -> ColumnStatistics:
        """That of both sets of rows."""
        levels = {j: mine.merge(other.levels[j]) for j, mine in self.levels.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            moments = self.moments.merge(other.moments)
        if not moments.finite:
            raise InfiniteError
        return ColumnStatistics(moments, levels, self.rows + other.rows, self.whole and other.whole)

    __add__ = merge

    def grown(self, classes: Integers, count: int) -> ColumnStatistics:
        """With room for more classes: class k becomes classes[k] of `count`."""
        levels = {j: each.grown(classes, count) for j, each in self.levels.items()}
        return replace(self, moments=self.moments.grown(classes, count), levels=levels)

    @property
    def present(self) -> Floats:
        """The weight of the numbers that are there, classes × columns."""
        moments = self.moments
        return (
            np.broadcast_to(moments.weight[:, None], moments.mean.shape) if moments.present is None else moments.present
        )


def gather(rows: Source, classes: int, families: ColumnFamilies) -> ColumnStatistics:
    """The statistics of rows whose targets are the numbers of their classes: one read, or two with gaps."""
    if families.threshold is not None and all(each == Bernoulli() for each in families.by_column):
        quick = _counted_above(rows, classes, families.threshold)
        if quick is not None:
            return quick
    found: ColumnStatistics = rows.fold(partial(_statistics_of_run, classes, families))
    return found


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is found at the end
def _statistics_of_run(classes: int, families: ColumnFamilies, rows: Rows, lo: int, hi: int) -> ColumnStatistics:
    levels, cost = ColumnStatistics.none(classes, families).levels, rows.cost[lo:hi]
    for part, X in rows.block[lo:hi].blocks(BLOCK_NUMBERS) if levels else ():
        own, costs = rows.y[lo:hi][part], cost[part]
        levels = {j: each.merge(Levels.of(X[:, j], own, classes, costs)) for j, each in levels.items()}
    moments = _moments_cut(classes, families, rows, lo, hi)
    return ColumnStatistics(moments, levels, hi - lo, not cost.size or bool((cost == np.floor(cost)).all()))


def _moments_cut(classes: int, families: ColumnFamilies, rows: Rows, lo: int, hi: int) -> Moments:
    """The moments of the rows, Bernoulli columns cut at the threshold."""
    if families.threshold is None:
        return _moments(classes, rows, lo, hi)
    found = Moments.none(classes, rows.shape[1], "diagonal")
    for part in rows.block[lo:hi].stretches(BLOCK_NUMBERS):
        some = rows.take(slice(lo + part.start, lo + part.stop))
        if some.cost.size and not (some.cost > 0).all():  # what does not count is not looked at either
            some = some.take(np.flatnonzero(some.cost > 0))
        if len(some):
            found = found.merge(_moments(classes, replace(some, block=families.cut(some.block)), 0, len(some)))
    return found


def _counted_above(rows: Source, classes: int, threshold: float) -> ColumnStatistics | None:
    """The statistics of 1[x > threshold] where compiled code reads X as it lies; None where a NaN or infinity is."""
    K, d = classes, rows.shape[1]
    if not (rows.compiled and rows.kind.at_hand and rows.kind.in_place):
        return None
    sums: Floats = rows.fold(partial(_above_of_run, K, threshold))
    count, weight, above, odd, uneven = np.split(sums, np.cumsum([K, K, K * d, d]))
    if np.isnan(odd).any():
        return None
    above = above.reshape(K, d)
    n = np.where(weight > 0, weight, 1.0)[:, None].astype(np.longdouble)
    mean = (above / n).astype(float)
    rest = ((above - n * mean) / n).astype(float)
    scatter = np.maximum(above * (1 - mean), 0.0)
    return ColumnStatistics(
        Moments(count.astype(np.int64), weight, mean, rest, scatter, "diagonal"), {}, len(rows), not uneven.any()
    )


def _above_of_run(classes: int, threshold: float, given: Rows, lo: int, hi: int) -> Floats:
    """Rows and costs of each class, costs above the threshold, NaN where there is one, and costs not whole."""
    from .moment_kernels import above_kernel

    X, cost, d = given.block.readable, given.cost[lo:hi], given.shape[1]
    rows, weight, above, odd = np.zeros(classes, np.int64), np.zeros(classes), np.zeros((classes, d)), np.zeros(d)
    above_kernel(X.dtype.name)(X, given.y, given.cost, lo, hi, threshold, rows, weight, above, odd)
    return np.concatenate([rows, weight, above.ravel(), odd, [np.count_nonzero(cost != np.floor(cost))]])


def _moments(classes: int, rows: Rows, lo: int, hi: int) -> Moments:
    """Without gaps, or where that makes a NaN, with gaps."""
    found = moments_of_run(classes, "diagonal", False, rows, lo, hi)
    if not found.finite:
        found = moments_of_run(classes, "diagonal", True, rows, lo, hi)
    if not found.finite:
        raise InfiniteError
    return found
