"""Where the ascent of Firth's penalised likelihood goes first, and the intercept that it may end with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numerics.arrays import EPS, Floats
from ..risk.firth import FirthPoint
from ..solvers.descent import Point, State, minimum
from ..solvers.newton import OwnStep
from .view import FirthView

ROWS_A_WEIGHT = 50
"""With fewer rows for each weight least squares fits noise, and stretching it would stretch that."""
UNEXPLAINED = 0.02
"""Below this part of the targets' variance the stretch is mostly noise."""
LONGEST_SHIFT = 5.0
"""The longest step of the intercept, in log-odds."""
SHIFTS = 200
"""The most steps of the intercept."""


def discriminant(view: FirthView, zero: FirthPoint, pull: Floats) -> Floats | None:
    """v = w/(q(1 − R²)), v₀ = log π/(1 − π) − vᵀz̄ + (π − ½)vᵀδ: Fisher's discriminant as log-odds.

    w are the weights of least squares, z̄ the means of the columns, δ the difference of the classes' means,
    π the share of the second class, q = π(1 − π), R² the part of the targets' variance that is explained. Where rows of
    each class are normal with one covariance these are the log-odds; elsewhere they are mostly nearer to them than
    Newton's first step from zero, which least squares is. None where rows are few, or there is no intercept among the
    coordinates.

    `pull` is Σᵢ cᵢ(tᵢ − ½)zᵢ, the slope at zero.
    """
    total = view.total
    if not view.frame.lifted or view.triangular is not None or len(view.rows) < ROWS_A_WEIGHT * pull.size:
        return None
    means = zero.information[-1] * (4 / total)
    share = 0.5 + float(pull[-1]) / total
    spread = share * (1 - share)
    together = pull / total - (share - 0.5) * means  # the covariances of columns and targets; of the intercept none
    together[-1] = 0.0
    v = zero.solve(together) * (total / 4)
    unexplained = 1 - float(v @ together) / spread if spread > 0 else 0.0
    if not unexplained > UNEXPLAINED:
        return None
    v /= spread * unexplained
    v[-1] = 0.0
    level = math.log(share / (1 - share)) + (share - 0.5) * float(v @ together) / spread
    v[-1] = level - float(v @ means)
    return v if math.isfinite(float(v @ v)) else None


def balancing_shift(scores: Floats, target: Floats, cost: Floats) -> float:
    """δ with Σᵢ cᵢσ(ηᵢ + δ) = Σᵢ cᵢtᵢ: the minimum of Σᵢ cᵢ[log(1 + e^(ηᵢ + δ)) − tᵢδ]; no costs are costs of one."""
    cost = cost if cost.size else np.ones(scores.size)
    wanted = float(cost @ target)

    def loss(shift: Floats, _: Any) -> Point:
        eta = np.clip(scores + shift, -700, 700)
        p = 1 / (1 + np.exp(-eta))
        value = float(cost @ np.logaddexp(0, eta)) - wanted * float(shift[0])
        return Point(value, np.array([float(cost @ p) - wanted]), float(cost @ (p * (1 - p))))

    def step(_: Floats, at: Point) -> Floats:
        move = -at.gradient / at.hessian if at.hessian > 0 else -np.sign(at.gradient) * LONGEST_SHIFT
        return np.clip(move, -LONGEST_SHIFT, LONGEST_SHIFT)

    def settled(state: State) -> bool:
        return bool(np.abs(step(state.v, state.at)) <= 2 * EPS * (1 + np.abs(state.v)))

    return float(minimum(loss, np.zeros(1), OwnStep(step), settled, SHIFTS).state.v[0])
