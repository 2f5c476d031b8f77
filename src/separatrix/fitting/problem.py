"""What is to be minimised, where a fit stands, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import Rows
from ..losses.margin import MarginLoss
from ..losses.softmax import ClassLoss
from ..numerics.arrays import Floats
from .certificates.margin import Bounds
from .oscillation import Oscillation


class NotFiniteError(ArithmeticError):
    """A pass met NaN or infinity, or overflowed."""


@dataclass(frozen=True)
class Problem:
    """The mean loss of the rows plus (l2/2)‖w‖², and how to go about it."""

    rows: Rows
    loss: MarginLoss | ClassLoss
    l2: float
    lifted: bool
    """Whether there is an intercept."""
    solver: str
    init: str | tuple[Floats, Any]
    tol: float
    max_passes: float
    seed: int
    classes: int = 2
    rate: float | None = None
    """The fixed rate of gradient descent, for steps of the summed loss."""


class Progress(NamedTuple):
    """Where a fit stands after a pass, in the user's units."""

    weights: Floats
    intercept: Any
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
