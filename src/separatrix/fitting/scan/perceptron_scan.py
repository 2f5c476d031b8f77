"""The scan of the plain perceptron, with a reading that looks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.arrays import Floats, Integers
from ...results.mistake_log import MistakeLog
from .perceptron import FOREVER, TIES, PerceptronState, UpdateRule, check_scan, scan, sum_of_mistakes
from .run import ORDERS, Passes
from .tally import mistakes_of

# What can be read off a mistake log while it grows: the last weights, their mean, their votes, the best of them.


class Reading:
    """The last weights: nothing need be kept."""

    record = FOREVER
    """Before a mistake that ends a longer run of right answers, the reading wants to look at the weights."""
    watches_weights = True
    """Whether what is read changes whenever the weights do."""
    wants_log = False
    """Whether it is made from the mistakes, not only from the weights."""

    def __init__(self, X: Any, target: Any, update: UpdateRule, state: PerceptronState) -> None:
        self.X, self.target, self.update, self.state = X, target, update, state

    def take(self, log: MistakeLog, state: PerceptronState) -> None:
        """A stretch of the scan is over."""
        self.state = state

    def look(self, state: PerceptronState) -> None:
        """The run of these weights has ended, and was longer than the record."""

    def end(self, state: PerceptronState, *, clean: bool) -> None:
        """The scan is over; `clean`: a whole pass made no mistake."""

    def idle(self, state: PerceptronState) -> int:
        """For how many steps what is read has not changed."""
        return state.run

    def weights(self) -> tuple[Floats, Floats]:
        """W and b as they are read."""
        return self.state.weights, self.state.intercept


class Average(Reading):
    """w̄ = (1/(T + 1)) Σₜ wₜ = w − (1/(T + 1)) Σₗ η(sₗ + 1)yₗxₗ, over f̂₁, …, f̂_{T+1}; sₗ are the steps of the log.

    The sum is taken as the log grows; the log need not be kept.
    """

    wants_log = True

    def __init__(self, X: Any, target: Any, update: UpdateRule, state: PerceptronState) -> None:
        super().__init__(X, target, update, state)
        self.early: tuple[Floats, ...] = np.zeros_like(state.weights), np.zeros_like(state.intercept)

    def take(self, log: MistakeLog, state: PerceptronState) -> None:
        early = tuple(each.copy() for each in self.early)
        if len(log):
            sum_of_mistakes(self.X, log, self.update.rate * (log.steps + 1).astype(np.float64), *early)
        self.state, self.early = state, early  # together: Ctrl-C may come at any time

    def weights(self) -> tuple[Floats, Floats]:
        count = self.state.steps + 1
        lifted = 1.0 if self.update.lifted else 0.0
        return self.state.weights - self.early[0] / count, self.state.intercept - lifted * self.early[1] / count


class Votes(Reading):
    """The whole log: the votes of all that were ever in hand are read off it."""

    wants_log = True

    def __init__(self, X: Any, target: Any, update: UpdateRule, state: PerceptronState) -> None:
        super().__init__(X, target, update, state)
        self._logs: list[MistakeLog] = []

    def take(self, log: MistakeLog, state: PerceptronState) -> None:
        self._logs.append(log)
        self.state = state  # last: what the log has beyond it is left out

    @property
    def log(self) -> MistakeLog:
        """All stretches as one."""
        parts = self._logs or [MistakeLog.empty()]
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "steps", "own", "rival"))
        rows, steps, own, rival = arrays
        return MistakeLog(rows, steps, own, rival, self.state.steps).until(self.state.steps)


class Pocket(Reading):
    """The weights with the longest run of right answers; with the ratchet, of these the ones with fewest mistakes.

    Algorithm 6 looks only at mistakes, so it may forget the weights in hand at the end: here they are looked at too,
    and kept where they made no mistake in a whole pass. The ratchet (Gallant 1990) lets weights into the pocket only if
    they get more rows right than those in it; at the end that alone decides.
    """

    watches_weights = False

    def __init__(self, X: Any, target: Any, update: UpdateRule, state: PerceptronState, *, ratchet: bool) -> None:
        super().__init__(X, target, update, state)
        self.ratchet, self.record, self.changed, self.changes = ratchet, 0, state.steps, 0
        self.kept = state
        self.mistakes = mistakes_of(X, target, state.weights, state.intercept) if ratchet else FOREVER

    def look(self, state: PerceptronState) -> None:
        if state.run > self.record:
            self._compare(state)

    def end(self, state: PerceptronState, *, clean: bool) -> None:
        if clean and all(TIES[self.update.ties]):  # no row is on the boundary
            self._take(state, 0)
        elif self.ratchet or state.run > self.record:
            self._compare(state)

    def _compare(self, state: PerceptronState) -> None:
        found = FOREVER
        if self.ratchet:
            found = mistakes_of(self.X, self.target, state.weights, state.intercept, at_most=self.mistakes - 1)
            if found >= self.mistakes:
                return
        self._take(state, found)

    def _take(self, state: PerceptronState, mistakes: int) -> None:
        self.kept, self.record, self.mistakes, self.changed = state, state.run, mistakes, state.steps
        self.changes += 1

    def idle(self, state: PerceptronState) -> int:
        return state.steps - self.changed

    def weights(self) -> tuple[Floats, Floats]:
        return self.kept.weights, self.kept.intercept


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
