"""Directions of θ that change no difference of scores, and what a penalty makes of them.

Along such directions only the penalty is left, so its minimum has no part there: θ is orthogonal to them in the
features that are not free. What is free beside them has no penalty either; of these weights the shortest are taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats

EPS = float(np.finfo(float).eps)
GONE = 1e-10
"""A part of a direction that is this small, in units of the features' lengths, is rounding."""
NEAR = 1e-6
"""How near a combination must be to one of whole numbers, or of halves or thirds, to be tried as such."""
MULTIPLES = (1, 2, 3)
"""Whole numbers, halves, thirds."""
ROOM = 16.0
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
        N, turn, held = _reduced(N, size, penalised)
        idle = N[:, ~held]
        idle[penalised] = 0.0
        idle /= np.maximum(np.linalg.norm(idle, axis=0), 1e-300)
        back = np.linalg.inv(np.linalg.qr(N[:, held][penalised], mode="r"))
        leak = ROOM * float(seen @ np.linalg.norm(turn[:, held] @ back, axis=1))
        return cls(_less(N[:, held] @ back, idle), idle, penalised, leak)

    def without(self, theta: Floats) -> Floats:
        """θ with the same scores, the shortest in the penalised features, and of these the shortest in the others."""
        for _ in range(2):  # the second time removes what rounding left of the first
            theta = theta - self.held @ (self.held[self.penalised].T @ theta[self.penalised])
            theta = _less(theta, self.idle)
        return theta

    def drift(self, l2: float) -> float:
        """How far along `held` the minimum can be, because the scores do change there by the rounding of features."""
        return SLOPE * self.leak / l2 if l2 and self.leak else 0.0


def _less(theta: Floats, idle: Floats) -> Floats:
    if not idle.shape[1]:
        return theta
    there = idle.any(axis=1)  # other rows may be in units that would drown these
    return theta - idle @ np.linalg.lstsq(idle[there], theta[there], rcond=None)[0]


def _reduced(N: Floats, size: Floats, penalised: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """N·turn with an identity in some penalised rows, turn, and which columns have it: the others have no such rows.

    By Gauss and Jordan with complete pivoting, so that no units drown others: the largest weights come first.
    """
    N, turn, held = N.copy(), np.eye(N.shape[1]), np.zeros(N.shape[1], bool)
    open_ = np.zeros(len(N), bool)
    open_[penalised] = True
    for _ in range(N.shape[1]):
        clear = (np.abs(N) * size > GONE) & open_[:, None] & ~held
        if not clear.any():
            break
        i, j = np.unravel_index(np.where(clear, np.abs(N), 0.0).argmax(), N.shape)
        others = np.arange(N.shape[1]) != j
        turn[:, j] /= N[i, j]
        N[:, j] /= N[i, j]
        factor = np.where(others, N[i], 0.0)
        N -= np.outer(N[:, j], factor)
        turn -= np.outer(turn[:, j], factor)
        N[i, others] = 0.0
        held[j], open_[i] = True, False
    return N, turn, held


def settled(directions: Floats, size: Floats, blocks: Iterable[Floats]) -> tuple[Floats, Floats]:
    """The directions in whole numbers where these suit the rows as well, and how much each changes any score.

    For the features of our own maps the combinations are whole, and then the scores do not change at all. `size` is the
    length of each feature.
    """
    trial, factor, plain = directions.copy(), np.ones(directions.shape[1]), np.zeros(directions.shape[1], bool)
    for j, n in enumerate(directions.T):
        for m in MULTIPLES:
            if (np.abs(m * n - np.round(m * n)) * size <= NEAR * m * (np.abs(n) * size).max()).all():
                trial[:, j], factor[j], plain[j] = np.round(m * n), m, True
                break
    raw, whole, largest = np.zeros(len(factor)), np.zeros(len(factor)), np.zeros(len(directions))
    for E in blocks:
        flat = E.reshape(-1, len(directions))
        largest = np.maximum(largest, np.abs(flat).max(axis=0, initial=0.0))
        raw = np.maximum(raw, np.abs(flat @ directions).max(axis=0, initial=0.0))
        whole = np.maximum(whole, np.abs(flat @ trial).max(axis=0, initial=0.0))
    better = plain & (whole <= factor * raw)
    raw += 2 * EPS * (np.abs(directions) * largest[:, None]).max(axis=0)  # the rounding of the direction itself
    return np.where(better, trial, directions), np.where(better, whole, raw)
