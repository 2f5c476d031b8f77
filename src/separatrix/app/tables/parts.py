"""The files of an open table, loaded into duckdb: what each row, each column and each type of duckdb is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .database import Database, literals
from .sources import Source
from .text import TextFile

ROOM = 1 << 28
"""Bytes of columns that are kept as arrays: to decide what a column is and to read it are two looks at the same."""
Family = Literal["number", "text", "boolean", "time", "nested"]
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
           "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BIGNUM")  # fmt: skip
TEXTS = ("VARCHAR", "ENUM", "UUID")


def family(kind: str) -> Family:
    """What a type of duckdb holds."""
    bare = kind.partition("(")[0]
    if kind.endswith("]"):
        return "nested"
    if bare in NUMBERS:
        return "number"
    if bare in TEXTS:
        return "text"
    if bare == "BOOLEAN":
        return "boolean"
    return "time" if bare.startswith(("DATE", "TIME", "INTERVAL")) else "nested"


@dataclass(frozen=True)
class Options:
    """What the user said about the table."""

    na: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    where: str | None = None
    sample: int | None = None
    seed: int = 0
    keep_text: bool = False
    header: bool | None = None
    decimal: str = "."


@dataclass(frozen=True)
class TableFile:
    """A file of the table and its rows."""

    source: Source
    rows: int
    text: TextFile | None = None
    lines: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class StoredTable:
    """A table in duckdb, `data`, with the columns c0, c1, …; or its columns as arrays."""

    database: Database
    names: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[TableFile, ...]
    options: Options
    notes: tuple[str, ...] = ()
    """What the user should know of how the files were read, each a sentence."""
    arrays: dict[int, Any] = field(default_factory=dict)
    """All columns, numbers or codes, where they came straight from the files: there is no `data` then."""

    @property
    def as_text(self) -> bool:
        """Whether the files are text tables, whose cells are texts before they are numbers."""
        return self.parts[0].text is not None

    def family(self, j: int) -> Family:
        """What a column holds."""
        return family(self.types[j])

    def value(self, j: int) -> str:
        """A column in SQL, NULL where it is missing."""
        cell = f"c{j}"
        if not self.as_text and self.types[j] in ("DOUBLE", "FLOAT"):
            cell = f"(CASE WHEN NOT isnan({cell}) THEN {cell} END)"
        if self.options.na and (self.options.keep_text or not self.as_text):
            return f"(CASE WHEN CAST({cell} AS VARCHAR) NOT IN ({literals(self.options.na)}) THEN {cell} END)"
        return cell

    def text(self, j: int) -> str:
        """A column in SQL, as text."""
        return self.value(j) if self.types[j] == "VARCHAR" else f"CAST({self.value(j)} AS VARCHAR)"

    def number(self, j: int) -> str:
        """A column in SQL, as a number: NULL where it is missing, and not finite where it is no number."""
        if self.family(j) != "text":
            return f"CAST({self.value(j)} AS DOUBLE)"
        text = self.text(j)
        spelt = f"translate({text}, '.,', ',.')" if self.options.decimal == "," else text
        return f"coalesce(TRY_CAST({spelt} AS DOUBLE), CASE WHEN {text} IS NOT NULL THEN CAST('nan' AS DOUBLE) END)"

    def levels(self, j: int) -> tuple[str, ...]:
        """The levels that an ENUM has, whether or not a row has them. Several threads may ask."""
        found = self.database.cursor().rows(f"SELECT enum_range(CAST(NULL AS {self.types[j]}))")
        return tuple(found[0][0])

    def ask(self, what: str, rest: str = "") -> tuple[Any, ...]:
        """The first row of an answer of duckdb; all are fetched, because an open answer blocks the connection."""
        return self.database.rows(f"SELECT {what} FROM data {rest}")[0]  # noqa: S608

    def column(self, what: str, rest: str = "") -> Any:
        """One column of numbers, as an array (masked where values are missing). Several threads may ask."""
        return self.database.cursor().arrays(f"SELECT {what} AS v FROM data {rest}")["v"]  # noqa: S608


def types_of(database: Database) -> tuple[str, ...]:
    """The types of the columns of `data`."""
    return tuple(row[1] for row in database.rows("DESCRIBE data"))
