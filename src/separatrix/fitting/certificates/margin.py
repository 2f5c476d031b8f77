"""A proof that a minimum exists and is near, from the gradient and a part of the Hessian.

Let M ⪯ H(v) be the Hessian of some of the rows, S, and the penalty; ν² = gᵀM⁻¹g, ρ² = max_{i∈S} zᵢᵀM⁻¹zᵢ. Along any ray
the curvature of these rows falls no faster than e^−ρt, because |φ‴| ≤ φ″, and the other rows only add to it. So if
ρν < 1, the slope turns positive within −log(1 − ρν)/ρ of v in every direction: the minimum exists, lies within that
distance in the norm of M, and is at most [ρν + (1 − ρν) log(1 − ρν)]/ρ² lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows, Sparse
from ...data.categorical import TableRows, squares
from ...data.grams import FAR, TablePairs, levels_near
from ...data.tiles import Gram, shared
from ...losses.margin import Squared
from ...numerics.arrays import Floats
from ...numerics.linalg import EPS, PANEL, Factor, Root, factor
from ...numerics.threads import one_blas_thread
from ..risk.margin import BLOCK, Frame, Risk, block_rows

TOO_SURE = 1e-10
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
    only: bool = True
    """Whether it is the one minimum, not merely a local one."""
    witness: Floats | None = None
    """u with Hu ≈ g, where M is too large to be factored; classes × (weights, intercept) in the user's units, of two
    classes one row."""


def share_of_rows(n: int, d: int) -> float:
    """The part of the rows whose Hessian costs less than half a pass, four rows a weight at the least."""
    return 1.0 if n < 4096 else min(1.0, max(4 * d, min(10 * n / d, n / 12)) / n)


def bounds(
    risk: Risk, v: Floats, gradient: Floats, share: float, rooted: bool, spread: Callable[[Floats], Floats]
) -> Bounds | None:
    """ν, ρ and what follows from them, rounding included; None where nothing is proved.

    `share` is the part of the rows to be used; `rooted` asks for a root of M; `spread` turns M⁻¹ into the deviations of
    the user's coefficients.
    """
    evidence = Evidence(risk, v, share)
    M, radius = evidence.hessian(rooted=rooted)
    stray = stray_of(risk, radius)
    slip = stray * margin_rounding(risk.frame, risk.embed(v), radius)
    by_levels = evidence.by_levels(rooted=rooted)
    return conclusion(
        M,
        radius,
        gradient,
        evidence.leverage,
        slip,
        spread,
        share,
        len(risk.rows),
        stray=stray * longest_sum(risk.rows),
        lost=stray**2 * EPS * (longest_sum(risk.rows) + v.size) * v.size if by_levels else None,
    )


def conclusion(
    M: Floats | Root, radius: float, gradient: Floats, leverage: Callable[[Factor], float], slip: float,
    spread: Callable[[Floats], Floats], share: float, n: int, steepest: float = 0.25, stray: float | None = None,
    lost: float | None = None,
) -> Bounds | None:  # fmt: skip
    """What M proves: `radius` is the largest ‖z‖² of its rows, `slip` the rounding of a score, `steepest` ≥ φ″.

    `stray` is the rounding of the gradient's sums in units of a rounding of ‖z‖; None where lanes share the sums.
    `lost` is how far rounding can move an eigenvalue of M scaled to a diagonal of ones; None: what blocks of rows lose.
    """
    made = factor(M)
    if made is None:
        return None
    inverse, flat, scaled = inverted(made)
    lost = sum_rounding(n * share, gradient.size) if lost is None else lost
    shaken = lost * (math.sqrt(scaled) if isinstance(M, Root) else scaled) + slip
    if not shaken < 0.5:
        return None
    steady = math.sqrt(1 - shaken)
    cheap = math.sqrt(radius * flat) / steady
    sums = float(np.linalg.norm(made.whiten(gradient))) / steady + EPS * (stray or n / 16 + 100) * cheap
    rho, nu = cheap, sums + slip * steepest * cheap
    if rho * nu > EASY or nu > 2 * sums:  # the exact ρ is worth its price only where it decides
        rho = min(cheap, math.sqrt(leverage(made)) / steady)
        nu = sums + slip * steepest * rho
    return from_nu_and_rho(nu, rho, spread(inverse), share)


def from_nu_and_rho(nu: float, rho: float, spread: Floats, share: float) -> Bounds | None:
    """If ρν < 1: a distance of −log(1 − ρν)/ρ, a gap of [ρν + (1 − ρν) log(1 − ρν)]/ρ²."""
    x = rho * nu
    if not x < 1:
        return None
    if rho == 0:  # no row's curvature counts: what is left is the penalty's, and constant
        return Bounds(nu, rho, nu * nu / 2, nu, spread, share)
    return Bounds(nu, rho, gap_bound(x) / rho**2, -math.log1p(-x) / rho, spread, share)


def local_bounds(risk: Risk, v: Floats, gradient: Floats, spread: Callable[[Floats], Floats]) -> Bounds | None:
    """A proof that a local minimum is near, for a loss whose curvature is not always positive but changes slowly.

    Let M = H(v) be positive definite and |φ‴| ≤ κ. Along a ray of unit length in M the curvature, one at first, falls
    no faster than q = κρλ, λ the largest eigenvalue of Σ cᵢzᵢzᵢᵀ/C in the norm of M. So if 2qν < 1 the slope turns
    positive at t = (1 − √(1 − 2qν))/q at the latest, and a minimum lies within.
    """
    evidence = Evidence(risk, v, 1.0, all_rows=True)
    M, radius = evidence.hessian(rooted=False)
    G, _ = Evidence(replace(risk, loss=Squared(), ridge=0 * risk.ridge), 0 * v, 1.0, all_rows=True).hessian(
        rooted=False
    )
    G = np.asarray(G) / 2
    slip = stray_of(risk, radius) * margin_rounding(risk.frame, risk.embed(v), radius)
    found = local_conclusion(
        np.asarray(M), G, radius, gradient, evidence.leverage, slip, risk.loss.third, spread, len(risk.rows)
    )
    ridge = np.diag(risk.ridge[risk.active])
    if found is not None and factor(ridge + risk.loss.least_curvature * (1 + 1e-9) * G) is not None:
        return replace(found, only=True)  # H is positive definite everywhere: there is but one minimum
    return found


def local_conclusion(
    M: Floats, G: Floats, radius: float, gradient: Floats, leverage: Callable[[Factor], float], slip: float,
    third: float, spread: Callable[[Floats], Floats], n: int,
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


def margin_rounding(frame: Frame, v: Floats, radius: float) -> float:
    """How far a margin can be off by rounding: γ ‖z‖ ‖v‖."""
    return EPS * (frame.width + 4) * math.sqrt(radius) * float(np.linalg.norm(v))


def stray_of(risk: Risk, radius: float) -> float:
    """1 + 2‖c/s‖/‖z‖: how much larger are the terms of (xᵀw − cᵀw)s⁻¹ than those of zᵀw, where zeros are skipped."""
    if isinstance(risk.rows.X, TableRows):  # zeros of levels are; numbers have their centre
        levels = risk.rows.X.map.of_levels
        offset = float(np.linalg.norm(risk.frame.center[levels] / risk.frame.scale[levels]))
        return 1 + 2 * offset / max(math.sqrt(radius), 1e-300)
    if not (isinstance(risk.rows.X, Sparse) and risk.frame.near(FAR)):
        return 1.0
    return 1 + 2 * risk.frame.offset / max(math.sqrt(radius), 1e-300)


def longest_sum(rows: Rows) -> float:
    """How many roundings a term of the gradient's sums can meet: where zeros are skipped one for each later row."""
    if not isinstance(rows.X, Sparse | TableRows):
        return len(rows) / 16 + 100
    runs = [hi - lo for lo, hi in rows.runs()]
    return float(max(runs) + len(runs) + 100)


