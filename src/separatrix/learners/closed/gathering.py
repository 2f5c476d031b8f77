"""The moments of checked rows, at once or in pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Sparse
from ...fitting.closed.moments import Moments
from ...fitting.closed.moments_soft import soft_moments
from ...numerics.arrays import Floats
from ..checks.rows import check_lengths, checked_costs, checked_rows, names_of, not_finite
from ..checks.targets import Targets, checked_targets, class_costs, known_targets, labels_of

MOST_COLUMNS = 5000
"""Columns, beyond which a matrix of their products and its factors do not fit well into memory."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """All that a closed form needs to know of the rows so far."""

    moments: Moments
    classes: NDArray[Any]
    squares: float
    """Σ c‖t‖²: the sum of the costs, if the targets are labels."""
    rows: int
    soft: bool

    def join(self, other: Gathered) -> Gathered:
        """Both together; each may know classes that the other does not."""
        classes = united(self.classes, other.classes)
        mine, theirs = (
            each.moments.grown(np.searchsorted(classes, each.classes), len(classes)) for each in (self, other)
        )
        return Gathered(
            mine.merge(theirs), classes, self.squares + other.squares, self.rows + other.rows, self.soft or other.soft
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows as they came in, checked, and what was gathered of them."""

    X: Any
    targets: Targets
    cost: Floats
    columns: tuple[str, ...]
    alone: Gathered
    """Of these rows."""
    found: Gathered
    """Of all rows so far."""


def all_rows(model: Any, X: Any, y: Any, sample_weight: Any, kind: str, *, soft: bool = False) -> Piece:
    """What `fit` learns from: every class must have rows that count."""
    rows = checked_rows(model, X, reset=True) if y is not None else checked_rows(model, X, None, reset=True)
    targets = checked_targets(model, y)
    check_lengths(rows, targets)
    cost = checked_costs(sample_weight, len(rows))
    class_costs(None, targets, cost)
    return _piece(model, rows, targets, cost, kind, soft)


def more_rows(
    model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, kind: str, before: Gathered | None,
    *, soft: bool = False,
) -> Piece:  # fmt: skip
    """What one `partial_fit` adds: classes may be missing, or be new."""
    rows = checked_rows(model, X, reset=before is None)
    known = np.empty(0) if before is None else before.classes
    if classes is not None:
        known = united(known, np.unique(np.asarray(classes)))
    targets = _targets_of_piece(model, y, known, len(rows))
    check_lengths(rows, targets)
    piece = _piece(model, rows, targets, checked_costs(sample_weight, len(rows), some=False), kind, soft)
    piece = piece if before is None else replace(piece, found=before.join(piece.found))
    if not piece.found.moments.weight.any():
        raise ValueError("sample_weight is zero for every sample so far; begin with rows that count.")
    return piece


def united(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """The classes of both, in order."""
    if not one.size or np.array_equal(one, other):
        return other
    words = [each.dtype.kind in "USO" for each in (one, other)]
    if words[0] != words[1]:
        raise ValueError(
            f"The classes so far are {one.tolist()}, and now {other.tolist()}: names, or numbers, not both."
        )
    return np.unique(np.concatenate([one, other]))


def _targets_of_piece(model: Any, y: Any, known: NDArray[Any], rows: int) -> Targets:
    given = np.asarray(y)
    fractions = given.ndim == 1 and given.dtype.kind == "f" and bool((given != np.floor(given)).any())
    if (given.ndim == 2 and given.shape[1] != 1) or (fractions and np.isfinite(given).all()):
        if not known.size:
            return checked_targets(model, y)
        return Targets(known, None, known_targets(y, known, rows))
    labels = labels_of(y)
    classes = united(known, np.unique(labels))
    return Targets(classes, np.searchsorted(classes, labels), None)


def _piece(model: Any, rows: Any, targets: Targets, cost: Floats, kind: str, soft: bool) -> Piece:
    columns = names_of(model, rows.shape[1])
    _check_width(model, rows)
    n_threads = getattr(model, "n_threads", None)
    if targets.probability is not None and not soft:
        raise ValueError(
            f"Unknown label type: continuous. y holds probabilities; {type(model).__name__} needs a label for each "
            "row. LogisticRegression and LeastSquaresClassifier learn from probabilities."
        )
    if targets.probability is not None:
        T = targets.probability
        moments = soft_moments(rows, T, cost, n_threads)
        own = np.einsum("ik,ik->i", T, T)
        squares = float(cost @ own) if cost.size else float(own.sum())
    else:
        assert targets.index is not None
        moments = Moments.of(
            rows, targets.index, len(targets.classes), cost if cost.size else None, kind=kind, n_threads=n_threads
        )
        squares = float(moments.weight.sum())
    if not moments.finite:
        raise not_finite(rows, columns, model)
    alone = Gathered(moments, targets.classes, squares, len(rows), targets.soft)
    return Piece(rows, targets, cost, columns, alone, alone)


def _check_width(model: Any, rows: Any) -> None:
    n, d = rows.shape
    if d > MOST_COLUMNS:
        what = "X is sparse with" if isinstance(rows, Sparse) else "X has"
        raise ValueError(
            f"{type(model).__name__} needs a {d} × {d} matrix of products of columns, and {what} {n} rows of {d} "
            f"columns; up to {MOST_COLUMNS} are taken: choose fewer columns, or use LogisticRegression(l2=…)."
        )
