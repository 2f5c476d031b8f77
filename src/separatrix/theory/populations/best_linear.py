"""The linear rule of two classes with the fewest mistakes in truth: exact where it can be, else the best found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from ...errors import Refusal
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from .estimate import Estimate
from .population import Discrete, GaussianMixture, Population

DRAWN = 2000
"""Points drawn of a population that is neither finite nor Gaussian."""


class BestLinear(NamedTuple):
    """A linear rule, its true error, and whether it is proved that none has less."""

    rule: LinearRule
    """The best that was found."""
    error: Estimate
    """How often it errs, in truth."""
    proved: bool
    """Whether no linear rule errs less."""


def best_linear(population: Population, random_state: int = 0) -> BestLinear:
    """argmin over (w, b) of P(1[xᵀw + b > 0] ≠ y).  [001 slide 11]

    Bayes' rule where it is linear; all rules of points on a line or in a plane; else descent from many starts on the
    error itself (Gaussians), on that of widened points (points), or on that of drawn points (anything else).
    """
    bayes = population.bayes_rule()
    if bayes is not None:
        return BestLinear(bayes, _error(population, bayes, random_state), True)
    if population.n_classes != 2:
        raise Refusal(
            f"There are {population.n_classes} classes; the best linear rule is sought for two, "
            "or where Bayes' rule itself is linear."
        )
    if isinstance(population, Discrete):
        found = _best_of_points(population, random_state)
    elif isinstance(population, GaussianMixture):
        found = descend(Cloud.of_mixture(population), np.random.default_rng(random_state))
    else:
        found = _best_of_points(_drawn(population, random_state), random_state)
    candidates = [found, *(Cut(np.zeros(population.n_features), b) for b in (1.0, -1.0))]
    errors = [_error(population, LinearRule(cut.weights, cut.intercept), random_state) for cut in candidates]
    best = int(np.argmin(errors))
    proved = isinstance(population, Discrete) and _can_sweep(population)
    return BestLinear(LinearRule(candidates[best].weights, candidates[best].intercept), errors[best], proved)


def _error(population: Population, rule: LinearRule, random_state: int) -> Estimate:
    if rule.weights.ndim == 1:
        closed = population.error_of(rule.weights, float(rule.intercept))
        if closed is not None:
            return closed
        return population.mean_loss_of_scores(rule, _mistakes_of_sign, random_state)
    return population.mean_of_posterior(lambda P: 1 - P.max(axis=1), random_state)


def _mistakes_of_sign(Z: Floats) -> Floats:
    positive = Z[:, 0] > 0
    return np.column_stack([positive, ~positive]).astype(np.float64)


def _can_sweep(population: Discrete) -> bool:
    return population.n_features == 1 or (population.n_features == 2 and len(population.points) <= SWEPT_POINTS)


def _best_of_points(population: Discrete, random_state: int) -> Cut:
    """The best of all orders in which a line can meet the points, or the end of a descent on widened points."""
    weights = population.masses[:, None] * population.probabilities
    if _can_sweep(population):
        return swept(population.points, weights)
    found = descend(Cloud.of_points(population.points, weights), np.random.default_rng(random_state))
    return best_cut(population.points, weights, np.stack([found.weights, -found.weights]))


def _drawn(population: Population, random_state: int) -> Discrete:
    """Points of the population with their own η: no label is drawn."""
    X = np.unique(population.inputs.draw(DRAWN, np.random.default_rng(random_state)), axis=0)
    return Discrete(X, np.full(len(X), 1 / len(X)), population.posterior(X))


ANGLES = 180
"""Directions tried in a plane."""
RANDOM_DIRECTIONS = 128
"""Random directions tried in more dimensions."""
THRESHOLDS = 65
"""Thresholds tried for each direction."""
STARTS = 12
"""Descents, from the best of these that are not alike."""
WIDTHS = (0.5, 0.2, 0.08, 0.03)
"""Standard deviations that points are given for a descent, one after the other."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Gaussians with masses and the side on which each is an error, in a frame of unit covariance."""

    means: Floats
    covariances: Floats
    masses: Floats
    sides: Floats
    centre: Floats
    frame: Floats
    widths: tuple[float, ...] = ()
    """Standard deviations for points that have none, from wide to narrow."""

    @classmethod
    def of_mixture(cls, mixture: GaussianMixture) -> Cloud:
        return cls._framed(mixture.means, mixture.covariances, mixture.priors, np.where(mixture.labels == 1, -1.0, 1.0))

    @classmethod
    def of_points(cls, points: Floats, weights: Floats) -> Cloud:
        n, d = points.shape
        means, sides = np.tile(points, (2, 1)), np.repeat([1.0, -1.0], n)
        cloud = cls._framed(means, np.zeros((2 * n, d, d)), np.concatenate([weights[:, 0], weights[:, 1]]), sides)
        return replace(cloud, widths=WIDTHS)

    @classmethod
    def _framed(cls, means: Floats, covariances: Floats, masses: Floats, sides: Floats) -> Cloud:
        centre = masses @ means
        total = np.einsum("n,nij->ij", masses, covariances) + (means - centre).T @ ((means - centre) * masses[:, None])
        eigenvalues, vectors = np.linalg.eigh(total)
        frame = vectors / np.sqrt(np.maximum(eigenvalues, 1e-12 * max(eigenvalues[-1], 1e-300)))
        inside = np.einsum("ji,njk,kl->nil", frame, covariances, frame)
        return cls((means - centre) @ frame, inside, masses, sides, centre, frame)

    def widened(self, width: float) -> Cloud:
        return replace(self, covariances=self.covariances + width**2 * np.eye(self.means.shape[1]))

    def value_and_slope(self, wb: Floats) -> tuple[float, Floats]:
        """Σ mass Φ(side·(wᵀμ + b)/√(wᵀΣw)) and its derivatives by w and b."""
        w, b = wb[:-1], wb[-1]
        Sw = np.asarray(self.covariances @ w)
        s = np.sqrt(np.maximum(Sw @ w, 1e-300))
        z = (self.means @ w + b) / s
        density = self.masses * self.sides * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) / s
        slope = density @ self.means - (density * z / s) @ Sw
        return float(self.masses @ ndtr(self.sides * z)), np.append(slope, density.sum())

    def to_user(self, wb: Floats) -> Cut:
        """The rule as one of x itself, with weights of length one."""
        w = self.frame @ wb[:-1]
        size = float(np.linalg.norm(w))
        return Cut(w / size, (float(wb[-1]) - float(w @ self.centre)) / size)


