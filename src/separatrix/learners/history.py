"""Where a fit stood after each pass."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..numerics.arrays import Floats


class Step(NamedTuple):
    """Where a fit stands after a pass over the rows."""

    weights: Floats
    intercept: Any
    value: float
    gradient_norm: float
    step: float
    passes: float
    moved_by: str
    negative_curvature: bool
    start: int
    seconds: float


class Record(NamedTuple):
    """One line of `history_`."""

    passes: float
    value: float
    gradient_norm: float
    step: float
    seconds: float
    negative_curvature: bool = False
    """Whether the Hessian had a negative eigenvalue there; of the solvers only Newton's on squared error looks."""
    start: int = 0
    """Which of the starts, where there are several."""


def record_of(step: Step) -> Record:
    """The line of `history_` for a step."""
    _, _, value, norm, length, passes, _, negative, start, seconds = step
    return Record(passes, value, norm, length, seconds, negative, start)


class MarginStep(NamedTuple):
    """Where the search for the largest margin stands after a pass over the rows."""

    weights: Floats
    intercept: float
    lower: float
    """The margin of these weights; negative while they do not separate the classes."""
    upper: float
    """No rule has a larger margin."""
    passes: float
    working: int
    """How many rows were looked at between the passes."""
    seconds: float


class MarginRecord(NamedTuple):
    """One line of `history_` of a margin."""

    passes: float
    lower: float
    upper: float
    working: int
    seconds: float


def record_of_margin(step: MarginStep) -> MarginRecord:
    """The line of `history_` for a step."""
    return MarginRecord(step.passes, step.lower, step.upper, step.working, step.seconds)
