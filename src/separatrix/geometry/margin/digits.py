"""The last digits: weights that score one on a few points, multipliers with which they balance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...numerics.arrays import Floats

Indices = NDArray[np.intp]
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
