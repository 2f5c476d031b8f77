"""A kernel perceptron that may keep only so many rows: what does not fit is removed at random, or projected.

Removal (Cavallanti, Cesa-Bianchi, Gentile 2007): a row that is too many takes the place of one drawn at random.
Projection (Orabona, Keshet, Caputo 2009): what it would have added is replaced by the nearest combination of the rows
that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ...data.kernels.gram import Block
from ...numerics.arrays import Floats, Integers
from .kernel_scan import BLOCK, KernelCourse, KernelScan

OWN = 1e-10
"""The part of k(x, x) that must be a row's own, for it to be no combination of the others."""


class BudgetCost(NamedTuple):
    """What a budget did to the weights."""

    budget: int
    overflow: str
    times: int
    """How often a row was removed, or a mistake projected."""
    lost: float
    """√Σ‖δ‖²: the length of all that was left out of the weights, each time on its own."""
    made: float
    """√Σ‖φ(x)‖² of all mistakes: the length of all that was to be added."""


class BudgetScan(KernelScan):
    """The scan with at most `budget` rows: scores are sums over these, so that none need be kept."""

    overflow: ClassVar[str]

    def __init__(self, course: KernelCourse, block: Block, budget: int) -> None:
        super().__init__(course, block)
        self.scores, self.budget = _NoScores(), budget
        self.held: list[int] = []
        self.slots = min(budget, len(course.rows))
        self.A, self.early = np.zeros((course.lines, self.slots)), np.zeros((course.lines, self.slots))
        self.times, self.lost, self.added = 0, 0.0, 0.0

    @property
    def cost(self) -> BudgetCost:
        """So far."""
        return BudgetCost(self.budget, self.overflow, self.times, float(np.sqrt(self.lost)), float(np.sqrt(self.added)))

    def coefficients(self, reading: str) -> tuple[Integers, Floats]:
        """The rows that are held, and α; of all T + 1 weights the mean, where rows are never removed."""
        held, u = np.array(self.held, np.int64), len(self.held)
        A = self.A[:, :u] - self.early[:, :u] / (self.steps + 1) if reading == "averaged" else self.A[:, :u].copy()
        order = np.argsort(held)
        return held[order], A[:, order]

    def _stretches(self, order: Integers, room: int) -> Iterator[None]:
        local, turns = np.unique(order, return_inverse=True)
        turns = turns.ravel().astype(np.int64)
        K, G = self.between(local, local), np.zeros((self.slots, len(local)))
        self._look_at(K, local)
        K += float(self.course.lifted)
        u = len(self.held)
        if u:
            G[:u] = self.between(np.array(self.held), local) + float(self.course.lifted)
        with np.errstate(over="ignore", invalid="ignore"):  # who decides looks at what is not finite
            s = self.A[:, :u] @ G[:u]
        while turns.size and self.idle < self.course.passes.patience:
            before = self.lines.length
            done = self.decide(K, turns, local, s, 1)
            if self.lines.length > before:
                self._settle(K, G, s, int(turns[done - 1]), int(local[turns[done - 1]]), before)
            turns = turns[done:]
            yield

    @np.errstate(over="ignore", invalid="ignore")
    def _settle(self, K: Floats, G: Floats, s: Floats, i: int, row: int, before: int) -> None:
        """The row that was mistaken finds a place; the scores s have moved already, as if there were no budget."""
        _, _, up, down = self.lines.part(before)
        move = np.zeros(self.course.lines)
        np.add.at(move, up[up >= 0], 1.0)
        np.add.at(move, down[down >= 0], -1.0)
        self.added += float(move @ move) * K[i, i]
        if row in self.held:
            self._add(self.held.index(row), move)
        else:
            self._take_in(K, G, s, i, row, move)

    def _take_in(self, K: Floats, G: Floats, s: Floats, i: int, row: int, move: Floats) -> None:
        """A row that is not held yet."""
        raise NotImplementedError

    def _add(self, slot: Any, move: Floats) -> None:
        self.A[:, slot] += move
        self.early[:, slot] += self.steps * move  # the step has been counted

    def _hold(self, slot: int, row: int, G: Floats, k: Floats) -> None:
        G[slot] = k
        self.held[slot:] = [row, *self.held[slot + 1 :]]

    def _length(self, row: int) -> float:
        """k(x, x)."""
        one = np.array([row])
        return float(self.between(one, one)[0, 0]) + self.course.lifted

    def settle(self) -> None:
        """What is held is what counts, whatever was begun."""
        self.forget()

    @np.errstate(over="ignore", invalid="ignore")
    def all_scores(self) -> Floats:
        held, A = self.coefficients("last")
        n, parts = len(self.course.rows), [np.empty((self.course.lines, 0))]
        for lo in range(0, n, BLOCK):
            G = self.between(held, np.arange(lo, min(lo + BLOCK, n))) + float(self.course.lifted)
            parts.append(A @ G)
        return np.concatenate(parts, axis=1)


class RemovalScan(BudgetScan):
    """A row that is too many takes the place of one drawn at random."""

    overflow = "remove"

    def __init__(self, course: KernelCourse, block: Block, budget: int) -> None:
        super().__init__(course, block, budget)
        self.rng = np.random.default_rng([course.passes.seed, 1])

    def _take_in(self, K: Floats, G: Floats, s: Floats, i: int, row: int, move: Floats) -> None:
        u = len(self.held)
        if u < self.slots:
            self._hold(u, row, G, K[i])
            self._add(u, move)
        else:
            self._replace(int(self.rng.integers(u)), row, move, G, K[i], s)

    def _replace(self, slot: int, row: int, move: Floats, G: Floats, k: Floats, s: Floats) -> None:
        alpha = self.A[:, slot].copy()
        s -= np.outer(alpha, G[slot])
        self.times += 1
        self.lost += float(alpha @ alpha) * self._length(self.held[slot])
        self._hold(slot, row, G, k)
        self.A[:, slot] = move


class ProjectionScan(BudgetScan):
    """What a row that is too many would have added is replaced by the nearest combination of the rows held."""

    overflow = "project"

    def __init__(self, course: KernelCourse, block: Block, budget: int) -> None:
        super().__init__(course, block, budget)
        self.L = np.zeros((self.slots,) * 2, order="F")

    def _take_in(self, K: Floats, G: Floats, s: Floats, i: int, row: int, move: Floats) -> None:
        u = len(self.held)
        L = self.L[:u, :u]
        half = solve_triangular(L, G[:u, i], lower=True, check_finite=False) if u else np.empty(0)
        left = float(K[i, i] - half @ half)
        if u < self.slots and left > OWN * K[i, i]:
            self.L[u, :u], self.L[u, u] = half, np.sqrt(left)
            self._hold(u, row, G, K[i])
            self._add(u, move)
            return
        d = solve_triangular(L, half, lower=True, trans="T", check_finite=False) if u else half
        self._add(slice(0, u), np.outer(move, d))
        s += np.outer(move, d @ G[:u] - K[i])
        if left > OWN * K[i, i]:
            self.times += 1
            self.lost += float(move @ move) * left


OVERFLOWS: dict[str, type[BudgetScan]] = {each.overflow: each for each in (RemovalScan, ProjectionScan)}
"""What is done with a row that the budget has no room for."""


class _NoScores:
    """Scores are made anew for each block."""

    def of(self, local: Integers) -> Floats:
        raise NotImplementedError

    def keep(self, local: Integers, s: Floats) -> None:
        """Nothing is kept."""
