"""The way of a solver over a loss surface."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patheffects import Stroke, withStroke

from ..numerics.arrays import Floats
from ..theory.surfaces.surface import Surface

ARROWS = 12
"""So many steps have an arrow each; of more only some."""
HALO = "black"
"""Around white, so that the way is seen on dark ground and on light."""


def path_of(path: Any, surface: Surface) -> Floats:
    """The points (θ₀, θ₁) of a path, n×2: of pairs, or of what `model.steps(X, y)` gave.

    Of one column a step is (intercept, weight); of two it is their weights, and there must be no intercept.
    """
    points = [_point(each, number, surface.criterion.plane.lifted) for number, each in enumerate(path)]
    if not points:
        raise ValueError("path is empty; give pairs (θ₀, θ₁), or what model.steps(X, y) gives.")
    found = np.array(points, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"path holds {found[~np.isfinite(found).all(axis=1)][0].tolist()}; finite numbers are needed.")
    return found


def _point(each: Any, number: int, lifted: bool) -> tuple[float, float]:
    if not hasattr(each, "weights"):
        try:
            first, second = (float(number) for number in each)
        except (TypeError, ValueError):
            raise ValueError(
                f"path[{number}] is {each!r}; give a pair (θ₀, θ₁), or a step of model.steps(X, y)."
            ) from None
        return first, second
    w, b = np.ravel(each.weights), np.ravel(each.intercept)
    if lifted and len(w) == 1 and len(b) == 1:
        return float(b[0]), float(w[0])
    if not lifted and len(w) == 2 and not b.any():
        return float(w[0]), float(w[1])
    needed = "one weight and an intercept" if lifted else "two weights and no intercept (fit_intercept=False)"
    raise ValueError(
        f"path[{number}] has {len(w)} weights and the intercept {b.tolist()}; this surface is of {needed}."
    )


def draw_path(ax: Any, points: Floats) -> list[Any]:
    """The way as a line with a dot for each step and arrows along it, start and end marked; returns legend entries."""
    halo = [Stroke(linewidth=3.6, foreground=HALO), withStroke(linewidth=3.6, foreground=HALO)]
    ax.plot(*points.T, "-", color="white", lw=1.8, zorder=6, path_effects=halo)
    ax.plot(*points.T, "o", ms=4, mfc="white", mec=HALO, mew=0.8, zorder=7)
    size = np.abs(np.array([np.diff(ax.get_xlim()), np.diff(ax.get_ylim())])).ravel()
    long = np.flatnonzero((np.abs(np.diff(points, axis=0)) / size).max(axis=1) > 0.03)
    for i in long[:: max(1, -(-len(long) // ARROWS))]:
        middle = (points[i] + points[i + 1]) / 2
        ax.annotate("", middle + (points[i + 1] - points[i]) * 0.08, middle, zorder=7,
                    arrowprops={"arrowstyle": "-|>", "fc": "white", "ec": HALO, "mutation_scale": 15})  # fmt: skip
    (start,) = ax.plot(*points[0], "o", ms=10, mfc="#56B4E9", mec=HALO, mew=1.2, ls="none", zorder=8, label="start")
    (end,) = ax.plot(*points[-1], "X", ms=8, mfc="#FF8C42", mec=HALO, mew=1.2, ls="none", zorder=8, label="end")
    return [start, end]
