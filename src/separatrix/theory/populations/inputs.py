"""Distributions of x: what can be drawn, and over what means can be taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats
from .checks import as_rows, checked_covariances, checked_masses
from .estimate import LAST_DIGITS, Estimate, exact
from .quadrature import over_line, over_plane, scattered_mean

Function = Callable[[Floats], Any]
REACH = 9.0
"""Standard deviations beyond which the mass of a Gaussian, 2·10⁻¹⁹, is left out."""
COARSE = np.array([-REACH, -5.0, -3.0, -1.5, 0.0, 1.5, 3.0, 5.0, REACH])
"""Where panels of its quadrature begin, in standard deviations."""


class Inputs(ABC):
    """A distribution of x, without labels."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of x."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """n independent rows."""

    @abstractmethod
    def mean(self, f: Function, random_state: int = 0) -> Estimate:
        """E[f(x)]; f takes rows and gives a number for each."""

    def image(self, weights: Floats, intercept: Floats) -> Inputs | None:
        """The distribution of Wx + c where it is of a kind known here, else None."""
        return None


@dataclass(frozen=True, eq=False)
class Points(Inputs):
    """x = xᵢ with probability massᵢ: every mean is a sum.

    >>> Points([[0.0], [1.0], [2.0]], [0.5, 0.25, 0.25]).mean(lambda X: X[:, 0] ** 2)
    1.25 ± 1.1e-15 (sum over 3 points)
    """

    points: Any
    masses: Any = None

    def __post_init__(self) -> None:
        points = as_rows(self.points, "points")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "masses", checked_masses(self.masses, len(points), "masses"))

    @property
    def n_features(self) -> int:
        return int(self.points.shape[1])

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        return np.asarray(self.points[rng.choice(len(self.points), size=n, p=self.masses)])

    def mean(self, f: Function, random_state: int = 0) -> Estimate:
        return exact(self.masses * values_of(f, self.points), f"sum over {len(self.points)} points")

    def image(self, weights: Floats, intercept: Floats) -> Points:
        return Points(self.points @ weights.T + intercept, self.masses)


@dataclass(frozen=True, eq=False)
class Rows(Inputs):
    """Rows that stand for a distribution nobody knows: a mean over them has a standard error."""

    rows: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", as_rows(self.rows, "X"))

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        return np.asarray(self.rows[rng.integers(len(self.rows), size=n)])

    def mean(self, f: Function, random_state: int = 0) -> Estimate:
        y = values_of(f, self.rows)
        error = float(y.std(ddof=1)) / np.sqrt(len(y)) if len(y) > 1 else np.inf
        return Estimate(float(y.mean()), error, f"mean over the {len(y)} rows given")


