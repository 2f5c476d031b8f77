"""A proof that a minimum exists and is near, from the gradient and a part of the Hessian.

Let M ⪯ H(v) be the Hessian of some of the rows, S, and the penalty; ν² = gᵀM⁻¹g, ρ² = max_{i∈S} zᵢᵀM⁻¹zᵢ. Along any ray
the curvature of these rows falls no faster than e^−ρt, because |φ‴| ≤ φ″, and the other rows only add to it. So if
ρν < 1, the slope turns positive within −log(1 − ρν)/ρ of v in every direction: the minimum exists, lies within that
distance in the norm of M, and is at most [ρν + (1 − ρν) log(1 − ρν)]/ρ² lower. Where |φ‴| ≤ kφ″ ρ is k times as large.

Of a loss without such a k M is made of bounds from below on φ″ within δ of the margins of S, and ρ is 1/δ times as
large: no margin of S moves by δ within 1/ρ of v. So if ρν < 1 the minimum is within ν, and at most ν²/2 lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.frame import BLOCK, Frame
from ...data.jets import Written
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import PANEL, Factor, Root, factor
from ..problem import Bounds
from ..solvers.newton import Latest

Spread = Callable[[Floats], Floats]
"""Turns M⁻¹ into the deviations of the user's coefficients."""
TOO_SURE = 1e-10
"""Curvature of a row that is left out of a proof: it would add to the rounding and to little else."""
EASY = 0.3
"""A cheap bound on ρ is good enough when it proves ρν below this."""


def conclusion(
    M: Floats | Root, radius: float, gradient: Floats, leverage: Callable[[Factor], float], slip: float,
    spread: Spread, share: float, n: int, steepness: tuple[float, float] = (1.0, 0.25), stray: float | None = None,
    lost: float | None = None, stored: float = 0.0, room: float = 1.0, steady: bool = False,
) -> Bounds | None:  # fmt: skip
    """What M proves: `radius` is the largest ‖z‖² of its rows, `slip` the rounding of a score.

    `steepness` bounds the means of |φ′| and φ″. `stray` is the rounding of the gradient's sums in units of a rounding
    of ‖z‖; None where lanes share the sums. `lost` is how far rounding can move an eigenvalue of M scaled to a diagonal
    of ones; None: what blocks of rows lose. `stored` is how far ν is off because all scores are, by the rounding of the
    user's intercept: as far as they, times the root of the mean φ″. `room` is 1/k, or δ: then M is `steady` within it.
    """
    steep, steepest = steepness
    made = factor(M)
    if made is None:
        return None
    inverse, flat, scaled = inverted(made)
    lost = sum_rounding(n * share, gradient.size) if lost is None else lost
    shaken = lost * (math.sqrt(scaled) if isinstance(M, Root) else scaled) + slip
    if not shaken < 0.5:
        return None
    left = math.sqrt(1 - shaken)
    cheap = math.sqrt(radius * flat) / left
    sums = float(np.linalg.norm(made.whiten(gradient))) / left + EPS * (stray or n / 16 + 100) * steep * cheap + stored
    rho, nu = cheap, sums + slip * steepest * cheap
    if rho * nu > EASY * room or nu > 2 * sums:  # the exact ρ is worth its price only where it decides
        rho = min(cheap, math.sqrt(leverage(made)) / left)
        nu = sums + slip * steepest * rho
    rho /= room
    if steady:
        return Bounds(nu, rho, nu * nu / 2, nu, spread(inverse), share) if rho * nu < 1 else None
    return from_nu_and_rho(nu, rho, spread(inverse), share)


def from_nu_and_rho(nu: float, rho: float, spread: Floats, share: float) -> Bounds | None:
    """If ρν < 1: a distance of −log(1 − ρν)/ρ, a gap of [ρν + (1 − ρν) log(1 − ρν)]/ρ²."""
    x = rho * nu
    if not x < 1:
        return None
    if rho == 0:  # no row's curvature counts: what is left is the penalty's, and constant
        return Bounds(nu, rho, nu * nu / 2, nu, spread, share)
    return Bounds(nu, rho, gap_bound(x) / rho**2, -math.log1p(-x) / rho, spread, share)


