"""The loop: pick a direction, shorten the step until it pays, repeat."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...numerics.arrays import Floats

Objective = Callable[[Floats, Any], Any]
"""f(v, ask) → a jet."""

CURVATURE = 0.5
"""The part of the slope that may be left where the value is too rough to tell whether a step pays."""
OUT_OF_BOUNDS = 1e150
"""The square of a larger number overflows."""
NOTHING = (64 * sys.float_info.epsilon) ** 2
"""A gain in sight of this part of the value is rounding: steps for it go round in rings."""


class Point(NamedTuple):
    """Value, gradient and Hessian of a function at a point: what a descent needs of a jet."""

    value: float
    gradient: Floats
    hessian: Any = None


@dataclass(frozen=True)
class Damping:
    """Which steps pay, and how those that do not are shortened."""

    enough: float = 1e-4
    """The part of what the slope promises that a step must bring."""
    least: float = 0.1
    """The least that is left of a step; the secant's guess says how much, within these bounds."""
    most: float = 0.5
    shortest: float = 1e-40
    """The part of the whole step below which no shorter one is tried."""


HALVING = Damping(least=0.5)
"""Steps are halved until they pay."""


class Direction(ABC):
    """Where to go from a jet, and what the next jet must hold."""

    searches: ClassVar[bool] = True
    """Whether a step that does not pay is shortened."""
    negative: bool = False
    """Whether the curvature was negative in some direction where it was last looked at."""
    here: Any = None
    """The point whose jet is given next."""

    ask: Any
    """What the next pass is to bring back."""

    @abstractmethod
    def __call__(self, at: Any) -> Floats:
        """A direction of descent at a jet."""

    def first_step(self) -> float:
        """The step length to try first."""
        return 1.0

    def learn(self, move: Floats, before: Any, after: Any) -> None:  # noqa: B027  most have nothing to learn
        """Take note of a step that was made."""


@dataclass(frozen=True)
class State:
    """One point of a descent, before the step from it is taken."""

    v: Floats
    at: Any
    decrement: float
    """−gᵀd: twice the gain in sight if the direction is Newton's."""
    step: float
    """The step length that led here."""
    passes: float
    stalled: bool = False
    """No shorter step pays: rounding is all that is left."""
    negative: bool = False
    """Whether the curvature is negative in some direction here, as far as was looked."""
    overflowed: bool = False
    """The next step leads beyond the largest number."""


def descend(
    f: Objective, v: Floats, direction: Direction, *, passes: float = 0.0, at: Any = None, damping: Damping = Damping()
) -> Iterator[State]:
    """v ← v + t d, t = 1 first, until the reader of the states has seen enough.

    A step is taken if it lowers the value in proportion to its promise; or, where the promise has sunk below the
    rounding of the value, if it lowers the slope along d.
    """
    if at is None:
        at, passes = f(v, direction.ask), passes + 1
    t = 0.0
    while True:
        direction.here = v
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            d = direction(at)
            slope = float(at.gradient @ d)
        yield State(v, at, -slope, t, passes, negative=direction.negative)
        if not -slope > NOTHING * abs(at.value):
            yield State(v, at, 0.0, t, passes, stalled=True)
            return
        t, made = direction.first_step(), None
        while made is None:
            with np.errstate(over="ignore", invalid="ignore"):
                there = v + t * d
            beyond = not direction.searches and not (np.abs(there) < OUT_OF_BOUNDS).all()
            if t < damping.shortest or np.array_equal(there, v) or beyond:
                yield State(v, at, -slope, 0.0, passes, stalled=True, overflowed=beyond)
                return
            new, passes = f(there, direction.ask), passes + 1
            beyond = not direction.searches and not math.isfinite(new.value)
            if beyond:
                yield State(v, at, -slope, 0.0, passes, stalled=True, overflowed=True)
                return
            with np.errstate(over="ignore", invalid="ignore"):
                new_slope = float(new.gradient @ d)
            if not direction.searches or _pays(at.value, new.value, slope, new_slope, t, damping.enough):
                made = new
            else:
                t *= _shrink(slope, new_slope, new.value, damping)
        direction.learn(there - v, at, made)
        v, at = there, made


class End(NamedTuple):
    """Where a descent was left."""

    state: State
    steps: int
    settled: bool
    """Whether it was left because it had settled; else its steps were at an end, or none paid any more."""


def minimum(
    f: Objective, v: Floats, direction: Direction, settled: Callable[[State], bool], steps: int,
    *, damping: Damping = HALVING, at: Any = None,
) -> End:  # fmt: skip
    """Descend until it has settled, for so many steps at the most."""
    for count, state in enumerate(descend(f, v, direction, at=at, damping=damping)):
        if settled(state):
            return End(state, count, True)
        if state.stalled or count >= steps:
            break
    return End(state, count, False)


def _pays(value: float, new: float, slope: float, new_slope: float, t: float, enough: float) -> bool:
    if new <= value + enough * t * slope:
        return True
    rounding = 64 * sys.float_info.epsilon * abs(value)
    return new <= value + rounding and -t * slope < 1e6 * rounding and abs(new_slope) <= CURVATURE * abs(slope)


def _shrink(slope: float, new_slope: float, new_value: float, damping: Damping) -> float:
    """The secant's guess of where the slope is zero, kept within bounds."""
    if not (math.isfinite(new_slope) and math.isfinite(new_value)) or new_slope <= slope:
        return damping.most
    return min(max(slope / (slope - new_slope), damping.least), damping.most)
