"""The response of a model along one column or over two: score, probability, and where the predicted class changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Refusal, SettingError
from ..numerics.arrays import Floats, Indices
from .display import Display
from .inputs import (
    Table,
    check_fitted,
    classes_of,
    domain_of,
    ends_of,
    known,
    labels_of,
    places_of,
    probabilities_of,
    scores_of,
    table_of,
)
from .style import DASHES, class_words, current, dress, legend_below, look, plural, row_size

RESPONSE_PAD = 0.08
"""How much of a column's range is left free on each side."""
FINE = {1: 401, 3: 61}
"""Points along each axis of a curve (1), and of a surface (3)."""
RESPONSES = ("score", "probability", "both")
"""What can be drawn; of a surface not both."""


@dataclass(eq=False)
class ResponseDisplay(Display):
    """z = xᵀw + b and P = σ(z) against a column, or as a surface over two.  [003 slide 10; 004 §4.1]

    Of one column: curves, the rows at the height of their class, and thresholds where another class begins to win. The
    score has an axis of its own at the right, on which 0 is at the height of P = ½. Of two columns: a surface in three
    dimensions with the boundary drawn upon it and on the floor.
    """

    grid: tuple[Floats, ...]
    """The points of each column that is drawn."""
    scores: Floats | None
    """At these points, grid × K; of two classes zero for the first."""
    probabilities: Floats | None
    thresholds: Floats
    """Where the predicted class changes, along one column."""
    points: Floats
    """The rows in the columns that are drawn."""
    truth: Indices
    classes: NDArray[Any]
    columns: tuple[str, ...]
    held: dict[str, float]
    target: int
    """The place of the class whose surface is drawn, or of two classes the second."""
    name: str

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, features: Any = None, dimension: int | None = None,
        response: str | None = None, target: Any = None, ax: Any = None, theme: str | None = None, **looks: Any,
    ) -> ResponseDisplay:  # fmt: skip
        """The response of a fitted model along one column, or over two; other columns are held at their means.

        `features` names one column or two; `dimension` is then 1, a curve, or 3, a surface over two columns. If neither
        is given the number of columns decides. The model is asked for no number that it does not know: counts begin at
        0, and a column of whole numbers makes steps. `response` is "probability", "score" or, of a curve, "both"; None
        is what the model has. `target` is the class whose surface is drawn: of two classes the second unless said
        otherwise, of more the last.
        """
        check_fitted(model)
        table = table_of(X, model)
        classes = classes_of(model, X)
        truth = places_of(labels_of(y, table.count), classes)
        chosen = _columns(table, features, dimension)
        wanted = _response(model, response, len(chosen))
        domain, fine = domain_of(model, len(table.names)), FINE[1 if len(chosen) == 1 else 3]
        grid = tuple(np.linspace(*ends_of(table.values[:, j], domain, j, RESPONSE_PAD), fine) for j in chosen)
        held = known(table.values.mean(axis=0), domain)
        rows = np.tile(held, (int(np.prod([len(t) for t in grid])), 1))
        rows[:, chosen] = np.column_stack([each.ravel() for each in np.meshgrid(*grid)])
        given, K = table.like(known(rows, domain)), len(classes)
        scores = scores_of(model, given) if wanted in ("score", "both") else None
        sure = probabilities_of(model, given) if wanted in ("probability", "both") else None
        _check_width(model, scores, K)
        decides = scores if scores is not None else np.log(np.maximum(_known(sure), 1e-300))
        display = cls(
            grid, scores, sure, _crossings(grid[0], decides) if len(chosen) == 1 else np.empty(0),
            table.values[:, chosen], truth, classes, tuple(table.names[j] for j in chosen),
            {table.names[j]: float(held[j]) for j in range(len(table.names)) if j not in chosen},
            _target(target, classes), type(model).__name__,
        )  # fmt: skip
        return display.plot(ax, theme=theme, **looks)

    @property
    def dimension(self) -> int:
        """1, a curve; or 3, a surface over two columns."""
        return 1 if len(self.columns) == 1 else 3

    @property
    def data(self) -> dict[str, Any]:
        """A line for each point: the columns, then the score and the probability of each class that has one."""
        points = [each.ravel() for each in np.meshgrid(*self.grid)]
        found: dict[str, Any] = dict(zip(self.columns, points, strict=True))
        first = 1 if len(self.classes) == 2 else 0
        for k, label in list(enumerate(self.classes.tolist()))[first:]:
            if self.scores is not None:
                found[f"score of {label}"] = self.scores[:, k]
            if self.probabilities is not None:
                found[f"P({label})"] = self.probabilities[:, k]
        return found

    @property
    def alt_text(self) -> str:
        """Over which ranges, from where to where the response goes, and at which thresholds the winner changes."""
        ranges = " and ".join(
            f"{name} from {t[0]:.3g} to {t[-1]:.3g}" for name, t in zip(self.columns, self.grid, strict=True)
        )
        label, said = self.classes.tolist()[self.target], []
        for what, values in (("score", self.scores), ("probability", self.probabilities)):
            if values is not None:
                v = values[:, self.target] + 0.0
                if what == "score" and len(self.classes) == 2 and self.target == 0:
                    v = -values[:, 1] + 0.0  # against the other class, whose score says it all
                said.append(f"the {what} of {label} is from {v.min():.3g} to {v.max():.3g}")
        words = f"Response of {self.name} over {ranges}, with {plural(len(self.points))}: {' and '.join(said)}."
        if self.dimension == 1:
            at = ", ".join(f"{t:.4g}" for t in self.thresholds)
            words += f" The predicted class changes at {at}." if at else " The predicted class never changes."
        return words + (f" {self.held_words[0].upper()}{self.held_words[1:]}." if self.held else "")

    @property
    def held_words(self) -> str:
        """Which columns stay at their means."""
        if not self.held:
            return ""
        if len(self.held) > 2:
            return f"{len(self.held)} other columns held at their means"
        return " and ".join(f"{name} held at {value:.3g}" for name, value in self.held.items())

    def _facts(self) -> dict[str, Any]:
        return {"model": self.name, "classes": self.classes, "thresholds": self.thresholds, "held": self.held}

    def _axes(self) -> Any:
        if self.dimension == 1:
            return plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]
        return plt.subplots(
            figsize=(6.2, 5.4), subplot_kw={"projection": "3d"},
            gridspec_kw={"left": 0.0, "right": 0.94, "bottom": 0.1, "top": 0.92},
        )[1]  # fmt: skip

    def _checked(self, ax: Any) -> Any:
        ax = super()._checked(ax)
        if hasattr(ax, "zaxis") != (self.dimension == 3):
            raise SettingError(
                "ax",
                ax,
                "plt.subplots(subplot_kw={'projection': '3d'})."
                if self.dimension == 3
                else "A curve needs plain axes of two dimensions, and these have three.",
                "A surface needs axes of three dimensions:",
            )
        return ax

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        made = f"Response of {self.name}" + (f"\n{self.held_words}" if self.held else "")
        ax.set_title(made if title is None else title, fontsize=10.5)
        (draw_line if self.dimension == 1 else draw_surface)(ax, self, legend)


