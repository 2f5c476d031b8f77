"""Where a descent begins."""

from __future__ import annotations

from typing import Any

from ...numerics.arrays import Floats
from ...numerics.linalg import steady_factor


def least_squares(squared: Any, *, lifted: bool) -> Floats:
    """w⁽⁰⁾ = (XᵀX)⁻¹Xᵀy, y ∈ {0, 1}: half the least-squares fit to ±1, and ½ more in the intercept.

    `squared` is the jet at zero of the risk of (1 − m)², whose Newton step is that fit. Its Hessian is 2XᵀX/n, and an
    eighth of that is the log-likelihood's Hessian at zero.
    """
    v = -steady_factor(squared.hessian).solve(squared.gradient) / 2
    if lifted:
        v[-1] += 0.5
    return v


def log_odds_scale(v: Floats, *, lifted: bool) -> Floats:
    """The least-squares start stretched to the scale of log-odds: Newton's first step from zero.

    It is four times the start, less the ½ in the intercept, because the logistic curve rises by ¼ at zero.
    """
    v = 4 * v
    if lifted:
        v[-1] -= 2
    return v
