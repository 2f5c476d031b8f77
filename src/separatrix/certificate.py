"""A proof that a minimum exists and is near, from the gradient and a part of the Hessian.

With M ⪯ H(v), ν² = gᵀM⁻¹g and ρ² = maxᵢ zᵢᵀM⁻¹zᵢ: along any ray the curvature of a logistic risk falls no faster than
e^−ρt, because |φ‴| ≤ φ″. So if ρν < 1, the slope turns positive within −log(1 − ρν)/ρ of v in every direction:
the minimum exists, lies within that distance in the norm of M, and is at most [ρν + (1 − ρν) log(1 − ρν)]/ρ² lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .data import Rows
from .linalg import EPS, Factor, Root, factor
from .risk import BLOCK, Frame, Risk

Floats = NDArray[np.float64]
EASY = 0.3
"""A cheap bound on ρ is good enough when it proves ρν below this."""


@dataclass(frozen=True)
class Bounds:
    """What is proved at a point."""

    nu: float
    rho: float
    gap: float
    """The risk is at most this far above its minimum."""
    distance: float
    """The minimum is at most this far away in the norm of M."""
    spread: Floats
    """√(M⁻¹)ⱼⱼ of each coefficient in the user's units: times `distance`, how far the coefficient can be off."""
    share: float
    """The part of the rows that entered M."""


def share_of_rows(n: int, d: int) -> float:
    """The part of the rows whose Hessian costs less than half a pass, four rows a weight at the least."""
    return 1.0 if n < 4096 else min(1.0, max(4 * d, min(10 * n / d, n / 12)) / n)


def bounds(
    risk: Risk,
    v: Floats,
    gradient: Floats,
    M: Floats | Root,
    radius: float,
    share: float,
    spread: Callable[[Floats], Floats],
) -> Bounds | None:
    """ν, ρ and what follows from them, rounding included; None where nothing is proved.

    `M` is the Hessian of a `share` of the rows; `radius` is the largest ‖z‖² of a row; `spread` turns M⁻¹ into the
    deviations of the user's coefficients.
    """
    made = factor(M)
    if made is None:
        return None
    inverse = made.inverse()
    flat = float(np.abs(inverse).sum(axis=1).max())  # ‖M⁻¹‖∞ ≥ 1/λ_min
    rows = len(risk.rows) * share
    slip = margin_rounding(risk.frame, risk.embed(v), radius)
    lost = EPS * (min(rows, BLOCK) + rows / BLOCK + v.size)
    total = float(np.square(made.diagonal).sum())
    shaken = (lost * math.sqrt(total * flat) if isinstance(M, Root) else lost * total * flat) + slip
    if not shaken < 0.5:
        return None
    steady = math.sqrt(1 - shaken)
    cheap = math.sqrt(radius * flat) / steady
    sums = float(np.linalg.norm(made.whiten(gradient))) / steady + EPS * (len(risk.rows) / 16 + 100) * cheap
    rho, nu = cheap, sums + slip / 4 * cheap
    if rho * nu > EASY or nu > 2 * sums:  # a row's own z/M is worth knowing only where it decides
        rho = min(cheap, math.sqrt(leverage(risk, made)) / steady)
        nu = sums + slip / 4 * rho
    x = rho * nu
    if not x < 1:
        return None
    gap = gap_bound(x) / rho**2
    return Bounds(nu, rho, gap, -math.log1p(-x) / rho, spread(inverse), share)


def gap_bound(x: float) -> float:
    """X + (1 − x) log(1 − x) = x²/2 + x³/6 + x⁴/12 + …"""
    if x < 1e-4:
        return x * x / 2 * (1 + x / 2)
    return x + (1 - x) * math.log1p(-x)


def margin_rounding(frame: Frame, v: Floats, radius: float) -> float:
    """How far a margin can be off by rounding: γ ‖z‖ ‖v‖."""
    return EPS * (frame.width + 4) * math.sqrt(radius) * float(np.linalg.norm(v))


def leverage(risk: Risk, made: Factor) -> float:
    """maxᵢ zᵢᵀM⁻¹zᵢ over the rows that count."""

    def block(rows: Rows, lo: int, hi: int) -> float:
        largest = 0.0
        for start in range(lo, hi, BLOCK):
            stop = min(start + BLOCK, hi)
            Z = risk.frame.coordinates(rows.X[start:stop])[:, risk.active]
            if rows.cost.size:
                Z = Z[rows.cost[start:stop] > 0]
            largest = max(largest, float(np.square(made.whiten(Z.T)).sum(axis=0).max(initial=0)))
        return largest

    return float(max(risk.rows.each(block, blas=True))) * (1 + 1e-10)
