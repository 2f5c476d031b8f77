"""The signed rows as points, and a pass that finds the lowest of them along a direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, qr_delete, solve_triangular

from ...data import Rows
from ...fitting.problem import NotFiniteError
from ...numerics.arrays import EPS, Floats, Indices

BLOCK = 1 << 17
"""Numbers of X that are centred, or made double, at a time: they stay in the cache."""
FAR = 16
"""A column is centred where its middle is so many times as large as its half range."""


class LowestRows(NamedTuple):
    """What a pass along a direction found."""

    levels: Floats
    """The lowest score in each group, up to rounding."""
    rows: Indices
    """Some of the lowest rows of each run and group, lowest first within each."""
    scores: Floats


@dataclass(frozen=True)
class Hull:
    """conv{yᵢ(xᵢ − c)}, in two groups by yᵢ where the intercept is free, else one; yᵢ(xᵢ, 1) where it is in the norm.

    Two groups have the difference of two hulls: of it, as of one hull, the point nearest to the origin is sought. The
    centre is common to both classes, so that it changes no difference.
    """

    rows: Rows
    """Of sparse rows without the columns of zeros."""
    columns: Indices
    """The columns of the user's X that are there."""
    given: int
    """How many columns the user's X has."""
    free: bool
    """Whether the intercept is free: two groups."""
    lifted: bool
    """Whether the intercept is a weight as the others are."""
    centre: Floats
    reach: Floats
    """The largest |xⱼ − cⱼ|."""
    unit: float
    """A power of two near the largest number: points are measured in it, so that no square overflows."""

    @classmethod
    def of(cls, rows: Rows, *, free: bool, lifted: bool) -> Hull:
        """One pass for the ranges of the columns; it also finds what is not finite."""
        columns, given = rows.block.occurring(), rows.shape[1]
        if len(columns) < given:
            rows = replace(rows, block=rows.block.select(columns))
        low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
        for least, most in rows.each(lambda side, lo, hi: side.block[lo:hi].extremes()):
            low, high = np.minimum(low, least), np.maximum(high, most)  # they pass NaN on
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise NotFiniteError
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        centre = np.where((np.abs(middle) > FAR * half) & (half > 0) & free, middle, 0.0)
        reach = np.maximum(np.abs(high - centre), np.abs(low - centre))
        largest = max(float(reach.max()), 1.0 if lifted else 0.0)
        exponent = min(max(math.frexp(largest)[1], -1000), 1000)
        return cls(rows, columns, given, free, lifted, centre, reach, 2.0**exponent)

    @property
    def groups(self) -> int:
        """Two hulls or one."""
        return 2 if self.free else 1

    @property
    def width(self) -> int:
        """How many weights, the intercept counted where it is one."""
        return self.rows.shape[1] + self.lifted

    def in_all_columns(self, weights: Floats) -> Floats:
        """The weights of all columns of the user's X, from those of the columns that are there."""
        full = np.zeros(self.given)
        full[self.columns] = weights[: len(self.columns)]
        return full

    @property
    def counts(self) -> NDArray[np.bool_] | None:
        """Which rows count; None if all do."""
        return self.rows.cost > 0 if self.rows.cost.size else None

    def group(self, rows: Indices) -> Indices:
        """The group of each row: with a free intercept 1 for the second class, else 0."""
        return (self.rows.y[rows] > 0).astype(np.intp) * self.free

    def points(self, rows: Indices, dtype: Any = np.float64) -> Any:
        """yᵢ(xᵢ − c), or yᵢ(xᵢ, 1), in units of `unit`."""
        X = self.rows.block.written(rows).astype(dtype)
        X -= self.centre
        if self.lifted:
            X = np.column_stack([X, np.ones(len(X), dtype=dtype)])
        X *= (self.rows.y[rows].astype(dtype) / self.unit)[:, None]
        return X

    def lowest(self, direction: Floats, quota: int) -> LowestRows:
        """One pass: the lowest scores yᵢ(xᵢ − c)ᵀv of each group, and up to `quota` rows a run that have them."""
        levels, rows, scores = np.full(self.groups, np.inf), [], []
        for found in self.rows.each(lambda side, lo, hi: self._lowest(direction, quota, lo, hi)):
            for g, (at, score) in enumerate(found):
                levels[g] = min(levels[g], score.min(initial=np.inf))
                rows.append(at)
                scores.append(score)
        if not np.isfinite(levels).all():
            raise NotFiniteError
        return LowestRows(levels, np.concatenate(rows), np.concatenate(scores))

    def below(self, direction: Floats, bounds: Floats) -> Indices:
        """One pass: all rows with a score of at most the bound of their group."""
        signs = self.rows.y

        def found(side: Rows, lo: int, hi: int) -> Indices:
            limit = bounds[(signs[lo:hi] > 0).astype(np.intp) * self.free]
            return lo + np.flatnonzero(self._scores(direction, lo, hi) <= limit)

        return np.concatenate(list(self.rows.each(found)))

    def doubt(self, direction: Floats) -> float:
        """How much rounding may change a score, at most."""
        size = float(self.reach @ np.abs(direction[: len(self.reach)])) + self.lifted * abs(float(direction[-1]))
        return (self.width + 4) * float(np.finfo(float).eps) * size

    def _lowest(self, direction: Floats, quota: int, lo: int, hi: int) -> Iterator[tuple[Indices, Floats]]:
        scores, second = self._scores(direction, lo, hi), self.rows.y[lo:hi] > 0
        members = (~second, second) if self.free else (None,)
        return iter([_least(scores, member, quota, lo) for member in members])

    def _scores(self, direction: Floats, lo: int, hi: int) -> Floats:
        """yᵢ(xᵢ − c)ᵀv, infinite for rows that do not count."""
        v, level = direction[: self.rows.shape[1]], float(direction[-1]) if self.lifted else 0.0
        scores = self.rows.block[lo:hi].centred_scores(self.centre, v)
        scores += level
        scores *= self.rows.y[lo:hi]
        if self.rows.cost.size:
            scores[self.rows.cost[lo:hi] == 0] = np.inf
        return scores  # type: ignore[no-any-return]


