"""What the rows prove about a minimum, and whether a certificate claims no more."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Limit, Locality, Optimality

SLACK = 1e-6
"""Relative: what the certificate's own rounding may make of a bound that is recomputed."""


class Shown(NamedTuple):
    """The numbers of a certificate, recomputed."""

    nu: float
    rho: float
    gap: float
    distance: float
    coefficients: Any

    @property
    def lengths(self) -> tuple[float, float, float]:
        """ν, ρ and the distance."""
        return self.nu, self.rho, self.distance

    @classmethod
    def by(cls, nu: float, rho: float, spread: Any) -> Shown:
        """Of a likelihood; `spread` is √(M⁻¹)ⱼⱼ of each coefficient."""
        way = distance(nu, rho)
        return cls(nu, rho, fall(nu, rho), way, spread * way if math.isfinite(way) else np.full_like(spread, np.inf))


def fall(nu: float, rho: float) -> float:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ², infinite if ρν ≥ 1."""
    x = rho * nu
    if not x < 1:
        return math.inf
    if x < 1e-4:
        return nu * nu * (1 / 2 + x / 6 + x * x / 12 * (1 + x))
    return (x + (1 - x) * math.log1p(-x)) / rho**2


def distance(nu: float, rho: float) -> float:
    """−log(1 − ρν)/ρ: how far the minimum is at most, in the norm of the Hessian; infinite if ρν ≥ 1."""
    if not rho * nu < 1:
        return math.inf
    return -math.log1p(-rho * nu) / rho if rho * nu > 0 else nu


def excess(claim: Claim) -> float:
    """(l2/2) K ‖w̄‖²: what more than two classes pay for having weights in common."""
    W = np.atleast_2d(claim.weights).astype(np.longdouble)
    return float(claim.l2 / 2 * len(W) * (W.mean(axis=0) ** 2).sum()) if len(W) > 1 else 0.0


def enough(claim: Claim, proof: Optimality | Locality) -> float:
    """The gap that is to be shown, less what the weights of all classes have in common."""
    return proof.gap * (1 + SLACK) + 1e-15 * abs(claim.value) - excess(claim)


def covers(proof: Optimality | Locality, claim: Claim, shown: Shown) -> bool:
    """Whether the certificate's bounds are no less than those that were shown."""
    bounds = np.atleast_2d(np.asarray(proof.coefficients, dtype=float))
    return bool(
        math.isfinite(shown.gap)
        and shown.gap <= enough(claim, proof)
        and allows(proof, *shown.lengths)
        and (shown.coefficients <= bounds * (1 + SLACK)).all()
    )


def allows(proof: Optimality | Locality | Limit, nu: float, rho: float, way: float, slip: float = 0.0) -> bool:
    """Whether the certificate's ν, ρ and distance are no less than these; `slip` is a length to ignore."""
    return bool(
        nu <= proof.nu * (1 + SLACK) + slip
        and rho <= proof.rho * (1 + SLACK)
        and way <= proof.distance * (1 + SLACK) + slip
    )


def coherent(proof: Optimality | Locality, claim: Claim) -> bool:
    """Whether the numbers are bounds at all, and the relative gap is the gap in units of the claim's value."""
    numbers = (proof.nu, proof.rho, proof.gap, proof.distance)
    bounds = np.asarray(proof.coefficients, dtype=float)
    return bool(
        all(math.isfinite(each) and each >= 0 for each in numbers)
        and bounds.shape == (*np.shape(claim.weights)[:-1], len(claim.columns) + 1)
        and np.isfinite(bounds).all()
        and (bounds >= 0).all()
        and math.isclose(proof.relative_gap * claim.value, proof.gap, rel_tol=SLACK, abs_tol=1e-300)
    )
