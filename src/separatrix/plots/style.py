"""Looks: a colour that the colour-blind tell apart, and a marker, for each class; on light paper or on dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from ..errors import SettingError

MARKERS = "o^sDvP<X"
"""Of the classes, in their order."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2)))
"""Of lines, in the order of their classes."""


class Theme(NamedTuple):
    """Paper and inks. Every ink has a contrast of 3:1 with the paper at least, letters have 7:1."""

    name: str
    paper: str
    ink: str
    """Letters, axes and boundaries."""
    grey: str
    """For what stands back, as the line before an update."""
    mark: str
    """For the mark that a picture is about; filled, with an edge of ink."""
    colours: tuple[str, ...]
    """The colours of the classes, in their order."""
    veil: float
    """The opacity of a class's region."""
    sure: float
    """The opacity of a region where the class is certain, in a picture of probabilities."""


LIGHT = Theme(
    "light", "#FFFFFF", "#000000", "#555555", "#F0E442",
    ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B3410", "#9A4DFF", "#000000"), 0.18, 0.46,
)  # fmt: skip
"""Four of Okabe and Ito's colours (their others are too faint on white, or are the mark) and three that all eyes tell
apart from them."""
DARK = Theme(
    "dark", "#15181D", "#F2F2F2", "#A9AFB6", "#F0E442",
    ("#56B4E9", "#FF8C42", "#009E73", "#F7B2D9", "#D23B50", "#9B6BFF", "#FFFFFF"), 0.26, 0.32,
)  # fmt: skip
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}
YELLOW = LIGHT.mark
"""The mark, which is the same on light paper and on dark."""

_worn: ContextVar[Theme] = ContextVar("theme of the pictures", default=LIGHT)


class Look(NamedTuple):
    """How a class is drawn."""

    colour: str
    marker: str


def current() -> Theme:
    """The theme that pictures are drawn in now."""
    return _worn.get()


@contextmanager
def theme(name: str | None = None) -> Iterator[Theme]:
    """Draw pictures on light paper or on dark inside this context; None leaves the theme as it is.

    It is a context: `with theme("dark"): …`. Afterwards matplotlib's settings are what they were.
    """
    if name is not None and name not in THEMES:
        raise SettingError("theme", name, f"it must be one of {', '.join(map(repr, THEMES))}.")
    chosen = current() if name is None else THEMES[name]
    token = _worn.set(chosen)
    try:
        with mpl.rc_context(_settings(chosen)):
            yield chosen
    finally:
        _worn.reset(token)


def _settings(chosen: Theme) -> dict[str, Any]:
    paper = dict.fromkeys(("figure.facecolor", "figure.edgecolor", "axes.facecolor"), chosen.paper)
    inked = ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color", "hatch.color")
    return {**paper, **dict.fromkeys(inked, chosen.ink), "grid.color": chosen.grey, "grid.linewidth": 0.5}


def dress(ax: Any) -> None:
    """Give axes that someone else made the paper and ink of the theme."""
    worn = current()
    ax.figure.patch.set_facecolor(worn.paper)
    ax.set_facecolor(worn.paper)
    for spine in ax.spines.values():
        spine.set_edgecolor(worn.ink)
    ax.tick_params(colors=worn.ink, which="both")
    solid = hasattr(ax, "zaxis")
    for axis in (ax.xaxis, ax.yaxis, *((ax.zaxis,) if solid else ())):
        axis.label.set_color(worn.ink)
        if solid:
            axis.set_pane_color(mpl.colors.to_rgba(worn.grey, 0.12))
            axis.line.set_color(worn.ink)
    for title in (each for each in ax.get_children() if isinstance(each, Text) and each not in ax.texts):
        title.set_color(worn.ink)  # left, middle and right


def look(k: int) -> Look:
    """The look of class k; the first 56 differ."""
    colours = current().colours
    return Look(colours[k % len(colours)], MARKERS[k % len(MARKERS)])


def row_size(rows: int) -> float:
    """22 √(150/n) square points for the mark of each of n rows, 12 at least and 80 at most: few rows are seen well."""
    return float(np.clip(22 * np.sqrt(150 / max(rows, 1)), 12, 80))


def ring_size(rows: int, around: float = 4.0) -> float:
    """The area of a ring around the mark of one of n rows, so many points wider than the mark."""
    return float((np.sqrt(row_size(rows)) + around) ** 2)


def class_words(label: Any) -> str:
    """How a class is called in a legend; numbers have a minus and not a hyphen."""
    text = str(label)
    return f"class −{text[1:]}" if text.startswith("-") and text[1:2].isdigit() else f"class {text}"


def contrast(one: str, other: str) -> float:
    """(L₁ + 0.05)/(L₂ + 0.05), L the relative luminances of two colours, the lighter above: from 1 to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(colour)]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def plural(count: int, word: str = "row") -> str:
    """1 row, 2 rows."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


LETTERS = 9.0
"""The size of letters in legends, in points."""
BELOW = 38.0
"""Points between the axes and the legend: the height of ticks and label."""
ASIDE = 0.75
"""Inches that the label and the numbers of an axis take beside the axes."""
ABOVE = 0.5
"""Inches between a legend and the axes in the row below: their title."""
RIM = 0.05
"""Inches between a legend and the rim of the figure."""
LEAST = 0.15
"""The part of a figure's height that its axes keep; a legend that needs more gets no room made for it."""


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
        frameon=False, fontsize=LETTERS, borderaxespad=0.2, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip


def _width(ax: Any) -> float:
    """The width of the axes in pixels, or, where a layout will change it, the width that the figure has for them."""
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
