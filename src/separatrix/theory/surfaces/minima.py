"""The minima of a surface and of a line through it, gathered, told apart and named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...learners.geometry.separability import separability
from ...losses.margin import LogisticSquared
from ...numerics.arrays import Floats
from .line import Line
from .mistakes import Cells, Cone, cells, cones, line_of_each_row
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
    """The whole region, where J counts mistakes."""
    span: tuple[float, float] | None = None
    """The ends of a flat part of a line."""

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
    """The minimum of a convex loss, or the direction in which it falls for ever."""
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
    """The minima of a bounded loss that is not convex, as descents find them, also those at infinity."""
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


ON = 0.1
"""Along a ray, a row stays where it is if its margin is less than this part of the largest."""
LOWER = 1e-9
"""Values nearer than this are equal, when the lowest minimum is chosen."""
NEAR = 1e-4
"""A descent that ran off along a ray of ties has come so near to the limit there."""
FEW = 4
"""How many of the best sectors and rays descents start from."""
SHARES = np.concatenate([[1e-3], np.linspace(0, 1, 35)[1:-1], [1 - 1e-3]])
"""Directions at which a sector is examined, from one ray to the other; nearer to a ray an offset leaves no digits."""


class Ray(NamedTuple):
    """A ray on which rows stay whose margins have both signs beside it, so that it is lower than both its sides."""

    direction: Floats
    limit: float
    beside: Floats
    """How far from the ray J is least, in the limit."""


class Ends(NamedTuple):
    """The limits of J: in the best sectors, and along all rays with ties that may be lower."""

    everywhere: Cells
    best: list[Floats]
    rays: list[Ray]


def ends_of(criterion: Criterion) -> Ends:
    """The sectors and rays that `at_infinity` and `starts_outwards` need."""
    everywhere = cells(criterion.plane)
    if everywhere.sectors.min() > everywhere.least():  # on a ray, where a count is less than in any sector, J is not
        nowhere = np.full(len(everywhere.rays), float(everywhere.sectors.max()) + 1)
        best = cones(everywhere._replace(on_rays=nowhere))
    else:
        best = cones(everywhere)
    return Ends(everywhere, [np.array(theta) for _, theta in best], _rays(criterion, everywhere))


def at_infinity(criterion: Criterion, ends: Ends, far: list[Place]) -> list[tuple[Floats, float]]:
    """Direction and limit: one for each way that a descent ran off, and for the best ways of all."""
    found: dict[bytes, tuple[Floats, float]] = {}
    least = min((ray.limit for ray in ends.rays), default=np.inf)
    chosen = [ray for ray in ends.rays if ray.limit <= least + LOWER]
    for theta, value in [(theta, np.inf) for theta in ends.best] + [(place.theta, place.value) for place in far]:
        limit = _limit_along(criterion, theta)
        ray = _along(ends.rays, theta, value) if value < limit - LOWER else None
        if ray is not None:
            chosen.append(ray)
            continue
        if value < limit - LOWER:  # rows so near each other that the descent has not yet told them apart
            m = criterion.plane.sign * (criterion.plane.Z @ theta)
            settled = _from_above(m[np.abs(m) > ON * np.abs(m).max()])
        else:
            settled = settles(criterion.plane, ends.everywhere, theta)
        if settled:
            found.setdefault((criterion.plane.Z @ theta > 0).tobytes(), (_unit(theta), min(limit, value)))
    for ray in chosen:
        m = criterion.plane.sign * (criterion.plane.Z @ ray.direction)
        if _from_above(m[np.abs(m) > 1e-12 * np.abs(m).max()]):
            found.setdefault(ray.direction.tobytes(), (ray.direction, ray.limit))
    return list(found.values())


def starts_outwards(criterion: Criterion, ends: Ends) -> Floats:
    """Points along the best sectors and rays: where J comes to its limit from below, a valley ends near one of them."""
    ways = [(_unit(theta), np.zeros(2)) for theta in ends.best[:FEW]]
    ways += [(ray.direction, ray.beside) for ray in sorted(ends.rays, key=lambda ray: ray.limit)[:FEW]]
    points = []
    for direction, beside in ways:
        m = np.abs(criterion.plane.Z @ direction)
        nearest = m[m > 1e-12 * m.max()].min()
        points += [scale / nearest * direction + beside for scale in (0.5, 2.0, 8.0)]
    return np.array(points)


def settles(plane: Plane, everywhere: Cells, theta: Floats) -> bool:
    """Whether J(cθ) of a squared error falls to its limit as c → ∞, in the whole sector of θ, and rises beside it.

    J − limit is 4 Σ e^(−2cm) over rows that are right less 8 Σ e^(−c|m|) over those that are wrong, but for smaller
    terms. So it comes from above where the nearest right row is less than half as far as the nearest wrong one; where
    it does not, J is lower than its limit at some c, and the limit is no minimum.
    """
    k, n = everywhere.sector(theta), len(everywhere.rays)
    if min(everywhere.sectors[k - 1], everywhere.sectors[(k + 1) % n]) <= everywhere.sectors[k]:
        return False
    a, b = (_unit(ray) for ray in (everywhere.rays[k - 1], everywhere.rays[k]))
    between = (1 - SHARES[:, None]) * a + SHARES[:, None] * b
    return all(_from_above(plane.sign * (plane.Z @ direction)) for direction in between)


def _limit_along(criterion: Criterion, theta: Floats) -> float:
    """(φ(−∞) Σ c of mistakes + φ(0) Σ c of rows z = 0)/Σ c: J(cθ) as c → ∞, for θ on no row's line."""
    plane, moves = criterion.plane, criterion.plane.Z.any(axis=1)
    wrong = ((plane.Z @ theta > 0) != (plane.sign > 0)) & moves
    top, still = _costs(criterion)
    return float(top * plane.weight[wrong].sum() + still * plane.weight[~moves].sum()) / plane.total


