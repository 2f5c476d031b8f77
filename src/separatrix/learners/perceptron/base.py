"""What the perceptrons share: their parameters, and the run that leads to a rule and a verdict."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.rows import NONE
from ...errors import DataError, Refusal, SettingError
from ...fitting.scan.perceptron import ROOM, NotFiniteScoreError, PerceptronState
from ...fitting.scan.perceptron_scan import Course, PerceptronScan
from ...fitting.scan.run import PassRecord, Run
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ...results.mistake_log import MistakeBound, leads_of, longest, mistake_bound
from ...wording import setting
from ..base import LinearClassifier
from ..checks.rows import check_lengths, checked_rows, not_finite, rows_to_learn, set_fitted
from ..checks.settings import checked_flags, checked_numbers
from ..checks.targets import checked_targets, class_rows
from ..geometry.margin import MaxMarginClassifier
from ..warnings import BudgetWarning
from .training import Training, checked_labels, checked_passes, checked_update
from .words import conclude

# The bound on a learner's mistakes, from its training rows.

FEW_NUMBERS = 2_000_000
"""In rows of so many numbers a separating rule is looked for even where none was learnt."""


def bound_of(model: Any, u: Any, X: Any, y: Any) -> MistakeBound:
    """((R + √T D)/γ)², beside the mistakes that were made."""
    check_is_fitted(model, "rule_")
    if len(model.classes_) < 2:
        raise Refusal("Only one class has been seen so far: there is no bound on mistakes without a second.")
    course = _course(model, X, y)
    lifted, K = course.update.lifted, len(model.classes_)
    direction = _best(model, course) if u is None else _given(u, course.X.shape[1] + lifted, K)
    leads = leads_of(course.X, course.target, direction / np.linalg.norm(direction), lifted)
    R = longest(course.X, lifted) * (math.sqrt(2) if K > 2 else 1.0)
    start = math.hypot(np.linalg.norm(course.start.weights), np.linalg.norm(course.start.intercept))
    times = course.passes.visits(len(course.X), model.n_steps_)
    made = int(model.mistakes_.sum())
    return mistake_bound(leads, R, times, start, course.update.rate, made)


def _course(model: Any, X: Any, y: Any) -> Course:
    kept: Course = model._learnt_course()
    if X is None and y is None:
        if kept.X is None:
            raise Refusal("The training rows are no longer at hand: give them, bound(X=X, y=y).")
        return kept
    if X is None or y is None:
        raise DataError("bound needs both X and y, or neither.")
    rows, targets = checked_rows(model, X, reset=False), checked_targets(model, y)
    check_lengths(len(rows), len(targets))
    if targets.index is None or not np.array_equal(targets.classes, model.classes_):
        raise DataError(
            f"has the classes {targets.classes.tolist()}; this model learnt {model.classes_.tolist()}.", array="y"
        )
    return replace(kept, X=rows, target=np.ascontiguousarray(targets.index, dtype=np.int64))


def _given(u: Any, width: int, classes: int) -> Floats:
    rows = 1 if classes == 2 else classes
    direction = checked_numbers("u", u)
    if direction.size != rows * width:
        each = f" for each of the {classes} classes" if classes > 2 else ""
        raise SettingError(
            "u", u, f"{width} are needed{each}, the intercept last if there is one.", f"u has {direction.size} numbers;"
        )
    if not direction.any():
        raise SettingError("u", u, "give a direction.", "u is zero, and points nowhere:")
    return direction.reshape(rows, width)


def _best(model: Any, course: Course) -> Floats:
    """The rule of the largest margin where there is one; else what was learnt."""
    lifted = course.update.lifted
    learnt = np.column_stack([model.coef_, model.intercept_]) if lifted else model.coef_
    learnt = learnt if learnt.any() else np.ones_like(learnt)
    parted = leads_of(course.X, course.target, learnt, lifted).min() > 0
    if len(model.classes_) > 2 or not (parted or course.X.size <= FEW_NUMBERS):
        return learnt
    best = MaxMarginClassifier(fit_intercept=lifted, lifted=lifted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best.fit(course.X, course.target)
    except ValueError:  # too many columns for it: what was learnt separates the rows as well
        return learnt
    found = np.column_stack([best.coef_, best.intercept_]) if lifted else best.coef_
    if not best.verdict_.ok or not found.any():
        return learnt
    better = leads_of(course.X, course.target, found / (np.linalg.norm(found) or 1.0), lifted).min()
    return (
        found if better > leads_of(course.X, course.target, learnt / np.linalg.norm(learnt), lifted).min() else learnt
    )


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


class MistakeDrivenClassifier(LinearClassifier):
    """w ← w + ηyx at every mistake: what is read off the run is the subclass's own."""

    _learnt_from: Course
    warns: ClassVar[bool] = False
    """Whether not to have separated the classes is worth a warning."""
    resumes: ClassVar[bool] = False
    """Whether a warm start goes on as if there had been no stop."""
    watched: ClassVar[str] = "the weights"
    """What `patience` watches."""

    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        max_passes: float = 1000,
        order: str = "cyclic",
        patience: int | None = None,
        ties: str = "mistake",
        init: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.init = init
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from the rows; `verdict_` says how it ended."""
        for _ in self._run(X, y, ROOM):
            pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[Update]:
        """Fit as `fit` does, and yield each update. The attributes are set even after an early stop or Ctrl-C."""
        for training, scan, run in self._run(X, y, 1):
            state, log, classes, unit = scan.state, scan.log, training.classes, training.course.unit
            if len(log):
                two = len(state.weights) == 1
                weights, intercept = unit * state.weights, unit * state.intercept
                yield Update(
                    int(log.steps[-1]), int(log.rows[-1]), classes[log.own[-1]], classes[log.rival[-1]],
                    weights[0] if two else weights, float(intercept[0]) if two else intercept, state.mistakes,
                    run.passes,
                )  # fmt: skip

    def stretches(self, X: Any, y: Any) -> Iterator[PassRecord]:
        """Fit at the pace of `fit`, and yield where it stands now and then. It can be stopped like `steps`."""
        for _, _, run in self._run(X, y, ROOM):
            yield run.history[-1]

    def bound(self, u: Any = None, *, X: Any = None, y: Any = None) -> MistakeBound:
        """((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ): how many mistakes T passes over the rows can make at the most.

        R is the length of the longest row, γ a margin and D² the sum of the squares by which rows fall short of it
        under the direction u: its own margin and D = 0 if u separates the rows, else the γ that gives the least bound.
        With an intercept all of it is in the lifted space, x being (x, 1), and u holds the weights, then the intercept.
        Of K classes u is K × that, γ the least lead of a row's own class, and R √2 times as long. Without u it is the
        rule of the largest margin, where one is found (of two classes, if what was learnt separates them or the rows
        are few), else what was learnt.  [001 slides 22, 25; 000 §8.2]

        X and y are the training rows; right after `fit` they need not be given.
        """
        return bound_of(self, u, X, y)

    def _scan(self, course: Course) -> PerceptronScan:
        """The scan, with the reading that the rule is made of."""
        return PerceptronScan(course)

    def _run(self, X: Any, y: Any, room: int) -> Iterator[tuple[Training, PerceptronScan, Run]]:
        began = time.perf_counter()
        training = self._prepare(X, y)
        course = training.course
        scan = self._scan(course)
        run = Run(scan, course.passes, room, began)
        try:
            for _ in run:
                yield training, scan, run
            self._keep(training, scan, run)
        except NotFiniteScoreError:
            raise not_finite(course.X, training.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            run.ended = "interrupted"
            self._keep(training, scan, run)
            raise

    def _keep(self, training: Training, scan: PerceptronScan, run: Run) -> None:
        reading = scan.reading
        W, b = (training.course.unit * each for each in reading.weights())
        mistakes = np.array([record.mistakes for record in run.history], np.int64)
        weights, intercept = (W, b) if len(W) > 1 else (W[0], float(b[0]))
        rule = LinearRule(weights, intercept, tuple(training.classes), training.columns)
        verdict = conclude(training, rule, mistakes, run.passes, run.ended, self, reading)
        more = self._of_reading(training.course, reading)
        if self.warns and run.ended != "interrupted" and not verdict.ok:
            warnings.warn(BudgetWarning(verdict), stacklevel=4)
        set_fitted(
            self, training.read, classes_=training.classes, n_passes_=run.passes, n_steps_=reading.state.steps,
            coef_=W, intercept_=b, mistakes_=mistakes, history_=run.history, rule_=rule, verdict_=verdict,
            _learnt_from=training.course, **more,
        )  # fmt: skip

    def _of_reading(self, course: Course, reading: Any) -> dict[str, Any]:
        """Attributes that a subclass has of its own."""
        return {}

    def _learnt_course(self) -> Course:
        return self._learnt_from

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        """Cause and remedy of a run that did not separate the classes: how it `stands`, on how many rows it `errs`."""
        raise NotImplementedError

    def _prepare(self, X: Any, y: Any) -> Training:
        checked_flags(self, "warm_start")
        update, passes = checked_update(self), checked_passes(self)
        rows, read, columns = rows_to_learn(self, X)
        target, classes = checked_labels(self, y)
        check_lengths(len(rows), len(target))
        start = self._start(len(classes), rows.shape[1], update.lifted)
        in_memory = class_rows(rows, target, NONE).gathered().block
        return Training(Course(in_memory, target, update, start, passes), classes, columns, read)

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
            raise SettingError(
                "init", self.init, f"{d} weights are needed, then the intercept if any{each}.",
                f"{setting('init')} has {given.size} numbers in shape {given.shape};",
            )  # fmt: skip
        given = given.reshape(shape[0], -1)
        intercept = given[:, d] if given.shape[1] > d else np.zeros(shape[0])
        return replace(nothing, weights=given[:, :d].copy(), intercept=intercept.copy())

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learnt_from" in state:  # the rows are the user's, not a part of the model
            state = {**state, "_learnt_from": without_rows(state["_learnt_from"])}
        return state


def without_rows(course: Course) -> Course:
    """A course over rows that are still to be given."""
    return replace(course, X=None, target=np.empty(0, np.int64))
