"""The proof that a minimum of a loss of K scores exists and is near.

Along a ray u the scores of a row change at rates a = (zᵀu₁, …, zᵀu_K), and its curvature, the variance of a under p,
changes by no more than range(a) times itself. So everything said in `proof` holds with
ρ² = max over rows and pairs of classes of ((eₖ − eⱼ)⊗z)ᵀM⁻¹((eₖ − eⱼ)⊗z).

Where M is too large to be factored, two things replace it. On weights that add up to zero over the classes
H ⪰ I ⊗ B with B = Σ cᵢ minₖpᵢₖ zᵢzᵢᵀ/C + the penalty's: this bounds ρ. And for any u
√(gᵀH⁻¹g) ≤ √(uᵀHu) + √(rᵀ(I ⊗ B)⁻¹r), r = g − Hu: this bounds ν, closely if Hu ≈ g. Such a u is the certificate's
witness.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows
from ...data.grams import Gram, shared
from ...losses.penalty import NoPenalty
from ...losses.softmax import ClassLoss, Probabilities, softmax
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import Factor, factor
from ...numerics.threads import one_blas_thread
from ..problem import Bounds
from ..risk.softmax import ClassBlock, ClassRisk
from ..solvers.newton import Latest
from .proof import (
    TOO_SURE,
    ProofRows,
    Spread,
    conclusion,
    from_nu_and_rho,
    intercept_rounding,
    inverted,
    local_conclusion,
    margin_rounding,
    radius_of,
    share_of_rows,
)

STEEPEST = 0.75
"""The most that the slope of a row's loss changes with its scores: √2/2, rounded up."""
EXACT_WORK = 1e9
"""The most work, n·d², for the largest zᵀB⁻¹z itself, where the penalty gives a bound on it."""
TRIES = 12
"""Products with the whole Hessian that a witness may cost."""


def steepness(value: float) -> float:
    """How much the slope of a row's loss changes with its scores, on average: 2(1 − p_y) ≤ −2 log p_y at the most."""
    return min(STEEPEST, 2 * value)


def class_bounds(
    risk: ClassRisk, v: Floats, gradient: Floats, share: float, spread: Spread, pivot: bool, value: float,
    known: Latest | None = None,
) -> Bounds | None:  # fmt: skip
    """ν, ρ and what follows from them, from the whole Hessian of a part of the rows; `known` is one here or near."""
    chosen = ClassProofRows(risk, v, share, known=known)
    M, radius = chosen.hessian()
    slip = _score_rounding(risk, v, radius)
    found = conclusion(
        M, 2 * radius, gradient, chosen.leverage, 2 * slip, _each(spread, risk.classes, pivot), share,
        len(risk.rows), (1.0, steepness(value)),
        stored=math.sqrt(1 / 2) * max(intercept_rounding(risk.frame, row) for row in risk.embed(v)),
    )  # fmt: skip
    return None if found is None else replace(found, sample=chosen.sample())


def local_class_bounds(risk: ClassRisk, v: Floats, gradient: Floats, spread: Spread, pivot: bool) -> Bounds | None:
    """A proof that a local minimum is near, from the whole Hessian of all rows."""
    chosen = ClassProofRows(risk, v, 1.0, all_rows=True)
    M, radius = chosen.hessian()
    unit = replace(chosen, risk=replace(risk, loss=HalfSquares(), penalty=NoPenalty()), v=0 * v)
    G, _ = unit.hessian()
    slip = _score_rounding(risk, v, radius)
    # a row's range of scores, squared, is at most twice the sum of their squares
    return local_conclusion(
        M,
        2 * G,
        2 * radius,
        gradient,
        chosen.leverage,
        2 * slip,
        risk.loss.third,
        _each(spread, risk.classes, pivot),
        len(risk.rows),
    )


def witnessed(
    risk: ClassRisk, v: Floats, gradient: Floats, solve: Callable[[Floats], Floats], spread: Spread, pivot: bool,
    goal: float, value: float, farthest: float,
) -> tuple[Bounds | None, int]:  # fmt: skip
    """ν by a witness and ρ by B, with the number of products with H that it took.

    `farthest` is the largest ‖x − c‖² of a row; with a penalty a part of the rows is enough for B.
    """
    chosen = ClassProofRows(risk, v, share_of_rows(len(risk.rows), risk.active.size) if not risk.penalty.idle else 1.0)
    B, radius = chosen.least()
    made, width = factor(B), len(B)
    del B  # as large as its inverse, which is to come
    if made is None:
        return None, 0
    inverse, _, scaled = inverted(made)
    slip = 2 * _score_rounding(risk, v, radius)
    shaken = EPS * (len(risk.rows) / 16 + 100 + width) * width * scaled + slip
    if not shaken < 0.5:
        return None, 0
    steady = math.sqrt(1 - shaken)
    exact = risk.penalty.idle or len(risk.rows) * risk.active.size**2 <= EXACT_WORK
    whole = replace(chosen, share=1.0, all_rows=True)
    reach = whole.reach(made) if exact else penalised_reach(risk, farthest, inverse)
    rho = math.sqrt(2 * reach) / steady
    floor = EPS * (len(risk.rows) / 16 + 100) * rho + slip * steepness(value) * rho
    enough = min(math.sqrt(2 * goal), 1 / rho) * 0.9
    rough = replace(risk, careful=False)  # u is small, and so is the rounding of Hu
    u, nu, products = _witness(rough, v, gradient, solve, made, (enough - floor) * steady)
    deviations = _each(spread, risk.classes, pivot, shared=True)(inverse)
    found = from_nu_and_rho(nu / steady + floor, rho, deviations, 1.0)
    return (None if found is None else replace(found, witness=u)), products


