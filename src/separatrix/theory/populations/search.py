"""Descent on the true error of a linear rule under Gaussians: smooth, exact, and not convex."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from ...numerics.arrays import Floats
from .models import GaussianMixture
from .sweep import Cut

ANGLES, RANDOM_DIRECTIONS, THRESHOLDS, STARTS = 180, 128, 65, 12
WIDTHS = (0.5, 0.2, 0.08, 0.03)


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
        """The same rule of x itself, with weights of length one."""
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
