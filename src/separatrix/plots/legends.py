"""Legends under the axes, where they hide no row: not wider than the axes, and nothing of them cut off."""

from __future__ import annotations

from typing import Any

from matplotlib.transforms import ScaledTranslation

SMALL = 9.0
"""The size of letters in legends and notes, in points."""
BELOW = 38.0
"""Points between the axes and the legend: the height of ticks and label."""
ASIDE = 0.75
"""Inches that the label and the numbers of an axis take beside the axes."""
ABOVE = 0.5
"""Inches between a legend and the axes in the row below: their title."""
RIM = 0.05
"""Inches between a legend and the rim of the figure."""
LEAST = 0.15
"""What of the height of a figure the axes keep: where legends would take more they are not made room for."""


def legend_below(ax: Any, columns: int = 4, handles: Any = None, gap: float = BELOW) -> None:
    """A legend under the axes and their label, in so many columns at the most, and in fewer where it would be too wide.

    A figure with a layout of its own makes room for it; in one without, the axes are moved up.
    """
    if handles is None:
        handles, _ = ax.get_legend_handles_labels()
    if not handles:
        return
    room = _width(ax)
    lines = -(-len(handles) // columns)
    while True:
        many = -(-len(handles) // lines)  # as many in each column, as near as can be
        legend = _put(ax, many, handles, gap)
        if many == 1 or legend.get_window_extent().width <= room:
            break
        lines += 1
    _make_room(ax, legend)


def _put(ax: Any, columns: int, handles: Any, gap: float) -> Any:
    below = ax.transAxes + ScaledTranslation(0, -gap / 72, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=columns,
        frameon=False, fontsize=SMALL, borderaxespad=0.2, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip


def _width(ax: Any) -> float:
    """Of the axes in pixels; where a layout will change it, what the figure has for them."""
    spec, now = ax.get_subplotspec(), float(ax.get_window_extent().width)
    if spec is None or _engine(ax) is None:
        return now
    spec = spec.get_topmost_subplotspec()
    ratios = spec.get_gridspec().get_width_ratios() or [1.0] * spec.get_gridspec().ncols
    share = sum(ratios[k] for k in spec.colspan) / sum(ratios)
    return float(max(ax.figure.bbox.width * share - ASIDE * ax.figure.dpi, ASIDE * ax.figure.dpi))


def _engine(ax: Any) -> Any:
    return ax.figure.get_layout_engine() if hasattr(ax.figure, "get_layout_engine") else None


def _make_room(ax: Any, legend: Any) -> None:
    """Move the axes of a figure without a layout so that the legend is inside it, and above the next row of axes."""
    figure, spec = ax.figure, ax.get_subplotspec()
    if spec is None or _engine(ax) is not None or not hasattr(figure, "subplots_adjust"):
        return
    spec = spec.get_topmost_subplotspec()
    place, rows, dots = figure.subplotpars, spec.get_gridspec().nrows, figure.dpi
    reach = ax.get_window_extent().y0 - legend.get_window_extent().y0
    each = (place.top - place.bottom) / (rows + (rows - 1) * place.hspace)
    bottom, between = place.bottom, place.hspace * each
    if spec.rowspan.stop == rows:
        bottom = max(bottom, (reach + RIM * dots) / figure.bbox.height)
    else:
        between = max(between, (reach + ABOVE * dots) / figure.bbox.height)
    left = (place.top - bottom - (rows - 1) * between) / rows
    if left > LEAST / rows and (bottom, between) != (place.bottom, place.hspace * each):
        figure.subplots_adjust(bottom=bottom, hspace=between / left)
