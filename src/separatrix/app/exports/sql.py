"""A model as one SELECT, for DuckDB, PostgreSQL or SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import SettingError
from ...wording import setting
from .program import (
    CannotExportError,
    Cell,
    Choice,
    Expression,
    If,
    Language,
    Program,
    Ref,
    Sum,
    branches_of,
    in_two,
    place_of,
)

MAX = 1.7976931348623157e308
MOST_COLUMNS = 1500
"""That a step may carry: PostgreSQL has room for 1664, SQLite for 2000."""
LONGEST = 63
"""Bytes of a name in PostgreSQL, which cuts off the rest without a word."""
LOWEST = -708.0
"""Below, PostgreSQL calls eᶻ an error; it is less than 10⁻³⁰⁷."""


@dataclass(frozen=True)
class Dialect:
    """What databases disagree about."""

    title: str
    double: str
    """The type of numbers."""
    text: str
    """The type of texts, and how they are compared: sign by sign."""
    largest: str
    number: Callable[[float], str]
    """A number that is not negative, so that the same bits are read again."""
    is_missing: str
    """Whether the number {x} is missing."""
    is_number: str
    """Whether {x}, which is not missing, is a number at all."""
    truth: tuple[str, str]
    once: str = ""
    """Says that a step is to be computed once, not wherever it is read: a planner that does not would never end."""
    note: str = ""


def _with_exponent(value: float) -> str:
    text = repr(value)
    return text if "e" in text else f"{text}e0"  # without it DuckDB reads a DECIMAL


def _in_two(value: float) -> str:
    high, low = in_two(value)
    return repr(high) if low == 0 else f"({high!r} {'-' if low < 0 else '+'} {abs(low)!r})"


DIALECTS = {
    "duckdb": Dialect(
        "DuckDB", "DOUBLE", "CAST({x} AS VARCHAR)", "greatest", _with_exponent,
        "({x} IS NULL OR isnan(CAST({x} AS DOUBLE)))", "", ("TRUE", "FALSE"),
    ),
    "postgresql": Dialect(
        "PostgreSQL", "DOUBLE PRECISION", '(CAST({x} AS TEXT) COLLATE "C")', "greatest",
        lambda value: f"{value!r}::float8",
        "({x} IS NULL OR CAST({x} AS DOUBLE PRECISION) = 'NaN')", "", ("TRUE", "FALSE"), "MATERIALIZED ",
    ),
    "sqlite": Dialect(
        "SQLite", "REAL", "(CAST({x} AS TEXT) COLLATE BINARY)", "max", _in_two, "({x} IS NULL)",
        "typeof({x}) IN ('integer', 'real') AND ", ("1", "0"), "MATERIALIZED ",
        "SQLite 3.35 or later. Texts in a column of numbers are no numbers here: declare the column REAL, or cast it.\n"
        "-- Probabilities need the function exp, which SQLite has if it was built with its mathematical functions;\n"
        "-- if yours has not, export the model without them (probabilities=False, --no-probabilities).",
    ),
}  # fmt: skip


def quoted(name: str) -> str:
    """A name, safe in SQL whatever it is.

    >>> print(quoted('select "x" now'))
    "select ""x"" now"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, safe in SQL whatever it is."""
    return "'" + text.replace("'", "''") + "'"


class Sql(Language):
    """Expressions in SQL."""

    def __init__(self, dialect: Dialect, stem: str) -> None:
        self.dialect, self.stem = dialect, stem

    def number(self, value: float) -> str:
        return self.dialect.number(value)

    def name(self, name: str) -> str:
        return self.stem + name

    def call(self, function: str, *arguments: str) -> str:
        if function == "exp":
            return f"CASE WHEN {arguments[0]} > {self.signed(LOWEST)} THEN exp({arguments[0]}) " \
                   f"WHEN {arguments[0]} IS NOT NULL THEN {self.number(0.0)} END"  # fmt: skip
        if function == "max" and len(arguments) == 1:
            return arguments[0]
        return super().call({"max": self.dialect.largest}.get(function, function), *arguments)

    def finite(self, value: Expression) -> str:
        x = self.inside(value)
        return f"CASE WHEN abs({x}) <= {self.number(MAX)} THEN {x} END"

    def choice(self, value: Choice) -> str:
        cases = " ".join(f"WHEN {k} THEN {self.signed(each)}" for k, each in enumerate(value.values))
        return f"CASE {self.name(value.code)} {cases} END"

    def condition(self, value: If) -> str:
        chain, last = branches_of(value)
        cases = " ".join(f"WHEN {self.test(each)} THEN {self.write(each.then)}" for each in chain)
        # NULL < 1 is not true: what compares the unknown must not become what is left over
        return f"CASE {cases} WHEN ({self.test(chain[-1])}) IS NOT NULL THEN {self.write(last)} END"

    def cell(self, cell: Cell) -> str:
        """The value of a column, NULL where the model refuses it."""
        x = quoted(cell.column.name)
        return self._category(cell, x) if cell.column.kind == "category" else self._number(cell, x)

    def missing(self, cell: Cell) -> str:
        """1 where the value is missing, else 0."""
        return f"CASE WHEN {self._is_missing(cell)} THEN {self.number(1.0)} ELSE {self.number(0.0)} END"

    def _is_missing(self, cell: Cell) -> str:
        x = quoted(cell.column.name)
        return f"({x} IS NULL)" if cell.column.kind == "category" else self.dialect.is_missing.format(x=x)

    def _number(self, cell: Cell, x: str) -> str:
        column, to = cell.column, self.dialect
        number, largest = f"CAST({x} AS {to.double})", self.number(MAX)
        scaled = self.scaled(number, column.center, column.scale) if cell.shifted else number
        missing = "NULL" if cell.filled is None else self.signed(cell.filled)
        low, high, whole = cell.allowed
        ends = [f"-{largest}" if low is None else self.signed(low), largest if high is None else self.signed(high)]
        finite = f"{number} BETWEEN {' AND '.join(ends)}" + f" AND round({number}) = {number}" * whole
        test = to.is_number.format(x=x) + finite
        return f"CASE WHEN {self._is_missing(cell)} THEN {missing} WHEN {test} THEN {scaled} END"

    def _category(self, cell: Cell, x: str) -> str:
        text = self.dialect.text.format(x=x)
        cases = " ".join(f"WHEN {literal(level)} THEN {k}" for k, level in enumerate(cell.column.levels))
        last = "ELSE 0 " if cell.unseen == "reference" else ""
        missing = "NULL" if cell.filled is None else "0"
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE CASE {text} {cases} {last}END END"


def sql_text(
    program: Program, checked: str, *, dialect: str = "duckdb", table: str = "data",
    keep: Sequence[str] | None = None, prefix: str = "",
) -> str:  # fmt: skip
    """One SELECT: the columns that are kept, the label, scores and probabilities of every row of a table."""
    if dialect not in DIALECTS:
        raise SettingError("dialect", dialect, f"it must be one of {', '.join(DIALECTS)}.")
    kept = list(dict.fromkeys([cell.column.name for cell in program.cells] if keep is None else keep))
    titles = [prefix + title for title in ("label", *program.score_titles, *program.probability_titles)]
    _check_names(kept, titles, dialect)
    _check_columns(program, table, dialect)
    to = Sql(DIALECTS[dialect], _stem(program, [*kept, table]))
    steps = [_cells(program, to, kept, table)]
    steps += [
        " *,\n" + ",\n".join(f"    {to.write(each.value)} AS {to.name(each.name)}" for each in stage)
        for stage in program.stages
    ]
    _check_width(program, kept)
    names = [f"{to.stem}step{k}" for k in range(len(steps))]
    parts = []
    for k, (name, step) in enumerate(zip(names, steps, strict=True)):
        source = quoted(table) if k == 0 else names[k - 1]
        parts.append(f"{name} AS {to.dialect.once}(\n  SELECT{step}\n  FROM {source}\n)")
    columns = [f"{to.stem}kept{k} AS {quoted(name)}" for k, name in enumerate(kept)]
    answers = [_label(program, to), *(to.name(each) for each in (*program.scores, *program.probabilities))]
    columns += [f"{value} AS {quoted(title)}" for value, title in zip(answers, titles, strict=True)]
    return f"{_head(program, to.dialect, checked)}WITH {', '.join(parts)}\nSELECT\n  " + ",\n  ".join(columns) + (
        f"\nFROM {names[-1]}\n")  # fmt: skip


def _cells(program: Program, to: Sql, kept: Sequence[str], table: str) -> str:
    lines = [f"{quoted(name)} AS {to.stem}kept{k}" for k, name in enumerate(kept)]
    for cell in program.cells:
        lines.append(f"{to.cell(cell)} AS {to.name(cell.value)}")
        if cell.missing is not None:
            lines.append(f"{to.missing(cell)} AS {to.name(cell.missing)}")
    return "\n" + ",\n".join(f"    {line}" for line in lines)


def _label(program: Program, to: Sql) -> str:
    """The label by its place; NULL where a score is."""
    chain, last = branches_of(program.place) if isinstance(program.place, If) else ([], program.place)
    known = to.write(Sum(tuple(map(Ref, program.scores))))
    cases = " ".join(f"WHEN {to.test(each)} THEN {_class(each.then, program, to)}" for each in chain)
    return f"CASE WHEN {known} IS NULL THEN NULL {cases} ELSE {_class(last, program, to)} END"


def _class(place: Any, program: Program, to: Sql) -> str:
    label = program.classes[place_of(place)]
    if isinstance(label, bool):
        return to.dialect.truth[not label]
    if isinstance(label, str):
        return literal(label)
    return to.signed(label) if isinstance(label, float) else str(label)


def _head(program: Program, dialect: Dialect, checked: str) -> str:
    seen = all(cell.unseen == "reference" for cell in program.cells)
    unseen = "" if seen else "a level that no training row had, "
    lines = [
        *program.facts, f"For {dialect.title}. {checked}",
        "Label, scores and probabilities are NULL on purpose where the model refuses a row: a value that is missing",
        f"where none was in the training rows, {unseen}a number that is not finite.",
    ]  # fmt: skip
    said = "".join(f"-- {' '.join(line.split())}\n" for line in lines)
    return said + (f"-- {dialect.note}\n" if dialect.note else "")


# ------------------------------------------------------------------------------------------------------------ the names


def _stem(program: Program, names: Sequence[str]) -> str:
    """What our own names begin with: neither the table nor a column of it does, so that none is hidden."""
    there = [name.casefold() for name in (*names, *(cell.column.name for cell in program.cells))]
    stem = "s_"
    while any(name.startswith(stem) for name in there):
        stem = "s" + stem
    return stem


def _check_names(kept: Sequence[str], titles: Sequence[str], dialect: str) -> None:
    seen: set[str] = set()
    for name in (*kept, *titles):
        if name.casefold() in seen:
            raise CannotExportError(
                f"Two columns of the answer would be named {name!r}: give the answers another beginning "
                f"({setting('prefix', 'model ')}), or keep fewer columns ({setting('keep')})."
            )
        seen.add(name.casefold())
        if not name:
            raise CannotExportError("A column has an empty name, which SQL does not allow: rename it, and fit again.")
        if dialect == "postgresql" and len(name.encode()) > LONGEST:
            raise CannotExportError(
                f"The name {name!r} has more than {LONGEST} bytes, and PostgreSQL would cut it off: shorten it, or the "
                f"name of the class, or keep fewer columns ({setting('keep')})."
            )


def _check_columns(program: Program, table: str, dialect: str) -> None:
    """Two columns that a table of this dialect cannot have both would be read as one."""
    if not table or (dialect == "postgresql" and len(table.encode()) > LONGEST):
        raise SettingError("table", table, f"it must be the name of a table, of up to {LONGEST} bytes.")
    seen: dict[bytes, str] = {}
    for cell in program.cells:
        name = cell.column.name
        read = name.encode()[:LONGEST] if dialect == "postgresql" else name.encode().lower()  # of ASCII letters only
        if read in seen:
            why = f"of the first {LONGEST} bytes" if dialect == "postgresql" else "in small letters"
            raise CannotExportError(
                f"The columns {seen[read]!r} and {name!r} have the same name {why}, so that {DIALECTS[dialect].title} "
                "would read one for both: rename one, and fit again; or export the model to 'python', 'c' or 'onnx'."
            )
        seen[read] = name


def _check_width(program: Program, kept: Sequence[str]) -> None:
    width = len(kept) + 2 * len(program.cells) + len(program.steps)
    if width > MOST_COLUMNS:
        raise CannotExportError(
            f"The model takes {width} intermediate columns, and a query has room for {MOST_COLUMNS}: export it to "
            "'onnx', 'python' or 'c', or fit fewer features."
        )
