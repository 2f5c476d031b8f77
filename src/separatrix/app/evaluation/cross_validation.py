"""Cross-validation: every row is predicted by a model that has not seen it. It takes functions and knows no learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats, Indices
from .predictions import Predictions


def folds(
    truth: Indices, k: int, *, seed: int = 0, groups: Indices | None = None, classes: Sequence[Any] = ()
) -> Indices:
    """The fold of each row, 0 … k − 1: each class spread evenly, and the rows of a group together.

    The same truth, groups, k and seed give the same folds.
    """
    truth = np.asarray(truth, dtype=np.intp)
    _check(truth, k, groups, classes)
    random = np.random.default_rng(seed)
    if groups is None:
        return _by_rows(truth, k, random)
    return _by_groups(truth, np.unique(np.asarray(groups), return_inverse=True)[1], k, random)


def _by_rows(truth: Indices, k: int, random: np.random.Generator) -> Indices:
    """The rows of each class in random order are dealt out in turn, going on where the class before ended."""
    order = random.permutation(len(truth))
    order = order[np.argsort(truth[order], kind="stable")]
    found = np.empty(len(truth), dtype=np.intp)
    found[order] = np.arange(len(truth)) % k
    return found


def _by_groups(truth: Indices, groups: Indices, k: int, random: np.random.Generator) -> Indices:
    """Large groups first, each to the fold that it brings nearest to its even share of every class."""
    classes = int(truth.max()) + 1
    counts = np.bincount(groups * classes + truth, minlength=(groups.max() + 1) * classes).reshape(-1, classes)
    share = np.maximum(counts.sum(axis=0), 1) / k
    order = random.permutation(len(counts))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    filled, empty, home = np.zeros((k, classes)), np.ones(k, bool), np.empty(len(counts), dtype=np.intp)
    left = len(counts)
    for group in order.tolist():
        after = (((filled + counts[group]) / share) ** 2 - (filled / share) ** 2).sum(axis=1)
        # As many groups are left as folds are empty: each of them gets one, so that no fold stays empty.
        after = np.where(empty, after, np.inf) if left <= empty.sum() else after
        fold = int(after.argmin())
        filled[fold] += counts[group]
        empty[fold] = False
        home[group] = fold
        left -= 1
    return home[groups]


def _check(truth: Indices, k: int, groups: Indices | None, classes: Sequence[Any]) -> None:
    units = len(truth) if groups is None else len(np.unique(groups))
    what = "rows" if groups is None else "groups"
    if k < 2 or k > units:
        raise SettingError("folds", k, f"give from 2 to {units} folds.", f"{k} folds of {units} {what} cannot be;")
    for place in np.unique(truth).tolist():
        own = truth == place
        count = int(own.sum()) if groups is None else len(np.unique(groups[own]))
        if count < 2:
            name = repr(classes[place]) if classes else f"number {place}"
            raise DataError(
                f"The class {name} is in one of the {what} only: the fold that holds it out would be learnt without "
                f"that class. Give more {what} of it, or leave it out."
            )


# ---------------------------------------------------------------------------------------------------------- predictions


class Answers(NamedTuple):
    """What a model answers for rows: classes by their places, scores and probabilities as in `Predictions`."""

    chosen: Indices
    scores: Floats | None = None
    probabilities: Floats | None = None


Learn = Callable[[Indices, Indices], Answers]
"""From the rows to learn from and the rows to answer for (their numbers), to the answers for the latter."""


class Failure(NamedTuple):
    """A fold that gave no answers, and what was raised."""

    fold: int
    error: Exception

    @property
    def sentence(self) -> str:
        """What was said."""
        return str(self.error) or type(self.error).__name__


class Remark(NamedTuple):
    """What was warned of while learning, in the words of the first fold, and in how many folds."""

    warning: Warning | str
    folds: int

    def __str__(self) -> str:
        return self.after(str(self.warning))

    def after(self, text: str) -> str:
        """A text, and in how many folds it was so."""
        return f"{text} (So in {self.folds} folds.)" if self.folds > 1 else text


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The out-of-fold predictions of a learner; None where a fold failed."""

    predictions: Predictions | None
    failures: tuple[Failure, ...] = ()
    remarks: tuple[Remark, ...] = ()
    """What was warned of while learning, each kind once."""


@dataclass(frozen=True, eq=False)
class Task:
    """The rows, their classes and their folds: the same for every learner."""

    classes: tuple[Any, ...]
    truth: Indices
    fold: Indices
    weights: Floats | None = None
    clusters: Indices | None = None
    positive: int = 1

    @property
    def count(self) -> int:
        """How many folds there are."""
        return int(self.fold.max()) + 1

    def parts(self) -> Iterator[tuple[int, Indices, Indices]]:
        """Of each fold its number, the rows to learn from and the rows held out."""
        for fold in range(self.count):
            held = self.fold == fold
            yield fold, np.flatnonzero(~held), np.flatnonzero(held)


def cross(task: Task, learn: Learn, after: Callable[[int], None] = lambda fold: None) -> CrossValidation:
    """Learn and answer once a fold; `after` is told of each fold that is done. Ctrl-C is not held up.

    An error of a learner ends its run: rows that it has no answers for would make it look better or worse than it is.
    """
    n, failures = len(task.truth), []
    said: dict[object, Remark] = {}
    chosen, scores, probabilities = np.zeros(n, dtype=np.intp), _Column(n), _Column(n)
    for fold, rows, held in task.parts():
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answers = learn(rows, held)
        except Exception as error:  # any error of any learner is reported, none is passed over
            failures.append(Failure(fold, error))
            break
        for key, warning in {_kind(one): one.message for one in reversed(caught)}.items():
            first, before = said.get(key, Remark(warning, 0))
            said[key] = Remark(first, before + 1)
        chosen[held] = answers.chosen
        scores.put(held, answers.scores)
        probabilities.put(held, answers.probabilities)
        after(fold)
    remarks = tuple(said.values())
    if failures:
        return CrossValidation(None, tuple(failures), remarks)
    found = Predictions(
        task.classes, task.truth, chosen, scores.array, probabilities.array, task.weights, task.clusters, task.count,
        task.positive, task.fold,
    )  # fmt: skip
    return CrossValidation(found, (), remarks)


def _kind(warning: warnings.WarningMessage) -> object:
    """Warnings of a class of their own say the same of every fold, with other numbers; others are told by text."""
    own = warning.category.__module__ != "builtins"
    return warning.category if own else str(warning.message)


def baseline(task: Task) -> Learn:
    """The shares of the classes in the rows learnt from, the same answer for every row: what any model must beat."""

    def learn(rows: Indices, held: Indices) -> Answers:
        w = None if task.weights is None else task.weights[rows]
        shares = np.bincount(task.truth[rows], w, len(task.classes)).astype(np.float64)
        shares /= shares.sum()
        return Answers(np.full(len(held), int(shares.argmax())), None, np.tile(shares, (len(held), 1)))

    return learn


class _Column:
    """An answer for each row, filled fold by fold; none at all, if a fold has none."""

    def __init__(self, rows: int) -> None:
        self._rows, self._found, self.array = rows, True, None

    array: Floats | None

    def put(self, held: Indices, given: Floats | None) -> None:
        if given is None or not self._found:
            self._found, self.array = False, None
            return
        if self.array is None:
            self.array = np.empty((self._rows, *given.shape[1:]))
        self.array[held] = given
