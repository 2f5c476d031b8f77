"""The quick ways to many logistic regressions of two classes over the same rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from sklearn.base import clone

from ...data import Rows
from ...data.block import Block, Dense, block_of
from ...data.frame import Frame
from ...errors import DataError
from ...fitting.coordinates import frame_of
from ...fitting.many.sampled import (
    GramLibrary,
    Rank,
    Scratch,
    chosen,
    common_frame,
    is_steerable,
    rank_of,
    rank_told,
    steered_minimum,
    varying_columns,
    with_constants,
)
from ...fitting.many.small import SmallFit, is_small
from ...fitting.problem import LBFGS, At, Outcome, Problem
from ...losses.penalty import ridge
from ...numerics.arrays import Floats, Indices
from ...numerics.threads import Map, one_blas_thread, ordered_map, thread_count
from ..base import Record
from ..checks.rows import checked_costs, new_columns, not_finite, present, rows_at
from ..checks.targets import Targets, class_costs, prior_of, rows_of
from .logistic import LogisticRegression
from .rows_of_fit import facts_among
from .training import Settings, Training, checked_settings

COMPILE_FROM = 1 << 14
"""Numbers in X from which it repays to load what is compiled."""
AT_A_TIME = 1 << 23
"""Numbers of all tasks that are worked on together."""
CLASSES = np.array([0, 1])


class Task(NamedTuple):
    """Two classes among the rows of X."""

    rows: NDArray[np.intp] | None
    """The places in X of the rows that take part, ascending; None: all of them."""
    positive: NDArray[np.bool_]
    """Of those rows: whether the row is of the second class."""


@dataclass(frozen=True)
class SideBySide:
    """What the fits share."""

    estimator: LogisticRegression
    settings: Settings
    l2: float
    X: NDArray[Any]
    cost: Floats
    columns: tuple[str, ...]
    given: dict[str, Any]
    """The estimator's parameters."""

    @classmethod
    def of(cls, estimator: LogisticRegression, X: Block, cost: Floats, names: tuple[str, ...]) -> SideBySide | None:
        """None where the estimator's own fit is the only way."""
        if not X.at_hand or X.size < COMPILE_FROM or not _plain(estimator):
            return None
        settings = checked_settings(estimator)
        if not isinstance(settings.l2, float):
            return None
        return cls(estimator, settings, settings.l2, X.dense(), cost, names, estimator.get_params(deep=False))

    def fitted(self, tasks: Sequence[Task], each: Map) -> list[LogisticRegression | None]:
        """Fitted clones; None where the quick way does not end in a proof."""
        found: list[LogisticRegression | None] = [None] * len(tasks)
        sizes = [(len(task.positive), self.X.shape[1]) for task in tasks]
        two = [k for k, task in enumerate(tasks) if task.positive.any() and not task.positive.all()]
        few = [k for k in two if is_small(*sizes[k])]
        many = [k for k in two if not is_small(*sizes[k]) and self._is_steerable(tasks[k])]
        for some, fits in ((few, self._small), (many, self._steered)):
            for k, model in zip(some, fits([tasks[k] for k in some], each), strict=True):
                found[k] = model
        return found

    # ------------------------------------------------------------------------------------------------ few columns

    def _small(self, tasks: list[Task], each: Map) -> Iterator[LogisticRegression | None]:
        """What holds the interpreter comes before and after the compiled calls, not between them.

        Threads that wait for it would wait longer than a call takes.
        """
        for batch in self._batches(tasks):
            began = time.perf_counter()
            training = [self._prepared(task) for task in batch]
            ended = list(each(_small_of, training))
            seconds = time.perf_counter() - began
            for task, (ready, varying), small in zip(batch, training, ended, strict=True):
                proved = None if small is None else small.proved(ready.problem)
                if proved is None:
                    yield None
                else:
                    records = [
                        Record(passes, value, slope, step, seconds)
                        for passes, value, slope, step in small.steps.tolist()
                    ]
                    yield self._model(task, proved, records, ready, varying)

    def _batches(self, tasks: list[Task]) -> Iterator[list[Task]]:
        """The tasks in order, some at a time: those of a batch have their rows in memory together."""
        batch: list[Task] = []
        numbers = 0
        for task in tasks:
            own = len(task.positive) * self.X.shape[1]
            if batch and numbers + own > AT_A_TIME:
                yield batch
                batch, numbers = [], 0
            batch.append(task)
            numbers += own
        if batch:
            yield batch

    # ----------------------------------------------------------------------------------------------- many columns

    def _is_steerable(self, task: Task) -> bool:
        """Every row counts, and all of them lie as the passes read them."""
        in_order = task.rows is not None or self.X.flags.c_contiguous
        return in_order and bool(self.cost.all()) and is_steerable(len(task.positive), self.X.shape[1])

    def _steered(self, tasks: list[Task], each: Map) -> Iterator[LogisticRegression | None]:
        if not tasks:
            return
        lifted = self.settings.fit_intercept
        rows = Rows.of(self.X, np.ones(len(self.X), np.int8), np.empty(0))
        library = GramLibrary(self.X, common_frame(frame_of(rows, lifted, 0)))
        library.share([part for task in tasks for part in _parts(task)], each)
        whole = self._whole(library, each) if any(task.rows is None for task in tasks) else None
        scratch = Scratch()
        yield from each(lambda task: self._steered_one(task, library, whole, scratch), tasks)

    def _whole(self, library: GramLibrary, each: Map) -> Rank:
        """The rank of all rows, which every problem of all rows shares."""
        rows = Rows.of(self.X, np.ones(len(self.X), np.int8), np.empty(0), map=each)
        found = library.of([None])
        return rank_of(rows, library.frame, found.gram / found.rows, needed=not self.l2)

    def _steered_one(
        self, task: Task, library: GramLibrary, whole: Rank | None, scratch: Scratch
    ) -> LogisticRegression | None:
        found, d = library.of(_parts(task)), self.X.shape[1]
        varying = np.arange(d)
        if self.l2 and task.rows is not None:
            varying = found.varying(lifted=self.settings.fit_intercept)
        if not varying.size:
            return None
        ready, _ = self._prepared(task, varying, scratch)
        frame, gram = library.frame, found.gram / found.rows
        if varying.size < d:
            kept = np.append(varying, d) if frame.lifted else varying
            frame, gram = Frame(frame.center[varying], frame.scale[varying], frame.lifted), gram[np.ix_(kept, kept)]
        rank = whole if task.rows is None else rank_told(gram) if self.l2 else None
        rank = rank or rank_of(ready.problem.rows, frame, gram, needed=True)
        if rank.dependence is not None and not self.l2:
            return None
        try:
            ended = steered_minimum(ready.problem, frame, gram, rank)
        except LinAlgError:  # numbers of such a size that the fit alone must look closer
            return None
        if ended is None or ended[0].status != "optimal":
            return None
        records = [Record(p.passes, p.value, p.gradient_norm, p.step, seconds) for p, seconds in ended[1]]
        return self._model(task, ended[0], records, ready, varying)

    # -------------------------------------------------------------------------------------------------- both

    def _prepared(
        self, task: Task, varying: NDArray[np.intp] | None = None, scratch: Scratch | None = None
    ) -> tuple[Training, NDArray[np.intp]]:
        """The task as the estimator's own fit prepares it, in the columns that vary; and these."""
        settings, everything = self.settings, np.arange(self.X.shape[1])
        X = chosen(self.X, task.rows, everything if varying is None else varying, scratch)
        cost = self._cost(task)
        X = present(Dense(X), cost).dense()
        if varying is None:
            varying = varying_columns(X, lifted=settings.fit_intercept) if self.l2 else everything
            X = chosen(X, None, varying)
        targets = Targets(CLASSES, task.positive.view(np.int8), None)
        factors = class_costs(self.estimator.class_weight, targets, cost)
        problem = Problem(
            rows_of(X, targets, cost, factors, compiled=True), settings.loss(2), ridge(self.l2), settings.fit_intercept,
            LBFGS, At(np.zeros(X.shape[1]), 0.0), settings.tol, settings.max_passes, 0,
        )  # fmt: skip
        prior = prior_of(self.estimator.prior, targets, cost, factors)
        read = new_columns(type(self.estimator).__name__)
        read.n_features_in_ = self.X.shape[1]
        return Training(problem, settings, targets, self.columns, factors, read, cost, prior=prior), varying

    def _cost(self, task: Task) -> Floats:
        return self.cost if task.rows is None or not self.cost.size else self.cost[task.rows]

    def _model(
        self, task: Task, outcome: Outcome, records: list[Record], training: Training, varying: NDArray[np.intp]
    ) -> LogisticRegression:
        model = self._clone()
        first = self.X[0 if task.rows is None else task.rows[0]]
        found = {"history_": records, "_facts": facts_among(training, varying, first), "_kept_rows": None}
        model._conclude(with_constants(outcome, varying, self.X.shape[1], training.problem.penalty), training, found)
        return model

    def _clone(self) -> LogisticRegression:
        """A clone; quickly, where no parameter could be changed from outside."""
        if all(each is None or isinstance(each, str | float | int) for each in self.given.values()):
            return LogisticRegression(**self.given)
        return clone(self.estimator)  # type: ignore[no-any-return]


