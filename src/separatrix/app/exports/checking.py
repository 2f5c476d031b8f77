"""A few rows made of what a model knows of its columns, and whether an export answers them as the model does.

Python, DuckDB, SQLite and ONNX run in this process; what takes a compiler, a server or an office says that it was not
run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np

from ...data.block import block_of
from ...numerics.arrays import Floats
from ..models.examples import examples_of
from ..models.model import Model
from ..tables.columns import Column
from ..tables.encoding import Encoding
from ..tables.table import Columns
from .building import columns_of
from .program import CannotExportError, Program
from .sql import DIALECTS, quoted

MOST_COLUMNS = 15
"""That are tried one by one."""
TRIES = 5
"""Cells of a column that are tried, about."""
MOST_CELLS = 15_000
"""Of all rows that are tried: of a wide table fewer columns are tried one by one, as databases take their time."""
CLOSE = 1e-12
"""Of the size of what is summed up."""

HAS_EXP = "SELECT 1 FROM pragma_function_list WHERE name = 'exp'"

Row = Mapping[str, Any]
Found = list[dict[str, Any]]


class Answer(NamedTuple):
    """What is said of one row; None where it is refused."""

    label: Any
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    size: float = 1.0
    """Σ|wⱼxⱼ|: what rounding is in proportion to."""


def matrix_of(model: Model, row: Row, unseen: Literal["error", "reference"]) -> Floats:
    """A row of X from cells; of a model of a matrix every column is a number."""
    encoding = model.encoding or Encoding(tuple(Column(name, "number") for name in model.columns))
    if model.encoding is None and model.rule.takes_missing:
        gaps = [row[name] is None or row[name] != row[name] for name in model.columns]
        X = encoding.matrix(Columns({name: [0.0 if gap else row[name]]
                                     for name, gap in zip(model.columns, gaps, strict=True)}))  # fmt: skip
        return np.where(gaps, np.nan, X)
    return encoding.matrix(Columns({name: [cell] for name, cell in row.items()}), unseen)


def trial_rows(model: Model) -> list[dict[str, Any]]:
    """The rows that its file keeps; then typical, one column changed, all changed, missing, unseen.

    No training row need have had these cells.
    """
    columns = columns_of(model)
    names = [column.name for column in columns]
    tried = {column.name: _cells(column, model) for column in columns}
    base = {name: cells[0] for name, cells in tried.items()}
    step = max(1, len(columns) // MOST_COLUMNS, len(columns) ** 2 * TRIES // MOST_CELLS)
    rows = [dict(zip(names, each.row(len(names)), strict=True)) for each in examples_of(model)]
    rows.append(base)
    for column in columns[::step]:
        rows += [{**base, column.name: cell} for cell in tried[column.name][1:]]
    known = {name: cells[: len(cells) - (2 if columns[j].kind == "category" else 1)]
             for j, (name, cells) in enumerate(tried.items())}  # fmt: skip
    for k in range(8):
        rows.append({name: cells[(k * (j + 1) + j) % len(cells)] for j, (name, cells) in enumerate(known.items())})
    return rows


def _cells(column: Column, model: Model) -> list[Any]:
    """The typical cell first, what is missing or unseen last."""
    if column.kind == "category":
        few = list(dict.fromkeys([*column.levels[:3], column.levels[-1]]))
        strange = "no such level"
        while strange in column.levels:
            strange += "!"
        return [*few, strange, None]
    middle = column.center if column.fill is None else float(column.fill)
    wide = column.scale
    facts, names = model.training, model.columns
    if column.name in names and model.feature_map is None and len(facts.get("deviations") or ()) == len(names):
        j = names.index(column.name)
        wide = column.scale * float(facts["deviations"][j])
        middle = column.center + column.scale * float(facts["means"][j])
    return [middle, middle - wide, middle + 1.5 * wide, middle + 40 * wide, None]


def answers_of(
    model: Model, rows: Sequence[Row], unseen: Literal["error", "reference"], probabilities: bool
) -> list[Answer | None]:
    """What the model itself says of each row."""
    return [_answer(model, row, unseen, probabilities) for row in rows]


def _answer(model: Model, row: Row, unseen: Any, wanted: bool) -> Answer | None:
    try:
        X = matrix_of(model, row, unseen)
        scores = np.atleast_1d(model.scores(X)[0])
    except ValueError:  # TableError is one
        return None
    p = model.probabilities(X) if wanted else None
    rule = model.rule.linear() if model.rule.kind != "naive bayes" else None
    made = X if model.feature_map is None else model.feature_map.expand(X)
    size = 1.0
    if rule is not None and rule.weights.shape[-1] == made.shape[1]:
        size += float((np.abs(made) @ np.abs(np.atleast_2d(rule.weights)).T).max())
    elif model.rule.kind == "naive bayes":
        size += _size_of_sums(model.rule, X)
    else:
        size += float(np.abs(scores).max())
    label = model.labels(X)[0].item()
    return Answer(label, tuple(scores.tolist()), () if p is None else tuple(p[0].tolist()), size)


def _size_of_sums(rule: Any, X: Floats) -> float:
    """max over classes of Σⱼ (|cₖⱼ| + |aₖⱼzⱼ| + |qₖⱼ|zⱼ²)."""
    p = rule.scorer.parameters
    z = np.nan_to_num(rule.scorer.families.cut(block_of(X)).dense() - p.centre)
    return float((np.abs(p.constant).sum(axis=1) + np.abs(z) @ np.abs(p.linear).T + z**2 @ np.abs(p.square).T).max())


def difference(program: Program, rows: Sequence[Row], own: Sequence[Answer | None], found: Sequence[Any]) -> str:
    """A sentence about the first row of which an export says something else; empty if there is none."""
    for row, expected, answer in zip(rows, own, found, strict=True):
        if not _agree(program, expected, answer):
            return f"Of the row {dict(row)!r} the model says {expected!r}, and the export {answer!r}."
    return ""


def _agree(program: Program, expected: Answer | None, answer: Mapping[str, Any]) -> bool:
    values = [answer[title] for title in (*program.score_titles, *program.probability_titles)]
    if expected is None:
        empty = answer["label"] in (None, "") or answer["label"] != answer["label"]
        return empty and all(value is None or value == "" or value != value for value in values)
    told = (*expected.scores, *expected.probabilities)
    near = CLOSE * expected.size
    if any(
        value is None or value == "" or not abs(value - own) <= near for value, own in zip(values, told, strict=True)
    ):
        return False
    return _same_label(expected.label, answer["label"]) or _tie(expected)


def _same_label(own: Any, found: Any) -> bool:
    return bool(own == found) or str(own) == str(found)


def _tie(expected: Answer) -> bool:
    """Whether rounding may decide."""
    s = expected.scores
    margin = abs(s[0]) if len(s) == 1 else float(np.diff(np.sort(s))[-1])
    return margin <= 2 * CLOSE * expected.size or not math.isfinite(margin)


# ------------------------------------------------------------------------------------------------------------- running


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
    database, failure = _database(dialect)
    try:
        database.execute(f"CREATE TABLE {quoted(table)} ({columns})")
        database.execute("BEGIN")  # row by row on its own is slow where there are many columns
        database.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", cells)  # noqa: S608
        database.execute("COMMIT")
        if dialect == "sqlite" and "exp(" in str(text) and not database.execute(HAS_EXP).fetchall():
            raise NotRunError("It was not run here: this SQLite was built without the function exp.")
        answer = database.execute(text)
        titles = [each[0] for each in answer.description]
        found = [dict(zip(titles, line, strict=True)) for line in answer.fetchall()]
    except failure as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise CannotExportError(
            f"{DIALECTS[dialect].title} cannot run the query, so it is not given: {said}."
        ) from None
    finally:
        database.close()
    return [{key.removeprefix(prefix): value for key, value in line.items()} for line in found]


def _database(dialect: str) -> tuple[Any, type[Exception]]:
    """A connection to a database in memory, and what its errors are."""
    if dialect == "sqlite":
        import sqlite3

        return sqlite3.connect(":memory:"), sqlite3.Error
    if find_spec("duckdb") is None:
        raise NotRunError("It was not run here: DuckDB is not installed.")
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1}), duckdb.Error


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
