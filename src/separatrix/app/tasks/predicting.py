"""What a saved model says of the rows of a table. It needs NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...numerics.arrays import Floats, Indices
from ...wording import learner, setting
from ..evaluation.predictions import Predictions
from ..tables.cells import Cell, cell_of
from ..tables.columns import Column
from ..tables.encoding import Encoding
from ..tables.errors import Remedy, TableError, did_you_mean, in_sql
from .lesson import Rows, check_all_there, groups_of, weights_of
from .places import told_of_the_table

Answered = TypeVar("Answered")

TOP = 3
"""Contributions that are named."""


@dataclass(frozen=True)
class PredictionOptions:
    """What is asked of the model beside the classes."""

    proba: bool = False
    distance: bool = False
    explain: bool = False
    threshold: float | None = None
    prefix: str = ""

    def check(self, model: Any) -> None:
        """What cannot be is said before the table is read."""
        if model.encoding is None:
            raise SettingError(
                "model", model.learner, "Use separatrix.load in Python, or fit it with separatrix fit.",
                "This model was learnt from numbers without a table: it does not know which columns they are.",
            )  # fmt: skip
        if self.threshold is None:
            return
        if len(model.classes) != 2:
            raise SettingError("threshold", self.threshold, f"it is for two classes, and this model has "
                                                            f"{len(model.classes)}.")  # fmt: skip
        if not 0 <= self.threshold <= 1:
            raise SettingError("threshold", self.threshold, "a probability is between 0 and 1.")


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """The columns that are added, and what they are made of."""

    labels: NDArray[Any]
    classes: tuple[Any, ...]
    probabilities: Floats | None
    distances: Floats | None
    explanations: list[list[tuple[Cell, float]]] | None
    prefix: str

    @property
    def columns(self) -> dict[str, Any]:
        """By their names, in order."""
        found: dict[str, Any] = {f"{self.prefix}prediction": self.labels}
        if self.probabilities is not None:
            for label, column in zip(self.classes, self.probabilities.T, strict=True):
                found[f"{self.prefix}probability of {label}"] = np.ascontiguousarray(column)
        if self.distances is not None:
            if self.distances.ndim == 1:
                found[f"{self.prefix}distance"] = self.distances
            else:
                for label, column in zip(self.classes, self.distances.T, strict=True):
                    found[f"{self.prefix}distance of {label}"] = np.ascontiguousarray(column)
        if self.explanations is not None:
            found[f"{self.prefix}because"] = [in_words(each) for each in self.explanations]
        return found

    def counts(self, classes: tuple[Any, ...]) -> dict[str, int]:
        """How often each class is predicted."""
        return {str(label): int(np.count_nonzero(self.labels == label)) for label in classes}

    def records(self) -> list[dict[str, Any]]:
        """A record for each row, for programs."""
        found = []
        for row, label in enumerate(self.labels.tolist()):
            record: dict[str, Any] = {"prediction": label}
            if self.probabilities is not None:
                record["probabilities"] = self._by_class(self.probabilities[row])
            if self.distances is not None:
                each = self.distances[row]
                record["distance"] = float(each) if each.ndim == 0 else self._by_class(each)
            if self.explanations is not None:
                record["because"] = [
                    {"name": cell.name, "value": cell.value, "contribution": size}
                    for cell, size in self.explanations[row]
                ]
            found.append(record)
        return found

    def _by_class(self, numbers: Floats) -> dict[str, float]:
        return {str(label): float(each) for label, each in zip(self.classes, numbers, strict=True)}


def cell_text(cell: Cell) -> str:
    """'age = 40', 'city = Bonn', 'age is missing'."""
    if cell.value is None:
        return cell.name
    return f"{cell.name} = {cell.value if isinstance(cell.value, str) else format(cell.value, '.6g')}"


def in_words(contributions: list[tuple[Cell, float]]) -> str:
    """'age = 40 adds 1.2; city = Bonn takes 0.3': the largest first."""
    return "; ".join(
        f"{cell_text(cell)} {'adds' if size >= 0 else 'takes'} {abs(size):.3g}" for cell, size in contributions
    )


def predict(
    model: Any, table: Any, options: PredictionOptions, unseen: Literal["error", "reference"]
) -> RowPredictions:
    """The rows of a table, as the model sees them."""
    check_columns(model, table)
    parts = _answers(model, table, unseen, lambda X: _predict(model, X, options))
    return parts[0] if len(parts) == 1 else joined(parts) if parts else _predict(model, _no_rows(model), options)


def _answers(model: Any, table: Any, unseen: Any, answer: Callable[[Floats], Answered]) -> list[Answered]:
    """What the model answers for the rows of a table, some at a time; what it refuses is told of the table."""
    found, start = list[Answered](), 0
    encoding = encoding_of(model)
    for X in encoding.blocks(table, unseen):
        with told_of_the_table(Rows(table, range(start, start + len(X))).place, encoding):
            found.append(answer(X))
        start += len(X)
    return found


def _no_rows(model: Any) -> Floats:
    return np.empty((0, len(model.encoding.names)))


def joined(parts: list[RowPredictions]) -> RowPredictions:
    """The rows of one part after those of another."""
    first = parts[0]

    def of(name: str) -> Any:
        return None if getattr(first, name) is None else np.concatenate([getattr(each, name) for each in parts])

    because = None if first.explanations is None else [row for each in parts for row in each.explanations or ()]
    return replace(
        first, labels=of("labels"), probabilities=of("probabilities"), distances=of("distances"), explanations=because
    )


def _predict(model: Any, X: Floats, options: PredictionOptions) -> RowPredictions:
    probabilities: Any = None
    if options.proba or options.threshold is not None:
        probabilities = model.probabilities(X)
        if probabilities is None:
            name = "proba" if options.proba else "threshold"
            raise SettingError(name, getattr(options, name),
                               f"leave {setting(name)} out, or fit {learner('LogisticRegression')}.",
                               f"{model.learner} has no probabilities:")  # fmt: skip
    labels = np.asarray(model.labels(X))
    if options.threshold is not None:
        labels = model.label_array[(probabilities[:, 1] >= options.threshold).astype(np.intp)]
    distances = _distances(model, X) if options.distance else None
    explanations = _explanations(model, X, labels) if options.explain else None
    return RowPredictions(
        labels, tuple(model.classes), probabilities if options.proba else None, distances, explanations, options.prefix
    )


def encoding_of(model: Any) -> Encoding:
    """How the model reads a table: one that was learnt without a table, the columns of its names as numbers."""
    return model.encoding or Encoding(tuple(Column(name, "number") for name in model.columns))


def check_columns(model: Any, table: Any) -> None:
    """Every column that the model needs is there."""
    needed = [each.name for each in encoding_of(model).columns]
    absent = [name for name in needed if name not in table.names]
    if absent:
        strange = [name for name in table.names if name not in set(needed)]
        more = f", and {len(absent) - 1} more are missing" if len(absent) > 1 else ""
        raise TableError(
            f"the model needs the column {absent[0]!r}, which is not there{more}", column=absent[0],
            because=did_you_mean(absent[0], strange) or f"The table has {', '.join(table.names[:12])}.",
            remedies=[Remedy("see what the model needs", call="model.encoding.columns")],
        )  # fmt: skip


def _distances(model: Any, X: Floats) -> Floats:
    found = model.distances(X)
    if found is None:
        raise SettingError("distance", True, "it has no distances.", f"The boundary of {model.learner} is no plane:")
    return np.asarray(found)


def _explanations(model: Any, X: Floats, labels: NDArray[Any]) -> list[list[tuple[Cell, float]]]:
    """The largest contributions to the score of the class that is predicted."""
    if model.rule.linear() is None:
        raise not_linear(model)
    sizes = model.contributions(X)
    if sizes.ndim == 2:
        sizes = sizes * np.where(labels == model.classes[0], -1.0, 1.0)[:, None]
    else:
        places = {label: k for k, label in enumerate(model.classes)}
        sizes = sizes[np.arange(len(X)), [places[label] for label in labels.tolist()]]
    return by_column(model, X, sizes, most=TOP)


def not_linear(model: Any) -> SettingError:
    """No column of this model has a contribution of its own."""
    return SettingError("explain", True, "no column has a contribution of its own.",
                        f"{model.learner} is not linear in its columns:")  # fmt: skip


def by_column(model: Any, X: Floats, sizes: Floats, *, most: int) -> list[list[tuple[Cell, float]]]:
    """What each column of the table adds in each row, the largest first; of features that were made, each of them."""
    sizes, made, parts = model.by_column(sizes), X, model.parts
    if not parts:
        from ...data.mapped import MappedRows

        made = MappedRows(X, model.feature_map).dense()
    order = np.argsort(-np.abs(sizes), axis=1, kind="stable")[:, :most]

    def cell(row: int, j: int) -> Cell:
        return cell_of(parts[j], made[row]) if parts else Cell(model.features[j], float(made[row, j]))

    return [
        [(cell(row, j), float(sizes[row, j])) for j in own if sizes[row, j] or most > TOP]
        for row, own in enumerate(order.tolist())
    ]


# What a saved model answers for the rows of a table whose classes are known.


def judge(
    model: Any, table: Any, *, target: str, weights: str | None = None, group: str | None = None,
    positive: str | None = None, unseen: Literal["error", "reference"] = "error",
) -> Predictions:  # fmt: skip
    """The model's answers for all rows, and the truth."""
    names = tuple(map(str, model.classes))
    if not table.rows:
        raise TableError("the table has no rows", remedies=[Remedy("let more rows through", "where", "…")])
    truth = truth_of(table, target, names)
    check_columns(model, table)

    def answer(X: Any) -> tuple[Any, ...]:
        return np.asarray(model.labels(X)).astype(str), _scores(model, X), model.probabilities(X)

    answers = _answers(model, table, unseen, answer)
    said, scores, probabilities = (_together(each) for each in zip(*answers, strict=True))
    places = {label: place for place, label in enumerate(names)}
    labels, which = np.unique(said, return_inverse=True)
    chosen = np.array([places[label] for label in labels.tolist()], dtype=np.intp)[which]
    return Predictions(
        names, truth, chosen, scores, probabilities,
        None if weights is None else weights_of(table, weights),
        None if group is None else groups_of(table, group).astype(np.intp),
        positive=1 if positive is None else positive_of(positive, names),
    )  # fmt: skip


