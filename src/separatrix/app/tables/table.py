"""A table: named columns, read as numbers or as levels, whose rows know where they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .cells import DECIMAL_COMMA, TIME, number_of
from .columns import Profile
from .errors import Place, TableError


class LevelCodes(NamedTuple):
    """A column of levels."""

    codes: NDArray[np.int32]
    """The place of each row's level in `levels`; −1 where the value is missing."""
    levels: tuple[str, ...]


class Table(Protocol):
    """Rows of named columns; what a number or a missing value is was settled when it was opened."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the file."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where missing; a TableError names the first cell that is no number."""

    def coded(self, name: str) -> LevelCodes:
        """A column as levels; numbers are levels by their text as it stands in the file."""

    def place(self, row: int) -> Place:
        """Where a row stands."""


class Columns:
    """A table held in memory: lists, arrays of numbers or texts, `LevelCodes`; None and NaN are missing."""

    def __init__(
        self, columns: Mapping[str, Sequence[Any] | NDArray[Any] | LevelCodes], source: str = "the table"
    ) -> None:
        self._columns, self._source = dict(columns), source
        self._rows = {len(c.codes) if isinstance(c, LevelCodes) else len(c) for c in self._columns.values()}
        if len(self._rows) > 1:
            raise TableError(f"the columns have different lengths: {sorted(self._rows)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return next(iter(self._rows), 0)

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where missing."""
        column = self._columns[name]
        if isinstance(column, LevelCodes):
            column = [None if code < 0 else column.levels[code] for code in column.codes.tolist()]
        if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
            return column.astype(np.float64)
        found = np.empty(len(column))
        for row, cell in enumerate(column):
            try:
                found[row] = np.nan if cell is None else float(cell)
            except (TypeError, ValueError, OverflowError):
                raise TableError(
                    f"{cell!r} is not a number", place=self.place(row), column=name, value=str(cell)
                ) from None
        return found

    def coded(self, name: str) -> LevelCodes:
        """A column as levels."""
        column = self._columns[name]
        if isinstance(column, LevelCodes):
            return column
        texts = [None if cell is None or cell != cell else str(cell) for cell in np.asarray(column, object).tolist()]
        levels = tuple(sorted({text for text in texts if text is not None}))
        places: dict[str | None, int] = {level: code for code, level in enumerate(levels)}
        return LevelCodes(np.array([places.get(text, -1) for text in texts], np.int32), levels)

    def place(self, row: int) -> Place:
        """Where a row stands: a row counted from 1."""
        return Place(f"{self._source} row {row + 1}", None)


# Columns of levels: each row's level as its place among all of them, and what is seen in such a column.


def plain_codes(found: Any) -> NDArray[np.int32]:
    """Codes, −1 where they are masked."""
    if isinstance(found, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(found)
        return np.where(missing, np.int32(-1), found.data.astype(np.int32))
    return np.asarray(found).astype(np.int32)


def without_unused(codes: NDArray[np.int32], levels: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes and levels without the levels that no row has."""
    counts = np.bincount(codes + 1, minlength=len(levels) + 1)[1:]
    if counts.all():
        return codes, tuple(levels)
    renumbered = np.concatenate([[-1], np.cumsum(counts > 0) - 1]).astype(np.int32)
    return renumbered[codes + 1], tuple(level for level, count in zip(levels, counts, strict=True) if count)


def profile_of_levels(coded: LevelCodes, decimal: str = ".") -> Profile:
    """How many values are missing, different, numbers, times, numbers with commas: each level is looked at once."""
    codes, levels = coded
    counts = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
    of_levels = list(zip(levels, counts[1:], strict=True))
    numbers = sum(count for level, count in of_levels if number_of(level, decimal) is not None)
    times = sum(count for level, count in of_levels if re.fullmatch(TIME, level))
    commas = sum(count for level, count in of_levels if re.fullmatch(DECIMAL_COMMA, level))
    return Profile("text", len(codes) - counts[0], counts[0], len(levels), numbers, times, commas)