def strength(risk: Any) -> float:
    """The least curvature of the penalty in the user's units, whatever the weights."""
    frame = risk.frame
    return float((risk.penalty.curvature(np.zeros(frame.width))[: frame.center.size] * frame.scale**2).min())


def penalised_reach(risk: ClassRisk, farthest: float, inverse: Floats) -> float:
    """zᵀB⁻¹z ≤ ‖x − c‖²/l2, or with an intercept (‖x − c‖/√l2 + √(B⁻¹)₀₀)², for every row.

    The block of B⁻¹ without the intercept is the inverse of the penalty's and something positive.
    """
    l2 = strength(risk)
    if not risk.frame.lifted:
        return farthest / l2 * (1 + 1e-9)
    return (math.sqrt(farthest / l2) + math.sqrt(float(inverse[-1, -1]))) ** 2 * (1 + 1e-9)


def _witness(
    risk: ClassRisk, v: Floats, g: Floats, solve: Callable[[Floats], Floats], B: Factor, enough: float
) -> tuple[Floats, float, int]:
    """u with Hu ≈ g by conjugate gradients, and √(uᵀHu) + ‖g − Hu‖ in the norm of B⁻¹."""
    K = risk.classes

    def left(r: Floats) -> float:
        return float(np.linalg.norm(B.whiten(r.reshape(K, -1).T)))

    u, r, Hu = np.zeros_like(g), g.copy(), np.zeros_like(g)
    best = (u.copy(), left(g), 0)
    z = solve(r)
    p = z.copy()
    for tries in range(1, TRIES + 1):
        Hp = risk.product(v, p)
        bend = float(p @ Hp)
        if not bend > 0:
            break
        a = float(r @ p) / bend
        u, Hu, r = u + a * p, Hu + a * Hp, r - a * Hp
        nu = math.sqrt(max(float(u @ Hu), 0.0)) + left(r)
        if nu < best[1]:
            best = (u.copy(), nu, tries)
        if nu <= enough:
            break
        z = solve(r)
        p = z - float(z @ Hp) / bend * p  # the solver is no linear map, so conjugacy is made, not assumed
    return best[0], best[1], tries


def _score_rounding(risk: ClassRisk, v: Floats, radius: float) -> float:
    """How far a score can be off by rounding, where the centre was subtracted from the rows."""
    assert risk.careful
    return max(margin_rounding(risk.frame, row, radius) for row in risk.embed(v))


def _each(spread: Spread, classes: int, pivot: bool, *, shared: bool = False) -> Spread:
    """The deviations of every class's coefficients, from the inverse for all classes or the one they share."""

    def deviations(inverse: Floats) -> Floats:
        if shared:
            one = spread(inverse) * (math.sqrt(2) if pivot else 1.0)
            rows = np.tile(one, (classes, 1))
        else:
            w = len(inverse) // classes
            blocks = inverse.reshape(classes, w, classes, w)
            rows = np.array([spread(_own(blocks, k, classes - 1 if pivot else None)) for k in range(classes)])
        if pivot:
            rows[-1] = 0.0
        return rows

    return deviations


