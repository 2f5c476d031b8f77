"""Directions of θ that change no difference of scores, and what a penalty makes of them.

Along such directions only the penalty is left, so its minimum has no part there: θ is orthogonal to them in the
features that are not free. What is free beside them has no penalty either; of these weights the shortest are taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NEAR, MULTIPLES = 1e-6, (1, 2, 3)
"""A combination that is nearly one of whole numbers, or of halves or thirds, is tried as such."""
ROOM = 4.0
"""Of directions found another way, as the check does, rounding may make that much more."""
SLOPE = 4.0
"""No loss of ours changes by more than this times the largest change of a score."""


@dataclass(frozen=True, eq=False)
class Null:
    """The directions, apart by what holds θ in them."""

    held: Floats
    """p × a, orthonormal in the penalised features: here the penalty decides."""
    idle: Floats
    """p × b, without penalised features: here nothing does."""
    penalised: NDArray[np.intp]
    leak: float
    """The most that the scores of a row do change for a unit of `held`: zero, or the rounding of the features."""

    @classmethod
    def of(cls, directions: Floats, seen: Floats, size: Floats, penalised: NDArray[np.intp]) -> Null:
        """`seen` is how much each direction changes a score of some row at the most; `size` the features' lengths.

        Whether a direction is without penalised features is asked in units of these lengths.
        """
        p, count = directions.shape
        if not count:
            return cls(np.zeros((p, 0)), np.zeros((p, 0)), penalised, 0.0)
        size = np.where(size > 0, size, 1.0)[:, None]
        length = np.linalg.norm(directions * size, axis=0)
        N, seen = directions / length, seen / length
        rows = (N * size)[penalised]
        _, values, Vt = np.linalg.svd(rows, full_matrices=rows.shape[0] < rows.shape[1])
        rank = int((values > 1e-10).sum())
        idle = N @ Vt[rank:].T
        idle[penalised] = 0.0
        idle /= np.maximum(np.linalg.norm(idle, axis=0), 1e-300)
        part = N @ Vt[:rank].T
        unit = np.linalg.norm(part[penalised], axis=0)
        upper = np.linalg.qr(part[penalised] / unit, mode="r")
        turn = Vt[:rank].T / unit @ np.linalg.inv(upper)
        return cls(_less(N @ turn, idle), idle, penalised, ROOM * float(seen @ np.linalg.norm(turn, axis=1)))

    def without(self, theta: Floats) -> Floats:
        """θ with the same scores, the shortest in the penalised features, and of these the shortest in the others."""
        return _less(theta - self.held @ (self.held[self.penalised].T @ theta[self.penalised]), self.idle)

    def drift(self, l2: float) -> float:
        """How far along `held` the minimum can be, because the scores do change there by the rounding of features."""
        return SLOPE * self.leak / l2 if l2 and self.leak else 0.0


def _less(theta: Floats, idle: Floats) -> Floats:
    return theta - idle @ np.linalg.lstsq(idle, theta, rcond=None)[0] if idle.shape[1] else theta


def settled(directions: Floats, size: Floats, blocks: Iterable[Floats]) -> tuple[Floats, Floats]:
    """The directions in whole numbers where these suit the rows as well, and how much each changes any score.

    For the features of our own maps the combinations are whole, and then the scores do not change at all. `size` is the
    length of each feature.
    """
    trial, factor = directions.copy(), np.ones(directions.shape[1])
    for j, n in enumerate(directions.T):
        for m in MULTIPLES:
            if (np.abs(m * n - np.round(m * n)) * size <= NEAR * m * (np.abs(n) * size).max()).all():
                trial[:, j], factor[j] = np.round(m * n), m
                break
    raw, whole = np.zeros(len(factor)), np.zeros(len(factor))
    for E in blocks:
        flat = E.reshape(-1, len(directions))
        raw = np.maximum(raw, np.abs(flat @ directions).max(axis=0, initial=0.0))
        whole = np.maximum(whole, np.abs(flat @ trial).max(axis=0, initial=0.0))
    better = whole <= factor * raw
    return np.where(better, trial, directions), np.where(better, whole, raw)
