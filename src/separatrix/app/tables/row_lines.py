"""Where rows of a text file stand: a second look at the file, once for as many rows as are asked for."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any

from .dialect import records
from .errors import Place
from .parts import Part
from .sources import Source
from .text_table import TextFile


def places_in(part: Part, rows: Sequence[int]) -> list[Place]:
    """Where these rows of a file stand: the line, or in files without lines the number of the row, from 1."""
    if part.text is not None:
        lines = lines_of(part.text, rows)
    elif part.lines is not None:
        lines = part.lines[list(rows)].tolist()
    elif part.source.format == "jsonl":
        lines = json_lines_of(part.source, rows)
    else:
        return [Place(f"{part.source.name} row {row + 1}", None) for row in rows]
    return [Place(part.source.name, int(line)) for line in lines]


def look(file: TextFile, row: int) -> tuple[int, dict[str, str]]:
    """The line where a row of the file begins (rows are counted from 0), and its cells."""
    with _text(file) as text:
        ((line, record),) = _at(_rows(file, text), [row])
    return line, dict(zip(file.dialect.names, record, strict=False))


def lines_of(file: TextFile, rows: Sequence[int]) -> list[int]:
    """The lines where these rows of the file begin: one pass, up to the last of them."""
    with _text(file) as text:
        return [line for line, _ in _at(_rows(file, text), rows)]


def json_lines_of(source: Source, rows: Sequence[int]) -> list[int]:
    """The lines where these rows of a file of JSON lines stand: one pass, up to the last of them."""
    with source.path.open("rb") as stream:
        return _at((number for number, line in enumerate(stream, 1) if line.strip()), rows)


def _at(every: Iterable[Any], rows: Sequence[int]) -> list[Any]:
    """What stands at these places, which may be in any order, and one more than once."""
    found, rest, passed = dict[int, Any](), iter(every), 0
    for row in sorted(set(rows)):
        here = list(islice(rest, row - passed, row - passed + 1))
        if not here:
            raise IndexError(row)
        found[row], passed = here[0], row + 1
    return [found[row] for row in rows]


def _text(file: TextFile) -> IO[str]:
    return file.source.path.open(encoding="utf-8-sig", newline="")


def _rows(file: TextFile, text: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """The line where each row begins, and its cells; the header is no row."""
    single = len(file.dialect.names) == 1
    found = _lines_of_one_column(text) if single else records(text, file.dialect.separator)
    return islice(found, int(file.dialect.header), None)


def _lines_of_one_column(text: IO[str]) -> Iterator[tuple[int, list[str]]]:
    # an empty line of a table with one column is a row whose cell is missing
    reader, begins = csv.reader(text), 1
    for record in reader:
        yield begins, record or [""]
        begins = reader.line_num + 1
