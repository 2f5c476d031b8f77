"""The vote of all the weights that a perceptron ever had: read from its mistake log, never built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Sparse
from ..numerics.arrays import Floats, Integers
from ..numerics.threads import one_blas_thread, ordered_map, thread_count
from .mistake_log import MistakeLog

BLOCK_BYTES = 1 << 24
"""The products of a block of rows take no more."""
MOST_BYTES = 1 << 26
"""The products of the blocks of all threads together take no more."""
SINGLE_THREAD_BELOW = 1 << 22
"""Votes (rows × mistakes) below which a second thread does not pay."""


@dataclass(frozen=True, eq=False)
class Ballot:
    """f̂(x) = sign Σₗ cₗ sign(xᵀwₗ + bₗ), wₗ = w₀ + η Σ_{m<l} yₘxₘ, c the votes.  [001 slides 27, 28]

    What a voted prediction needs: the weights at the start, and what each mistake added to them. Of K classes the
    votes go to argmaxₖ xᵀWₗₖ + bₗₖ. All scores of a row are sums of the products of that row with the mistaken
    rows: one matrix product gives them, then one run down the mistakes counts the votes. Products are in double
    precision whatever X is in, so that of whole numbers every score is exact.
    """

    start: Floats
    """w₀: d numbers, or K × d."""
    start_intercept: Any
    """b₀: a number, or K of them."""
    rows: Any
    """The distinct rows that were mistaken, an array or `Sparse`."""
    place: Integers
    """Which of them each mistake was."""
    own: Integers
    """The class of each mistake, by index."""
    rival: Integers
    """What it was taken for."""
    rate: float
    """η."""
    lifted: bool
    """Whether a mistake moves the intercept too, by ±η."""
    votes: Integers
    """How many votes the weights have after 0, 1, 2, … mistakes."""
    classes: int

    @classmethod
    def of(
        cls, log: MistakeLog, X: Any, start: Floats, start_intercept: Any, rate: float, lifted: bool, classes: int,
        tail: float = 1.0,
    ) -> Ballot:  # fmt: skip
        """The ballot of a log, with its rows of X; with a tail < 1 the last classifiers alone vote."""
        distinct, place = np.unique(log.rows, return_inverse=True)
        rows = X[distinct] if isinstance(X, Sparse) else np.ascontiguousarray(X[distinct])
        place = place.ravel().astype(np.int64)
        return cls(
            np.asarray(start, np.float64), start_intercept, rows, place, log.own, log.rival, float(rate), bool(lifted),
            log.votes(tail), int(classes),
        )  # fmt: skip

    def tally(self, X: Any, n_threads: int | None = None) -> Floats:
        """Σₗ cₗ sign(xᵀwₗ + bₗ) / Σₗ cₗ for each row, in [−1, 1], with sign(0) = −1; of K classes n×K, their shares.

        The class is the second of two if it is > 0, of K the first with the largest share. Where a product is not
        finite it raises OverflowError.
        """
        last = len(self.place)
        found: Floats = self._tallies(X, np.array([last]), self.votes[last:], n_threads)[0]
        return found

    def paths(self, X: Any, ends: Any, n_threads: int | None = None) -> Floats:
        """The tally of the log cut after each of these numbers of steps, all from one run: a learning curve.

        As `Ballot.of(log.until(end), …).tally(X)` for each end, for a ballot of all classifiers (tail = 1).
        """
        cuts, rest, order = self.cuts(ends)
        found = self._tallies(X, cuts[order], rest[order], n_threads)
        return found[np.argsort(order)]

    def cuts(self, ends: Any) -> tuple[Integers, Integers, Integers]:
        """After how many mistakes the log is cut, the votes of the last weights there, and the cuts' order."""
        changes = np.concatenate([[0], np.cumsum(self.votes)])
        seen = np.minimum(np.asarray(ends, np.int64), changes[-1] - 1)
        cuts = np.searchsorted(changes[1:-1], seen, side="right")
        return cuts, seen + 1 - changes[cuts], np.argsort(cuts, kind="stable")

    def errors(self, X: Any, truth: Any, n_threads: int | None = None) -> Floats:
        """err(f̂ₗ) on rows of these classes (by index), for each vector of weights; NaN for those without votes."""
        wrong = np.zeros(len(self.votes), np.int64)
        for _, _, part in self._blocks(X, np.empty(0, np.int64), np.empty(0), n_threads, np.asarray(truth, np.int64)):
            wrong += part
        return np.where(self.votes > 0, wrong / len(X), np.nan)

    def _tallies(self, X: Any, cuts: Integers, rest: Any, n_threads: int | None) -> Floats:
        """The tallies up to each cut, the last of the weights with `rest` votes."""
        found = np.empty((len(cuts), len(X), 1 if self.classes == 2 else self.classes))
        for lo, counted, _ in self._blocks(X, cuts, rest.astype(np.float64), n_threads):
            found[:, lo : lo + counted.shape[2]] = counted.swapaxes(1, 2)
        return self.shares(found, cuts, rest)

    def shares(self, counted: Floats, cuts: Integers, rest: Any) -> Floats:
        """Votes as a part of all: from −1 to 1 of two classes, of K the share of each."""
        total = (np.concatenate([[0], np.cumsum(self.votes)])[cuts] + rest)[:, None]
        if self.classes == 2:
            return (2 * counted[:, :, 0] - total) / total  # type: ignore[no-any-return]
        return counted / total[:, :, None]  # type: ignore[no-any-return]

    def _blocks(
        self, X: Any, cuts: Integers, rest: Floats, n_threads: int | None, truth: Integers | None = None
    ) -> Iterator[tuple[int, Floats, Integers]]:
        """First row, counts and wrong ones of each block of rows."""
        size = self._block_rows(X)

        def count(lo: int) -> tuple[int, Floats, Integers]:
            block, truths = X[lo : lo + size], np.empty(0, np.int64) if truth is None else truth[lo : lo + size]
            with np.errstate(over="ignore", invalid="ignore"):
                starts, G = self._starts(block), _products(self.rows, block)
            if not (np.isfinite(G).all() and np.isfinite(starts).all()):
                raise OverflowError("a product of two rows, or of a row and the first weights, is not finite")
            return lo, *self.run_down(G, starts, cuts, rest, truths)

        many_votes = len(X) * len(self.votes) >= SINGLE_THREAD_BELOW
        threads = min(thread_count(n_threads), MOST_BYTES // BLOCK_BYTES) if many_votes else 1
        with ordered_map(threads) as each, one_blas_thread():
            yield from each(count, range(0, len(X), size))

    def run_down(
        self, G: Floats, starts: Floats, cuts: Integers, rest: Floats, truths: Integers
    ) -> tuple[Floats, Integers]:
        """The votes up to each cut, cuts × classes × rows, from the products; and how many rows each gets wrong."""
        from .vote_kernels import vote_kernel

        many, votes = self.classes > 2, self.votes.astype(np.float64)
        out, wrong = np.empty((len(cuts), self.classes if many else 1, G.shape[1])), np.zeros(len(votes), np.int64)
        vote_kernel(many)(
            G, self.place, self.own, self.rival, float(self.lifted), self.rate, starts, votes, cuts, rest, truths, out,
            wrong,
        )  # fmt: skip
        return out, wrong

    def _block_rows(self, X: Any) -> int:
        """So many rows that neither their products nor, where they are dense, they themselves need much memory."""
        both_sparse = isinstance(X, Sparse) and isinstance(self.rows, Sparse)
        widest = max(len(self.rows), 8 * self.classes, 1 if both_sparse else X.shape[1])
        return max(1, BLOCK_BYTES // (8 * widest))

    def _starts(self, block: Any) -> Floats:
        """xᵀw₀ + b₀ of each row, a line for each class."""
        W, b = np.atleast_2d(self.start), np.atleast_1d(np.asarray(self.start_intercept, np.float64))
        if not W.any():
            return np.repeat(b[:, None], len(block), axis=1)
        rows = block if isinstance(block, Sparse) else block.astype(np.float64, copy=False)
        return np.ascontiguousarray((rows @ W.T + b).T)


def _products(rows: Any, block: Any) -> Floats:
    """G = U Xᵀ in double precision."""
    if isinstance(rows, Sparse) and isinstance(block, Sparse):
        found = rows.scipy().astype(np.float64) @ block.scipy().astype(np.float64).T
        return np.ascontiguousarray(found.toarray())
    dense = (block.dense() if isinstance(block, Sparse) else block).astype(np.float64, copy=False)
    if isinstance(rows, Sparse):
        return np.ascontiguousarray(rows @ np.ascontiguousarray(dense.T))
    G = np.empty((len(rows), len(dense)))
    step = len(rows) if rows.dtype == np.float64 else max(1, BLOCK_BYTES // (8 * max(1, rows.shape[1])))
    for lo in range(0, len(rows), max(1, step)):
        np.matmul(rows[lo : lo + step].astype(np.float64, copy=False), dense.T, out=G[lo : lo + step])
    return G
