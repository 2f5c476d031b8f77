"""A proof that a maximum of Firth's penalised likelihood is near.

Let F = −ℓ*/C, C = Σᵢcᵢ, and M ⪯ ∂²F(v) positive definite; ν² = gᵀM⁻¹g, ρ² = maxᵢ zᵢᵀM⁻¹zᵢ, and λ the largest
uᵀKu/uᵀMu, K = (1/C) Σᵢ (cᵢwᵢ + 3hᵢ) zᵢzᵢᵀ. The k-th derivative of wᵢ along u is at most wᵢ|zᵢᵀu|ᵏ for k ≤ 3, hence
|F‴| ≤ maxᵢ|zᵢᵀu| · uᵀKu; and within the distance t of v, in the norm of M, K grows by no more than e^2ρt. So within 2ν
the curvature, one at first, falls no faster than q = e^4ρν ρλ: if 2qν < 1, a minimum of F lies within
t = (1 − √(1 − 2qν))/q, which is less than 2ν. docs/decisions.md has the steps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dsyev, dtrtri

from ...numerics.arrays import EPS, Floats
from ..problem import Bounds
from ..risk.firth import Block, Firth, FirthPoint, FirthSlope, added, inverse_of, room
from .proof import Spread, sum_rounding

DIGITS_OF_EIGENVALUES = 1e-9
"""The rounding of λ, relatively."""
PLAIN = 2.0
"""A quick bound on λ that is good enough."""


class Rounding(NamedTuple):
    """What makes scores and coordinates less than exact."""

    reach: float
    """How large the terms of a score are beside ‖z‖."""
    stray: float
    """How many times more than one rounding the coordinates of a row are off."""
    level: float
    """How large the terms of a score are in the user's units at the centre of the rows: there they are rounded too."""


class ProofTerms(NamedTuple):
    """What a proof takes from the rows, and from the matrix M/C ⪯ ∂²F that it stands upon."""

    inverse: Floats
    """(M/C)⁻¹."""
    slope: float
    """√(U*ᵀ(M/C)⁻¹U*)."""
    condition: float
    """How much a rounding of M can move its inverse."""
    steepest: float
    """λ."""
    farthest: float
    """The largest f, f² = zᵀ(M/C)⁻¹z."""
    longest: float
    """The largest s, s = ‖z‖ or more."""
    pulled: float
    """Σᵢ cᵢ|tᵢ − pᵢ|fᵢ."""
    held: float
    """Σᵢ hᵢfᵢ."""
    steep: float
    """Σᵢ (cᵢwᵢ + 3hᵢ)fᵢ."""
    stretched: float
    """Σᵢ (cᵢwᵢ + 3hᵢ)fᵢsᵢ."""


def quick_firth_bounds(
    at: FirthPoint,
    slope: FirthSlope,
    cost: Floats,
    total: float,
    spread: Spread,
    rounding: Rounding,
) -> Bounds | None:
    """What βA/C ⪯ ∂²F proves, β = minᵢ 1 − qᵢ(½ − 3wᵢ), rounding included: the rows need not be read again for it.

    None where it proves nothing, or where some rows have so much leverage that it would prove little.
    """
    q, h, w = slope.q, slope.h, at.w
    beta = 1 - float(np.maximum.reduce(q * (0.5 - 3 * w)))
    most = float(np.maximum.reduce(q))
    steepest = (1 + 3 * most) / beta if beta > 0 else math.inf
    if not steepest < PLAIN:
        return None
    root, error = np.sqrt(q), np.abs(at.error)
    own, error = (w * cost, error * cost) if cost.size else (w, error)
    inverse = at.inverse
    condition = _condition(at.information, inverse)
    whitened = at.root.T @ slope.gradient
    pull = math.sqrt(float(whitened @ whitened))
    far = math.sqrt(total / beta)
    size = math.sqrt(float(at.information.trace()))  # zzᵀ ⪯ qA, so that ‖z‖² ≤ q tr A
    held = float(h @ root)
    known = ProofTerms(
        inverse * (total / beta), pull * far, condition, steepest, math.sqrt(most) * far, math.sqrt(most) * size,
        pulled=float(error @ root) * far,
        held=held * far,
        steep=(float(own @ root) + 3 * held) * far,
        stretched=(float(own @ q) + 3 * float(h @ q)) * far * size,
    )  # fmt: skip
    return _proved(known, at, condition, total, spread, rounding)


