"""A few rows made of what a model knows of its columns, and whether an export answers them as the model does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ..models.examples import examples_of
from ..models.model import Model
from ..tables.columns import Column
from ..tables.encoding import Encoding
from ..tables.table import Columns
from .building import columns_of
from .program import Program

MOST_COLUMNS = 15
"""That are tried one by one."""
TRIES = 5
"""Cells of a column that are tried, about."""
MOST_CELLS = 15_000
"""Of all rows that are tried: of a wide table fewer columns are tried one by one, as databases take their time."""
CLOSE = 1e-12
"""Of the size of what is summed up."""

Row = Mapping[str, Any]


class Answered(NamedTuple):
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
) -> list[Answered | None]:
    """What the model itself says of each row."""
    return [_answer(model, row, unseen, probabilities) for row in rows]


def _answer(model: Model, row: Row, unseen: Any, wanted: bool) -> Answered | None:
    try:
        X = matrix_of(model, row, unseen)
        scores = np.atleast_1d(model.scores(X)[0])
    except ValueError:  # DataError is one
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
    return Answered(label, tuple(scores.tolist()), () if p is None else tuple(p[0].tolist()), size)


def _size_of_sums(rule: Any, X: Floats) -> float:
    """max over classes of Σⱼ (|cₖⱼ| + |aₖⱼzⱼ| + |qₖⱼ|zⱼ²)."""
    p = rule.scorer.parameters
    z = np.nan_to_num(rule.scorer.plan.cut(X) - p.centre)
    return float((np.abs(p.constant).sum(axis=1) + np.abs(z) @ np.abs(p.linear).T + z**2 @ np.abs(p.square).T).max())


def difference(program: Program, rows: Sequence[Row], own: Sequence[Answered | None], found: Sequence[Any]) -> str:
    """A sentence about the first row of which an export says something else; empty if there is none."""
    for row, expected, answer in zip(rows, own, found, strict=True):
        if not _agree(program, expected, answer):
            return f"Of the row {dict(row)!r} the model says {expected!r}, and the export {answer!r}."
    return ""


def _agree(program: Program, expected: Answered | None, answer: Mapping[str, Any]) -> bool:
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


def _tie(expected: Answered) -> bool:
    """Whether rounding may decide."""
    s = expected.scores
    margin = abs(s[0]) if len(s) == 1 else float(np.diff(np.sort(s))[-1])
    return margin <= 2 * CLOSE * expected.size or not math.isfinite(margin)
