"""The compiled count of votes: down the mistakes, for a block of rows at a time.

All vectors are as long as the block, so that every loop over them is vector instructions and all but one row of the
products stays in the cache. What the mistakes add up to is kept apart from the start and from the rate: of whole
numbers the sums are exact, whatever the rate, and so are the ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ..numerics.jit import EXACT, kernel, read, write


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