@dataclass(frozen=True, eq=False)
class Gaussians(Inputs):
    """p(x) = Σᵢ massᵢ N(x; μᵢ, Σᵢ).

    `covariances` is a number σ² (σ²I for all), one number for each component, one matrix, or one for each. Means are
    by quadrature where a component spans one or two dimensions, else over random points.
    """

    means: Any
    covariances: Any = 1.0
    masses: Any = None

    def __post_init__(self) -> None:
        means = as_rows(self.means, "means")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", checked_covariances(self.covariances, *means.shape))
        object.__setattr__(self, "masses", checked_masses(self.masses, len(means), "masses"))

    @property
    def n_features(self) -> int:
        return int(self.means.shape[1])

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        which = rng.choice(len(self.means), size=n, p=self.masses)
        noise = rng.standard_normal((n, self.n_features))
        roots = np.stack([_root(c) for c in self.covariances])
        return np.asarray(self.means[which] + np.einsum("nij,nj->ni", roots[which], noise))

    def mean(self, f: Function, random_state: int = 0) -> Estimate:
        """Σᵢ massᵢ ∫ f(μᵢ + Lᵢt) N(t; 0, I) dt, LᵢLᵢᵀ = Σᵢ."""
        parts = [self.mean_of_component(i, f, random_state) for i in range(len(self.means))]
        value = float(np.dot(self.masses, [float(part) for part in parts]))
        hows = list(dict.fromkeys(part.how for part in parts))
        return Estimate(value, float(np.dot(self.masses, [part.error for part in parts])), "; ".join(hows))

    def mean_of_component(self, i: int, f: Function, random_state: int = 0) -> Estimate:
        """∫ f(μ + Lt) N(t; 0, I) dt for one component, LLᵀ = Σ."""
        root = _thin_root(self.covariances[i])
        rank = root.shape[1]

        def at(t: Floats) -> Floats:
            return values_of(f, self.means[i] + t @ root.T)

        def weighted(t: Floats) -> Floats:
            return np.asarray(at(t) * np.exp(-0.5 * (t * t).sum(axis=1)) / (2 * np.pi) ** (rank / 2))

        if rank == 0:
            return exact(at(np.zeros((1, 0))), "at a point")
        if rank == 1:
            value, error = over_line(weighted, self._breaks(i, root)[0])
        elif rank == 2:
            first, second = self._breaks(i, root)
            value, error = over_plane(weighted, (first, second))
        else:
            return scattered_mean(at, rank, np.random.default_rng([random_state, i]))
        return Estimate(value, error + LAST_DIGITS * abs(value), "quadrature")

    def image(self, weights: Floats, intercept: Floats) -> Gaussians:
        covariances = np.einsum("ij,njk,lk->nil", weights, self.covariances, weights)
        return Gaussians(self.means @ weights.T + intercept, covariances, self.masses)

    def _breaks(self, i: int, root: Floats) -> list[Floats]:
        """Where panels begin, in units of component i: at its own deviations, and around every other component."""
        inverse = np.linalg.pinv(root)
        centres = (self.means - self.means[i]) @ inverse.T
        spreads = np.sqrt(np.einsum("ij,njk,ik->ni", inverse, self.covariances, inverse))
        marks = (centres + step * spreads for step in (-3.0, 0.0, 3.0))
        inside = [np.clip(mark, -REACH, REACH) for mark in marks]
        return [np.unique(np.concatenate([COARSE, *(m[:, a] for m in inside)])) for a in range(root.shape[1])]


@dataclass(frozen=True, eq=False)
class Box(Inputs):
    """x uniform between `low` and `high`, column by column."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = np.atleast_1d(np.asarray(self.low, float)), np.atleast_1d(np.asarray(self.high, float))
        if low.shape != high.shape or low.ndim != 1 or not (np.isfinite(high - low) & (low < high)).all():
            raise SettingError(
                "low",
                self.low,
                "give finite numbers, low < high in each column.",
                f"low is {self.low!r} and high {self.high!r};",
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def n_features(self) -> int:
        return len(self.low)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(self.low, self.high, (n, self.n_features))

    def mean(self, f: Function, random_state: int = 0) -> Estimate:
        """∫ f(x) dx over the box, divided by its volume."""
        breaks, volume = np.linspace(self.low, self.high, 17), float(np.prod(self.high - self.low))
        if self.n_features == 1:
            value, error = over_line(lambda X: values_of(f, X) / volume, breaks[:, 0])
        elif self.n_features == 2:
            value, error = over_plane(lambda X: values_of(f, X) / volume, (breaks[:, 0], breaks[:, 1]))
        else:
            rng = np.random.default_rng(random_state)
            wide = self.high - self.low
            return scattered_mean(lambda u: values_of(f, self.low + u * wide), self.n_features, rng, normal=False)
        return Estimate(value, error + LAST_DIGITS * abs(value), "quadrature")


def values_of(f: Function, X: Floats) -> Floats:
    """f(x) for each row, as numbers that are not NaN."""
    y = np.asarray(f(X), dtype=np.float64)
    if y.shape != (len(X),):
        raise DataError(f"The function gave an array of shape {y.shape} for {len(X)} rows; one number a row is needed.")
    if np.isnan(y).any():
        row = int(np.flatnonzero(np.isnan(y))[0])
        raise DataError(f"The function is NaN at x = {X[row].tolist()}.", row=row)
    return y


def _root(covariance: NDArray[Any]) -> Floats:
    """Q diag(√λ), Σ = Q diag(λ) Qᵀ."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))


def _thin_root(covariance: NDArray[Any]) -> Floats:
    """The columns of Q diag(√λ) along which there is any spread, the widest first."""
    root = _root(covariance)
    widths = np.linalg.norm(root, axis=0)
    return np.asarray(root[:, widths > 1e-7 * widths.max(initial=0.0)][:, ::-1])
