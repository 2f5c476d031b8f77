"""Many logistic regressions of two classes over the same rows, fitted together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...data import Sparse
from ...errors import DataError
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ..checks.rows import checked_costs, not_finite, rows_at
from .logistic import LogisticRegression
from .side_by_side import SideBySide
from .side_by_side import Task as Task


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

    X is an array of floats or CSR; `columns` are the names by which verdicts and errors call its columns, and `given`
    is X as the user has it, a data frame say, for the fits that are made alone. Each fit is the one that the estimator
    would make by itself, but for the way to the minimum; where that way does not end in a proved minimum, the
    estimator's own `fit` is called. The bits of a result hang neither on the number of threads nor on the other tasks.

    Passes are counted as they are made, so a `max_passes` too small for the fit alone may be enough here.
    """
    names = columns or tuple(f"x{j}" for j in range(X.shape[1]))
    _check_finite(X, names, estimator)
    cost = checked_costs(sample_weight, X.shape[0])
    whole = X.scipy() if isinstance(X, Sparse) else X
    alone = partial(_alone, estimator, whole if given is None else given, cost)
    together = SideBySide.of(estimator, X, cost, names)
    if together is None:
        return [alone(task) for task in tasks]
    threads = min(thread_count(n_threads if n_threads is not None else estimator.n_threads), max(1, len(tasks)))
    with one_blas_thread(), ordered_map(threads) as each:
        found = together.fitted(tasks, each)
    return [alone(task) if model is None else model for model, task in zip(found, tasks, strict=True)]


def _check_finite(X: Any, names: tuple[str, ...], estimator: LogisticRegression) -> None:
    """A fit of some rows would name the place of a NaN among these: here it is named as the user knows it."""
    if isinstance(X, np.ndarray):
        finite = np.isfinite(X.sum(dtype=np.float64)) or np.isfinite(X).all()
    else:
        X = X if isinstance(X, Sparse) else Sparse.of(X)
        finite = X.finite()
    if not finite:
        raise not_finite(X, names, estimator)


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
