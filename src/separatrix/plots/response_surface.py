"""The response over two columns, as a surface in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Floats
from .legends import legend_below
from .style import class_words, current, look, row_size

if TYPE_CHECKING:
    from .response import ResponseDisplay

COLOUR_MAP = "cividis"


def draw_surface(ax: Any, display: ResponseDisplay, legend: bool) -> None:
    """The surface, the boundary upon it and under it, and the rows on floor and ceiling by their class."""
    worn, k = current(), display.target
    A, B = np.meshgrid(*display.grid)
    likely = display.probabilities is not None
    Z = _height(display).reshape(A.shape)
    low, high = (0.0, 1.0) if likely else (min(float(Z.min()), 0.0), max(float(Z.max()), 0.0))
    floor = low - 0.25 * (high - low)
    ceiling = high + 0.06 * (high - low)
    ax.computed_zorder = False  # one looks from above: what is on the floor is behind the surface, the ceiling before
    ax.plot_surface(A, B, Z, cmap=COLOUR_MAP, vmin=low, vmax=high, alpha=0.72, lw=0, rcount=60, ccount=60, zorder=2)
    lead = _lead(display).reshape(A.shape)
    if lead.min() < 0 < lead.max():
        _boundary(ax, display, lead, Z, floor)
    own = display.truth == k
    label = display.classes.tolist()[k]
    others = [name for name in display.classes.tolist() if name != label]
    sides = ((~own, floor, 1, 0 if k else 1, class_words(others[0]) if len(others) == 1 else "other classes"),
             (own, ceiling, 7, k, class_words(label)))  # fmt: skip
    for which, level, order, looks, words in sides:
        colour, marker = look(looks)
        ax.scatter(*display.points[which].T, level, s=0.75 * row_size(len(own)), c=colour, marker=marker,
                   depthshade=False, lw=0.3, zorder=order, ec=worn.paper, label=words)  # fmt: skip
    ax.set_zlim(floor, ceiling)
    if likely:
        ax.set_zticks(np.linspace(0, 1, 5))
    ax.set_xlabel(display.columns[0])
    ax.set_ylabel(display.columns[1])
    ax.set_zlabel(f"P({label} | x)" if likely else f"score of {label}")
    ax.view_init(elev=24, azim=-125)
    ax.set_box_aspect((4, 4, 3.2), zoom=0.98)
    if legend:
        legend_below(ax, 4, gap=6)


def _height(display: ResponseDisplay) -> Floats:
    values = display.probabilities if display.probabilities is not None else display.scores
    assert values is not None
    if display.scores is not None and len(display.classes) == 2:
        return np.asarray(values[:, 1] if display.target else -values[:, 1])
    return np.asarray(values[:, display.target])


def _lead(display: ResponseDisplay) -> Floats:
    """By how much the target's score, or log-probability, leads the best other one."""
    values = display.scores
    if values is None:
        assert display.probabilities is not None
        values = np.log(np.maximum(display.probabilities, 1e-300))
    return np.asarray(values[:, display.target] - np.delete(values, display.target, axis=1).max(axis=1))


def _boundary(ax: Any, display: ResponseDisplay, lead: Floats, Z: Floats, floor: float) -> None:
    """The line where the target begins to win: on the surface, and as a shadow on the floor."""
    from contourpy import contour_generator
    from scipy.interpolate import RegularGridInterpolator

    worn = current()
    height = RegularGridInterpolator(display.grid[::-1], Z)
    low, high = (np.array([t[end] for t in display.grid]) for end in (0, -1))
    found: list[Any] = list(contour_generator(x=display.grid[0], y=display.grid[1], z=lead).lines(0.0))
    for n, points in enumerate(found):
        line = np.clip(points, low, high)  # a last digit beyond the rim has no height
        ax.plot(*line.T, height(line[:, ::-1]), color=worn.ink, lw=2.4, zorder=6, label="boundary" if n == 0 else "_")
        ax.plot(*line.T, np.full(len(line), floor), color=worn.grey, lw=1.6, ls="--", zorder=0)
