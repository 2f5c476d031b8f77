"""What is to be minimised, where a fit stands, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certificate import Bounds
from ..data import Rows
from ..losses import MarginLoss

Floats = NDArray[np.float64]


class NotFiniteError(ArithmeticError):
    """A pass met NaN or infinity, or overflowed."""


@dataclass(frozen=True)
class Problem:
    """The mean loss of the rows plus (l2/2)‖w‖², and how to go about it."""

    rows: Rows
    loss: MarginLoss
    l2: float
    lifted: bool
    """Whether there is an intercept."""
    solver: str
    init: str | tuple[Floats, float]
    tol: float
    max_passes: float
    seed: int


class Progress(NamedTuple):
    """Where a fit stands after a pass, in the user's units."""

    weights: Floats
    intercept: float
    value: float
    gradient_norm: float
    step: float
    passes: float
    moved_by: str


@dataclass(frozen=True)
class Outcome:
    """Where a fit ended."""

    status: str
    weights: Floats
    intercept: float
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
