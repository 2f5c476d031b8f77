"""Text tables loaded by duckdb: into a table of its own, or straight into arrays."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import numpy as np

from .database import Database
from .errors import Place
from .sources import Source
from .text_table import BUFFER, NUMBER, TEXT, TextFile, broken, too_long, unreadable

Arrays = dict[int, Any]
"""By column: numbers, or codes of an ENUM; masked where values are missing."""


def bytes_needed(files: Sequence[TextFile], heads: Sequence[Sequence[Sequence[str]]], types: Sequence[str]) -> float:
    """About how much memory the columns take as arrays; infinite if one of them is text."""
    if TEXT in types:
        return math.inf
    row = sum(8 if kind == NUMBER else 4 for kind in types)
    return sum(
        row * len(head) * file.source.path.stat().st_size / max(1, sum(len(cell) + 1 for each in head for cell in each))
        for file, head in zip(files, heads, strict=True)
    )


def load(
    database: Database, files: Sequence[TextFile], types: Sequence[str], *, na: Sequence[str], decimal: str,
    only: Sequence[int] | None = None,
) -> tuple[list[str], list[int]]:  # fmt: skip
    """Read all files into the table `data`; the types in the end, and how many rows each file has.

    `only` the columns at these places are kept.
    """
    types = list(types)
    for attempt in range(3):
        kept = range(len(types)) if only is None else only
        wrong, rows = _read(database, files, types, na, decimal, _Table(database, kept))
        if not wrong:
            return types, rows
        types = _with_text(types, wrong if not attempt else range(len(types)))
    raise AssertionError("a text column cannot be wrong")


def load_arrays(
    database: Database, files: Sequence[TextFile], types: Sequence[str], *, na: Sequence[str], decimal: str
) -> tuple[list[str], list[int], Arrays | None]:
    """The columns of all files as arrays; none where a cell does not fit, and then the types that do."""
    arrays = _Arrays(database, types)
    wrong, rows = _read(database, files, types, na, decimal, arrays)
    return _with_text(types, wrong), rows, None if wrong else arrays.joined()


def _with_text(types: Sequence[str], wrong: Iterable[int]) -> list[str]:
    return [TEXT if j in wrong else kind for j, kind in enumerate(types)]


class _Table:
    """The rows of file after file, in the table `data`."""

    def __init__(self, database: Database, kept: Sequence[int]) -> None:
        self._database, self._kept = database, kept

    def take(self, number: int, own: Sequence[int], reader: str) -> int:
        """Add a file, whose column `own[j]` is the column j; how many rows it has."""
        chosen = ", ".join(f"c{own[j]} AS c{j}" for j in self._kept)
        into = "INSERT INTO data" if number else "CREATE OR REPLACE TABLE data AS"
        added = self._database.rows(f"{into} SELECT {chosen} FROM {reader}")  # noqa: S608
        return int(added[0][0])


class _Arrays:
    """The rows of file after file, as arrays that no table was made of."""

    def __init__(self, database: Database, types: Sequence[str]) -> None:
        self._database, self._types, self._found = database, types, list[dict[str, Any]]()

    def take(self, number: int, own: Sequence[int], reader: str) -> int:
        """Add a file, whose column `own[j]` is the column j; how many rows it has."""
        chosen = ", ".join(
            f"c{own[j]} AS v{j}" if kind == NUMBER else f"enum_code(c{own[j]}) AS v{j}"
            for j, kind in enumerate(self._types)
        )
        self._found.append(self._database.arrays(f"SELECT {chosen} FROM {reader}"))  # noqa: S608
        return len(self._found[number]["v0"])

    def joined(self) -> Arrays:
        """The columns of all files."""
        if len(self._found) == 1:
            return {j: self._found[0][f"v{j}"] for j in range(len(self._types))}
        return {j: _one([found[f"v{j}"] for found in self._found]) for j in range(len(self._types))}


def _one(parts: Sequence[Any]) -> Any:
    """Arrays behind one another; masked if one of them is."""
    values = np.concatenate([np.ma.getdata(part) for part in parts])
    if not any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return values
    return np.ma.MaskedArray(values, np.concatenate([np.ma.getmaskarray(part) for part in parts]))


def _read(
    database: Database, files: Sequence[TextFile], types: Sequence[str], na: Sequence[str], decimal: str,
    into: _Table | _Arrays,
) -> tuple[set[int], list[int]]:  # fmt: skip
    """Read each file once; the columns with cells that do not fit, and how many rows each file has."""
    names, wrong, rows = files[0].dialect.names, set[int](), list[int]()
    for number, file in enumerate(files):
        _check_line_lengths(file.source)
        own = [file.dialect.names.index(name) for name in names]  # where each column stands in this file
        theirs = [types[names.index(name)] for name in file.dialect.names]
        reader = file.reader(theirs, na, decimal, number)
        database.run(f"DROP TABLE IF EXISTS errors_{number}; DROP TABLE IF EXISTS scans_{number}")
        try:
            rows.append(into.take(number, own, reader))
        except duckdb.Error as error:
            raise unreadable(file.source, error) from None
        wrong |= {own.index(j) for j in _misfits(database, file, number)}
    return wrong, rows


def _check_line_lengths(source: Source) -> None:
    """duckdb leaves out a line that is longer than its buffer, and does not note it: such a file is refused before."""
    size, window = source.path.stat().st_size, BUFFER // 2
    if size <= BUFFER:
        return
    with source.path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        begins = 0
        while begins + window < size:
            last = content.rfind(b"\n", begins, begins + window)
            if last < 0:  # looked for only then: it may be nowhere, and the whole file would be read for it
                last = content.rfind(b"\r", begins, begins + window)
            if last < 0:
                raise too_long(Place(source.name, content[:begins].count(b"\n") + 1))
            begins = last + 1


def _misfits(database: Database, file: TextFile, number: int) -> set[int]:
    """The columns with cells that are not what they were read as; a line that cannot be read at all is an error."""
    notes = database.rows(
        f"SELECT line_byte_position, error_type, column_idx FROM errors_{number} ORDER BY line_byte_position"  # noqa: S608
    )
    for position, problem, _ in notes:
        if problem != "CAST":
            raise broken(file, int(position) - 1, problem)
    return {int(column) - 1 for _, _, column in notes}
