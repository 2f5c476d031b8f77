"""Whether a rule separates the rows, by more than rounding could feign."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.source import Source
from ...numerics.arrays import EPS, Floats

BLOCK = 1024
"""Rows that are looked at together."""


def separates(rows: Source, weights: Floats, intercept: float) -> bool:
    """Whether yᵢ(xᵢᵀw + b) > 0 for every row that counts, by more than rounding could feign."""
    size, doubt = np.abs(weights), (weights.size + 4) * EPS

    def block(part: Rows, lo: int, hi: int) -> bool:
        for start in range(lo, hi, BLOCK):
            stop = min(start + BLOCK, hi)
            X = part.block[start:stop]
            margin = part.y[start:stop] * (X @ weights + intercept)
            proved: NDArray[np.bool_] = margin > doubt * (X.magnitudes(size) + abs(intercept))
            if part.cost.size:
                proved |= part.cost[start:stop] == 0
            if not proved.all():
                return False
        return True

    return all(rows.each(block))


def class_separates(rows: Source, weights: Floats, intercept: Floats) -> bool:
    """Whether the score of its own class is the largest of every row that counts, by more than rounding could feign."""
    size, doubt = np.abs(weights), (weights.shape[1] + 4) * EPS

    def block(part: Rows, lo: int, hi: int) -> bool:
        for start in range(lo, hi, BLOCK):
            rows = slice(start, min(start + BLOCK, hi))
            X = part.block[rows]
            score = X @ weights.T + intercept
            error = doubt * (X.magnitudes(size.T) + np.abs(intercept))
            target = part.y[rows] if part.y.ndim == 1 else part.y[rows].argmax(axis=1)
            own = np.arange(len(X)), target
            floor = score[own] - error[own]
            score += error
            score[own] = -np.inf
            proved = floor > score.max(axis=1)
            if part.y.ndim == 2:
                proved &= part.y[rows].max(axis=1) == 1
            if part.cost.size:
                proved |= part.cost[rows] == 0
            if not proved.all():
                return False
        return True

    return all(rows.each(block, blas=True))
