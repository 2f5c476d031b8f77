"""Whether a fixed learning rate is too large to converge."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats

PATIENCE = 10
"""Passes without progress, half of them beside the other half."""
PROGRESS, SHRINKING, RISES = 1e-3, 0.5, 1
"""A fall of the value and of the moves that counts; how often the value must have risen: what creeps never does."""


class Oscillation(NamedTuple):
    """The last passes of a fit that goes round in rings."""

    move: float
    """How far the weights move in a pass, in units of their own length."""
    least: float
    most: float
    """The values between which it wanders."""


class Wobble:
    """Watches values and moves, pass by pass."""

    def __init__(self, start: Floats) -> None:
        self.values: list[float] = []
        self.moves: list[float] = []
        self._last = start

    def add(self, value: float, weights: Floats) -> Oscillation | None:
        """Take note of a pass; say whether the last ones rose and fell without progress, and did not calm down."""
        length = float(np.linalg.norm(weights - self._last))
        self.values.append(value)
        self.moves.append(length / max(float(np.linalg.norm(weights)), 1e-300))
        self._last = weights
        if len(self.values) <= 2 * PATIENCE:
            return None
        recent, before, half = self.values[-PATIENCE:], self.values[:-PATIENCE], PATIENCE // 2
        rises = sum(b > a for a, b in pairwise(recent))
        if min(recent) < min(before) * (1 - PROGRESS) or rises < RISES:
            return None
        if median(self.moves[-half:]) < SHRINKING * median(self.moves[-PATIENCE:-half]) or length == 0:
            return None
        return Oscillation(median(self.moves[-half:]), min(recent), max(recent))
