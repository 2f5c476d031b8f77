"""Cross-validation of what `fit` learns: out of each fold, with the encoding learnt within it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..cli.console import table as laid_out
from ..cli.options import Talking
from ..cli.progress import shower_of
from ..cli.wording import in_options
from ..evaluation.cross_validation import Task, cross, folds
from ..evaluation.intervals import Measure
from ..evaluation.measures import measures
from ..tables.errors import Remedy, TableError
from .fold_learning import Encoded, learning
from .lesson import Lesson

if TYPE_CHECKING:
    from ..cli.fit import Asked

SHOWN = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")


class FoldDone(NamedTuple):
    """A step of the cross-validation."""

    passes: int


@dataclass(frozen=True)
class Crossing:
    """How well rows are predicted by models that have not seen them."""

    folds: int
    grouped: bool
    measures: tuple[Measure, ...]
    remarks: tuple[str, ...]

    def lines(self) -> list[str]:
        """The measures with their intervals."""
        rows = [
            [f" {each.label}", "" if each.value is None else f"{each.value:.4g}", _interval(each)]
            for each in self.measures
            if each.name in SHOWN
        ]
        kept = ", groups kept together" if self.grouped else ""
        head = [f"Predicted out of {self.folds} folds{kept}:"]
        return [*head, laid_out([" measure", "value", "95 % interval"], rows, right=(1,)), *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "folds": self.folds, "grouped": self.grouped, "measures": [each.to_dict() for each in self.measures],
            "remarks": list(self.remarks),
        }  # fmt: skip


def _interval(measure: Measure) -> str:
    if measure.low is None or measure.high is None:
        return measure.why
    return f"{measure.low:.4g} to {measure.high:.4g}"


def crossed(table: Any, lesson: Lesson, asked: Asked, count: int, talking: Talking) -> Crossing:
    """Learn and answer once a fold; the same seed, the same folds."""
    truth, classes = lesson.y.codes.astype(np.intp), tuple(lesson.y.classes.tolist())
    groups = None if lesson.groups is None else np.unique(lesson.groups, return_inverse=True)[1].astype(np.intp)
    try:
        fold = folds(truth, count, seed=asked.seed, groups=groups, classes=classes)
    except ValueError as error:
        raise TableError(str(error), remedies=[Remedy("take fewer folds", "--cv 2")]) from None
    encoded = Encoded(table, lesson, asked.missing, asked.standardise)
    shower = shower_of(talking, count, time.monotonic)
    try:
        found = cross(
            Task(classes, truth, fold, lesson.weights, groups),
            learning(encoded, lesson, asked.made),
            lambda done: shower.show(done + 1, FoldDone(done + 1)),
        )
    finally:
        shower.close()
    if found.predictions is None:
        failure = found.failures[0]
        raise TableError(f"fold {failure.fold + 1} of {count} could not be learnt: {in_options(failure.sentence)}")
    remarks = tuple(f"In the folds: {in_options(each)}" for each in found.remarks)
    return Crossing(
        count, groups is not None, measures(found.predictions, seed=asked.seed), (*encoded.remarks(), *remarks)
    )
