"""A CSV file, read by duckdb in one pass: numbers as numbers, frequent levels as codes, the rest as text.

A few hundred kilobytes from several places of the file tell what to read each column as. Where a later cell does not
fit, duckdb keeps a note of it, and the file is read again with that column as text: nothing is lost or guessed. Where
no column is text, and there is room, the columns come straight out of the reader as arrays; else they go into a table.
"""

from __future__ import annotations

import csv
import io
import math
import mmap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from .cells import number_of
from .database import Database, first_line, literal, literals
from .dialect import HEAD, Dialect, not_utf8, records
from .errors import Place, Remedy, TableError
from .sources import Source

ENOUGH = 1000
"""So many cells of a column must have been looked at before it is read as anything but text."""
MOST_LEVELS = 100
"""Levels that were seen in a column that is read as codes, at the most."""
OFTEN = 5
"""How often each of these levels was seen, at the least: then others are unlikely."""
LONGEST_LINE = 1 << 22
"""Bytes of a line that is read."""
BUFFER = 1 << 23
"""Bytes of a buffer; left alone, duckdb takes 16 longest lines."""
NOTES_KEPT = 10_000
"""Cells that do not fit their column, as far as duckdb notes them."""
NUMBER = "DOUBLE"
"""duckdb's type of numbers."""
TEXT = "VARCHAR"
"""duckdb's type of texts."""


class UnlikeLinesError(TableError):
    """The lines of a file end in several ways, which duckdb does not read."""

    def __init__(self, source: Source, line: int) -> None:
        self.source = source
        super().__init__("the line does not end as all others do, nor with CR LF or LF", place=Place(source.name, line))


@dataclass(frozen=True)
class TextFile:
    """A source and how it is written."""

    source: Source
    dialect: Dialect

    def reader(self, types: Sequence[str], null: Sequence[str], decimal: str, notes: int) -> str:
        """duckdb's reader of this file, its columns called c0, c1, …; cells that do not fit are noted."""
        columns = ", ".join(f"'c{j}': {literal(kind)}" for j, kind in enumerate(types))
        return (
            f"read_csv({literal(str(self.source.path))}, auto_detect=false, delim={literal(self.dialect.separator)}, "
            f"quote='\"', escape='\"', header={str(self.dialect.header).lower()}, columns={{{columns}}}, "
            f"nullstr=[{literals(['', *null])}], decimal_separator={literal(decimal)}, compression='none', "
            f"max_line_size={LONGEST_LINE}, buffer_size={BUFFER}, store_rejects=true, rejects_table='errors_{notes}', "
            f"rejects_scan='scans_{notes}', rejects_limit={NOTES_KEPT})"
        )


def plan(
    files: Sequence[TextFile], heads: Sequence[Sequence[Sequence[str]]], *, na: Sequence[str], decimal: str,
    text: Sequence[str],
) -> list[str]:  # fmt: skip
    """The type that duckdb reads each column as."""
    names = files[0].dialect.names
    rows = [_in_order(row, file, names) for file, head in zip(files, heads, strict=True) for row in head]
    rows += [_in_order(row, files[0], names) for row in _middle(files[0])]
    columns = list(zip(*(row for row in rows if row is not None), strict=True)) or [()] * len(names)
    types: list[str] = []
    for name, column in zip(names, columns, strict=True):
        cells = Counter(column)
        for missing in ("", *na):
            cells.pop(missing, None)
        frequent = len(cells) <= MOST_LEVELS and all(times >= OFTEN for times in cells.values())
        if cells.total() < ENOUGH:
            types.append(TEXT)
        elif frequent:
            types.append(f"ENUM({literals(sorted(cells))})")
        elif name not in text and _are_numbers(cells, decimal):
            types.append(NUMBER)
        else:
            types.append(TEXT)
    return types


def _are_numbers(cells: Iterable[str], decimal: str) -> bool:
    """Whether `number_of` is of each."""
    if decimal != ".":
        return all(number_of(cell, decimal) is not None for cell in cells)
    try:
        return "".join(cells).isascii() and all(map(math.isfinite, map(float, cells)))
    except ValueError:
        return False


