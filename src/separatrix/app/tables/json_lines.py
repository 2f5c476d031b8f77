"""JSON lines: an object in each line, its values numbers, texts, true, false or null."""

from __future__ import annotations

import json
import re

import duckdb

from .database import Database, first_line, literal
from .errors import Place, TableError
from .parts import family
from .sources import Source


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
