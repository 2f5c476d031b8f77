"""The same proofs for K classes.

Along a ray u the scores of a row change at rates a = (zᵀu₁, …, zᵀu_K), and its curvature, the variance of a under p,
changes by no more than range(a) times itself. So everything said in `certificate` holds with
ρ² = max over rows and pairs of classes of ((eₖ − eⱼ)⊗z)ᵀM⁻¹((eₖ − eⱼ)⊗z).

Where M is too large to be factored, two things replace it. On weights that add up to zero over the classes
H ⪰ I ⊗ B with B = Σ cᵢ minₖpᵢₖ zᵢzᵢᵀ/C + diag(ridge): this bounds ρ. And for any u
√(gᵀH⁻¹g) ≤ √(uᵀHu) + √(rᵀ(I ⊗ B)⁻¹r), r = g − Hu: this bounds ν, closely if Hu ≈ g. Such a u is the certificate's
witness.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.linalg import EPS, Factor, factor
from ..risk.softmax import ClassRisk
from .class_evidence import ClassEvidence, Unit
from .margin import (
    Bounds,
    conclusion,
    from_nu_and_rho,
    inverted,
    local_conclusion,
    margin_rounding,
    share_of_rows,
)

Spread = Callable[[Floats], Floats]
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
    risk: ClassRisk, v: Floats, gradient: Floats, share: float, spread: Spread, pivot: bool, value: float
) -> Bounds | None:
    """ν, ρ and what follows from them, from the whole Hessian of a part of the rows."""
    evidence = ClassEvidence(risk, v, share)
    M, radius = evidence.hessian()
    slip = _score_rounding(risk, v, radius)
    return conclusion(
        M, 2 * radius, gradient, evidence.leverage, 2 * slip, _each(spread, risk.classes, pivot), share,
        len(risk.rows), steepness(value),
    )  # fmt: skip


def local_class_bounds(risk: ClassRisk, v: Floats, gradient: Floats, spread: Spread, pivot: bool) -> Bounds | None:
    """A proof that a local minimum is near, from the whole Hessian of all rows."""
    evidence = ClassEvidence(risk, v, 1.0, all_rows=True)
    M, radius = evidence.hessian()
    unit = replace(evidence, risk=replace(risk, loss=Unit(), ridge=0 * risk.ridge), v=0 * v)
    G, _ = unit.hessian()
    slip = _score_rounding(risk, v, radius)
    # a row's range of scores, squared, is at most twice the sum of their squares
    return local_conclusion(
        M,
        2 * G,
        2 * radius,
        gradient,
        evidence.leverage,
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
    penalty = float((risk.ridge[:-1] if risk.frame.lifted else risk.ridge).max() > 0)
    evidence = ClassEvidence(risk, v, share_of_rows(len(risk.rows), risk.active.size) if penalty else 1.0)
    B, radius = evidence.least()
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
    exact = not penalty or len(risk.rows) * risk.active.size**2 <= EXACT_WORK
    whole = replace(evidence, share=1.0, all_rows=True)
    reach = whole.reach(made) if exact else penalised_reach(risk, farthest, inverse)
    rho = math.sqrt(2 * reach) / steady
    floor = EPS * (len(risk.rows) / 16 + 100) * rho + slip * steepness(value) * rho
    enough = min(math.sqrt(2 * goal), 1 / rho) * 0.9
    rough = replace(risk, careful=False)  # u is small, and so is the rounding of Hu
    u, nu, products = _witness(rough, v, gradient, solve, made, (enough - floor) * steady)
    deviations = _each(spread, risk.classes, pivot, shared=True)(inverse)
    found = from_nu_and_rho(nu / steady + floor, rho, deviations, 1.0)
    return (None if found is None else replace(found, witness=u)), products


def penalised_reach(risk: ClassRisk, farthest: float, inverse: Floats) -> float:
    """zᵀB⁻¹z ≤ ‖x − c‖²/l2, or with an intercept (‖x − c‖/√l2 + √(B⁻¹)₀₀)², for every row.

    The block of B⁻¹ without the intercept is the inverse of diag(ridge) and something positive.
    """
    d = risk.frame.center.size
    l2 = float((risk.ridge[:d] * risk.frame.scale**2).min())
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
