"""The check of the fewest mistakes: rows and rule in, yes or no out, in whole numbers.

The mistakes of the rule are counted in exact arithmetic. That no rule makes fewer is shown by counting all of them,
`audit_zero_one_plane`, or by cuts: every one is found to balance exactly, and in every case of the branching the
packing is found to fit. It shares no code with what found the rule, so that an error there cannot confirm itself here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.proofs import PARTS, Covering, Cut, Enumeration, FewestMistakes, Fork, Leaf
from .rows import Sheet, Table

if TYPE_CHECKING:
    from ..results.verdict import Verdict

# All ways to divide rows by a rule, counted: in a plane by lines, on lines through the origin by directions.
#
# Floats put directions in order; where two are so close that rounding could decide, whole numbers do. Every number is
# a
# whole number times a power of two, so that their products are exact.

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


OBJECTIVE = "zero-one"
CLOSE = Fraction(1, 10**9)
"""Bounds that cuts prove of costs that are not whole are one number within this part of the least cost of a row."""


@dataclass(frozen=True)
class Groups:
    """Rows that are equal, as one: what both classes cost there, and what is left."""

    X: Any
    second: list[bool]
    """Whether what is left is of the second class."""
    cost: list[int]
    base: int
    unit: Fraction
    """The largest power of two, at most one, that divides all costs."""
    least: int
    """The least cost of a row."""
    of_row: dict[int, int]
    """Of every row of the user's X that counts, its group."""


def zero_one_holds(verdict: Verdict, table: Table) -> bool:
    """Whether the rule makes the mistakes that are claimed, and no rule fewer than that."""
    claim, proof = verdict.claim, verdict.certificate
    sound = claim.l2 == 0 and not claim.soft and len(claim.classes) == 2
    if not sound or not isinstance(proof, FewestMistakes) or not table.finite():
        return False
    if not (np.isfinite(claim.weights).all() and math.isfinite(float(claim.intercept))):
        return False
    groups = _groups(table)
    paid = groups.base + _paid(groups, claim.weights, float(claim.intercept))
    upper, total = groups.unit * paid, sum(map(Fraction, table.cost.tolist()))
    if _number(upper, groups) != proof.upper or not math.isclose(claim.value, upper / total, rel_tol=1e-12):
        return False
    bound = _bound(proof, groups, claim.fit_intercept)
    if bound is None or bound > paid:
        return False
    rounded = groups.unit.denominator > 1 and isinstance(proof, Covering)
    met = bound == paid or (rounded and paid - bound <= CLOSE * groups.least)
    if proof.lower != (_number(upper, groups) if met else _below(groups.unit * bound, groups)):
        return False
    return verdict.status == "optimal" if met else verdict.status in ("budget", "interrupted")


def _bound(proof: FewestMistakes, groups: Groups, lifted: bool) -> int | None:
    """What no rule can go below, in units; None if the proof proves nothing."""
    if isinstance(proof, Enumeration):
        if not proof.columns or not spanned(groups.X, proof.columns, lifted):
            return None
        X, second, cost = groups.X[:, list(proof.columns)], np.array(groups.second, bool), groups.cost
        if len(proof.columns) + lifted == 3:
            return groups.base + least_in_a_plane(X, second, cost)
        return groups.base + least_on_lines(X, second, cost, lifted) if len(proof.columns) + lifted < 3 else None
    if not isinstance(proof, Covering):
        return None
    cuts = [_rows_of_cut(cut, groups, lifted) for cut in proof.cuts]
    if any(rows is None for rows in cuts):
        return None
    least = _least_of_cases(proof.nodes, [frozenset(rows or ()) for rows in cuts], groups)
    return None if least is None else groups.base + least


# ------------------------------------------------------------------------------------------------- rows and costs


def _groups(table: Table) -> Groups:
    rows = table.X.astype(float) if isinstance(table.X, Sheet) else np.asarray(table.X, dtype=float)
    rows = rows + 0.0
    second = table.target[:, 1] > table.target[:, 0]
    fractions = [Fraction(value) for value in table.cost.tolist()]
    unit = Fraction(1, math.lcm(*{value.denominator for value in fractions}))
    place: dict[bytes, int] = {}
    group = [place.setdefault(row.tobytes(), len(place)) for row in rows]
    first = [0] * len(place)
    other = [0] * len(place)
    for g, up, value in zip(group, second.tolist(), fractions, strict=True):
        (other if up else first)[g] += int(value / unit)
    leads = [b - a for a, b in zip(first, other, strict=True)]
    kept = [g for g in range(len(place)) if leads[g]]
    new = {g: k for k, g in enumerate(kept)}
    X = np.frombuffer(b"".join(place), dtype=float).reshape(len(place), -1)[kept]
    of_row = {int(i): new[g] for i, g in zip(table.places.tolist(), group, strict=True) if g in new}
    base = sum(min(a, b) for a, b in zip(first, other, strict=True))
    least = min(int(value / unit) for value in fractions if value)
    return Groups(X, [leads[g] > 0 for g in kept], [abs(leads[g]) for g in kept], base, unit, least, of_row)


