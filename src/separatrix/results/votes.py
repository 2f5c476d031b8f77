"""The vote of all the weights that a perceptron ever had: read from its mistake log, never built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ..data.block import Block, block_of
from ..numerics.arrays import Floats, Integers
from ..numerics.jit import EXACT, kernel, read, write
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
    """The distinct rows that were mistaken."""
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
        place = place.ravel().astype(np.int64)
        return cls(
            np.asarray(start, np.float64), start_intercept, block_of(X)[distinct], place, log.own, log.rival,
            float(rate), bool(lifted), log.votes(tail), int(classes),
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
        X, own = block_of(X), block_of(self.rows)
        size = self._block_rows(X, own)

        def count(lo: int) -> tuple[int, Floats, Integers]:
            block, truths = X[lo : lo + size], np.empty(0, np.int64) if truth is None else truth[lo : lo + size]
            with np.errstate(over="ignore", invalid="ignore"):
                starts, G = self._starts(block), own.products(block)
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
        many, votes = self.classes > 2, self.votes.astype(np.float64)
        out, wrong = np.empty((len(cuts), self.classes if many else 1, G.shape[1])), np.zeros(len(votes), np.int64)
        vote_kernel(many)(
            G, self.place, self.own, self.rival, float(self.lifted), self.rate, starts, votes, cuts, rest, truths, out,
            wrong,
        )  # fmt: skip
        return out, wrong

    def _block_rows(self, X: Block, own: Block) -> int:
        """So many rows that neither their products nor, where they are dense, they themselves need much memory."""
        widest = max(len(own), 8 * self.classes, 1 if X.by_numbers and own.by_numbers else X.shape[1])
        return max(1, BLOCK_BYTES // (8 * widest))

    def _starts(self, block: Block) -> Floats:
        """xᵀw₀ + b₀ of each row, a line for each class."""
        W, b = np.atleast_2d(self.start), np.atleast_1d(np.asarray(self.start_intercept, np.float64))
        if not W.any():
            return np.repeat(b[:, None], len(block), axis=1)
        return np.ascontiguousarray((block @ W.T + b).T)


# The compiled count of votes: down the mistakes, for a block of rows at a time.
#
# All vectors are as long as the block, so that every loop over them is vector instructions and all but one row of the
# products stays in the cache. What the mistakes add up to is kept apart from the start and from the rate: of whole
# numbers the sums are exact, whatever the rate, and so are the ties.


@register_jitable(**EXACT)
def _vote(start, rate, added, votes, positive):  # type: ignore[no-untyped-def]
    """positive ← positive + votes · 1[start + η·added > 0]."""
    for i in range(added.size):
        positive[i] += votes if start[i] + rate * added[i] > 0 else 0.0


@register_jitable(**EXACT)
def _move_and_vote(start, rate, g, sign, lift, added, votes, positive):  # type: ignore[no-untyped-def]
    """added ← added ± (g + lift), and the votes of the weights that come of it, in one sweep."""
    for i in range(added.size):
        a = added[i] + sign * (g[i] + lift)
        added[i] = a
        positive[i] += votes if start[i] + rate * a > 0 else 0.0


@register_jitable(**EXACT)
def _move(g, sign, lift, added):  # type: ignore[no-untyped-def]
    """added ← added ± (g + lift)."""
    for i in range(added.size):
        added[i] += sign * (g[i] + lift)


@register_jitable(**EXACT)
def _wrong(start, rate, added, truth):  # type: ignore[no-untyped-def]
    """How many rows these weights get wrong."""
    count = 0
    for i in range(added.size):
        said = 1 if start[i] + rate * added[i] > 0 else 0
        count += said != truth[i]
    return count


def _two_classes(G, place, own, rival, lift, rate, starts, votes, cuts, rest, truth, out, wrong):  # type: ignore[no-untyped-def]
    """positive[j] = Σₗ votes[l] · 1[xᵀwₗ + bₗ > 0] over the weights up to cut j, the last of them with rest[j] votes.

    With the true classes, also how many rows each vector of weights that has votes gets wrong.
    """
    start, added, positive = starts[0], np.zeros(G.shape[1]), np.zeros(G.shape[1])
    _vote(start, rate, added, votes[0], positive)
    cut = 0
    for m in range(votes.size):
        if truth.size and votes[m] > 0:
            wrong[m] += _wrong(start, rate, added, truth)
        while cut < cuts.size and cuts[cut] == m:
            out[cut, 0] = positive
            _vote(start, rate, added, rest[cut] - votes[m], out[cut, 0])
            cut += 1
        if m == place.size:
            break
        g, sign = G[place[m]], 1.0 if own[m] == 1 else -1.0
        if votes[m + 1] > 0:
            _move_and_vote(start, rate, g, sign, lift, added, votes[m + 1], positive)
        else:
            _move(g, sign, lift, added)


@register_jitable(**EXACT)
def _rescore(start, rate, g, sign, lift, added, score):  # type: ignore[no-untyped-def]
    """added ← added ± (g + lift), score = start + η·added."""
    for i in range(added.size):
        a = added[i] + sign * (g[i] + lift)
        added[i] = a
        score[i] = start[i] + rate * a


@register_jitable(**EXACT)
def _win(score, top, winner):  # type: ignore[no-untyped-def]
    """winner = argmaxₖ score[k], the first of equals."""
    for i in range(top.size):
        top[i] = score[0, i]
        winner[i] = 0
    for k in range(1, len(score)):
        s = score[k]
        for i in range(top.size):
            above = s[i] > top[i]
            top[i] = s[i] if above else top[i]
            winner[i] = k if above else winner[i]


@register_jitable(**EXACT)
def _win_again(score, a, b, top, winner):  # type: ignore[no-untyped-def]
    """The winners after the scores of a and b have moved: all classes are asked only where one of these two had won."""
    for i in range(top.size):
        w = winner[i]
        if w == a or w == b:  # noqa: SIM109  a tuple would be built
            best, w = score[0, i], 0
            for k in range(1, len(score)):
                if score[k, i] > best:
                    best, w = score[k, i], k
            top[i], winner[i] = best, w
            continue
        best = top[i]
        for k in (a, b):
            s = score[k, i]
            if s > best or (s == best and k < w):
                best, w = s, k
        top[i], winner[i] = best, w


@register_jitable(**EXACT)
def _credit(winner, holder, since, clock, share):  # type: ignore[no-untyped-def]
    """Where the class changes, the one that held the row gets all votes since it took it: changes are rare."""
    for i in range(winner.size):
        if winner[i] != holder[i]:
            share[holder[i], i] += clock - since[i]
            holder[i], since[i] = winner[i], clock


def _many_classes(G, place, own, rival, lift, rate, start, votes, cuts, rest, truth, out, wrong):  # type: ignore[no-untyped-def]
    """share[j, k] = Σₗ votes[l] · 1[argmax Wₗx + bₗ = k] over the weights up to cut j, the last with rest[j] votes."""
    n = G.shape[1]
    score, added, share = start.copy(), np.zeros(start.shape), np.zeros(start.shape)
    top, since, clock = np.empty(n), np.zeros(n), 0.0
    winner, holder = np.zeros(n, np.int64), np.zeros(n, np.int64)
    cut = 0
    _win(score, top, winner)
    for m in range(votes.size):
        if votes[m] > 0:
            _credit(winner, holder, since, clock, share)
            for i in range(truth.size):
                wrong[m] += winner[i] != truth[i]
        while cut < cuts.size and cuts[cut] == m:
            out[cut] = share
            for i in range(n):
                out[cut, holder[i], i] += clock + rest[cut] - since[i]
            cut += 1
        if m == place.size:
            break
        clock += votes[m]
        g, a, b = G[place[m]], own[m], rival[m]
        _rescore(start[a], rate, g, 1.0, lift, added[a], score[a])
        _rescore(start[b], rate, g, -1.0, lift, added[b], score[b])
        _win_again(score, a, b, top, winner)


@kernel()
def vote_kernel(many: bool) -> Any:
    """The compiled count for two classes, or for more."""
    places, f = read("int64"), types.float64
    signature = types.void(
        read("float64", 2), places, places, places, f, f, read("float64", 2), read(), places, read(), places,
        write("float64", 3), write("int64"),
    )  # fmt: skip
    return _many_classes if many else _two_classes, signature