def _least(scores: Floats, member: NDArray[np.bool_] | None, quota: int, offset: int) -> tuple[Indices, Floats]:
    """The lowest scores of the members, in order."""
    if member is not None:
        scores = np.where(member, scores, np.inf)
    at = np.argpartition(scores, quota)[:quota] if quota < len(scores) else np.arange(len(scores))
    at = at[np.argsort(scores[at], kind="stable")]
    at = at[scores[at] < np.inf]
    return at + offset, scores[at]


# The flat through a few points, and its point nearest to the origin; points come and go at the cost of a product.

ROUNDING = 32 * EPS
"""A length that is less than this part of what it is a difference of is nought."""
OLD = 64
"""Changes after which the factors are made anew."""


class Flat(NamedTuple):
    """{Σ_g c_head(g) + Σᵢ νᵢ(cᵢ − c_head(g(i)))}: QR has the differences, each divided by its length.

    Differences are exact to their own last digit, however far from the origin the points are.
    """

    heads: Indices
    """A point of each group."""
    others: Indices
    Q: Floats
    R: Floats
    lengths: Floats
    age: int

    @property
    def corral(self) -> Indices:
        """All points, the heads first."""
        return np.concatenate([self.heads, self.others])


class Foot(NamedTuple):
    """z = Σᵢ μᵢcᵢ, the shortest with Σμ = 1 in each group."""

    z: Floats
    """As a direction accurate even where it is short: orthogonal to the flat, not the sum itself."""
    multipliers: Floats
    """μ of the heads, then of the others."""
    zero: bool
    """Whether z is nought but for rounding."""


