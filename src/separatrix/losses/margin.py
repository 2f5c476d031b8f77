"""Surrogates of the 0-1 loss: functions φ of the margin m = y xᵀw, y ∈ {−1, +1}.

A loss is three lines of algebra over `separatrix.numerics`: nothing else in the library knows a loss. At a kink the
slope is the left one, so a tie counts as a mistake.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from ..numerics.functions import exponential, log_odds, positive, sigmoid, softplus, step


class MarginLoss(ABC):
    """φ and its first two derivatives."""

    convex: ClassVar[bool] = True
    """Whether φ″ ≥ 0 everywhere."""

    bound: ClassVar[float] = math.inf
    """The least k with 1[m ≤ 0] ≤ k φ(m) for every m; infinite where there is none."""

    kinks: ClassVar[tuple[float, ...]] = ()
    """The margins at which φ, φ′ or φ″ jumps."""

    smooth: ClassVar[bool] = True
    """Whether φ′ is continuous: such a loss can be minimised by its slope."""

    third: ClassVar[float] = math.inf
    """A bound on |φ‴|, where one is known."""

    twist: ClassVar[float] = math.inf
    """The least k with |φ‴| ≤ k φ″, where there is one: φ″ then falls no faster than e^−kt."""

    clear: ClassVar[float] = math.inf
    """The least margin from which on φ = 0; infinite where φ is never zero."""

    log_odds: ClassVar[float | None] = None
    """What a score is to be multiplied by to be log P(1 | x)/P(0 | x), where the mean of φ is least; None: a score
    tells no probability."""

    excess: ClassVar[float] = 1.0
    """How many times the texts' own step for one row the slope is."""

    least_curvature: ClassVar[float] = 0.0
    """A bound from below on φ″: negative where φ is not convex."""

    @property
    def steering(self) -> MarginLoss:
        """The loss itself; or where φ″ may be negative, one of this value and slope that can steer a descent."""
        return self

    @abstractmethod
    def value(self, m: Any) -> Any:
        """φ(m)."""

    @abstractmethod
    def slope(self, m: Any) -> Any:
        """φ′(m)."""

    @abstractmethod
    def curvature(self, m: Any) -> Any:
        """φ″(m)."""

    def jet(self, m: Any) -> tuple[Any, Any, Any]:
        """φ(m), φ′(m) and φ″(m): the three together, where they have work in common."""
        return self.value(m), self.slope(m), self.curvature(m)

    def nearby(self, m: Any, reach: float) -> Any:
        """A bound from below on φ″ within `reach` of m; where nothing better is known, φ″ ≥ 0."""
        return 0 * m if math.isinf(self.twist) else math.exp(-self.twist * reach) * self.curvature(m)

    def steepness(self, value: float) -> tuple[float, float]:
        """Bounds on the means of |φ′| and of φ″ over rows whose mean of φ is this; infinite where none is known."""
        return math.inf, math.inf


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """φ(m) = 1[m ≤ 0]: the mistakes themselves, a tie counted as one."""

    convex, smooth, bound, kinks = False, False, 1.0, (0.0,)

    def value(self, m: Any) -> Any:
        """1[m ≤ 0]."""
        return 1 - step(m)

    def slope(self, m: Any) -> Any:
        """0: flat wherever there is a slope, which is why surrogates exist."""
        return 0 * m

    def curvature(self, m: Any) -> Any:
        """0."""
        return 0 * m


@dataclass(frozen=True)
class Squared(MarginLoss):
    """φ(m) = (1 − m)² = (y − xᵀw)²: least squares on ±1."""

    bound, third, twist = 1.0, 0.0, 0.0

    def value(self, m: Any) -> Any:
        """(1 − m)²."""
        return (1 - m) * (1 - m)

    def slope(self, m: Any) -> Any:
        """−2(1 − m)."""
        return 2 * (m - 1)

    def curvature(self, m: Any) -> Any:
        """2."""
        return 0 * m + 2

    def steepness(self, value: float) -> tuple[float, float]:
        """E|φ′| = 2E√φ ≤ 2√Eφ, φ″ = 2."""
        return 2 * math.sqrt(value), 2.0


@dataclass(frozen=True)
class LogisticSquared(MarginLoss):
    """φ(m) = σ(−m)² = (y − p)² with y ∈ {0, 1}, p = σ(xᵀw): squared error, LMSE.  [000 8.11; 002 11]

    The texts count it differently: on ±1 with ρ = 2σ − 1 it is 4φ, as a two-class softmax ‖y − p‖² it is 2φ.
    """

    convex, bound, log_odds, excess = False, 4.0, 1.0, 2.0
    third, least_curvature = 0.2021, -0.1203

    @property
    def steering(self) -> MarginLoss:
        """Its linearised errors, φ″ ≥ 0."""
        return GaussNewton()

    def value(self, m: Any) -> Any:
        """σ(−m)²."""
        return sigmoid(-m) * sigmoid(-m)

    def slope(self, m: Any) -> Any:
        """−2 σ(m) σ(−m)²."""
        return -2 * sigmoid(m) * sigmoid(-m) * sigmoid(-m)

    def curvature(self, m: Any) -> Any:
        """2 σ(m) σ(−m)² (2σ(m) − σ(−m)): negative below m = −log 2."""
        return 2 * sigmoid(m) * sigmoid(-m) * sigmoid(-m) * (2 * sigmoid(m) - sigmoid(-m))


