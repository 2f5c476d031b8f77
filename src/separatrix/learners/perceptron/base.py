"""What the perceptrons share: their parameters, the run, and how it is told."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.scan.perceptron import FOREVER, TIES, Manner, NotFiniteScoreError, PerceptronState
from ...fitting.scan.readings import Reading
from ...fitting.scan.run import ORDERS, Course, run
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ...results.mistake_bound import MistakeBound
from ...results.verdict import Verdict
from ..base import LinearClassifier
from ..checks.rows import (
    check_lengths,
    checked_choice,
    checked_number,
    checked_numbers,
    checked_rows,
    not_finite,
    unchanged_on_failure,
)
from ..checks.targets import checked_targets
from ..logistic.settings import seed_of
from ..warnings import BudgetWarning
from .bound import bound_of
from .words import conclude

ROOM = 1 << 16
"""Mistakes in one stretch of the scan, where nobody wants to see each."""


class Update(NamedTuple):
    """A mistake, and the weights that it led to."""

    step: int
    """How many rows had been looked at before, over all passes."""
    row: int
    """The row of X that caused it."""
    label: Any
    """Its class."""
    rival: Any
    """The class it was taken for."""
    weights: Floats
    """After the update; of K classes K × columns."""
    intercept: Any
    mistakes: int
    """So far, this one counted."""
    passes: float


class PassRecord(NamedTuple):
    """One line of `history_`: a pass over the rows."""

    passes: float
    mistakes: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was given, checked."""

    course: Course
    classes: NDArray[Any]
    columns: tuple[str, ...]