def _costs(criterion: Criterion) -> tuple[float, float]:
    """The loss of a row that is as wrong as can be, and of one at margin zero."""
    top, still = criterion.named.times * criterion.loss.value(np.array([-1e3, 0.0]))
    return float(top), float(still)


def _rays(criterion: Criterion, everywhere: Cells) -> list[Ray]:
    """The limit along each ray with ties: mistakes off it, rows z = 0, and the least that its own rows cost."""
    plane, (top, still) = criterion.plane, _costs(criterion)
    group, lines = line_of_each_row(plane)
    unit = lines / np.hypot(*lines.T)[:, None]
    ahead = np.column_stack([unit[:, 1], -unit[:, 0]])
    lying = group >= 0
    rates = plane.sign * np.einsum("ij,ij->i", plane.Z, ahead[group])
    a, b = (
        np.bincount(group[mask], plane.weight[mask], minlength=len(lines))
        for mask in (lying & (rates > 0), lying & (rates < 0))
    )
    at_zero = plane.weight[~lying]
    counted = float(plane.weight[~lying & (plane.sign > 0)].sum())
    off = np.column_stack(np.split(everywhere.sectors, 2)) - counted - np.column_stack([b, a])
    floor = (top * off + still * at_zero.sum()) / plane.total
    enough = (top * (everywhere.sectors.min() - counted) + still * at_zero.sum()) / plane.total
    found = []
    for k in np.flatnonzero((a > 0) & (b > 0) & (floor.min(axis=1) < enough + LOWER)):
        tied = group == k
        cost, t = _tie(criterion, tied, rates[tied], float(a[k]), float(b[k]), ahead[k])
        if np.isfinite(t):
            found += [
                Ray(way * unit[k], float(floor[k, side]) + cost / plane.total, t * ahead[k])
                for side, way in enumerate((1.0, -1.0))
            ]
    return found


def _tie(
    criterion: Criterion, tied: NDArray[np.bool_], rates: Floats, a: float, b: float, ahead: Floats
) -> tuple[float, float]:
    """min over t of aσ(−t)² + bσ(t)² = ab/(a + b), at σ(t) = a/(a + b): what the rows of a ray cost, and where.

    With p = σ(t) it is a(1 − p)² + bp². Where the rows are not equally far out, or the loss is another, the least
    minimum of J over these rows along a line across the ray; an infinite t where there is none.
    """
    speed = float(np.abs(rates).max())
    if isinstance(criterion.loss, LogisticSquared) and bool((np.abs(rates) > (1 - 1e-12) * speed).all()):
        return criterion.named.times * a * b / (a + b), float(np.log(a / b)) / speed
    left = Criterion(criterion.named, criterion.plane.only(tied))
    line = Line(left, np.zeros(2), ahead)
    inside = [(spot.low + spot.high) / 2 for spot in line.minima() if np.isfinite([spot.low, spot.high]).all()]
    if not inside:
        return np.inf, np.inf
    costs = line.values(np.array(inside)) * left.plane.total
    return float(costs.min()), inside[int(costs.argmin())]


def _along(rays: list[Ray], theta: Floats, value: float) -> Ray | None:
    """The ray that a descent to θ ran off along: the nearest, if J there is what the ray's limit is."""
    nearest = max(rays, key=lambda ray: float(ray.direction @ theta), default=None)
    return nearest if nearest is not None and abs(nearest.limit - value) <= NEAR else None


def _from_above(m: Floats) -> bool:
    right, wrong = m[m > 0], m[m < 0]
    return not len(wrong) or (len(right) > 0 and bool(-wrong.max() >= 2 * right.min()))


def _unit(theta: Floats) -> Floats:
    return np.asarray(theta / np.hypot(*theta))
