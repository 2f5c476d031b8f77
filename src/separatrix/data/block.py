"""How the numbers of some rows lie in memory: what every kind of rows answers, and the plainest kind, an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats, Indices

CENTRED = 1 << 17
"""Numbers that are centred together."""
FLOATS = "fd"
"""The precisions, single and double, that passes read as they are."""
NUMBERS = 1 << 19
"""Numbers that are written out together where they are used once."""


class Block(ABC):
    """Some rows. A new kind says how many there are, how some are taken and how they are written out; the rest follows.

    What is given here costs as much as writing the rows out, some at a time; a kind that can do better does.
    """

    skips_zeros = False
    """Whether passes read what is not zero alone, so that centres are taken out of sums, not of rows."""
    made = False
    """Whether the numbers are made anew whenever they are read."""
    by_numbers = False
    """Whether scores come straight from the numbers of a row that are not zero, of as many rules as one likes."""
    in_place = False
    """Whether compiled code that takes one row after the other reads them where they lie, as `readable`."""
    at_hand = False
    """Whether they lie in memory as they are, so that writing them out costs nothing."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    ndim = 2
    names: tuple[str, ...] = ()
    """Of the columns, where the rows themselves know them."""

    @property
    def made_of(self) -> Block | None:
        """The rows that these are features of: those that a user knows."""
        return None

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The precision of the numbers once they are written out."""

    @abstractmethod
    def __getitem__(self, rows: Any) -> Any:
        """Some rows of the same kind: of a slice a view, of indices a copy."""

    @abstractmethod
    def dense(self) -> NDArray[Any]:
        """The rows as an array, zeros and all."""

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """How many numbers a pass reads."""
        return self.shape[0] * self.shape[1]

    @property
    def layout(self) -> str:
        """How a compiled pass reads these rows; empty where none does."""
        return ""

    @property
    def readable(self) -> Any:
        """The rows as a compiled pass takes them."""
        raise NotImplementedError(f"no compiled pass reads {type(self).__name__}")

    @property
    def rows_for_a_gradient(self) -> int:
        """So many rows that adding up their gradients, of a table their Hessians, costs little beside reading them."""
        return 2 * self.shape[1]

    def packed(self, classes: int, runs: Any, each: Any, dtype: str) -> Any:
        """The rows without their zeros, if products with so many classes are faster so; else None."""
        return None

    @property
    def longest(self) -> int:
        """The most numbers in a row."""
        return self.shape[1]

    def sum(self) -> float:
        """The sum of all numbers."""
        return float(sum(block.sum(dtype=np.float64) for _, block in self.blocks()))

    def plain(self) -> Any:
        """The rows as code of others takes them: an array, or a matrix of scipy's."""
        return self.dense()

    def astype(self, dtype: Any) -> Any:
        """These rows in this precision, copied only if they are in another."""
        return Dense(self.dense().astype(dtype, copy=False))

    def stretches(self, numbers: int) -> Iterator[slice]:
        """All rows, some at a time, with about so many numbers."""
        size = max(1, numbers * max(1, len(self)) // max(1, self.size))
        return (slice(lo, min(lo + size, len(self))) for lo in range(0, len(self), size))

    def blocks(self, numbers: int = NUMBERS) -> Iterator[tuple[slice, NDArray[Any]]]:
        """All rows written out, some at a time."""
        size = max(16, numbers // max(1, self.shape[1]))
        for lo in range(0, len(self), size):
            rows = slice(lo, min(lo + size, len(self)))
            yield rows, self[rows].dense()

    def __matmul__(self, weights: Any) -> Floats:
        """XW."""
        W = np.asarray(weights, dtype=np.float64)
        return np.concatenate([np.empty((0, *W.shape[1:])), *(block @ W for _, block in self.blocks())])

    def products(self, others: Block) -> Floats:
        """XZᵀ: of each row with each of the others."""
        return self @ others.dense().T

    def magnitudes(self, weights: Floats) -> Floats:
        """|X|W for W ≥ 0: what the rounding of a score is relative to."""
        found = [np.abs(block) @ weights for _, block in self.blocks()]
        return np.concatenate([np.empty((0, *weights.shape[1:])), *found])

    def pull(self, weights: Floats) -> Floats:
        """WᵀX: Σᵢ wᵢxᵢᵀ."""
        found = np.zeros((*weights.shape[1:], self.shape[1]))
        for rows, block in self.blocks():
            found += weights[rows].T @ block
        return found

    def centred_scores(self, center: Floats, weights: Floats) -> Floats:
        """(X − c)w."""
        found = np.empty(len(self))
        for rows, block in self.blocks(CENTRED):
            found[rows] = (block - center) @ weights
        return found

    def squared(self) -> Any:
        """Every number squared, in double precision."""
        return Dense(np.square(self.dense(), dtype=np.float64))

    def changed(self, f: Callable[[NDArray[Any]], NDArray[Any]], columns: Indices) -> Any:
        """These rows with f of the numbers in some columns; f leaves zeros as they are if the rows skip them."""
        X = self.dense()
        if len(columns) == X.shape[1]:
            return Dense(f(X))
        made = np.array(X)
        made[:, columns] = f(X[:, columns])
        return Dense(made)

    def squares(self, scale: Floats | float = 1.0) -> Floats:
        """Σⱼ (xᵢⱼ/sⱼ)² of every row."""
        found = np.empty(len(self))
        for rows, block in self.blocks():
            found[rows] = np.square(block / scale, dtype=np.float64).sum(axis=1)
        return found

    def weighted_squares(self, weight: Floats | None) -> Floats:
        """Σᵢ vᵢxᵢⱼ² of each column; no weights are weights of one."""
        v = np.ones(len(self)) if weight is None else weight
        return np.asarray(sum(v[rows] @ np.square(block, dtype=np.float64) for rows, block in self.blocks()))

    def scatter(self, weight: Floats, center: Floats) -> Floats:
        """Σᵢ vᵢ(xᵢⱼ − cⱼ)² of each column."""
        return np.asarray(sum(weight[rows] @ np.square(block - center) for rows, block in self.blocks(CENTRED)))

    def root_mean_squares(self) -> Floats:
        """√(Σᵢxᵢⱼ²/n) of each column, without overflow or underflow; one for a column of zeros."""
        most = self.largest()
        unit = np.where(most > 0, most, 1.0)
        return np.where(most > 0, unit * np.sqrt(self._squares_of_columns(unit) / len(self)), 1.0)

    def _squares_of_columns(self, unit: Floats) -> Floats:
        """Σᵢ (xᵢⱼ/uⱼ)²."""
        return np.asarray(sum(np.square(block / unit).sum(axis=0) for _, block in self.blocks()))

    def largest(self) -> Floats:
        """maxᵢ |xᵢⱼ| of each column."""
        low, high = self.extremes()
        return np.asarray(np.maximum(np.abs(low), np.abs(high)), dtype=np.float64)

    def any(self) -> bool:
        """Whether a number is not zero."""
        return any(bool(block.any()) for _, block in self.blocks())

    def finite(self) -> bool:
        """Whether there is neither NaN nor infinity."""
        return all(bool(np.isfinite(block).all()) for _, block in self.blocks())

    def first(
        self, wrong: Callable[[NDArray[Any], Any], NDArray[np.bool_]], counts: NDArray[np.bool_] | None = None
    ) -> tuple[int, int] | None:
        """Row and column of the first number that is wrong, by numbers and columns, among the rows that count."""
        for rows, block in self.blocks():
            found = wrong(block, slice(None))
            if counts is not None:
                found &= counts[rows, None]
            if found.any():
                i, j = np.argwhere(found)[0].tolist()
                return rows.start + i, j
        return None

    def extremes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The least and the largest number of each column; NaN where there is one."""
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        for _, block in self.blocks():
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return low, high

    def occurring(self) -> Indices:
        """The columns; of rows without their zeros those that hold another number, or if there is none the first."""
        return np.arange(self.shape[1])

    def select(self, columns: Indices) -> Any:
        """These rows with some columns only, in ascending order."""
        return Dense(self.dense()[:, columns])

    def written(self, rows: Any, columns: Indices | None = None) -> NDArray[Any]:
        """Some rows, all columns of them or some in ascending order, as an array."""
        found = self[rows].dense()
        return found if columns is None else found[:, columns]  # type: ignore[no-any-return]

    def write(self, rows: Indices, out: NDArray[Any]) -> None:
        """Write some rows into an array of as many."""
        out[:] = self[rows].dense()

    def numbers_of(self, row: int) -> tuple[Indices, Floats]:
        """The columns of a row that are not zero, and their numbers."""
        numbers = self[row : row + 1].dense()[0]
        found = np.flatnonzero(numbers)
        return found, numbers[found].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Rows of an array, in any order of its numbers."""

    array: NDArray[Any]
    at_hand = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape  # type: ignore[return-value]

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def layout(self) -> str:
        """C, F, or A for any other strides."""
        flags = self.array.flags
        return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"

    @property
    def readable(self) -> Any:
        return self.array

    @property
    def in_place(self) -> bool:  # type: ignore[override]
        flags = self.array.flags
        return bool(flags.c_contiguous and flags.aligned and self.array.dtype.isnative)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> Dense:
        return Dense(self.array[rows] if isinstance(rows, slice) else np.ascontiguousarray(self.array[rows]))

    def dense(self) -> NDArray[Any]:
        return self.array

    def __matmul__(self, weights: Any) -> Floats:
        if self.array.dtype == np.float64:
            return self.array @ weights  # type: ignore[no-any-return]
        return super().__matmul__(weights)

    def products(self, others: Block) -> Floats:
        return np.ascontiguousarray(others.products(self).T) if others.by_numbers else super().products(others)

    def squares(self, scale: Floats | float = 1.0) -> Floats:
        X = self.array if np.ndim(scale) == 0 and scale == 1.0 else self.array / scale
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)  # type: ignore[no-any-return]

    def pull(self, weights: Floats) -> Floats:
        if self.array.dtype == np.float64:
            return weights.T @ self.array  # type: ignore[no-any-return]
        return super().pull(weights)

    def centred_scores(self, center: Floats, weights: Floats) -> Floats:
        if self.array.dtype == np.float64 and not center.any():
            return self.array @ weights  # type: ignore[no-any-return]
        return super().centred_scores(center, weights)

    def magnitudes(self, weights: Floats) -> Floats:
        return np.abs(self.array) @ weights  # type: ignore[no-any-return]

    def write(self, rows: Indices, out: NDArray[Any]) -> None:
        if self.array.flags.c_contiguous:
            np.take(self.array, rows, axis=0, out=out, mode="clip")
        else:  # of any other array `take` would make a copy, all of it
            out[:] = self.array[rows]

    def packed(self, classes: int, runs: Any, each: Any, dtype: str) -> Any:
        from .sparse import pack, pays

        return pack(self.array, runs, each, dtype) if pays(self.array, classes) else None

    def sum(self) -> float:
        return float(self.array.sum(dtype=np.float64))

    def any(self) -> bool:
        return bool(self.array.any())

    def finite(self) -> bool:
        return bool(np.isfinite(self.array).all()) if self.size <= NUMBERS else super().finite()

    def extremes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.array.min(axis=0), self.array.max(axis=0)


def block_of(X: Any) -> Block:
    """The rows of a block, of an array, of a matrix of scipy's, or of lists."""
    if isinstance(X, Block):
        return X
    if hasattr(X, "tocsr"):
        from .sparse import Sparse

        X = X.tocsr()
        return Sparse.of(X if X.dtype.char in FLOATS else X.astype(np.float64))
    X = np.asarray(X)
    return Dense(X if X.dtype.char in FLOATS else X.astype(np.float64))


def as_others_read(X: Any) -> Any:
    """The rows of a block as code of others takes them; what is no block as it is."""
    return X.plain() if isinstance(X, Block) else X
