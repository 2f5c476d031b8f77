"""The classifiers that an online learner had in hand, kept so that they can vote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.block import Block, block_of
from ..numerics.arrays import Floats, Integers
from ..numerics.threads import one_blas_thread
from .votes import Ballot

GROUP = 256
"""Classifiers whose scores are found by one product."""
BLOCK_BYTES = 1 << 24
"""The scores of a group on a block of rows take no more."""


class Committee(ABC):
    """Classifiers f̂ₗ with cₗ votes each; classes are known by their indices."""

    votes: Integers
    classes: int

    @abstractmethod
    def tally(self, rows: Any) -> Floats:
        """Σₗ cₗ f̂ₗ(x) / Σₗ cₗ for each row, f̂ₗ(x) = ±1; of K classes n×K, their shares of the votes."""

    @abstractmethod
    def errors(self, rows: Any, truth: Integers) -> Floats:
        """err(f̂ₗ) on these rows for each classifier."""


class LoggedCommittee(Committee):
    """The classifiers of a mistake log."""

    def __init__(self, ballot: Ballot) -> None:
        self.ballot, self.classes = ballot, ballot.classes
        self.votes = ballot.votes[ballot.votes > 0]

    def tally(self, rows: Any) -> Floats:
        return self.ballot.tally(rows)

    def errors(self, rows: Any, truth: Integers) -> Floats:
        return self.ballot.errors(rows, truth)[self.ballot.votes > 0]


class Opinion(NamedTuple):
    """What some classifiers say of some rows: members × rows, classes by index."""

    rows: slice
    members: slice
    said: Integers


class _MemberwiseCommittee(Committee):
    """A committee that is asked member by member."""

    @abstractmethod
    def _opinions(self, rows: Any) -> Iterator[Opinion]:
        """What every member says of every row, in parts."""

    def tally(self, rows: Any) -> Floats:
        counts, total = np.zeros((len(rows), self.classes)), int(self.votes.sum())
        for part, members, said in self._opinions(rows):
            votes = self.votes[members].astype(np.float64)
            for k in range(self.classes):
                counts[part, k] += votes @ (said == k)
        return (counts[:, 1] - counts[:, 0]) / total if self.classes == 2 else counts / total

    def errors(self, rows: Any, truth: Integers) -> Floats:
        wrong = np.zeros(len(self.votes))
        for part, members, said in self._opinions(rows):
            wrong[members] += (said != truth[part]).sum(axis=1)
        return wrong / len(rows)


class Weights(NamedTuple):
    """A linear classifier: K × d and K numbers, of two classes 1 × d and one."""

    W: Floats
    b: Floats

    @classmethod
    def of(cls, learner: Any) -> Weights:
        """A copy of a learner's: it may move them in place."""
        return cls(np.array(learner.coef_, np.float64), np.array(learner.intercept_, np.float64))

    @classmethod
    def nothing(cls, classes: int, columns: int) -> Weights:
        """f̂₁: all scores are zero, so that the first class is predicted."""
        K = 1 if classes == 2 else classes
        return cls(np.zeros((K, columns)), np.zeros(K))

    def same(self, other: Weights) -> bool:
        """Whether they are equal, number for number."""
        return np.array_equal(self.W, other.W) and np.array_equal(self.b, other.b)

    def say(self, rows: Any) -> Integers:
        """The class of each row, by index."""
        said: Integers = _said(self.W[None], self.b[None], rows)[0]
        return said


class LinearCommittee(_MemberwiseCommittee):
    """1[xᵀwₗ + bₗ > 0], or argmaxₖ xᵀwₗₖ + bₗₖ: the scores of a group of classifiers are one product."""

    def __init__(self, kept: list[Weights], votes: list[int], classes: int) -> None:
        self.votes, self.classes = np.array(votes, np.int64), classes
        self.groups = [_stacked(kept[lo : lo + GROUP]) for lo in range(0, len(kept), GROUP)]

    def _opinions(self, rows: Any) -> Iterator[Opinion]:
        rows = block_of(rows)
        step = self._block_rows(rows)
        with one_blas_thread():
            for lo in range(0, len(rows), step):
                block = rows[lo : lo + step]
                for g, (W, b) in enumerate(self.groups):
                    members = slice(g * GROUP, g * GROUP + len(b))
                    yield Opinion(slice(lo, lo + len(block)), members, _said(W, b, block))

    def _block_rows(self, rows: Block) -> int:
        members, K, d = self.groups[0][0].shape
        return max(1, BLOCK_BYTES // (8 * max(int(members * K), 1 if rows.by_numbers else int(d))))


def _said(W: Floats, b: Floats, rows: Any) -> Integers:
    """The class of each row, by index, for each of some classifiers: W is members × K × d, b members × K."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = (block_of(rows) @ W.reshape(-1, W.shape[2]).T).T.reshape(*b.shape, len(rows)) + b[:, :, None]
    if not np.isfinite(scores).all():
        raise OverflowError("a score is not finite")
    found: Integers = (scores[:, 0] > 0).astype(np.int64) if b.shape[1] == 1 else scores.argmax(axis=1)
    return found


def _stacked(kept: list[Weights]) -> tuple[Floats, Floats]:
    return np.stack([each.W for each in kept]), np.stack([each.b for each in kept])


class CopiedCommittee(_MemberwiseCommittee):
    """Copies of the learner, whatever it is; None is f̂₁, which says the first class."""

    def __init__(self, kept: list[Any], labels: NDArray[Any]) -> None:
        self.kept, self.labels, self.classes = kept, labels, len(labels)
        self.votes = np.ones(len(kept), np.int64)

    def _opinions(self, rows: Any) -> Iterator[Opinion]:
        given = block_of(rows).plain()
        for m, learner in enumerate(self.kept):
            said = np.zeros(len(rows), np.int64) if learner is None else index_of(learner.predict(given), self.labels)
            yield Opinion(slice(None), slice(m, m + 1), said[None])


def index_of(y: Any, labels: NDArray[Any]) -> Integers:
    """The index of each label, −1 if it is none of them."""
    given = np.asarray(y)
    found: Integers = np.full(given.shape, -1, np.int64)
    for k, label in enumerate(labels):
        found[given == label] = k
    return found
