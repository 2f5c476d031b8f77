"""Where the value of a minimum is written: beside its mark, and off its arrow and the path of a solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .style import current

LETTERS = 8.5
PLACES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Above, below, right, left and between: the first that is free, else the one that is farthest from all else."""
AWAY = (24.0, 17.0)
"""How far the middle of the letters is from the mark, across and up, in points."""
HALF = (17.0, 7.0)
"""Half the width and height of the letters, in points."""
FREE = 8.0
"""Points between the letters and a path that is not touched."""


def write_value(ax: Any, value: float, place: Floats, ways: Sequence[Floats]) -> None:
    """Three digits of the value near the place, inside the axes and off the ways: a path, an arrow."""
    shift = _shift(ax, place, ways)
    ax.annotate(
        f"{value:.3f}".rstrip("0").rstrip("."), place, xytext=shift, textcoords="offset points", ha="center",
        va="center", fontsize=LETTERS, zorder=9,
        bbox={"fc": current().paper, "ec": "none", "alpha": 0.8, "pad": 1.2},
    )  # fmt: skip


def _shift(ax: Any, place: Floats, ways: Sequence[Floats]) -> tuple[float, float]:
    points = 72 / ax.figure.dpi
    at = ax.transData.transform(place) * points
    frame = ax.get_window_extent()
    low, high = np.array([frame.x0, frame.y0]) * points, np.array([frame.x1, frame.y1]) * points
    way = np.vstack([np.empty((0, 2)), *(ax.transData.transform(_dense(each)) * points for each in ways)])
    best, most = (0.0, AWAY[1]), -np.inf
    for side in PLACES:
        shift = np.array(side) * AWAY
        middle = at + shift
        inside = float(np.minimum(middle - HALF - low, high - middle - HALF).min())
        beyond = np.maximum(np.abs(way - middle) - HALF, 0)
        room = min(float(np.hypot(*beyond.T).min()) if len(way) else FREE, FREE)
        room = room if inside >= 0 else inside - FREE
        if room > most:
            best, most = (float(shift[0]), float(shift[1])), room
    return best


def _dense(path: Floats) -> Floats:
    """The path with points between its points, so that a long step counts all along."""
    t = np.linspace(0, 1, 40)[:, None, None]
    between = path[:-1] + t * np.diff(path, axis=0)
    return np.vstack([path, between.reshape(-1, 2)])
