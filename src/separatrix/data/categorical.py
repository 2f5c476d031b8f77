"""Rows of a table with categories: each row holds the place of its level, not a zero for every level it has not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..numerics.arrays import Floats
from .block import Dense
from .mapped import MappedRows

Places = NDArray[np.int32]
TABLE = "table"
"""The layout of a table's rows."""
BLOCK = 1 << 14
"""Rows whose levels are counted together: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Numbers as they are, and of each category the place of its level."""

    numbers: Floats
    """n × p, in C order."""
    places: Places
    """n × q, in C order: which of all indicators is 1, or as many as there are where none is."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and what is held of each."""
        return len(self), self.numbers.shape[1] + self.places.shape[1]

    def __getitem__(self, rows: Any) -> Levels:
        return Levels(np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.places[rows]))

    def finite(self) -> bool:
        """Whether there is neither NaN nor infinity."""
        return bool(np.isfinite(self.numbers).all())


@dataclass(frozen=True, eq=False)
class Indicators:
    """xⱼ of every number, 1[level] of every level: in which column each of them stands."""

    of_numbers: NDArray[np.intp]
    of_levels: NDArray[np.intp]

    @property
    def width_out(self) -> int:
        """How many columns there are."""
        return self.of_numbers.size + self.of_levels.size

    def expand(self, rows: Levels) -> Floats:
        """The rows with all their zeros."""
        X = np.zeros((len(rows), self.width_out))
        X[:, self.of_numbers] = rows.numbers
        there = rows.places < self.of_levels.size
        where = np.nonzero(there)[0]
        X[where, self.of_levels[rows.places[there]]] = 1.0
        return X

    def split(self, weights: Floats) -> Floats:
        """The weights of all numbers, of all levels, and 0 for none."""
        return np.concatenate([weights[self.of_numbers], weights[self.of_levels], np.zeros((1, *weights.shape[1:]))])

    def joined(self, numbers: Floats, levels: Floats) -> Floats:
        """What belongs to numbers and to levels, column by column."""
        found = np.empty(self.width_out)
        found[self.of_numbers], found[self.of_levels] = numbers, levels
        return found


@dataclass(frozen=True, eq=False)
class CategoricalRows(MappedRows):
    """The rows of a table as numbers, zeros left out; but for compiled passes they are made when they are read."""

    skips_zeros = True

    raw: Levels
    map: Indicators  # type: ignore[assignment]
    names: tuple[str, ...] = ()
    """Of the columns, zeros and all."""

    @classmethod
    def of(cls, numbers: Floats, places: Places, numbered: Sequence[bool], names: Sequence[str]) -> CategoricalRows:
        """Rows of columns that are numbers, or are indicators, counted in their order."""
        is_number = np.array(numbered, bool)
        table = Indicators(np.flatnonzero(is_number), np.flatnonzero(~is_number))
        if len(names) != table.width_out or numbers.shape[1] != table.of_numbers.size:
            raise DataError(f"There are {len(names)} names for {table.width_out} columns: one a column is needed.")
        return cls(Levels(numbers, places), table, tuple(names))

    @property
    def layout(self) -> str:
        return TABLE

    @property
    def readable(self) -> Any:
        return self.parts

    @property
    def parts(self) -> tuple[Floats, Places]:
        """Numbers and places."""
        return self.raw.numbers, self.raw.places

    def __matmul__(self, weights: Any) -> Floats:
        """XW: a product with the numbers, and the weights of the levels that are there."""
        W = self.map.split(np.asarray(weights, dtype=np.float64))
        p, scores = self.map.of_numbers.size, self.raw.numbers @ W[: self.map.of_numbers.size]
        for place in self.raw.places.T:
            scores += W[p:][place]
        return scores  # type: ignore[no-any-return]

    @property
    def rows_for_a_gradient(self) -> int:
        d = self.shape[1]
        return max(2 * d, d * d // (8 * self.raw.shape[1]))

    made_of = None

    def dense(self) -> Floats:
        return self.map.expand(self.raw)  # type: ignore[arg-type]

    def finite(self) -> bool:
        return self.raw.finite()

    def pull(self, weights: Floats) -> Floats:
        if weights.ndim > 1:
            return np.stack([self.pull(each) for each in weights.T])
        return self.map.joined(weights @ self.raw.numbers, self.shares(weights))

    def scatter(self, weight: Floats, center: Floats) -> Floats:
        at, c, there = self.map.of_numbers, center[self.map.of_levels], self.shares(weight)
        squares = there * np.square(1 - c) + np.maximum(weight.sum() - there, 0) * np.square(c)
        return self.map.joined(Dense(self.raw.numbers).scatter(weight, center[at]), squares)

    def plain(self) -> Any:
        """These rows as a CSR array of scipy."""
        from scipy.sparse import csr_array

        p, L = self.map.of_numbers.size, self.map.of_levels.size
        columns = np.append(self.map.of_levels, 0)[self.raw.places]
        there = np.hstack([np.ones((len(self), p), bool), self.raw.places < L])
        values = np.hstack([self.raw.numbers, np.ones(self.raw.places.shape)])[there]
        named = np.hstack([np.broadcast_to(self.map.of_numbers, (len(self), p)), columns])[there]
        found = csr_array((values, named, np.append(0, np.cumsum(there.sum(axis=1)))), shape=self.shape)
        found.sort_indices()
        return found

    def shares(self, weight: Floats) -> Floats:
        """Σ weightᵢ of the rows that have a level, of each; no weights are weights of 1/n."""
        L, total = self.map.of_levels.size, np.zeros(self.map.of_levels.size + 1)
        for lo in range(0, len(self), BLOCK):
            places = self.raw.places[lo : lo + BLOCK]
            each = np.repeat(weight[lo : lo + BLOCK], places.shape[1]) if weight.size else None
            total += np.bincount(places.ravel(), each, L + 1)
        return total[:L] if weight.size else total[:L] / len(self)


def squares(rows: CategoricalRows, frame: Any) -> Floats:
    """‖z‖² of each row in a frame: what its numbers are, what no level would be, and what its levels add to that."""
    at, levels = rows.map.of_numbers, rows.map.of_levels
    c, s = frame.center[levels], frame.scale[levels]
    added = np.append((1 - 2 * c) / s**2, 0.0)
    found = np.square((rows.raw.numbers - frame.center[at]) / frame.scale[at]).sum(axis=1)
    found += float(np.square(c / s).sum()) + frame.lifted
    for place in rows.raw.places.T:
        found += added[place]
    return found  # type: ignore[no-any-return]
