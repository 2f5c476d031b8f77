"""Rows that a file keeps with their answers: they are made up, and answered again whenever the model is read.

None is taken from the training data. Each cell is made of what the file holds anyway: means and deviations, what
stands for missing values, levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data.block import block_of
from ...numerics.arrays import Floats
from ..tables.columns import Column
from ..tables.errors import TableError
from ..tables.table import Columns
from .document import ModelFileError, Part, shown
from .model import Model
from .rules import Linear, Rule, mapped

Cell = float | int | str | None
WIDE = 1000
"""Columns of a row that is written out; of a wider one so many cells are, and the others are zero."""
MOST = 100
"""Rows that a file may hold: each takes its time."""
AWAY = 2.0
"""Deviations from the mean of an extreme number."""
CLOSE = 1e-12
"""How near the answers must be, relative to the terms that they are sums of."""
CLOSE_CURVED = 1e-9
"""How near those of kernels and of Gaussians with covariances of their own must be, relative to the scores: their sums
cancel, and their factors may be ill conditioned."""


@dataclass(frozen=True)
class Example:
    """A row and what the model says of it."""

    name: str
    """What it stands for: 'typical', 'low', 'high', 'mixed', 'missing'."""
    columns: tuple[int, ...] | None
    """The places of the cells among the columns of the table, where the others are zero; None: all in order."""
    cells: tuple[Cell, ...]
    """As they stand in a table: numbers, levels; None is missing."""
    label: Any
    scores: tuple[float, ...]
    """One of two classes, else one for each."""
    probabilities: tuple[float, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """What a file keeps."""
        return {"name": self.name, "columns": None if self.columns is None else list(self.columns),
                "cells": list(self.cells), "label": self.label, "scores": list(self.scores),
                "probabilities": None if self.probabilities is None else list(self.probabilities)}  # fmt: skip

    def row(self, width: int) -> tuple[Cell, ...]:
        """All cells, of a table with so many columns."""
        if self.columns is None:
            return self.cells
        found: list[Cell] = [0.0] * width
        for place, cell in zip(self.columns, self.cells, strict=True):
            found[place] = cell
        return tuple(found)


class Values(NamedTuple):
    """What a column may hold: the cells of rows that are typical, low, high; and whether one may be missing."""

    typical: Cell
    low: Cell
    high: Cell
    gaps: bool = False


# ------------------------------------------------------------------------------------------------------------ making up


def examples_of(model: Model) -> tuple[Example, ...]:
    """Rows for this model, the same for the same model: what it cannot score is left out."""
    width, places = len(model.columns), None
    if model.encoding is None and width > WIDE:  # in a table a level has no zero
        places = tuple(range(0, width, -(-width // WIDE)))
    chosen = _values(model, range(width) if places is None else places)
    ways: dict[str, Callable[[int, Values], Cell]] = {
        "typical": lambda j, each: each.typical,
        "low": lambda j, each: each.low,
        "high": lambda j, each: each.high,
        "mixed": lambda j, each: each.low if j % 2 else each.high,
    }
    if any(each.gaps for each in chosen):
        ways["missing"] = lambda j, each: None if each.gaps else each.typical
    found = []
    for name, way in ways.items():
        cells = tuple(way(j, each) for j, each in enumerate(chosen))
        example = Example(name, places, cells, None, (), None)
        try:
            X = matrix_of(model, (example,))
            if np.isnan(X).all():
                continue
            answered = _answer(model, X)
        except ValueError:  # numbers that a family does not know, or scores that overflow
            continue
        found.append(Example(name, places, cells, *answered[0]))
    return tuple(found)


def matrix_of(model: Model, examples: tuple[Example, ...]) -> Floats:
    """Rows as the model reads them."""
    if model.encoding is None:
        rows = [each.row(len(model.columns)) for each in examples]
        return np.array([[np.nan if cell is None else cell for cell in row] for row in rows], np.float64)
    names = [column.name for column in model.encoding.columns]
    rows = [each.row(len(names)) for each in examples]
    return model.encoding.matrix(Columns({name: [row[j] for row in rows] for j, name in enumerate(names)}))


def _answer(model: Model, X: Floats) -> list[tuple[Any, tuple[float, ...], tuple[float, ...] | None]]:
    scores = model.scores(X).reshape(len(X), -1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what comes of it is looked at
        P = model.probabilities(X)
    if P is not None and not np.isfinite(P).all():
        raise ValueError("The probabilities are not finite.")
    return [
        (label, tuple(s), None if P is None else tuple(P[i].tolist()))
        for i, (label, s) in enumerate(zip(model.labels(X).tolist(), scores.tolist(), strict=True))
    ]


def _values(model: Model, places: Sequence[int]) -> list[Values]:
    """Of the columns of the table; or of these columns of X, where there is no table."""
    means, deviations = (_spread(model, name) for name in ("means", "deviations"))
    if model.encoding is not None:
        return [_of_column(column, means, deviations) for column in model.encoding.columns]
    names = [model.columns[place] for place in places]
    made = [_numbers(means.get(name, 0.0), deviations.get(name, 1.0)) for name in names]
    allowed, known = getattr(model.rule, "allowed", None), _known_levels(model.rule)
    if allowed is None:
        return made
    made = [known.get(j) or _inside(each, *allowed[j]) for j, each in zip(places, made, strict=True)]
    return [each._replace(gaps=j % 2 == 1) for j, each in enumerate(made)]  # a number that is missing adds nothing


def _spread(model: Model, name: str) -> dict[str, float]:
    numbers = model.training.get(name)
    if model.feature_map is not None or numbers is None or len(numbers) != len(model.columns):
        return {}
    return dict(zip(model.columns, numbers.tolist() if isinstance(numbers, np.ndarray) else numbers, strict=True))


def _of_column(column: Column, means: dict[str, float], deviations: dict[str, float]) -> Values:
    gaps = column.fill is not None
    if column.kind == "category":
        return Values(column.levels[0], column.levels[len(column.levels) // 2], column.levels[-1], gaps)
    if (column.center, column.scale) != (0.0, 1.0):
        return _numbers(column.center, column.scale)._replace(gaps=gaps)
    mean = means.get(column.name, float(column.fill) if column.fill is not None else 0.0)
    return _numbers(mean, deviations.get(column.name, abs(mean) / 2 or 1.0))._replace(gaps=gaps)


def _numbers(mean: float, deviation: float) -> Values:
    """x̄ and x̄ ± 2s, of four digits: no more is told of the data than that."""
    ends = (mean, mean - AWAY * deviation, mean + AWAY * deviation)
    size = max(abs(each) for each in ends)
    if not 1e-290 < size < 1e290:
        return Values(0.0, -1.0, 1.0)
    digits = 3 - math.floor(math.log10(size))
    typical, low, high = (round(each, digits) for each in ends)
    return Values(typical, low, high)


def _inside(each: Values, low: float | None, high: float | None, whole: bool) -> Values:
    """What the family of a column knows."""
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    numbers = [round(float(x)) if whole else float(x) for x in each[:3] if isinstance(x, float)]
    typical, least, most = (float(min(max(x, ends[0]), ends[1])) for x in numbers)
    return Values(typical, least, most)


def _known_levels(rule: Rule) -> dict[int, Values]:
    scorer = getattr(rule, "scorer", None)
    tables = {} if scorer is None else scorer.parameters.tables
    return {
        j: Values(float(each.values[0]), float(each.values[len(each.values) // 2]), float(each.values[-1]))
        for j, each in tables.items()
    }


# ------------------------------------------------------------------------------------------------------------- reading


def examples_read(part: Part, model: Model) -> tuple[Example, ...]:
    """The rows of a document, checked."""
    rows = part.items()
    if len(rows) > MOST:
        raise part.fail(f"it has {len(rows)} rows; up to {MOST} are answered again.")
    return tuple(_example(each, model) for each in rows)


def _example(part: Part, model: Model) -> Example:
    part.fields("name", "columns", "cells", "label", "scores", "probabilities")
    width, K = len(model.columns if model.encoding is None else model.encoding.columns), len(model.classes)
    places = None
    if part.has("columns"):
        places = tuple(part["columns"].integers(None, least=0, most=width - 1).tolist())
        if len(set(places)) < len(places):
            raise part["columns"].fail("a column is there twice.")
    cells = _cells(part["cells"])
    if len(cells) != (width if places is None else len(places)):
        raise part["cells"].fail(f"it has {len(cells)} entries; {width if places is None else len(places)} are needed.")
    label, known = part["label"].value, dict(zip(map(repr, model.classes), model.classes, strict=True))
    if repr(label) not in known:
        raise part["label"].fail(f"it is {shown(label)}, which is none of the classes.")
    scores = tuple(part["scores"].floats(1 if K == 2 else K).tolist())
    P = tuple(part["probabilities"].floats(K).tolist()) if part.has("probabilities") else None
    return Example(part["name"].text(), places, cells, label, scores, P)


def _cells(part: Part) -> tuple[Cell, ...]:
    if isinstance(part.value, np.ndarray):
        return tuple(part.floats(None).tolist())
    for each in part.items():
        if each.value is not None and type(each.value) not in (int, float, str):
            raise each.fail(f"it is {shown(each.value)}; a number, a text or null is needed.")
    return tuple(part.value)


# ----------------------------------------------------------------------------------------------------------- once more


def answer_again(model: Model, examples: tuple[Example, ...], where: str) -> None:
    """Refuse a model that does not answer its rows as it did when it was written."""
    for place, example in enumerate(examples):
        here = f"{where}[{place}]"
        try:
            X = matrix_of(model, (example,))
            (label, scores, P) = _answer(model, X)[0]
        except TableError as error:
            raise ModelFileError(f"the model cannot read this row: {error}", where=here) from None
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ModelFileError(f"the model cannot score this row: {error}", where=here) from None
        room = _room(model, X, example)
        tied = len(scores) == 1 and abs(example.scores[0]) <= room
        tied |= len(scores) > 1 and sum(s >= max(example.scores) - 2 * room for s in example.scores) > 1
        pairs = list(zip(scores, example.scores, strict=True))
        if P is not None and example.probabilities is not None:
            pairs += zip(P, example.probabilities, strict=True)
        off = max((abs(a - b) for a, b in pairs), default=0.0)
        if off > room or (P is None) != (example.probabilities is None) or (label != example.label and not tied):
            raise ModelFileError(
                f"the model does not answer the stored row {example.name!r} as it did when it was written: it says "
                f"{shown(label)} where it said {shown(example.label)}, and a number is off by {off:.3g}. The file does "
                "not fit this Separatrix, or its numbers were changed: save the model again.",
                where=here,
            )


def _room(model: Model, X: Floats, example: Example) -> float:
    """How far rounding may take an answer."""
    size = _size(model.rule, mapped(X, model.feature_map))
    curved = any(kind in ("kernel", "quadratic") for kind in _kinds(model.rule))
    return (CLOSE_CURVED if curved else CLOSE) * max(1.0, size, *(abs(score) for score in example.scores))


def _kinds(rule: Rule) -> list[str]:
    return [rule.kind, *(each.rule.kind for each in getattr(rule, "members", ()))]


def _size(rule: Rule, rows: Any) -> float:
    """Σⱼ |wⱼxⱼ| + |b|, of all members of a rule together: the terms whose sum a score is."""
    members = getattr(rule, "members", ())
    if members:
        return sum(_size(each.rule, mapped(rows, each.features)) for each in members)
    if not isinstance(rule, Linear):
        return 0.0
    x = block_of(rows).dense()
    with np.errstate(over="ignore", invalid="ignore"):
        W, b = np.atleast_2d(np.abs(rule.rule.weights)), np.abs(rule.rule.intercept)
        found = float(np.max(np.abs(x) @ W.T + b, initial=0.0))
    return found if math.isfinite(found) else 0.0
