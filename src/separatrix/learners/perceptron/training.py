"""What perceptrons of every kind are given, checked."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, SettingError
from ...fitting.scan.perceptron import FOREVER, TIES, UpdateRule
from ...fitting.scan.perceptron_scan import Course
from ...fitting.scan.run import ORDERS, Passes
from ...wording import learner
from ..checks.settings import checked_choice, checked_count, checked_flags, checked_number, seed_of
from ..checks.targets import checked_targets, labels_of


@dataclass(frozen=True, eq=False)
class Training:
    """The course over the training rows, and what classes and columns are called."""

    course: Course
    classes: NDArray[Any]
    columns: tuple[str, ...]
    read: Any
    """What has the columns of X, for `set_fitted`."""


def checked_update(model: Any) -> UpdateRule:
    """The step that a mistake makes."""
    checked_flags(model, "fit_intercept")
    return UpdateRule(
        checked_learning_rate(model.learning_rate), bool(model.fit_intercept),
        checked_choice("ties", model.ties, tuple(TIES)),
    )  # fmt: skip


def checked_learning_rate(rate: Any) -> float:
    """0 < η ≤ 1."""
    if not isinstance(rate, numbers.Real) or not 0 < float(rate) <= 1:
        raise SettingError(
            "learning_rate", rate,
            "it must lie in (0, 1]. From weights of zero it changes no mistake, only the length of the weights.",
        )  # fmt: skip
    return float(rate)


def checked_passes(model: Any, *, chance: bool = False) -> Passes:
    """In which order the rows come and for how long; a seed is drawn where the order, or `chance`, needs one."""
    most = checked_number("max_passes", model.max_passes, least=0, strict=True)
    order = checked_choice("order", model.order, tuple(ORDERS))
    patience = FOREVER
    if model.patience is not None:
        needed = "it must be a whole number of steps, or None."
        patience = min(checked_count("patience", model.patience, needed=needed), FOREVER)
    return Passes(order, seed_of(model.random_state, needed=chance or order != "cyclic"), most, patience)


def checked_labels(model: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The class of each row by its number, and the classes."""
    targets = checked_targets(model, y)
    if targets.index is None:
        raise no_labels(model)
    return np.ascontiguousarray(targets.index, dtype=np.int64), targets.classes


def stream_labels(model: Any, y: Any) -> NDArray[Any]:
    """A label for each row of a part of the data, which may be of one class."""
    if y is None:
        raise DataError(
            f"{type(model).__name__} requires y to be passed, but the target y is None: give a label for each row."
        )
    labels = labels_of(y) if np.ndim(y) <= 1 or np.shape(y)[1] == 1 else None
    if labels is None or (labels.dtype.kind == "f" and (labels != np.floor(labels)).any()):
        raise no_labels(model)
    return labels


def no_labels(model: Any) -> DataError:
    """y has probabilities where labels are needed."""
    return DataError(
        f"Unknown label type: continuous. y holds probabilities; {type(model).__name__} needs a label for each row. "
        f"{learner('LogisticRegression')} learns from probabilities."
    )


def check_kind(labels: NDArray[Any], known: NDArray[Any]) -> None:
    """Names stay names, and numbers numbers."""
    words_now, words_before = labels.dtype.kind in "OUS", known.dtype.kind in "OUS"
    if known.size and words_now != words_before:
        raise DataError(
            f"y holds {'names' if words_now else 'numbers'}, such as {labels.tolist()[0]!r}; so far the classes were "
            f"{known.tolist()}: give all labels in one form."
        )
