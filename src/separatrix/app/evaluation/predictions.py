"""What was predicted for rows whose classes are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import DataError, Refusal, SettingError
from ...numerics.arrays import Floats, Indices

SAME = 1e-9
"""How far probabilities may be from those that the scores give, for the scores to stand for their logarithms."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """The truth and the answers of n rows, classes by their place in `classes`."""

    classes: tuple[Any, ...]
    truth: Indices
    chosen: Indices
    scores: Floats | None = None
    """Of two classes one a row, higher for the second; of K classes n × K."""
    probabilities: Floats | None = None
    """n × K."""
    weights: Floats | None = None
    clusters: Indices | None = None
    """Rows of one number belong together and are not independent: those of one patient."""
    folds: int = 0
    """Above zero: the predictions are out of fold, each row's by a model that has not seen it."""
    positive: int = 1
    """Of two classes: the place of the one that sensitivity, precision and AUC are about."""
    fold: Indices | None = None
    """The fold of each row: scores of different models are not on one scale, so that only rows of a fold are ranked."""

    def __post_init__(self) -> None:
        n, k = len(self.truth), len(self.classes)
        if k < 2:
            raise DataError(f"There is one class only, {self.classes!r}; predictions are of two classes or more.")
        shapes = {
            "chosen": (self.chosen, [(n,)]),
            "scores": (self.scores, [(n,)] if k == 2 else [(n, k)]),
            "probabilities": (self.probabilities, [(n, k)]),
            "weights": (self.weights, [(n,)]),
            "clusters": (self.clusters, [(n,)]),
            "fold": (self.fold, [(n,)]),
        }
        for name, (array, allowed) in shapes.items():
            if array is not None and array.shape not in allowed:
                raise DataError(f"{name} has shape {array.shape}; of {n} rows and {k} classes give {allowed[0]}.")
        for name, codes in (("truth", self.truth), ("chosen", self.chosen)):
            if n and not (codes.min() >= 0 and codes.max() < k):
                raise DataError(f"{name} holds places of classes, whole numbers from 0 to {k - 1}.")
        _check_numbers(self)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.truth)

    @cached_property
    def w(self) -> Floats:
        """The weights, one where none were given."""
        return np.ones(self.rows) if self.weights is None else self.weights

    @cached_property
    def hit(self) -> Floats:
        """1[ŷ = y]."""
        return np.asarray(self.chosen == self.truth, dtype=np.float64)

    @cached_property
    def present(self) -> tuple[int, ...]:
        """The places of the classes that rows of some weight have."""
        return tuple(np.unique(self.truth[self.w > 0]).tolist())

    @cached_property
    def ranking(self) -> Floats | None:
        """Of two classes: what rows are ranked by, higher for the positive class; of K classes n × K."""
        if len(self.classes) > 2:
            return self.scores if self.probabilities is None else self.probabilities
        if self.scores is not None:
            return self.scores if self.positive == 1 else -self.scores
        return None if self.probabilities is None else self.probabilities[:, self.positive]

    @cached_property
    def log_probabilities(self) -> Floats | None:
        """log P(k | x): by the scores where these are the logarithms' own, so that no probability rounds to zero."""
        if self.probabilities is None:
            return None
        if self.scores is not None:
            z = np.column_stack([np.zeros(self.rows), self.scores]) if self.scores.ndim == 1 else self.scores
            top = z.max(axis=1, keepdims=True, initial=-np.inf)
            logs = z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))
            if np.all(np.abs(np.exp(logs) - self.probabilities) <= SAME):
                return np.asarray(logs)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities))

    def at(self, threshold: float) -> Predictions:
        """The predictions that choose the positive class where its probability (or else its score) is ≥ threshold."""
        if len(self.classes) != 2:
            raise Refusal(f"A threshold is of two classes; there are {len(self.classes)}: {list(self.classes)}.")
        ranked = self.ranking if self.probabilities is None else self.probabilities[:, self.positive]
        if ranked is None:
            raise Refusal("These predictions have neither probabilities nor scores; a threshold needs one of them.")
        yes = ranked >= threshold
        return replace(self, chosen=np.where(yes, self.positive, 1 - self.positive))

    def of(self, rows: Any) -> Predictions:
        """Some of the rows."""
        cut: dict[str, Any] = {
            name: None if (array := getattr(self, name)) is None else array[rows]
            for name in ("truth", "chosen", "scores", "probabilities", "weights", "clusters", "fold")
        }
        return replace(self, **cut)


def predictions(
    truth: ArrayLike, chosen: ArrayLike, classes: Sequence[Any] | None = None, *, scores: ArrayLike | None = None,
    probabilities: ArrayLike | None = None, weights: ArrayLike | None = None, clusters: ArrayLike | None = None,
    folds: int = 0, positive: Any = None,
) -> Predictions:  # fmt: skip
    """Predictions from labels: the classes in order, by default those that occur, sorted."""
    labels = [np.asarray(given).tolist() for given in (truth, chosen)]
    names = tuple(sorted(set(labels[0]) | set(labels[1]))) if classes is None else tuple(classes)
    where = {name: place for place, name in enumerate(names)}
    for label in (*labels[0], *labels[1]):
        if label not in where:
            raise DataError(f"The label {label!r} is none of the classes {list(names)}.")
    codes = [np.array([where[label] for label in some], dtype=np.intp) for some in labels]
    if positive is not None and positive not in where:
        raise SettingError("positive", positive, f"it must be one of the classes {list(names)}.")
    together = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.intp)
    return Predictions(
        names, codes[0], codes[1], _floats(scores), _floats(probabilities), _floats(weights), together, folds,
        1 if positive is None else where[positive],
    )  # fmt: skip


def _floats(given: ArrayLike | None) -> Floats | None:
    return None if given is None else np.asarray(given, dtype=np.float64)


def _check_numbers(given: Predictions) -> None:
    for name, array in (("scores", given.scores), ("probabilities", given.probabilities), ("weights", given.weights)):
        if array is not None and not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise DataError(f"{name} of row {row} is not finite; give numbers.")
    if given.weights is not None and (given.weights.min(initial=0) < 0 or (given.rows and not given.weights.any())):
        raise DataError("Weights are numbers ≥ 0, and not all zero.")
    if given.probabilities is not None and given.rows:
        sums = given.probabilities.sum(axis=1)
        row = int(np.abs(sums - 1).argmax())
        if given.probabilities.min() < 0 or abs(sums[row] - 1) > 1e-5:
            raise DataError(f"The probabilities of a row are ≥ 0 and add up to 1; those of row {row} to {sums[row]}.")
