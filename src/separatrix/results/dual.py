"""Dual weights: w = Σᵢ αᵢ yᵢ φ(xᵢ), αᵢ the number of mistakes on row i: prefix sums of the log.  [000 8.17]"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Floats, Integers
from .mistake_log import MistakeLog

TWO = 0
"""Two classes and one line of weights."""
JOINT = 1
"""K lines of weights that compete."""
ONE_VS_REST = 2
"""K lines of weights, each for one class against the rest."""


def moves(log: MistakeLog, lines: int) -> tuple[Integers, Integers]:
    """Which line of weights rose and which fell at each mistake, −1 for none; of two classes there is one line."""
    if lines > 1:
        return log.own, log.rival
    none = np.full(len(log), -1)
    return np.where(log.own == 1, 0, none), np.where(log.own == 1, none, 0)


def log_of(rows: Integers, steps: Integers, up: Integers, down: Integers, seen: int, lines: int) -> MistakeLog:
    """The log of such moves."""
    if lines > 1:
        return MistakeLog(rows, steps, up, down, seen)
    own = (up == 0).astype(np.int64)
    return MistakeLog(rows, steps, own, 1 - own, seen)


@dataclass(frozen=True, eq=False)
class Dual:
    """The weights after any number of steps, by their coefficients on the rows that were mistaken."""

    support: Integers
    """The rows that were ever mistaken, each once."""
    place: Integers
    """Which of them each mistake was."""
    log: MistakeLog
    lines: int
    """One for two classes, else one for each class."""

    @classmethod
    def of(cls, log: MistakeLog, lines: int) -> Dual:
        """The coefficients of a log."""
        support, place = np.unique(log.rows, return_inverse=True)
        return cls(support.astype(np.int64), place.ravel().astype(np.int64), log, lines)

    def last(self, seen: int | None = None) -> Floats:
        """α = Σₗ ±1 over the mistakes on each row of the support, after so many steps: lines × rows."""
        return self._sum(np.ones(len(self.log)), seen)

    def averaged(self, seen: int | None = None) -> Floats:
        """ᾱ = ((T + 1) α − Σₗ ±(sₗ + 1))/(T + 1): of the mean of all T + 1 weights."""
        count = (self.log.seen if seen is None else min(seen, self.log.seen)) + 1
        early = self._sum(self.log.steps + 1.0, seen)
        return (count * self.last(seen) - early) / count  # type: ignore[no-any-return]

    def machine(self, line: int) -> MistakeLog:
        """One against the rest: the log of one line, as that of two classes."""
        log = self.log
        here = (log.own == line) | (log.rival == line)
        own = (log.own[here] == line).astype(np.int64)
        return replace(log, rows=log.rows[here], steps=log.steps[here], own=own, rival=1 - own)

    def supported(self, seen: int) -> int:
        """How many rows had been mistaken after so many steps."""
        return len(np.unique(self.place[: np.searchsorted(self.log.steps, seen)]))

    def _sum(self, size: Any, seen: int | None) -> Floats:
        k = len(self.log) if seen is None else int(np.searchsorted(self.log.steps, seen))
        up, down = moves(self.log, self.lines)
        found, cells = np.zeros(self.lines * len(self.support)), self.lines * len(self.support)
        for line, sign in ((up[:k], 1.0), (down[:k], -1.0)):
            there = line >= 0
            where = line[there] * len(self.support) + self.place[:k][there]
            found += sign * np.bincount(where, size[:k][there], cells)
        return found.reshape(self.lines, -1)
