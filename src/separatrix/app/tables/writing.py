"""A table with more columns, written out: nothing appears under its name before all of it is there."""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from typing import IO, Any

import numpy as np

from ...errors import SettingError
from ..files import replace_file
from .database import identifier, literal
from .errors import TableError
from .parts import StoredTable

COPY = {
    "csv": "FORMAT csv, HEADER false, DELIMITER ','",
    "tsv": "FORMAT csv, HEADER false, DELIMITER '\t'",
    "json": "FORMAT json, ARRAY true",
    "jsonl": "FORMAT json, ARRAY false",
    "parquet": "FORMAT parquet",
}
SEPARATORS = {"csv": ",", "tsv": "\t"}


def write(
    loaded: StoredTable,
    rows: int,
    folder: str,
    target: str | IO[bytes],
    format: str,  # noqa: A002
    extra: Mapping[str, Any],
) -> None:
    """The columns of a table and the extra ones, so many rows, to a path or to an open binary file."""
    if format not in COPY:
        raise SettingError("format", format, f"it must be one of {', '.join(COPY)}.")
    taken = [name for name in extra if name in loaded.names]
    if taken:
        raise TableError(f"the table has a column {taken[0]!r} already", column=taken[0])
    arrays = {f"e{k}": _array(name, values, rows) for k, (name, values) in enumerate(extra.items())}
    plain = format in SEPARATORS
    chosen = [f"c{j}" if plain else f"{_typed(loaded, j)} AS {identifier(name)}" for j, name in enumerate(loaded.names)]
    chosen += [key if plain else f"{key} AS {identifier(name)}" for key, name in zip(arrays, extra, strict=True)]
    handle, written = tempfile.mkstemp(dir=folder)
    os.close(handle)
    joined = "data" if not arrays else "data POSITIONAL JOIN extra" if loaded.names else "extra"
    with loaded.database.holding("extra", arrays) if arrays else nullcontext():
        loaded.database.rows(
            f"COPY (SELECT {', '.join(chosen)} FROM {joined}) TO {literal(written)} ({COPY[format]})"  # noqa: S608
        )
    header = _header([*loaded.names, *extra], SEPARATORS[format]) if plain else b""
    _deliver(written, header, target)
    os.unlink(written)


def _typed(loaded: StoredTable, j: int) -> str:
    """A column for JSON and Parquet: numbers as numbers, where their text says no more than that."""
    if loaded.family(j) != "text" or not loaded.as_text:
        return f"c{j}"
    whole, real = loaded.ask(
        f"bool_and(CAST(TRY_CAST(c{j} AS BIGINT) AS VARCHAR) = c{j}), "
        f"bool_and(isfinite(coalesce(TRY_CAST(c{j} AS DOUBLE), 'nan')) AND NOT regexp_matches(c{j}, '^[+-]?0[0-9]|_'))"
    )
    if whole:
        return f"CAST(c{j} AS BIGINT)"
    return f"CAST(c{j} AS DOUBLE)" if real else f"c{j}"


def _array(name: str, values: Any, rows: int) -> Any:
    array = np.asarray(values, dtype=None if isinstance(values, np.ndarray) else _kind(values))
    if array.shape != (rows,):
        raise TableError(f"the column {name!r} has shape {array.shape}, and the table {rows} rows", column=name)
    return array.astype(object) if array.dtype.kind in "US" else np.ascontiguousarray(array)


def _kind(values: Any) -> type | None:
    return object if any(isinstance(value, str) or value is None for value in values) else None


def _header(names: list[str], separator: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def _deliver(written: str, header: bytes, target: str | IO[bytes]) -> None:
    with open(written, "rb") as content:

        def copy(stream: IO[bytes]) -> None:
            stream.write(header)
            shutil.copyfileobj(content, stream, 1 << 20)
            stream.flush()

        if not isinstance(target, str):
            copy(target)
            return
        try:
            replace_file(target, copy)
        except OSError as error:
            raise TableError(f"{target} cannot be written: {error.strerror or error}") from None
