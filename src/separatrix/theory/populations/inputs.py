"""Distributions of x: what can be drawn, and over what means can be taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats, Indices
from .estimate import LAST_DIGITS, Estimate, as_rows, checked_covariances, checked_masses, exact

# Integrals of functions that jump: panels are halved where two rules of quadrature disagree.
#
# Gauss–Hermite rules are for smooth functions. A 0-1 loss jumps at a boundary and min(η, 1 − η) has a kink there: n
# nodes are then wrong by about 1/√n and 1/n, while every halving of a panel gains at least a bit.


_HALF = [0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926]
_HALF += [0.741531185599394439863864773280788, 0.586087235467691130294144691368259]
_HALF += [0.405845151377397166906606412076961, 0.207784955007898467600689403773245]
_KRONROD = [
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
]
_KRONROD += [0.140653259715525918745189590510238, 0.169004726639267902826583426598550]
_KRONROD += [0.190350578064785409913256402421014, 0.204432940075298892414161999234649]
_GAUSS = [0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780]
_GAUSS += [0.0, 0.381830050505118944950369775488975, 0.0]

NODES: Floats = np.array([*(-x for x in _HALF), 0.0, *_HALF[::-1]])
KRONROD: Floats = np.array([*_KRONROD, 0.209482141084727828012999174891714, *_KRONROD[::-1]])
GAUSS: Floats = np.array([*_GAUSS, 0.417959183673469387755102040816327, *_GAUSS[::-1]])
"""The 15 nodes of Kronrod's rule on [−1, 1], its weights, and those of Gauss's rule on every second node."""


class Care(NamedTuple):
    """When a panel is halved: while its two rules differ by more than `tolerance`, at most `depth` times."""

    tolerance: float
    depth: int


ROUNDING = 1e-14
"""Of the integral of |f|: two rules never agree better."""
LINE = Care(1e-13, 60)
"""Of an integral over a line."""
INNER = Care(1e-10, 40)
"""Of the inner integrals over a plane."""
OUTER = Care(1e-8, 12)
"""Of the outer one."""


class Integrals(NamedTuple):
    """A value for each owner, and the error that the difference of two rules suggests."""

    values: Floats
    errors: Floats


def integrate(f: Callable[[Indices, Floats], Floats], breaks: Floats, owners: int, care: Care) -> Integrals:
    """∫ fᵢ(t) dt from the first of the breaks to the last, for each owner i, all panels of a depth in one call of f."""
    lo, hi = np.tile(breaks[:-1], owners), np.tile(breaks[1:], owners)
    who = np.repeat(np.arange(owners), len(breaks) - 1)
    values, errors = np.zeros(owners), np.zeros(owners)
    for depth in range(care.depth + 1):
        middle, half = (lo + hi) / 2, (hi - lo) / 2
        t = middle[:, None] + half[:, None] * NODES
        y = f(np.repeat(who, len(NODES)), t.ravel()).reshape(t.shape)
        if np.isinf(y).any():
            values[np.repeat(who, len(NODES))[np.isinf(y.ravel())]] = np.inf  # a loss without bound, on a set with mass
            return Integrals(values, errors)
        value, error = half * (y @ KRONROD), half * np.abs(y @ (KRONROD - GAUSS))
        again = (error > care.tolerance + ROUNDING * half * (np.abs(y) @ KRONROD)) & (depth < care.depth)
        np.add.at(values, who[~again], value[~again])
        np.add.at(errors, who[~again], error[~again])
        if not again.any():
            break
        who = np.tile(who[again], 2)
        lo, hi = np.concatenate([lo[again], middle[again]]), np.concatenate([middle[again], hi[again]])
    return Integrals(values, errors)


def over_line(f: Callable[[Floats], Floats], breaks: Floats) -> tuple[float, float]:
    """∫ f(t) dt and its error; f takes rows of one column."""
    found = integrate(lambda _, t: f(t[:, None]), breaks, 1, LINE)
    return float(found.values[0]), float(found.errors[0])


def over_plane(f: Callable[[Floats], Floats], breaks: tuple[Floats, Floats]) -> tuple[float, float]:
    """∫∫ f(s, t) dt ds and its error: along each t-line the jumps are found, what is left is smooth in s."""
    first, second = breaks
    worst = 0.0

    def along(_: Indices, s: Floats) -> Floats:
        nonlocal worst
        inner = integrate(lambda i, t: f(np.column_stack([s[i], t])), second, len(s), INNER)
        worst = max(worst, float(inner.errors.max()))
        return inner.values

    outer = integrate(along, first, 1, OUTER)
    return float(outer.values[0]), float(outer.errors[0]) + worst * float(first[-1] - first[0])


SHIFTS = 16
"""Means that are taken, whose spread gives the standard error."""
POINTS = 8192
"""Points of each mean."""
EVEN_DIMENSIONS = 12
"""The most dimensions in which points are spread evenly."""


def scattered_mean(f: Callable[[Floats], Floats], d: int, rng: np.random.Generator, *, normal: bool = True) -> Estimate:
    """The mean of 16 means, and their standard error, over 8192 points each.

    Up to 12 dimensions the points are spread evenly, k·α mod 1 with a random shift, αⱼ = g⁻ʲ and gᵈ⁺¹ = g + 1; beyond
    that they are plain random numbers.
    """
    even = d <= EVEN_DIMENSIONS
    means = np.empty(SHIFTS)
    for i in range(SHIFTS):
        u = _even_points(d, rng.random(d)) if even else rng.random((POINTS, d))
        u = np.clip(u, 2.0**-53, 1 - 2.0**-53)
        means[i] = f(ndtri(u) if normal else u).mean()
    how = f"{'quasi-' if even else ''}Monte Carlo, {SHIFTS}×{POINTS} points"
    return Estimate(float(means.mean()), float(means.std(ddof=1)) / np.sqrt(SHIFTS), how)


def _even_points(d: int, shift: Floats) -> Floats:
    g = 2.0
    for _ in range(64):
        g = (1 + g) ** (1 / (d + 1))
    steps = g ** -np.arange(1.0, d + 1)
    return np.asarray((np.arange(POINTS)[:, None] * steps + shift) % 1.0)


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
