"""Gradient descent, with line search and with a fixed rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...numerics.arrays import Floats
from .descent import Direction


@dataclass
class Gradient(Direction):
    """d = −g, w ← w + ηXᵀ(y − p), the first η of each line search from the last step's secant.

    Each step costs O(dn). The first trial η = ‖Δw‖² / Δwᵀ Δg is the inverse of the curvature last met.
    """

    plain: Any
    """The request for value and gradient alone."""
    rate: float = field(default=1.0, init=False)

    @property
    def ask(self) -> Any:
        return self.plain

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

    plain: Any
    rate: float
    """η in units of the mean: the notes' η times the number of rows."""
    steepest: Callable[[Floats], Floats]
    """The way from the solver's gradient to the direction of the user's."""
    searches = False

    @property
    def ask(self) -> Any:
        return self.plain

    def __call__(self, at: Any) -> Floats:
        return -self.rate * self.steepest(at.gradient)
