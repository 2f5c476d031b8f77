"""The frame in which the solvers see rows, and what a pass over rows brings back."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from ..numerics.linalg import Dependence

BLOCK = 8192
"""At most so many rows in one Hessian product."""
HEAVIEST = 1e6
"""Digits that the shortest weights may cost where columns that depend on each other are in different units."""
OFFSET = 4.0
"""The most deviations that a column's mean may be from zero for (x − c)ᵀw to be had as xᵀw − cᵀw."""


def block_rows(width: int) -> int:
    """Rows of one Hessian product: many enough that calls do not count, few enough that memory does not."""
    return max(2048, min(BLOCK, (1 << 19) // width))


@dataclass(frozen=True, eq=False)
class Frame:
    """z = ((x − c)/s, 1): the coordinates in which the solvers see a row."""

    center: Floats
    scale: Floats
    lifted: bool

    @cached_property
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

    def coordinates(self, X: NDArray[Any]) -> Floats:
        """Rows that are written out in this frame."""
        Z = np.empty((len(X), self.width))
        Z[:, : self.center.size] = (X - self.center) / self.scale
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
class WeightMap:
    """The way from a solver's weights to the user's: of all weights with the same scores, the shortest."""

    frame: Frame
    dependence: Dependence | None

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        """Weights and intercept in the user's units."""
        if self.dependence is None:
            return self.frame.to_user(v)
        full = np.zeros(self.frame.width)
        full[self.dependence.kept] = v
        weights, intercept = self.frame.to_user(full)
        along, shift = self._same_scores()
        if self._burden(along) > HEAVIEST:
            return weights, intercept
        t = np.linalg.lstsq(along, weights, rcond=None)[0]
        return weights - along @ t, intercept - float(shift @ t)

    def _same_scores(self) -> tuple[Floats, Floats]:
        """Directions in the user's units that change no score: their weights, their intercepts."""
        assert self.dependence is not None
        moves = [self.frame.to_user(n) for n in self.dependence.null_space().T]
        return np.array([w for w, _ in moves]).T, np.array([b for _, b in moves])

    def _burden(self, along: Floats) -> float:
        """max |aⱼaₖ|rₖ/(rⱼ‖a‖²): how many times larger, at most, a column's share of a score becomes by shortening."""
        reach = np.abs(self.frame.center) + self.frame.scale
        size = np.abs(along)
        return float(((size * reach[:, None]).max(axis=0) * (size / reach[:, None]).max(axis=0)
                      / np.square(along).sum(axis=0)).max(initial=0.0))  # fmt: skip

    def spread(self, inverse: Floats) -> Floats:
        """√(T M⁻¹ Tᵀ)ⱼⱼ for each weight and the intercept, T the map to the user's units."""
        d, frame = self.frame.center.size, self.frame
        if self.dependence is not None:
            T = np.array([np.append(*self.to_user(unit)) for unit in np.eye(inverse.shape[0])]).T
            return np.sqrt(np.einsum("ij,jk,ik->i", T, inverse, T, optimize=True))  # type: ignore[no-any-return]
        found = np.zeros(d + 1)
        found[:d] = np.sqrt(inverse.diagonal()[:d]) / frame.scale
        if frame.lifted:
            a = np.ones(d + 1)
            a[:d] = -frame.center / frame.scale
            found[d] = math.sqrt(a @ inverse @ a)
        return found


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