def descend(cloud: Cloud, rng: np.random.Generator) -> Cut:
    """The lowest end of descents from the best of many directions and thresholds."""
    stages = [cloud.widened(width) for width in cloud.widths] or [cloud]
    first, last = stages[0], stages[-1]
    ends = []
    for start in _starts(first, _directions(cloud, rng)):
        wb = start
        for stage in stages:
            wb = _unit(minimize(stage.value_and_slope, wb, jac=True, method="BFGS", options={"gtol": 1e-12}).x)
        ends.append(wb)
    return cloud.to_user(min(ends, key=lambda wb: last.value_and_slope(wb)[0]))


def _directions(cloud: Cloud, rng: np.random.Generator) -> Floats:
    """Both ways on a line, all round in a plane; in space at random, and from component to component."""
    d = cloud.means.shape[1]
    if d == 1:
        return np.array([[1.0], [-1.0]])
    if d == 2:
        angles = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    drawn = rng.standard_normal((RANDOM_DIRECTIONS, d))
    few = cloud.means[:: max(1, len(cloud.means) // 12)]
    between = (few[:, None] - few[None]).reshape(-1, d)
    both = np.concatenate([drawn, between[np.linalg.norm(between, axis=1) > 0]])
    return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True))


def _starts(cloud: Cloud, directions: Floats) -> Iterator[Floats]:
    """For each direction its best threshold on a grid; the best of the directions, not all alike."""
    grid = np.linspace(-4.0, 4.0, THRESHOLDS)
    tried = []
    for w in directions:
        s = np.sqrt(np.einsum("i,nij,j->n", w, cloud.covariances, w))
        centres = cloud.means @ w
        errors = cloud.masses @ ndtr(cloud.sides[:, None] * (centres[:, None] + grid) / s[:, None])
        best = int(errors.argmin())
        tried.append((float(errors[best]), np.append(w, grid[best])))
    tried.sort(key=lambda pair: pair[0])
    apart: list[Any] = []
    for _, wb in tried:
        if all(abs(_unit(wb) @ _unit(other)) < 0.99 for other in apart):
            apart.append(wb)
        if len(apart) == STARTS:
            break
    return iter(apart)


def _unit(wb: Floats) -> Floats:
    return np.asarray(wb / np.linalg.norm(wb[:-1])) if wb[:-1].any() else wb


SWEPT_POINTS = 300
"""The most points of a plane for which every direction is tried."""
BATCH = 2000
"""Directions tried at a time."""
APART = 1e-12
"""Projections nearer than this part of the points' extent are not told apart."""


class Cut(NamedTuple):
    """xᵀw + b > 0."""

    weights: Floats
    intercept: float


def swept(points: Floats, weights: Floats) -> Cut:
    """The cut with the fewest mistakes of all, for points on a line or in a plane; weights[i, k] is of class k.

    The order of projections changes only at directions normal to a difference of two points. A cut can be moved off the
    points and turned a little, so the directions half-way between are enough.
    """
    if points.shape[1] == 1:
        return best_cut(points, weights, np.array([[1.0], [-1.0]]))
    i, j = np.triu_indices(len(points), 1)
    dx, dy = (points[j] - points[i]).T
    critical = np.unique(np.mod(np.arctan2(dx, -dy), np.pi)) if len(i) else np.zeros(1)
    angles = (critical + np.append(critical[1:], critical[0] + np.pi)) / 2
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    return best_cut(points, weights, np.concatenate([directions, -directions]))


def best_cut(points: Floats, weights: Floats, directions: Floats) -> Cut:
    """For each direction the best threshold, by prefix sums along the projections; the best of all."""
    best, least = Cut(np.zeros(points.shape[1]), -1.0), float(weights[:, 1].sum())
    for start in range(0, len(directions), BATCH):
        batch = directions[start : start + BATCH]
        z = batch @ points.T
        order = np.argsort(z, axis=1)
        z = np.take_along_axis(z, order, axis=1)
        gain = (weights[:, 0] - weights[:, 1])[order]  # a point below the threshold is called class 0
        errors = weights[:, 0].sum() - np.cumsum(gain, axis=1)
        gaps = np.diff(z, axis=1, append=np.inf)
        errors[gaps <= APART * np.ptp(z, axis=1)[:, None]] = np.inf
        row, place = np.unravel_index(int(errors.argmin()), errors.shape)
        if errors[row, place] < least:
            last = place == z.shape[1] - 1
            threshold = z[row, place] + 1.0 if last else (z[row, place] + z[row, place + 1]) / 2
            best, least = Cut(batch[row], -float(threshold)), float(errors[row, place])
    return best