def flat_of(points: Floats, group: Indices, corral: Indices, weights: Floats) -> Flat:
    """The flat through the corral; in each group the point with the largest weight, the last to leave, is the head."""
    members = group[corral]
    first = [int(np.where(members == g, weights, -np.inf).argmax()) for g in range(int(members.max()) + 1)]
    heads, others = corral[first], np.delete(corral, first)
    edges = points[others] - points[heads[group[others]]]
    lengths = np.sqrt(np.einsum("ij,ij->i", edges, edges))
    if lengths.all() and len(others) <= points.shape[1]:
        Q, R = np.linalg.qr((edges / lengths[:, None]).T)
        if np.abs(np.diagonal(R)).min(initial=1) > ROUNDING:
            return Flat(heads, others, Q, R, lengths, 0)
    flat = Flat(heads, others[:0], np.empty((points.shape[1], 0)), np.empty((0, 0)), np.empty(0), 0)
    for j in others.tolist():  # only rounding brings points that lie on the flat of others: they are left out
        flat = grown(points, group, flat, j) or flat
    return flat._replace(age=0)


def grown(points: Floats, group: Indices, flat: Flat, j: int) -> Flat | None:
    """The flat with one point more; None if the point lies on it already, but for rounding."""
    edge = points[j] - points[flat.heads[group[j]]]
    length = float(np.linalg.norm(edge))
    if length == 0 or len(flat.others) == points.shape[1]:
        return None
    edge /= length
    along = flat.Q.T @ edge
    rest = edge - flat.Q @ along
    again = flat.Q.T @ rest  # twice is enough to be orthogonal
    rest -= flat.Q @ again
    own = float(np.linalg.norm(rest))
    if own <= ROUNDING:
        return None
    q = len(flat.others)
    R = np.zeros((q + 1, q + 1))
    R[:q, :q], R[:q, q], R[q, q] = flat.R, along + again, own
    Q = np.column_stack([flat.Q, rest / own])
    return Flat(flat.heads, np.append(flat.others, j), Q, R, np.append(flat.lengths, length), flat.age + 1)


def shrunk(points: Floats, group: Indices, flat: Flat, keep: NDArray[np.bool_], weights: Floats) -> Flat:
    """The flat through those points of the corral that are kept."""
    heads, gone = keep[: len(flat.heads)], np.flatnonzero(~keep[len(flat.heads) :])
    if not heads.all() or flat.age + len(gone) > OLD:
        return flat_of(points, group, flat.corral[keep], weights[keep])
    Q: Any = flat.Q
    R: Any = flat.R
    for at in gone[::-1].tolist():
        Q, R = qr_delete(Q, R, at, which="col", check_finite=False)
        Q, R = Q[:, : R.shape[1]], R[: R.shape[1]]
    others, lengths = np.delete(flat.others, gone), np.delete(flat.lengths, gone)
    return Flat(flat.heads, others, Q, R, lengths, flat.age + len(gone))


def foot(points: Floats, group: Indices, flat: Flat) -> Foot:
    """argmin ‖Σᵢ μᵢcᵢ‖ with Σμ = 1 in each group, of either sign."""
    base = points[flat.heads].sum(axis=0)
    if not len(flat.others):
        return Foot(base, np.ones(len(flat.heads)), not base.any())
    t = flat.Q.T @ base
    z = base - flat.Q @ t
    again = flat.Q.T @ z  # what cancellation has left of the flat's own directions
    z -= flat.Q @ again
    nu = -solve_triangular(flat.R, t + again, check_finite=False) / flat.lengths
    size = np.linalg.norm(base) + np.abs(nu) @ flat.lengths
    heads = 1 - np.bincount(group[flat.others], weights=nu, minlength=len(flat.heads))
    return Foot(z, np.concatenate([heads, nu]), bool(np.linalg.norm(z) <= ROUNDING * size))


Long = NDArray[np.longdouble]

