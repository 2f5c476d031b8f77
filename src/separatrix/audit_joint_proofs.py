"""The proofs that the audit of joint features rebuilds: of a minimum of the likelihood, and of a local one of the
squared error.

The Hessian of the likelihood has a root by QR, so that no condition is squared.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from .audit_joint_rows import JointTable
from .audit_proofs import TOO_SURE, TWIST, doubt_of, fall, slow_fall, without_the_far
from .verdict import JointClaim

GONE = 1e-11
"""A direction whose differences are this small, beside the others, changes no score."""
EPS = float(np.finfo(float).eps)


def directions(table: JointTable, l2: float, free: tuple[int, ...]) -> Any:
    """Directions of θ that matter, p × r: those that change a difference of scores, or the penalty."""
    p = table.claim.weights.size
    R: Any = np.zeros((0, p))
    for part, E in table.differences():
        rows = (np.sqrt(table.share[part])[:, None, None] * E).reshape(-1, p)
        R = np.linalg.qr(np.vstack([R, rows]), mode="r")
    size = np.linalg.norm(R, axis=0)
    size = np.where(size > 0, size, 1.0)
    scaled = np.vstack([R / size, np.diag(_ridge(l2, free, p) / size)])
    _, values, directions = np.linalg.svd(scaled, full_matrices=False)
    return (directions[values > GONE * max(values[0], 1e-300)] / size).T


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


def coefficients_hold(claim: JointClaim, bounds: Any, table: JointTable, basis: Any, ignored: float) -> bool:
    """Whether no weight is off by more: −log(1 − ρν)/ρ times √(M⁻¹)ⱼⱼ.

    Of weights that are not unique the shortest are meant, and their bounds are not looked at.
    """
    r, theta = basis.shape[1], claim.weights
    if r < theta.size:
        return bool((np.asarray(bounds) >= 0).all())
    doubt = [doubt_of(table.scores(theta, E, part)) for part, E in table.differences()]
    chosen = np.concatenate(doubt) >= TOO_SURE
    R = _root(claim, theta, table, basis, chosen)
    if R is None:
        return False
    nu = float(np.linalg.norm(solve_triangular(R, _slope(claim, theta, table, basis), trans="T")))
    reach = max(float(_reach(R, (E @ basis)[chosen[part]]).max(initial=0.0)) for part, E in table.differences())
    x = math.sqrt(reach) * nu
    if not x < 1:
        return False
    distance = -math.log1p(-x) / math.sqrt(reach) if x > 0 else nu
    spread = np.linalg.norm(solve_triangular(R, basis.T, trans="T"), axis=0)
    return bool((spread * distance <= np.asarray(bounds) * (1 + 1e-6) + spread * math.sqrt(2 * ignored)).all())


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


def squared_gap(claim: JointClaim, table: JointTable, basis: Any) -> float:
    """νt − t²/2 + qt³/6, t = (1 − √(1 − 2qν))/q, q = 1.1 ρλ; λ the largest uᵀGu/uᵀMu, G = 2 Σᵢ (cᵢ/C) Σ_c (e_c − ē)².

    Along a line |f‴| ≤ 1.1 range³ of the scores' rates, and range² is at most twice the sum of their squares less the
    mean. The coordinates are those of the Gram matrix's root, so that M's condition does not hang on the features'.
    """
    theta, r = claim.weights, basis.shape[1]
    if not r:
        return 0.0
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
        return math.inf
    L = np.linalg.cholesky(M)
    half = solve_triangular(L, solve_triangular(L, G, lower=True).T, lower=True)
    rho = math.sqrt(max(float(_reach(L.T, E @ basis @ white).max(initial=0.0)) for _, E in table.differences()))
    nu = float(np.linalg.norm(solve_triangular(L, white.T @ _slope(claim, theta, table, basis), lower=True)))
    return slow_fall(nu, TWIST * rho * float(np.linalg.eigvalsh(half)[-1]))
