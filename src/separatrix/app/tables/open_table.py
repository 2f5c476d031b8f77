"""A table that was opened: its columns as numbers or levels, and where its rows stand."""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .cells import DECIMAL_COMMA, TIME, has_decimal_comma, number_of, spaced
from .columns import Profile
from .database import Database, connect, literal, literals
from .dialect import records
from .errors import Place, Remedy, TableError, did_you_mean
from .parts import ROOM, StoredTable, TableFile
from .sources import Digests, Source
from .table import LevelCodes, plain_codes, profile_of_levels, without_unused
from .text import TEXT, TextFile, load

# Columns that were fetched from duckdb, kept while the table is looked at again and again.

THREADS = 2


class Numbers(NamedTuple):
    """A column of numbers."""

    values: Floats
    """NaN where a value is missing."""
    missing: int
    wrong: NDArray[np.bool_] | None
    """The cells that are no finite numbers, if there are any; a missing one is none of them."""

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.values.nbytes)


class ColumnCache:
    """What was fetched, by column, as long as there is room. The arrays are shared: nobody writes into them."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._numbers: dict[int, Numbers] = {}
        self._coded: dict[int, LevelCodes] = {}

    def numbers(self, j: int, fetch: Callable[[int], Numbers]) -> Numbers:
        """The numbers of a column, fetched unless they are here."""
        found = self._numbers.get(j) or fetch(j)
        if j not in self._numbers and found.size <= self._room:
            self._room -= found.size
            self._numbers[j] = found
        return found

    def coded(self, j: int, fetch: Callable[[int], LevelCodes]) -> LevelCodes:
        """The levels of a column, fetched unless they are here."""
        found = self._coded.get(j) or fetch(j)
        if j not in self._coded and found.codes.nbytes <= self._room:
            self._room -= found.codes.nbytes
            self._coded[j] = found
        return found

    def ahead(self, columns: Iterable[int], fetch: Callable[[int], Numbers], size: int) -> None:
        """Fetch columns of numbers, of so many bytes each, before they are asked for, as many as there is room for."""
        lacking = [j for j in columns if j not in self._numbers][: self._room // max(1, size)]
        if len(lacking) < 2:
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(THREADS) as pool:
            for j, found in zip(lacking, pool.map(fetch, lacking), strict=True):
                self.numbers(j, lambda _, found=found: found)  # type: ignore[misc]

    def has_numbers(self, j: int) -> bool:
        """Whether a column is here as numbers, with nothing wrong among them."""
        return j in self._numbers and self._numbers[j].wrong is None

    def levels(self, j: int) -> tuple[str, ...] | None:
        """The levels of a column that is here as levels."""
        return self._coded[j].levels if j in self._coded else None

    def forget(self) -> None:
        """Give the memory back."""
        self._numbers.clear()
        self._coded.clear()


def numbers_of(found: Any) -> Numbers:
    """What duckdb gave as numbers, masked where values are missing."""
    masked = isinstance(found, np.ma.MaskedArray)
    values = np.asarray(np.ma.getdata(found), np.float64)
    finite = np.isfinite(values)
    if not masked:
        return Numbers(values, 0, None if finite.all() else ~finite)
    missing = np.ma.getmaskarray(found)
    wrong = ~(finite | missing)
    values[missing] = np.nan
    return Numbers(values, int(np.count_nonzero(missing)), wrong if wrong.any() else None)


MANY = 1 << 16
"""Rows from which a look at a column is work enough for a thread."""


class File(NamedTuple):
    """A file of a table."""

    name: str
    size: int


@dataclass(frozen=True)
class OpenTable:
    """Rows of files, in duckdb. Close it, or use it in a `with` block: it owns a temporary folder."""

    _loaded: StoredTable
    _folder: tempfile.TemporaryDirectory[str]
    _kept: NDArray[np.int64] | None
    """The places of the rows among all rows of the files, where `where` or `sample` chose some."""
    _digests: Digests
    _cache: ColumnCache = field(default_factory=ColumnCache)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the (first) file."""
        return self._loaded.names

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(part.rows for part in self._loaded.parts) if self._kept is None else len(self._kept)

    @property
    def files(self) -> tuple[File, ...]:
        """The files, and how many bytes each has."""
        return tuple(File(part.source.name, part.source.size) for part in self._loaded.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of how the files were read, each a sentence."""
        return self._loaded.notes

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where missing; a TableError names the first cell that is no number."""
        j, loaded = self._place_of(name), self._loaded
        if loaded.family(j) in ("time", "nested"):
            raise TableError(f"values of type {loaded.types[j]} are not numbers", place=self.place(0), column=name)
        if self._has_codes(j):
            coded = self.coded(name)
            known = [number_of(level, loaded.options.decimal) for level in coded.levels]
            if None not in known:
                return np.array([np.nan, *known], np.float64)[coded.codes + 1]
        found = self._cache.numbers(j, self._numbers)
        if found.wrong is not None:
            raise self._no_number(j, found, found.wrong)
        return found.values

    def fetch_ahead(self, names: Sequence[str]) -> None:
        """Get columns that are numbers in duckdb, several at a time; whoever asks for one later finds it there."""
        places = (self._place_of(name) for name in names)
        numbers = [j for j in places if self._loaded.family(j) == "number"]
        self._cache.ahead(numbers, self._numbers, 8 * self.rows)

    def each(self, f: Callable[[str], Any], names: Sequence[str]) -> Iterator[Any]:
        """f of each column in their order; of many rows that are here as arrays, several at a time."""
        if not self._loaded.arrays or self.rows < MANY:
            yield from map(f, names)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(THREADS) as pool:
            yield from pool.map(f, names)

    def let_go(self, numbers: Sequence[str], levels: Sequence[str]) -> None:
        """Close duckdb if these columns are kept, and nothing else will be asked for: its memory is free then."""
        kept = [self._cache.levels(self._place_of(name)) is not None for name in levels]
        if all(kept) and all(self._keeps_numbers(self._place_of(name)) for name in numbers):
            self._loaded.database.close()

    def _keeps_numbers(self, j: int) -> bool:
        if not self._has_codes(j):
            return self._cache.has_numbers(j)
        levels, decimal = self._cache.levels(j), self._loaded.options.decimal
        return levels is not None and all(number_of(level, decimal) is not None for level in levels)

    def _numbers(self, j: int) -> Numbers:
        loaded = self._loaded
        if not loaded.arrays:
            return numbers_of(loaded.column(loaded.number(j)))
        return self._numbers_of_levels(j) if self._has_codes(j) else numbers_of(loaded.arrays[j])

    def _numbers_of_levels(self, j: int) -> Numbers:
        codes, levels = self.coded(self.names[j])
        known = [number_of(level, self._loaded.options.decimal) for level in levels]
        values = np.array([*(np.nan if each is None else each for each in known), np.nan])[codes]
        wrong = np.array([*(each is None for each in known), False])[codes]
        return Numbers(values, int(np.count_nonzero(codes < 0)), wrong if wrong.any() else None)

    def coded(self, name: str) -> LevelCodes:
        """A column as levels; numbers are levels by their text as it stands in the file."""
        return self._cache.coded(self._place_of(name), self._coded)

    def _coded(self, j: int) -> LevelCodes:
        name, loaded = self.names[j], self._loaded
        kind = loaded.types[j]
        if loaded.family(j) == "nested":
            raise TableError(f"values of type {kind} are not levels", place=self.place(0), column=name)
        if self._has_codes(j):
            codes = plain_codes(loaded.arrays[j] if loaded.arrays else loaded.column(f"enum_code(c{j})"))
            levels: Sequence[str] = loaded.levels(j)
        elif loaded.as_text and loaded.family(j) == "number":
            codes, levels = self._texts_again(j)
        else:
            codes, levels = codes_of(loaded.database, loaded.text(j))
        codes, levels = without_unused(codes, levels)
        if any("\0" in level for level in levels):
            row = int(np.isin(codes, [k for k, level in enumerate(levels) if "\0" in level]).argmax())
            raise TableError("there is a NUL byte", place=self.place(row), column=name, value=levels[codes[row]])
        return LevelCodes(codes, tuple(levels))

    def profile(self, name: str) -> Profile:
        """What is seen in a column before it is read: how many values are missing, numbers, times, different."""
        j, loaded = self._place_of(name), self._loaded
        kind = loaded.family(j)
        if self._has_codes(j):
            return profile_of_levels(self.coded(name), loaded.options.decimal)
        if kind == "number":
            found = self._cache.numbers(j, self._numbers)
            wrong = 0 if found.wrong is None else int(np.count_nonzero(found.wrong))
            return Profile(kind, self.rows - found.missing, found.missing, None, self.rows - found.missing - wrong, 0)
        if kind == "nested":
            there = int(loaded.ask(f"count({loaded.value(j)})")[0])
            return Profile(kind, there, self.rows - there, None, 0, 0)
        text = loaded.text(j)
        values, distinct, times, commas, numbers = loaded.ask(
            f"count({text}), count(DISTINCT {text}), count(*) FILTER (regexp_full_match({text}, {literal(TIME)})), "
            f"count(*) FILTER (regexp_full_match({text}, {literal(DECIMAL_COMMA)})), "
            + (f"count(*) FILTER (isfinite({loaded.number(j)}))" if kind == "text" else "0")
        )
        return Profile(kind, int(values), self.rows - int(values), int(distinct), int(numbers), int(times), int(commas))

    def place(self, row: int) -> Place:
        """Where a row stands: a second look at its file, for errors."""
        return self.places([row])[0]

    def places(self, rows: Sequence[int]) -> list[Place]:
        """Where rows stand: a second look at each of their files, one for all rows."""
        found: dict[int, Place] = {}
        for part, places in self._by_part(rows):
            found.update(zip(places, places_in(part, list(places.values())), strict=True))
        return [found[row] for row in rows]

    def fingerprint(self) -> str:
        """A hash of the bytes of the files, and of what chose their rows."""
        digest = hashlib.sha256(b"".join(self._digests.all()))
        options = self._loaded.options
        digest.update(repr((options.na, options.where, options.sample, options.seed * (options.sample is not None),
                            options.header, options.decimal)).encode())  # fmt: skip
        return digest.hexdigest()

    def write(
        self, target: str | IO[bytes], format: str, extra: Mapping[str, Any], *, only: bool = False,  # noqa: A002
    ) -> None:  # fmt: skip
        """All columns as they stand in the files, then the extra ones; `target` is a path, or an open binary file.

        With `only` the extra ones alone.
        """
        from .writing import write

        loaded = replace(self._loaded, names=()) if only else self._verbatim()
        try:
            write(loaded, self.rows, self._folder.name, target, format, extra)
        finally:
            if loaded.database is not self._loaded.database:
                loaded.database.close()

    def free(self) -> None:
        """Give the memory back: only where rows stand can be asked from now on."""
        self._digests.give_up()
        self._cache.forget()
        self._loaded.database.close()

    def close(self) -> None:
        """Give the memory back and remove what was unpacked."""
        self.free()
        self._folder.cleanup()

    def __enter__(self) -> OpenTable:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def _place_of(self, name: str) -> int:
        if name not in self.names:
            raise TableError(f"there is no column {name!r}", because=did_you_mean(name, self.names))
        return self.names.index(name)

    def _has_codes(self, j: int) -> bool:
        return self._loaded.as_text and self._loaded.types[j].startswith("ENUM")

    def _part(self, row: int) -> tuple[TableFile, int]:
        ((part, places),) = self._by_part([row])
        return part, places[row]

    def _by_part(self, rows: Sequence[int]) -> list[tuple[TableFile, dict[int, int]]]:
        """The files that have some of these rows, and the place of each there."""
        ends = np.cumsum([part.rows for part in self._loaded.parts])
        found: dict[int, dict[int, int]] = {}
        for row in rows:
            place = row if self._kept is None else int(self._kept[row])
            number = int(np.searchsorted(ends, place, side="right"))
            if number == len(ends):
                raise IndexError(row)
            found.setdefault(number, {})[row] = place - int(ends[number] - self._loaded.parts[number].rows)
        return [(self._loaded.parts[number], places) for number, places in found.items()]

    def _texts_again(self, j: int) -> tuple[NDArray[np.int32], Sequence[str]]:
        """The texts of a column that was read as numbers, by a second look at the files."""
        loaded, database = self._loaded, connect()
        try:
            files = [part.text for part in loaded.parts if part.text is not None]
            load(database, files, [TEXT] * len(self.names), na=loaded.options.na, decimal=".", only=[j])
            codes, levels = codes_of(database, f"c{j}")
        finally:
            database.close()
        return codes if self._kept is None else codes[self._kept], levels

    def _verbatim(self) -> StoredTable:
        """The table with every cell as it stands in the files."""
        loaded = self._loaded
        if not loaded.as_text or loaded.options.keep_text:
            return loaded
        from .parts import keep

        database = connect()
        files = [part.text for part in loaded.parts if part.text is not None]
        load(database, files, [TEXT] * len(self.names), na=(), decimal=".")
        if self._kept is not None:
            keep(database, self._kept)
        texts = tuple(TEXT for _ in self.names)
        options = replace(loaded.options, keep_text=True)
        return replace(loaded, database=database, types=texts, options=options, arrays={})

    def _no_number(self, j: int, found: Numbers, those: NDArray[np.bool_]) -> TableError:
        loaded, name = self._loaded, self.names[j]
        row, wrong = int(those.argmax()), int(np.count_nonzero(those))
        good = len(those) - found.missing - wrong
        part, inside = self._part(row)
        if part.text is not None:
            line, cells = look(part.text, inside)
            place, value = Place(part.source.name, line), cells[name]
        else:
            place, value = self.place(row), str(loaded.ask(loaded.text(j), f"LIMIT 1 OFFSET {row}")[0])
        remedies = [
            Remedy("treat it as missing", "na", (value,)),
            Remedy(f"or read {name} as a category", "category", (name,)),
        ]
        if loaded.as_text and loaded.options.decimal == "." and has_decimal_comma(value):
            remedies.insert(0, Remedy("if the comma is a decimal comma", "decimal", ","))
        if wrong == 1:
            because = f"the other {spaced(good)} values of {name!r} are numbers, so it is read as a number column."
        else:
            because = f"{spaced(wrong)} values of {name!r} are not, the other {spaced(good)} are numbers."
        if name in loaded.options.number:
            because = f"{name!r} is to be read as a column of numbers; {good:,} of its values are.".replace(",", " ")
        if value.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
            because = f"only finite numbers are numbers here; {because}"
        return TableError(
            f"{value!r} is not a number", place=place, column=name, value=value, because=because, remedies=remedies
        )


# -------------------------------------------------------------------------------------------------------- lines of rows


def places_in(part: TableFile, rows: Sequence[int]) -> list[Place]:
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


def codes_of(database: Database, text: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The levels of a text in SQL, in order, and the place of each row's level among them (−1: missing)."""
    levels = [row[0] for row in database.rows(
        f"SELECT DISTINCT {text} AS v FROM data WHERE v IS NOT NULL ORDER BY v"  # noqa: S608
    )]  # fmt: skip
    if not levels:
        rows = database.rows("SELECT count(*) FROM data")[0][0]
        return np.full(rows, -1, np.int32), ()
    database.run(f"CREATE OR REPLACE TYPE levels AS ENUM ({literals(levels)})")
    found = database.arrays(f"SELECT enum_code(CAST({text} AS levels)) AS v FROM data")["v"]  # noqa: S608
    return plain_codes(found), tuple(levels)
