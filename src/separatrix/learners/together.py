"""Many binary logistic regressions over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing


class Task(NamedTuple):
    """What one of them is taught."""

    rows: NDArray[np.intp] | None
    """Places in X of the rows that take part, ascending; None: all."""
    positive: NDArray[np.bool_]
    """Of those rows: whether the row is of the second class."""


def fit_together(
    estimator: Any,
    X: Any,
    tasks: Sequence[Task],
    sample_weight: Any = None,
    n_threads: int | None = None,
    given: Any = None,
) -> list[Any]:
    """A fitted clone of the estimator for each task."""
    return [_alone(estimator, X if given is None else given, task, sample_weight) for task in tasks]


def _alone(estimator: Any, X: Any, task: Task, sample_weight: Any) -> Any:
    part = X if task.rows is None else _safe_indexing(X, task.rows)
    cost = sample_weight if sample_weight is None or task.rows is None else sample_weight[task.rows]
    return clone(estimator).fit(part, task.positive.astype(np.int64), cost)
