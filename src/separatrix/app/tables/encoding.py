"""From a table to the numbers that learners see, and the same numbers from every table that follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.categorical import CategoricalRows
from ...numerics.arrays import Floats
from .columns import Column, Decision
from .errors import Remedy, TableError, in_sql
from .table import Table

TOGETHER = 1 << 28
"""Bytes of columns that are held at a time to be written together."""
BLOCK = 1 << 18
"""Numbers that are written together: they stay in the cache until all their columns are there."""
TOGETHER_WRITTEN = 1 << 24
"""Numbers of rows that are written at a time where nobody needs them all at once."""
THREADS = 2
"""Threads that write a large matrix: half of the time goes into memory that is touched for the first time."""
MANY = 1 << 22
"""Numbers of a matrix that is large."""


@dataclass(frozen=True)
class Encoding:
    """(x − center)/scale of every number, 1[level] of every level but the reference, 1[missing] where that was learnt.

    >>> from separatrix.app.tables.table import Columns
    >>> encoding = Encoding((Column("age", "number"), Column("city", "category", ("Bonn", "Rome"))))
    >>> encoding.names
    ('age', 'city=Rome')
    >>> encoding.matrix(Columns({"city": ["Rome", "Bonn"], "age": [40, 50]})).tolist()
    [[40.0, 1.0], [50.0, 0.0]]
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise TableError(
                    f"two features are named {name!r}", because="Every feature needs a name of its own.",
                    remedies=[Remedy("rename the column in the file, or leave it out", "drop", ("NAME",))],
                )  # fmt: skip
            seen.add(name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of the matrix: 'age', 'city=Rome', 'age is missing'."""
        return tuple(name for column in self.columns for name in column.features)

    def matrix(self, table: Table, unseen: Literal["error", "reference"] = "error") -> Floats:
        """The rows of a table as numbers, in C order; the table may have its columns in any order, and more of them.

        A value that is missing where none was in the training rows, a level that none of these had (unless it shall
        count as the reference), a column that is not there: a TableError says which, where, and what to type.
        """
        found = np.zeros((table.rows, len(self.names)))
        start = 0
        for group in _groups(self.columns, table.rows):
            written = written_columns(group, table, unseen)
            places = np.cumsum([start, *(len(column.features) for column in group)]).tolist()
            _write(found, written, places)
            start = places[-1]
        return found

    def blocks(
        self, table: Table, unseen: Literal["error", "reference"] = "error", numbers: int = TOGETHER_WRITTEN
    ) -> Iterator[Floats]:
        """The rows of the matrix, some at a time: of a wide table all of it would not fit into memory."""
        columns = written_columns(self.columns, table, unseen)
        places = np.cumsum([0, *(len(column.features) for column in self.columns)]).tolist()
        step = max(1, numbers // max(1, len(self.names)))
        for lo in range(0, table.rows, step):
            rows = slice(lo, min(lo + step, table.rows))
            found = np.zeros((rows.stop - lo, len(self.names)))
            for column, at in zip(columns, places, strict=False):
                column.fill(found, at, rows)
            yield found

    def to_dict(self) -> list[dict[str, Any]]:
        """What a model file keeps."""
        return [column.to_dict() for column in self.columns]

    @classmethod
    def from_dict(cls, columns: Sequence[Mapping[str, Any]]) -> Encoding:
        """The encoding of a model file; who reads the file checks it first."""
        return cls(tuple(
            Column(
                each["name"], each["kind"], tuple(each.get("levels", ())), each.get("center", 0.0),
                each.get("scale", 1.0), each["fill"], each["indicator"],
            )
            for each in columns
        ))  # fmt: skip


def learn_encoding(
    table: Table, decisions: Sequence[Decision], *, missing: Literal["error", "impute"] = "error",
    standardise: bool = False,
) -> Encoding:  # fmt: skip
    """The encoding of the columns that are numbers or categories, by the rows of this table.

    A missing number is filled with the mean, a missing level with the reference, if `missing` is "impute", and one more
    column tells of it. `standardise` gives numbers the mean 0 and Σz²/n = 1; a constant column is only centred.
    """
    chosen = [each for each in decisions if each.kind in ("number", "category")]
    if not chosen:
        raise TableError(
            "no column is left to learn from",
            because="Every column is the target, weights, a group, or was left out.",
            remedies=[
                Remedy("read a column as numbers", "number", ("NAME",)),
                Remedy("or as levels", "category", ("NAME",)),
            ],
        )
    check_there(chosen, table)
    return Encoding(tuple(_learnt(table, each, missing, standardise) for each in chosen))


# ------------------------------------------------------------------------------------------------- learning a column


def _learnt(table: Table, decision: Decision, missing: str, standardise: bool) -> Column:
    filled = decision.missing > 0
    if filled and missing == "error":
        gaps = _missing_numbers(table.numbers(decision.name)) if decision.kind == "number" else _missing_codes(
            table.coded(decision.name).codes)  # fmt: skip
        raise missing_at_fit(table, decision.name, gaps)
    if decision.kind == "category":
        levels = decision.levels or _by_frequency(table, decision.name)
        if not levels:
            raise nothing_there(decision.name)
        return Column(decision.name, "category", levels, fill=levels[0] if filled else None, indicator=filled)
    if not (filled or standardise):
        return Column(decision.name, "number")
    mean, deviation = _moments(table, decision.name)
    center, scale = (mean, deviation or 1.0) if standardise else (0.0, 1.0)
    return Column(decision.name, "number", (), center, scale, mean if filled else None, filled)


def _moments(table: Table, name: str) -> tuple[float, float]:
    """x̄ and √(Σ(x − x̄)²/n) of the numbers that are there."""
    x = table.numbers(name)
    check_finite(table, name, x)
    x = x[~np.isnan(x)]
    if not x.size:
        raise nothing_there(name)
    largest = float(np.abs(x).max())
    unit = 2.0 ** min(math.frexp(largest)[1], 1023) if largest > 1e150 else 1.0  # so that no square overflows
    x = x / unit
    mean = float(x.mean())
    if x.min() == x.max():
        return float(x[0]) * unit, 0.0
    return mean * unit, float(np.sqrt(np.square(x - mean).mean())) * unit


def _by_frequency(table: Table, name: str) -> tuple[str, ...]:
    """The levels that occur, the most frequent first; of equals in alphabetical order."""
    codes, levels = table.coded(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
    return tuple(sorted((level for level, n in zip(levels, counts, strict=True) if n),
                        key=lambda level: (-counts[levels.index(level)], level)))  # fmt: skip


# ------------------------------------------------------------------------------------------------- writing a column


@dataclass(frozen=True, eq=False)
class Number:
    """z = (x − center)/scale, and 1[x is missing]."""

    x: Floats
    column: Column
    missing: NDArray[np.bool_] | None

    def fill(self, out: Floats, at: int, rows: slice) -> None:
        """Write these rows to the columns from `at` on."""
        self.fill_numbers(out[:, at], rows)
        if self.missing is not None:
            out[:, at + 1] = self.missing[rows]

    def fill_numbers(self, target: Floats, rows: slice) -> None:
        """z of these rows."""
        column = self.column
        target[:] = self.x[rows]
        if self.missing is not None:
            target[self.missing[rows]] = column.fill
        if (column.center, column.scale) != (0.0, 1.0):
            with np.errstate(over="ignore"):  # an infinity is named by whoever reads the matrix
                target -= column.center
                target /= column.scale


@dataclass(frozen=True, eq=False)
class Category:
    """1[level] of each level but the first, and 1[x is missing]."""

    codes: NDArray[np.int32]
    place: NDArray[np.intp]
    """Of each code: which of the columns is 1; 0 for the reference."""
    column: Column
    missing: NDArray[np.bool_] | None

    def fill(self, out: Floats, at: int, rows: slice) -> None:
        """Write these rows to the columns from `at` on, which hold zeros."""
        place = self.place[self.codes[rows]]
        there = np.flatnonzero(place)
        out.reshape(-1)[there * out.shape[1] + (place[there] + (at - 1))] = 1.0
        if self.missing is not None:
            out[:, at + len(self.column.levels) - 1] = self.missing[rows]


def _write(out: Floats, columns: Sequence[Number | Category], places: Sequence[int]) -> None:
    """All of the columns, block by block of rows, each from its place on."""
    step = max(64, BLOCK // max(1, out.shape[1]))

    def write(lo: int) -> None:
        for column, at in zip(columns, places, strict=False):
            column.fill(out[lo : lo + step], at, slice(lo, min(lo + step, len(out))))

    starts = range(0, len(out), step)
    if out.size < MANY:
        for lo in starts:
            write(lo)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(write, starts):
            pass


def written_columns(columns: Sequence[Column], table: Table, unseen: str) -> list[Number | Category]:
    """What is to be written of each column; a value that cannot be is an error."""
    check_there(columns, table)
    return [_written(column, table, unseen) for column in columns]


def _written(column: Column, table: Table, unseen: str) -> Number | Category:
    if column.kind == "number":
        x = table.numbers(column.name)
        if not column.indicator and np.isfinite(x).all():
            return Number(x, column, None)
        gaps = checked_gaps(column, table, _missing_numbers(x))
        check_finite(table, column.name, x)
        return Number(x, column, gaps)
    codes, levels = table.coded(column.name)
    gaps = checked_gaps(column, table, _missing_codes(codes))
    known = {level: place for place, level in enumerate(column.levels)}
    places = np.array([*(known.get(level, -1) for level in levels), 0], np.intp)  # the last is what is missing
    strange = places < 0
    if strange.any():
        where = strange[codes]
        if where.any() and unseen != "reference":
            raise unseen_level(table, column, levels, codes, where)
        places[strange] = 0
    return Category(codes, places, column, gaps)


def _groups(columns: Sequence[Column], rows: int) -> Iterator[list[Column]]:
    """Neighbours that take so many bytes together, or one column that takes more."""
    group: list[Column] = []
    room = TOGETHER
    for column in columns:
        size = rows * (8 if column.kind == "number" else 4)
        if group and size > room:
            yield group
            group, room = [], TOGETHER
        group.append(column)
        room -= size
    if group:
        yield group


def _missing_numbers(x: Floats) -> Missing:
    where = np.isnan(x)
    return Missing(where, int(np.count_nonzero(where)))


def _missing_codes(codes: NDArray[np.int32]) -> Missing:
    where = codes < 0
    return Missing(where, int(np.count_nonzero(where)))


# --------------------------------------------------------------------------------------------------- what a table lacks


class Missing(NamedTuple):
    """The values of a column that are not there."""

    where: NDArray[np.bool_]
    total: int


def checked_gaps(column: Column, table: Table, gaps: Missing) -> NDArray[np.bool_] | None:
    """Where values are missing, if that may be."""
    if gaps.total and column.fill is None:
        row = int(np.argmax(gaps.where))
        raise TableError(
            f"{_values(gaps.total)} missing, the first here", place=table.place(row), column=column.name, value="",
            because="In the training rows none was missing, so the model does not know what to make of it.",
            remedies=[
                Remedy("correct the rows, or leave them out", "where", f"{in_sql(column.name)} IS NOT NULL"),
                Remedy(
                    "or fit again to rows where it is missing too",
                    call="learn_encoding(table, decisions, missing='impute')",
                ),
            ],
        )  # fmt: skip
    return gaps.where if column.indicator else None


def missing_at_fit(table: Table, name: str, gaps: Missing) -> TableError:
    """Values are missing where nothing was said of them."""
    row = int(np.argmax(gaps.where))
    return TableError(
        f"{_values(gaps.total)} missing, the first here", place=table.place(row), column=name, value="",
        because="Nothing is filled or dropped unless you say so.",
        remedies=[
            Remedy("fill with the mean or the reference level, and tell", "missing", "impute"),
            Remedy("leave these rows out", "where", f"{in_sql(name)} IS NOT NULL"),
            Remedy("leave the column out", "drop", (name,)),
        ],
    )  # fmt: skip


def unseen_level(
    table: Table, column: Column, levels: Sequence[str], codes: NDArray[Any], strange: NDArray[np.bool_]
) -> TableError:
    """Levels that no training row had."""
    row, count = int(np.argmax(strange)), int(np.count_nonzero(strange))
    value = levels[int(codes[row])]
    known = ", ".join(map(repr, column.levels[:6])) + (", …" if len(column.levels) > 6 else "")
    return TableError(
        f"{value!r} is a level that no training row had ({count} such {'value' if count == 1 else 'values'})",
        place=table.place(row), column=column.name, value=value, because=f"The training rows had {known}.",
        remedies=[
            Remedy(f"take such values for {column.reference!r}, the reference", "unseen", "reference"),
            Remedy("or correct the value, or fit again with such rows", call="learn_encoding(table, decisions)"),
        ],
    )  # fmt: skip


def check_finite(table: Table, name: str, x: Floats) -> None:
    """Name the first infinity of a column."""
    infinite = np.isinf(x)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise TableError(
            f"{x[row]} is not a finite number ({int(np.count_nonzero(infinite))} in this column)",
            place=table.place(row), column=name, value=str(x[row]),
            remedies=[Remedy("if it stands for a missing value", "na", (str(x[row]),)),
                      Remedy("leave the column out", "drop", (name,))],
        )  # fmt: skip


def check_there(columns: Sequence[Column | Decision], table: Table) -> None:
    """Name the columns that a table lacks."""
    absent = [column.name for column in columns if column.name not in table.names]
    if absent:
        more = f" (and {len(absent) - 1} more: {', '.join(map(repr, absent[1:6]))})" if len(absent) > 1 else ""
        few = ", ".join(map(repr, table.names[:8])) + (", …" if len(table.names) > 8 else "")
        raise TableError(
            f"there is no such column{more}", column=absent[0], because=f"The table has {few}.",
            remedies=[Remedy("see what is there", call="decide(table)")],
        )  # fmt: skip


def nothing_there(name: str) -> TableError:
    """A column of which nothing can be learnt."""
    return TableError("every value is missing", column=name, remedies=[Remedy("leave the column out", "drop", (name,))])


def _values(count: int) -> str:
    return "1 value is" if count == 1 else f"{count} values are"


# From a table to rows without zeros: numbers as they are, and of each category the place of its level.

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
