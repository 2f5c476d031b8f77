"""What a saved model says of the rows of a table. It needs NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...numerics.arrays import Floats
from ...wording import learner, setting
from ..tables.cells import Cell, cell_of
from ..tables.errors import Remedy, TableError

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
    parts = [_predict(model, X, options) for X in model.encoding.blocks(table, unseen)]
    return parts[0] if len(parts) == 1 else joined(parts) if parts else _predict(model, _no_rows(model), options)


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


def check_columns(model: Any, table: Any) -> None:
    """Every column that the model needs is there."""
    from ..tables.errors import did_you_mean

    absent = [each.name for each in model.encoding.columns if each.name not in table.names]
    if absent:
        strange = [name for name in table.names if name not in {each.name for each in model.encoding.columns}]
        more = f", and {len(absent) - 1} more are missing" if len(absent) > 1 else ""
        raise TableError(
            f"the model needs the column {absent[0]!r}, which is not there{more}", column=absent[0],
            because=did_you_mean(absent[0], strange) or f"The table has {', '.join(table.names[:12])}.",
            remedies=[Remedy("see what the model needs", "separatrix summary MODEL")],
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