@dataclass(frozen=True)
class Evidence:
    """The rows S of a proof: the first part of every run, less those that are too sure to matter (φ″ < 10⁻¹⁰)."""

    risk: Risk
    v: Floats
    share: float
    all_rows: bool = False
    """Whether rows count that are too sure to matter, or are curved the wrong way."""

    def hessian(self, *, rooted: bool) -> tuple[Floats | Root, float]:
        """(1/C) Σ_{i∈S} cᵢφ″(mᵢ) zᵢzᵢᵀ + diag(ridge), and the largest ‖zᵢ‖² in S."""

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total: Any = Root(np.zeros((1, width))) if rooted else np.zeros((width, width))
            radius = 0.0
            for Z, weight in self._blocks(rows, lo, hi):
                radius = max(radius, float(np.einsum("ij,ij->i", Z, Z).max(initial=0)))
                if self.all_rows:
                    total += (Z.T * weight) @ Z
                    continue
                Z *= np.sqrt(weight)[:, None]
                total += Root.of(Z) if rooted else Z.T @ Z
            return total, radius

        width, radius = self.risk.active.size, 0.0
        if self.by_levels(rooted=rooted):
            return self._hessian_by_levels()
        if not rooted and shared(self.risk.rows.X, width):
            return self._shared_hessian(width)
        whole: Any = None
        for part, largest in self.risk.rows.each(run, blas=True):
            if whole is None:
                whole = part
            else:
                whole += part
            radius = max(radius, largest)
        return self.risk.penalised(whole), radius

    def by_levels(self, *, rooted: bool) -> bool:
        """Whether M is made of what each row of a table has."""
        rows = self.risk.rows
        if rooted or self.all_rows or not (rows.compiled and isinstance(rows.X, TableRows)):
            return False
        return levels_near(rows.X, self.risk.frame)

    def _hessian_by_levels(self) -> tuple[Floats, float]:
        """The same from what each row has; a row that does not count has the weight zero."""
        risk, frame = self.risk, self.risk.frame
        w, b = frame.to_user(risk.embed(self.v))

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            work, radius = TablePairs(rows, frame), 0.0
            stop = lo + math.ceil((hi - lo) * self.share)
            for start in range(lo, stop, BLOCK):
                here = slice(start, min(start + BLOCK, stop))
                part = rows.X[here]
                weight = risk.loss.curvature(rows.y[here] * (part @ w + b))
                counts = weight >= TOO_SURE
                if rows.cost.size:
                    counts &= rows.cost[here] > 0
                    weight = weight * rows.cost[here]
                radius = max(radius, float(squares(part, frame)[counts].max(initial=0.0)))
                work.add(np.where(counts, weight, 0.0), here.start, here.stop)
            return work.total(), radius

        parts = risk.rows.each(run)
        whole, radius = next(parts)
        for part, largest in parts:
            whole += part
            radius = max(radius, largest)
        return risk.penalised(whole), radius

    def _shared_hessian(self, width: int) -> tuple[Floats, float]:
        """The same with one sum for all threads."""
        rows, radius = self.risk.rows, 0.0
        gram = Gram(width, rows.map)
        with one_blas_thread():
            for side in rows.sides():
                for lo, hi in rows.runs():
                    for Z, weight in self._blocks(side, lo, hi):
                        radius = max(radius, float(np.einsum("ij,ij->i", Z, Z).max(initial=0)))
                        if not self.all_rows:
                            Z *= np.sqrt(weight)[:, None]
                        gram.add(Z, weight[:, None] * Z if self.all_rows else None)
        return self.risk.penalised(gram.total()), radius

    def leverage(self, made: Factor) -> float:
        """max_{i∈S} zᵢᵀM⁻¹zᵢ."""

        def run(rows: Rows, lo: int, hi: int) -> float:
            sizes = (np.square(made.whiten(Z.T)).sum(axis=0).max(initial=0) for Z, _ in self._blocks(rows, lo, hi))
            return float(max(sizes, default=0.0))

        return float(max(self.risk.rows.each(run, blas=True))) * (1 + 1e-10)

    def _blocks(self, rows: Rows, lo: int, hi: int) -> Iterator[tuple[Floats, Floats]]:
        """zᵢ and cᵢφ″(mᵢ), block by block."""
        stop, v = lo + math.ceil((hi - lo) * self.share), self.risk.embed(self.v)
        size = block_rows(v.size)
        for start in range(lo, stop, size):
            block = slice(start, min(start + size, stop))
            Z = self.risk.frame.coordinates(rows.X[block])
            weight = self.risk.loss.curvature(rows.y[block] * (Z @ v))
            counts = np.full(weight.size, True) if self.all_rows else weight >= TOO_SURE
            if rows.cost.size:
                counts &= rows.cost[block] > 0
                weight = weight * rows.cost[block]
            if counts.all() and self.risk.active.size == Z.shape[1]:
                yield Z, weight
            else:
                yield Z[np.ix_(counts, self.risk.active)], weight[counts]
