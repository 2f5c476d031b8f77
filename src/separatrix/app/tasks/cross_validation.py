"""Cross-validation of what a fit learns: out of each fold, with the encoding learnt within it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...data.named import NamedRows
from ...numerics.arrays import Indices
from ..evaluation.cross_validation import Answers, CrossValidation, Learn, Task, cross, folds
from ..evaluation.intervals import Measure
from ..evaluation.measures import measures
from ..tables.encoding import Encoding, learn_encoding
from ..tables.errors import Remedy, TableError
from .lesson import Lesson, Rows
from .places import told_of_the_table

KEPT = 1 << 29
"""Bytes of encoded folds that are kept for the learners that follow."""


@dataclass(frozen=True)
class FoldMeasures:
    """How well rows are predicted by models that have not seen them."""

    folds: int
    grouped: bool
    measures: tuple[Measure, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "folds": self.folds, "grouped": self.grouped, "measures": [each.to_dict() for each in self.measures],
            "remarks": list(self.remarks),
        }  # fmt: skip


def cross_validate(
    tables: FoldTables, lesson: Lesson, make: Callable[[], Any], count: int, seed: int, after: Callable[[int], None]
) -> FoldMeasures:
    """Learn and answer once a fold, and measure the answers; the same seed gives the same folds."""
    found = cross(fold_task(lesson, count, seed), fold_learner(tables, lesson, make), after)
    if found.predictions is None:
        raise fold_failure(found, count)
    remarks = fold_remarks(tables, found)
    return FoldMeasures(count, lesson.groups is not None, measures(found.predictions, seed=seed), remarks)


def fold_task(lesson: Lesson, count: int, seed: int) -> Task:
    """The rows and their folds, the same for all learners."""
    truth, classes = lesson.y.codes.astype(np.intp), tuple(lesson.y.classes.tolist())
    groups = None if lesson.groups is None else np.unique(lesson.groups, return_inverse=True)[1].astype(np.intp)
    try:
        fold = folds(truth, count, seed=seed, groups=groups, classes=classes)
    except ValueError as error:
        raise TableError(str(error), remedies=[Remedy("take fewer folds", "cv", 2)]) from None
    return Task(classes, truth, fold, lesson.weights, groups)


def fold_failure(found: CrossValidation, count: int) -> TableError:
    """Why there are no predictions out of folds."""
    fold, error = found.failures[0]
    failed = f"fold {fold + 1} of {count} could not be learnt"
    if not isinstance(error, TableError):
        return TableError(f"{failed}: {found.failures[0].sentence}")
    return TableError(f"{failed}: {error.problem}", place=error.place, column=error.column, value=error.value,
                      because=error.because, remedies=error.remedies)  # fmt: skip


def fold_remarks(tables: FoldTables, found: CrossValidation) -> tuple[str, ...]:
    """What is to be known of the folds: levels that are new there, and what learners said."""
    return (*tables.remarks(), *(f"In the folds: {each}" for each in found.remarks))


class FoldTables:
    """The rows of a fold as numbers, by an encoding that was learnt from its training rows alone.

    What a column is was decided by all rows, as the user sees it; levels, means and scales are the fold's own. A level
    that no training row has counts as the reference: `strange` tells of how many rows.
    """

    def __init__(self, table: Any, lesson: Lesson, missing: Literal["error", "impute"], standardise: bool) -> None:
        self._table, self._lesson, self._missing, self._standardise = table, lesson, missing, standardise
        self._decisions = tuple(replace(each, levels=(), counts=()) for each in lesson.decisions)
        self._kept: dict[int, tuple[NamedRows, NamedRows, Encoding]] = {}
        self._room = KEPT
        self.strange: dict[str, int] = {}

    def parts(self, rows: Indices, held: Indices) -> tuple[NamedRows, NamedRows, Encoding]:
        """The matrices of the rows to learn from and of those held out, and how they were encoded."""
        key = int(held[0])  # folds have no row in common
        if key in self._kept:
            return self._kept[key]
        first, second = Rows(self._table, rows), Rows(self._table, held)
        encoding = learn_encoding(first, self._decisions, missing=self._missing, standardise=self._standardise)
        self._count(encoding, second)
        train, test = (NamedRows.of(encoding.matrix(each, "reference"), encoding.names) for each in (first, second))
        size = train.nbytes + test.nbytes
        if size <= self._room:
            self._room -= size
            self._kept[key] = train, test, encoding
        return train, test, encoding

    def told_of(self, rows: Indices, encoding: Encoding) -> AbstractContextManager[None]:
        """What is wrong with these rows is said of the table."""
        return told_of_the_table(Rows(self._table, rows).place, encoding, self._decisions)

    def _count(self, encoding: Any, held: Rows) -> None:
        for column in encoding.columns:
            if column.kind == "category":
                codes, levels = held.coded(column.name)
                known = np.array([level in column.levels for level in levels], dtype=bool)
                unknown = int(np.count_nonzero(~known[codes] & (codes >= 0)))
                if unknown:
                    self.strange[column.name] = self.strange.get(column.name, 0) + unknown

    def remarks(self) -> tuple[str, ...]:
        """What was done about levels that a fold's training rows lack."""
        return tuple(
            f"{count} {'row has' if count == 1 else 'rows have'} a level of {name!r} that no training row of the fold "
            "has: it is taken as the reference."
            for name, count in self.strange.items()
        )


def fold_learner(tables: FoldTables, lesson: Lesson, make: Callable[[], Any]) -> Learn:
    """Teach a new learner, and ask it."""
    places = {label: place for place, label in enumerate(lesson.y.classes.tolist())}

    def learn(rows: Indices, held: Indices) -> Answers:
        train, test, encoding = tables.parts(rows, held)
        given = () if lesson.weights is None else (lesson.weights[rows],)
        estimator = make()
        with tables.told_of(rows, encoding):
            estimator.fit(train, lesson.y[rows], *given)
        own = [places[label] for label in estimator.classes_.tolist()]
        with tables.told_of(held, encoding):
            labels, which = np.unique(np.asarray(estimator.predict(test)), return_inverse=True)
            scores, shares = (f(estimator, test, own, len(places)) for f in (_scores, _probabilities))
        return Answers(np.array([places[label] for label in labels.tolist()], dtype=np.intp)[which], scores, shares)

    return learn


def _scores(estimator: Any, test: Any, own: list[int], K: int) -> NDArray[np.float64] | None:
    """Of a fold without some class the scores are of other classes, and rank nothing."""
    if len(own) < K or not hasattr(estimator, "decision_function"):
        return None
    found = np.asarray(estimator.decision_function(test), dtype=np.float64)
    return found if found.shape == ((len(test),) if K == 2 else (len(test), K)) and np.isfinite(found).all() else None


def _probabilities(estimator: Any, test: Any, own: list[int], K: int) -> NDArray[np.float64] | None:
    """A class that the fold has not has the probability 0."""
    if not hasattr(estimator, "predict_proba"):
        return None
    found = np.zeros((len(test), K))
    found[:, own] = estimator.predict_proba(test)
    return found
