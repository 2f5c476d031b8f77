"""Firth's penalised likelihood of two classes: its value, slope and curvature from rows that are read block by block.

ℓ*(v) = Σᵢ cᵢ[tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)] + ½ log|A|, A = Σᵢ cᵢwᵢ zᵢzᵢᵀ, pᵢ = σ(zᵢᵀv), wᵢ = pᵢ(1 − pᵢ). The rows
are read twice for a slope: the leverages hᵢ = cᵢwᵢ zᵢᵀA⁻¹zᵢ need all of A. A must have full rank: the coordinates z of
a row are those of independent columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from ...numerics.arrays import Floats

FAR = 700.0
"""Scores whose exponential is a number."""
TWISTED = 1 << 20
"""Numbers of products of coordinates that are held at a time."""


class Block(NamedTuple):
    """Some rows that count."""

    rows: slice
    """Their places among all rows that count."""
    Z: Floats
    """zᵢ, one a row; quickest in Fortran's order."""
    target: Floats
    """tᵢ, the probability of the second class; none: all one, the rows of the first class being −zᵢ."""
    cost: Floats
    """cᵢ > 0; none: all one."""
    scratch: Floats | None = None
    """Room for Zᵀ and a row more, where the same block is looked at again and again: new memory is slow."""


Read = Callable[[Callable[[Block], tuple[Any, ...]]], Iterable[tuple[Any, ...]]]
"""Calls a function with every block and brings back what it says, in order: block by block, or sums over blocks."""


def in_memory(Z: Floats, target: Floats, cost: Floats) -> Read:
    """All rows as one block; without targets rows of the first class are to be turned to −zᵢ, which changes nothing."""
    block = Block(slice(0, len(Z)), Z, target, cost, np.empty((Z.shape[1] + 1, len(Z))))
    return lambda look: (look(block),)


def room(block: Block) -> Floats:
    """Its scratch, or new memory."""
    return np.empty((block.Z.shape[1] + 1, len(block.Z))) if block.scratch is None else block.scratch


@dataclass(frozen=True)
class FirthJet:
    """ℓ*, its gradient, and the information A."""

    value: float
    gradient: Floats
    information: Floats


class FirthPoint(NamedTuple):
    """What one reading of the rows says about v."""

    v: Floats
    likelihood: float
    """Σᵢ cᵢ[tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)]."""
    log_determinant: float
    """log|A|; −∞ where A is singular to working precision."""
    information: Floats
    """A."""
    root: Floats
    """U⁻¹ of A = UᵀU; empty where A is singular."""
    half: Floats
    """½ − pᵢ."""
    w: Floats
    error: Floats
    """tᵢ − pᵢ, to the last digit where a row is all but certain and right."""

    @property
    def value(self) -> float:
        """ℓ* = ℓ + ½ log|A|."""
        return self.likelihood + self.log_determinant / 2

    @property
    def inverse(self) -> Floats:
        """A⁻¹; empty where A is singular."""
        return self.root @ self.root.T

    def solve(self, g: Floats) -> Floats:
        """A⁻¹g."""
        return self.root @ (self.root.T @ g)


class FirthSlope(NamedTuple):
    """What a second reading adds."""

    gradient: Floats
    """U* = Σᵢ zᵢ[cᵢ(tᵢ − pᵢ) + hᵢ(½ − pᵢ)]."""
    h: Floats
    """hᵢ = cᵢwᵢqᵢ."""
    q: Floats
    """qᵢ = zᵢᵀA⁻¹zᵢ."""


class RowTerms(NamedTuple):
    """Rows of a `FirthPoint`, to be filled in."""

    half: Floats
    w: Floats
    error: Floats


def _loss(eta: Floats, target: Any, seen: RowTerms) -> Floats:
    """max(η, 0) − tη + log(1 + e^−|η|)."""
    small = np.exp(-np.abs(eta))
    loss = np.log1p(small)
    less = np.divide(small, 1 + small, out=small)
    np.multiply(less, 1 - less, out=seen.w)
    np.copysign(0.5 - less, -eta, out=seen.half)
    np.add(target - (eta >= 0), np.copysign(less, eta), out=seen.error)
    loss += np.maximum(eta, 0)
    loss -= target * eta
    return loss  # type: ignore[no-any-return]


