"""From the rows that carry the nearest point to weights, multipliers and bounds that rounding cannot break."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.exact import exact_dot, surely_balance
from ...results.separability import Combination
from .hull import Hull, balanced, heads_of, shortest

FEW = 20_000
"""Numbers up to which the lowest rows are computed in fractions."""
CHUNK = 4096
"""Rows that are written out in long double at a time."""
AT_A_TIME = 1 << 20
"""Numbers that are written out in long double at a time."""
LAST = float(np.finfo(np.longdouble).eps)
"""The last digit of a long double, relative."""


def exact_levels(hull: Hull, weights: Floats, rows: Indices) -> tuple[Fraction, ...]:
    """minᵢ yᵢ xᵢᵀw of each group (yᵢ(xᵢᵀw + b) where the intercept is in the norm), or a bound below it."""
    group = hull.group(rows)
    return tuple(_least(hull, weights, rows[group == g]) for g in range(hull.groups))


def _least(hull: Hull, weights: Floats, rows: Indices) -> Fraction:
    """min yᵢ xᵢᵀw: of few rows exactly, of many in long double, less what rounding may have added."""
    d, signs = hull.rows.shape[1], hull.rows.y
    level = Fraction(float(weights[-1])) if hull.lifted else Fraction(0)
    if rows.size * d <= FEW:
        return min(int(signs[i]) * (_product(hull, weights, i) + level) for i in rows.tolist())
    least, v = math.inf, weights[:d].astype(np.longdouble)
    size = min(CHUNK, max(1, AT_A_TIME // d))
    for lo in range(0, len(rows), size):
        at = rows[lo : lo + size]
        X = hull.rows.block.written(at).astype(np.longdouble)
        X -= hull.centre
        scores = X @ v
        doubt = (d + 6) * LAST * (np.abs(X, out=X) @ np.abs(v) + abs(float(level)))
        least = min(least, (signs[at] * (scores + np.longdouble(float(level))) - doubt).min())
    shift = exact_dot(hull.centre, weights[:d])
    return _fraction(least) + int(signs[rows[0]]) * shift  # one sign in a group, if there is a centre


def _fraction(value: Any) -> Fraction:
    """A long double as a fraction: its double, and what is left."""
    head = float(value)
    return Fraction(head) + Fraction(float(value - np.longdouble(head)))


def _product(hull: Hull, weights: Floats, row: int) -> Fraction:
    """xᵢᵀw, exactly."""
    columns, numbers = hull.rows.block.numbers_of(row)
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
    doubt = (len(rows) + 6) * LAST * (weights @ np.abs(points, out=points))
    length = np.sqrt((z * z).sum()) + np.sqrt((doubt * doubt).sum())
    length = length * (1 + (len(z) + 4) * np.longdouble(LAST)) / hull.groups
    return math.nextafter(float(length), math.inf) * hull.unit


BAND = 1e-6
"""Rows whose score is within this part of the least are watched while the weights' last digits change."""
TRIES = 8
"""How often the weights are made longer until every row has score 1."""
BALANCED = 8
"""A balance may be off by so many last digits of its terms."""


class MarginCertificate(NamedTuple):
    """Weights with y(xᵀw + b) ≥ 1 on all rows, and how good they are."""

    weights: Floats
    intercept: float
    lower: float
    """The margin of w on all rows, with the best intercept; rounded down."""
    upper: float
    """No rule has a larger margin; rounded up."""
    relative_gap: float
    """1 − (lower/upper)²: how far ½‖w‖², at least margin 1, is above its dual, in units of itself."""
    rows: Indices
    multipliers: Floats
    """λ > 0, Σλ = 1, the same for each group: Σᵢ λᵢyᵢxᵢ is w but for its length."""
    lowest: Indices
    """The rows with the least scores."""
    feasible: bool
    """Whether y(xᵀw + b) ≥ 1 on all rows, exactly."""


def certified(hull: Hull, rows: Indices, multipliers: Floats) -> MarginCertificate:
    """The shortest weights with score 1 on these rows, to their last digits, and what all rows say of them."""
    group = hull.group(rows)
    w, duals = shortest(hull.points(rows, np.longdouble), group, heads_of(multipliers, group, hull.groups))
    weights, shares = (w / hull.unit).astype(np.float64), (duals / duals.sum()).astype(np.float64)
    if not (shares > 0).all():  # but for rounding they are the multipliers that we have
        shares = multipliers / hull.groups
    levels = hull.lowest(weights, 1).levels
    watched = hull.below(weights, levels + (BAND * np.abs(levels) + 4 * hull.doubt(weights)))
    weights, intercept, exact, feasible = _scaled(hull, weights, watched)
    lower, upper = lower_bound(exact, weights, hull.unit), upper_bound(hull, rows, shares)
    gap = 1 - (max(lower, 0.0) / upper) ** 2 if upper else 1.0
    return MarginCertificate(
        hull.in_all_columns(weights), intercept, lower, upper, max(gap, 0.0), rows, shares, watched, feasible
    )


def _scaled(hull: Hull, weights: Floats, watched: Indices) -> tuple[Floats, float, tuple[Fraction, ...], bool]:
    """The weights and the best intercept, longer by as many last digits as y(xᵀw + b) ≥ 1 needs."""
    for attempt in range(TRIES):
        levels = exact_levels(hull, weights, watched)
        intercept = float((levels[0] - levels[1]) / 2) if hull.free else float(weights[-1]) if hull.lifted else 0.0
        b = Fraction(intercept)
        reached = min(levels[0] - b, levels[1] + b) if hull.free else levels[0]
        if reached >= 1 or sum(levels, Fraction(0)) <= 0:  # done; or nothing that length could mend
            break
        if attempt < TRIES - 1:
            weights = weights * (1 + float(1 - reached) + 2.0**attempt * EPS)
    return weights, intercept, levels, reached >= 1


def crossing(hull: Hull, rows: Indices, multipliers: Floats) -> Combination | None:
    """Σᵢ λᵢyᵢ(xᵢ, 1) = 0, Σλ = 1, to the last digits; None if these rows do not balance so well."""
    group = hull.group(rows)
    exact = balanced(hull.points(rows, np.longdouble), group, heads_of(multipliers, group, hull.groups))
    found = (exact / hull.groups).astype(np.float64)
    if not (found > 0).all():
        found = multipliers / hull.groups
    if not _balances(hull, rows, found):
        return None
    order = np.argsort(rows)
    own = (hull.rows.y[rows[order]] > 0).astype(np.intp)
    return Combination(rows[order], own, 1 - own, found[order])


def _balances(hull: Hull, rows: Indices, multipliers: Floats) -> bool:
    """To the last digits, and exactly where that can be known."""
    X, signs = hull.rows.block.written(rows).astype(np.float64), hull.rows.y[rows].astype(np.float64)
    if hull.free or hull.lifted:
        X = np.column_stack([X, np.ones(len(X))])
    terms = (multipliers * signs)[:, None] * X.astype(np.longdouble)
    near = (np.abs(terms.sum(axis=0)) <= BALANCED * EPS * np.abs(terms).sum(axis=0)).all()
    return bool(near) and surely_balance(signs[:, None] * X, multipliers)
