"""What weights cost beside the mean loss of the rows; the intercept costs nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.arrays import Floats


class Penalty(ABC):
    """g(w), with its slope and its curvature: a sum over the weights, so that its Hessian is diagonal."""

    idle: ClassVar[bool] = False
    """Whether it costs nothing: then a minimum need not exist, and columns may be combinations of others."""

    @property
    @abstractmethod
    def strength(self) -> float:
        """The most m for which g(w) − (m/2)‖w‖² is convex: what a proof may count on wherever the minimum is."""

    @abstractmethod
    def value(self, w: Floats) -> float:
        """g(w)."""

    @abstractmethod
    def gradient(self, w: Floats) -> Floats:
        """∂g/∂w."""

    @abstractmethod
    def curvature(self, w: Floats) -> Floats:
        """∂²g/∂wⱼ² of each weight."""

    @abstractmethod
    def framed(self, scale: Floats, free: int) -> Penalty:
        """g(v/s) of weights v in other units, followed by so many that cost nothing."""

    @abstractmethod
    def plus(self, ridge: float) -> Penalty:
        """g(w) + (ridge/2)‖w‖²."""

    @abstractmethod
    def times(self, factor: float) -> Penalty:
        """So many times g."""


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """g = 0."""

    idle = True
    strength = 0.0

    def value(self, w: Floats) -> float:
        """0."""
        return 0.0

    def gradient(self, w: Floats) -> Floats:
        """0."""
        return np.zeros_like(w)

    def curvature(self, w: Floats) -> Floats:
        """0."""
        return np.zeros_like(w)

    def framed(self, scale: Floats, free: int) -> Penalty:
        """Itself, whatever the units."""
        return self

    def plus(self, ridge: float) -> Penalty:
        """(ridge/2)‖w‖²."""
        return Ridge(ridge)

    def times(self, factor: float) -> Penalty:
        """0."""
        return self


@dataclass(frozen=True, eq=False)
class Ridge(Penalty):
    """g(w) = ½ Σⱼ λⱼwⱼ²: one λ > 0, or one for each weight."""

    weight: Any
    """λ."""

    @property
    def strength(self) -> float:
        """The least λⱼ."""
        return float(np.min(self.weight))

    def value(self, w: Floats) -> float:
        """½ Σⱼ λⱼwⱼ²."""
        return float((self.weight * w * w).sum()) / 2

    def gradient(self, w: Floats) -> Floats:
        """λⱼwⱼ."""
        return self.weight * w  # type: ignore[no-any-return]

    def curvature(self, w: Floats) -> Floats:
        """λⱼ."""
        return self.weight + np.zeros_like(w)  # type: ignore[no-any-return]

    def framed(self, scale: Floats, free: int) -> Penalty:
        """λⱼ/sⱼ², and 0 for those that cost nothing."""
        return Ridge(np.append(self.weight / scale**2, np.zeros(int(free))))

    def plus(self, ridge: float) -> Penalty:
        """λⱼ + ridge."""
        return Ridge(self.weight + ridge)

    def times(self, factor: float) -> Penalty:
        """Factor · λⱼ."""
        return Ridge(factor * self.weight)


def ridge(l2: float) -> Penalty:
    """(l2/2)‖w‖²; nothing where l2 = 0."""
    return Ridge(l2) if l2 else NoPenalty()
