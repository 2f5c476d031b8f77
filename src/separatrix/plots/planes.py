"""A plane through rows of any number of columns, and the regions and boundaries of a linear rule in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError, SettingError
from ..fitting.closed.support import Support
from ..numerics.arrays import Floats
from ..results.linear_rule import LinearRule
from .inputs import Table, are_scores, known, weights_of

TINY = 1e-9
"""A direction counts if its size is at least this part of the largest."""


@dataclass(frozen=True, eq=False)
class Plane:
    """x = origin + directionsᵀ t: the points that are drawn, and where each row falls."""

    origin: Floats
    directions: Floats
    """2 × columns."""
    points: Floats
    """t of each row, n × 2."""
    axes: tuple[str, str]
    held: dict[str, float]
    """Columns that stay at their mean, and that mean."""
    note: str
    columns: tuple[int | None, int | None]
    """The places of the columns that are the axes; None where an axis is a direction of all columns."""
    exact: bool
    """Whether the score of a linear model at a row's place in the plane is that of the row."""

    def at(self, t: Floats) -> Floats:
        """The rows that points of the plane stand for."""
        return np.asarray(self.origin + t @ self.directions)


def two_columns(table: Table, features: Any, domain: Support) -> Plane:
    """x with two columns free and all others at their means, or at what the model knows nearest to them."""
    d = len(table.names)
    if features is None:
        if d != 2:
            raise DataError(
                f"has {d} columns, and a picture two: name them by features=[…, …], the others are held at their "
                "mean; or ask for plane='best'.",
                array="X",
            )
        features = (0, 1)
    chosen = table.places(features, 2)
    if len(chosen) != 2:
        raise SettingError("features", features, "a picture of regions needs two columns.")
    mean = table.values.mean(axis=0)
    origin = known(mean, domain)
    means = bool((origin == mean)[[j for j in range(d) if j not in chosen]].all())
    origin[chosen] = 0.0
    directions = np.zeros((2, d))
    directions[[0, 1], chosen] = 1.0
    held = {table.names[j]: float(origin[j]) for j in range(d) if j not in chosen}
    names = (table.names[chosen[0]], table.names[chosen[1]])
    words, columns = _held_words(held, means), (chosen[0], chosen[1])
    return Plane(origin, directions, table.values[:, chosen], names, held, words, columns, not held)


def best_plane(table: Table, model: Any) -> Plane:
    """span(w̃, v₁): the weights per standard deviation, and the widest direction of the rows that is left over.

    Columns are centred and divided by their standard deviations. Of one row of weights the first axis is along w̃ and
    the second along the leading principal direction of what w̃ leaves; of several rows their two leading directions.
    A score that depends on the plane alone is the same at a row and at its place in the plane: so the picture is exact
    for linear models of two or three classes.
    """
    d = len(table.names)
    if d < 2:
        raise DataError("has one column, and the best plane needs two at least: draw it by ResponseDisplay.", array="X")
    origin, scale = table.values.mean(axis=0), table.values.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    U = (table.values - origin) / scale
    W = weights_of(model, d)
    first, left = _spanned(np.zeros((0, d)) if W is None else (W - W.mean(axis=0) if len(W) > 2 else W) * scale)
    basis = first
    if len(basis) < 2:
        rest = U - U @ basis.T @ basis
        basis = np.vstack([basis, np.linalg.svd(rest, full_matrices=False)[2][: 2 - len(basis)]])
    names = ["first direction of the weights", "second direction of the weights"]
    if len(first) == 1:
        names = ["along the weights", "widest direction left over"]
    elif not len(first):
        names = ["widest direction of the rows", "second widest direction"]
    axes = (f"{names[0]} (st. dev.)", f"{names[1]} (st. dev.)")
    note = _plane_words(len(first), left, d)
    exact = W is not None and bool(len(first)) and left < TINY and are_scores(model, table.given, table.values, W)
    return Plane(origin, basis * scale, U @ basis.T, axes, {}, note, (None, None), exact)


def _spanned(W: Floats) -> tuple[Floats, float]:
    """The two leading directions of the rows of W, signed by the last of them, and the share of W they leave out."""
    if not W.size or not W.any():
        return np.zeros((0, W.shape[1])), 0.0
    _, sizes, directions = np.linalg.svd(W, full_matrices=False)
    kept = min(2, int((sizes > TINY * sizes[0]).sum()))
    basis = directions[:kept]
    signs = np.where(basis @ W[-1] < 0, -1.0, 1.0)
    return basis * signs[:, None], float((sizes[kept:] ** 2).sum() / (sizes**2).sum())


def _plane_words(found: int, left: float, d: int) -> str:
    if not found:
        return f"the widest plane through {d} columns: the model has no weights of its columns"
    if left < TINY:
        return f"the plane of the weights through {d} columns"
    return f"the plane that holds {1 - left:.0%} of the weights of {d} columns"


def _held_words(held: dict[str, float], means: bool) -> str:
    if not held:
        return ""
    if len(held) > 3:
        return f"{len(held)} other columns held at their means" + ("" if means else ", or next to them")
    values = ", ".join(f"{name} = {value:.3g}" for name, value in held.items())
    return f"{values} (held {'at' if means else 'next to'} the mean)"


PARALLEL = 1e-12
"""A slope of at most this size, relative to the normal, is that of a parallel line."""
UNIT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
"""The corners of the unit square, counter-clockwise."""


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
