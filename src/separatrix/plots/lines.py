"""The regions of a rule of two columns within a box, and the straight pieces of their boundaries."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..results.rule import LinearRule

PARALLEL = 1e-12
UNIT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


class Scores(NamedTuple):
    """Wx + c in a box that is scaled to size one, whatever the scales of the columns."""

    W: Floats
    c: Floats
    lengths: Floats
    """‖wₖ − wⱼ‖ before the scaling."""


def _scores(rule: LinearRule, low: Floats, high: Floats) -> Scores:
    full = rule.to_reference(rule.classes[0])  # a row of weights for each class, of two classes as well
    lengths = np.linalg.norm(full.weights[:, None] - full.weights, axis=2)
    return Scores(full.weights * (high - low), np.asarray(full.intercept) + full.weights @ low, lengths)


def boundary(rule: LinearRule, low: Floats, high: Floats) -> list[Floats]:
    """The ends of each line on which two classes share the largest score, within the box from low to high."""
    W, c, _ = _scores(rule, low, high)
    pieces = []
    for i, j in combinations(range(len(W)), 2):
        rivals = [(W[i] - W[m], c[i] - c[m]) for m in range(len(W)) if m not in (i, j)]
        ends = _within(W[j] - W[i], c[j] - c[i], rivals)
        pieces += [] if ends is None else [low + (high - low) * ends]
    return pieces


def regions(rule: LinearRule, low: Floats, high: Floats, margin: float) -> list[Floats]:
    """The corners of each class's points that are at least the margin away from all its boundaries, in the box."""
    W, c, lengths = _scores(rule, low, high)
    found = []
    for k in range(len(W)):
        region = UNIT
        for j in range(len(W)):
            region = region if j == k else _clipped(region, W[k] - W[j], c[k] - c[j] - margin * lengths[k, j])
        found += [low + (high - low) * region] if len(region) else []
    return found


def _clipped(polygon: Floats, u: Floats, c: float) -> Floats:
    """The part of a convex polygon on which uᵀx + c ≥ 0."""
    values = polygon @ u + c
    kept: list[Floats] = []
    for p, q, at_p, at_q in zip(polygon, np.roll(polygon, -1, 0), values, np.roll(values, -1), strict=True):
        kept += [p] if at_p >= 0 else []
        kept += [p + (q - p) * at_p / (at_p - at_q)] if at_p * at_q < 0 else []
    return np.array(kept).reshape(-1, 2)


def _within(w: Floats, b: float, rivals: list[tuple[Floats, float]]) -> Floats | None:
    """The ends of the part of wᵀx + b = 0, 0 ≤ x ≤ 1, on which uᵀx + c ≥ 0 for all rivals (u, c)."""
    length = np.linalg.norm(w)
    if length == 0:
        return None
    along, foot = np.array([-w[1], w[0]]) / length, -b * w / length**2
    first, last = -np.inf, np.inf
    for u, c in [*rivals, *((e, 0.0) for e in np.eye(2)), *((-e, 1.0) for e in np.eye(2))]:
        slope, value = u @ along, u @ foot + c
        if abs(slope) <= PARALLEL * np.linalg.norm(u):
            first = first if value >= -1e-9 * (abs(c) + np.linalg.norm(u)) else np.inf
        elif slope > 0:
            first = max(first, -value / slope)
        else:
            last = min(last, -value / slope)
    return foot + np.outer([first, last], along) if first < last else None
