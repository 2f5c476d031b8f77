"""The kernel perceptron's scan: scores that are brought up to date when a row comes, never before.  [000 §8.2.3]

A block of rows comes. What the mistakes since its last turn add to its scores is one block of the kernel's matrix,
shared by all classes; then the rows are decided one by one with the block's own matrix. Sums are in the order of the
log, however the rows are divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...data.kernels.gram import (
    NEARLY,
    Block,
    CustomKernel,
    Kernel,
    Matrix,
    check_finite,
    check_symmetric,
    whole_matrix,
)
from ...data.kernels.tables import TableKernel
from ...numerics.arrays import Floats, Integers
from ...numerics.jit import EXACT, kernel, read, write
from ...results import expansion
from ...results.expansion import JOINT, TWO, log_of
from ...results.mistake_log import MistakeLog
from .perceptron import TIES, NotFiniteScoreError
from .run import Passes

BLOCK = 512
"""Rows that are decided with one matrix of their own."""
WHOLE = 1 << 24
"""Numbers of a user's own kernel that are kept, so that it is asked for each pair of rows once."""
SEGMENT = 4096
"""Mistakes that a block catches up with at a time: their part of the matrix takes 16 MB."""


@dataclass(frozen=True, eq=False)
class KernelCourse:
    """The training rows, the kernel, and the passes."""

    rows: Any
    """Rows of numbers, `Objects`, or `Places` in a matrix."""
    target: Integers
    kernel: Kernel
    lifted: bool
    """Whether there is an intercept: then k is k + 1."""
    way: int
    """Two classes, K classes that compete, or each against the rest: see `kernel_turns`."""
    lines: int
    ties: str
    passes: Passes


Between = Callable[[Integers, Integers], Floats]


class GrowingLog:
    """The lines of a log while it grows."""

    def __init__(self) -> None:
        self._all, self.length = np.empty((4, 1024), np.int64), 0

    def add(self, rows: Integers, steps: Integers, up: Integers, down: Integers) -> None:
        """Some more lines."""
        end = self.length + len(rows)
        while end > self._all.shape[1]:
            self._all = np.concatenate([self._all, np.empty_like(self._all)], axis=1)
        self._all[:, self.length : end] = rows, steps, up, down
        self.length = end  # last: Ctrl-C may come at any time

    def part(self, lo: int, hi: int | None = None) -> Integers:
        """Rows, steps, and which line rose and fell."""
        return self._all[:, lo : self.length if hi is None else min(hi, self.length)]


class Scores(Protocol):
    """Where the scores of rows come from."""

    def of(self, local: Integers) -> Floats:
        """Those of these rows under the weights in hand, lines × rows."""

    def keep(self, local: Integers, s: Floats) -> None:
        """They have seen the whole log."""


class KeptScores:
    """Scores that are kept, with the length of the log that they have seen."""

    def __init__(self, course: KernelCourse, between: Between, log: GrowingLog) -> None:
        self.course, self.between, self.log = course, between, log
        self.s, self.seen = np.zeros((course.lines, len(course.rows))), np.zeros(len(course.rows), np.int64)

    def of(self, local: Integers) -> Floats:
        """Caught up with the mistakes since."""
        s, seen = np.ascontiguousarray(self.s[:, local]), self.seen[local]
        for lo in range(int(seen.min(initial=self.log.length)), self.log.length, SEGMENT):
            rows, _, up, down = np.ascontiguousarray(self.log.part(lo, lo + SEGMENT))
            distinct, place = np.unique(rows, return_inverse=True)
            G = self.between(distinct, local)
            G += float(self.course.lifted)
            catch_up_kernel()(G, place.ravel().astype(np.int64), up, down, lo, seen, s)
        return s

    def keep(self, local: Integers, s: Floats) -> None:
        self.s[:, local], self.seen[local] = s, self.log.length


class PrimalScores:
    """Scores of a kernel g·xᵀz + c: the weights themselves are at hand."""

    def __init__(self, course: KernelCourse, affine: tuple[float, float], log: GrowingLog) -> None:
        self.course, self.log, self.done = course, log, 0
        self.slope, self.level = affine[0], affine[1] + course.lifted
        self.W, self.b = np.zeros((course.lines, course.rows.shape[1])), np.zeros(course.lines)

    @np.errstate(over="ignore", invalid="ignore")  # who decides looks at what is not finite
    def of(self, local: Integers) -> Floats:
        """g·Wx + b, W being a sum of rows."""
        rows, _, up, down = self.log.part(self.done)
        for k in range(self.course.lines):
            for moved, sign in ((rows[up == k], 1.0), (rows[down == k], -1.0)):
                if moved.size:
                    self.W[k] += sign * self.course.rows[moved].pull(np.ones(moved.size))
                    self.b[k] += sign * moved.size
        self.done = self.log.length
        s = (self.course.rows[local] @ self.W.T).T
        return np.ascontiguousarray(self.slope * s + (self.level * self.b)[:, None])

    def keep(self, local: Integers, s: Floats) -> None:
        """Nothing is kept but the weights."""


