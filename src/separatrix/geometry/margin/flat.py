"""The flat through a few points, and its point nearest to the origin; points come and go at the cost of a product."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr_delete, solve_triangular

from ...numerics.arrays import Floats

Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
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
    return Edges(points[heads].sum(axis=0), points[others] - points[heads[group[others]]], others, heads, group[others])


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

    By QR in double precision and residuals in long double, so that w is right to its last digits.
    """
    flat = edges(points, group, heads)
    B = np.vstack([flat.base, flat.directions])
    wanted = np.zeros(len(B), dtype=np.longdouble)
    wanted[0] = len(heads)
    length = np.sqrt((B * B).sum(axis=1))
    B, wanted = B / length[:, None], wanted / length
    Q, R = np.linalg.qr(B.astype(np.float64).T)
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