def _in_order(row: Sequence[str], file: TextFile, names: Sequence[str]) -> Sequence[str] | None:
    if len(row) != len(names):
        return None
    if file.dialect.names == tuple(names):
        return row
    return [row[file.dialect.names.index(name)] for name in names]


def _middle(file: TextFile) -> list[list[str]]:
    """Records from seven more places of a large file; what is cut at an edge is left out by its width, or harmless."""
    size = file.source.path.stat().st_size
    if size < 16 * HEAD:
        return []
    found: list[list[str]] = []
    with file.source.path.open("rb") as stream:
        for k in range(1, 8):
            stream.seek(k * (size // 8))
            lines = stream.read(HEAD // 4).split(b"\n")[1:-1]
            text = io.StringIO(b"\n".join(lines).decode("utf-8", "replace"), newline="")
            try:
                found += [record for _, record in records(text, file.dialect.separator)][:-1]
            except csv.Error:
                continue
    return found


def too_long(place: Place) -> TableError:
    """A line that is longer than any that is read."""
    return TableError(
        f"the line has more than {LONGEST_LINE} bytes", place=place, because="is a double quote left open there?"
    )


def broken(file: TextFile, position: int, problem: str) -> TableError:
    """A line that is not a record of this table."""
    with file.source.path.open("rb") as stream:
        before = stream.read(position)
        rest = stream.read(1 << 16)
    place = Place(file.source.name, before.count(b"\n") + 1 if b"\n" in before else before.count(b"\r") + 1)
    if problem == "INVALID ENCODING":
        try:
            rest.decode()
        except UnicodeDecodeError as error:
            return not_utf8(file.source, before + rest, position + error.start)
    width = len(file.dialect.names)
    if problem in ("TOO MANY COLUMNS", "MISSING COLUMNS"):
        text = io.StringIO(rest.decode("utf-8-sig", "replace"), newline="")
        found = len(next(records(text, file.dialect.separator), (1, []))[1])
        return TableError(
            f"{found} {'cell' if found == 1 else 'cells'}, where the first line has {width}",
            place=place,
            because=f"cells are separated by {file.dialect.described}; one that holds it must stand in double quotes.",
        )
    if problem == "UNQUOTED VALUE":
        skipped = rest[: max(rest.find(b'"'), 0)].count(b"\n")  # of a very long cell, the line before it is noted
        place = place._replace(line=(place.line or 1) + skipped)
        return TableError(
            "a double quote is opened and not closed, or text follows the closing one",
            place=place,
            because='a double quote inside a quoted cell is written twice: "say ""yes""".',
        )
    if problem == "LINE SIZE OVER MAXIMUM":
        return too_long(place)
    return TableError(f"the line cannot be read ({problem.lower()})", place=place)


def unreadable(source: Source, error: duckdb.Error) -> TableError:
    """What duckdb does not read at all."""
    content = source.path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as found:
        return not_utf8(source, content, found.start)
    line = _other_line_end(source)
    if line is not None:
        return UnlikeLinesError(source, line)
    return TableError(
        "the file cannot be read as a text table",
        place=Place(source.name, None),
        because=f"{first_line(error)} Do all lines end the same way, and are all double quotes closed?",
        remedies=[Remedy("if it is something else (jsonl, parquet, libsvm, npy)", "format", "jsonl")],
    )


def _other_line_end(source: Source) -> int | None:
    """The first line that does not end as the first does, or in neither of the two usual ways."""
    with source.path.open("rb") as stream:
        first = _line_end(stream.readline())
        if first not in (b"\n", b"\r\n"):
            return 1
        for number, line in enumerate(stream, 2):
            if line.endswith(b"\n") and _line_end(line) != first:
                return number
    return None


def _line_end(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def with_like_lines(source: Source, target: Path) -> Source:
    """A copy of the text in which a line feed alone ends every line: the lines keep their numbers."""
    with source.path.open("rb") as old, target.open("wb") as new:
        for line in old:
            new.write(line.rstrip(b"\r\n") + b"\n" * line.endswith(b"\n"))
    return replace(source, path=target)


# -------------------------------------------------------------------------------------------------------------- loading


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
