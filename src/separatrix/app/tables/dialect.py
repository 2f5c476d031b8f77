"""How a text table is written: its separator, and the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from .cells import number_of
from .errors import Place, Remedy, TableError
from .sources import Source

HEAD = 1 << 18
SEPARATORS = (",", ";", "\t", "|", " ")
BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
LONGEST_CELL = 1 << 24


@dataclass(frozen=True)
class Dialect:
    """What separates the cells of a text table, and what its columns are called."""

    separator: str
    """One character, or one and the space that always follows it."""
    names: tuple[str, ...]
    header: bool

    @property
    def described(self) -> str:
        """The separator in words."""
        return {"\t": "tab", " ": "space"}.get(self.separator, repr(self.separator))


def records(stream: IO[str] | Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not an empty line, with the line where it begins (the first line is 1)."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(stream, delimiter=separator[0], skipinitialspace=len(separator) > 1)
    begins = 1
    for record in reader:
        if record:
            yield begins, record
        begins = reader.line_num + 1


def sniff(source: Source, header: bool | None) -> tuple[Dialect, list[list[str]]]:
    """The dialect of a file, and its first records (the header is not one of them)."""
    text = _head(source)
    separator = "\t" if source.format == "tsv" else _separator(text)
    try:
        found = [record for _, record in records(io.StringIO(text, newline=""), separator)]
    except csv.Error as error:
        raise TableError(f"the file is no text table: {error}", place=Place(source.name, None)) from None
    if len(text) > HEAD // 8 and len(found) > 2:
        found.pop()  # the last record may have been cut
    first = found[0]
    if header is None and any(number_of(cell) is not None for cell in first):
        _refuse_numbers_as_names(source, first, found[1:])
    named = header is not False
    names = tuple(cell.strip() for cell in first) if named else tuple(f"x{j}" for j in range(len(first)))
    _check_names(source, names)
    return Dialect(separator, names, named), found[named:]


def _head(source: Source) -> str:
    place = Place(source.name, None)
    with source.path.open("rb") as stream:
        head = stream.read(HEAD)
    for mark, encoding in BOMS.items():
        if head.startswith(mark):
            raise TableError(
                f"the file is written in {encoding}, not in UTF-8",
                place=place,
                remedies=[Remedy("read it so", "encoding", encoding)],
            )
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise TableError(
            "there is a NUL byte: this is no text table",
            place=Place(source.name, line),
            remedies=[Remedy("if it is something else (parquet, jsonl, libsvm, npy)", "format", "parquet")],
        )
    if len(head) == HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(source, head, error.start) from None
    if not text.partition("\n")[0].strip():
        raise TableError(
            "the first line is empty, but it must name the columns" if text.strip() else "the file holds no text",
            place=Place(source.name, 1),
        )
    return text


def not_utf8(source: Source, content: bytes, at: int) -> TableError:
    """Bytes that are not UTF-8, and the encoding that they are likely in."""
    line = content[:at].count(b"\n") + 1
    start = content.rfind(b"\n", 0, at) + 1
    word = content[max(start, at - 15) : at + 15].split(b"\n")[0].decode("cp1252", "replace")
    return TableError(
        f"byte 0x{content[at]:02x} is not UTF-8",
        place=Place(source.name, line),
        because=f"in Latin-1 the text there would be {word!r}.",
        remedies=[
            Remedy("read it as Latin-1", "encoding", "latin-1"),
            Remedy("or as Windows wrote it", "encoding", "cp1252"),
        ],
    )


def _separator(text: str) -> str:
    """The separator that cuts the first lines into the same number of cells, the most of them."""
    best, chosen = (0.0, 0), ","
    for separator in SEPARATORS:
        try:
            widths = [
                len(record)
                for _, (_, record) in zip(range(200), records(io.StringIO(text, newline=""), separator), strict=False)
            ]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        share = sum(width == widths[0] for width in widths) / len(widths)
        if separator == " " and (share < 1 or best[0] == 1):
            continue
        if (share, widths[0]) > best:
            best, chosen = (share, widths[0]), separator
    lines = text.split("\n")
    spaced = chosen != " " and '"' not in text and chosen in lines[0]
    if spaced and all(line.count(chosen) == line.count(f"{chosen} ") for line in lines):
        return f"{chosen} "
    return chosen


def _check_names(source: Source, names: Sequence[str]) -> None:
    place, seen = Place(source.name, 1), dict[str, int]()
    remedy = [Remedy("if the first line is data", "header", False)]
    for number, name in enumerate(names, 1):
        if not name:
            raise TableError(
                f"column {number} of {len(names)} has no name",
                place=place,
                because="every column needs a name of its own in the first line.",
                remedies=remedy,
            )
        if name in seen:
            raise TableError(
                f"columns {seen[name]} and {number} are both named {name!r}", place=place, column=name, remedies=remedy
            )
        seen[name] = number


def _refuse_numbers_as_names(source: Source, first: Sequence[str], rest: Sequence[Sequence[str]]) -> None:
    suspicious = [
        cell
        for place, cell in enumerate(first)
        if number_of(cell) is not None
        and all(number_of(row[place]) is not None for row in rest[:20] if len(row) > place and row[place])
    ]
    if suspicious:
        raise TableError(
            f"the first line looks like data: it would name a column {suspicious[0].strip()!r}",
            place=Place(source.name, 1),
            remedies=[
                Remedy("if there is no line of names", "header", False),
                Remedy("if these are names", "header", True),
            ],
        )