class KernelScan:
    """Where a run stands: the log, the scores, the steps."""

    def __init__(self, course: KernelCourse, block: Block) -> None:
        self.course, self.block, self.lines = course, block, GrowingLog()
        self.steps, self.idle, self.longest = 0, 0, 0.0
        small = isinstance(course.kernel, CustomKernel) and len(course.rows) ** 2 <= WHOLE
        self.whole = whole_matrix(course.kernel, course.rows, BLOCK) if small else None
        self.scores: Scores = self._scores()

    def _scores(self) -> Scores:
        kernel = self.course.kernel
        affine = kernel.affine if isinstance(kernel, TableKernel) else None
        return (
            PrimalScores(self.course, affine, self.lines)
            if affine
            else KeptScores(self.course, self.between, self.lines)
        )

    def between(self, one: Integers, other: Integers) -> Floats:
        """k of these rows, by their places; a function of the user's own is asked once where all its answers fit."""
        if self.whole is not None:
            return self.whole[np.ix_(one, other)]  # type: ignore[no-any-return]
        G = self.block(self.course.rows[one], self.course.rows[other])
        if isinstance(self.course.kernel, CustomKernel):
            check_finite(G, one, other)
        return G

    def settle(self) -> None:
        """After Ctrl-C: what was begun and is not counted is forgotten, by the log and by the scores."""
        if self.forget() or isinstance(self.scores, PrimalScores):
            self.scores = self._scores()

    def forget(self) -> bool:
        """Lines of the log whose step is not counted; whether there were any."""
        before, self.lines.length = self.lines.length, int(np.searchsorted(self.lines.part(0)[1], self.steps))
        return self.lines.length < before

    @property
    def mistakes(self) -> int:
        """So far; one against the rest, those of all machines."""
        return self.lines.length

    @property
    def log(self) -> MistakeLog:
        """All mistakes so far."""
        return self.since(0)

    def since(self, first: int) -> MistakeLog:
        """The mistakes after the first so many."""
        rows, steps, up, down = self.lines.part(first).copy()
        return log_of(rows, steps, up, down, self.steps, self.course.lines)

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.course.rows)

    def turns(self, order: Integers, room: int) -> Iterator[None]:
        """Look at these rows in turn, at most `room` mistaken rows in a stretch."""
        for lo in range(0, order.size, BLOCK):
            yield from self._stretches(order[lo : lo + BLOCK], room)

    def end(self, *, clean: bool) -> None:
        """Nothing is left to be done."""

    def _stretches(self, order: Integers, room: int) -> Iterator[None]:
        local, turns = np.unique(order, return_inverse=True)
        turns = turns.ravel().astype(np.int64)
        s = self.scores.of(local)
        K = self.between(local, local)
        self._look_at(K, local)
        K += float(self.course.lifted)
        while turns.size and self.idle < self.course.passes.patience:
            done = self.decide(K, turns, local, s, room)
            turns = turns[done:]
            yield

    def decide(self, K: Floats, turns: Integers, local: Integers, s: Floats, room: int) -> int:
        """Some turns: the scores move with the log. How many there were."""
        course = self.course
        most = min(turns.size, room) * (course.lines if course.lines > 1 else 1)
        at, up, down = (np.empty(most, np.int64) for _ in range(3))
        done, made, run = turns_kernel()(
            K, turns, course.target[local], course.way, TIES[course.ties], room, course.passes.patience, self.idle, s,
            at, up, down,
        )  # fmt: skip
        if run < 0:
            raise NotFiniteScoreError
        at = at[:made]
        self.lines.add(local[turns[at]], at + self.steps, up[:made], down[:made])
        self.scores.keep(local, s)
        self.steps, self.idle = self.steps + done, run
        return int(done)

    def _look_at(self, K: Floats, local: Integers) -> None:
        """A kernel of the user's is found to be symmetric on every block; how long the longest row is."""
        kernel = self.course.kernel
        if isinstance(kernel, CustomKernel | Matrix):
            check_symmetric(K, local, kernel.nearly if isinstance(kernel, Matrix) else NEARLY)
        self.longest = max(self.longest, float(np.diagonal(K).max(initial=0.0)) + self.course.lifted)

    def all_scores(self) -> Floats:
        """Those of all rows under the weights in hand, lines × rows."""
        n = len(self.course.rows)
        return np.concatenate([self.scores.of(np.arange(lo, min(lo + BLOCK, n))) for lo in range(0, n, BLOCK)], axis=1)


# The compiled turns of a kernel perceptron: scores of a block of rows, moved by mistakes.
#
# All vectors are as long as the block, so that every loop over them is vector instructions. Scores are kept one line
# a
# class, of two classes one line in all. What a mistake does to them is one class that rises and one that falls, by
# the
# kernel's numbers; −1 where there is none.


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


@kernel(expansion)
def turns_kernel() -> Any:
    """The compiled `_decide`."""
    i, ties, log = types.int64, types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(i, 3)(
        read("float64", 2), read("int64"), read("int64"), i, ties, i, i, i, write("float64", 2), log, log, log
    )
    return _decide, signature
