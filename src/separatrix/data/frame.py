"""The frame in which the solvers see rows, and what a pass over rows brings back."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats

BLOCK = 8192
"""At most so many rows in one Hessian product."""
OFFSET = 4.0
"""The most deviations that a column's mean may be from zero for (x − c)ᵀw to be had as xᵀw − cᵀw."""


def block_rows(width: int) -> int:
    """Rows of one Hessian product: many enough that calls do not count, few enough that memory does not."""
    return max(2048, min(BLOCK, (1 << 19) // width))


def written_out(X: Any) -> Any:
    """The rows as an array: with their zeros, where these were left out."""
    return X.dense() if hasattr(X, "dense") else X


class Frame(NamedTuple):
    """z = ((x − c)/s, 1): the coordinates in which the solvers see a row."""

    center: Floats
    scale: Floats
    lifted: bool

    @property
    def width(self) -> int:
        """How many weights there are."""
        return self.center.size + self.lifted

    def near(self, deviations: float = OFFSET) -> bool:
        """Whether zero is within so many deviations of every column's centre that zeros need not be written out."""
        return bool((np.abs(self.center) <= deviations * self.scale).all())

    @property
    def offset(self) -> float:
        """‖c/s‖: how far zero is from the centre."""
        return float(np.linalg.norm(self.center / self.scale))

    def coordinates(self, X: Any) -> Floats:
        """The rows in this frame."""
        Z = np.empty((len(X), self.width))
        Z[:, : self.center.size] = (written_out(X) - self.center) / self.scale
        Z[:, self.center.size :] = 1
        return Z

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        """w = v/s and b = v₀ − cᵀw: weights and intercept in the user's units."""
        w = v[: self.center.size] / self.scale
        return w, self._level(v[-1], -self.center * w) if self.lifted else 0.0

    def _level(self, intercept: float, shifts: Floats) -> float:
        return math.fsum([intercept, *shifts.tolist()]) if np.count_nonzero(self.center) else float(intercept)

    def steepest(self, gradient: Floats) -> Floats:
        """The gradient of the user's weights as a direction in the frame: JJᵀg, J = ∂v/∂(w, b)."""
        d = self.center.size
        pull = self.scale * gradient[:d]
        if not self.lifted:
            return pull * self.scale
        pull += self.center * gradient[-1]
        return np.append(pull * self.scale, gradient[-1] + self.center @ pull)

    def from_user(self, weights: Floats, intercept: float) -> Floats:
        """v = s∘w and v₀ = b + cᵀw."""
        v = weights * self.scale
        return np.append(v, self._level(intercept, self.center * weights)) if self.lifted else v


@dataclass(frozen=True)
class Jet:
    """A sum over rows to second order; the jet of two blocks is the sum of their jets."""

    value: float
    gradient: Floats
    hessian: Any
    """H as a matrix, or where it was asked for so, a `Root`, or its diagonal."""
    margin: float
    """The least margin of a row that counts."""

    def __add__(self, other: Jet) -> Jet:
        return replace(self, gradient=self.gradient.copy(), hessian=copy(self.hessian)).__iadd__(other)

    def __iadd__(self, other: Jet) -> Jet:
        gradient, hessian = self.gradient, self.hessian
        gradient += other.gradient
        if hessian is not None:
            hessian += other.hessian
        return Jet(self.value + other.value, gradient, hessian, min(self.margin, other.margin))


class Ask(NamedTuple):
    """What a pass over the rows is to bring back, besides the value and the gradient."""

    hessian: bool = False
    steering: bool = False
    """The Hessian only steers: single precision will do."""
    root: bool = False
    """The Hessian as RᵀR by QR: for columns that are nearly combinations of others."""
    diagonal: bool = False
    """The Hessian's diagonal alone: for so many columns that a matrix of them has no place."""
