"""The compiled turns of a kernel perceptron: scores of a block of rows, moved by mistakes.

All vectors are as long as the block, so that every loop over them is vector instructions. Scores are kept one line a
class, of two classes one line in all. What a mistake does to them is one class that rises and one that falls, by the
kernel's numbers; −1 where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...numerics.jit import EXACT, kernel, read, write
from ...results import dual
from ...results.dual import JOINT, TWO


@register_jitable(**EXACT)
def _move(g, up, down, s):  # type: ignore[no-untyped-def]
    """s_up ← s_up + g, s_down ← s_down − g."""
    if up >= 0:
        line = s[up]
        for i in range(g.size):
            line[i] += g[i]
    if down >= 0:
        line = s[down]
        for i in range(g.size):
            line[i] -= g[i]


def _catch_up(G, place, up, down, first, seen, s):  # type: ignore[no-untyped-def]
    """sᵢ ← sᵢ + Σₗ ±k(xₗ, xᵢ) over the mistakes l that row i has not seen yet, in the order of the log."""
    alike = seen.size == 0 or (seen.min() == seen.max() and seen[0] <= first)
    for m in range(place.size):
        g = G[place[m]]
        if alike:
            _move(g, up[m], down[m], s)
            continue
        if up[m] >= 0:
            line = s[up[m]]
            for i in range(g.size):
                line[i] += g[i] if first + m >= seen[i] else 0.0
        if down[m] >= 0:
            line = s[down[m]]
            for i in range(g.size):
                line[i] -= g[i] if first + m >= seen[i] else 0.0


@register_jitable(**EXACT)
def _rival(s, i, y, tied):  # type: ignore[no-untyped-def]
    """The strongest other class, of equals the first; the last, where a tie is for the later class. And its lead."""
    best, other = -np.inf, -1
    for k in range(len(s)):
        if k != y:
            z = s[k, i]
            if z > best or other < 0 or (z == best and tied[0] and not tied[1]):
                best, other = z, k
    return other, s[y, i] - best


def _decide(K, turns, target, way, tied, room, patience, run, s, at, up, down):  # type: ignore[no-untyped-def]
    """The rows of a block in turn: where one is on the wrong side, all scores of the block move.

    Returns how many turns were taken, how many lines of the log they filled, and the run of right answers, −1 if a
    score was not finite. It stops right after `room` rows that were mistaken, or after `patience` right answers.
    """
    made, wrong = 0, 0
    for n in range(turns.size):
        i = turns[n]
        y, before = target[i], made
        if way == JOINT:
            other, m = _rival(s, i, y, tied)
            if not (m > -np.inf and m < np.inf):
                return n, made, -1
            if m < 0 or (m == 0 and (tied[1] if other < y else tied[0])):
                at[made], up[made], down[made] = n, y, other
                made += 1
        else:
            for k in range(len(s)):
                own = y == (1 if way == TWO else k)
                m = s[k, i] if own else -s[k, i]
                if not (m > -np.inf and m < np.inf):
                    return n, before, -1
                if m < 0 or (m == 0 and (tied[1] if own else tied[0])):
                    at[made], up[made], down[made] = n, k if own else -1, -1 if own else k
                    made += 1
        if made == before:
            run += 1
            if run >= patience:
                return n + 1, made, run
            continue
        run, wrong = 0, wrong + 1
        for line in range(before, made):
            _move(K[i], up[line], down[line], s)
        if wrong == room:
            return n + 1, made, run
    return turns.size, made, run


@kernel()
def catch_up_kernel() -> Any:
    """The compiled `_catch_up`."""
    places, scores = read("int64"), write("float64", 2)
    return _catch_up, types.void(read("float64", 2), places, places, places, types.int64, places, scores)


@kernel(dual)
def turns_kernel() -> Any:
    """The compiled `_decide`."""
    i, ties, log = types.int64, types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(i, 3)(
        read("float64", 2), read("int64"), read("int64"), i, ties, i, i, i, write("float64", 2), log, log, log
    )
    return _decide, signature
