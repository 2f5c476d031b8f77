"""What naive Bayes keeps of the rows: moments of each class and column, and how often each level occurs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Sparse
from ...losses.families import Bernoulli, Categorical
from ...numerics.arrays import Floats, Integers
from ...numerics.threads import ordered_map, thread_count
from .moments import RUNS, Moments

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

    def cut(self, X: Any) -> Any:
        """1[x > threshold] in the Bernoulli columns; what is missing stays missing."""
        if self.threshold is None:
            return X
        cut = self.columns(Bernoulli())
        if isinstance(X, Sparse):
            numbers, chosen = X.numbers.copy(), np.isin(X.named, cut)
            numbers[chosen] = _above(numbers[chosen], self.threshold)
            return X._with(numbers)
        if len(cut) == X.shape[1]:
            return _above(X, self.threshold)
        made = np.array(X)
        made[:, cut] = _above(X[:, cut], self.threshold)
        return made


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


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is found at the end
def gather(X: Any, target: Integers, classes: int, cost: Floats, families: ColumnFamilies) -> ColumnStatistics:
    """The statistics of rows, target being the class of each by its number: one read, or two if numbers are missing."""
    found = ColumnStatistics.none(classes, families)
    found = replace(found, moments=found.moments.merge(_moments_cut(X, target, classes, cost, families)))
    if len(families.categorical):
        found = replace(found, levels=_levels(X, target, classes, cost, families, found.levels))
    return replace(found, rows=len(X), whole=not cost.size or bool((cost == np.floor(cost)).all()))


def _moments_cut(X: Any, target: Integers, classes: int, cost: Floats, families: ColumnFamilies) -> Moments:
    """The moments of the rows, Bernoulli columns cut at the threshold."""
    if families.threshold is None:
        return _moments(X, target, classes, cost)
    if isinstance(X, np.ndarray) and all(each == Bernoulli() for each in families.by_column):
        quick = _moments_above(X, target, classes, cost, families.threshold)
        if quick is not None:
            return quick
    found = Moments.none(classes, X.shape[1], "diagonal")
    for lo, hi in _pieces(X, dense=False):
        rows, own, costs = X[lo:hi], target[lo:hi], cost[lo:hi]
        if cost.size and not (costs > 0).all():  # what does not count is not looked at either
            rows, own, costs = rows[costs > 0], own[costs > 0], costs[costs > 0]
        found = found.merge(_moments(families.cut(rows), own, classes, costs))
    return found


def _moments_above(X: Any, target: Integers, classes: int, cost: Floats, threshold: float) -> Moments | None:
    """The moments of 1[x > threshold]; None where X is small, not in C order, or has a NaN or an infinity."""
    if X.size < COMPILE_FROM or not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return None
    from .moment_kernels import above_kernel

    cuts = np.linspace(0, len(X), RUNS + 1).astype(int).tolist()
    count, jobs = above_kernel(X.dtype.name), list(pairwise(cuts))

    def run(job: tuple[int, int]) -> tuple[Integers, Floats, Floats, Floats]:
        rows, weight, above = np.zeros(classes, np.int64), np.zeros(classes), np.zeros((classes, X.shape[1]))
        odd = np.zeros(X.shape[1])
        count(X, target, cost, *job, threshold, rows, weight, above, odd)
        return rows, weight, above, odd

    with ordered_map(thread_count(None)) as each:
        rows, weight, above, odd = (sum(parts) for parts in zip(*each(run, jobs), strict=True))
    if np.isnan(odd).any():
        return None
    n = np.where(weight > 0, weight, 1.0)[:, None].astype(np.longdouble)
    mean = (above / n).astype(float)
    rest = ((above - n * mean) / n).astype(float)
    return Moments(rows, weight, mean, rest, np.maximum(above * (1 - mean), 0.0), "diagonal")


def _moments(X: Any, target: Integers, classes: int, cost: Floats) -> Moments:
    """Without gaps, or where that makes a NaN, with gaps."""
    found = Moments.of(X, target, classes, cost)
    if found.finite:
        return found
    if isinstance(X, Sparse):
        found = Moments.none(classes, X.shape[1], "diagonal", gaps=True)
        for lo, hi in _pieces(X, dense=True):
            part = Moments.of(X[lo:hi].dense(), target[lo:hi], classes, cost[lo:hi], gaps=True)
            found = found.merge(part)
    else:
        found = Moments.of(X, target, classes, cost, gaps=True)
    if not found.finite:
        raise InfiniteError
    return found


def _levels(
    X: Any, target: Integers, classes: int, cost: Floats, families: ColumnFamilies, found: dict[int, Levels]
) -> dict[int, Levels]:
    for lo, hi in _pieces(X, dense=True):
        rows = X[lo:hi].dense() if isinstance(X, Sparse) else X[lo:hi]
        own, costs = target[lo:hi], cost[lo:hi]
        found = {j: each.merge(Levels.of(rows[:, j], own, classes, costs)) for j, each in found.items()}
    return found


def _pieces(X: Any, *, dense: bool) -> Iterator[tuple[int, int]]:
    """Parts of the rows, small enough to be made anew; of CSR rows with their zeros if `dense`."""
    numbers = X.size if isinstance(X, Sparse) and not dense else X.shape[0] * X.shape[1]
    size = max(1, BLOCK_NUMBERS * len(X) // max(1, numbers))
    for lo in range(0, len(X), size):
        yield lo, min(lo + size, len(X))
