"""The proof that a minimum of a margin loss exists and is near, from a part of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows
from ...data.categorical import squares
from ...data.grams import CategoricalPairs, Gram, levels_near, shared, skipped_offset
from ...losses.margin import Squared
from ...losses.penalty import NoPenalty
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import Factor, Root, factor
from ...numerics.threads import one_blas_thread
from ..problem import Bounds
from ..risk.margin import BLOCK, Jet, Risk, block_rows
from ..solvers.newton import Latest
from .proof import (
    TOO_SURE,
    ProofRows,
    Spread,
    conclusion,
    intercept_rounding,
    local_conclusion,
    margin_rounding,
    radius_of,
)

REACHES = (1e-3, 1e-6, 0.1)
"""How far margins may move in a proof for a loss whose curvature jumps; narrow where rows are few, wide far away."""


def bounds(
    risk: Risk, v: Floats, at: Jet, share: float, rooted: bool, spread: Spread, known: Latest | None = None
) -> Bounds | None:
    """ν, ρ and what follows from them, rounding included; None where nothing is proved.

    `share` is the part of the rows to be used; `rooted` asks for a root of M; `spread` turns M⁻¹ into the deviations of
    the user's coefficients; `known` is the Hessian of all rows here or near.
    """
    if math.isfinite(risk.loss.twist):
        return _bounds(MarginProofRows(risk, v, share, known=known), at, rooted, spread)
    each = (_bounds(MarginProofRows(risk, v, share, reach=reach), at, rooted, spread) for reach in REACHES)
    return next((found for found in each if found is not None), None)


def _bounds(chosen: MarginProofRows, at: Jet, rooted: bool, spread: Spread) -> Bounds | None:
    """What these rows prove."""
    risk, v, twist = chosen.risk, chosen.v, chosen.risk.loss.twist
    M, radius = chosen.hessian(rooted=rooted)
    stray = stray_of(risk, radius)
    slip = stray * margin_rounding(risk.frame, risk.embed(v), radius)
    by_levels = chosen.by_levels(rooted=rooted)
    room = chosen.reach - slip if chosen.reach else 1 / twist if twist else math.inf
    if not room > 0:
        return None
    steepness = risk.loss.steepness(max(1.0, at.value))
    found = conclusion(
        M,
        radius,
        at.gradient,
        chosen.leverage,
        slip,
        spread,
        chosen.share,
        len(risk.rows),
        steepness,
        stray=stray * risk.rows.longest_sum,
        lost=stray**2 * EPS * (risk.rows.longest_sum + v.size) * v.size if by_levels else None,
        room=room,
        steady=chosen.reach > 0,
        stored=intercept_rounding(risk.frame, risk.embed(v)) * math.sqrt(steepness[1]),
    )
    return None if found is None else replace(found, sample=chosen.sample())


def local_bounds(risk: Risk, v: Floats, gradient: Floats, spread: Spread) -> Bounds | None:
    """A proof that a local minimum is near, for a loss whose curvature is not always positive but changes slowly.

    Let M = H(v) be positive definite and |φ‴| ≤ κ. Along a ray of unit length in M the curvature, one at first, falls
    no faster than q = κρλ, λ the largest eigenvalue of Σ cᵢzᵢzᵢᵀ/C in the norm of M. So if 2qν < 1 the slope turns
    positive at t = (1 − √(1 − 2qν))/q at the latest, and a minimum lies within.
    """
    chosen = MarginProofRows(risk, v, 1.0, all_rows=True)
    M, radius = chosen.hessian(rooted=False)
    G, _ = MarginProofRows(replace(risk, loss=Squared(), penalty=NoPenalty()), 0 * v, 1.0, all_rows=True).hessian(
        rooted=False
    )
    G = np.asarray(G) / 2
    slip = stray_of(risk, radius) * margin_rounding(risk.frame, risk.embed(v), radius)
    found = local_conclusion(
        np.asarray(M), G, radius, gradient, chosen.leverage, slip, risk.loss.third, spread, len(risk.rows)
    )
    ridge = np.diag(risk.penalty.curvature(risk.embed(v))[risk.active])
    if found is not None and factor(ridge + risk.loss.least_curvature * (1 + 1e-9) * G) is not None:
        return replace(found, only=True)  # H is positive definite everywhere: there is but one minimum
    return found


def stray_of(risk: Risk, radius: float) -> float:
    """1 + 2‖c/s‖/‖z‖: how much larger are the terms of (xᵀw − cᵀw)s⁻¹ than those of zᵀw, where zeros are skipped."""
    return 1 + 2 * skipped_offset(risk.rows.kind, risk.frame) / max(math.sqrt(radius), 1e-300)


@dataclass(frozen=True)
class MarginProofRows(ProofRows):
    """The rows S of a proof for a margin loss; one is too sure to matter if φ″ < 10⁻¹⁰."""

    risk: Risk
    reach: float = 0.0
    """How far margins may move: M is made of bounds from below on φ″ within that."""

    def hessian(self, *, rooted: bool) -> tuple[Floats | Root, float]:
        """(1/C) Σ_{i∈S} cᵢφ″(mᵢ) zᵢzᵢᵀ + the penalty's, and the largest ‖zᵢ‖² in S."""

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total: Any = Root(np.zeros((1, width))) if rooted else np.zeros((width, width))
            radius = 0.0
            for Z, weight in self._blocks(rows, lo, hi):
                radius = max(radius, radius_of(Z))
                if self.all_rows:
                    total += (Z.T * weight) @ Z
                    continue
                Z *= np.sqrt(weight)[:, None]
                total += Root.of(Z) if rooted else Z.T @ Z
            return total, radius

        width = self.risk.active.size
        if not rooted and self.known is not None and self._all_count():
            return self._carried(self.known), radius_of(self._written.Z[:, self.risk.active])
        if self.by_levels(rooted=rooted):
            return self._hessian_by_levels()
        if not rooted and shared(self.risk.rows, width):
            return self._shared_hessian(width)
        whole, radius = self._sum(run)
        return self.risk.penalised(whole, self.risk.embed(self.v)), radius

    def _all_count(self) -> bool:
        """Whether M may be the Hessian that the fit has found: of few rows, none of which is left out of a proof."""
        if self.risk.written is None or self.share < 1 or self.reach:
            return False
        Z, y, cost = self._written
        weight = self.risk.loss.curvature(y * (Z @ self.risk.embed(self.v)))
        return bool((weight >= TOO_SURE).all() and (cost > 0).all())

    def _carried(self, known: Latest) -> Floats:
        """H(u) e^−kδ ⪯ H(v), δ = max |zᵢᵀ(v − u)|, because |φ‴| ≤ kφ″."""
        if known.place is self.v:
            return np.asarray(known.hessian)
        moved = self._written.Z @ self.risk.embed(self.v - known.place)
        return np.asarray(known.hessian) * math.exp(-self.risk.loss.twist * float(np.abs(moved).max()) * (1 + 1e-9))

    def _bend(self, m: Floats) -> Floats:
        """φ″(m), or a bound from below on it within reach."""
        loss = self.risk.loss
        return loss.nearby(m, self.reach) if self.reach else loss.curvature(m)  # type: ignore[no-any-return]

    def by_levels(self, *, rooted: bool) -> bool:
        """Whether M is made of what each row of a table has."""
        rows = self.risk.rows
        return not (rooted or self.all_rows) and rows.compiled and levels_near(rows.kind, self.risk.frame)

    def _hessian_by_levels(self) -> tuple[Floats, float]:
        """M of a table, from what each row has; a row that does not count has the weight zero."""
        risk, frame = self.risk, self.risk.frame
        w, b = frame.to_user(risk.embed(self.v))

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            work, radius = CategoricalPairs(rows, frame), 0.0
            stop = self._stop(lo, hi)
            for start in range(lo, stop, BLOCK):
                here = slice(start, min(start + BLOCK, stop))
                part = rows.block[here]
                weight = self._bend(rows.y[here] * (part @ w + b))
                counts = weight >= TOO_SURE
                if rows.cost.size:
                    counts &= rows.cost[here] > 0
                    weight = weight * rows.cost[here]
                radius = max(radius, float(squares(part, frame)[counts].max(initial=0.0)))
                work.add(np.where(counts, weight, 0.0), here.start, here.stop)
            return work.total(), radius

        whole, radius = self._sum(run, blas=False)
        return risk.penalised(whole, risk.embed(self.v)), radius

    def _shared_hessian(self, width: int) -> tuple[Floats, float]:
        """M with one sum for all threads."""
        rows, radius = self.risk.rows, 0.0
        gram = Gram(width, rows.map)
        with one_blas_thread():
            for side in rows.sides():
                for lo, hi in rows.runs():
                    for Z, weight in self._blocks(side, lo, hi):
                        radius = max(radius, radius_of(Z))
                        if not self.all_rows:
                            Z *= np.sqrt(weight)[:, None]
                        gram.add(Z, weight[:, None] * Z if self.all_rows else None)
        return self.risk.penalised(gram.total(), self.risk.embed(self.v)), radius

    def leverage(self, made: Factor) -> float:
        """max_{i∈S} zᵢᵀM⁻¹zᵢ."""

        def run(rows: Rows, lo: int, hi: int) -> float:
            sizes = (np.square(made.whiten(Z.T)).sum(axis=0).max(initial=0) for Z, _ in self._blocks(rows, lo, hi))
            return float(max(sizes, default=0.0))

        return self._largest(run)

    def _blocks(self, rows: Rows, lo: int, hi: int) -> Iterator[tuple[Floats, Floats]]:
        """zᵢ and cᵢφ″(mᵢ), block by block."""
        stop, v = self._stop(lo, hi), self.risk.embed(self.v)
        size = block_rows(v.size)
        for start in range(lo, stop, size):
            block = slice(start, min(start + size, stop))
            Z = self._coordinates(rows, block)
            weight = self._bend(rows.y[block] * (Z @ v))
            counts = np.full(weight.size, True) if self.all_rows else weight >= TOO_SURE
            if rows.cost.size:
                counts &= rows.cost[block] > 0
                weight = weight * rows.cost[block]
            if counts.all() and self.risk.active.size == Z.shape[1]:
                yield Z, weight
            else:
                yield Z[np.ix_(counts, self.risk.active)], weight[counts]

    def _coordinates(self, rows: Rows, block: slice) -> Floats:
        """A copy of these rows in the frame."""
        written = self.risk.written
        if written is not None:
            return written.Z[block].copy()
        return self.risk.frame.coordinates(rows.dense(block.start, block.stop))
