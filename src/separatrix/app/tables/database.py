"""duckdb, kept to the data it was given: no network, no extensions, and no files once the rows are in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any


def engine() -> Any:
    """duckdb as it was compiled: what its package adds takes longer to load than itself, and no reading needs it."""
    for name in ("_duckdb", "duckdb"):
        with suppress(ImportError):
            return import_module(name)
    raise ModuleNotFoundError('Tables are read by duckdb: pip install "separatrix[cli]"', name="duckdb")


def connect(spill: Path | None = None) -> Any:
    """A database in memory that neither installs nor loads anything; it may write what is too large to `spill`."""
    connection = engine().connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "temp_directory": "" if spill is None else str(spill),
        },
    )
    connection.execute("SET python_enable_replacements = false")  # a name in SQL must not find a Python variable
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")  # it tells who asks
    return connection


def interrupted(error: BaseException) -> bool:
    """Whether it is what duckdb makes of Ctrl-C."""
    return type(error) is RuntimeError and "interrupted" in str(error).lower()


def lock(connection: Any, folder: Path) -> None:
    """From here on no SQL reads or writes a file but in this folder of ours, nor undoes this."""
    connection.execute(f"SET allowed_directories = [{literal(str(folder))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Texts in SQL, with commas between."""
    return ", ".join(map(literal, texts))


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
