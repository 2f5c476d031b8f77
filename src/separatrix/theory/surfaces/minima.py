"""The minima of a surface and of a line through it, gathered, told apart and named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...learners.geometry.separability import separability
from ...numerics.arrays import Floats
from .infinity import LOWER, at_infinity, ends_of, starts_outwards
from .line import Line
from .mistakes import Cone, cells, cones
from .plane import Criterion, Plane
from .search import Place, corner, descend, grid_minima, starts

APART = 1e-5
"""Minima nearer to each other than this, in units of the data, are one."""


@dataclass(frozen=True)
class Minimum:
    """A point at which J is as low as nowhere around it, or a direction in which it falls for ever."""

    theta: tuple[float, float]
    """The point; at infinity the direction, of length one."""
    value: float
    """J there; at infinity the limit."""
    kind: str
    """"minimum", "local minimum", "flat region" (a point of it), "at infinity" or "local, at infinity"."""
    cone: Cone | None = None
    """Of the fewest mistakes: the whole region."""
    span: tuple[float, float] | None = None
    """Of a flat part of a line: its ends."""

    @property
    def attained(self) -> bool:
        """Whether there is such a point."""
        return not self.kind.endswith("at infinity")

    def __str__(self) -> str:
        where = "(" + ", ".join(f"{t:.6g}" for t in self.theta) + ")"
        if self.cone is not None and self.cone.thresholds:
            where += ": −θ₀/θ₁ in " + " or ".join(map(str, self.cone.thresholds))
        return f"{self.kind} {self.value:.6g} {'at θ =' if self.attained else 'along θ ∝'} {where}"


def minima_on(
    criterion: Criterion, axes: tuple[Floats, Floats] | None = None, grid: Floats | None = None
) -> tuple[Minimum, ...]:
    """All minima that are found, the lowest first."""
    if criterion.counts:
        return _fewest(criterion.plane)
    plane, u = criterion.plane.in_units()
    ours = Criterion(criterion.named, plane)
    points = None if axes is None else (axes[0] * u[0], axes[1] * u[1])
    return tuple(_in_units_of(u, found) for found in _minima_in_units(ours, points, grid))


def _in_units_of(u: Floats, found: Minimum) -> Minimum:
    """θ = φ/u, since θᵀz = φᵀ(z/u)."""
    theta = np.array(found.theta) / u
    return replace(found, theta=_pair(theta if found.attained else theta / np.hypot(*theta)))


def _minima_in_units(
    criterion: Criterion, axes: tuple[Floats, Floats] | None, grid: Floats | None
) -> tuple[Minimum, ...]:
    if criterion.polyhedral:
        return (_of_planes(criterion),)
    return _only(criterion) if criterion.loss.convex else _several(criterion, axes, grid)


def _fewest(plane: Plane) -> tuple[Minimum, ...]:
    found = cells(plane)
    least, at_origin = found.least(), float(plane.weight[plane.sign > 0].sum())
    if at_origin < least:  # of two columns: at θ = 0 all rows are of the first class, as they can be nowhere else
        return (Minimum((0.0, 0.0), at_origin / plane.total, "minimum"),)
    return tuple(Minimum(theta, least / plane.total, "flat region", cone) for cone, theta in cones(found))


def _of_planes(criterion: Criterion) -> Minimum:
    if (
        criterion.loss.kinks[0] == 0
    ):  # the perceptron's criterion: zero at θ = 0, and elsewhere if rows can be separated
        flat = _kind(criterion.plane)[0] != "overlap"
        return Minimum((0.0, 0.0), 0.0, "flat region" if flat else "minimum")
    place = corner(criterion)
    return _named(place, "flat region" if place.flat else "minimum")


def _kind(plane: Plane) -> tuple[str, Floats, NDArray[np.bool_]]:
    """How the classes lie to each other, a direction that errs on no row, and the rows it leaves at margin zero."""
    X = plane.Z[:, 1:] if plane.lifted else plane.Z
    result = separability(X, plane.sign, fit_intercept=plane.lifted)
    w, b = result.certificate.weights, result.certificate.intercept
    if w is None:
        return result.kind, np.zeros(2), np.zeros(len(X), bool)
    direction = np.array([float(b), *np.ravel(w)]) if plane.lifted else np.ravel(w)
    on_it = np.ones(len(X), bool)
    on_it[np.asarray(result.rows, dtype=np.intp)] = False
    return result.kind, direction / np.linalg.norm(direction), on_it


def _only(criterion: Criterion) -> tuple[Minimum, ...]:
    """Of a convex loss the minimum that there is, or the direction in which there is none."""
    T = criterion.plane.whitening()
    if criterion.endless:
        kind, direction, on_it = _kind(criterion.plane)
        if kind != "overlap":
            return (Minimum(_pair(direction), _rest(criterion, direction, on_it), "at infinity"),)
    place = descend(criterion, np.zeros(2), T)
    floor = bool(criterion.loss.kinks) and _of_moving(criterion, place.theta) <= 1e-20  # all that costs nothing
    return (_named(place, "flat region" if place.flat or floor else "minimum"),)


def _of_moving(criterion: Criterion, theta: Floats) -> float:
    """J(θ) of the rows that θ can do something about: not z = 0."""
    moving = np.asarray(criterion.plane.Z.any(axis=1))
    return Criterion(criterion.named, criterion.plane.only(moving)).value(theta)


def _rest(criterion: Criterion, direction: Floats, on_it: NDArray[np.bool_]) -> float:
    """The infimum: rows off the line cost nothing in the limit, those on it what is least across it."""
    plane = criterion.plane
    if not on_it.any():
        return 0.0
    left = Criterion(criterion.named, plane.only(on_it))
    across = Line(left, np.zeros(2), np.array([-direction[1], direction[0]]))
    t = across.minima()[0].low if across.rates.any() else 0.0  # a row z = 0 costs φ(0) wherever θ goes
    return left.value(across.at(t)) * left.plane.total / plane.total


def _several(criterion: Criterion, axes: tuple[Floats, Floats] | None, grid: Floats | None) -> tuple[Minimum, ...]:
    """Of a loss that is not convex and has an upper end: the minima that descents lead to, those at infinity too."""
    T = criterion.plane.whitening()
    ends = ends_of(criterion)
    begin = [np.zeros((1, 2)), starts(criterion, T), starts_outwards(criterion, ends)]
    if axes is not None and grid is not None:
        places = grid_minima(grid)
        begin.append(np.column_stack([axes[0][places[:, 0]], axes[1][places[:, 1]]]))
    ended = [descend(criterion, start, T) for start in np.concatenate(begin)]
    near = [place for place in ended if not place.far and _is_minimum(criterion, place, T)]
    found = [_named(place, "minimum") for place in _distinct(near, T)]
    outwards = at_infinity(criterion, ends, [place for place in ended if place.far])
    found += [Minimum(_pair(direction), limit, "at infinity") for direction, limit in outwards]
    return _ranked(found or [_named(min(ended, key=lambda place: place.value), "minimum")])


def _is_minimum(criterion: Criterion, place: Place, T: Floats) -> bool:
    _, H = criterion.derivatives(place.theta)
    return bool(np.linalg.eigvalsh(T.T @ H @ T)[0] > 0)


def _distinct(places: list[Place], T: Floats) -> list[Place]:
    kept: list[Place] = []
    for place in sorted(places, key=lambda place: place.value):
        phi = np.linalg.solve(T, place.theta)
        if all(
            np.linalg.norm(np.linalg.solve(T, other.theta) - phi) > APART * (1 + np.linalg.norm(phi)) for other in kept
        ):
            kept.append(place)
    return kept


def _ranked(found: list[Minimum]) -> tuple[Minimum, ...]:
    """The lowest first; those that are higher are local."""
    least = min(m.value for m in found)
    named = []
    for m in found:
        lowest = m.value <= least + LOWER
        if m.attained:
            named.append(Minimum(m.theta, m.value, "minimum" if lowest else "local minimum"))
        else:
            named.append(Minimum(m.theta, m.value, "at infinity" if lowest else "local, at infinity"))
    return tuple(sorted(named, key=lambda m: m.value))


def minima_on_line(line: Line, moving: int) -> tuple[Minimum, ...]:
    """The minima along a line, from left to right."""
    found = []
    for low, high in line.minima():
        if not np.isfinite([low, high]).any() and low == high:
            direction = np.sign(low) * line.direction
            found.append(Minimum(_pair(direction), _limit(line, float(np.sign(low))), "at infinity"))
            continue
        inside = low if np.isinf(high) else high if np.isinf(low) else (low + high) / 2
        inside += 1.0 * np.isinf(high) - 1.0 * np.isinf(low)  # an end that is infinite: one step from the other
        inside = 0.0 if np.isinf([low, high]).all() else inside
        theta = line.at(inside)
        value = float(line.values(np.array([inside]))[0])
        kind = "flat region" if low < high else "minimum"
        found.append(Minimum(_pair(theta), value, kind, span=(low, high) if low < high else None))
    least = min(m.value for m in found)
    return tuple(m if m.value <= least + LOWER else _local(m) for m in found)


def _local(m: Minimum) -> Minimum:
    return Minimum(m.theta, m.value, "local minimum" if m.attained else "local, at infinity", span=m.span)


def _limit(line: Line, way: float) -> float:
    """J where the line leaves for ever: far enough that nothing changes."""
    rates = np.abs(line.rates)
    far = way * (1e3 / float(rates[rates > 0].min()) + 2 * float(np.abs(line.breaks()[0]).max()))
    return float(line.values(np.array([far]))[0])


def _named(place: Place, kind: str) -> Minimum:
    return Minimum(_pair(place.theta), place.value, kind)


def _pair(theta: Floats) -> tuple[float, float]:
    return float(theta[0]) + 0.0, float(theta[1]) + 0.0
