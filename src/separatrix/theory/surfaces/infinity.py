"""J(cθ) as c → ∞ of a loss with an upper end: φ(−∞) for each mistake, φ(0) for rows z = 0, and what ties cost least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...losses.margin import LogisticSquared
from ...numerics.arrays import Floats
from .line import Line
from .mistakes import Cells, cells, cones, line_of_each_row
from .plane import Criterion, Plane
from .search import Place

ON = 0.1
"""Of a ray along which J falls: a row whose margin is less than this part of the largest stays where it is."""
LOWER = 1e-9
"""Values nearer than this are equal, when it is asked which minimum is the lowest."""
NEAR = 1e-4
"""A descent that ran off along a ray of ties has come so near to the limit there."""
FEW = 4
"""Of the best sectors and rays, those from which descents start too."""
SHARES = np.concatenate([[1e-3], np.linspace(0, 1, 35)[1:-1], [1 - 1e-3]])
"""Where a sector is looked at, from one of its rays to the other; nearer to them, an offset leaves no digits."""


class Ray(NamedTuple):
    """A ray on which rows stay whose margins have both signs beside it, so that it is lower than both its sides."""

    direction: Floats
    limit: float
    beside: Floats
    """How far from the ray J is least, in the limit."""


class Ends(NamedTuple):
    """What J tends to: in the best sectors, and along all rays with ties that may be lower than those."""

    everywhere: Cells
    best: list[Floats]
    rays: list[Ray]


def ends_of(criterion: Criterion) -> Ends:
    """All that at_infinity and starts_outwards need, once."""
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
        limit = _limit(criterion, theta)
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


def _limit(criterion: Criterion, theta: Floats) -> float:
    """(φ(−∞) Σ c of mistakes + φ(0) Σ c of rows z = 0)/Σ c: J(cθ) as c → ∞, for θ on no row's line."""
    plane, moves = criterion.plane, criterion.plane.Z.any(axis=1)
    wrong = ((plane.Z @ theta > 0) != (plane.sign > 0)) & moves
    top, still = _costs(criterion)
    return float(top * plane.weight[wrong].sum() + still * plane.weight[~moves].sum()) / plane.total


def _costs(criterion: Criterion) -> tuple[float, float]:
    """What a row costs that is as wrong as can be, and one at margin zero."""
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
