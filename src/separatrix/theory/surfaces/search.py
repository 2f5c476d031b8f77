"""The minima of J(θ₀, θ₁): Newton's steps with a safeguard, or from corner to corner where J is made of planes."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.solvers import descent
from ...fitting.solvers.descent import HALVING, Point
from ...fitting.solvers.newton import OwnStep
from ...numerics.arrays import Floats
from .line import Line
from .plane import Criterion

STEPS = 400
"""The most Newton steps of a descent."""
LONGEST = 4.0
"""The longest step, relative to 1 + the length of the weights."""
STILL = 1e-11
"""A step this short has converged."""
QUIET = 1e-12
"""A slope this small with steps that stay long is that of a tail without end."""
SHARP = 1e-10
"""The least ratio of the smaller curvature to the larger at a minimum; in a tail it is less."""
ANGLES = 144
"""Directions in which descents may start on a surface that is not convex."""
RADII = np.geomspace(0.1, 60.0, 16)
"""Distances at which they may start, in units of the data."""
MANY = 10_000
"""With more rows than this only a third of both is tried."""


class Place(NamedTuple):
    """The end of a descent."""

    theta: Floats
    value: float
    far: bool
    """Whether it was still falling, along a ray: then only the direction means something."""
    flat: bool = False
    """Whether other points nearby are as low."""


def descend(criterion: Criterion, start: Floats, T: Floats) -> Place:
    """θ ← θ − |∇²J|⁻¹∇J, halved until J falls enough, in units in which the data have spread one (θ = Tφ)."""

    def surface(phi: Floats, _: Any) -> Point:
        g, H = criterion.derivatives(T @ phi)
        return Point(criterion.value(T @ phi), T.T @ g, T.T @ H @ T)

    def step(phi: Floats, at: Point) -> Floats:
        whole, length, _ = _newton(at)
        return whole * min(1.0, LONGEST * _size(phi) / max(length, 1e-300))

    phi = np.asarray(np.linalg.solve(T, start), dtype=np.float64)
    for state in islice(descent.descend(surface, phi, OwnStep(step), damping=HALVING), STEPS):
        phi, at = state.v, state.at
        if not at.gradient.any():
            return Place(T @ phi, at.value, False, flat=bool(np.linalg.eigvalsh(at.hessian)[0] <= 0))
        whole, length, sharp = _newton(at)
        if length <= STILL * _size(phi) and sharp:
            return Place(T @ (phi + whole), criterion.value(T @ (phi + whole)), False)
        if np.linalg.norm(at.gradient) <= QUIET * criterion.named.times and (length > 1e-3 or not sharp):
            return Place(T @ phi, at.value, True)
    return Place(T @ phi, at.value, False)


def _newton(at: Point) -> tuple[Floats, float, bool]:
    """−|∇²J|⁻¹∇J, its length, and whether J is curved upwards in every direction."""
    bend, Q = np.linalg.eigh(at.hessian)
    step = -Q @ ((Q.T @ at.gradient) / np.maximum(np.abs(bend), 1e-10 * max(float(np.abs(bend).max()), 1e-290)))
    return step, float(np.linalg.norm(step)), bool(bend[0] > SHARP * bend[1])


def _size(phi: Floats) -> float:
    return 1 + float(np.linalg.norm(phi))


def starts(criterion: Criterion, T: Floats) -> Floats:
    """The points of a mesh of directions and lengths that are lower than their neighbours: where valleys may be."""
    rare = 3 if len(criterion.plane.Z) > MANY else 1
    angles = np.linspace(0, 2 * np.pi, ANGLES // rare, endpoint=False)
    mesh = RADII[::rare, None, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    J = criterion.values(mesh.reshape(-1, 2) @ T.T).reshape(mesh.shape[:2])
    around = np.pad(J, ((1, 1), (0, 0)), constant_values=np.inf)
    low = (around[:-2] >= J) & (around[2:] >= J) & (np.roll(J, 1, 1) >= J) & (np.roll(J, -1, 1) >= J)
    return np.asarray(mesh[low] @ T.T)


def grid_minima(values: Floats) -> NDArray[np.intp]:
    """The places of a grid, inside it, that are as low as all their eight neighbours."""
    J = np.pad(values, 1, constant_values=-np.inf)  # a place on the rim is no minimum: the surface goes on
    n, m = values.shape
    neighbours = [J[1 + i : 1 + i + n, 1 + j : 1 + j + m] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return np.argwhere(np.all([values <= other for other in neighbours], axis=0))


def corner(criterion: Criterion) -> Place:
    """The minimum of J made of planes: down a fold to its lowest corner, then down the folds that meet there.

    At a corner J is a cone whose pieces are bounded by the folds, so if it rises along each of them it rises. This is
    looked at in units in which the data have spread one: else folds of a column with an offset are nearly parallel.
    """
    plane, T = criterion.plane.whitened()
    white = Criterion(criterion.named, plane)
    V, kink = plane.sign[:, None] * plane.Z, criterion.loss.kinks[0]
    phi, value = np.zeros(2), white.value(np.zeros(2))
    for _ in range(10_000):
        lower = [_lowest(white, phi, way) for way in (*_folds(V, phi, kink), *_slopes(white, phi))]
        best = min(lower, key=lambda found: found[1])
        if best[1] >= value - 1e-15 * max(value, 1e-3):
            break
        phi, value = best
    flat = any(_width(white, phi, fold) > 1e-9 for fold in _folds(V, phi, kink))
    return Place(T @ phi, criterion.value(T @ phi), False, flat)


def _folds(V: Floats, theta: Floats, kink: float) -> list[Floats]:
    """The directions along which rows that are at the kink stay there."""
    m = V @ theta
    size = np.abs(V) @ np.abs(theta) + abs(kink)
    rows = np.unique(V[(np.abs(m - kink) <= 1e-11 * size) & V.any(axis=1)], axis=0)
    return [np.array([-z[1], z[0]]) / np.hypot(*z) for z in rows]


def _slopes(criterion: Criterion, theta: Floats) -> list[Floats]:
    """The axes and the gradient: a way down where no fold is near, or where rounding hides one."""
    return [np.array([1.0, 0.0]), np.array([0.0, 1.0]), criterion.derivatives(theta)[0]]


def _lowest(criterion: Criterion, theta: Floats, direction: Floats) -> tuple[Floats, float]:
    spot = Line(criterion, theta, direction).straight()
    t = spot.low if np.isfinite(spot.low) else spot.high
    there = theta + (t if np.isfinite(t) and not spot.low <= 0 <= spot.high else 0.0) * direction
    return there, criterion.value(there)


def _width(criterion: Criterion, theta: Floats, direction: Floats) -> float:
    spot = Line(criterion, theta, direction).straight()
    return spot.high - spot.low
