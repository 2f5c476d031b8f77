"""Bounds that rounding cannot break: the margin of given weights over all rows, and of given multipliers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.reading import numbers_of, written
from ...numerics.arrays import Floats
from ...numerics.exact import exact_dot
from .hull import Hull

Indices = NDArray[np.intp]

FEW = 20_000
"""Numbers up to which the lowest rows are computed in fractions."""
CHUNK, AT_A_TIME = 4096, 1 << 22
"""Rows, and numbers, that are written out in long double at a time."""
LAST = float(np.finfo(np.longdouble).eps)


def exact_levels(hull: Hull, weights: Floats, rows: Indices) -> tuple[Fraction, ...]:
    """minᵢ yᵢ xᵢᵀw of each group (yᵢ(xᵢᵀw + b) where the intercept is in the norm), or a bound below it."""
    group = hull.group(rows)
    return tuple(_least(hull, weights, rows[group == g]) for g in range(hull.groups))


def _least(hull: Hull, weights: Floats, rows: Indices) -> Fraction:
    """min yᵢ xᵢᵀw: of few rows exactly, of many in long double, less what rounding may have added."""
    d, signs = hull.rows.X.shape[1], hull.rows.y
    level = Fraction(float(weights[-1])) if hull.lifted else Fraction(0)
    if rows.size * d <= FEW:
        return min(int(signs[i]) * (_product(hull, weights, i) + level) for i in rows.tolist())
    least, v = math.inf, weights[:d].astype(np.longdouble)
    size = min(CHUNK, max(1, AT_A_TIME // d))
    for lo in range(0, len(rows), size):
        at = rows[lo : lo + size]
        X = written(hull.rows.X, at).astype(np.longdouble)
        scores = (X - hull.centre) @ v
        doubt = (d + 6) * LAST * (np.abs(X - hull.centre) @ np.abs(v) + abs(float(level)))
        least = min(least, (signs[at] * (scores + np.longdouble(float(level))) - doubt).min())
    shift = exact_dot(hull.centre, weights[:d])
    return _fraction(least) + int(signs[rows[0]]) * shift  # one sign in a group, if there is a centre


def _fraction(value: Any) -> Fraction:
    """A long double as a fraction: its double, and what is left."""
    head = float(value)
    return Fraction(head) + Fraction(float(value - np.longdouble(head)))


def _product(hull: Hull, weights: Floats, row: int) -> Fraction:
    """xᵢᵀw, exactly."""
    columns, numbers = numbers_of(hull.rows.X, row)
    return exact_dot(numbers, weights[columns])


def lower_bound(levels: tuple[Fraction, ...], weights: Floats, unit: float) -> float:
    """Σ_g minᵢ yᵢ xᵢᵀw / (K‖w‖): the margin of w with the best intercept; a number above 0 is rounded down."""
    norm = exact_dot(weights, weights)
    if not norm:
        return 0.0
    width = sum(levels, Fraction(0)) / len(levels) / Fraction(unit)
    exact = width * width / norm
    margin = math.sqrt(float(exact))
    while Fraction(margin) ** 2 > exact:
        margin = math.nextafter(margin, 0)
    return math.copysign(margin * unit, width)


def upper_bound(hull: Hull, rows: Indices, multipliers: Floats) -> float:
    """‖Σᵢ λᵢyᵢxᵢ‖/K, Σλ = 1 in each of K groups: no margin is larger; rounded up."""
    group = hull.group(rows)
    points, weights = hull.points(rows, np.longdouble), multipliers.astype(np.longdouble)
    for g in range(hull.groups):
        weights[group == g] /= weights[group == g].sum()
    z = weights @ points
    doubt = (len(rows) + 6) * LAST * (weights @ np.abs(points))
    length = np.sqrt((z * z).sum()) + np.sqrt((doubt * doubt).sum())
    length = length * (1 + (len(z) + 4) * np.longdouble(LAST)) / hull.groups
    return math.nextafter(float(length), math.inf) * hull.unit
