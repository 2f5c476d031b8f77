"""What is to be minimised, where a fit stands, how it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.source import Source
from ..losses.margin import MarginLoss
from ..losses.penalty import Penalty
from ..losses.softmax import ClassLoss
from ..numerics.arrays import Floats

PATIENCE = 10
"""Passes without progress, half of them beside the other half, that make an oscillation."""
PROGRESS = 1e-3
"""A relative fall of the value that is progress."""
SHRINKING = 0.5
"""A relative fall of the moves that is calming down."""
RISES = 1
"""How often the value must have risen: what creeps never does."""


@dataclass(frozen=True)
class Method:
    """How a descent goes on from where it stands."""

    name: str
    hessian: bool = False
    """Each step solves with the Hessian of all rows."""
    whole: bool = False
    """That Hessian has all of a squared error's curvature, not 2JᵀJ alone."""
    steered: bool = False
    """Each step is L-BFGS's, led by what is known of the Hessian."""


NEWTON = Method("newton", hessian=True, whole=True)
LBFGS = Method("lbfgs", steered=True)
METHODS = {each.name: each for each in (NEWTON, Method("gauss-newton", hessian=True), LBFGS, Method("gradient"))}
"""What a descent may be asked to go by."""


@dataclass(frozen=True)
class LeastSquares:
    """A descent starts from the weights of least squares."""


@dataclass(frozen=True)
class AtRandom:
    """A descent starts from random weights."""


class At(NamedTuple):
    """A descent starts from these weights; of many classes a row and an intercept for each."""

    weights: Floats
    intercept: Any


Start = LeastSquares | AtRandom | At


class NotFiniteError(ArithmeticError):
    """A pass met NaN or infinity, or overflowed."""


@dataclass(frozen=True)
class Problem:
    """The mean loss of the rows plus the penalty, and how to go about it."""

    rows: Source
    loss: MarginLoss | ClassLoss
    penalty: Penalty
    lifted: bool
    """Whether there is an intercept."""
    method: Method | None
    """None: chosen by the size of X."""
    start: Start
    tol: float
    max_passes: float
    seed: int
    classes: int = 2
    rate: float | None = None
    """The fixed rate of gradient descent, for steps of the summed loss."""


class Progress(NamedTuple):
    """Where a fit stands after a pass."""

    place: Callable[[], tuple[Floats, Any]]
    """The weights and the intercept in the user's units, worked out where somebody wants to see them."""
    value: float
    gradient_norm: float
    step: float
    passes: float
    moved_by: str
    negative_curvature: bool = False
    start: int = 0


class Minimum(NamedTuple):
    """A minimum that was found."""

    value: float
    weights: Floats
    intercept: Any
    starts: int
    """How many starts led there."""


class FirthEnd(NamedTuple):
    """What Firth's penalised likelihood is made of, where a fit of it ended."""

    mean_loss: float
    """−ℓ/C, without the penalty."""
    log_determinant: float
    """log|A| of the independent columns in the user's units."""
    intercept: float
    """Firth's own, whatever became of it later."""


@dataclass(frozen=True)
class Bounds:
    """What is proved at a point."""

    nu: float
    rho: float
    gap: float
    """The risk is at most this far above its minimum."""
    distance: float
    """The minimum is at most this far away in the norm of M."""
    spread: Floats
    """√(M⁻¹)ⱼⱼ of each coefficient in the user's units: times `distance`, how far the coefficient can be off."""
    share: float
    """The part of the rows that entered M."""
    only: bool = True
    """Whether it is the one minimum, not merely a local one."""
    witness: Floats | None = None
    """u with Hu ≈ g, where M is too large to be factored; classes × (weights, intercept) in the user's units, of two
    classes one row."""
    sample: NDArray[np.intp] | None = None
    """Which rows entered M, from where to where; None: all of them."""

    def rounded_up(self, goal: float) -> Bounds:
        """No smaller than a millionth of the gap asked for: beside rounding nobody could check what is.

        But ρν stays far below one, for on that the proof hangs.
        """
        least = min(math.sqrt(2e-6 * goal), 0.1 / self.rho if self.rho > 0 else math.inf)
        return replace(
            self, nu=max(self.nu, least), gap=max(self.gap, least**2 / 2), distance=max(self.distance, least)
        )


class Oscillation(NamedTuple):
    """The last passes of a fit that goes round in rings."""

    move: float
    """How far the weights move in a pass, in units of their own length."""
    least: float
    most: float
    """The values between which it wanders."""


@dataclass(frozen=True)
class Outcome:
    """Where a fit ended."""

    status: str
    weights: Floats
    intercept: Any
    value: float
    passes: float
    bounds: Bounds | None
    aliased: NDArray[np.intp]
    """The columns that are combinations of others and the intercept."""
    growth: Floats
    """How much each weight has grown over the last passes, in units of its column's spread."""
    stalled: bool
    settled: bool
    """Whether the value has all but converged."""
    nearly_dependent: bool
    """Whether columns are so nearly combinations of others that forming the Hessian would lose them."""
    oscillation: Oscillation | None = None
    minima: tuple[Minimum, ...] = ()
    lower: tuple[int, float] = (0, 0.0)
    """How many starts ran off below the minimum that was kept, and how far down they came."""
    converged: bool = False
    """Whether a stochastic descent ended because its weights hardly moved any more."""
    ranked: bool = True
    """Whether the rank of the columns was settled; not where they are so many that nothing depends on it."""
    firth: FirthEnd | None = None
    """Where what was maximised is Firth's penalised likelihood."""


Fit = Generator[Progress, None, Outcome]
"""A fit on its way: it yields where it stands and returns how it ended."""


def relayed(run: Fit, change: Callable[[Progress], Progress]) -> Fit:
    """A fit whose steps are told in other units, or counted from elsewhere; its outcome is left alone."""
    while True:
        try:
            progress = next(run)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield change(progress)


class OscillationWatch:
    """Watches values and moves, pass by pass."""

    def __init__(self, start: Floats) -> None:
        self.values: list[float] = []
        self.moves: list[float] = []
        self._last = start

    def add(self, value: float, weights: Floats) -> Oscillation | None:
        """Take note of a pass; say whether the last ones rose and fell without progress, and did not calm down."""
        length = float(np.linalg.norm(weights - self._last))
        self.values.append(value)
        self.moves.append(length / max(float(np.linalg.norm(weights)), 1e-300))
        self._last = weights
        if len(self.values) <= 2 * PATIENCE:
            return None
        recent, before, half = self.values[-PATIENCE:], self.values[:-PATIENCE], PATIENCE // 2
        rises = sum(b > a for a, b in pairwise(recent))
        if min(recent) < min(before) * (1 - PROGRESS) or rises < RISES:
            return None
        if median(self.moves[-half:]) < SHRINKING * median(self.moves[-PATIENCE:-half]) or length == 0:
            return None
        return Oscillation(median(self.moves[-half:]), min(recent), max(recent))
