"""Proofs for so many columns that no matrix of them is made: the penalty bounds what the Hessian would tell.

Rows x are counted from the frame's centre, and so are the intercepts.

Let β be the curvature of the intercept and c the mean of the rows by curvature, β = Σ cᵢbᵢ/C and c = Σ cᵢbᵢxᵢ/Cβ with
bᵢ = φ″, or of K classes bᵢ = minₖpᵢₖ. What the intercept leaves of the Hessian is at least l2 on the weights, so
(r, r₀)ᵀH⁻¹(r, r₀) ≤ ‖r − r₀c‖²/l2 + r₀²/β, of K classes on weights that add up to zero, class by class. This bounds ρ,
with (r, r₀) a row (x, 1), twice it where a row moves two scores against each other; and in
√(gᵀH⁻¹g) ≤ √(uᵀHu) + √(rᵀH⁻¹r), r = g − Hu, what a witness u leaves over. Without an intercept c = 0 and r₀ = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows
from ...data.frame import BLOCK
from ...data.source import Source
from ...losses.softmax import softmax
from ...numerics.arrays import EPS, Floats
from ..problem import Bounds
from ..risk.margin import Jet, Risk
from ..risk.softmax import ClassRisk, Pull
from .proof import from_nu_and_rho
from .softmax import steepness, strength

TRIES = 200
"""Products with the Hessian that a witness may cost."""
USELESS = 0.1
"""Where what is left of the slope adds so little, more products would not help."""
ROOMY = 0.1
"""(ρν)² that is so far below one that a sharper ρ proves no more."""


@dataclass(frozen=True)
class Reach:
    """How far the rows reach from a centre: the largest ‖x‖², and the most numbers in one of them."""

    square: float
    numbers: int

    @classmethod
    def of(cls, rows: Source, center: Floats) -> Reach:
        """Of the rows that count."""
        longest = max(rows.each(lambda part, lo, hi: part.block[lo:hi].longest))
        return cls(largest(rows, center), longest)


def largest(rows: Source, center: Floats) -> float:
    """max ‖x − c‖² over the rows that count, rounding included."""
    return float(max(rows.each(lambda part, lo, hi: lengths(part, lo, hi, center).max(initial=0.0))))


def lengths(rows: Rows, lo: int, hi: int, center: Floats) -> Floats:
    """‖xᵢ − c‖² of these rows, rounding included; zero for those that do not count."""
    own, found = float(center @ center), np.empty(hi - lo)
    for start in range(lo, hi, BLOCK):
        stop = min(start + BLOCK, hi)
        here = rows.block[start:stop]
        length = here.squares()
        found[start - lo : stop - lo] = (
            length - 2 * (here @ center) + own + 64 * EPS * rows.shape[1] ** 0.5 * (length + own)
        )
    found *= 1 + 1e-10
    return found * (rows.costs[lo:hi] > 0) if rows.cost.size else found


@dataclass(frozen=True)
class Norm:
    """√(‖r − r₀c‖²/l2 + r₀²/β): no less than that of H⁻¹; of all classes together."""

    l2: float
    center: Floats
    level: float
    """β; infinite without an intercept."""
    stray: float
    """How far c can be off by rounding."""

    @classmethod
    def at(cls, risk: Any, v: Floats, shaken: float, reach: Reach) -> Norm | None:
        """At weights v, if the intercept is curved there; `shaken` is the relative error of a curvature."""
        frame = risk.frame
        l2 = strength(risk) * (1 - 8 * EPS)
        if not frame.lifted:
            return cls(l2, np.zeros(frame.center.size), math.inf, 0.0)
        pull = least_curvatures(risk, v) / risk.rows.weight
        level = float(pull[-1])
        if not level > 0:
            return None
        return cls(l2, pull[:-1] * frame.scale / level, level * (1 - shaken), 2 * shaken * math.sqrt(reach.square))

    def of(self, weights: Floats, levels: Floats) -> float:
        """Of (r, r₀) in the user's units, classes × columns and one for each class."""
        left = np.linalg.norm(weights - np.outer(levels, self.center), axis=1) + self.stray * np.abs(levels)
        return math.sqrt(float(left @ left) / self.l2 + float(levels @ levels) / self.level)

    def farthest(self, far: float) -> float:
        """The largest of a row (x, 1) that is so far from c at the most."""
        return math.sqrt((far + self.stray) ** 2 / self.l2 + 1 / self.level)

    def most(self, reach: Reach) -> float:
        """No less than √Σⱼ of (|x|, 1) in this norm, whatever the signs: what roundings of sums are relative to."""
        far = math.sqrt(reach.square) + float(np.linalg.norm(self.center)) + self.stray
        return far / math.sqrt(self.l2) + 1 / math.sqrt(self.level)

    def spread(self, center: Floats) -> Floats:
        """√(H⁻¹)ⱼⱼ at the most, of each weight and of the user's intercept, rows being counted from this centre."""
        level = 0.0
        if math.isfinite(self.level):
            far = float(np.linalg.norm(center + self.center)) + self.stray
            level = math.sqrt(1 / self.level + far**2 / self.l2)
        return np.append(np.full(center.size, 1 / math.sqrt(self.l2)), level)


def least_curvatures(risk: Any, v: Floats) -> Floats:
    """Σᵢ cᵢbᵢ (zᵢ, 1), bᵢ = φ″ or minₖpᵢₖ."""
    if isinstance(risk, Risk):
        sums: Floats = risk.product(v, np.append(np.zeros(v.size - 1), 1.0)) * risk.rows.weight
        return sums

    weights = risk.read(risk.embed(v))

    def run(rows: Rows, lo: int, hi: int) -> Floats:
        sums = Pull(1, risk.frame.center, risk.packed(rows))
        for block in risk.blocks(rows, lo, hi):
            sums.add(block, softmax(block.scores(weights), block.y).p.min(axis=0)[None])
        return sums.framed(risk.frame)

    return risk.rows.fold(run, blas=True)[0]  # type: ignore[no-any-return]


