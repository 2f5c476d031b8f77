"""Whether a fixed learning rate is too large to converge."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PATIENCE = 10
"""Passes without progress, half of them beside the other half."""
PROGRESS, SHRINKING, TURNING = 1e-3, 0.5, 0.3
"""A fall of the value and of the moves that counts; the cosine of two moves that go to and fro."""


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
        self.turns: list[float] = []
        self._last, self._step = start, np.zeros_like(start)

    def add(self, value: float, weights: Floats) -> Oscillation | None:
        """Take note of a pass; say whether the last ones went to and fro without progress."""
        step = weights - self._last
        length = float(np.linalg.norm(step))
        self.values.append(value)
        self.moves.append(length / max(float(np.linalg.norm(weights)), 1e-300))
        self.turns.append(float(step @ self._step) / max(length * float(np.linalg.norm(self._step)), 1e-300))
        self._last, self._step = weights, step
        if len(self.values) <= 2 * PATIENCE:
            return None
        recent, before, half = self.values[-PATIENCE:], self.values[:-PATIENCE], PATIENCE // 2
        if min(recent) < min(before) * (1 - PROGRESS) or median(self.turns[-PATIENCE:]) > TURNING:
            return None
        if median(self.moves[-half:]) < SHRINKING * median(self.moves[-PATIENCE:-half]) or length == 0:
            return None
        return Oscillation(median(self.moves[-half:]), min(recent), max(recent))
