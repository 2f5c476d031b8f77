"""The signed rows of a table, looked at in a frame in which its numbers are of size one and stay exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.block import Block
from ...fitting.problem import NotFiniteError
from ...numerics.arrays import Floats, Indices
from ...numerics.threads import Map, one_blas_thread

# The frame in which rows are looked at: numbers of size one that stay exact.

SAMPLE = 1024
NEAR_MEAN = 4.0
"""Means of at most so many deviations are left where they are: zeros stay zeros."""


class ExactFrame(NamedTuple):
    """z = (x − center)/scale, scale a power of two and center a multiple of it: exact, but for far-fetched numbers."""

    center: Floats
    scale: Floats


def frame_of(rows: Rows, lifted: bool, seed: int, near: float = NEAR_MEAN) -> ExactFrame:
    """Means and deviations of a sample, rounded to powers of two and multiples of them; no mean of at most `near`
    deviations.

    Of a column that is constant in the sample, that constant (zero without an intercept) and the largest distance from
    it.
    """
    columns = rows.block.occurring()
    X = rows.sample(SAMPLE, seed).block.written(slice(None), columns).astype(np.float64)
    center = _mean(X) if lifted else np.zeros(X.shape[1])
    spread = _deviation(X, center)
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    if lifted:
        center[constant] = X[0, constant]
    spread[constant] = _reach(rows, columns[constant], center[constant])
    if not (np.isfinite(spread).all() and np.isfinite(center).all()):
        raise NotFiniteError
    scale = np.exp2(np.round(np.log2(np.where(spread > 0, spread, 1.0))))
    zero = np.abs(center) <= near * scale
    center = np.where(zero, 0.0, np.round(center / scale) * scale)
    center = np.where(np.isin(np.arange(len(scale)), constant) & ~zero, X[0] * lifted, center)
    every = ExactFrame(np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
    every.center[columns], every.scale[columns] = center, scale
    return every


def _reach(rows: Rows, columns: NDArray[np.intp], center: Floats) -> Floats:
    """maxᵢ |xᵢⱼ − cⱼ| of some columns."""
    if not columns.size:
        return np.empty(0)
    low, high = (each[columns].astype(np.float64) for each in rows.block.extremes())
    return np.asarray(np.maximum(np.abs(low - center), np.abs(high - center)))


def _mean(X: Floats) -> Floats:
    """Σx/n, without overflow."""
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray((X / unit).mean(axis=0) * unit)


def _deviation(X: Floats, center: Floats) -> Floats:
    """√(Σ(x − c)²/n), without overflow or underflow."""
    largest = np.abs(X - center).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(np.sqrt(np.square((X - center) / unit).mean(axis=0)) * unit)


def owners(rows: Rows, classes: int) -> tuple[Indices, Indices]:
    """The rows that count and their classes, in the order of the rows."""
    if classes == 2:
        parts = [
            (np.flatnonzero(side.cost > 0) if side.cost.size else np.arange(len(side)), (side.y > 0))
            for side in rows.sides()
        ]
        row = np.concatenate([found for found, _ in parts])
        own = np.concatenate([second[found] for found, second in parts]).astype(np.intp)
    else:
        counts = np.flatnonzero(rows.cost > 0) if rows.cost.size else np.arange(len(rows))
        if rows.y.ndim == 1:
            return counts, rows.y[counts].astype(np.intp)
        place, own = np.nonzero(rows.y[counts] > 0)
        row = counts[place]
    if rows.other.size:
        order = np.argsort(row, kind="stable")
        row, own = row[order], own[order]
    return row, own


BLOCK = 4096
"""Rows that one pass looks at together."""
RUN = 65536
"""Rows that one pass looks at together where only a few columns are read."""
NEAR = 64.0
"""Offsets of at most so many scales cost few digits: such rows are multiplied as they are."""


class Look(NamedTuple):
    """Some cases as one pass sees them."""

    cases: slice
    margins: Floats
    """vectors × cases × others: a·v for each signed row a; infinite where the other class would be the own."""
    sizes: Floats | None
    """Σⱼ|aⱼvⱼ| for each, or somewhat more: what rounding is relative to."""


@dataclass(frozen=True)
class Cases:
    """A case is a row and a class it is of; against each other class it is the signed row (e_own − e_other) ⊗ (z, 1).

    Directions are written without the class whose weights are zero: the first of two, the last of more. So they have
    (K − 1)·width numbers, class by class.
    """

    block: Block
    row: Indices
    own: Indices
    classes: int
    lifted: bool
    frame: ExactFrame
    keep: Indices
    """The columns that are no combinations of others; of `Sparse` rows none of zeros only, from the first."""
    map: Map = map
    compiled: bool = False

    @cached_property
    def sign(self) -> NDArray[np.int8]:
        """Of two classes: −1 for the first, 1 for the second."""
        return np.where(self.own == 1, 1, -1).astype(np.int8)

    @property
    def distinct_rows(self) -> Indices:
        """The rows that count, each once."""
        return self.row if len(self.row) < 2 or (np.diff(self.row) > 0).all() else np.unique(self.row)

    @classmethod
    def of(cls, rows: Rows, classes: int, lifted: bool, frame: ExactFrame) -> Cases:
        """The cases of rows that count: one a row, or one for each class that a row may be of."""
        row, own = owners(rows, classes)
        return cls(rows.block, row, own, classes, lifted, frame, rows.block.occurring(), rows.map, rows.compiled)

    @cached_property
    def _whole(self) -> bool:
        """Whether the cases are the rows of X, each once."""
        return len(self.row) == len(self.block) and bool((np.diff(self.row) == 1).all())

    def __len__(self) -> int:
        return len(self.row)

    @property
    def width(self) -> int:
        """How many weights a class has, its intercept counted."""
        return len(self.keep) + self.lifted

    @property
    def size(self) -> int:
        """(K − 1)·width: how many weights there are."""
        return (self.classes - 1) * self.width

    @property
    def reference(self) -> int:
        """The class whose weights are zero."""
        return 0 if self.classes == 2 else self.classes - 1

    def without(self, columns: Indices) -> Cases:
        """The cases without some columns."""
        return replace(self, keep=np.setdiff1d(self.keep, columns))

    def coordinates(self, rows: Any) -> Floats:
        """z, and a one where there is an intercept, for rows of X."""
        X = self.block.written(rows, None if len(self.keep) == self.block.shape[1] else self.keep)
        Z = np.empty((len(X), self.width))
        np.subtract(X, self.frame.center[self.keep], out=Z[:, : len(self.keep)])
        Z[:, : len(self.keep)] /= self.frame.scale[self.keep]
        Z[:, len(self.keep) :] = 1.0
        return Z

    def signed(self, case: Indices, other: Indices) -> Floats:
        """(e_own − e_other) ⊗ z, a row each."""
        Z, own = self.coordinates(self.row[case]), self.own[case]
        if self.classes == 2:
            Z *= np.where(own == 1, 1.0, -1.0)[:, None]
            return Z
        A = np.zeros((len(case), self.classes, self.width))
        A[np.arange(len(case)), own] = Z
        A[np.arange(len(case)), other] = -Z
        return A[:, :-1].reshape(len(case), self.size)

    def look(self, vectors: Floats, *, sized: bool = False) -> Iterator[Look]:
        """The margins of all cases under some directions; sized, with the sums of the sizes that went into them."""
        by_class = self.by_class(np.atleast_2d(vectors))
        W, b = self.to_user(by_class)
        if self.block.by_numbers:
            yield from self._look_at_numbers(W, by_class, sized)
            return
        used = np.flatnonzero(W.any(axis=(0, 1)))
        made = self.block.made
        if self.compiled and self.classes == 2 and self._whole and 4 * len(used) > self.block.shape[1] and not made:
            yield from self._look_compiled(W[:, 1], by_class[:, 1], sized)
            return
        few = 4 * len(used) <= self.block.shape[1]
        plain = self._near(used)
        W = np.ascontiguousarray(W[..., used]) if few else W
        size = RUN if few and plain and len(used) * self.classes < 32 and not made else BLOCK

        def block(start: int) -> Look:
            cases = slice(start, min(start + size, len(self)))
            rows, own = self._rows(cases), self.own[cases]
            if plain:
                X, V, level = self.block.written(rows, used if few else None), W, b
            else:
                X, V, level = self.coordinates(rows), by_class, np.zeros(by_class.shape[:2])
            margins = self._margins(_scores(X, V, level), own)
            sizes = self._sizes(_scores(np.abs(X), np.abs(V), np.abs(level)), own) if sized else None
            return Look(cases, margins, sizes)

        with one_blas_thread():
            yield from self.map(block, range(0, len(self), size))

    def _look_compiled(self, W: Floats, inside: Floats, sized: bool) -> Iterator[Look]:
        """The margins of two classes, read at the speed of memory."""
        from ...data.compiled.passes import score_kernel

        order = self.block.layout
        kernel = score_kernel(self.block.dtype.name, order)
        level = inside[:, -1] if self.lifted else np.zeros(len(inside))

        def run(start: int) -> Look:
            cases = slice(start, min(start + RUN, len(self)))
            count = cases.stop - start
            margins, sizes = np.empty((len(W), count)), np.empty((len(W), count if sized else 0))
            for v in range(len(W)):
                rule = self.frame.center, W[v], float(level[v])
                kernel(self.block.readable, start, cases.stop, order != "C", *rule, margins[v], sizes[v])
            margins *= self.sign[cases]
            return Look(cases, margins[:, :, None], sizes[:, :, None] if sized else None)

        yield from self.map(run, range(0, len(self), RUN))

    def _look_at_numbers(self, W: Floats, inside: Floats, sized: bool) -> Iterator[Look]:
        """The margins of rows that are mostly zeros: only the numbers that are there are read."""
        rest = np.flatnonzero(np.arange(self.classes) != self.reference)
        rules = W[:, rest].reshape(-1, self.block.shape[1])
        level = inside[:, rest, -1].ravel() if self.lifted else np.zeros(len(rules))

        def run(start: int) -> Look:
            cases = slice(start, min(start + RUN, len(self)))
            found = self.block[self._rows(cases)].scores_and_sizes(self.frame.center, rules, level, sized=sized)
            full = np.zeros((2 if sized else 1, len(W), self.classes, cases.stop - start))
            for k, each in enumerate(full):
                each[:, rest] = found[k].reshape(len(W), len(rest), -1)
            own = self.own[cases]
            return Look(cases, self._margins(full[0], own), self._sizes(full[1], own) if sized else None)

        yield from self.map(run, range(0, len(self), RUN))

    def _rows(self, cases: slice) -> Any:
        """A slice of X where the cases are neighbours there."""
        first, last = int(self.row[cases.start]), int(self.row[cases.stop - 1])
        neighbours = last - first == cases.stop - 1 - cases.start and len(self.row) <= len(self.block)
        if neighbours and (self._whole or (np.diff(self.row[cases]) == 1).all()):
            return slice(first, last + 1)
        return self.row[cases]

    def _near(self, columns: Indices) -> bool:
        return bool((np.abs(self.frame.center[columns]) <= NEAR * self.frame.scale[columns]).all())

    def _margins(self, scores: Floats, own: Indices) -> Floats:
        """s_own − s_other, from scores of vectors × classes × cases."""
        if self.classes == 2:
            return (np.where(own == 1, 1.0, -1.0) * scores[:, 1])[:, :, None]
        s = scores.transpose(0, 2, 1)
        margins: Floats = np.take_along_axis(s, own[None, :, None], 2) - s
        np.put_along_axis(margins, own[None, :, None], np.inf, 2)
        return margins

    def _sizes(self, sizes: Floats, own: Indices) -> Floats:
        if self.classes == 2:
            return sizes[:, 1, :, None]
        s = sizes.transpose(0, 2, 1)
        return np.take_along_axis(s, own[None, :, None], 2) + s  # type: ignore[no-any-return]

    def by_class(self, vectors: Floats) -> Floats:
        """Directions as vectors × classes × width, zero for the class of reference."""
        full = np.zeros((len(vectors), self.classes, self.width))
        others = np.arange(self.classes) != self.reference
        full[:, others] = vectors.reshape(len(vectors), self.classes - 1, self.width)
        return full

    def to_user(self, by_class: Floats) -> tuple[Floats, Floats]:
        """Weights and intercepts in the user's units, … × classes × columns and … × classes; dropped columns zero."""
        W = np.zeros((*by_class.shape[:-1], self.block.shape[1]))
        W[..., self.keep] = by_class[..., : len(self.keep)] / self.frame.scale[self.keep]
        b = by_class[..., -1] - W @ self.frame.center if self.lifted else np.zeros(by_class.shape[:-1])
        return W, b


def _scores(X: Any, W: Floats, b: Floats) -> Floats:
    """vectors × classes × rows."""
    flat = W.reshape(W.shape[0] * W.shape[1], W.shape[2])
    scores = X @ flat.T
    scores += b.ravel()
    return scores.T.reshape(*W.shape[:2], len(X))  # type: ignore[no-any-return]
