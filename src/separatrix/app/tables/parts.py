"""The files of an open table, loaded into duckdb: what each row, each column and each type of duckdb is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...wording import setting
from .database import Database, first_line, identifier, literals
from .errors import Remedy, TableError, did_you_mean
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


# Which rows of the files are kept: those for which `where` holds, of these a sample.

HIDDEN = '"the place of the row"'


def chosen_rows(loaded: StoredTable, rows: int) -> NDArray[np.int64] | None:
    """The places of the rows that are kept, in order, or None where all are."""
    kept = None if loaded.options.where is None else _where(loaded, loaded.options.where)
    size = loaded.options.sample
    if size is not None:
        if size < 1:
            raise SettingError("sample", size, "it must be at least 1.")
        among = rows if kept is None else len(kept)
        if size < among:
            drawn = np.sort(np.random.default_rng(loaded.options.seed).choice(among, size, replace=False))
            kept = drawn.astype(np.int64) if kept is None else kept[drawn]
    return kept


def keep(database: Database, kept: NDArray[np.int64]) -> None:
    """Only these rows of `data`, in order."""
    with database.holding("kept", {"place": kept}):
        database.rows(
            "CREATE OR REPLACE TABLE data AS SELECT * FROM data WHERE rowid IN (SELECT place FROM kept) ORDER BY rowid"
        )


def _where(loaded: StoredTable, condition: str) -> NDArray[np.int64]:
    """The rows for which a condition of the user holds: one expression, which sees this table and nothing else."""
    _check_one_expression(condition)
    lowered = [name.casefold() for name in loaded.names]
    if len(set(lowered)) < len(lowered):
        twice = next(name for name in loaded.names if lowered.count(name.casefold()) > 1)
        raise TableError(
            f"{setting('where')} cannot be used here: SQL does not tell {twice!r} from a column that differs in "
            "capitals only",
            column=twice,
        )
    columns = ", ".join(f"{_typed(loaded, j, condition)} AS {identifier(name)}" for j, name in enumerate(loaded.names))
    query = f"SELECT {HIDDEN} FROM (SELECT rowid AS {HIDDEN}, {columns} FROM data) AS t WHERE (\n{condition}\n)"  # noqa: S608
    try:
        statements = loaded.database.statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise _not_a_condition(condition, "It holds more than one statement.")
        found = loaded.database.arrays(statements[0])
    except duckdb.Error as error:
        raise _refused(loaded, condition, error) from None
    kept = np.sort(np.asarray(next(iter(found.values())), np.int64))
    if not len(kept):
        raise TableError(f"no row is left: {setting('where')} {condition!r} holds for none")
    return kept


def _check_one_expression(condition: str) -> None:
    try:
        duckdb.SQLExpression(condition)
    except duckdb.Error as error:
        raise _not_a_condition(condition, first_line(error)) from None


def _not_a_condition(condition: str, why: str) -> TableError:
    return TableError(
        f"{setting('where')} {condition!r} is not one condition", because=why,
        remedies=[Remedy("for example", "where", "age >= 18 AND city <> 'Bonn'")],
    )  # fmt: skip


def _refused(loaded: StoredTable, condition: str, error: duckdb.Error) -> TableError:
    problem = f"{setting('where')} {condition!r} cannot be used"
    name = _unknown_column(loaded, condition) if isinstance(error, duckdb.BinderException) else None
    if name is not None:
        known = did_you_mean(name, loaded.names) or f"The columns are {', '.join(loaded.names[:12])}."
        return TableError(f"{problem}: there is no column {name!r}", column=name, because=known)
    if isinstance(error, duckdb.PermissionException):
        return TableError(f"{problem}: it may look at this table only, and at no file")
    return TableError(
        problem, because=first_line(error),
        remedies=[Remedy("a name that is no plain word stands in double quotes", "where", '"hours per week" > 40')],
    )  # fmt: skip


def _unknown_column(loaded: StoredTable, condition: str) -> str | None:
    """The first name in a condition that no column has."""
    [(tree,)] = loaded.database.rows("SELECT json_serialize_sql(?)", [f"SELECT 1 FROM t WHERE (\n{condition}\n)"])  # noqa: S608
    known = {name.casefold() for name in loaded.names}
    named = _columns_named(json.loads(tree))
    return next((names[-1] for names in named if known.isdisjoint(map(str.casefold, names))), None)


def _columns_named(tree: Any) -> Iterator[list[str]]:
    """The names of each column in a tree of SQL: ["age"], or ["t", "age"]."""
    if isinstance(tree, dict):
        if tree.get("class") == "COLUMN_REF":
            yield tree["column_names"]
        tree = list(tree.values())
    for part in tree if isinstance(tree, list) else ():
        yield from _columns_named(part)


def _typed(loaded: StoredTable, j: int, condition: str) -> str:
    """A column as a condition sees it: numbers as numbers, also where they were read as texts."""
    if loaded.family(j) != "text" or loaded.names[j].casefold() not in condition.casefold():
        return loaded.value(j) if loaded.family(j) != "text" else loaded.text(j)
    number = loaded.number(j)
    wrong, values = loaded.ask(f"count(*) FILTER (NOT isfinite({number})), count({number})")
    return number if values and not wrong else loaded.text(j)
