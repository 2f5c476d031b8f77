"""All ways to divide rows by a rule, counted: in a plane by lines, on lines through the origin by directions.

Floats put directions in order; where two are so close that rounding could decide, whole numbers do. Every number is a
whole number times a power of two, so that their products are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np

NEAR = 1e-14
"""Directions nearer than this, on a scale from −1 to 1, are compared in whole numbers."""
FAINT = 2.0**-900
SMALL = 1 << 30
"""Below this, products of differences are exact in 64 bits."""


def spanned(X: Any, columns: tuple[int, ...], lifted: bool) -> bool:
    """Whether all columns are combinations of these, and of a constant where there is an intercept, exactly."""
    width = X.shape[1]
    if any(not 0 <= j < width for j in columns) or len(set(columns)) < len(columns):
        return False
    left = [j for j in range(width) if j not in columns and X[:, j].any()]
    left = [j for j in left if not any(np.array_equal(X[:, j], X[:, i]) for i in columns)]
    left = [j for j in left if not (lifted and (X[:, j] == X[0, j]).all())]
    if not left:
        return True
    table = np.hstack([X[:, list(columns)], np.ones((len(X), int(lifted))), X[:, left]])
    known = len(columns) + lifted
    pivots: list[tuple[int, list[Fraction]]] = []
    for numbers in table.tolist():
        row = [Fraction(value) for value in numbers]
        for at, pivot in pivots:
            row = [a - row[at] * b for a, b in zip(row, pivot, strict=True)] if row[at] else row
        lead = next((k for k in range(known) if row[k]), None)
        if lead is not None:
            pivots.append((lead, [a / row[lead] for a in row]))
        elif any(row):
            return False
    return True


def least_in_a_plane(X: Any, second: Any, cost: list[int]) -> int:
    """min over lines of what they get wrong: around every point, with the point itself on its right side."""
    points, c, floats = _whole(X), _costs(cost), _scaled(X)
    return min(_around(i, floats, points, second, c) for i in range(len(X)))


def _around(i: int, floats: Any, points: Any, second: Any, cost: Any) -> int:
    others = np.delete(np.arange(len(floats)), i)
    f, turned = _upwards(floats[others] - floats[i])  # a difference of floats has the right sign
    c, up = cost[others], second[others]

    def exact(at: Any) -> Any:
        d = points[others[at]] - points[i]
        return np.where(turned[at][:, None], -d, d)

    order, last = _ordered(f, exact)
    start = c[up == turned].sum()
    change = np.where(up != turned, c, -c)[order]
    sums = np.concatenate([[start], start + np.cumsum(change)[last]]) if len(order) else np.array([start])
    return int(min(sums.min(), c.sum() - sums.max()))


def _scaled(X: Any) -> Any:
    """Columns times powers of two, so that both are of one size, unless a digit would be lost."""
    spread = np.ptp(X, axis=0)
    with np.errstate(under="ignore"):
        made = np.ldexp(X, -np.frexp(spread)[1])
    sizes = np.abs(made[made != 0])
    return made if sizes.min(initial=1.0) > FAINT and sizes.max(initial=1.0) < 1 / FAINT else X


def least_on_lines(X: Any, second: Any, cost: list[int], lifted: bool) -> int:
    """min over directions v of what 1[zᵀv > 0] gets wrong, z = (x, 1) or x itself: sectors, rays and the origin."""
    c = _costs(cost)
    flat = np.column_stack([X[:, 0], np.ones(len(X)) if lifted else np.zeros(len(X)) if X.shape[1] < 2 else X[:, 1]])
    at_origin = ~flat.any(axis=1)
    unavoidable = int(c[at_origin & second].sum())
    flat, c, up = flat[~at_origin], c[~at_origin], second[~at_origin]
    everything = int(c[up].sum())
    if not len(flat):
        return unavoidable
    d, turned = _upwards(_whole(flat))
    order, last = _ordered(np.where(turned[:, None], -flat, flat), lambda at: d[at])
    ahead, behind = np.where(up != turned, c, 0)[order], np.where(up == turned, c, 0)[order]
    passed = np.concatenate([[0], np.cumsum(ahead)[last]]), np.concatenate([[0], np.cumsum(behind)[last]])
    forward, backward = passed[0] + passed[1][-1] - passed[1], passed[1] + passed[0][-1] - passed[0]
    of_second = np.diff(np.concatenate([[0], np.cumsum(np.where(up, c, 0)[order])[last]]))
    cells = [forward.min(), backward.min(), everything]
    for sums, own in ((forward, passed[0]), (backward, passed[1])):
        cells.append((sums[1:] - np.diff(own) + of_second).min())
    return unavoidable + int(min(cells))


# ------------------------------------------------------------------------------------------------- exact order


def _upwards(d: Any) -> tuple[Any, Any]:
    """Vectors turned into the upper half-plane, and which were."""
    turned = ((d[:, 1] < 0) | ((d[:, 1] == 0) & (d[:, 0] < 0))).astype(bool)
    return np.where(turned[:, None], -d, d), turned


def _ordered(f: Any, exact: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Directions by growing angle, of which f are floats; and the places where the last of equal ones stands."""
    key = -f[:, 0] / (np.abs(f[:, 0]) + np.abs(f[:, 1]))
    order = np.argsort(key, kind="stable")
    gap = np.diff(key[order])
    ends = np.append(gap > NEAR, True) if len(order) else np.zeros(0, bool)
    close = np.flatnonzero(~ends[:-1])
    if len(close):
        crossed = _cross(exact(order[close]), exact(order[close + 1]))
        if (crossed < 0).any():
            _sort_runs(order, ends.copy(), exact)
            crossed = _cross(exact(order[close]), exact(order[close + 1]))
        ends[close] = np.asarray(crossed != 0, dtype=bool)
    return order, np.flatnonzero(ends)


def _sort_runs(order: Any, ends: Any, exact: Callable[[Any], Any]) -> None:
    """Runs of directions that floats cannot tell apart, each sorted in whole numbers."""
    starts = np.append(0, np.flatnonzero(ends)[:-1] + 1)
    for a, b in zip(starts.tolist(), (np.flatnonzero(ends) + 1).tolist(), strict=True):
        if b - a > 1:
            vectors = {int(j): tuple(map(int, v)) for j, v in zip(order[a:b], exact(order[a:b]), strict=True)}
            order[a:b] = sorted(vectors, key=cmp_to_key(lambda p, q, v=vectors: _sign(v[q], v[p])))  # type: ignore[misc]


def _sign(p: Any, q: Any) -> int:
    crossed = p[0] * q[1] - p[1] * q[0]
    return int(crossed > 0) - int(crossed < 0)


def _cross(p: Any, q: Any) -> Any:
    return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]


def _whole(X: Any) -> Any:
    """Every column times a power of two that makes it whole: in 64 bits if small, else Python's integers."""
    columns = []
    for column in X.T.tolist():
        ratios = [value.as_integer_ratio() for value in column]
        common = max((below for _, below in ratios), default=1)
        whole = [above * (common // below) for above, below in ratios]
        shared = math.gcd(*whole) or 1
        columns.append([value // shared for value in whole])
    small = all(abs(value) < SMALL for column in columns for value in column)
    return np.array(columns, dtype=np.int64 if small else object).T


def _costs(cost: list[int]) -> Any:
    return np.array(cost, dtype=np.int64 if sum(cost) < 1 << 62 else object)
