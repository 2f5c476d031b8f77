"""The proofs that the audit of joint features rebuilds: of a minimum of the likelihood, and of a local one of the
squared error.

The Hessian of the likelihood has a root by QR, so that no condition is squared.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...results.claims import JointClaim
from ..minimum import TOO_SURE, TWIST, doubt_of, fall, slow_fall, without_the_far
from .rows import JointTable
from .space import Space

EPS = float(np.finfo(float).eps)


def _ridge(l2: float, free: tuple[int, ...], p: int) -> Any:
    """√l2 for each feature, and nothing for those that are free."""
    roots = np.full(p, math.sqrt(l2))
    roots[list(free)] = 0.0
    return roots


def _slope(claim: JointClaim, theta: Any, table: JointTable, basis: Any) -> Any:
    """Bᵀ(Σᵢ (cᵢ/C) Eᵢᵀ ∂ℓ/∂s + l2 θ), in long double."""
    g = np.square(_ridge(claim.l2, claim.free, theta.size)).astype(np.longdouble) * theta
    for part, E in table.differences():
        slope = table.loss.slope(table.scores(theta, E, part), table.target[part].astype(np.longdouble))
        g = g + np.tensordot(slope * table.share[part][:, None], E.astype(np.longdouble), 2)
    return (basis.T.astype(np.longdouble) @ g).astype(float)


def likelihood_gap(claim: JointClaim, theta: Any, table: JointTable, basis: Any, enough: float) -> float:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ²; ρ² the largest ‖Φ(x, c) − Φ(x, c′)‖², ν² = gᵀM⁻¹g, both in the norm of M⁻¹.

    M is the Hessian of rows in doubt; along a ray their curvature, a variance of the scores' rates, changes by no more
    than the range of these rates times itself.
    """
    if not basis.shape[1]:
        return 0.0
    doubt = [doubt_of(table.scores(theta, E, part)) for part, E in table.differences()]
    sure, g = np.concatenate(doubt) < TOO_SURE, _slope(claim, theta, table, basis)

    def proof(chosen: Any) -> tuple[float, Any]:
        R = _root(claim, theta, table, basis, chosen)
        if R is None:
            return math.inf, np.zeros(len(table))
        reach = np.concatenate([_reach(R, E @ basis) for _, E in table.differences()])
        nu = float(np.linalg.norm(solve_triangular(R, g, trans="T")))
        return fall(nu, math.sqrt(reach[chosen].max(initial=0.0))), reach

    return without_the_far(proof, ~sure, sure, enough)


def weights_off(claim: JointClaim, table: JointTable, space: Space) -> Any:
    """How far each weight can be off: −log(1 − ρν)/ρ times √(M⁻¹)ⱼⱼ, for what changes scores; None if not proved."""
    theta, basis = claim.weights, space.basis
    if not basis.shape[1]:
        return np.zeros(theta.size)
    doubt = [doubt_of(table.scores(theta, E, part)) for part, E in table.differences()]
    chosen = np.concatenate(doubt) >= TOO_SURE
    R = _root(claim, theta, table, basis, chosen)
    if R is None:
        return None
    reach = max(float(_reach(R, (E @ basis)[chosen[part]]).max(initial=0.0)) for part, E in table.differences())
    nu = float(np.linalg.norm(solve_triangular(R, _slope(claim, theta, table, basis), trans="T")))
    nu += 2 * space.leak * space.drift(claim.l2) * math.sqrt(reach)  # the scores of the minimum's part in H
    x = math.sqrt(reach) * nu
    if not x < 1:
        return None
    distance = -math.log1p(-x) / math.sqrt(reach) if x > 0 else nu
    return np.linalg.norm(solve_triangular(R, basis.T, trans="T"), axis=0) * distance


def coefficients_hold(claim: JointClaim, bounds: Any, off: Any, space: Space) -> bool:
    """Whether no weight is off by more: `off` in what changes scores, and the minimum's and θ's parts in what does not.

    Where a penalty does not tell weights apart, the shortest are meant.
    """
    if off is None:
        return False
    beside, rounding = space.beside(claim.weights)
    drift = space.drift(claim.l2)
    needed = off + np.abs(beside) + (drift * np.linalg.norm(space.held, axis=1) if drift else 0.0)
    return bool((needed <= np.asarray(bounds) * (1 + 1e-6) + rounding).all())


