"""The check of a minimum of a loss of the margin that is no likelihood.

With M = Σᵢ∈S (cᵢ/C) βᵢzᵢzᵢᵀ + ridge, ν² = gᵀM⁻¹g and ρ² the largest leverage of S. For the exponential loss |φ‴| ≤ φ″:
β = φ″ at the point, and the likelihood's proof is this one's. For the squared hinge β = 2 where a margin stays below 1
if it moves by δ: none does within δ/ρ in the norm of M, so if ρν < δ the minimum is within ν, and ν²/2 lower at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .minimum import TOO_SURE, Gap, Point, Root, fall, without_the_far
from .objectives import EXPONENTIAL, SQUARED_HINGE, OfMargin

REACHES = (1e-3, 1e-6, 0.1)
"""How far margins may move, whichever proves more."""


def margin_loss_gap(point: Point, enough: float) -> float:
    """A bound on the mean loss above its minimum."""
    if point.claim.l2 == 0 and point.claim.value == 0:
        return 0.0  # no loss is negative
    slope, share = point.slope(), point.table.cost / point.table.cost.sum()
    if point.claim.objective == "exponential":
        bend = _bends(point, EXPONENTIAL, 0.0)
        unsure = bend >= TOO_SURE
        return without_the_far(
            lambda chosen: _gap(point, slope, share * bend * chosen, fall), unsure, ~unsure, enough
        )  # fmt: skip
    return min(
        _gap(point, slope, share * _bends(point, SQUARED_HINGE, reach), _within(reach))[0] for reach in REACHES
    )  # fmt: skip


def _bends(point: Point, loss: OfMargin, reach: float) -> Any:
    return np.concatenate([loss.bend(look.at, look.target, reach) for look in point.looks()])


def _within(reach: float) -> Callable[[float, float], float]:
    """ν²/2 if ρν < δ."""
    return lambda nu, rho: nu * nu / 2 if rho * nu < reach else math.inf


def _gap(point: Point, slope: Any, weight: Any, fallen: Callable[[float, float], float]) -> Gap:
    """What M of the rows with a weight proves; and the leverage of every row."""
    root = Root(point, weight)
    if not root.steady:
        return math.inf, np.zeros(len(weight))
    leverages = np.concatenate([np.square(root.whiten(look.Z.T)).sum(axis=0) for look in point.looks()])
    rho = math.sqrt(leverages[weight > 0].max(initial=0))
    return fallen(float(np.linalg.norm(root.whiten(slope.T))), rho), leverages
