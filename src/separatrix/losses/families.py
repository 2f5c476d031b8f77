"""Families of distributions of one column within a class, for naive Bayes.

p(x | θ) = exp(θx − a(θ) + b(x)): as b(x) is the same in every class, the log-odds of two classes are linear in x,
whatever the family.  [000 §8.3.2]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from ..errors import Refusal, SettingError
from ..numerics.functions import softplus


class Family(ABC):
    """p(x | θ) = exp(θx − a(θ) + b(x)): a family with one parameter, learnt from the mean of x alone.  [000 §8.3.2]

    The likelihood is largest where the mean of the family is the mean of the rows. A family of one's own gives
    `natural` and `log_partition`; `log_base` too, if probabilities of x itself are wanted, and what values it knows.
    """

    name: str = "a family"
    """What messages call it."""
    lowest: float = -math.inf
    """The least value x that it knows."""
    highest: float = math.inf
    """The largest."""
    whole: bool = False
    """Whether only whole numbers are among them."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @abstractmethod
    def natural(self, total: Any, weight: Any) -> Any:
        """θ for which the mean is total/weight. Both are given: n − s keeps digits that 1 − s/n has lost."""

    @abstractmethod
    def log_partition(self, theta: Any) -> Any:
        """a(θ) = log ∫ exp(θx + b(x)) dx."""

    def log_base(self, x: Any) -> Any:
        """b(x): all that the probability of x has beside θx − a(θ), the same in every class."""
        raise Refusal(
            f"{type(self).__name__} has no log_base(x), so the probability of a row is not known, only that of a "
            "class: use predict_log_proba, or give the family a log_base."
        )

    def smoothed(self, total: Any, weight: Any, smoothing: float, overall: Any) -> tuple[Any, Any]:
        """s + α x̄, n + α: α rows more, at the mean x̄ of the column over all classes.

        It is the mean of the posterior under the family's conjugate prior (Diaconis and Ylvisaker 1979).
        """
        return total + smoothing * overall, weight + smoothing

    def learnt(self, total: Any, weight: Any, smoothing: float, overall: Any) -> Any:
        """θ at the smoothed mean."""
        return self.natural(*self.smoothed(total, weight, smoothing, overall))


class Bernoulli(Family):
    """p(x) = pˣ(1 − p)¹⁻ˣ, x ∈ {0, 1}: θ = log(p/(1 − p)), a = log(1 + exp θ).  [000 §8.3.1]"""

    name = "Bernoulli"
    lowest = 0.0
    highest = 1.0
    whole = True

    def natural(self, total: Any, weight: Any) -> Any:
        """log(p/(1 − p)) = log(s/(n − s))."""
        return np.log(total) - np.log(weight - total)

    def log_partition(self, theta: Any) -> Any:
        """log(1 + exp θ) = −log(1 − p)."""
        return softplus(theta)

    def log_base(self, x: Any) -> Any:
        """0."""
        return np.zeros_like(x)

    def smoothed(self, total: Any, weight: Any, smoothing: float, overall: Any) -> tuple[Any, Any]:
        """s + α, n + 2α: α ones and α zeros more."""
        return total + smoothing, weight + 2 * smoothing

    def learnt(self, total: Any, weight: Any, smoothing: float, overall: Any) -> Any:
        """log((s + α)/(n − s + α)), in an order that a small α survives."""
        return np.log(total + smoothing) - np.log((weight - total) + smoothing)


class Poisson(Family):
    """p(x) = λˣ exp(−λ)/x!, x ≥ 0: θ = log λ, a = λ. Fractions are counts per unit, x! = Γ(x + 1).  [000 §8.3.2]"""

    name = "Poisson"
    lowest = 0.0

    def natural(self, total: Any, weight: Any) -> Any:
        """log λ."""
        return np.log(total / weight)

    def log_partition(self, theta: Any) -> Any:
        """λ = exp θ."""
        return np.exp(theta)

    def log_base(self, x: Any) -> Any:
        """−log x!"""
        return -gammaln(x + 1)


class Exponential(Family):
    """p(x) = λ exp(−λx), x ≥ 0: θ = −λ, a = −log λ; the mean is 1/λ."""

    name = "exponential"
    lowest = 0.0

    def natural(self, total: Any, weight: Any) -> Any:
        """−λ = −n/s."""
        return -weight / total

    def log_partition(self, theta: Any) -> Any:
        """−log λ = −log(−θ)."""
        return -np.log(-theta)

    def log_base(self, x: Any) -> Any:
        """0."""
        return np.zeros_like(x)


class Geometric(Family):
    """p(x) = p(1 − p)ˣ, x = 0, 1, 2, …: θ = log(1 − p), a = −log p; the mean is (1 − p)/p."""

    name = "geometric"
    lowest = 0.0
    whole = True

    def natural(self, total: Any, weight: Any) -> Any:
        """log(1 − p) = log(s/(n + s)) = −log(1 + n/s)."""
        return -np.log1p(weight / total)

    def log_partition(self, theta: Any) -> Any:
        """−log p = −log(1 − exp θ)."""
        return -np.log(-np.expm1(theta))

    def log_base(self, x: Any) -> Any:
        """0."""
        return np.zeros_like(x)


@dataclass(frozen=True)
class Gaussian:
    """p(x) = exp(−(x − μ)²/(2σ²))/√(2πσ²): with a variance that the classes share, linear in x.  [000 §8.3.2]

    With a variance of each class's own it is linear in (x, x²). None leaves that to the learner's `variance`.
    """

    variance: str | None = None
    """"own" for each class, "shared" by them, or None."""
    name: ClassVar[str] = "Gaussian"

    def __post_init__(self) -> None:
        if self.variance not in (None, "own", "shared"):
            raise SettingError("variance", self.variance, "it must be 'own' or 'shared'.")


@dataclass(frozen=True)
class Categorical:
    """P(x = l) = pₗ, a probability for each level: linear in the indicators of the levels.

    A level is any number; those of the rows learnt from are known.
    """

    name: ClassVar[str] = "categorical"


ALL: dict[str, Any] = {
    "gaussian": Gaussian(),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "categorical": Categorical(),
    "exponential": Exponential(),
    "geometric": Geometric(),
}
"""By name."""
