"""The scan of the plain perceptron, with a reading that looks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.arrays import Integers
from ...results.mistake_log import MistakeLog
from .perceptron import FOREVER, PerceptronState, UpdateRule, check_scan, scan
from .readings import Reading
from .run import ORDERS, Passes


@dataclass(frozen=True, eq=False)
class Course:
    """The training rows, the update rule, and the passes."""

    X: Any
    target: Integers
    update: UpdateRule
    start: PerceptronState
    passes: Passes

    @property
    def unit(self) -> float:
        """η where the start is zero: then the scan counts in steps of η, and sums of rows are not rounded by it.

        So η changes no mistake, to the last bit.
        """
        return 1.0 if self.start.weights.any() or self.start.intercept.any() else self.update.rate

    @property
    def scanned(self) -> UpdateRule:
        """How it learns, in units of `unit`."""
        return replace(self.update, rate=self.update.rate / self.unit)


class PerceptronScan:
    """Where a run stands: the state, the mistakes of the last stretch, and what is read off them."""

    def __init__(self, course: Course, kind: type[Reading] = Reading, **options: Any) -> None:
        check_scan(course.start, course.X, course.target, np.arange(len(course.X)))
        self.course, self.state, self.log = course, course.start, MistakeLog.empty()
        self.reading = kind(course.X, course.target, course.scanned, course.start, **options)
        self._shuffled = ORDERS[course.passes.order].shuffled

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.course.X)

    @property
    def steps(self) -> int:
        """Rows looked at since the start."""
        return self.state.steps - self.course.start.steps

    @property
    def mistakes(self) -> int:
        """So far."""
        return self.state.mistakes

    @property
    def idle(self) -> int:
        """For how many steps what is read has not changed."""
        return self.reading.idle(self.state)

    def turns(self, order: Integers, room: int) -> Iterator[None]:
        """Look at these rows in turn, at most `room` mistakes in a stretch."""
        while order.size:
            before = self.state.steps
            self.state, self.log = self._stretch(order, room)
            order = order[self.state.steps - before :]
            yield

    def _stretch(self, order: Integers, room: int) -> tuple[PerceptronState, MistakeLog]:
        """The reading looks at weights whose run of right answers is a record, before the mistake that ends it."""
        course, reading, state = self.course, self.reading, self.state
        patience = course.passes.patience if reading.watches_weights else FOREVER
        if not reading.watches_weights:
            order = order[: max(1, course.passes.patience - reading.idle(state))]
        after, log = scan(
            state, course.X, course.target, order, course.scanned, room=room, patience=patience, record=reading.record,
            shuffled=self._shuffled, checked=True, logged=reading.wants_log or room == 1,
        )  # fmt: skip
        done = after.steps - state.steps
        if done < order.size and after.mistakes - state.mistakes < room and after.run < patience:
            reading.look(after)
            after, more = scan(
                after, course.X, course.target, order[done:], course.scanned, room=1, shuffled=self._shuffled,
                checked=True,
            )  # fmt: skip
            log = log + more
        reading.take(log, after)
        return after, log

    def end(self, *, clean: bool) -> None:
        """The run is over; `clean`: a whole pass made no mistake."""
        self.reading.end(self.state, clean=clean)