def penalised_bounds(
    risk: Risk | ClassRisk,
    v: Floats,
    at: Jet,
    solve: Callable[[Floats], Floats],
    goal: float,
    reach: Reach,
    most: float,
) -> tuple[Bounds | None, int]:
    """ν by a witness and ρ by the penalty, with the number of products with H that it took.

    No more than `most` are made to find the witness. `solve` gives H⁻¹g, roughly; of K classes everything adds up to
    zero over them.
    """
    K, many = (risk.classes, 2.0) if isinstance(risk, ClassRisk) else (1, 1.0)
    slip, summed = many * _slip(risk, v, reach), EPS * (risk.rows.longest_sum + 8)
    shaken = slip + summed
    norm = Norm.at(risk, v, shaken, reach) if shaken < 0.1 else None
    if norm is None:
        return None, 1
    twist, steep, least = (
        (risk.loss.twist, *risk.loss.steepness(at.value))
        if isinstance(risk, Risk)
        else (math.sqrt(many), many * min(1.0, at.value), steepness(at.value))
    )
    rho = twist * norm.farthest(_far(risk, norm, reach, goal))
    floor = (
        slip * least * rho
        + summed * steep * norm.most(reach)
        + 4 * EPS * math.sqrt(2 * risk.penalty.value(risk.embed(v).reshape(K, -1)))
    )
    enough = 0.9 * min(math.sqrt(2 * goal), 1 / rho) - floor
    if enough <= 0:  # rounding alone is more
        return None, 2
    witness = Witness(risk, v, at.gradient, norm)
    u, tries = witness.sought(solve, enough, min(TRIES, most))
    nu = witness.bound(u, shaken, reach) + floor
    found = from_nu_and_rho(nu, rho, norm.spread(risk.frame.center), 1.0)
    if found is None:
        return None, tries + 2
    spread = found.spread if K == 1 else np.tile(found.spread, (K, 1))
    return replace(found, spread=spread, witness=witness.in_users_units(u)), tries + 2


def _far(risk: Any, norm: Norm, reach: Reach, goal: float) -> float:
    """No less than the largest ‖x − c‖: another look at the rows only where it could help a proof."""
    bound = math.sqrt(reach.square) + float(np.linalg.norm(norm.center))
    if 2 * goal * norm.farthest(bound) ** 2 <= ROOMY:
        return bound
    return math.sqrt(largest(risk.rows, risk.frame.center + norm.center))


def _slip(risk: Any, v: Floats, reach: Reach) -> float:
    """How far a score can be off by rounding: γ (‖x‖ ‖w‖ + |b|)."""
    weights, level = risk.frame_parts(v)
    size = math.sqrt(reach.square) * np.linalg.norm(weights, axis=1) + np.abs(level)
    return float(EPS * (reach.numbers + 4) * size.max())


class Witness:
    """u with Hu ≈ g, by conjugate gradients."""

    def __init__(self, risk: Any, v: Floats, gradient: Floats, norm: Norm) -> None:
        self.risk, self.v, self.gradient, self.norm = risk, v, gradient, norm

    def left(self, r: Floats) -> float:
        """√(rᵀH⁻¹r) at the most: a slope is in units of weights, so the frame's scales come back."""
        R, d = self.risk.embed(r).reshape(-1, self.risk.frame.width), self.risk.frame.center.size
        levels = R[:, d] if self.risk.frame.lifted else np.zeros(len(R))
        return self.norm.of(R[:, :d] * self.risk.frame.scale, levels)

    def sought(self, solve: Callable[[Floats], Floats], enough: float, most: float) -> tuple[Floats, int]:
        """u, and the products with H it took: until √(uᵀHu) + what is left is enough, or cannot become so."""
        u, r, Hu = (np.zeros_like(self.gradient) for _ in range(3))
        r += self.gradient
        best = (u.copy(), self.left(r))
        tries, z = 0, solve(r)
        p, size = z.copy(), float(r @ z)
        while tries < most and best[1] > enough and size > 0:
            Hp = self.risk.product(self.v, p)
            tries += 1
            bend = float(p @ Hp)
            if not bend > 0:
                break
            u, Hu, r = u + size / bend * p, Hu + size / bend * Hp, r - size / bend * Hp
            own, left = math.sqrt(max(float(u @ Hu), 0.0)), self.left(r)
            if own + left < best[1]:
                best = (u.copy(), own + left)
            if left < USELESS * own:
                break
            z = solve(r)
            size, before = float(r @ z), size
            p = z + size / before * p
        return best[0], tries

    def bound(self, u: Floats, shaken: float, reach: Reach) -> float:
        """√(uᵀHu) + √(rᵀH⁻¹r), r = g − Hu, the rounding of Hu included."""
        if not u.any():
            return self.left(self.gradient)
        Hu = self.risk.product(self.v, u)
        own = math.fsum(u * Hu) + EPS * float(np.abs(u) @ np.abs(Hu))
        size, rounding = math.sqrt(max(own, 0.0)), _slip(self.risk, u, reach)
        unsure = 2 * self.norm.most(reach) * (shaken * size + rounding)
        return size * (1 + shaken) + self.left(self.gradient - Hu) + unsure

    def in_users_units(self, u: Floats) -> Floats:
        """Classes × (weights, then the intercept)."""
        weights, levels = self.risk.frame_parts(u)
        return np.column_stack([weights, levels - weights @ self.risk.frame.center])