def firth_bounds(
    firth: Firth, at: FirthPoint, slope: FirthSlope, M: Floats, total: float, spread: Spread, rounding: Rounding
) -> Bounds | None:
    """What M/C ⪯ ∂²F proves, rounding included; None where it proves nothing. `total` is C."""
    n = firth.count
    upper, failed = dpotrf(M / total)
    if failed:
        return None
    inverse = inverse_of(upper)
    far, size, own, error = np.empty(n), np.empty(n), np.empty(n), np.empty(n)

    def look(block: Block) -> tuple[int]:
        Z, rows = block.Z.T, block.rows
        np.einsum("ij,ij->j", np.matmul(inverse, Z, out=room(block)[:-1]), Z, out=far[rows])
        np.einsum("ij,ij->j", Z, Z, out=size[rows])
        cost: Any = block.cost if block.cost.size else 1.0
        own[rows], error[rows] = cost * at.w[rows], cost * np.abs(at.error[rows])
        return (0,)

    added(firth.read(look))
    np.sqrt(far, out=far)
    np.sqrt(size, out=size)
    steepest = _steepest(firth, at, slope, own, upper, total)
    pull = math.sqrt(max(float(slope.gradient @ inverse @ slope.gradient), 0.0))
    steep = (own + 3 * slope.h) * far
    known = ProofTerms(
        inverse, pull, _condition(M, inverse) / total, steepest, float(far.max()), float(size.max()),
        pulled=float(error @ far), held=float(slope.h @ far), steep=float(steep.sum()), stretched=float(steep @ size),
    )  # fmt: skip
    return _proved(known, at, _condition(at.information, at.inverse), total, spread, rounding)


def _proved(
    known: ProofTerms, at: FirthPoint, condition: float, total: float, spread: Spread, rounding: Rounding
) -> Bounds | None:
    """The bounds, with what rounding may have done to them; `condition` is that of A."""
    d, n, steepest = at.v.size, len(at.w), known.steepest
    slip, turned, level = EPS * (d + 4) * rounding.reach, EPS * (d + 4) * rounding.stray, EPS * rounding.level
    lever = EPS * (d + 10) * d * condition + 2 * turned  # how far a leverage is off, relatively
    shaken = sum_rounding(n, d) * (known.condition + steepest)
    shaken += (4 * (slip * known.longest + level) + 2 * lever) * steepest
    if not shaken < 0.5:
        return None
    steady = math.sqrt(1 - shaken)
    stray = (EPS * (n / 16 + 100) + turned) * (known.pulled + known.held) + lever * known.held
    stray += slip * known.stretched + level * known.steep
    nu = (known.slope + stray) / (total * steady)
    rho = known.farthest * (1 + 1e-10) / steady
    return slow_change(nu, rho, steepest / (1 - shaken), spread(known.inverse))


def _steepest(firth: Firth, at: FirthPoint, slope: FirthSlope, own: Floats, upper: Floats, total: float) -> float:
    """λ, the largest eigenvalue of K in the norm of M: at most the largest (cᵢwᵢ + 3hᵢ)/(cᵢwᵢ − ½hᵢ(1 − 6wᵢ)).

    That ratio is quick, and good enough where no row has much leverage.
    """
    weight, bend = own + 3 * slope.h, own - slope.h * (0.5 - 3 * at.w)
    if float(bend.min()) > 0:
        quick = float((weight / bend).max())
        if quick < PLAIN:
            return quick

    def look(block: Block) -> tuple[Floats]:
        return ((block.Z.T * weight[block.rows]) @ block.Z,)

    (K,) = added(firth.read(look))
    half, _ = dtrtri(upper)
    values, _, failed = dsyev(half.T @ (K / total) @ half, compute_v=0)
    return math.inf if failed else float(values[-1]) * (1 + DIGITS_OF_EIGENVALUES)


def slow_change(nu: float, rho: float, steepest: float, spread: Floats) -> Bounds | None:
    """If 2qν < 1, q = e^4ρν ρλ: a distance of t = (1 − √(1 − 2qν))/q and a gap of νt − t²/2 + qt³/6."""
    if not rho * nu < 1:
        return None
    q = math.exp(4 * rho * nu) * rho * steepest
    if not 2 * q * nu < 1:
        return None
    t = 2 * nu / (1 + math.sqrt(1 - 2 * q * nu))
    return Bounds(nu, rho, nu * t - t * t / 2 + q * t * t * t / 6, t, spread, 1.0, only=False)


def _condition(A: Floats, inverse: Floats) -> float:
    """‖D A⁻¹ D‖∞, D² = diag A: how much a rounding of A, scaled to a diagonal of ones, can move its inverse."""
    size = np.sqrt(A.diagonal())
    return float(np.maximum.reduce(np.abs(inverse) @ size * size))
