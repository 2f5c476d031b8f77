"""The proof that a minimum exists and is near, for joint features.

Along a ray θ + tu the scores of a row change at the rates a_c = u·Φ(x, c). Its curvature is the variance of a under
p = softmax(s), and the derivative of that along the ray is the third central moment, E_p(a − E_p a)³: at most
range(a) = max a − min a times the variance, because every deviation is at most the range. So with M the Hessian of the
rows S and the penalty, the curvature of S along a ray of unit length in M falls no faster than e^−ρt, if ρ bounds the
ranges: range(a) = max u·(Φ(x, c) − Φ(x, c′)) ≤ ‖u‖_M ‖Φ(x, c) − Φ(x, c′)‖ in the norm of M⁻¹. Hence

    ρ² = max over rows of S and pairs of classes of (Φ(x, c) − Φ(x, c′))ᵀ M⁻¹ (Φ(x, c) − Φ(x, c′)),  ν² = gᵀM⁻¹g,

and all that `proof` says of ρν < 1 holds. The penalty's part of M does not change along the ray, the other rows
only add to it. Directions along which no difference changes have neither slope nor curvature but the penalty's, which
is least where θ has no part there (`joint_null`); of weights that no penalty tells apart the shortest are meant. Where
features are combinations of others up to rounding only, a unit of such a direction may change scores by δ: the minimum
then has a part of at most 4δ/l2 there, which makes it at most (4δ)²/2l2 lower.

The squared error has |f‴| ≤ 1.1 range³ (`softmax.SoftmaxSquared`), and range² ≤ 2 Σ_c (a_c − ā)².
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...losses.softmax import Probabilities
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import Factor
from ..problem import Bounds
from ..risk.joint import SLOPE, JointBasis, JointRisk, curvature
from .proof import TOO_SURE, conclusion, local_conclusion
from .softmax import steepness

ROOM = 1.01
"""For the rounding of the directions in which a weight can be off."""


def joint_bounds(risk: JointRisk, v: Floats) -> Bounds | None:
    """What is proved at v: of the likelihood about its minimum, of the squared error about a local one."""
    if not v.size:
        return Bounds(0.0, 0.0, 0.0, 0.0, np.zeros(len(risk.basis.back)), 1.0)
    convex, at = risk.loss.convex, risk(v)
    M, G, radius = _sums(risk, v, sure=convex)
    null, drift = risk.basis.null, risk.basis.drift
    slip, n = (
        2 * (score_rounding(risk, v) + null.leak * drift),
        len(risk.sample.share) * len(risk.sample.features.classes),
    )

    def leverage(made: Factor) -> float:
        reach = [
            widest(made.whiten(Q.reshape(-1, v.size).T).T.reshape(Q.shape)) for Q, _, _ in _chosen(risk, v, convex)
        ]
        return max(reach, default=0.0) * (1 + 1e-10)

    if convex:
        found = conclusion(
            M, radius, at.gradient, leverage, slip, lambda inverse: deviations(risk, inverse), 1.0, n,
            (1.0, steepness(at.value)),
        )  # fmt: skip
    else:
        found = local_conclusion(
            M, 2 * G, radius, at.gradient, leverage, slip, risk.loss.third, lambda inverse: deviations(risk, inverse), n
        )
    return None if found is None else replace(found, gap=found.gap + SLOPE / 2 * null.leak * drift)


def _chosen(risk: JointRisk, v: Floats, sure: bool) -> Iterator[tuple[Floats, Probabilities, Floats]]:
    """The rows of a proof: without those that are too sure to matter, if there may be such."""
    for rows, Q in risk.blocks():
        _, at = risk.probabilities(rows, Q, v)
        counts = at.p.max(axis=0) < 1 - TOO_SURE if sure else np.ones(len(Q), bool)
        if counts.any():
            some = Probabilities(at.p[:, counts], at.error[:, counts], at.loss[counts])
            yield Q[counts], some, risk.sample.share[rows][counts]


def _sums(risk: JointRisk, v: Floats, *, sure: bool) -> tuple[Floats, Floats, float]:
    """M, the Gram matrix Σᵢ (cᵢ/C) Σ_c (Q_c − Q̄)(Q_c − Q̄)ᵀ, and the largest ‖Q_c − Q_c′‖²."""
    M, G, radius = risk.root.T @ risk.root, np.zeros((v.size, v.size)), 0.0
    for Q, at, share in _chosen(risk, v, sure):
        M, radius = M + curvature(risk.loss, at, Q, share), max(radius, widest(Q))
        centred = (np.sqrt(share)[:, None, None] * (Q - Q.mean(axis=1, keepdims=True))).reshape(-1, v.size)
        G += centred.T @ centred
    return (M + M.T) / 2, G, radius


def widest(Q: Floats) -> float:
    """The largest ‖Q_c − Q_c′‖² of a row and two classes."""
    pairs = ((k, j) for k in range(Q.shape[1]) for j in range(k))
    return max((float(np.square(Q[:, k] - Q[:, j]).sum(axis=1).max(initial=0.0)) for k, j in pairs), default=0.0)


def score_rounding(risk: JointRisk, v: Floats) -> float:
    """How far a score can be off: what the coordinates make of it beside what θ does, and the rounding of that.

    Where columns far from zero are shifted, θ is compared in the shifted features, whose numbers are small, and the
    rounding of the shift comes to that.
    """
    basis = risk.basis
    theta, off = basis.theta(v), 0.0
    moved, ones = basis.moved(theta), basis.shift.any(axis=1)
    beside = float(basis.seen @ np.abs(theta[basis.aliased]))
    for rows, Q in risk.blocks():
        E = risk.sample.differences(rows)
        if ones.any():
            A, kept = basis.read(E), np.abs(E[..., basis.kept]).reshape(-1, basis.kept.size)
            apart = np.abs(Q.reshape(-1, v.size) @ v - A @ moved)
            shifted = (kept + kept[:, ones] @ np.abs(basis.shift[ones])) @ np.abs(moved)
            rounding = (theta.size + 4) * (np.abs(A) @ np.abs(moved)) + (1 + ones.sum()) * shifted
            off = max(off, float((apart + EPS * rounding).max(initial=0.0)) + beside)
            continue
        off = max(off, float(np.abs(Q @ v - E @ theta).max(initial=0.0)))
        off = max(off, EPS * (theta.size + 4) * float((np.abs(E) @ np.abs(theta)).max(initial=0.0)))
    return 2 * off


def weight_bounds(basis: JointBasis, theta: Floats, found: Bounds) -> Floats:
    """How far each weight can be off: in what changes scores, in what does not, and by the rounding of θ itself."""
    v = basis.coordinates(theta)
    rounded = EPS * (theta.size + 4) * (np.abs(basis.back) @ np.abs(v))
    beside = basis.drift * np.linalg.norm(basis.null.held, axis=1) if basis.drift else 0.0
    return ROOM * found.spread * found.distance + beside + rounded  # type: ignore[no-any-return]


def deviations(risk: JointRisk, inverse: Floats) -> Floats:
    """√(BM⁻¹Bᵀ)ⱼⱼ, θ = Bv."""
    B = risk.basis.back
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", B, inverse, B, optimize=True), 0.0))  # type: ignore[no-any-return]
