"""Columns that were fetched from duckdb, kept while the table is looked at again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .parts import ROOM
from .table import LevelCodes

THREADS = 2


class Numbers(NamedTuple):
    """A column of numbers."""

    values: Floats
    """NaN where a value is missing."""
    missing: int
    wrong: NDArray[np.bool_] | None
    """The cells that are no finite numbers, if there are any; a missing one is none of them."""

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.values.nbytes)


class ColumnCache:
    """What was fetched, by column, as long as there is room. The arrays are shared: nobody writes into them."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._numbers: dict[int, Numbers] = {}
        self._coded: dict[int, LevelCodes] = {}

    def numbers(self, j: int, fetch: Callable[[int], Numbers]) -> Numbers:
        """The numbers of a column, fetched unless they are here."""
        found = self._numbers.get(j) or fetch(j)
        if j not in self._numbers and found.size <= self._room:
            self._room -= found.size
            self._numbers[j] = found
        return found

    def coded(self, j: int, fetch: Callable[[int], LevelCodes]) -> LevelCodes:
        """The levels of a column, fetched unless they are here."""
        found = self._coded.get(j) or fetch(j)
        if j not in self._coded and found.codes.nbytes <= self._room:
            self._room -= found.codes.nbytes
            self._coded[j] = found
        return found

    def ahead(self, columns: Iterable[int], fetch: Callable[[int], Numbers], size: int) -> None:
        """Fetch columns of numbers, of so many bytes each, before they are asked for, as many as there is room for."""
        lacking = [j for j in columns if j not in self._numbers][: self._room // max(1, size)]
        if len(lacking) < 2:
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(THREADS) as pool:
            for j, found in zip(lacking, pool.map(fetch, lacking), strict=True):
                self.numbers(j, lambda _, found=found: found)  # type: ignore[misc]

    def has_numbers(self, j: int) -> bool:
        """Whether a column is here as numbers, with nothing wrong among them."""
        return j in self._numbers and self._numbers[j].wrong is None

    def levels(self, j: int) -> tuple[str, ...] | None:
        """The levels of a column that is here as levels."""
        return self._coded[j].levels if j in self._coded else None

    def forget(self) -> None:
        """Give the memory back."""
        self._numbers.clear()
        self._coded.clear()


def numbers_of(found: Any) -> Numbers:
    """What duckdb gave as numbers, masked where values are missing."""
    masked = isinstance(found, np.ma.MaskedArray)
    values = np.asarray(np.ma.getdata(found), np.float64)
    finite = np.isfinite(values)
    if not masked:
        return Numbers(values, 0, None if finite.all() else ~finite)
    missing = np.ma.getmaskarray(found)
    wrong = ~(finite | missing)
    values[missing] = np.nan
    return Numbers(values, int(np.count_nonzero(missing)), wrong if wrong.any() else None)
