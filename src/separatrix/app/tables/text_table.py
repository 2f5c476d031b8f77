"""A CSV file, read by duckdb in one pass: numbers as numbers, frequent levels as codes, the rest as text.

A few hundred kilobytes from several places of the file tell what to read each column as. Where a later cell does not
fit, duckdb keeps a note of it, and the file is read again with that column as text: nothing is lost or guessed. Where
no column is text, and there is room, the columns come straight out of the reader as arrays; else they go into a table.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from .database import first_line, literal, literals
from .dialect import HEAD, Dialect, not_utf8, records
from .errors import Place, Remedy, TableError
from .numbers import number_of
from .sources import Source

ENOUGH = 1000
"""So many cells of a column must have been looked at before it is read as anything but text."""
MOST_LEVELS, OFTEN = 100, 5
"""A column is read as codes where no more levels were seen, each of them so often: then more are unlikely."""
LONGEST_LINE, BUFFER = 1 << 22, 1 << 23
"""In bytes; left alone, duckdb takes buffers of 16 longest lines."""
NOTES_KEPT = 10_000
NUMBER, TEXT = "DOUBLE", "VARCHAR"


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
        remedies=[Remedy("if it is something else", "--format jsonl (or parquet, libsvm, npy)")],
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
    """The same text with every line ended by a line feed alone, in another file: the lines keep their numbers."""
    with source.path.open("rb") as old, target.open("wb") as new:
        for line in old:
            new.write(line.rstrip(b"\r\n") + b"\n" * line.endswith(b"\n"))
    return replace(source, path=target)