def _own(inverse: Floats, k: int, reference: int | None) -> Floats:
    own = inverse[k, :, k, :]
    if reference is None:
        return own
    if k == reference:
        return 0 * own
    other = inverse[reference, :, reference, :]
    return own + other - inverse[k, :, reference, :] - inverse[reference, :, k, :]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ClassProofRows(ProofRows):
    """The rows S of a proof for K classes; one is too sure to matter if a class has all but 10⁻¹⁰ of it."""

    risk: ClassRisk

    def hessian(self) -> tuple[Floats, float]:
        """(1/C) Σ_{i∈S} cᵢ ∂²f/∂s² ⊗ zᵢzᵢᵀ + the penalty's + gauge, and the largest ‖zᵢ‖² in S."""
        risk = self.risk
        if self.known is not None and self._all_count():
            return self._carried(self.known), radius_of(self._written.Z[:, risk.active])

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total, radius = np.zeros((risk.classes, risk.active.size) * 2), 0.0
            for block, at in self._blocks(rows, lo, hi):
                radius = max(radius, radius_of(risk.coordinates(block)))
                risk.add_hessian(total, block, at)
            return total, radius

        total, radius = self._sum(run)
        return risk.penalised(total, risk.embed(self.v)), radius

    def _all_count(self) -> bool:
        """Whether M may be the Hessian that the fit has found: of few rows, none of which is left out of a proof."""
        if self.risk.written is None or self.share < 1:
            return False
        Z, y, cost = self._written
        at = softmax(self.risk.embed(self.v) @ Z.T, y)
        return bool((at.p.max(axis=0) < 1 - TOO_SURE).all() and (cost > 0).all())

    def _carried(self, known: Latest) -> Floats:
        """H(u) e^−δ ⪯ H(v), δ the largest range of a row's scores by v − u."""
        moved = self._written.Z @ self.risk.embed(self.v - known.place).T
        return np.asarray(known.hessian) * math.exp(-float(np.ptp(moved, axis=1).max()) * (1 + 1e-9))

    def least(self) -> tuple[Floats, float]:
        """B = (1/C) Σ cᵢ minₖpᵢₖ zᵢzᵢᵀ + the penalty's, and the largest ‖zᵢ‖²."""
        risk = self.risk

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total, radius = np.zeros((risk.active.size,) * 2), 0.0
            for block, at in self._blocks(rows, lo, hi):
                Z = risk.coordinates(block)
                radius = max(radius, radius_of(Z))
                Z *= np.sqrt(block.cost * at.p.min(axis=0))[:, None]
                total += Z.T @ Z
            return total, radius

        B, radius = self._shared_least() if shared(risk.rows, risk.active.size) else self._sum(run)
        B /= risk.rows.weight
        B[np.diag_indices_from(B)] += risk.penalty.curvature(risk.embed(self.v)[0])[risk.active]
        return B, radius

    def _shared_least(self) -> tuple[Floats, float]:
        """The sum of `least` and the largest ‖zᵢ‖², with one sum for all threads."""
        risk, rows, radius = self.risk, self.risk.rows.gathered(), 0.0
        gram = Gram(risk.active.size, rows.map)
        with one_blas_thread():
            for lo, hi in rows.runs():
                for block, at in self._blocks(rows, lo, hi):
                    Z = risk.coordinates(block)
                    radius = max(radius, radius_of(Z))
                    Z *= np.sqrt(block.cost * at.p.min(axis=0))[:, None]
                    gram.add(Z)
        return gram.total(), radius

    def leverage(self, made: Factor) -> float:
        """The largest ((eₖ − eⱼ)⊗z)ᵀM⁻¹((eₖ − eⱼ)⊗z) over S and all pairs of classes."""
        K, w = self.risk.classes, self.risk.active.size
        inverse = made.inverse().reshape(K, w, K, w)
        pairs = [
            inverse[k, :, k, :] + inverse[j, :, j, :] - inverse[k, :, j, :] - inverse[j, :, k, :]
            for k in range(K) for j in range(k)
        ]  # fmt: skip
        return self._largest_of(lambda Z: max(float(np.einsum("ij,ij->i", Z @ pair, Z).max()) for pair in pairs))

    def farthest(self) -> float:
        """The largest ‖x − c‖² of a row that counts, in the user's units."""

        def run(rows: Rows, lo: int, hi: int) -> float:
            largest = 0.0
            for block in self.risk.blocks(rows, lo, hi):
                X = (block.X - block.center)[np.broadcast_to(np.asarray(block.cost) > 0, len(block.y))]
                largest = max(largest, radius_of(X))
            return largest

        return self._largest(run, blas=False)

    def reach(self, made: Factor) -> float:
        """The largest zᵀB⁻¹z."""
        return self._largest_of(lambda Z: float(np.square(made.whiten(Z.T)).sum(axis=0).max()))

    def _largest_of(self, size: Callable[[Floats], float]) -> float:
        def run(rows: Rows, lo: int, hi: int) -> float:
            sizes = (size(Z) for Z in (self.risk.coordinates(b) for b, _ in self._blocks(rows, lo, hi)) if len(Z))
            return max(sizes, default=0.0)

        return self._largest(run)

    def _blocks(self, rows: Rows, lo: int, hi: int) -> Any:
        """Blocks of S and the probabilities there."""
        weights = self.risk.read(self.risk.embed(self.v))
        for block in self.risk.blocks(rows, lo, self._stop(lo, hi)):
            at = softmax(block.scores(weights), block.y)
            counts = np.broadcast_to(np.asarray(block.cost) > 0, at.loss.size)
            if not self.all_rows:
                counts = counts & (at.p.max(axis=0) < 1 - TOO_SURE)
            if counts.all():
                yield block, at
            else:
                cost = block.cost[counts] if np.ndim(block.cost) else block.cost
                yield (
                    ClassBlock(block.rows[counts], block.center, block.y[counts], cost),
                    Probabilities(at.p[:, counts], at.error[:, counts], at.loss[counts]),
                )


@dataclass(frozen=True)
class HalfSquares(ClassLoss):
    """f = ½‖s‖²: its Hessian over the rows is I ⊗ their Gram matrix."""

    def value(self, at: Probabilities) -> Floats:
        return 0 * at.loss

    def slope(self, at: Probabilities) -> Floats:
        return 0 * at.p  # type: ignore[no-any-return]

    def bend(self, at: Probabilities, q: Any) -> Any:
        return q

    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        return np.full(at.loss.size, float(k == j))
