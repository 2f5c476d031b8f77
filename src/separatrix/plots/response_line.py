"""The response along one column, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Floats
from .legends import legend_below
from .style import DASHES, class_words, current, dress, look, row_size

if TYPE_CHECKING:
    from .response import ResponseDisplay

GOLDEN = 0.6180339887498949
ROOM = 0.1
"""Of the width: thresholds that are nearer to the last one are not written out."""
STRIPS = 0.2
"""The part of the height under the curves that the rows of many classes have."""
SPREAD = 0.035
"""Half the height over which rows of a class are strewn, of the height of the axes."""


def draw_line(ax: Any, display: ResponseDisplay, legend: bool) -> None:
    """Curves, rows and thresholds."""
    (t,), two = display.grid, len(display.classes) == 2
    if display.probabilities is not None:
        low, high = (-0.12, 1.12) if two else (-0.09 * len(display.classes) - 0.06, 1.06)
        _curves(ax, display, t, display.probabilities, "P", "-")
        ax.set_ylabel(f"P({display.classes.tolist()[1]} | x)" if two else "probability")
        ax.set_yticks(np.linspace(0, 1, 5))
        levels = (0.0, 1.0)
        if two and display.scores is not None:
            _score_aside(ax, display, t)
    else:
        z = _shown(display.scores)
        reach = max(2.0, float(np.abs(z).max()))
        low, high = (-1.15 * reach, 1.15 * reach) if two else (z.min() - 0.35 * np.ptp(z), z.max() + 0.05 * np.ptp(z))
        _curves(ax, display, t, z, "score", "-")
        ax.set_ylabel("score z = xᵀw + b" if two else "score")
        levels = (-1.0, 1.0) if reach <= 6 else (-0.95 * reach, 0.95 * reach)
    ax.set_ylim(low, high)
    ax.set_xlim(t[0], t[-1])
    _rows(ax, display, levels if two else None, (low, high))
    _thresholds(ax, display, 0.5 * (low + high) if two else None)
    ax.set_xlabel(display.columns[0])
    if legend:
        legend_below(ax, 3, _entries(ax))


def _shown(scores: Floats | None) -> Floats:
    assert scores is not None
    return scores[:, 1:] if scores.shape[1] == 2 else scores


def _curves(ax: Any, display: ResponseDisplay, t: Floats, values: Floats, what: str, dash: str) -> None:
    if len(display.classes) == 2:
        label = f"P({display.classes.tolist()[1]} | x)" if what == "P" else "score"
        ax.plot(t, values[:, -1], dash, color=current().ink, lw=2, zorder=3, label=label)
        return
    for k, name in enumerate(display.classes.tolist()):
        label = f"P({name} | x)" if what == "P" else f"score of {name}"
        ax.plot(t, values[:, k], ls=DASHES[k % len(DASHES)], color=look(k).colour, lw=2, zorder=3, label=label)


def _score_aside(ax: Any, display: ResponseDisplay, t: Floats) -> None:
    """The score on an axis at the right, zero at the height of one half."""
    right = ax.twinx()
    dress(right)
    z = _shown(display.scores)[:, 0]
    reach = 1.15 * (float(np.abs(z).max()) or 1.0)
    right.plot(t, z, "--", color=current().grey, lw=1.5, label="score z (right axis)")
    right.set_ylim(-reach, reach)
    right.set_ylabel("score z = xᵀw + b")
    right.yaxis.label.set_color(current().grey)
    right.tick_params(axis="y", colors=current().grey)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)
    right.patch.set_visible(True)


def _entries(ax: Any) -> list[Any]:
    """All that has a label, on the axis at the right as well."""
    found = []
    for each in (ax, *(other for other in ax.figure.axes if other is not ax and other.bbox.bounds == ax.bbox.bounds)):
        found += each.get_legend_handles_labels()[0]
    return found


def _rows(ax: Any, display: ResponseDisplay, levels: tuple[float, float] | None, ends: tuple[float, float]) -> None:
    """The rows at the height of their class, strewn a little so that equal ones are seen; of K classes in strips."""
    height, K = ends[1] - ends[0], len(display.classes)
    for k, label in enumerate(display.classes.tolist()):
        colour, marker = look(k)
        x = display.points[display.truth == k, 0]
        strewn = ((np.arange(1, len(x) + 1) * GOLDEN) % 1 - 0.5) * 2 * SPREAD * height
        level = levels[k] if levels is not None else ends[0] + height * STRIPS * (K - k - 0.5) / K
        strewn = strewn if levels is not None else strewn * min(1.0, 2.2 / K)
        ax.scatter(x, level + strewn, s=row_size(len(display.points)), c=colour, marker=marker, lw=0.3,
                   ec=current().paper, alpha=0.85, zorder=2, label=class_words(label))  # fmt: skip


def _thresholds(ax: Any, display: ResponseDisplay, middle: float | None) -> None:
    worn, written, room = current(), -np.inf, ROOM * np.ptp(display.grid[0])
    for n, t in enumerate(display.thresholds):
        ax.axvline(t, color=worn.ink, lw=1, ls=":", zorder=1, label="threshold" if n == 0 else "_")
        if middle is not None:
            ax.plot(t, middle, "D", ms=7, mfc=worn.mark, mec="black", zorder=5)
        if t - written > room:
            written = t
            ax.annotate(f"{t:.3g}", (t, 1), xycoords=("data", "axes fraction"), xytext=(4, -4), fontsize=9,
                        textcoords="offset points", va="top", zorder=6,
                        bbox={"fc": worn.paper, "ec": "none", "alpha": 0.8, "pad": 1})  # fmt: skip
