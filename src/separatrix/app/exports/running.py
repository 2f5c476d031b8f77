"""Exports are run where they can be: Python, DuckDB, SQLite and ONNX in this process; the rest says that it was not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from .errors import CannotExportError
from .program import Program
from .sql import DIALECTS, quoted

Row = Mapping[str, Any]
Found = list[dict[str, Any]]


class NotRunError(Exception):
    """What an export needs to be run is not here: a sentence."""


def run_python(text: str | bytes, program: Program, rows: Sequence[Row], *, name: str = "predict", **_: Any) -> Found:
    """Call the function; the text is one that we have just written, its texts and names quoted by repr."""
    space: dict[str, Any] = {}
    exec(compile(text, "<export>", "exec"), space)  # noqa: S102
    return [space[name](row) for row in rows]


def run_sql(
    text: str | bytes, program: Program, rows: Sequence[Row], *, dialect: str = "duckdb", table: str = "data",
    prefix: str = "", keep: Sequence[str] | None = None, **_: Any,
) -> Found:  # fmt: skip
    """Ask a database in memory that has nothing but these rows."""
    if dialect == "postgresql":
        raise NotRunError("It was not run here: that takes a PostgreSQL server.")
    names = [cell.column.name for cell in program.cells]
    own = {name.casefold() for name in names}
    more = [name for name in keep or () if name.casefold() not in own]
    types = ["TEXT" if cell.column.kind == "category" else "DOUBLE" for cell in program.cells]
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip([*names, *more], [*types, *["TEXT"] * len(more)],
                                                                       strict=True))  # fmt: skip
    marks = ", ".join("?" * (len(names) + len(more)))
    cells = [[*(row[name] for name in names), *[None] * len(more)] for row in rows]
    database = _database(dialect)
    try:
        database.execute(f"CREATE TABLE {quoted(table)} ({columns})")
        database.execute("BEGIN")  # row by row on its own is slow where there are many columns
        database.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", cells)  # noqa: S608
        database.execute("COMMIT")
        answer = database.execute(text)
        titles = [each[0] for each in answer.description]
        found = [dict(zip(titles, line, strict=True)) for line in answer.fetchall()]
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("duckdb", "_duckdb", "sqlite3"):
            raise
        said = str(error).splitlines()[0].rstrip(".")
        if "no such function" in said:  # a SQLite that was built without mathematical functions
            raise NotRunError(f"It was not run here: {said}.") from None
        raise CannotExportError(
            f"{DIALECTS[dialect].title} cannot run the query, so it is not given: {said}."
        ) from None
    finally:
        database.close()
    return [{key.removeprefix(prefix): value for key, value in line.items()} for line in found]


def _database(dialect: str) -> Any:
    if dialect == "sqlite":
        import sqlite3

        return sqlite3.connect(":memory:")
    if find_spec("duckdb") is None:
        raise NotRunError("It was not run here: DuckDB is not installed.")
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1})


def run_onnx(text: str | bytes, program: Program, rows: Sequence[Row], *, prefix: str = "", **_: Any) -> Found:
    """Ask onnxruntime."""
    if find_spec("onnxruntime") is None:
        raise NotRunError("It was not run here: onnxruntime is not installed.")
    import onnxruntime

    session = onnxruntime.InferenceSession(text, providers=["CPUExecutionProvider"])
    cells = {cell.column.name: _tensor(cell.column.kind, [row[cell.column.name] for row in rows])
             for cell in program.cells}  # fmt: skip
    answer = dict(zip([each.name for each in session.get_outputs()], session.run(None, cells), strict=True))
    label, numbers = answer[f"{prefix}label"].tolist(), answer[f"{prefix}scores"]
    if program.probabilities:
        numbers = np.column_stack([numbers, answer[f"{prefix}probabilities"]])
    titles = (*program.score_titles, *program.probability_titles)
    return [{"label": each, **dict(zip(titles, line, strict=True))}
            for each, line in zip(label, numbers.tolist(), strict=True)]  # fmt: skip


def _tensor(kind: str, cells: Sequence[Any]) -> Any:
    if kind == "category":
        return np.array([["" if each is None else str(each)] for each in cells], object)
    return np.array([[math.nan if each is None else float(each)] for each in cells])


def run_nothing(text: str | bytes, program: Program, rows: Sequence[Row], **_: Any) -> Found:
    """What takes a compiler or an office is not run."""
    raise NotRunError("It was not run here.")
