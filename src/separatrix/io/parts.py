"""The files of an open table, loaded into duckdb: what each row, each column and each type of duckdb is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .database import literals
from .sources import Source
from .text_table import TextFile

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
class Part:
    """A file of the table and its rows."""

    source: Source
    rows: int
    text: TextFile | None = None
    lines: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Loaded:
    """A table in duckdb, `data`, with the columns c0, c1, …"""

    connection: Any
    names: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[Part, ...]
    options: Options
    notes: tuple[str, ...] = ()
    """What the user should know of how the files were read, each a sentence."""

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

    def ask(self, what: str, rest: str = "") -> tuple[Any, ...]:
        """The first row of an answer of duckdb; all are fetched, because an open answer blocks the connection."""
        return self.connection.execute(f"SELECT {what} FROM data {rest}").fetchall()[0]  # type: ignore[no-any-return]  # noqa: S608

    def column(self, what: str, rest: str = "") -> Any:
        """One column of numbers, as an array (masked where values are missing). Several threads may ask."""
        return self.connection.cursor().execute(f"SELECT {what} AS v FROM data {rest}").fetchnumpy()["v"]  # noqa: S608


def types_of(connection: Any) -> tuple[str, ...]:
    """The types of the columns of `data`."""
    return tuple(row[1] for row in connection.execute("DESCRIBE data").fetchall())


def codes_of(connection: Any, text: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The levels of a text in SQL, in order, and the place of each row's level among them (−1: missing)."""
    levels = [row[0] for row in connection.execute(
        f"SELECT DISTINCT {text} AS v FROM data WHERE v IS NOT NULL ORDER BY v"  # noqa: S608
    ).fetchall()]  # fmt: skip
    if not levels:
        rows = connection.execute("SELECT count(*) FROM data").fetchall()[0][0]
        return np.full(rows, -1, np.int32), ()
    connection.execute(f"CREATE OR REPLACE TYPE levels AS ENUM ({literals(levels)})")
    found = connection.execute(f"SELECT enum_code(CAST({text} AS levels)) AS v FROM data").fetchnumpy()["v"]  # noqa: S608
    return plain_codes(found), tuple(levels)


def plain_codes(found: Any) -> NDArray[np.int32]:
    """Codes, −1 where they are masked."""
    if isinstance(found, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(found)
        return np.where(missing, np.int32(-1), found.data.astype(np.int32))
    return np.asarray(found).astype(np.int32)


def without_unused(codes: NDArray[np.int32], levels: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The same codes and levels, without levels that no row has."""
    counts = np.bincount(codes + 1, minlength=len(levels) + 1)[1:]
    if counts.all():
        return codes, tuple(levels)
    renumbered = np.concatenate([[-1], np.cumsum(counts > 0) - 1]).astype(np.int32)
    return renumbered[codes + 1], tuple(level for level, count in zip(levels, counts, strict=True) if count)
