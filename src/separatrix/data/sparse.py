"""Rows that are mostly zeros, without the zeros: CSR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..numerics.arrays import Floats, Indices
from .block import Block

BLOCK = 1 << 20
"""Numbers that are turned to double precision at a time."""
DENSITY = 0.25
"""The most numbers other than zero, of all numbers, for rows without their zeros to be faster."""
LOOKED_AT = 1024
"""Rows by which that is judged."""
FEWEST_COLUMNS = 32
"""Columns from which leaving zeros out can pay."""
MOST_CLASSES = 32
"""Classes up to which leaving zeros out can pay."""
COMPILE_FROM = 1 << 18
"""Numbers from which the compiled look at columns repays the loading of it."""


@dataclass(frozen=True, eq=False)
class Sparse(Block):
    """xᵢ has values[e] in columns[e], starts[i] ≤ e < starts[i + 1], and zeros elsewhere.

    `size` is the count of numbers that are there, and `dense` writes the zeros out: for some rows, never for all.
    """

    skips_zeros = True
    by_numbers = True
    in_place = True

    values: NDArray[Any]
    """float32 or float64."""
    columns: NDArray[Any]
    """int32 or int64."""
    starts: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, matrix: Any) -> Sparse:
        """The rows of a scipy CSR matrix of floats, not copied, unless a row names a column twice or out of order."""
        _check(matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        starts, columns = matrix.indptr.astype(np.int64), np.ascontiguousarray(matrix.indices)
        columns = columns if columns.dtype == np.int32 else columns.astype(np.int64, copy=False)
        return cls(np.ascontiguousarray(matrix.data), columns, starts, int(matrix.shape[1]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.width

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def size(self) -> int:
        """How many numbers are there."""
        return int(self.starts[-1] - self.starts[0])

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers that are there, row after row."""
        return self.values[self.starts[0] : self.starts[-1]]

    @property
    def named(self) -> NDArray[Any]:
        """Their columns."""
        return self.columns[self.starts[0] : self.starts[-1]]

    @property
    def parts(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Numbers, columns, starts."""
        return self.values, self.columns, self.starts

    @property
    def layout(self) -> str:
        """The precision of the numbers of the columns."""
        return str(self.columns.dtype.name)

    @property
    def readable(self) -> Any:
        return self.parts

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    def __getitem__(self, rows: Any) -> Sparse:
        if isinstance(rows, slice):
            lo, hi, step = rows.indices(len(self))
            if step == 1:
                return replace(self, starts=self.starts[lo : max(hi, lo) + 1])
            rows = np.arange(lo, hi, step)
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else np.where(rows < 0, rows + len(self), rows)
        first, counts = self.starts[rows], np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], counts)
        return replace(self, values=self.values[places], columns=self.columns[places], starts=starts)

    def dense(self) -> NDArray[Any]:
        made = np.zeros(self.shape, self.dtype)
        made[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.named] = self.numbers
        return made

    def plain(self) -> Any:
        return self.scipy()

    def scipy(self) -> Any:
        """These rows as scipy's CSR array, without a copy."""
        from scipy.sparse import csr_array

        starts = self.starts - self.starts[0]
        if self.columns.dtype == np.int32 and self.size < np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return csr_array((self.numbers, self.named, starts), shape=self.shape)

    def __matmul__(self, weights: Any) -> Floats:
        """XW in double precision, block by block where X is not."""
        W, rows = np.asarray(weights, dtype=np.float64), max(1, len(self))
        if self.dtype == np.float64:
            return self.scipy() @ W  # type: ignore[no-any-return]
        step = max(1, BLOCK * rows // max(1, self.size))
        blocks = [self[lo : lo + step].scipy().astype(np.float64) @ W for lo in range(0, len(self), step)]
        return np.concatenate([np.empty((0, *W.shape[1:])), *blocks])

    def products(self, others: Block) -> Floats:
        if others.by_numbers:
            both = self.scipy().astype(np.float64) @ others.plain().astype(np.float64).T
            return np.ascontiguousarray(both.toarray())
        return np.ascontiguousarray(self @ np.ascontiguousarray(others.dense().T))

    def magnitudes(self, weights: Floats) -> Floats:
        return self._with(np.abs(self.numbers)) @ weights

    def squared(self) -> Sparse:
        return self._with(np.square(self.numbers, dtype=np.float64))

    def changed(self, f: Callable[[NDArray[Any]], NDArray[Any]], columns: Indices) -> Sparse:
        numbers, chosen = self.numbers.copy(), np.isin(self.named, columns)
        numbers[chosen] = f(numbers[chosen])
        return self._with(numbers)

    def astype(self, dtype: Any) -> Sparse:
        return self if self.dtype == dtype else self._with(self.numbers.astype(dtype))

    def _with(self, numbers: NDArray[Any]) -> Sparse:
        return Sparse(numbers, self.named, self.starts - self.starts[0], self.width)

    def extremes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The least and the largest number of every column, zeros that are left out counted; NaN where there is one."""
        if self.size >= COMPILE_FROM:
            return self._compiled_extremes()
        whole = np.bincount(self.named, minlength=self.width) == len(self)
        low = np.where(whole, np.inf, 0.0).astype(self.dtype)
        high = -low
        with np.errstate(invalid="ignore"):
            np.minimum.at(low, self.named, self.numbers)
            np.maximum.at(high, self.named, self.numbers)
        return low, high

    @property
    def rows_for_a_gradient(self) -> int:
        return int(4 * self.width * len(self) / max(1, self.size))

    def packed(self, classes: int, runs: Any, each: Any, dtype: str) -> Sparse:
        return self.astype(dtype)

    def _compiled_extremes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        from .compiled.csr_sums import range_kernel

        low, high, counts = np.full(self.width, np.inf), np.full(self.width, -np.inf), np.zeros(self.width, np.int64)
        kernel = range_kernel(self.dtype.name, self.columns.dtype.name)
        kernel(self.values, self.columns, int(self.starts[0]), int(self.starts[-1]), low, high, counts)
        some = counts < len(self)
        return np.where(some, np.minimum(low, 0.0), low), np.where(some, np.maximum(high, 0.0), high)

    def centred_scores(self, center: Floats, weights: Floats) -> Floats:
        return np.asarray(self.scores_and_sizes(center, weights[None], np.zeros(1), sized=False)[0][0])

    def squares(self, scale: Floats | float = 1.0) -> Floats:
        row, by = np.repeat(np.arange(len(self)), np.diff(self.starts)), np.broadcast_to(scale, self.width)[self.named]
        return np.bincount(row, np.square(self.numbers / by, dtype=np.float64), len(self)).astype(np.float64)

    def weighted_squares(self, weight: Floats | None) -> Floats:
        squares = np.square(self.numbers, dtype=np.float64)
        if weight is not None:
            squares *= np.repeat(weight, np.diff(self.starts))
        return np.asarray(np.bincount(self.named, squares, self.width))

    def scatter(self, weight: Floats, center: Floats) -> Floats:
        each = np.repeat(weight, np.diff(self.starts))
        there = np.bincount(self.named, each, self.width)
        found = np.bincount(self.named, each * np.square(self.numbers - center[self.named]), self.width)
        return np.asarray(found + np.maximum(weight.sum() - there, 0) * np.square(center))

    def first(
        self, wrong: Callable[[NDArray[Any], Any], NDArray[np.bool_]], counts: NDArray[np.bool_] | None = None
    ) -> tuple[int, int] | None:
        """Among the numbers that are there; then, where a zero is wrong, column by column."""
        counting = np.ones(len(self), bool) if counts is None else counts
        row = np.repeat(np.arange(len(self)), np.diff(self.starts))
        found = wrong(self.numbers, self.named) & counting[row]
        if found.any():
            place = int(np.argmax(found))
            return int(row[place]), int(self.named[place])
        for j in np.flatnonzero(wrong(np.zeros((1, self.width)), slice(None))[0]):
            there = np.zeros(len(self), bool)
            there[row[self.named == j]] = True
            if (counting & ~there).any():
                return int(np.argmax(counting & ~there)), int(j)
        return None

    def _squares_of_columns(self, unit: Floats) -> Floats:
        squares = np.square(self.numbers / unit[self.named])
        return np.asarray(np.bincount(self.named, weights=squares, minlength=self.width))

    def any(self) -> bool:
        return bool(self.numbers.any())

    def occurring(self) -> Indices:
        there = np.zeros(self.width, bool)
        there[self.named[self.numbers != 0]] = True
        return np.flatnonzero(there) if there.any() else np.zeros(1, np.intp)

    def written(self, rows: Any, columns: Indices | None = None) -> NDArray[Any]:
        part = self[rows]
        return (part if columns is None else part.select(columns)).dense()

    def numbers_of(self, row: int) -> tuple[Indices, Floats]:
        part = self[row : row + 1]
        there = part.numbers != 0
        return part.named[there].astype(np.intp), part.numbers[there].astype(np.float64)

    def finite(self) -> bool:
        return bool(np.isfinite(self.numbers).all())

    def sum(self) -> float:
        """The sum of all numbers."""
        return float(self.numbers.sum(dtype=np.float64))

    def select(self, columns: NDArray[np.intp]) -> Sparse:
        place = np.full(self.width, -1, self.columns.dtype)
        place[columns] = np.arange(len(columns))
        at = place[self.named]
        there = at >= 0
        starts = np.append(0, np.cumsum(there))[self.starts - self.starts[0]]
        return Sparse(self.numbers[there], at[there], starts.astype(np.int64), len(columns))

    def scores_and_sizes(self, center: Floats, W: Floats, b: Floats, *, sized: bool) -> tuple[Floats, Floats]:
        """Σⱼ (xᵢⱼ − cⱼ)wⱼ + b, and sized Σⱼ |(xᵢⱼ − cⱼ)wⱼ| + |b|: rules × rows, of the numbers that are there."""
        from .compiled.csr_sums import score_kernel

        far = np.flatnonzero((center != 0) & W.any(axis=0))
        scores, sizes = np.empty((len(self), len(W))), np.empty((len(self), len(W) if sized else 0))
        kernel = score_kernel(self.dtype.name, self.columns.dtype.name)
        b = np.asarray(b, float)
        kernel(*self.parts, center, far.astype(np.int64), np.ascontiguousarray(W.T), b, scores, sizes)
        return scores.T, sizes.T

    def lay(self, weights: NDArray[Any]) -> ClassVectors:
        """Weights, classes × columns, as the passes over these rows take them."""
        return ClassVectors.of(weights, self.values.dtype.name)

    def room(self, classes: int) -> ClassVectors:
        """Zeros for so many classes and all columns, to add pulls to."""
        return ClassVectors.of(np.broadcast_to(0.0, (classes, self.width)), self.values.dtype.name)

    def scores(self, weights: NDArray[Any] | ClassVectors, lo: int, hi: int) -> NDArray[Any]:
        """W xᵢ for the rows lo ≤ i < hi, classes × rows, in the precision of X."""
        from .compiled.csr_products import scores_kernel

        laid = weights if isinstance(weights, ClassVectors) else self.lay(weights)
        kernel, found = scores_kernel(self.values.dtype.name, self.columns.dtype.name), []
        for W, classes in zip(laid.parts, laid.counts, strict=True):
            S = np.empty((hi - lo, W.shape[1]), self.values.dtype)
            kernel(*self.parts, lo, hi, W.shape[1] // laid.lanes, W, S)
            found.append(S[:, :classes].T)
        return np.vstack(found) if len(found) > 1 else found[0]

    def pull(self, weights: Floats) -> Floats:
        return np.asarray((self.scipy().T @ weights).T)

    def class_pull(self, slope: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        """Σᵢ slopeᵢ xᵢᵀ over the rows lo ≤ i < hi, classes × columns, in the precision of X."""
        total = self.room(len(slope))
        self.add_pull(total, slope, lo, hi)
        return total.table()

    def add_pull(self, total: ClassVectors, slope: NDArray[Any], lo: int, hi: int) -> None:
        """total ← total + Σᵢ slopeᵢ xᵢᵀ over the rows lo ≤ i < hi."""
        from .compiled.csr_products import pull_kernel

        kernel, first = pull_kernel(self.values.dtype.name, self.columns.dtype.name), 0
        for G, classes in zip(total.parts, total.counts, strict=True):
            R = np.zeros((hi - lo, G.shape[1]), self.values.dtype)
            R[:, :classes] = slope[first : first + classes].T
            kernel(*self.parts, lo, hi, G.shape[1] // total.lanes, R, G)
            first += classes


@dataclass(frozen=True, eq=False)
class ClassVectors:
    """A number for each class and column, the classes of a column side by side in whole vectors."""

    parts: tuple[NDArray[Any], ...]
    """Columns × classes, as many classes a part as the kernels take."""
    counts: tuple[int, ...]
    lanes: int

    @classmethod
    def of(cls, weights: NDArray[Any], dtype: str) -> ClassVectors:
        """From classes × columns."""
        from ..numerics.plain_lanes import CLASS_LANES
        from .compiled.csr_products import MOST_VECTORS

        lanes, parts, counts = CLASS_LANES[dtype], [], []
        for first in range(0, len(weights), MOST_VECTORS * lanes):
            some = weights[first : first + MOST_VECTORS * lanes]
            part = np.zeros((weights.shape[1], -(-len(some) // lanes) * lanes), dtype)
            part[:, : len(some)] = some.T
            parts.append(part)
            counts.append(len(some))
        return cls(tuple(parts), tuple(counts), lanes)

    def table(self) -> NDArray[Any]:
        """Classes × columns again."""
        rows = [part[:, :count].T for part, count in zip(self.parts, self.counts, strict=True)]
        return np.vstack(rows) if len(rows) > 1 else rows[0]


def pays(X: NDArray[Any], classes: int) -> bool:
    """Whether so much of X is zero that its products with K classes are faster without."""
    if X.shape[1] < FEWEST_COLUMNS or classes > MOST_CLASSES or not X.flags.c_contiguous:
        return False
    some = X[:: max(1, len(X) // LOOKED_AT)][:LOOKED_AT]
    return bool(np.count_nonzero(some) <= DENSITY * some.size)


def pack(X: NDArray[Any], runs: list[tuple[int, int]], each: Any, dtype: str = "float64") -> Sparse | None:
    """X without its zeros, run by run; None if they are fewer than a sample promised."""
    from .compiled.csr_products import count_kernel, fill_kernel

    count, fill = count_kernel(X.dtype.name), fill_kernel(X.dtype.name, dtype)
    starts = np.zeros(len(X) + 1, np.int64)
    list(each(lambda run: count(X, *run, starts[1:]), runs))
    np.cumsum(starts, out=starts)
    if starts[-1] > 1.2 * DENSITY * X.size:
        return None
    values, columns = np.empty(starts[-1], dtype), np.empty(starts[-1], np.int32)
    list(each(lambda run: fill(X, *run, starts, values, columns), runs))
    return Sparse(values, columns, starts, X.shape[1])


def _check(matrix: Any) -> None:
    """Compiled passes go wherever a matrix points: one that points outside is refused."""
    (rows, width), starts, columns = matrix.shape, matrix.indptr, matrix.indices
    sound = starts.size == rows + 1 and starts[0] == 0 and bool((starts[1:] >= starts[:-1]).all())
    if not sound or starts[-1] > min(matrix.data.size, columns.size):
        raise DataError("is no CSR matrix: its indptr does not divide its numbers into rows. Build it anew.", array="X")
    named = columns[: starts[-1]]
    largest = int(named.view(f"u{named.itemsize}").max()) if named.size else -1  # unsigned, what is negative is large
    if largest >= width:
        worst = int(named.min()) if int(named.min()) < 0 else int(named.max())
        problem = f"is no CSR matrix: it has {width} columns and names column {worst}. Build it anew."
        raise DataError(problem, array="X", value=worst)
