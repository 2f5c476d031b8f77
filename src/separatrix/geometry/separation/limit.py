"""The limit of the likelihood where some rows are separated: what is left of it, and its maximum."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, qr, solve_triangular

from ...data import Rows
from ...fitting.certificates.proof import from_nu_and_rho
from ...fitting.problem import Bounds
from ...fitting.solvers.descent import Damping, Point, minimum
from ...fitting.solvers.newton import Newton
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp
from ...numerics.threads import one_blas_thread
from .cases import Cases
from .proof import positive_and_zero
from .search import Arrangement, HiddenSeparationError
from .signs import functionals
from .units import flat, in_user_units, raw, split

CHUNK = 4096
"""Rows whose classes are looked at together."""
STEPS = 60
"""The most Newton steps."""
SETTLED = 1e-24
"""The gain in sight, relative to the value, where Newton's steps end."""
DAMPING = Damping(enough=0.1, least=0.5, shortest=1e-6)
"""How these steps are shortened."""
SURE = 40.0
"""The log-odds that separated rows are given in the weights that stand for the limit: e⁻⁴⁰ is nothing beside 1."""


@dataclass(frozen=True)
class TiedRows:
    """The rows that are not separated from every other class, and the classes that each is not separated from."""

    row: NDArray[np.intp]
    among: NDArray[np.bool_]
    target: Floats
    cost: Floats
    total: float
    """The cost of all rows."""


class LimitFit(NamedTuple):
    """The maximum of the likelihood in the limit, in the user's units."""

    weights: Floats
    intercept: Any
    value: float
    total: float
    bounds: Bounds
    stand_in: tuple[Floats, Any]
    """Finite weights v + tu with which every separated row is as good as certain."""


def limit_fit(found: Arrangement, rows: Rows, full: Floats, near: Floats) -> LimitFit:
    """The maximum among the classes that the direction `full`, classes × (weights, intercept), leaves tied.

    `near`, of the same shape, is where a fit of the whole likelihood ended: not far from it.
    """
    cases = found.cases
    tied = _tied(cases, rows, full)
    Q = _complement(found.directions)
    with one_blas_thread():
        v, value, bounds = _maximum(cases, tied, Q, Q.T @ _in_frame(cases, near))
    at = in_user_units(cases, v)[0]
    weights, intercept = split(cases, at)
    return LimitFit(weights, intercept, value, tied.total, bounds, split(cases, at + _length(cases, at, full) * full))


def _in_frame(cases: Cases, near: Floats) -> Floats:
    """Weights in the user's units as a direction of the frame, columns that were left out dropped."""
    own = near - near[cases.reference]
    W = own[:, :-1] * cases.frame.scale
    level = own[:, -1:] + own[:, :-1] @ cases.frame.center[:, None]
    every = np.hstack([W[:, cases.keep], level]) if cases.lifted else W[:, cases.keep]
    return np.asarray(every[np.arange(cases.classes) != cases.reference]).ravel()


def _complement(N: Floats) -> Floats:
    """An orthonormal basis of what is orthogonal to the directions."""
    return np.asarray(qr(N)[0][:, N.shape[1] :])


def _tied(cases: Cases, rows: Rows, full: Floats) -> TiedRows:
    own_units, K = raw(cases), cases.classes
    among = np.zeros((len(cases.block), K), bool)
    for look in own_units.look(flat(cases, full), sized=True):
        _, zero = positive_and_zero(look, own_units)
        row, own = cases.row[look.cases], cases.own[look.cases]
        among[row, own] = True
        if K == 2:
            among[row[zero[:, 0]], 1 - own[zero[:, 0]]] = True
        else:
            i, k = np.nonzero(zero)
            among[row[i], k] = True
    row = np.flatnonzero(among.sum(axis=1) > 1)
    target, cost = _targets(rows, K)
    return TiedRows(row, among[row], target[row], cost[row], float(cost.sum()))


def _targets(rows: Rows, classes: int) -> tuple[Floats, Floats]:
    """The probability of each class and the cost of each row."""
    ones = np.ones(len(rows))
    if classes > 2:
        target = rows.y if rows.y.ndim == 2 else np.eye(classes)[rows.y]
        return np.asarray(target, float), rows.cost if rows.cost.size else ones
    cost = rows.cost if rows.cost.size else ones
    if rows.other.size:
        total = cost + rows.other
        share = np.divide(cost, total, out=np.zeros(len(rows)), where=total > 0)
        return np.column_stack([1 - share, share]), total
    second = (rows.y > 0).astype(float)
    return np.column_stack([1 - second, second]), cost


# ------------------------------------------------------------------------------------ its maximum, by Newton's method


def _maximum(cases: Cases, tied: TiedRows, Q: Floats, near: Floats) -> tuple[Floats, float, Bounds]:
    theta, at = np.zeros(Q.shape[1]), _jet(cases, tied, Q, np.zeros(Q.shape[0]))
    there = _jet(cases, tied, Q, Q @ near)
    if there.value < at.value:
        theta, at = near, there
    if not theta.size:
        return Q @ theta, at.value, Bounds(0.0, 0.0, 0.0, 0.0, _spread(cases, Q, np.zeros((0, 0))), 1.0)
    found = minimum(
        lambda theta, _: _jet(cases, tied, Q, Q @ theta), theta, Newton(),
        lambda state: state.decrement <= SETTLED * state.at.value, STEPS, damping=DAMPING, at=at,
    )  # fmt: skip
    theta, at = found.state.v, found.state.at
    L = _factor(at.hessian)
    nu = float(np.linalg.norm(_whiten(L, at.gradient)))
    inverse = np.asarray(cho_solve((L, True), np.eye(len(L))))
    reach = max(_reach(cases, tied, Q, L), 0.0)
    bounds = from_nu_and_rho(nu + _rounding(at), reach, _spread(cases, Q, inverse), 1.0)
    if bounds is None:
        raise HiddenSeparationError
    return Q @ theta, at.value, bounds