def _parts(task: Task) -> tuple[Indices | None, ...]:
    """The rows of each class; or, where all rows take part, all of them."""
    return (None,) if task.rows is None else (task.rows[~task.positive], task.rows[task.positive])


def _small_of(training: tuple[Training, NDArray[np.intp]]) -> SmallFit | None:
    problem = training[0].problem
    n, d = problem.rows.shape
    return SmallFit.of(problem) if d and is_small(n, d) else None


def _plain(estimator: LogisticRegression) -> bool:
    """Whether the estimator asks for nothing but the minimum of a likelihood."""
    return bool(
        type(estimator) is LogisticRegression
        and estimator.objective == "likelihood"
        and estimator.features is None
        and estimator.solver in ("auto", "newton", "lbfgs")
        and isinstance(estimator.init, str)
        and estimator.init in ("least-squares", "zero")
        and not estimator.warm_start
    )


# Many logistic regressions of two classes over the same rows, fitted together.


def fit_together(
    estimator: LogisticRegression,
    X: Any,
    tasks: Sequence[Task],
    sample_weight: Any = None,
    n_threads: int | None = None,
    columns: tuple[str, ...] | None = None,
    given: Any = None,
) -> list[LogisticRegression]:
    """A clone of the estimator for each task, fitted to `X[rows]` and `positive`, several of them at a time.

    X is a block, an array of floats or CSR; `columns` are the names by which verdicts and errors call its columns, and
    `given` is X as the user has it, a data frame say, for the fits that are made alone. Each fit is the one that the
    estimator would make by itself, but for the way to the minimum; where that way does not end in a proved minimum, the
    estimator's own `fit` is called. The bits of a result hang neither on the number of threads nor on the other tasks.

    Passes are counted as they are made, so a `max_passes` too small for the fit alone may be enough here.
    """
    names = columns or tuple(f"x{j}" for j in range(X.shape[1]))
    X = block_of(X)
    if not (np.isfinite(X.sum()) or X.finite()):  # named by its place among all rows, not among some
        raise not_finite(X, names, estimator)
    cost = checked_costs(sample_weight, X.shape[0])
    alone = partial(_alone, estimator, X.plain() if given is None else given, cost)
    together = SideBySide.of(estimator, X, cost, names)
    if together is None:
        return [alone(task) for task in tasks]
    threads = min(thread_count(n_threads if n_threads is not None else estimator.n_threads), max(1, len(tasks)))
    with one_blas_thread(), ordered_map(threads) as each:
        found = together.fitted(tasks, each)
    return [alone(task) if model is None else model for model, task in zip(found, tasks, strict=True)]


def _alone(estimator: LogisticRegression, X: Any, cost: Floats, task: Task) -> LogisticRegression:
    """The estimator's own fit."""
    own = X if task.rows is None else rows_at(X, task.rows)
    rows = slice(None) if task.rows is None else task.rows
    model: LogisticRegression = clone(estimator)
    with rows_by_their_place(task.rows):
        return model.fit(own, task.positive.astype(int), cost[rows] if cost.size else None)


@contextmanager
def rows_by_their_place(rows: NDArray[np.intp] | None) -> Iterator[None]:
    """An error at one of these rows, by its number among them, is raised again with its place in X."""
    try:
        yield
    except DataError as error:
        if rows is None or error.row is None or not error.array:
            raise
        raise error.at(int(rows[error.row])) from None
