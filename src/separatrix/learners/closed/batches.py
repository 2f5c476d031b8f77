"""What learners with closed forms read: all rows at once, or batch by batch, each row once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.block import Block
from ...data.rows import in_threads
from ...data.source import Source
from ...errors import DataError, Refusal
from ...fitting.closed.moments import Moments, soft_moments
from ...numerics.arrays import Floats
from ...wording import learner, setting
from ..checks.rows import check_lengths, checked_costs, not_finite, rows_to_learn
from ..checks.targets import Targets, checked_targets, class_costs, class_rows, known_targets, labels_of

MOST_COLUMNS = 5000
"""Columns, beyond which a matrix of their products and its factors do not fit well into memory."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """All that a closed form needs to know of rows."""

    moments: Moments
    classes: NDArray[Any]
    squares: float
    """Σ c‖t‖²: the sum of the costs, if the targets are labels."""
    rows: int
    soft: bool

    def join(self, other: Statistics) -> Statistics:
        """Both together; each may know classes that the other does not."""
        classes = united(self.classes, other.classes)
        mine, theirs = (
            each.moments.grown(np.searchsorted(classes, each.classes), len(classes)) for each in (self, other)
        )
        return Statistics(
            mine.merge(theirs), classes, self.squares + other.squares, self.rows + other.rows, self.soft or other.soft
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that came together, checked, and their statistics."""

    rows: Source
    """With the numbers of their classes as targets, or a share of each."""
    targets: Targets
    cost: Floats
    columns: tuple[str, ...]
    alone: Statistics
    """Of these rows."""
    total: Statistics
    """Of all rows so far."""
    read: Any
    """What has the columns of X, for `set_fitted`."""


def whole_batch(model: Any, X: Any, y: Any, sample_weight: Any, kind: str, *, soft: bool = False) -> Batch:
    """What `fit` learns from: every class must have rows that count."""
    rows, read, columns = rows_to_learn(model, X)
    targets = checked_targets(model, y)
    check_lengths(len(rows), len(targets))
    cost = checked_costs(sample_weight, len(rows))
    class_costs(None, targets, cost)
    return _batch(model, (rows, read, columns), targets, cost, kind, soft)


def next_batch(
    model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, kind: str, before: Statistics | None,
    *, soft: bool = False,
) -> Batch:  # fmt: skip
    """What one `partial_fit` adds: classes may be missing, or be new."""
    rows, read, columns = rows_to_learn(model, X, new=before is None)
    known = np.empty(0) if before is None else before.classes
    if classes is not None:
        known = united(known, np.unique(np.asarray(classes)))
    targets = _targets_of_batch(model, y, known, len(rows))
    check_lengths(len(rows), len(targets))
    batch = _batch(
        model, (rows, read, columns), targets, checked_costs(sample_weight, len(rows), some=False), kind, soft
    )
    batch = batch if before is None else replace(batch, total=before.join(batch.total))
    if not batch.total.moments.weight.any():
        raise DataError("is zero for every sample so far; begin with rows that count.", array="sample_weight")
    return batch


def united(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """The classes of both, in order."""
    if not one.size or np.array_equal(one, other):
        return other
    words = [each.dtype.kind in "USO" for each in (one, other)]
    if words[0] != words[1]:
        raise DataError(
            f"The classes so far are {one.tolist()}, and now {other.tolist()}: names, or numbers, not both."
        )
    return np.unique(np.concatenate([one, other]))


def _targets_of_batch(model: Any, y: Any, known: NDArray[Any], rows: int) -> Targets:
    given = np.asarray(y)
    fractions = given.ndim == 1 and given.dtype.kind == "f" and bool((given != np.floor(given)).any())
    if (given.ndim == 2 and given.shape[1] != 1) or (fractions and np.isfinite(given).all()):
        if not known.size:
            return checked_targets(model, y)
        return Targets(known, None, known_targets(y, known, rows))
    labels = labels_of(y)
    classes = united(known, np.unique(labels))
    return Targets(classes, np.searchsorted(classes, labels), None)


def _batch(
    model: Any, given: tuple[Block, Any, tuple[str, ...]], targets: Targets, cost: Floats, kind: str, soft: bool
) -> Batch:
    X, read, columns = given
    _check_width(model, X)
    if targets.probability is not None and not soft:
        raise DataError(
            f"Unknown label type: continuous. y holds probabilities; {type(model).__name__} needs a label for each "
            f"row. {learner('LogisticRegression')} and {learner('LeastSquaresClassifier')} learn from probabilities."
        )
    T = targets.probability
    rows: Source = class_rows(X, np.asarray(targets.index if T is None else T), cost)
    with in_threads(rows, model.n_threads) as shared:
        moments = Moments.of_rows(shared, len(targets.classes), kind) if T is None else soft_moments(shared)
    squares = float(moments.weight.sum())
    if T is not None:
        own = np.einsum("ik,ik->i", T, T)
        squares = float(cost @ own) if cost.size else float(own.sum())
    if not moments.finite:
        raise not_finite(rows.gathered().block, columns, model)
    alone = Statistics(moments, targets.classes, squares, len(rows), targets.soft)
    return Batch(rows, targets, cost, columns, alone, alone, read)


def _check_width(model: Any, rows: Block) -> None:
    n, d = rows.shape
    if d > MOST_COLUMNS:
        what = "X is sparse with" if rows.skips_zeros else "X has"
        raise Refusal(
            f"{type(model).__name__} needs a {d} × {d} matrix of products of columns, and {what} {n} rows of {d} "
            f"columns; up to {MOST_COLUMNS} are taken: choose fewer columns, or use {learner('LogisticRegression')} "
            f"with {setting('l2')} > 0."
        )


class EstimateRecord(NamedTuple):
    """One line of `history_`: rows that were counted."""

    passes: float
    rows: int
    """So far, these among them."""
    seconds: float


class OnePassFit:
    """What fits in one step has steps too."""

    history_: list[EstimateRecord]

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[EstimateRecord]:
        """Fit as `fit` does, in one step: the rows are read once."""
        self.fit(X, y, sample_weight)  # type: ignore[attr-defined]
        yield self.history_[-1]

    def _recorded(self, rows: int, began: float, *, anew: bool) -> list[EstimateRecord]:
        """A line more; `rows` are those of all calls since the last `fit`."""
        before = [] if anew else getattr(self, "history_", [])
        return [*before, EstimateRecord(len(before) + 1.0, rows, time.perf_counter() - began)]
