"""FLIC: the intercept that makes probabilities add up to what was seen, the weights being given."""

from __future__ import annotations

import math

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.linalg import EPS

LONGEST, STEPS = 5.0, 200
"""The longest step, in log-odds; and how many."""


def balancing_shift(scores: Floats, target: Floats, cost: Floats) -> float:
    """δ with Σᵢ cᵢσ(ηᵢ + δ) = Σᵢ cᵢtᵢ: Newton's method, kept between bounds; no costs are costs of one."""
    cost = cost if cost.size else np.ones(scores.size)
    wanted, shift = float(cost @ target), 0.0
    low, high = -math.inf, math.inf
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(scores + shift, -700, 700)))
        excess, slope = float(cost @ p) - wanted, float(cost @ (p * (1 - p)))
        low, high = (low, shift) if excess > 0 else (shift, high)
        move = min(abs(excess) / slope, LONGEST) if slope > 0 else LONGEST
        if excess == 0 or move <= 2 * EPS * (1 + abs(shift)):
            break
        after = shift - math.copysign(move, excess)
        shift = after if low < after < high else (low + high) / 2
    return shift
