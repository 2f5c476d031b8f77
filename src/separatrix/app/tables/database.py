"""duckdb, kept to the data it was given: no network, no extensions, and no files once the rows are in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

Answer = TypeVar("Answer")

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
}
"""What keeps duckdb from installing or loading anything."""


class Database:
    """A connection to duckdb, whose queries Ctrl-C ends as it ends everything else: with KeyboardInterrupt.

    What is wrong with a query is a `duckdb.Error`; memory that does not suffice is a MemoryError.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, sql: str) -> None:
        """Run statements that answer nothing."""
        self._answer(lambda: self._connection.execute(sql))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of an answer: one left open blocks the connection."""
        return self._answer(lambda: self._connection.execute(sql, values or None).fetchall())

    def arrays(self, sql: str | duckdb.Statement) -> dict[str, Any]:
        """The columns of an answer, masked where values are missing."""
        return self._answer(lambda: self._connection.execute(sql).fetchnumpy())

    def statements(self, sql: str) -> list[duckdb.Statement]:
        """The statements of a text."""
        found: list[duckdb.Statement] = self._connection.extract_statements(sql)
        return found

    @contextmanager
    def holding(self, name: str, arrays: Mapping[str, Any]) -> Iterator[None]:
        """Let queries read these arrays as a table of this name."""
        self._connection.register(name, arrays)
        try:
            yield
        finally:
            self._connection.unregister(name)

    def cursor(self) -> Database:
        """Another connection to the same data, for another thread."""
        return Database(self._connection.cursor())

    def share(self) -> float:
        """The part of a running query that is done, from 0 to 1, or less than 0 where that is not known.

        Another thread may ask, also when the connection is closed.
        """
        try:
            return float(self._connection.query_progress()) / 100
        except duckdb.Error:
            return -1.0

    def lock(self, folder: Path) -> None:
        """From here on no SQL reads or writes a file but in this folder of ours, nor undoes this."""
        self.run(f"SET allowed_directories = [{literal(str(folder))}]")
        self.run("SET enable_external_access = false; SET lock_configuration = true")

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        """What duckdb answers to another thread: where the main one asks, Ctrl-C may wait until the query is done."""
        with ThreadPoolExecutor(1) as asker:
            answer = asker.submit(ask)
            try:
                return answer.result()
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from None
            except KeyboardInterrupt:
                self._connection.interrupt()
                raise


def connect(spill: Path | None = None) -> Database:
    """A database in memory that neither installs nor loads anything; it may write what is too large to `spill`."""
    folder = "" if spill is None else str(spill)
    database = Database(duckdb.connect(":memory:", config={**SETTINGS, "temp_directory": folder}))
    database.run("SET python_enable_replacements = false")  # a name in SQL must not find a Python variable
    database.run("SET enable_progress_bar = true; SET enable_progress_bar_print = false")  # for `share`
    return database


def first_line(error: duckdb.Error) -> str:
    """What duckdb says is wrong, to be shown; the lines that follow point into SQL that nobody typed."""
    return str(error).splitlines()[0]


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Texts in SQL, with commas between."""
    return ", ".join(map(literal, texts))


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