@dataclass(frozen=True)
class GaussNewton(MarginLoss):
    """φ(m) = σ(−m)² with the curvature of its linearised errors: Σ φ″ xxᵀ = 2JᵀJ, J = P(I − P)X, never negative.

    Not one of `ALL`: its curvature is not the derivative of its slope.
    """

    convex, bound, log_odds, excess = False, 4.0, 1.0, 2.0
    third, least_curvature = LogisticSquared.third, LogisticSquared.least_curvature
    value, slope = LogisticSquared.value, LogisticSquared.slope

    def curvature(self, m: Any) -> Any:
        """2 (σ(m) σ(−m))² = 2 (p(1 − p))²."""
        return 2 * sigmoid(m) * sigmoid(m) * sigmoid(-m) * sigmoid(-m)


@dataclass(frozen=True)
class LogLikelihood(MarginLoss):
    """φ(m) = log(1 + e⁻ᵐ) = −log P(y | x, w).  [000 8.3, 8.5, 8.6, 8.7; 002 3, 5, 6, 7]"""

    bound, twist, log_odds = 1 / math.log(2), 1.0, 1.0

    def value(self, m: Any) -> Any:
        """log(1 + e⁻ᵐ)."""
        return softplus(-m)

    def slope(self, m: Any) -> Any:
        """−σ(−m)."""
        return -sigmoid(-m)

    def curvature(self, m: Any) -> Any:
        """σ(m) σ(−m) = p(1 − p)."""
        return sigmoid(m) * sigmoid(-m)

    def jet(self, m: Any) -> tuple[Any, Any, Any]:
        """All three, from one e^−|m|."""
        value, above, below = log_odds(m)
        return value, -below, above * below

    def steepness(self, value: float) -> tuple[float, float]:
        """φ″ ≤ |φ′| = 1 − e^−φ ≤ φ; and |φ′| ≤ 1, φ″ ≤ ¼."""
        return min(1.0, value), min(0.25, value)


@dataclass(frozen=True)
class Perceptron(MarginLoss):
    """φ(m) = [−m]₊."""

    smooth, kinks, clear = False, (0.0,), 0.0

    def value(self, m: Any) -> Any:
        """[−m]₊."""
        return positive(-m)

    def slope(self, m: Any) -> Any:
        """−1[m ≤ 0]."""
        return step(m) - 1

    def curvature(self, m: Any) -> Any:
        """0."""
        return 0 * m


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """φ(m) = [1 − m]₊."""

    smooth, bound, kinks, clear = False, 1.0, (1.0,), 1.0

    def value(self, m: Any) -> Any:
        """[1 − m]₊."""
        return positive(1 - m)

    def slope(self, m: Any) -> Any:
        """−1[m ≤ 1]."""
        return step(m - 1) - 1

    def curvature(self, m: Any) -> Any:
        """0."""
        return 0 * m


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """φ(m) = [1 − m]₊²."""

    bound, kinks, clear = 1.0, (1.0,), 1.0

    def value(self, m: Any) -> Any:
        """[1 − m]₊²."""
        return positive(1 - m) * positive(1 - m)

    def slope(self, m: Any) -> Any:
        """−2[1 − m]₊."""
        return -2 * positive(1 - m)

    def curvature(self, m: Any) -> Any:
        """2·1[m ≤ 1]."""
        return 2 - 2 * step(m - 1)

    def nearby(self, m: Any, reach: float) -> Any:
        """2·1[m + reach ≤ 1]."""
        return self.curvature(m + reach)

    def steepness(self, value: float) -> tuple[float, float]:
        """E|φ′| = 2E√φ ≤ 2√Eφ, φ″ ≤ 2."""
        return 2 * math.sqrt(value), 2.0


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """φ(m) = e⁻ᵐ, held where it would overflow: least in the mean at half the log-odds."""

    bound, twist, log_odds = 1.0, 1.0, 2.0

    def value(self, m: Any) -> Any:
        """e⁻ᵐ."""
        return exponential(-m)

    def slope(self, m: Any) -> Any:
        """−e⁻ᵐ."""
        return -exponential(-m)

    def curvature(self, m: Any) -> Any:
        """e⁻ᵐ."""
        return exponential(-m)

    def steepness(self, value: float) -> tuple[float, float]:
        """φ″ = |φ′| = φ."""
        return value, value


ALL: tuple[MarginLoss, ...] = (
    ZeroOne(),
    Squared(),
    LogisticSquared(),
    LogLikelihood(),
    Perceptron(),
    Hinge(),
    SquaredHinge(),
    Exponential(),
)
"""One of each: the laws are tested over this list."""
