"""A loss as a landscape over (θ₀, θ₁), its minima marked, and a cut through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.patches import Polygon
from matplotlib.patheffects import Stroke, withStroke

from ..errors import DataError, SettingError, SettingTypeError
from ..numerics.arrays import Floats
from ..theory.surfaces.minima import Minimum
from ..theory.surfaces.surface import Slice, Surface
from .display import Display
from .style import YELLOW, current, dress, legend_below, look
from .style import theme as themed

COLOUR_MAP = "cividis"
"""Dark is low, also to the colour-blind."""
LEVELS = 16
"""Bands of colour, each covering an equal part of the picture."""


class Mark(NamedTuple):
    """How a kind of minimum is drawn, and what the legend says."""

    marker: str
    size: float
    colour: str
    words: str


MARKS = {
    "minimum": Mark("*", 17, YELLOW, "minimum"),
    "local minimum": Mark("D", 8, "white", "local minimum"),
    "flat region": Mark("s", 8, YELLOW, "least, and flat"),
    "at infinity": Mark(">", 10, YELLOW, "lowest at infinity"),
    "local, at infinity": Mark(">", 9, "white", "local, at infinity"),
}


@dataclass(eq=False)
class LossSurfaceDisplay(Display):
    """The surface as contours, with a mark for each minimum: made by `from_surface`, drawn by `plot`.

    A star is the minimum, a diamond a local one; an arrow shows the way to one at infinity, and is white where that is
    local; the region in which mistakes are fewest has an outline. The path of a solver is a white line with arrows from
    its start to its end. `alt_text` says it in words.
    """

    surface: Surface
    path: Floats | None = None
    """Points (θ₀, θ₁), n×2."""

    @classmethod
    def from_surface(cls, surface: Surface, *, path: Any = None) -> LossSurfaceDisplay:
        """A display that keeps the surface, and a path over it; nothing is drawn yet.

        The path is a list of pairs (θ₀, θ₁), or of the steps that `model.steps(X, y)` gives.
        """
        if not isinstance(surface, Surface):
            raise SettingTypeError(
                "surface",
                surface,
                "give what separatrix.surface(…) returns.",
                f"from_surface() was given {type(surface).__name__};",
            )
        return cls(surface, None if path is None else path_of(path, surface))

    @property
    def alt_text(self) -> str:
        """The picture in words, for who cannot see it."""
        s = self.surface
        ranges = f"θ₀ from {s.theta0[0]:.4g} to {s.theta0[-1]:.4g}, θ₁ from {s.theta1[0]:.4g} to {s.theta1[-1]:.4g}"
        found = "; ".join(map(str, s.minima))
        heights = f"from {s.values.min():.4g} to {s.values.max():.4g}"
        words = f"{s.title} of {len(s.criterion.plane.Z)} rows over {ranges}: {heights}. {found}."
        return words if self.path is None else f"{words} {self._path_words(self.path)}"

    @property
    def data(self) -> dict[str, Any]:
        """A line for each point of the path and J there; without a path a line for each point of the grid."""
        s = self.surface
        if self.path is not None:
            values = np.array([s.at(*point) for point in self.path])
            return {"θ₀": self.path[:, 0], "θ₁": self.path[:, 1], "J": values}
        first, second = (each.ravel() for each in np.meshgrid(s.theta0, s.theta1, indexing="ij"))
        return {"θ₀": first, "θ₁": second, "J": s.values.ravel()}

    def _facts(self) -> dict[str, Any]:
        s = self.surface
        return {"loss": s.title, "rows": len(s.criterion.plane.Z), "minima": [str(minimum) for minimum in s.minima]}

    def _path_words(self, path: Floats) -> str:
        s = self.surface
        (start, end), n = (path[0], path[-1]), len(path)
        low, high = np.array([s.theta0[0], s.theta1[0]]), np.array([s.theta0[-1], s.theta1[-1]])
        outside = int(((path < low) | (path > high)).any(axis=1).sum())
        ends = [f"({at[0]:.4g}, {at[1]:.4g}), where J is {s.at(*at):.4g}" for at in (start, end)]
        beyond = f"; {outside} of them outside the picture" if outside else ""
        return f"A path of {n} points from {ends[0]}, to {ends[1]}{beyond}."

    def plot(
        self, ax: Any = None, *, theme: str | None = None, legend: bool = True, title: str | None = None,
        colour_bar: bool = True,
    ) -> Self:  # fmt: skip
        """Draw it, on new axes unless some are given; they are kept as `ax_` and `figure_`."""
        with themed(theme):
            ax = self._axes() if ax is None else self._checked(ax)
            dress(ax)
            filled = self._drawn(ax, legend, title)
            if colour_bar:
                name = "J₀₁" if self.surface.criterion.counts else f"J, {self.surface.title}"
                ax.figure.colorbar(filled, ax=ax, format="%.3g", label=name, ticks=_ticks(self.surface))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        self._drawn(ax, legend, title)

    def _drawn(self, ax: Any, legend: bool, title: str | None) -> Any:
        s = self.surface
        filled = _steps(ax, s) if s.criterion.counts else _bands(ax, s)
        ax.set_xlim(s.theta0[0], s.theta0[-1])
        ax.set_ylim(s.theta1[0], s.theta1[-1])
        for minimum in s.minima:
            if minimum.cone is not None:
                _outline(ax, s, minimum)
            _mark(ax, s, minimum, self.path)
        entries = [] if self.path is None else draw_path(ax, self.path)
        if legend:
            legend_below(ax, 4, [*legend_entries([s]), *entries])
        ax.set_xlabel("θ₀")
        ax.set_ylabel("θ₁")
        ax.set_title(s.title if title is None else title)
        return filled


def legend_entries(surfaces: Sequence[Surface]) -> list[Any]:
    """A legend entry for each kind of minimum that occurs, in a fixed order."""
    kinds = {minimum.kind for surface in surfaces for minimum in surface.minima}
    marks = [mark for kind, mark in MARKS.items() if kind in kinds]
    return [
        plt.Line2D([], [], ls="none", marker=m.marker, ms=min(m.size, 13), mfc=m.colour, mec="black", label=m.words)
        for m in marks
    ]


def _ticks(s: Surface) -> Floats:
    """Every number of mistakes if they are few; else every fourth edge of a band."""
    if not s.criterion.counts:
        return _levels(s)[::4]
    found = np.unique(s.values)
    return found if len(found) <= LEVELS else np.linspace(found[0], found[-1], 5)


def _levels(s: Surface) -> Floats:
    levels = np.unique(np.quantile(s.values, np.linspace(0, 1, LEVELS + 1)))
    return levels if len(levels) > 2 else np.linspace(s.values.min(), s.values.min() + 1, LEVELS)


def _bands(ax: Any, s: Surface) -> Any:
    levels = _levels(s)
    filled = ax.contourf(s.theta0, s.theta1, s.values.T, levels=levels, cmap=COLOUR_MAP, norm=_even(levels))
    ax.contour(s.theta0, s.theta1, s.values.T, levels=levels[1:-1], colors="white", linewidths=0.4, alpha=0.6)
    return filled


def _even(levels: Floats) -> Any:
    """Colours by the rank of a band, so that low ground, where minima are, is not all one colour."""
    return BoundaryNorm(levels, plt.get_cmap(COLOUR_MAP).N)


def _steps(ax: Any, s: Surface) -> Any:
    """Mistakes have few values and sharp edges: cells, not lines."""
    return ax.pcolormesh(s.theta0, s.theta1, s.values.T, cmap=COLOUR_MAP, shading="nearest", rasterized=True)


def _outline(ax: Any, s: Surface, minimum: Minimum) -> None:
    """The cone from the origin to beyond the rim."""
    cone = minimum.cone
    if cone is None or cone.whole:
        return
    far = 4 * max(np.abs(s.theta0).max(), np.abs(s.theta1).max())
    rays = [far * np.array(ray) / np.abs(ray).max() for ray in (cone.start, cone.end)]
    ax.add_patch(Polygon([(0, 0), *rays], closed=True, fill=False, ec=YELLOW, lw=1.8, zorder=3))


def _mark(ax: Any, s: Surface, minimum: Minimum, path: Floats | None) -> None:
    mark, ways = MARKS[minimum.kind], [] if path is None else [path]
    radial = minimum.cone is not None or not minimum.attained
    place = _towards_rim(s, np.array(minimum.theta), 0.72) if radial else np.array(minimum.theta)
    if minimum.attained:
        ax.plot(*place, marker=mark.marker, ms=mark.size, mfc=mark.colour, mec="black", mew=1.2, ls="none", zorder=5)
    else:
        tip = _towards_rim(s, np.array(minimum.theta), 0.97)
        _arrow(ax, place, tip, mark)
        ways.append(np.array([place, tip]))
    if not minimum.kind.startswith("local, "):  # they may be many
        write_value(ax, minimum.value, place, ways)


def _towards_rim(s: Surface, theta: Floats, part: float) -> Floats:
    """The point on the ray of θ that lies the given part of the way to the rim."""
    rims = [s.theta0[-1] if theta[0] > 0 else s.theta0[0], s.theta1[-1] if theta[1] > 0 else s.theta1[0]]
    ways = [rim / t for rim, t in zip(rims, theta, strict=True) if t and rim / t > 0]
    return np.asarray(part * min(ways, default=0.0) * theta)


def _arrow(ax: Any, start: Floats, tip: Floats, mark: Mark) -> None:
    """The way to infinity."""
    shape = f"simple,head_width={mark.size / 10},head_length={mark.size / 10},tail_width={mark.size / 30}"
    ax.annotate("", tip, start, arrowprops={"arrowstyle": shape, "fc": mark.colour, "ec": "black", "lw": 1}, zorder=5)


ARROWS = 12
"""The most arrows drawn along a path."""
HALO = "black"
"""The edge around the white path, so that it is seen on dark ground and on light."""


def path_of(path: Any, surface: Surface) -> Floats:
    """The points (θ₀, θ₁) of a path, n×2: of pairs, or of what `model.steps(X, y)` gave.

    Of one column a step is (intercept, weight); of two it is their weights, and there must be no intercept.
    """
    points = [_point(each, number, surface.criterion.plane.lifted) for number, each in enumerate(path)]
    if not points:
        raise SettingError("path", path, "give pairs (θ₀, θ₁), or what model.steps(X, y) gives.", "path is empty;")
    found = np.array(points, dtype=np.float64)
    if not np.isfinite(found).all():
        raise SettingError(
            "path",
            path,
            "finite numbers are needed.",
            f"path holds {found[~np.isfinite(found).all(axis=1)][0].tolist()};",
        )
    return found


def _point(each: Any, number: int, lifted: bool) -> tuple[float, float]:
    if not hasattr(each, "weights"):
        try:
            first, second = (float(number) for number in each)
        except (TypeError, ValueError):
            raise SettingError(
                "path", each, "give a pair (θ₀, θ₁), or a step of model.steps(X, y).", f"path[{number}] is {each!r};"
            ) from None
        return first, second
    w, b = np.ravel(each.weights), np.ravel(each.intercept)
    if lifted and len(w) == 1 and len(b) == 1:
        return float(b[0]), float(w[0])
    if not lifted and len(w) == 2 and not b.any():
        return float(w[0]), float(w[1])
    needed = "one weight and an intercept" if lifted else "two weights and no intercept (fit_intercept=False)"
    raise DataError(f"path[{number}] has {len(w)} weights and the intercept {b.tolist()}; this surface is of {needed}.")


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


LETTERS = 8.5
"""The size of the letters of a value, in points."""
PLACES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Above, below, right, left and between: the first that is free, else the one that is farthest from all else."""
AWAY = (24.0, 17.0)
"""How far the middle of the letters is from the mark, across and up, in points."""
HALF = (17.0, 7.0)
"""Half the width and height of the letters, in points."""
FREE = 8.0
"""Points between the letters and a path, from which on they do not touch."""


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


