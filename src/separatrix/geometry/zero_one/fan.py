"""One column with an intercept, or two without: the rules are directions in a plane, and one sort counts them all.

A row's score changes its sign where the direction is perpendicular to the row. Rows on one line through the origin do
so together. Between the lines are open sectors; on the rays between the sectors a row has score 0, and so it has at the
origin: such rows are taken for the first class, which without an intercept may be better than any sector.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .problem import Problem, Whole

NEAR = 1e-14
"""Angles nearer than this, on a scale from −1 to 1, are compared in fractions."""


class BestDirection(NamedTuple):
    """The least cost in units, without the base, and a rule of it in the plane."""

    cost: int
    direction: tuple[float, float]


def fan(problem: Problem, columns: tuple[int, ...]) -> tuple[int, Floats, float]:
    """The least cost in units, the base included, and weights and intercept of a rule that has it, up to rounding."""
    x = problem.X[:, columns[0]]
    if problem.lifted:
        best = _best(problem, np.column_stack([x, np.ones(len(x))]))
    else:
        best = _best(problem, problem.X[:, columns] if len(columns) > 1 else np.column_stack([x, np.zeros(len(x))]))
    weights, (first, second) = np.zeros(problem.X.shape[1]), best.direction
    weights[columns[0]] = first
    if problem.lifted:
        return problem.base + best.cost, weights, second
    if len(columns) > 1:
        weights[columns[1]] = second
    return problem.base + best.cost, weights, 0.0


def _best(problem: Problem, Z: Floats) -> BestDirection:
    group, turned, lines = _lines(Z, problem.lifted)
    lying, up = group >= 0, problem.sign > 0

    def total(mask: NDArray[np.bool_]) -> Whole:
        sums = np.zeros(len(lines), dtype=object)
        np.add.at(sums, group[mask & lying], problem.cost[mask & lying])
        return sums

    ahead, behind = total(up & ~turned) + total(~up & turned), total(~up & ~turned) + total(up & turned)
    at_origin = int(problem.cost[up & ~lying].sum())
    before, after = _prefix(ahead), _prefix(behind)
    forward, backward = before + (after[-1] - after), after + (before[-1] - before)
    cells = [(forward, 1), (backward, -1)]
    best = min(int(sums.min()) for sums, _ in cells)
    wide = [
        (_width(lines, k, problem.lifted), side, k)
        for sums, side in cells
        for k in np.flatnonzero(sums == best).tolist()
    ]
    _, side, k = max(wide)
    found = BestDirection(best + at_origin, _inside(lines, k, side, problem.lifted))
    return found if problem.lifted else _on_rays(problem, found, lines, forward, backward, (ahead, behind, total(up)))


def _on_rays(
    problem: Problem,
    found: BestDirection,
    lines: Floats,
    forward: Whole,
    backward: Whole,
    sums: tuple[Whole, Whole, Whole],
) -> BestDirection:
    """What was found, or a ray or the origin where that is better."""
    ahead, behind, second = sums
    at_origin = found.cost - int(min(forward.min(), backward.min()))
    everything = int(problem.cost[problem.sign > 0].sum())
    if everything < found.cost:
        found = BestDirection(everything, (0.0, 0.0))
    for rays, side in ((forward[1:] - ahead + second, 1.0), (backward[1:] - behind + second, -1.0)):
        if len(rays) and int(rays.min()) + at_origin < found.cost:
            first, last = lines[int(rays.argmin())]
            found = BestDirection(int(rays.min()) + at_origin, (-side * last, side * first))
    return found


def _prefix(sums: Whole) -> Whole:
    """0, s₁, s₁ + s₂, …"""
    return np.concatenate([np.zeros(1, dtype=object), np.cumsum(sums)])


def _lines(Z: Floats, lifted: bool) -> tuple[NDArray[np.intp], NDArray[np.bool_], Floats]:
    """The line of each row by growing angle, −1 for the origin; whether the row is below it; a row of each line."""
    if lifted:
        places, group = np.unique(-Z[:, 0], return_inverse=True)
        return group.ravel(), np.zeros(len(Z), bool), np.column_stack([-places, np.ones(len(places))])
    turned = (Z[:, 1] < 0) | ((Z[:, 1] == 0) & (Z[:, 0] < 0))
    Z = np.where(turned[:, None], -Z, Z)
    lying = np.flatnonzero(Z.any(axis=1))
    key = -Z[lying, 0] / (np.abs(Z[lying, 0]) + Z[lying, 1])
    order = np.argsort(key, kind="stable")
    group = np.full(len(Z), -1, dtype=np.intp)
    rows, key = lying[order], key[order]
    new = np.ones(len(rows), bool)
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(key)), bool), np.diff(key) > NEAR]))
    for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        if b - a > 1:
            slopes = {i: _slope(*Z[i].tolist()) for i in rows[a:b].tolist()}
            rows[a:b] = sorted(slopes, key=slopes.__getitem__)
            new[a + 1 : b] = [
                slopes[i] != slopes[j] for i, j in zip(rows[a : b - 1].tolist(), rows[a + 1 : b].tolist(), strict=True)
            ]
    group[rows] = np.cumsum(new) - 1
    return group, turned, Z[rows[new]]


def _slope(first: float, second: float) -> tuple[bool, Any]:
    """A number that grows with the angle in [0, π): −cot, after angle 0."""
    return second != 0, -Fraction(first) / Fraction(second) if second else 0


def _width(lines: Floats, k: int, lifted: bool) -> float:
    """How wide sector k is."""
    if k in (0, len(lines)):
        return np.inf if lifted else np.pi - _angle(lines[-1]) + _angle(lines[0]) if len(lines) else np.inf
    if lifted:
        return float(lines[k - 1, 0] - lines[k, 0])
    return _angle(lines[k]) - _angle(lines[k - 1])


def _angle(line: Floats) -> float:
    return float(np.arctan2(line[1], line[0]))


def _inside(lines: Floats, k: int, side: float, lifted: bool) -> tuple[float, float]:
    """A direction in the middle of sector k, or of its opposite."""
    if not len(lines):
        return 0.0, 0.0
    if lifted:
        if k in (0, len(lines)):
            return 0.0, side if k == 0 else -side
        high, low = float(lines[k - 1, 0]), float(lines[k, 0])
        middle = low + (high - low) / 2
        middle = middle if low < middle < high else (low if side < 0 else high)
        return -side, side * middle
    unit = lines / np.hypot(*lines.T)[:, None]
    if len(unit) == 1:
        u = np.array([unit[0, 1], -unit[0, 0]]) * (1 if k == 0 else -1)
    elif k in (0, len(unit)):
        u = (unit[0] - unit[-1]) * (1 if k == 0 else -1)
    else:
        u = unit[k - 1] + unit[k]
    return -side * float(u[1]), side * float(u[0])