def _columns(table: Table, features: Any, dimension: Any) -> list[int]:
    d = len(table.names)
    if dimension not in (None, 1, 3):
        raise SettingError("dimension", dimension, "give 1, a curve over one column, or 3, a surface over two.")
    if features is None:
        needed = {1: 1, 3: 2}.get(dimension, d)
        if d != needed or d > 2:
            raise DataError(
                f"has {d} columns; name {'one' if needed == 1 else 'one or two' if dimension is None else 'two'} by "
                "features=…, the others are held at their means.",
                array="X",
            )
        return list(range(d))
    chosen = table.places(features, 2)
    if dimension is not None and len(chosen) != {1: 1, 3: 2}[dimension]:
        raise SettingError(
            "dimension",
            dimension,
            "a curve has one column, a surface two.",
            f"dimension is {dimension} and features is {features!r};",
        )
    return chosen


def _response(model: Any, response: Any, columns: int) -> str:
    has = [what for what, method in (("score", "decision_function"), ("probability", "predict_proba"))
           if hasattr(model, method)]  # fmt: skip
    if response is None:
        if not has:
            raise Refusal(
                f"{type(model).__name__} has neither decision_function(X) nor predict_proba(X), so it has no response "
                "to draw: draw its regions by DecisionRegionsDisplay."
            )
        return "both" if len(has) == 2 and columns == 1 else has[-1]
    if response not in RESPONSES or (response == "both" and columns == 2):
        choice = RESPONSES if columns == 1 else RESPONSES[:2]
        raise SettingError("response", response, f"it must be one of {', '.join(map(repr, choice))}.")
    return str(response)


def _check_width(model: Any, scores: Floats | None, K: int) -> None:
    if scores is not None and scores.shape[1] != K:
        raise Refusal(
            f"{type(model).__name__} gives {scores.shape[1]} scores for {K} classes; one for each class is needed."
        )


def _known(sure: Floats | None) -> Floats:
    assert sure is not None
    return sure


def _target(target: Any, classes: NDArray[Any]) -> int:
    names = classes.tolist()
    if target is None:
        return len(names) - 1
    if target not in names:
        raise SettingError("target", target, f"the classes are {names}.")
    return int(names.index(target))


def _crossings(t: Floats, scores: Floats) -> Floats:
    """Where another class takes the largest score, interpolated linearly between grid points."""
    winner = scores.argmax(axis=1)
    found = []
    for i in np.flatnonzero(np.diff(winner)):
        a, b = winner[i], winner[i + 1]
        before, after = scores[i, a] - scores[i, b], scores[i + 1, a] - scores[i + 1, b]
        found.append(t[i] + (t[i + 1] - t[i]) * before / (before - after))
    return np.array(found)


GOLDEN = 0.6180339887498949
"""(√5 − 1)/2: its multiples mod 1 spread rows evenly."""
ROOM = 0.1
"""A threshold is not written out if it is nearer to the last one than this part of the width."""
STRIPS = 0.2
"""The part of the height, under the curves, in which the rows of more than two classes lie."""
SPREAD = 0.035
"""Half the height over which rows of a class are strewn, as a part of the height of the axes."""


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
    """Everything that has a label, also on the axis at the right."""
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


COLOUR_MAP = "cividis"
"""Of surfaces: dark is low, also to the colour-blind."""


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