def _rounding(at: Point) -> float:
    """What the sums of a pass can be off by, in the norm of the Hessian."""
    return 1e-14 * math.sqrt(len(at.gradient))


def _factor(H: Floats) -> Floats:
    try:
        return np.asarray(cholesky(H, lower=True))
    except LinAlgError:
        raise HiddenSeparationError from None


def _whiten(L: Floats, g: Floats) -> Floats:
    return np.asarray(solve_triangular(L, g, lower=True))


def _looks(cases: Cases, tied: TiedRows, v: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Some rows, their coordinates, their probabilities in the limit and how surprising each class is."""
    V = cases.by_class(v[None])[0]
    for lo in range(0, len(tied.row), CHUNK):
        part = slice(lo, lo + CHUNK)
        Z = cases.coordinates(tied.row[part])
        s = np.where(tied.among[part], Z @ V.T, -np.inf)
        surprise = np.where(tied.among[part], log_sum_exp(s)[:, None] - s, 0.0)
        yield part, Z, np.where(tied.among[part], np.exp(-surprise), 0.0), surprise


def _jet(cases: Cases, tied: TiedRows, Q: Floats, v: Floats) -> Point:
    """(1/C) Σᵢ cᵢ Σₖ tₖ (log Σⱼ exp sⱼ − sₖ), sums over tied classes only."""
    K, p = cases.classes, cases.width
    value, G, H = 0.0, np.zeros((K, p)), np.zeros((K, p, K, p))
    for part, Z, P, surprise in _looks(cases, tied, v):
        c, t = tied.cost[part], tied.target[part]
        value += float(c @ (t * surprise).sum(axis=1))
        G += (c[:, None] * (P - t)).T @ Z
        for k in range(K):
            for j in range(k + 1):
                weight = c * P[:, k] * ((k == j) - P[:, j])
                if k != cases.reference and j != cases.reference and weight.any():
                    block = Z.T @ (weight[:, None] * Z)
                    H[k, :, j] += block
                    if k != j:
                        H[j, :, k] += block
    others = np.arange(K) != cases.reference
    g, full = G[others].ravel(), H[others][:, :, others].reshape(cases.size, cases.size)
    return Point(value / tied.total, Q.T @ g / tied.total, Q.T @ full @ Q / tied.total)


def _reach(cases: Cases, tied: TiedRows, Q: Floats, L: Floats) -> float:
    """ρ = max ‖(eₖ − eⱼ) ⊗ z‖ in the norm of H⁻¹, over rows and classes that are tied."""
    K, p, farthest = cases.classes, cases.width, 0.0
    root = cases.by_class(np.asarray(solve_triangular(L, Q.T, lower=True))).reshape(-1, K, p)
    for lo in range(0, len(tied.row), CHUNK):
        part = slice(lo, lo + CHUNK)
        Z, among = cases.coordinates(tied.row[part]), tied.among[part]
        whitened = np.einsum("rkp,ip->ikr", root, Z, optimize=True)
        for k in range(K):
            for j in range(k):
                both = among[:, k] & among[:, j]
                if both.any():
                    apart = whitened[both, k] - whitened[both, j]
                    farthest = max(farthest, float(np.square(apart).sum(axis=1).max()))
    return math.sqrt(farthest)


def _spread(cases: Cases, Q: Floats, inverse: Floats) -> Floats:
    """√(T H⁻¹ Tᵀ)ⱼⱼ for each weight and the intercept that stays finite, infinite for the others."""
    K, d = cases.classes, cases.block.shape[1]
    F = np.kron(np.eye(K - 1), functionals(cases))
    T = F @ Q
    size = np.sqrt(np.maximum(np.einsum("ir,rs,is->i", T, inverse, T, optimize=True), 0.0))
    moved = np.linalg.norm(F - T @ Q.T, axis=1) > 1e-9 * np.linalg.norm(F, axis=1)
    spread = np.full((K, d + 1), np.inf)
    spread[cases.reference] = 0.0
    columns = np.append(cases.keep, [d] * cases.lifted).astype(np.intp)
    rest = np.flatnonzero(np.arange(K) != cases.reference)
    spread[np.ix_(rest, columns)] = np.where(moved, np.inf, size).reshape(K - 1, cases.width)
    if not cases.lifted:
        spread[:, -1] = 0.0
    return spread[1] if K == 2 else spread


def _length(cases: Cases, at: Floats, full: Floats) -> float:
    """t with which every separated row has log-odds of at least 40 under v + tu."""
    own_units, t = raw(cases), 0.0
    vectors = np.array([flat(cases, full), flat(cases, at)])
    for look in own_units.look(vectors, sized=True):
        positive, _ = positive_and_zero(look, own_units)
        if positive.any():
            t = max(t, float(((SURE - look.margins[1][positive]) / look.margins[0][positive]).max()))
    return t
