"""Firth's penalised likelihood of two classes: its value, slope and curvature from rows that are read block by block.

ℓ*(v) = Σᵢ cᵢ[tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)] + ½ log|A|, A = Σᵢ cᵢwᵢ zᵢzᵢᵀ, pᵢ = σ(zᵢᵀv), wᵢ = pᵢ(1 − pᵢ). The rows
are read twice for a slope: the leverages hᵢ = cᵢwᵢ zᵢᵀA⁻¹zᵢ need all of A. A must have full rank: the coordinates z of
a row are those of independent columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

Floats = NDArray[np.float64]
TWISTED = 1 << 20
"""Numbers of products of coordinates that are held at a time."""


class Block(NamedTuple):
    """Some rows that count."""

    rows: slice
    """Their places among all rows that count."""
    Z: Floats
    """zᵢ, one a row; quickest in Fortran's order."""
    target: Floats
    """tᵢ, the probability of the second class."""
    cost: Floats
    """cᵢ > 0; none: all one."""


Read = Callable[[Callable[[Block], tuple[Any, ...]]], Iterable[tuple[Any, ...]]]
"""Calls a function with every block and brings back what it says, in order: block by block, or sums over blocks."""


def in_memory(Z: Floats, target: Floats, cost: Floats) -> Read:
    """All rows as one block."""
    block = Block(slice(0, len(Z)), Z, target, cost)
    return lambda look: (look(block),)


@dataclass(frozen=True)
class FirthJet:
    """ℓ*, its gradient, and the information A."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True)
class Glance:
    """What one reading of the rows says about v."""

    v: Floats
    likelihood: float
    """Σᵢ cᵢ[tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)]."""
    log_determinant: float
    """log|A|; −∞ where A is singular to working precision."""
    information: Floats
    """A."""
    inverse: Floats
    """A⁻¹; empty where A is singular."""
    p: Floats
    w: Floats

    @property
    def value(self) -> float:
        """ℓ* = ℓ + ½ log|A|."""
        return self.likelihood + self.log_determinant / 2


@dataclass(frozen=True)
class Slope:
    """What a second reading adds."""

    gradient: Floats
    """U* = Σᵢ zᵢ[cᵢ(tᵢ − pᵢ) + hᵢ(½ − pᵢ)]."""
    curvature: Floats
    """Σᵢ [cᵢwᵢ − ½hᵢ(1 − 6wᵢ)] zᵢzᵢᵀ: −∂²ℓ* less ½ tr(B₁²) ≥ 0, see `Firth.twist`."""
    h: Floats


@dataclass(frozen=True)
class Firth:
    """ℓ* of rows that `read` brings, `count` of them."""

    read: Read
    count: int

    def __call__(self, v: Floats) -> FirthJet:
        """ℓ*, U* and A at v, by two readings; the gradient is NaN where A is singular."""
        at = self.glance(v)
        gradient = self.slope(at).gradient if at.inverse.size else np.full(v.size, np.nan)
        return FirthJet(at.value, gradient, at.information)

    def glance(self, v: Floats) -> Glance:
        """ℓ, A and log|A|, by one reading."""
        p, w = np.empty(self.count), np.empty(self.count)

        def look(block: Block) -> tuple[float, Floats]:
            eta = block.Z @ v
            small = np.exp(-np.abs(eta))
            up = 1 / (1 + small)
            p[block.rows] = np.where(eta >= 0, up, small * up)
            own = np.multiply(small * up, up, out=w[block.rows])
            gain = block.target * eta - np.maximum(eta, 0) - np.log1p(small)
            if block.cost.size:
                own = block.cost * own
                gain *= block.cost
            scaled = block.Z.T * np.sqrt(own)
            return gain.sum(), scaled @ scaled.T

        likelihood, A = added(self.read(look))
        upper, failed = dpotrf(A)
        if failed or not np.isfinite(likelihood):
            return Glance(v, float(likelihood), -np.inf, A, np.empty(0), p, w)
        inverse, _ = dpotri(upper)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        return Glance(v, float(likelihood), 2 * float(np.log(np.diag(upper)).sum()), A, inverse, p, w)

    def slope(self, at: Glance) -> Slope:
        """U*, and the part of the curvature that sums over rows give, by one reading."""
        h = np.empty(self.count)

        def look(block: Block) -> tuple[Floats, Floats]:
            Z, p, w = block.Z.T, at.p[block.rows], at.w[block.rows]
            own = block.cost * w if block.cost.size else w
            lever = np.multiply(own, np.einsum("ij,ij->j", at.inverse @ Z, Z), out=h[block.rows])
            error = block.target - p
            pull = (block.cost * error if block.cost.size else error) + lever * (0.5 - p)
            return Z @ pull, (Z * (own - lever * (0.5 - 3 * w))) @ Z.T

        gradient, curvature = added(self.read(look))
        return Slope(gradient, curvature, h)

    def twist(self, at: Glance) -> Floats:
        """T with uᵀTu = tr(B₁²), B₁ = A^−½(Σᵢ cᵢwᵢ(1 − 2pᵢ)(zᵢᵀu) zᵢzᵢᵀ)A^−½, by one reading of n·d³ products."""
        root = np.linalg.cholesky(at.inverse).T
        d = len(root)
        some = max(1, TWISTED // d**2)

        def look(block: Block) -> tuple[Floats]:
            slope = at.w[block.rows] * (1 - 2 * at.p[block.rows])
            if block.cost.size:
                slope = slope * block.cost
            total = np.zeros((d * d, d))
            for lo in range(0, len(slope), some):
                Z = block.Z[lo : lo + some]
                Y = Z @ root.T
                pairs = (Y[:, :, None] * Y[:, None, :]).reshape(len(Y), d * d)
                total += pairs.T @ (Z * slope[lo : lo + some, None])
            return (total,)

        (G,) = added(self.read(look))
        return G.T @ G  # type: ignore[no-any-return]


def added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The sums of the parts, place by place and in order."""
    total: tuple[Any, ...] | None = None
    for part in parts:
        total = part if total is None else tuple(one + other for one, other in zip(total, part, strict=True))
    assert total is not None, "there are rows"
    return total