def _paid(groups: Groups, weights: Any, intercept: float) -> int:
    """Σ of the costs of the rows with 1[xᵀw + b > 0] ≠ 1[second class], in fractions where a float leaves a doubt."""
    X = groups.X.astype(np.longdouble)
    score = X @ np.asarray(weights, np.longdouble) + intercept
    size = np.abs(X) @ np.abs(np.asarray(weights, np.longdouble)) + abs(intercept)
    positive = score > 0
    doubt = ~(np.abs(score) > 1e-15 * (len(weights) + 4) * size)
    for i in np.flatnonzero(doubt).tolist():
        pairs = zip(groups.X[i].tolist(), np.asarray(weights, float).tolist(), strict=True)
        positive[i] = sum((Fraction(a) * Fraction(w) for a, w in pairs), Fraction(intercept)) > 0
    return sum(c for c, up, said in zip(groups.cost, groups.second, positive.tolist(), strict=True) if up != said)


def _number(value: Fraction, groups: Groups) -> Any:
    return int(value) if groups.unit.denominator == 1 else float(value)


def _below(value: Fraction, groups: Groups) -> Any:
    """The largest such number that is not above the value."""
    found = _number(value, groups)
    return found if Fraction(found) <= value else float(np.nextafter(found, -math.inf))


# ------------------------------------------------------------------------------------------------- cuts and cases


def _rows_of_cut(cut: Cut, groups: Groups, lifted: bool) -> list[int] | None:
    """The groups of a cut's rows, if Σᵢ λᵢyᵢ(xᵢ, 1) = 0 with λ > 0 and one of them is of the second class."""
    if not cut.rows or len(cut.rows) != len(cut.multipliers) or any(i not in groups.of_row for i in cut.rows):
        return None
    rows = [groups.of_row[i] for i in cut.rows]
    if len(set(rows)) < len(rows) or not all(isinstance(m, int) and m > 0 for m in cut.multipliers):
        return None
    signs = [1 if groups.second[g] else -1 for g in rows]
    signed: list[Any] = [s * m for s, m in zip(signs, cut.multipliers, strict=True)]
    if max(signs) < 0 or (lifted and sum(signed)):
        return None
    for column in groups.X[rows].T.tolist():
        ratios = [value.as_integer_ratio() for value in column]
        common = max(below for _, below in ratios)  # powers of two
        if sum(m * above * (common // below) for m, (above, below) in zip(signed, ratios, strict=True)):
            return None
    return rows


def _least_of_cases(nodes: Any, cuts: list[frozenset[int]], groups: Groups) -> int | None:
    """The least bound of a leaf, every node reached once from the first; None if the tree or a packing is not one."""
    step = math.gcd(*groups.cost) or 1
    open_: list[tuple[int, frozenset[int], frozenset[int]]] = [(0, frozenset(), frozenset())]
    seen: set[int] = set()
    least: int | None = None
    while open_:
        at, right, wrong = open_.pop()
        if at in seen or not 0 <= at < len(nodes):
            return None
        seen.add(at)
        node = nodes[at]
        if isinstance(node, Fork):
            row = groups.of_row.get(node.row)
            if row is None or row in right or row in wrong:
                return None
            open_ += [(node.right, right | {row}, wrong), (node.wrong, right, wrong | {row})]
            continue
        packed = _packed(node, cuts, right, wrong, groups) if isinstance(node, Leaf) else None
        if packed is None:
            return None
        bound = -(-(packed + PARTS * sum(groups.cost[g] for g in wrong)) // (PARTS * step)) * step
        least = bound if least is None else min(least, bound)
    return least if len(seen) == len(nodes) else None


def _packed(
    leaf: Leaf, cuts: list[frozenset[int]], right: frozenset[int], wrong: frozenset[int], groups: Groups
) -> int | None:
    """Σₖ uₖ over the cuts that hold no row that is wrong; None if an undecided row carries more than its cost."""
    if len(leaf.cuts) != len(leaf.parts) or len(set(leaf.cuts)) < len(leaf.cuts):
        return None
    load: dict[int, int] = {}
    total = 0
    for k, part in zip(leaf.cuts, leaf.parts, strict=True):
        if not (isinstance(part, int) and part > 0 and 0 <= k < len(cuts)):
            return None
        if cuts[k] & wrong:
            continue
        total += part
        for g in cuts[k] - right:
            load[g] = load.get(g, 0) + part
    return total if all(carried <= PARTS * groups.cost[g] for g, carried in load.items()) else None