REFINEMENTS = 4
"""How often residuals are solved for."""
ROWS = 64
"""Rows of long doubles that are copied at a time."""


class Edges(NamedTuple):
    """The flat as a point Σ_g c_head(g) and the directions cᵢ − c_head(g(i)) of the others.

    Differences are exact to their own last digit, however far from the origin the points are.
    """

    base: Any
    directions: Any
    others: Indices
    heads: Indices
    group: Indices


def edges(points: Any, group: Indices, heads: Indices) -> Edges:
    """Σ_g c_head(g), and cᵢ − c_head(g(i))."""
    others = np.setdiff1d(np.arange(len(points)), heads)
    directions = points[others]
    for part in _parts(len(others)):
        directions[part] -= points[heads[group[others[part]]]]
    return Edges(points[heads].sum(axis=0), directions, others, heads, group[others])


def _parts(count: int) -> Iterator[slice]:
    """All of them, some at a time: long doubles are large."""
    return (slice(lo, lo + ROWS) for lo in range(0, count, ROWS))


def heads_of(weights: Floats, group: Indices, groups: int) -> Indices:
    """Of each group the point with the largest weight: the least likely to leave."""
    return np.array([np.where(group == g, weights, -np.inf).argmax() for g in range(groups)], dtype=np.intp)


def multipliers_of(flat: Edges, nu: Any, total: Any) -> Any:
    """μ of all points from those of the others, the heads taking what is missing."""
    mu = np.zeros(len(flat.others) + len(flat.heads), dtype=np.asarray(nu).dtype)
    mu[flat.others] = nu
    for g, head in enumerate(flat.heads):
        mu[head] = total - nu[flat.group == g].sum()
    return mu


def shortest(points: Long, group: Indices, heads: Indices) -> tuple[Long, Long]:
    """w, the shortest with cᵢᵀw alike in each group and K for the sum of K groups; and α with w = Σᵢ αᵢcᵢ.

    By QR in double precision and residuals in long double, so that w is right to its last digits. The points are lost:
    many are large.
    """
    flat = edges(points, group, heads)
    B = points[: len(flat.directions) + 1]
    B[0], B[1:] = flat.base, flat.directions
    flat = flat._replace(directions=B[1:])
    wanted = np.zeros(len(B), dtype=np.longdouble)
    wanted[0] = len(heads)
    length = np.sqrt(np.concatenate([(B[part] * B[part]).sum(axis=1) for part in _parts(len(B))]))
    B /= length[:, None]
    wanted = wanted / length
    Q, R = qr(B.astype(np.float64).T, mode="economic", overwrite_a=True, check_finite=False)
    w, beta = np.zeros(B.shape[1], dtype=np.longdouble), np.zeros(len(B), dtype=np.longdouble)
    for _ in range(REFINEMENTS):
        w += Q @ solve_triangular(R, (wanted - B @ w).astype(np.float64), trans="T")
    for _ in range(REFINEMENTS):
        beta += solve_triangular(R, Q.T @ (w - B.T @ beta).astype(np.float64))
    beta /= length
    return w, multipliers_of(flat, beta[1:], beta[0])


def balanced(points: Long, group: Indices, heads: Indices) -> Long:
    """μ with Σᵢ μᵢcᵢ = 0 and Σμ = 1 in each group, of points whose flat goes through the origin."""
    flat = edges(points, group, heads)
    nu = np.zeros(len(flat.others), dtype=np.longdouble)
    if len(nu):
        length = np.sqrt((flat.directions * flat.directions).sum(axis=1))
        D = (flat.directions / length[:, None]).T
        Q, R = np.linalg.qr(D.astype(np.float64))
        for _ in range(REFINEMENTS):
            nu -= solve_triangular(R, Q.T @ (flat.base + D @ nu).astype(np.float64))
        nu /= length
    return multipliers_of(flat, nu, np.longdouble(1))  # type: ignore[no-any-return]