def _loss_of_own(against: Floats, seen: RowTerms) -> Floats:
    """log(1 + e^−η), t = 1, in fewer steps and in the place of −η; e^−η must not overflow."""
    odds = np.exp(against, out=against)
    one = 1 + odds
    np.divide(odds, one, out=seen.error)
    np.divide(seen.error, one, out=seen.w)
    np.subtract(seen.error, 0.5, out=seen.half)
    return np.log1p(odds, out=odds)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Firth:
    """ℓ* of rows that `read` brings, `count` of them."""

    read: Read
    count: int

    def __call__(self, v: Floats) -> FirthJet:
        """ℓ*, U* and A at v, by two readings; the gradient is NaN where A is singular."""
        at = self.glance(v)
        gradient = self.slope(at).gradient if at.root.size else np.full(v.size, np.nan)
        return FirthJet(at.value, gradient, at.information)

    def glance(self, v: Floats) -> FirthPoint:
        """ℓ, A and log|A|, by one reading."""
        half, w, error = np.empty(self.count), np.empty(self.count), np.empty(self.count)

        def look(block: Block) -> tuple[float, Floats]:
            seen, Z = RowTerms(half[block.rows], w[block.rows], error[block.rows]), block.Z.T
            against = block.Z @ -v
            if not block.target.size and float(np.maximum.reduce(against)) < FAR:
                loss = _loss_of_own(against, seen)
            else:
                eta = 0.0 - against  # not −against: a score of −0 has the sign of one class and the side of the other
                loss = _loss(eta, block.target if block.target.size else 1.0, seen)
            own = seen.w
            if block.cost.size:
                own = block.cost * own
                loss *= block.cost
            return -np.add.reduce(loss), np.multiply(Z, own, out=room(block)[:-1]) @ Z.T

        likelihood, A = added(self.read(look))
        return self._seen(v, likelihood, A, RowTerms(half, w, error))

    def at_zero(self) -> tuple[FirthPoint, Floats]:
        """v = 0, where p = ½ and A = ¼ Σᵢ cᵢzᵢzᵢᵀ, and its U* = Σᵢ cᵢ(tᵢ − ½)zᵢ, by one reading."""
        error = np.full(self.count, 0.5)

        def look(block: Block) -> tuple[float, Floats, Floats]:
            pull, Z = error[block.rows], block.Z.T
            if block.target.size:
                np.subtract(block.target, 0.5, out=pull)
            if block.cost.size:
                own = np.multiply(Z, block.cost, out=room(block)[:-1])
                return float(block.cost.sum()), own @ Z.T, own @ pull
            sums = np.empty((len(Z), len(Z)))
            np.matmul(Z, Z[:-1].T, out=sums[:, :-1])  # for few columns a symmetric product would be slower
            np.matmul(Z, Z[-1], out=sums[:, -1])
            return float(len(pull)), sums, Z @ pull

        total, sums, slope = added(self.read(look))
        seen = RowTerms(np.zeros(self.count), np.full(self.count, 0.25), error)
        return self._seen(np.zeros(len(sums)), -total * math.log(2), sums / 4, seen), slope

    @staticmethod
    def _seen(v: Floats, likelihood: float, A: Floats, rows: RowTerms) -> FirthPoint:
        """What follows from A."""
        upper, failed = dpotrf(A)
        if failed or not math.isfinite(likelihood):
            return FirthPoint(v, float(likelihood), -np.inf, A, np.empty((0, 0)), *rows)
        log_determinant = 2 * math.fsum(map(math.log, upper.diagonal().tolist()))
        return FirthPoint(v, float(likelihood), log_determinant, A, dtrtri(upper)[0], *rows)

    def slope(self, at: FirthPoint) -> FirthSlope:
        """U* and the leverages, by one reading."""
        h, q, half = np.empty(self.count), np.empty(self.count), at.root.T

        def look(block: Block) -> tuple[Floats]:
            Z, rows = block.Z.T, block.rows
            whitened = np.matmul(half, Z, out=room(block)[:-1])
            lever = np.multiply(at.w[rows], np.einsum("ij,ij->j", whitened, whitened, out=q[rows]), out=h[rows])
            pull = at.error[rows]
            if block.cost.size:
                lever *= block.cost
                pull = pull * block.cost
            own = at.half[rows] * lever
            own += pull
            return (Z @ own,)

        (gradient,) = added(self.read(look))
        return FirthSlope(gradient, h, q)

    def curvature(self, at: FirthPoint, slope: FirthSlope) -> Floats:
        """Σᵢ [cᵢwᵢ − ½hᵢ(1 − 6wᵢ)] zᵢzᵢᵀ = −∂²ℓ* − ½ tr(B₁²), by one reading; for tr(B₁²) ≥ 0 see `twist`."""

        def look(block: Block) -> tuple[Floats]:
            Z, w = block.Z.T, at.w[block.rows]
            bend = (block.cost * w if block.cost.size else w) - slope.h[block.rows] * (0.5 - 3 * w)
            return (np.multiply(Z, bend, out=room(block)[:-1]) @ Z.T,)

        (found,) = added(self.read(look))
        return found  # type: ignore[no-any-return]

    def twist(self, at: FirthPoint) -> Floats:
        """T with uᵀTu = tr(B₁²), B₁ = A^−½(Σᵢ cᵢwᵢ(1 − 2pᵢ)(zᵢᵀu) zᵢzᵢᵀ)A^−½, by one reading."""
        return self._twist_by_pairs(at) if pairs_are_fewer(self.count, at.v.size) else self._twist_by_columns(at)

    def twist_along(self, at: FirthPoint, u: Floats) -> Floats:
        """Tu = Σᵢ sᵢ(yᵢᵀB₁yᵢ)zᵢ, sᵢ = cᵢwᵢ(1 − 2pᵢ), yᵢ = A^−½zᵢ, by two readings of n·d² products."""

        def slopes(block: Block) -> Floats:
            slope = 2 * at.w[block.rows] * at.half[block.rows]
            return slope * block.cost if block.cost.size else slope

        def bend(block: Block) -> tuple[Floats]:
            own = slopes(block) * (block.Z @ u)
            return (np.multiply(block.Z.T, own, out=room(block)[:-1]) @ block.Z,)

        (C,) = added(self.read(bend))
        inverse = at.inverse
        E = inverse @ C @ inverse

        def pull(block: Block) -> tuple[Floats]:
            Z = block.Z.T
            levers = np.einsum("ij,ij->j", np.matmul(E, Z, out=room(block)[:-1]), Z)
            return (Z @ (slopes(block) * levers),)

        (found,) = added(self.read(pull))
        return found  # type: ignore[no-any-return]

    def _twist_by_pairs(self, at: FirthPoint) -> Floats:
        """T = UᵀYᵀ diag(s) (YYᵀ ∘ YYᵀ) diag(s) YU, A = UᵀU, Y = ZU⁻¹, sᵢ = cᵢwᵢ(1 − 2pᵢ): n²·d products."""
        Y, s = np.empty((self.count, at.v.size)), 2 * at.w * at.half

        def look(block: Block) -> tuple[int]:
            np.matmul(block.Z, at.root, out=Y[block.rows])
            if block.cost.size:
                s[block.rows] *= block.cost
            return (0,)

        added(self.read(look))
        sloped, half, some = Y * s[:, None], np.zeros_like(at.information), max(1, TWISTED // self.count)
        for lo in range(0, self.count, some):  # each pair of rows once
            hi = lo + some
            pairs = Y[lo:hi] @ Y[lo:].T
            np.square(pairs, out=pairs)
            pairs[:, : len(pairs)] /= 2
            half += sloped[lo:hi].T @ (pairs @ sloped[lo:])
        upper, _ = dpotrf(at.information)
        return upper.T @ (half + half.T) @ upper  # type: ignore[no-any-return]

    def _twist_by_columns(self, at: FirthPoint) -> Floats:
        """T = Σⱼₖ GⱼₖGⱼₖᵀ, Gⱼₖ = Σᵢ sᵢyᵢⱼyᵢₖzᵢ, each pair of columns once: n·d³/2 products."""
        root, _ = dtrtri(dpotrf(at.information)[0])  # A = UᵀU, so that the rows of ZU⁻¹ are A^−½zᵢ but for a rotation
        j, k = np.triu_indices(len(root))
        some = max(1, TWISTED // len(j))

        def look(block: Block) -> tuple[Floats]:
            slope = 2 * at.w[block.rows] * at.half[block.rows]
            if block.cost.size:
                slope = slope * block.cost
            total = np.zeros((len(j), len(root)))
            for lo in range(0, len(slope), some):
                Z = block.Z[lo : lo + some]
                Y = root.T @ Z.T
                total += (Y[j] * Y[k] * slope[lo : lo + some]) @ Z
            return (total,)

        (G,) = added(self.read(look))
        own = G[j == k]
        return 2 * G.T @ G - own.T @ own  # type: ignore[no-any-return]


def pairs_are_fewer(n: int, d: int) -> bool:
    """Whether pairs of rows are fewer than pairs of columns, for every row, by so much that it pays."""
    return 2 * n < d * d


def inverse_of(upper: Floats) -> Floats:
    """(UᵀU)⁻¹, U upper triangular with zeros below."""
    half, _ = dtrtri(upper)
    return half @ half.T  # type: ignore[no-any-return]


def added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The sums of the parts, place by place and in order."""
    total: tuple[Any, ...] | None = None
    for part in parts:
        total = part if total is None else tuple(one + other for one, other in zip(total, part, strict=True))
    assert total is not None, "there are rows"
    return total
