"""Cross-validation: every row is predicted by a model that has not seen it. It takes functions and knows no learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .predictions import Predictions

Places = NDArray[np.intp]


class Answers(NamedTuple):
    """What a model answers for rows: classes by their places, scores and probabilities as in `Predictions`."""

    chosen: Places
    scores: Floats | None = None
    probabilities: Floats | None = None


Learn = Callable[[Places, Places], Answers]
"""From the rows to learn from and the rows to answer for (their numbers), to the answers for the latter."""


class Failure(NamedTuple):
    """A fold that gave no answers, and the sentence that was said."""

    fold: int
    sentence: str


@dataclass(frozen=True, eq=False)
class Crossed:
    """The out-of-fold predictions of a learner; None where a fold failed."""

    predictions: Predictions | None
    failures: tuple[Failure, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was warned of while learning, each kind once, in the words of the first fold, and in how many folds."""


@dataclass(frozen=True, eq=False)
class Task:
    """The rows, their classes and their folds: the same for every learner."""

    classes: tuple[Any, ...]
    truth: Places
    fold: Places
    weights: Floats | None = None
    clusters: Places | None = None
    positive: int = 1

    @property
    def count(self) -> int:
        """How many folds there are."""
        return int(self.fold.max()) + 1

    def parts(self) -> Iterator[tuple[int, Places, Places]]:
        """Of each fold its number, the rows to learn from and the rows held out."""
        for fold in range(self.count):
            held = self.fold == fold
            yield fold, np.flatnonzero(~held), np.flatnonzero(held)


def cross(task: Task, learn: Learn, after: Callable[[int], None] = lambda fold: None) -> Crossed:
    """Learn and answer once a fold; `after` is told of each fold that is done. Ctrl-C is not held up.

    An error of a learner ends its run: rows that it has no answers for would make it look better or worse than it is.
    """
    n, failures = len(task.truth), []
    said: dict[object, list[str]] = {}
    chosen, scores, probabilities = np.zeros(n, dtype=np.intp), _Held(n), _Held(n)
    for fold, rows, held in task.parts():
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answers = learn(rows, held)
        except Exception as error:  # any error of any learner is reported, none is passed over
            failures.append(Failure(fold, f"{type(error).__name__}: {error}" if not str(error) else str(error)))
            break
        for key, text in {_kind(one): str(one.message) for one in reversed(caught)}.items():
            said.setdefault(key, []).append(text)
        chosen[held] = answers.chosen
        scores.put(held, answers.scores)
        probabilities.put(held, answers.probabilities)
        after(fold)
    remarks = tuple(texts[0] + (f" (So in {len(texts)} folds.)" if len(texts) > 1 else "") for texts in said.values())
    if failures:
        return Crossed(None, tuple(failures), remarks)
    found = Predictions(
        task.classes, task.truth, chosen, scores.array, probabilities.array, task.weights, task.clusters, task.count,
        task.positive, task.fold,
    )  # fmt: skip
    return Crossed(found, (), remarks)


def _kind(warning: warnings.WarningMessage) -> object:
    """Warnings of a class of their own say the same of every fold, with other numbers; others are told by text."""
    own = warning.category.__module__ != "builtins"
    return warning.category if own else str(warning.message)


def baseline(task: Task) -> Learn:
    """The shares of the classes in the rows learnt from, the same answer for every row: what any model must beat."""

    def learn(rows: Places, held: Places) -> Answers:
        w = None if task.weights is None else task.weights[rows]
        shares = np.bincount(task.truth[rows], w, len(task.classes)).astype(np.float64)
        shares /= shares.sum()
        return Answers(np.full(len(held), int(shares.argmax())), None, np.tile(shares, (len(held), 1)))

    return learn


class _Held:
    """Rows that come fold by fold; none at all, if a fold has none."""

    def __init__(self, rows: int) -> None:
        self._rows, self._found, self.array = rows, True, None

    array: Floats | None

    def put(self, held: Places, given: Floats | None) -> None:
        if given is None or not self._found:
            self._found, self.array = False, None
            return
        if self.array is None:
            self.array = np.empty((self._rows, *given.shape[1:]))
        self.array[held] = given
