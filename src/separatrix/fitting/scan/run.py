"""A run of a scan: pass after pass over the rows, until one makes no mistake or the passes are spent.

The perceptron, the perceptron on joint features and the kernel perceptron run in the same way; they differ in what they
do with a row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...numerics.arrays import Integers
from .online import row_order
from .perceptron import FOREVER


class Order(NamedTuple):
    """In which order the rows of a pass come."""

    kind: str
    """As `online.row_order` calls it."""
    shuffled: bool
    whole: bool
    """Whether every row comes once in a pass."""


ORDERS = {
    "cyclic": Order("cyclic", shuffled=False, whole=True),
    "random": Order("permutation", shuffled=True, whole=True),
    "replacement": Order("replacement", shuffled=True, whole=False),
}


@dataclass(frozen=True)
class Passes:
    """In which order the rows come, and for how long."""

    order: str
    seed: int
    most: float
    """Passes over the rows, at the most."""
    patience: int = FOREVER
    """Steps without a change after which the run ends."""

    def steps(self, rows: int) -> int:
        """How many there are at the most."""
        return min(FOREVER, max(1, round(self.most * rows)))

    def visits(self, rows: int, steps: int) -> Any:
        """How often each row came in so many steps, or a number that is no smaller."""
        how = ORDERS[self.order]
        if how.whole:
            return np.full(rows, -(-steps // rows))
        rng, count = np.random.default_rng(self.seed), np.zeros(rows, np.int64)
        for done in range(0, steps, rows):
            count += np.bincount(row_order(how.kind, rows, rng)[: steps - done], minlength=rows)
        return count


class PassRecord(NamedTuple):
    """One line of `history_`: a pass over the rows."""

    passes: float
    mistakes: int
    seconds: float


class Scan(Protocol):
    """What a run asks of a scan."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def steps(self) -> int:
        """Rows looked at so far, over all passes."""

    @property
    def mistakes(self) -> int:
        """So far."""

    @property
    def idle(self) -> int:
        """For how many steps what is learnt has not changed."""

    def turns(self, order: Integers, room: int) -> Iterator[None]:
        """Look at these rows in turn; pause after `room` mistakes at the latest."""

    def end(self, *, clean: bool) -> None:
        """The run is over; `clean`: a whole pass made no mistake."""


class Run:
    """The stretches of a scan, at most `room` mistakes in each: iterate, and look at the scan in between."""

    def __init__(self, scan: Scan, passes: Passes, room: int, began: float) -> None:
        self.scan, self.planned, self.room, self.began = scan, passes, room, began
        self.passes, self.ended = 0.0, "interrupted"
        self.history: list[PassRecord] = []

    def __iter__(self) -> Iterator[None]:
        """Afterwards `ended` says why: clean, patience or spent."""
        scan, n, how = self.scan, self.scan.rows, ORDERS[self.planned.order]
        rng, most, as_they_come = np.random.default_rng(self.planned.seed), self.planned.steps(n), np.arange(n)
        while scan.steps < most:
            before, number = scan.mistakes, len(self.history)
            order = row_order(how.kind, n, rng) if how.shuffled else as_they_come
            for _ in scan.turns(order[: most - scan.steps], self.room):
                self.passes = scan.steps / n
                record = PassRecord(self.passes, scan.mistakes - before, time.perf_counter() - self.began)
                self.history[number:] = [record]
                yield
                if scan.idle >= self.planned.patience:
                    return self._end("patience")
            if scan.mistakes == before and scan.steps >= (number + 1) * n and how.whole:
                return self._end("clean")
        return self._end("spent")

    def _end(self, why: str) -> None:
        self.scan.end(clean=why == "clean")
        self.ended = why