def _together(parts: tuple[Any, ...]) -> Any:
    """The answers for some rows after those for others; None where the model gives none."""
    return None if parts[0] is None else parts[0] if len(parts) == 1 else np.concatenate(parts)


def truth_of(table: Any, target: str, classes: tuple[str, ...]) -> Indices:
    """The place of each row's class among the model's; a class that the model does not know is an error."""
    codes, levels = coded = table.coded(target)
    check_all_there(table, coded, target, "label")
    known = {label: place for place, label in enumerate(classes)}
    places = np.array([known.get(level, -1) for level in levels], dtype=np.intp)
    truth: Indices = places[codes]
    strange = np.flatnonzero(truth < 0)
    if strange.size:
        row = int(strange[0])
        label = levels[codes[row]]
        raise TableError(
            f"the model does not know the class {label!r}", place=table.place(row), column=target, value=label,
            because=f"Its classes are {', '.join(classes)}; {strange.size} of {table.rows} rows are of none of them.",
            remedies=[Remedy("leave such rows out", "where", f"{in_sql(target)} IN (…)"),
                      Remedy("or name another column", "target", "COLUMN")],
        )  # fmt: skip
    return truth


def positive_of(label: str, classes: tuple[str, ...]) -> int:
    """The place of the positive class, of two."""
    if label not in classes:
        meant = f"the model has no such class. {did_you_mean(label, classes)}".rstrip()
        raise SettingError("positive", label, f"{meant} Its classes are {', '.join(classes)}.")
    if len(classes) != 2:
        raise SettingError("positive", label, f"it is for two classes, and the model has {len(classes)}: "
                                              f"{', '.join(classes)}.")  # fmt: skip
    return classes.index(label)


def at_threshold(found: Predictions, threshold: float | None) -> Predictions:
    """The predictions at another threshold, where one is given."""
    if threshold is None:
        return found
    try:
        return found.at(threshold)
    except ValueError as error:
        raise SettingError("threshold", threshold, str(error)) from None


def _scores(model: Any, X: Any) -> Any:
    """Scores that rank rows: one a row of two classes, one a class of more; others are of no use here."""
    found = model.scores(X)
    if found is None:
        return None
    scores, k = np.asarray(found, dtype=np.float64), len(model.classes)
    return scores if scores.shape == ((len(X),) if k == 2 else (len(X), k)) and np.isfinite(scores).all() else None
