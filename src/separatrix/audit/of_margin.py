"""The check of a minimum of a loss of the margin that is no likelihood, in long double and by QR.

With M = Σᵢ∈S (cᵢ/C) βᵢzᵢzᵢᵀ + ridge, ν² = gᵀM⁻¹g and ρ² the largest leverage of S. For the exponential loss |φ‴| ≤ φ″:
β = φ″ at the point, and the likelihood's proof is this one's. For the squared hinge β = 2 where a margin stays below 1
if it moves by δ: none does within δ/ρ in the norm of M, so if ρν < δ the minimum is within ν, and ν²/2 lower at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .minimum import TOO_SURE, Point, Root, Ways, spread_of
from .objectives import EXPONENTIAL, OfMargin, objective
from .shown import Shown

REACHES = (1e-3, 1e-6, 0.1)
"""How far margins may move."""


def margin_loss_shown(point: Point, ways: Ways, chosen: Any) -> Iterator[Shown]:
    """By the curvature of the chosen rows, or because no row costs anything."""
    loss = objective(point.claim)
    assert isinstance(loss, OfMargin)
    if point.claim.l2 == 0 and not any(loss.loss(look.at, look.target).any() for look in point.looks()):
        yield Shown(0.0, 0.0, 0.0, 0.0, 0.0)
        return
    slope, share = point.slope(), chosen * point.table.cost / point.table.cost.sum()
    for reach in (0.0,) if loss is EXPONENTIAL else REACHES:
        bend = np.concatenate([loss.bend(look.at, look.target, reach) for look in point.looks()])
        yield from _by_curvature(point, slope, share * bend * (bend >= TOO_SURE), reach, ways)


def _by_curvature(point: Point, slope: Any, weight: Any, reach: float, ways: Ways) -> Iterator[Shown]:
    """By M of the rows that have a weight; without a reach |φ‴| ≤ φ″."""
    root = Root(point, weight)
    if not root.steady:
        return
    squares = np.concatenate([np.square(root.whiten(look.Z.T)).sum(axis=0) for look in point.looks()])
    nu, rho = float(np.linalg.norm(root.whiten(slope.T))), math.sqrt(squares[weight > 0].max(initial=0))
    for way in ways if not reach or rho * nu < reach else ():
        spread = spread_of(point, root, np.eye(len(root.R)), way)
        yield Shown(nu, rho / reach, nu * nu / 2, nu, spread * nu) if reach else Shown.by(nu, rho, spread)
