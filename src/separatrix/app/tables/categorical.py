"""From a table to rows without zeros: numbers as they are, and of each category the place of its level."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ...data.categorical import CategoricalRows
from .encoding import THREADS, Category, Encoding, Number, written_columns
from .table import Table

STEP = 1 << 15
"""Rows that are written together: they nearly stay in the cache, and threads seldom wait for each other."""
LARGE = 1 << 22
"""Numbers from which zeros may be left out."""
THINNER = 2
"""How many times fewer numbers are held where zeros are left out, at the least."""


def pays(encoding: Encoding, rows: int) -> bool:
    """Whether the rows are so many, and so many of their numbers zeros, that these are better left out."""
    width = len(encoding.names)
    held = sum(1 + column.indicator for column in encoding.columns)
    return rows * width >= LARGE and width >= THINNER * held


def table_rows(encoding: Encoding, table: Table) -> CategoricalRows:
    """What `encoding.matrix(table)` is, as `CategoricalRows`; the same errors."""
    columns = encoding.columns
    written = written_columns(columns, table, "error")
    numbered = [k == 0 and column.kind == "number" for column in columns for k in range(len(column.features))]
    numbers = np.empty((table.rows, sum(numbered)))
    places = np.empty((table.rows, sum((column.kind == "category") + column.indicator for column in columns)), np.int32)
    none = len(numbered) - sum(numbered)
    sources = _sources(written, none)

    def write(lo: int) -> None:
        rows, at = slice(lo, min(lo + STEP, table.rows)), 0
        for column in written:
            if isinstance(column, Number):
                column.fill_numbers(numbers[rows, at], rows)
                at += 1
        for k, (codes, stands) in enumerate(sources):
            places[rows, k] = stands[codes[rows]]

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(write, range(0, table.rows, STEP)):
            pass
    return CategoricalRows.of(numbers, places, numbered, encoding.names)


def _sources(written: Sequence[Number | Category], none: int) -> list[tuple[NDArray[np.generic], NDArray[np.int32]]]:
    """Of each place: a code in every row, and where the indicator of each code stands; `none` for no indicator."""
    found: list[tuple[NDArray[np.generic], NDArray[np.int32]]] = []
    first = 0
    for column in written:
        if isinstance(column, Category):
            found.append((column.codes, np.where(column.place > 0, column.place + (first - 1), none).astype(np.int32)))
            first += len(column.column.levels) - 1
        if column.column.indicator:
            found.append((_gaps(column), np.array([none, first], np.int32)))
            first += 1
    return found


def _gaps(column: Number | Category) -> NDArray[np.int8]:
    """1 where a value is missing."""
    held = column.x if isinstance(column, Number) else column.codes
    return np.zeros(len(held), np.int8) if column.missing is None else column.missing.view(np.int8)
