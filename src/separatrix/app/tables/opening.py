"""Open files as one table."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from ...errors import SettingError
from .array_files import read_arrays, read_libsvm
from .database import Database, connect, first_line, identifier, literal
from .dialect import sniff
from .errors import Place, TableError, did_you_mean
from .open_table import OpenTable
from .parts import ROOM, Options, StoredTable, TableFile, chosen_rows, family, keep, types_of
from .sources import FORMATS, Digests, Format, Source, find
from .text import TEXT, TextFile, UnlikeLinesError, bytes_needed, load, load_arrays, plan, with_like_lines

# JSON lines: an object in each line, its values numbers, texts, true, false or null.


def load_json(database: Database, source: Source, table: str) -> tuple[str, ...]:
    """Read a file into a table; the names of its columns."""
    layout = "newline_delimited" if source.format == "jsonl" else "auto"
    try:
        database.run(
            f"CREATE TABLE {table} AS SELECT * FROM read_json({literal(str(source.path))}, format='{layout}', "  # noqa: S608
            "compression='none', sample_size=-1, maximum_object_size=67108864)"
        )
    except duckdb.Error as error:
        _find_the_line(source)
        raise TableError("this is no JSON", place=Place(source.name, None), because=first_line(error)) from None
    described = database.rows(f"DESCRIBE {table}")
    names, kinds = tuple(row[0] for row in described), [row[1] for row in described]
    _check_spelling(source, names)
    if names == ("json",) or any(family(kind) == "nested" for kind in kinds):
        _find_the_line(source)
        if names == ("json",) and kinds == ["JSON"]:
            raise TableError("no row has a value, or they are not objects {…}", place=Place(source.name, None))
        for name, kind in zip(names, kinds, strict=True):
            if kind == "JSON":  # values of several kinds, none of them nested: their texts
                quoted = '"' + name.replace('"', '""') + '"'
                database.run(f"ALTER TABLE {table} ALTER {quoted} TYPE VARCHAR USING ({quoted} ->> '$')")
            elif family(kind) == "nested":
                raise TableError(
                    "lists and objects inside a row are not columns", place=Place(source.name, None), column=name
                )
    return names


def _check_spelling(source: Source, names: tuple[str, ...]) -> None:
    """duckdb calls a second column A_1 whose name differs from a first, a, in capitals only: say so instead."""
    lowered = {name.casefold() for name in names}
    doubtful = [name for name in names if re.sub(r"_\d+$", "", name).casefold() in lowered - {name.casefold()}]
    if doubtful and not all(f'"{name}"'.encode() in source.path.read_bytes() for name in doubtful):
        stem = re.sub(r"_\d+$", "", doubtful[0])
        raise TableError(f"two columns are named {stem!r}, or so but for capitals", place=Place(source.name, None))


def _find_the_line(source: Source) -> None:
    """Name the first line that is no flat object, if there is one."""
    if source.format != "jsonl":
        return
    with source.path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            place = Place(source.name, number)
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                why = getattr(error, "msg", None) or error
                raise TableError(f"the line is not JSON: {why}", place=place) from None
            if not isinstance(found, dict):
                raise TableError("the line is JSON, but not an object {…}", place=place)
            for name, value in found.items():
                if isinstance(value, dict | list):
                    shown = json.dumps(value)[:40]
                    raise TableError(
                        f"{shown} is a {'list' if isinstance(value, list) else 'table'} inside a row",
                        place=place,
                        column=name,
                        value=shown,
                        because="every value must be a number, a text, true, false or null: name its parts one by one.",
                    )


Watch = Callable[[Callable[[], float]], None]
"""What is called just before duckdb reads, with a function that gives the share that has been read."""

FORMAT_NAMES = tuple(dict.fromkeys(FORMATS.values()))


def open_table(
    sources: Sequence[str], *, format: Format | None = None, na: Sequence[str] = (), number: Sequence[str] = (),  # noqa: A002
    category: Sequence[str] = (), where: str | None = None, sample: int | None = None, seed: int = 0,
    keep_text: bool = False, header: bool | None = None, encoding: str | None = None, decimal: str = ".",
    watch: Watch = lambda share: None, fingerprint: bool = False,
) -> OpenTable:  # fmt: skip
    """The rows of files, globs or stdin ("-") as one table.

    `sources` are names of files, patterns, or "-". `format` is "csv", "tsv", "jsonl", "json", "parquet", "libsvm" or
    "npy", where the name does not tell. `na` are texts that stand for a missing value, besides the empty cell. The
    columns in `number` and `category` are to be read as numbers, as levels. `where` is a condition in SQL on the
    columns: it sees this table and nothing else. `sample` rows are drawn at random, by `seed`. With `keep_text` every
    cell is kept as text, so that `write` need not read the files again. `header` tells whether the first line names
    the columns; None: yes, but a line that looks like data is an error. `encoding` is that of text files; None: UTF-8.
    `decimal` is "." or ",", the decimal sign of text tables. `watch` is called just before duckdb reads
    them, with a function that gives the share that has been read, from 0 to 1, or less than 0 where that is not known.
    With `fingerprint` the table's is worked out as it is read; without it when it is asked for.
    """
    if format is not None and format not in FORMAT_NAMES:
        raise SettingError("format", format, f"it must be one of {', '.join(FORMAT_NAMES)}.")
    if decimal not in (".", ","):
        raise SettingError("decimal", decimal, "it must be '.' or ','.")
    options = Options(
        tuple(na), tuple(number), tuple(category), where, sample, seed, keep_text, header, decimal
    )  # fmt: skip
    folder = tempfile.TemporaryDirectory(prefix="separatrix-")
    database = digests = None
    try:
        found = find(sources, Path(folder.name), format, encoding)
        digests = Digests([source.original for source in found])
        if fingerprint:
            digests.begin()
        database = connect(Path(folder.name) / "spill")
        loaded = _loaded(database, found, options, Path(folder.name), watch)
        rows = sum(part.rows for part in loaded.parts)
        if not rows:
            raise TableError("there is a line of names, and no row", place=Place(found[0].name, None))
        database.lock(Path(folder.name))
        kept = chosen_rows(loaded, rows)
        if kept is not None:
            keep(database, kept)
        return OpenTable(loaded, folder, kept, digests)
    except BaseException:
        if digests is not None:
            digests.give_up()
        if database is not None:
            database.close()
        folder.cleanup()
        raise


def _loaded(database: Database, sources: Sequence[Source], options: Options, folder: Path, watch: Watch) -> StoredTable:
    kinds = {"csv" if source.format == "tsv" else source.format for source in sources}
    if len(kinds) > 1:
        first = next(source for source in sources if source.format != sources[0].format)
        raise TableError(
            f"this is a {first.format} file, and {sources[0].name} a {sources[0].format} file",
            place=Place(first.name, None),
        )
    if kinds == {"csv"}:
        return _texts(database, sources, options, folder, watch)
    watch(database.share)
    return _typed_files(database, sources, options)


def _texts(database: Database, sources: Sequence[Source], options: Options, folder: Path, watch: Watch) -> StoredTable:
    """Text tables; one whose lines end in several ways is read from a copy where they do not, and that is noted."""
    sources, notes = list(sources), list[str]()
    while True:
        try:
            return replace(_plain_texts(database, sources, options, watch), notes=tuple(notes))
        except UnlikeLinesError as unlike:
            watch = _once
            place = sources.index(unlike.source)
            sources[place] = with_like_lines(unlike.source, folder / f"lines-{len(notes)}")
            notes.append(f"{unlike.place}: lines end in several ways here; they were read as if all ended with LF.")


def _once(share: Callable[[], float]) -> None:
    """Nothing more to say: the reading was begun before."""


def _plain_texts(database: Database, sources: Sequence[Source], options: Options, watch: Watch) -> StoredTable:
    sniffed = [sniff(source, options.header) for source in sources]
    files = [TextFile(source, dialect) for source, (dialect, _) in zip(sources, sniffed, strict=True)]
    names = files[0].dialect.names
    for file in files[1:]:
        _check_same_columns(sources[0].name, names, file.source.name, file.dialect.names)
    if options.keep_text:
        types, na = [TEXT] * len(names), ()
    else:
        na = options.na  # type: ignore[assignment]
        types = plan(
            files, [head for _, head in sniffed], na=na, decimal=options.decimal, text=options.category
        )  # fmt: skip
    watch(database.share)
    heads, arrays = [head for _, head in sniffed], None
    if options.where is None and options.sample is None and bytes_needed(files, heads, types) <= ROOM:
        types, rows, arrays = load_arrays(database, files, types, na=na, decimal=options.decimal)
    if arrays is None:
        types, rows = load(database, files, types, na=na, decimal=options.decimal)
    parts = tuple(TableFile(file.source, count, file) for file, count in zip(files, rows, strict=True))
    return StoredTable(database, names, tuple(types), parts, options, arrays=arrays or {})


def _check_same_columns(first: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    place = Place(other, None)
    for name in names:
        if name not in others:
            raise TableError(
                f"the column {name!r} of {first} is not here", place=place, because=did_you_mean(name, others)
            )
    for name in others:
        if name not in names:
            raise TableError(f"the column {name!r} is here, but not in {first}", place=place)


def _typed_files(database: Database, sources: Sequence[Source], options: Options) -> StoredTable:
    """Files whose values have types: JSON, Parquet, LIBSVM, NumPy."""
    names: tuple[str, ...] = ()
    parts: list[TableFile] = []
    for number, source in enumerate(sources):
        table = f"file_{number}"
        own, part = _one_file(database, source, table)
        if number:
            _check_same_columns(sources[0].name, names, source.name, own)
        names = names or own
        parts.append(replace(part, rows=database.rows(f"SELECT count(*) FROM {table}")[0][0]))  # noqa: S608
    columns = ", ".join(identifier(name) for name in names)
    renamed = ", ".join(f"c{j}" for j in range(len(names)))
    rows = " UNION ALL ".join(f"SELECT {columns} FROM file_{number}" for number in range(len(sources)))  # noqa: S608
    database.run(f"CREATE TABLE data AS SELECT * FROM ({rows}) AS t({renamed})")  # noqa: S608
    for number in range(len(sources)):
        database.run(f"DROP TABLE file_{number}")
    return StoredTable(database, names, types_of(database), tuple(parts), options)


def _one_file(database: Database, source: Source, table: str) -> tuple[tuple[str, ...], TableFile]:
    part = TableFile(source, 0)
    if source.format in ("jsonl", "json"):
        return load_json(database, source, table), part
    if source.format == "parquet":
        try:
            database.run(f"CREATE TABLE {table} AS SELECT * FROM read_parquet({literal(str(source.path))})")  # noqa: S608
        except duckdb.Error as error:
            raise TableError(
                "this is no Parquet file", place=Place(source.name, None), because=first_line(error)
            ) from None
        names = tuple(row[0] for row in database.rows(f"DESCRIBE {table}"))
        written = database.rows("SELECT name FROM parquet_schema(?)", [str(source.path)])
        renamed = [name for name in names if (name,) not in written]
        if renamed:
            raise TableError(
                f"two columns have the name of {renamed[0]!r}, or so but for capitals", place=Place(source.name, None)
            )
        return names, part
    columns, lines = (read_libsvm if source.format == "libsvm" else read_arrays)(source.name, source.path)
    with database.holding("arrays", columns):
        database.rows(f"CREATE TABLE {table} AS SELECT * FROM arrays")  # noqa: S608
    return tuple(columns), replace(part, lines=lines)