class MistakeDriven(LinearClassifier):
    """w ← w + ηyx at every mistake: what is read off the run is the subclass's own."""

    verdict_: Verdict
    learning_rate: Any
    max_passes: Any
    order: Any
    patience: Any
    ties: Any
    init: Any
    fit_intercept: Any
    random_state: Any
    warm_start: Any
    warns: ClassVar[bool] = False
    """Whether not to have separated the classes is worth a warning."""
    resumes: ClassVar[bool] = False
    """Whether a warm start goes on as if there had been no stop."""
    watched: ClassVar[str] = "the weights"
    """What `patience` watches."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from the rows; `verdict_` says how it ended."""
        with unchanged_on_failure(self):
            for _ in self._stretches(X, y, ROOM):
                pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[Update]:
        """The same fit, update by update. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        with unchanged_on_failure(self):
            for stretch, prepared in self._stretches(X, y, 1):
                state, log, classes, unit = stretch.state, stretch.log, prepared.classes, prepared.course.unit
                if len(log):
                    two = len(state.weights) == 1
                    weights, intercept = unit * state.weights, unit * state.intercept
                    yield Update(
                        int(log.steps[-1]), int(log.rows[-1]), classes[log.own[-1]], classes[log.rival[-1]],
                        weights[0] if two else weights, float(intercept[0]) if two else intercept, state.mistakes,
                        stretch.passes,
                    )  # fmt: skip

    def stretches(self, X: Any, y: Any) -> Iterator[PassRecord]:
        """The same fit at the pace of `fit`: where it stands after every so many mistakes. Stopped, as `steps`."""
        with unchanged_on_failure(self):
            for _ in self._stretches(X, y, ROOM):
                yield self.history_[-1]

    def bound(self, u: Any = None, *, X: Any = None, y: Any = None) -> MistakeBound:
        """((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ): how many mistakes T passes over the rows can make at the most.

        R is the length of the longest row, γ a margin and D² the sum of the squares by which rows fall short of it
        under the direction u: its own margin and D = 0 if u separates the rows, else the γ that gives the least bound.
        With an intercept all of it is in the lifted space, x being (x, 1), and u holds the weights, then the intercept.
        Of K classes u is K × that, γ the least lead of a row's own class, and R √2 times as long. Without u it is the
        rule of the largest margin, where one is found (of two classes, if what was learnt separates them or the rows
        are few), else what was learnt.  [001 slides 22, 25; 000 §8.2]

        X and y are the rows that were learnt from; they need not be given right after `fit`.
        """
        return bound_of(self, u, X, y)

    def _reading(self, course: Course) -> Reading:
        return Reading(course.X, course.target, course.scanned, course.start)

    def _stretches(self, X: Any, y: Any, room: int) -> Iterator[Any]:
        began = time.perf_counter()
        prepared = self._prepare(X, y)
        course = prepared.course
        reading = self._reading(course)
        self.history_: list[PassRecord] = []
        states, passes = run(course, reading, room), 0.0
        try:
            while True:
                try:
                    stretch = next(states)
                except StopIteration as end:
                    ended = end.value
                    break
                passes = stretch.passes
                record = PassRecord(passes, stretch.mistakes, time.perf_counter() - began)
                self.history_[stretch.pass_number - 1 :] = [record]
                yield stretch, prepared
            self._keep(prepared, reading, passes, ended)
        except NotFiniteScoreError:
            raise not_finite(course.X, prepared.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._keep(prepared, reading, passes, "interrupted")
            raise
        if self.warns and not self.verdict_.ok:
            warnings.warn(str(self.verdict_), BudgetWarning, stacklevel=3)

    def _keep(self, prepared: Prepared, reading: Reading, passes: float, ended: str) -> None:
        W, b = (prepared.course.unit * each for each in reading.weights())
        self.classes_, self.n_passes_, self.n_steps_ = prepared.classes, passes, reading.state.steps
        self.coef_, self.intercept_ = W, b
        self.mistakes_: NDArray[np.int64] = np.array([record.mistakes for record in self.history_], np.int64)
        weights, intercept = (W, b) if len(W) > 1 else (W[0], float(b[0]))
        self.rule_ = LinearRule(weights, intercept, tuple(self.classes_), prepared.columns)
        self.verdict_ = conclude(prepared, self.rule_, self.mistakes_, passes, ended, self)
        self._learnt_from: Course = prepared.course

    def _learnt_course(self) -> Course:
        return self._learnt_from

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        """What is said of a run that ended without separating the classes: how it stands, what to do."""
        raise NotImplementedError

    def _prepare(self, X: Any, y: Any) -> Prepared:
        manner = checked_manner(self)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        order = checked_choice("order", self.order, tuple(ORDERS))
        rows = checked_rows(self, X, reset=True) if y is not None else checked_rows(self, X, None, reset=True)
        target, classes = checked_labels(self, y)
        check_lengths(rows, target)
        start = self._start(len(classes), rows.shape[1], manner.lifted)
        course = Course(
            rows, target, manner, start, order, seed_of(self.random_state, needed=order != "cyclic"), max_passes,
            checked_patience(self.patience),
        )  # fmt: skip
        return Prepared(course, classes, column_names(self, rows.shape[1]))

    def _start(self, classes: int, d: int, lifted: bool) -> PerceptronState:
        nothing = PerceptronState.zero(classes, d)
        shape = nothing.weights.shape
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape == shape:
            return replace(nothing, weights=self.coef_.copy(), intercept=self.intercept_.copy())
        if self.init is None:
            return nothing
        given = checked_numbers("init", self.init)
        fits = given.size in (d, d + lifted) if shape[0] == 1 else given.shape in (shape, (shape[0], d + lifted))
        if not fits or given.ndim > 2:
            each = f" for each of the {classes} classes" if classes > 2 else ""
            raise ValueError(
                f"init has {given.size} numbers in shape {given.shape}; {d} weights are needed, then the intercept if "
                f"any{each}."
            )
        given = given.reshape(shape[0], -1)
        intercept = given[:, d] if given.shape[1] > d else np.zeros(shape[0])
        return replace(nothing, weights=given[:, :d].copy(), intercept=intercept.copy())

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learnt_from" in state:  # the rows are the user's, not a part of the model
            state = {**state, "_learnt_from": without_rows(state["_learnt_from"])}
        return state


def without_rows(course: Course) -> Course:
    """The same course over rows still to be given."""
    return replace(course, X=None, target=np.empty(0, np.int64))


def checked_manner(model: Any) -> Manner:
    """How it learns, found to make sense."""
    for name in ("fit_intercept", "warm_start"):
        if not isinstance(getattr(model, name, False), bool | np.bool_):
            raise ValueError(f"{name} is {getattr(model, name)!r}; it must be True or False.")
    rate = model.learning_rate
    if not isinstance(rate, numbers.Real) or not 0 < float(rate) <= 1:
        raise ValueError(
            f"learning_rate is {rate!r}; it must lie in (0, 1]. From weights of zero it changes no mistake, only the "
            "length of the weights."
        )
    return Manner(float(rate), bool(model.fit_intercept), checked_choice("ties", model.ties, tuple(TIES)))


def checked_patience(patience: Any) -> int:
    """A whole number of steps; None is no end."""
    if patience is None:
        return FOREVER
    if checked_number("patience", patience, least=1) % 1:
        raise ValueError(f"patience is {patience!r}; it must be a whole number of steps, or None.")
    return min(int(patience), FOREVER)


def checked_labels(model: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The class of each row by its number, and the classes."""
    targets = checked_targets(model, y)
    if targets.index is None:
        raise ValueError(
            f"Unknown label type: continuous. y holds probabilities; {type(model).__name__} needs a label for each "
            "row. LogisticRegression learns from probabilities."
        )
    return np.ascontiguousarray(targets.index, dtype=np.int64), targets.classes


def column_names(model: Any, d: int) -> tuple[str, ...]:
    """The names of the columns; x0, x1, … where they have none."""
    names = getattr(model, "feature_names_in_", None)
    return _numbered(d) if names is None else tuple(map(str, names))


@lru_cache(maxsize=8)
def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(d))
