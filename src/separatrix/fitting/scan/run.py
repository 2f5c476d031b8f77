"""A perceptron's run: pass after pass over the rows, until one makes no mistake or the budget is spent."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Integers
from ...results.mistake_log import MistakeLog
from .online import row_order
from .perceptron import FOREVER, Manner, PerceptronState, check_scan, scan
from .readings import Reading


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


@dataclass(frozen=True, eq=False)
class Course:
    """The rows, in which order, for how long."""

    X: Any
    target: Integers
    manner: Manner
    start: PerceptronState
    order: str
    seed: int
    max_passes: float
    patience: int = FOREVER

    @property
    def unit(self) -> float:
        """η where the start is zero: then the scan counts in steps of η, and sums of rows are not rounded by it.

        So η changes no mistake, to the last bit.
        """
        return 1.0 if self.start.weights.any() or self.start.intercept.any() else self.manner.rate

    @property
    def scanned(self) -> Manner:
        """How it learns, in units of `unit`."""
        return replace(self.manner, rate=self.manner.rate / self.unit)

    @property
    def steps(self) -> int:
        """How many there are at the most."""
        return min(FOREVER, max(1, round(self.max_passes * len(self.X))))


class Stretch(NamedTuple):
    """A part of a run that the scan did in one go."""

    state: PerceptronState
    log: MistakeLog
    passes: float
    pass_number: int
    """From one on."""
    mistakes: int
    """In this pass so far."""


Run = Generator[Stretch, None, str]


def run(course: Course, reading: Reading, room: int) -> Run:
    """Stretch after stretch, at most `room` mistakes in each; returns why it ended: clean, patience or spent."""
    n, rng, state = len(course.X), np.random.default_rng(course.seed), course.start
    first, number, as_they_come, how = state.steps, 0, np.arange(n), ORDERS[course.order]
    check_scan(state, course.X, course.target, as_they_come)
    while state.steps - first < course.steps:
        number += 1
        before = state.mistakes
        order = row_order(how.kind, n, rng) if how.shuffled else as_they_come
        order = order[: course.steps - (state.steps - first)]
        while order.size:
            done, state, log = _stretch(course, reading, order, state, room, how.shuffled)
            order = order[done:]
            passes = (state.steps - first) / n
            yield Stretch(state, log, passes, number, state.mistakes - before)
            if reading.idle(state) >= course.patience:
                reading.end(state, clean=False)
                return "patience"
        if state.mistakes == before and state.steps - first >= number * n and how.whole:
            reading.end(state, clean=True)
            return "clean"
    reading.end(state, clean=False)
    return "spent"


def _stretch(
    course: Course, reading: Reading, order: Integers, state: PerceptronState, room: int, shuffled: bool
) -> tuple[int, PerceptronState, MistakeLog]:
    """Rows done, and where they led. A record that a mistake ends is looked at first; then the mistake is made."""
    patience = course.patience if reading.watches_weights else FOREVER
    if not reading.watches_weights:
        order = order[: max(1, course.patience - reading.idle(state))]
    after, log = scan(
        state, course.X, course.target, order, course.scanned, room=room, patience=patience, record=reading.record,
        shuffled=shuffled, checked=True, logged=reading.wants_log or room == 1,
    )  # fmt: skip
    done = after.steps - state.steps
    if done < order.size and after.mistakes - state.mistakes < room and after.run < patience:
        reading.look(after)
        rest, more = scan(
            after, course.X, course.target, order[done:], course.scanned, room=1, shuffled=shuffled, checked=True
        )
        after, log = rest, log + more
    reading.take(log, after)
    return after.steps - state.steps, after, log


def visits(order: str, seed: int, n: int, steps: int) -> Any:
    """How often each of n rows came in so many steps, or a number that is no smaller."""
    how = ORDERS[order]
    if how.whole:
        return np.full(n, -(-steps // n))
    rng, count = np.random.default_rng(seed), np.zeros(n, np.int64)
    for done in range(0, steps, n):
        count += np.bincount(row_order(how.kind, n, rng)[: steps - done], minlength=n)
    return count