def _root(claim: JointClaim, theta: Any, table: JointTable, basis: Any, chosen: Any) -> Any:
    """R with RᵀR = Σᵢ (cᵢ/C) Σ_c p_c(e_c − ē)(e_c − ē)ᵀ + ridge, e = EB, ē = Σ_c p_c e_c; None where it is singular."""
    r = basis.shape[1]
    R = np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis
    for part, E in table.differences():
        at, e = table.scores(theta, E, part), E @ basis
        p = at.p.astype(float)
        centred = e - (p[:, :, None] * e).sum(axis=1, keepdims=True)
        weight = np.sqrt(p * (table.share * chosen)[part][:, None])
        R = np.linalg.qr(np.vstack([R, (weight[:, :, None] * centred).reshape(-1, r)]), mode="r")
    length = np.linalg.norm(R, axis=0)
    steady = len(R) == r and bool((np.abs(np.diag(R)) > r * EPS * length).all())
    return R if steady else None


def _reach(R: Any, e: Any) -> Any:
    """max over pairs of classes of ‖R⁻ᵀ(e_c − e_c′)‖², of each row."""
    n, K, r = e.shape
    white = solve_triangular(R, e.reshape(-1, r).T, trans="T").T.reshape(n, K, r)
    pairs = [np.square(white[:, k] - white[:, j]).sum(axis=1) for k in range(K) for j in range(k)]
    return np.max(pairs, axis=0)


def squared_proof(claim: JointClaim, table: JointTable, basis: Any) -> tuple[float, Any]:
    """νt − t²/2 + qt³/6, t = (1 − √(1 − 2qν))/q, q = 1.1 ρλ; λ the largest uᵀGu/uᵀMu, G = 2 Σᵢ (cᵢ/C) Σ_c (e_c − ē)².

    Along a line |f‴| ≤ 1.1 range³ of the scores' rates, and range² is at most twice the sum of their squares less the
    mean. Beside it t·√(M⁻¹)ⱼⱼ: how far each weight can be off, None if nothing is proved. The coordinates are those of
    the Gram matrix's root, so that M's condition does not hang on the features'.
    """
    theta, r = claim.weights, basis.shape[1]
    if not r:
        return 0.0, np.zeros(theta.size)
    R = np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis
    for part, E in table.differences():
        e = np.sqrt(table.share[part])[:, None, None] * (E - E.mean(axis=1, keepdims=True)) @ basis
        R = np.linalg.qr(np.vstack([R, e.reshape(-1, r)]), mode="r")
    white = solve_triangular(R, np.eye(r))
    ridge = (np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis) @ white
    M, G = ridge.T @ ridge, np.zeros((r, r))
    for part, E in table.differences():
        e, share = E @ basis @ white, table.share[part]
        bend = table.loss.curvature(table.scores(theta, E, part), table.target[part].astype(float)).astype(float)
        M += np.einsum("ikr,ikj,ijs->rs", e * share[:, None, None], bend, e, optimize=True)
        flat = (np.sqrt(share)[:, None, None] * (e - e.mean(axis=1, keepdims=True))).reshape(-1, r)
        G += 2 * flat.T @ flat
    M = (M + M.T) / 2
    if not np.linalg.eigvalsh(M)[0] > 1e-12:
        return math.inf, None
    L = np.linalg.cholesky(M)
    half = solve_triangular(L, solve_triangular(L, G, lower=True).T, lower=True)
    rho = math.sqrt(max(float(_reach(L.T, E @ basis @ white).max(initial=0.0)) for _, E in table.differences()))
    nu = float(np.linalg.norm(solve_triangular(L, white.T @ _slope(claim, theta, table, basis), lower=True)))
    q = TWIST * rho * float(np.linalg.eigvalsh(half)[-1])
    gap = slow_fall(nu, q)
    if not math.isfinite(gap):
        return math.inf, None
    t = 2 * nu / (1 + math.sqrt(1 - 2 * q * nu))
    return gap, t * np.linalg.norm(solve_triangular(L, (basis @ white).T, lower=True), axis=0)
