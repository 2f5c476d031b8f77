"""Every way in which a line can divide a few points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats

SWEPT_POINTS = 300
BATCH = 2000
APART = 1e-12
"""Projections nearer than this part of the points' extent are not told apart."""


class Cut(NamedTuple):
    """xᵀw + b > 0."""

    weights: Floats
    intercept: float


def swept(points: Floats, weights: Floats) -> Cut:
    """The cut with the fewest mistakes of all, for points on a line or in a plane; weights[i, k] is of class k.

    The order of projections changes only at directions normal to a difference of two points. A cut can be moved off the
    points and turned a little, so the directions half-way between are enough.
    """
    if points.shape[1] == 1:
        return best_cut(points, weights, np.array([[1.0], [-1.0]]))
    i, j = np.triu_indices(len(points), 1)
    dx, dy = (points[j] - points[i]).T
    critical = np.unique(np.mod(np.arctan2(dx, -dy), np.pi)) if len(i) else np.zeros(1)
    angles = (critical + np.append(critical[1:], critical[0] + np.pi)) / 2
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    return best_cut(points, weights, np.concatenate([directions, -directions]))


def best_cut(points: Floats, weights: Floats, directions: Floats) -> Cut:
    """For each direction the best threshold, by prefix sums along the projections; the best of all."""
    best, least = Cut(np.zeros(points.shape[1]), -1.0), float(weights[:, 1].sum())
    for start in range(0, len(directions), BATCH):
        batch = directions[start : start + BATCH]
        z = batch @ points.T
        order = np.argsort(z, axis=1)
        z = np.take_along_axis(z, order, axis=1)
        gain = (weights[:, 0] - weights[:, 1])[order]  # a point below the threshold is called class 0
        errors = weights[:, 0].sum() - np.cumsum(gain, axis=1)
        gaps = np.diff(z, axis=1, append=np.inf)
        errors[gaps <= APART * np.ptp(z, axis=1)[:, None]] = np.inf
        row, place = np.unravel_index(int(errors.argmin()), errors.shape)
        if errors[row, place] < least:
            last = place == z.shape[1] - 1
            threshold = z[row, place] + 1.0 if last else (z[row, place] + z[row, place + 1]) / 2
            best, least = Cut(batch[row], -float(threshold)), float(errors[row, place])
    return best
