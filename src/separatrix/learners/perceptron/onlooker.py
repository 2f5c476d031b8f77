"""Looking on while a learner learns row by row, and keeping the classifiers that it has in hand."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...data import Sparse
from ...results.committee import Committee, CopiedCommittee, LinearCommittee, Weights, index_of
from ..checks.targets import Targets

PROBED = 256
"""Rows on which a learner that counts as linear predicts what its weights say."""


def watched(learner: Any, rows: Any, targets: Targets, tail: float) -> tuple[Committee, int]:
    """f̂₁, …, f̂ₙ₊₁, or the last of them, and how often f̂ₜ was wrong on row t."""
    n, labels, index = len(rows), targets.classes, targets.index
    assert index is not None
    first = n + 1 - max(1, int(tail * (n + 1)))
    once = {"classes": labels} if _takes_classes(learner) else {}
    learner.partial_fit(_plain(rows[:1]), labels[index[:1]], **once)
    linear = bool(once) and _is_linear(learner, rows, labels)
    keeper: Keeper = _Linear(learner, first, labels, rows.shape[1]) if linear else _Copies(learner, first, labels)
    mistakes = int(index[0] != 0)
    for t in range(1, n):
        keeper.take(t)
        mistakes += keeper.say(rows[t : t + 1]) != index[t]
        learner.partial_fit(_plain(rows[t : t + 1]), labels[index[t : t + 1]])
    keeper.take(n)
    return keeper.committee(), int(mistakes)


class Keeper(Protocol):
    """Keeps the classifiers of a learner, from the one in hand before row `first` on, rows counted from zero."""

    def take(self, t: int) -> None:
        """Look at the classifier in hand before row t > 0, and keep it if it votes."""

    def say(self, row: Any) -> int:
        """What that classifier says of a row."""

    def committee(self) -> Committee:
        """All that were kept."""


class _Linear:
    """Keeps weights, equal neighbours once."""

    def __init__(self, learner: Any, first: int, labels: NDArray[Any], columns: int) -> None:
        self.learner, self.first, self.classes = learner, first, len(labels)
        self.kept = [Weights.nothing(len(labels), columns)] if first == 0 else []
        self.votes = [1] * len(self.kept)

    def take(self, t: int) -> None:
        self.now = Weights.of(self.learner)
        if t < self.first:
            return
        if self.kept and self.now.same(self.kept[-1]):
            self.votes[-1] += 1
            return
        self.kept.append(self.now)
        self.votes.append(1)

    def say(self, row: Any) -> int:
        return int(self.now.say(row)[0])

    def committee(self) -> Committee:
        return LinearCommittee(self.kept, self.votes, self.classes)


class _Copies:
    """Keeps copies of the learner."""

    def __init__(self, learner: Any, first: int, labels: NDArray[Any]) -> None:
        self.learner, self.first, self.labels = learner, first, labels
        self.kept: list[Any] = [None] if first == 0 else []

    def take(self, t: int) -> None:
        if t >= self.first:
            self.kept.append(copy.deepcopy(self.learner))

    def say(self, row: Any) -> int:
        return int(index_of(self.learner.predict(_plain(row)), self.labels)[0])

    def committee(self) -> Committee:
        return CopiedCommittee(self.kept, self.labels)


def _plain(rows: Any) -> Any:
    """The rows as any learner takes them."""
    return rows.scipy() if isinstance(rows, Sparse) else rows


def _takes_classes(learner: Any) -> bool:
    given = inspect.signature(learner.partial_fit).parameters.values()
    return any(each.name == "classes" or each.kind is each.VAR_KEYWORD for each in given)


def _is_linear(learner: Any, rows: Any, labels: NDArray[Any]) -> bool:
    """Whether it has weights, and predicts what they say: if in doubt not, for a copy serves any learner."""
    if not (hasattr(learner, "coef_") and hasattr(learner, "intercept_")):
        return False
    weights, nothing = Weights.of(learner), Weights.nothing(len(labels), rows.shape[1])
    if weights.W.shape != nothing.W.shape or weights.b.shape != nothing.b.shape:
        return False
    some = rows[:PROBED]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array_equal(labels[weights.say(some)], learner.predict(_plain(some)))