def local_conclusion(
    M: Floats, G: Floats, radius: float, gradient: Floats, leverage: Callable[[Factor], float], slip: float,
    third: float, spread: Spread, n: int,
) -> Bounds | None:  # fmt: skip
    """What a positive definite Hessian M proves about a local minimum; G is the Gram matrix of the rows."""
    made = factor(M)
    if made is None:
        return None
    inverse, flat, scaled = inverted(made)
    largest = float(np.linalg.eigvalsh(made.whiten(made.whiten(G).T)).max()) * (1 + 1e-9)
    lost = sum_rounding(n, len(M))
    shaken = lost * (scaled + largest) + third * slip * largest
    if not shaken < 0.5:
        return None
    steady = math.sqrt(1 - shaken)
    rho = math.sqrt(min(radius * flat, leverage(made))) / steady
    nu = float(np.linalg.norm(made.whiten(gradient))) / steady + (EPS * (n / 16 + 100) + slip) * rho
    q = third * rho * largest / (1 - shaken)
    if not 2 * q * nu < 1:
        return None
    t = 2 * nu / (1 + math.sqrt(1 - 2 * q * nu))
    return Bounds(nu, rho, nu * t - t * t / 2 + q * t**3 / 6, t, spread(inverse), 1.0, only=False)


def inverted(made: Factor) -> tuple[Floats, float, float]:
    """M⁻¹; its largest row sum, ‖M⁻¹‖∞ ≥ 1/λ_min; and the same where M is scaled to a diagonal of ones."""
    inverse, flat, scaled = made.inverse(), 0.0, 0.0
    for lo in range(0, len(inverse), PANEL):  # some rows at a time: the matrix may be as large as all else together
        size = np.abs(inverse[lo : lo + PANEL])
        flat = max(flat, float(size.sum(axis=1).max()))
        scaled = max(scaled, float((size @ made.diagonal * made.diagonal[lo : lo + PANEL]).max()))
    return inverse, flat, scaled


def sum_rounding(rows: float, width: int) -> float:
    """How far the rounding of sums over rows can move an eigenvalue of a scaled Hessian."""
    return EPS * (min(rows, BLOCK) + rows / BLOCK + width) * width


def gap_bound(x: float) -> float:
    """x + (1 − x) log(1 − x) = x²/2 + x³/6 + x⁴/12 + …"""
    if x < 1e-4:
        return x * x / 2 * (1 + x / 2)
    return x + (1 - x) * math.log1p(-x)


def share_of_rows(n: int, d: int) -> float:
    """The part of the rows whose Hessian costs less than half a pass, four rows a weight at the least."""
    return 1.0 if n < 4096 else min(1.0, max(4 * d, min(10 * n / d, n / 12)) / n)


def intercept_rounding(frame: Frame, v: Floats) -> float:
    """How far b = v₀ − cᵀw can be off: it is a double, and the products are too."""
    w, b = frame.to_user(v)
    return 2 * EPS * (abs(b) + float(np.abs(frame.center) @ np.abs(w))) if frame.lifted else 0.0


def margin_rounding(frame: Frame, v: Floats, radius: float) -> float:
    """How far a margin can be off by rounding: γ ‖z‖ ‖v‖."""
    return EPS * (frame.width + 4) * math.sqrt(radius) * float(np.linalg.norm(v))


@dataclass(frozen=True)
class ProofRows:
    """The rows S of a proof: the first part of every run, less those that are too sure to matter."""

    risk: Any
    v: Floats
    share: float
    all_rows: bool = False
    """Whether rows count that are too sure to matter, or are curved the wrong way."""
    known: Latest | None = None
    """A Hessian of all rows that the fit has found near."""

    @property
    def _written(self) -> Written:
        """The rows in the frame, where they are few."""
        assert self.risk.written is not None
        return self.risk.written  # type: ignore[no-any-return]

    def sample(self) -> NDArray[np.intp] | None:
        """From where to where the rows S go; None where they are all rows."""
        if self.share == 1:
            return None
        return np.array([(lo, self._stop(lo, hi)) for lo, hi in self.risk.rows.runs()], np.intp)

    def _stop(self, lo: int, hi: int) -> int:
        """Where the part of a run ends that takes part."""
        return lo + math.ceil((hi - lo) * self.share)

    def _sum(self, run: Callable[..., tuple[Any, float]], *, blas: bool = True) -> tuple[Any, float]:
        """The sum of what `run` makes of each run of rows, and the largest ‖zᵢ‖²."""
        parts = self.risk.rows.each(run, blas=blas)
        total, radius = next(parts)
        for part, largest in parts:
            total += part
            radius = max(radius, largest)
        return total, radius

    def _largest(self, run: Callable[..., float], *, blas: bool = True) -> float:
        """The largest number that `run` finds in a run of rows, rounded up."""
        return float(max(self.risk.rows.each(run, blas=blas))) * (1 + 1e-10)


def radius_of(Z: Floats) -> float:
    """The largest ‖z‖²."""
    return float(np.einsum("ij,ij->i", Z, Z).max(initial=0))
