"""A perceptron on a stream: classes come into being with their first row.

A class that was never seen has no weights and does not compete, so that it makes no difference in how many pieces the
rows come, nor whether later classes were announced. While there is but one class, it is told from an unknown other one;
two have one vector of weights, w = W₁ = −W₀; with the third each gets its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...results.mistake_log import MistakeLog
from .perceptron import ROOM, PerceptronState, UpdateRule, check_scan, scan

FEW_CLASSES = 8
"""Classes that are looked for one by one."""


@dataclass(frozen=True, eq=False)
class ClassStream:
    """The classes so far, in order, and where their weights stand."""

    classes: NDArray[Any]
    """Those that compete, sorted."""
    state: PerceptronState
    """Weights 1 × d for up to two classes (of a single one, its own), K × d for more."""
    unit: float = 1.0
    """What the weights are still to be multiplied by: the rate, so that sums of rows are not rounded by it."""
    missed: int = 0
    """First rows of a third or later class that did not move the weights; they are mistakes, for no rule could predict
    them. (The second class was foreseen, as what is not the first.)"""

    @classmethod
    def begin(cls, d: int, classes: NDArray[Any]) -> ClassStream:
        """At zero. Two classes that are announced are told apart from the first row on; more wait for their turn."""
        return cls(classes if len(classes) == 2 else classes[:0], PerceptronState.zero(2, d))

    def weights(self) -> tuple[Any, Any]:
        """W and b."""
        return self.unit * self.state.weights, self.unit * self.state.intercept

    def paced(self, rate: float) -> ClassStream:
        """In units of this rate, where the stream learnt with it or has learnt nothing; else in units of one."""
        if self.state.steps == 0 or rate == self.unit:
            return replace(self, unit=rate)
        W, b = self.weights()
        return replace(self, state=replace(self.state, weights=W, intercept=b), unit=1.0)

    @property
    def mistakes(self) -> int:
        """Rows whose class was not predicted before it was told."""
        return self.state.mistakes + self.missed

    def follow(self, X: Any, y: NDArray[Any], update: UpdateRule) -> tuple[ClassStream, MistakeLog]:
        """Each row once, in order: predict it, be told its class, learn.

        In the log, classes have the numbers that they have in the end.
        """
        cuts = sorted({0, len(y), *_first_rows(y, self.classes)})
        stream, logs = self.paced(update.rate), []
        update = replace(update, rate=update.rate / stream.unit)
        for lo, hi in pairwise(cuts):
            new = not _among(y[lo : lo + 1], stream.classes)[0]
            stream = stream._with(y[lo]) if new else stream
            stream, log = stream._stretch(X[lo:hi], y[lo:hi], update)
            moved = bool(len(log)) and log.rows[0] == 0
            unforeseen = new and not moved and len(stream.classes) > 2
            stream = replace(stream, missed=stream.missed + unforeseen)
            logs.append((replace(log, rows=log.rows + lo), stream.classes))
        return stream, _joined(logs, stream)

    def _stretch(self, X: Any, y: NDArray[Any], update: UpdateRule) -> tuple[ClassStream, MistakeLog]:
        """Rows of known classes only."""
        alone = len(self.classes) == 1
        target = np.ones(len(y), np.int64) if alone else _places(y, self.classes)
        update = replace(update, ties="mistake") if alone else update
        state, log, order = self.state, replace(MistakeLog.empty(), seen=self.state.steps), np.arange(len(y))
        check_scan(state, X, target, order)
        while order.size:
            after, more = scan(state, X, target, order, update, room=ROOM, shuffled=False, checked=True)
            order, state, log = order[after.steps - state.steps :], after, log + more
        return replace(self, state=state), log

    def _with(self, label: Any) -> ClassStream:
        """With one class more."""
        state = self.state
        classes = np.sort(np.append(self.classes, np.asarray(label)[None])) if self.classes.size else np.array([label])
        place = int(np.searchsorted(classes, label))
        if (
            len(classes) == 2 and place == 1
        ):  # the first class was told from all others by w: now it is the negative one
            state = replace(state, weights=-state.weights, intercept=-state.intercept)
        elif len(classes) > 2:
            W, b = state.weights, state.intercept
            if len(W) == 1:
                W, b = np.vstack([-W, W]), np.append(-b, b)
            state = replace(state, weights=np.insert(W, place, 0.0, axis=0), intercept=np.insert(b, place, 0.0))
        return replace(self, classes=classes, state=state)


def _first_rows(y: NDArray[Any], known: NDArray[Any]) -> list[int]:
    """Where classes come that are not known, each for the first time: without a sort, as long as they are few."""
    found: list[int] = []
    strange = _strange(y, known)
    while strange.any():
        if len(found) + len(known) >= FEW_CLASSES:
            labels, first = np.unique(y, return_index=True)
            return first[~_among(labels, known)].tolist()  # type: ignore[no-any-return]
        found.append(int(strange.argmax()))
        strange &= y != y[found[-1]]
    return found


def _strange(y: NDArray[Any], known: NDArray[Any]) -> NDArray[np.bool_]:
    if len(known) > FEW_CLASSES:
        return ~np.isin(y, known)
    strange = np.ones(len(y), bool)
    for label in known:
        strange &= y != label
    return strange


def _places(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each row's class."""
    if len(classes) == 2:
        return np.where(y == classes[1], 1, 0)
    return np.searchsorted(classes, y).astype(np.int64)


def _among(labels: NDArray[Any], known: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isin(labels, known) if known.size else np.zeros(labels.size, bool)


def _joined(logs: list[tuple[MistakeLog, NDArray[Any]]], stream: ClassStream) -> MistakeLog:
    """All stretches as one, with the classes of the end; a class told from an unknown one was told from the next."""
    whole = replace(MistakeLog.empty(), seen=stream.state.steps)
    for log, classes in logs:
        place = np.searchsorted(stream.classes, classes)
        if len(classes) == 1:
            own = np.full(len(log), place[0])
            rival = np.full(len(log), _second(logs, stream, place[0]))
        else:
            own, rival = place[log.own], place[log.rival]
        whole = whole + replace(log, own=own.astype(np.int64), rival=rival.astype(np.int64))
    return whole


def _second(logs: list[tuple[MistakeLog, NDArray[Any]]], stream: ClassStream, alone: int) -> int:
    """The class that came second, by its number in the end; of one class alone, the other of two."""
    for _, classes in logs:
        if len(classes) > 1:
            places = np.searchsorted(stream.classes, classes)
            return int(places[places != alone][0])
    return 1 - alone
