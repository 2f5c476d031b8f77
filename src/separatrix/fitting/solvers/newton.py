"""Newton–Raphson, where the Hessian is positive definite and where it may not be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import Factor, factor, steady_factor
from .descent import Direction

FLAT = 1e-8
"""An eigenvalue this small beside the largest is taken to be this large."""
NEAR = 1e-8
"""The part of the gap asked for that the last step leaves, as far as one can tell: its end needs no Hessian."""
LONGEST = 1e10
"""The longest step in units of the columns: a longer one is a Hessian that is all but zero."""


def bounded(d: Floats, at: Any) -> Floats:
    """d; or the gradient's direction, where d is absurdly long because every curvature is nearly zero."""
    if float(d @ d) <= LONGEST**2:
        return d
    steep = float(np.linalg.norm(at.gradient))
    if not steep * LONGEST > 0:
        return d
    return at.gradient * (-LONGEST / steep)  # type: ignore[no-any-return]


class Latest(NamedTuple):
    """A Hessian, where it was found, and its factor."""

    place: Floats
    hessian: Any
    factor: Factor


@dataclass
class Newton(Direction):
    """d = −H⁻¹g, so that w ← w + (XᵀP(I − P)X)⁻¹ Xᵀ(y − p).  [000 8.10; 002 10]

    Each step costs O(d²n + d³). Where H is singular to working precision its diagonal is raised just enough. The last
    steps take the Hessian that they have: no pass need bring one where the minimum is so near.
    """

    full: Any = None
    """The request for a Hessian."""
    at_zero: float = math.inf
    """The value at zero, of a function that is convex and never negative."""
    plain: Any = None
    """The request for value and gradient alone; None: every pass brings a Hessian."""
    tol: float = 0.0
    """The gap, as a part of the value, that is to be reached."""
    latest: Latest | None = field(default=None, init=False)
    """The last Hessian that was met."""
    before: float = field(default=math.inf, init=False)
    """The decrement before this one."""

    def __post_init__(self) -> None:
        self.ask = self.full

    def __call__(self, at: Any) -> Floats:
        if at.hessian is not None:
            self.latest = Latest(self.here, at.hessian, steady_factor(at.hessian))
        assert self.latest is not None
        d = bounded(-self.latest.factor.solve(at.gradient), at)
        promise = -float(at.gradient @ d)
        self.ask = self.plain if self._arrives(promise, at) else self.full
        self.before = promise
        if promise > 2 * at.value > 2 * self.at_zero:  # it promises more than there is: H is all but zero here
            return -self.here  # type: ignore[no-any-return]  # zero is better, so the way there leads down
        return d

    def _arrives(self, promise: float, at: Any) -> bool:
        """Whether this step is the last: it leaves the square of the part that the one before left."""
        if self.plain is None or not promise < self.before < math.inf:
            return False
        return bool(promise * (promise / self.before) ** 2 <= NEAR * self.tol * abs(at.value))


class SaddleFree(Direction):
    """d = −|H|⁻¹g: Newton's step where H is positive definite; elsewhere its eigenvalues' signs are turned.

    For the squared error H = 2JᵀJ + 2Jᵀdiag(e)(2P − I)X may be indefinite, and −H⁻¹g may point uphill, to a saddle or
    to a maximum. With |H| it is a descent everywhere, and leaves saddles as fast as it nears minima.
    """

    def __init__(self, full: Any) -> None:
        self.ask = full

    def __call__(self, at: Any) -> Floats:
        made = factor(at.hessian)
        self.negative = False
        if made is not None and made.weakest > 8 * EPS:
            return bounded(-made.solve(at.gradient), at)
        values, vectors = np.linalg.eigh(at.hessian)
        size = np.abs(values)
        self.negative = bool(values[0] < -EPS * len(values) * size.max())
        size = np.maximum(size, FLAT * size.max())
        return bounded(-(vectors @ ((vectors.T @ at.gradient) / size)), at)


@dataclass
class OwnStep(Direction):
    """d as a function of the point and its jet, for a problem that has a Newton step of its own."""

    step: Callable[[Floats, Any], Floats]
    ask = None

    def __call__(self, at: Any) -> Floats:
        return self.step(self.here, at)


# Gradient descent, with line search and with a fixed rate.


@dataclass
class Gradient(Direction):
    """d = −g, w ← w + ηXᵀ(y − p), the first η of each line search from the last step's secant.

    Each step costs O(dn). The first trial η = ‖Δw‖² / Δwᵀ Δg is the inverse of the curvature last met.
    """

    ask: Any
    """The request for value and gradient alone."""
    rate: float = field(default=1.0, init=False)

    def __call__(self, at: Any) -> Floats:
        return -at.gradient  # type: ignore[no-any-return]

    def first_step(self) -> float:
        return self.rate

    def learn(self, move: Floats, before: Any, after: Any) -> None:
        bend = float(move @ (after.gradient - before.gradient))
        if bend > 0:
            self.rate = float(move @ move) / bend


@dataclass
class FixedRate(Direction):
    """w ← w + ηXᵀ(y − p), or for the squared error w ← w + ηXᵀP(I − P)(y − p), whatever comes of it."""

    ask: Any
    rate: float
    """η in units of the mean: the notes' η times the number of rows."""
    steepest: Callable[[Floats], Floats]
    """The way from the solver's gradient to the direction of the user's."""
    searches = False

    def __call__(self, at: Any) -> Floats:
        return -self.rate * self.steepest(at.gradient)