@themed()
def draw_slice(cut: Slice, ax: Any = None, *, colour: str | None = None) -> Any:
    """The curve t ↦ J with one weight held, and its minima; returns the axes."""
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
    dress(ax)
    ax.plot(cut.t, cut.values, color=colour or look(0).colour, lw=1.8)
    moving = 0 if cut.fixed == "θ₁" else 1
    for minimum in cut.minima:
        if not minimum.attained:
            continue
        mark = MARKS[minimum.kind]
        if minimum.span is not None:
            ends = np.clip(minimum.span, cut.t[0], cut.t[-1])
            ax.plot(ends, [minimum.value] * 2, color=YELLOW, lw=6, solid_capstyle="butt", zorder=1.5)
            continue
        at = minimum.theta[moving]
        ax.plot(at, minimum.value, mark.marker, ms=mark.size * 0.8, mfc=mark.colour, mec="black", mew=1.1, zorder=4)
        ax.annotate(
            f"{at:.2f}", (at, minimum.value), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=LETTERS
        )
    ax.set_xlabel("θ₀" if moving == 0 else "θ₁")
    ax.set_ylabel(f"J at {cut.fixed} = {cut.at:g}")
    ax.set_xlim(cut.t[0], cut.t[-1])
    return ax


def describe_slice(cut: Slice) -> str:
    """The curve in words."""
    found = "; ".join(f"{m.kind} {m.value:.4g}" + _where(m, 0 if cut.fixed == "θ₁" else 1) for m in cut.minima)
    return f"{cut.title} at {cut.fixed} = {cut.at:g}: {found}."


def _where(minimum: Minimum, moving: int) -> str:
    if minimum.span is not None:
        return f" from {minimum.span[0]:.4g} to {minimum.span[1]:.4g}"
    return f" at {minimum.theta[moving]:.4g}" if minimum.attained else ""
