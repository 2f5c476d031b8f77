"""From the rows that carry the nearest point to weights, multipliers and bounds that can be proved."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.reading import written
from ...numerics.arrays import Floats
from ...numerics.exact import surely_balance
from ...results.separability import Combination
from .digits import balanced, heads_of, shortest
from .exact import exact_levels, lower_bound, upper_bound
from .flat import EPS
from .hull import Hull

Indices = NDArray[np.intp]

BAND = 1e-6
"""Rows whose score is within this part of the least are watched while the weights' last digits change."""
TRIES = 8
BALANCED = 8
"""A balance may be off by so many last digits of its terms."""


class Certified(NamedTuple):
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


def certified(hull: Hull, rows: Indices, multipliers: Floats) -> Certified:
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
    return Certified(
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
    X, signs = written(hull.rows.X, rows).astype(np.float64), hull.rows.y[rows].astype(np.float64)
    if hull.free or hull.lifted:
        X = np.column_stack([X, np.ones(len(X))])
    terms = (multipliers * signs)[:, None] * X.astype(np.longdouble)
    near = (np.abs(terms.sum(axis=0)) <= BALANCED * EPS * np.abs(terms).sum(axis=0)).all()
    return bool(near) and surely_balance(signs[:, None] * X, multipliers)
