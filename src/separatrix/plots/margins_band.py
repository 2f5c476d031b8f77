"""The band along the boundary of a linear rule of two columns, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ..numerics.arrays import Floats
from .lines import boundary, regions
from .style import class_words, current, look, ring_size, row_size

if TYPE_CHECKING:
    from .margins import MarginsDisplay

PAD, STRETCHED, FLATTEST = 0.12, 4.0, 1.4
"""The free part of a column's range on each side; ranges that differ more are not drawn on one scale; if they are, the
picture is at most so many times as wide as high, or as high as wide."""


def draw_band(ax: Any, display: MarginsDisplay) -> None:
    """The boundary, the lines at the margin, the rows, and rings around those that bear it."""
    worn, rule, rows = current(), display.rule, len(display.X)
    assert rule is not None
    low, high, alike = _box(display.X)
    if display.half is not None:
        inner = regions(rule, low, high, display.half)
        corners = np.array([low, (high[0], low[1]), high, (low[0], high[1]), low])
        holes = [Path(np.vstack([region[::-1], region[-1:]]), closed=True) for region in inner]
        band = Path.make_compound_path(Path(corners, closed=True), *holes)
        ax.add_patch(PathPatch(band, fc=worn.grey, ec=worn.grey, alpha=0.2, lw=0, zorder=0.5, label="the band"))
        for ends in (edge for region in inner for edge in _inside(region, low, high)):
            ax.plot(*ends.T, "--", color=worn.grey, lw=1.1, zorder=1)
    for n, ends in enumerate(boundary(rule, low, high)):
        ax.plot(*ends.T, color=worn.ink, lw=1.6, zorder=2, label="boundary" if n == 0 else "_")
    for k, label in enumerate(display.classes.tolist()):
        colour, marker = look(k)
        points = display.X[display.truth == k]
        ax.scatter(*points.T, s=row_size(rows), c=colour, marker=marker, lw=0.4, ec=worn.paper, zorder=3,
                   label=class_words(label))  # fmt: skip
    if len(display.ringed):
        words = f"{display.ringed_words} ({len(display.ringed)})"
        ax.scatter(
            *display.X[display.ringed].T, s=ring_size(rows), fc="none", ec=worn.ink, lw=1.1, zorder=4, label=words
        )
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    if alike:
        ax.set_aspect("equal", adjustable="box")  # so that a margin is as wide as it is long
    ax.set_xlabel(display.columns[0])
    ax.set_ylabel(display.columns[1])


def _box(X: Floats) -> tuple[Floats, Floats, bool]:
    """What is shown, and whether both columns have one scale."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = PAD * np.where(high > low, high - low, 1.0)
    size = high - low + 2 * pad
    alike = bool(size.max() <= STRETCHED * size.min())
    pad = pad + (np.maximum(size.max() / FLATTEST - size, 0) / 2 if alike else 0.0)
    return low - pad, high + pad, alike


def _inside(region: Floats, low: Floats, high: Floats) -> list[Floats]:
    """The edges of a region that do not run along the rim."""
    near = 1e-9 * (high - low)
    edges = [np.array([p, q]) for p, q in zip(region, np.roll(region, -1, 0), strict=True)]
    return [
        e for e in edges if not ((np.abs(e - low) < near).all(axis=0) | (np.abs(e - high) < near).all(axis=0)).any()
    ]
