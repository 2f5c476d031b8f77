"""The certificate of separability in the plane: hulls, the line between them, or the point where they meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import PathPatch, Polygon
from matplotlib.path import Path
from numpy.typing import NDArray

from ..errors import DataError, SettingTypeError
from ..numerics.arrays import Floats
from ..results.linear_rule import LinearRule
from ..results.separability import Combination, Separability, corners, crossing_point, involved, rows_at
from ..results.verdict import listed
from .display import Display
from .inputs import labels_of, table_of
from .planes import boundary, regions
from .style import class_words, current, dress, legend_below, look, plural, row_size
from .style import theme as themed


@dataclass(eq=False)
class SeparabilityDisplay(Display):
    """How classes lie to each other in two columns, and what proves it: a line between hulls, or where they meet."""

    result: Separability
    X: Any
    y: Any
    sample_weight: Any
    size: ClassVar[tuple[float, float]] = (6.4, 7.0)

    @classmethod
    def from_data(
        cls, X: Any, y: Any, *, sample_weight: Any = None, fit_intercept: bool = True, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> SeparabilityDisplay:  # fmt: skip
        """Settle whether the classes of rows of two columns can be separated, and draw the proof."""
        from ..learners.geometry.separability import separability

        table = table_of(X)
        labels_of(y, table.count)
        if len(table.names) != 2:
            raise DataError(
                f"has {len(table.names)} columns; a picture needs two: give two columns, or two projections of X.",
                array="X",
            )
        found = separability(X, y, sample_weight, fit_intercept)
        return cls.from_result(found, X, y, sample_weight=sample_weight, ax=ax, theme=theme, **looks)

    @classmethod
    def from_result(
        cls, result: Separability, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> SeparabilityDisplay:  # fmt: skip
        """Draw what `separability(X, y)` has found; X and y are those of the result, X of two columns."""
        if not isinstance(result, Separability):
            raise SettingTypeError(
                "result",
                result,
                "give what separatrix.separability(X, y) returns.",
                f"from_result() was given {type(result).__name__};",
            )
        return cls(result, X, y, sample_weight).plot(ax, theme=theme, **looks)

    @property
    def data(self) -> dict[str, Any]:
        """A line for each row that proves it: of a mixture the rows and shares; else all rows that are separated."""
        found, y = self.result, np.asarray(self.y)
        crossing = found.certificate.crossing
        rows = np.asarray(found.rows if crossing is None else crossing.rows)
        X = table_of(self.X).values
        table: dict[str, Any] = {"row": rows, "class": y[rows]}
        table |= {name: X[rows, j] for j, name in enumerate(found.columns)}
        if crossing is not None:
            table["multiplier"] = np.asarray(crossing.multipliers)
        return table

    @property
    def alt_text(self) -> str:
        """The kind, what proves it, and how many rows there are."""
        counts = self.result.count if self.sample_weight is None else int((np.asarray(self.sample_weight) > 0).sum())
        said = title_of(self.result, counts).replace("\n", " ")
        return f"{plural(counts)} of classes {', '.join(map(str, self.result.classes))}. {said}."

    def _facts(self) -> dict[str, Any]:
        found, proof = self.result, self.result.certificate
        return {
            "kind": found.kind,
            "classes": found.classes,
            "rows": found.count,
            "weights": proof.weights,
            "intercept": proof.intercept,
            "margin": proof.margin,
        }

    def _axes(self) -> Any:
        return plt.subplots(figsize=self.size, layout="compressed")[1]

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        draw_separability(self.result, self.X, self.y, ax, sample_weight=self.sample_weight)
        if title is not None:
            ax.set_title(title, fontsize=10)
        if not legend:
            ax.get_legend().remove()


RING = 150
"""The area of a ring, in square points."""
SHARE_LETTERS = 8
"""The size of the letters of a share, in points."""
ASIDE = 22
"""How far a share is written from the middle of its row, in points."""
PAD = 0.15
"""How much of the range of a column is left free on each side."""
STRETCHED = 4.0
"""Columns whose ranges differ by a larger factor are not drawn on one scale."""
FLATTEST = 1.5
"""How many times as wide as high a picture on one scale may be."""


class Scene(NamedTuple):
    """A result, its rows, and the axes they are drawn on."""

    ax: Any
    result: Separability
    X: Floats
    place: NDArray[np.intp]
    """The class of each row, by its place in `classes`; −1 for rows that do not count."""
    low: Floats
    high: Floats


@themed()
def draw_separability(result: Separability, X: Any, y: Any, ax: Any = None, *, sample_weight: Any = None) -> Any:
    """Draw how the classes lie to each other, and what proves it; X and y are those of the result, X of two columns.

    The points and hulls of the classes; if a line separates rows, the line, its margin and the rows nearest to it, or
    the rows that stay on it; if hulls meet, a point of both as a star, the rows that it is a mixture of, and their
    shares. Rows of weight zero are left out. Returns the axes, new ones unless given.
    """
    X = _plane(result, X)
    place = _places(result, y, sample_weight)
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 7.0), layout="compressed")
    dress(ax)
    scene = Scene(ax, result, X, place, *_box(X[place >= 0], result.fit_intercept))
    _classes(scene)
    if result.certificate.weights is not None:
        _separating_line(scene)
    if result.certificate.crossing is not None:
        _crossing(scene, result.certificate.crossing)
    _frame(scene)
    return ax


def _plane(result: Separability, X: Any) -> Floats:
    X = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2 or len(result.columns) != 2:
        raise DataError(
            f"The result is of {len(result.columns)} columns and X has shape {X.shape}; a picture needs two. Pass two "
            "columns, or two projections of X, to separability and to draw: the proof for all columns is none for two."
        )
    if X.shape[0] != result.count:
        raise DataError(
            f"has {X.shape[0]} rows and the result is of {result.count}; give the X that it is of.", array="X"
        )
    return rows_at(X, slice(None))


def _places(result: Separability, y: Any, sample_weight: Any) -> NDArray[np.intp]:
    y, place = labels_of(y, result.count), np.full(result.count, -1, dtype=np.intp)
    for k, label in enumerate(result.classes):
        place[y == label] = k
    counts = np.ones(result.count, bool) if sample_weight is None else np.asarray(sample_weight) > 0
    if (place[counts] < 0).any():
        first = int(np.flatnonzero((place < 0) & counts)[0])
        raise DataError(f"of row {first} is {y[first]!r}, none of the classes {list(result.classes)}.", array="y")
    return np.where(counts, place, -1)


def _box(X: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
    shown = X if fit_intercept else np.vstack([X, np.zeros(2)])  # lines pass through the origin: show it
    low, high = shown.min(axis=0), shown.max(axis=0)
    size = high - low
    pad = PAD * np.where(size > 0, size, size.max() or 1.0)
    size = size + 2 * pad
    if _alike(size):  # on one scale the picture shall not be flat
        pad = pad + np.maximum(size.max() / FLATTEST - size, 0) / 2
    return low - pad, high + pad


def _alike(size: Floats) -> bool:
    return bool(size.max() <= STRETCHED * size.min())


def _classes(scene: Scene) -> None:
    size = row_size(len(scene.X))
    for k, label in enumerate(scene.result.classes):
        colour, marker = look(k)
        points = scene.X[scene.place == k]
        if len(points):
            hull = corners(points)
            scene.ax.add_patch(Polygon(hull, fc=colour, alpha=0.12, lw=0, zorder=1))
            scene.ax.add_patch(Polygon(hull, fill=False, ec=colour, alpha=0.6, lw=1, zorder=1))
        scene.ax.scatter(
            *points.T, s=size, c=colour, marker=marker, lw=0, alpha=0.85, zorder=3, label=class_words(label)
        )


def _separating_line(scene: Scene) -> None:
    result, proof = scene.result, scene.result.certificate
    rule = LinearRule(proof.weights, proof.intercept, result.classes, result.columns)  # type: ignore[arg-type]
    words = LEGEND[result.kind]
    for n, ends in enumerate(boundary(rule, scene.low, scene.high)):
        first = "" if n == 0 else "_"  # a label that begins so stays out of the legend
        scene.ax.plot(*ends.T, color=current().ink, lw=1.6, zorder=2.5, label=first + words.line)
    if result.kind == "separated":
        _band(scene, rule, words.band)
    counts = scene.place >= 0
    if result.kind == "separated":
        near = counts & (_clearance(rule, scene.X, scene.place) <= proof.margin * (1 + 1e-6))
    else:
        near = counts & ~np.isin(np.arange(result.count), result.rows)
    _rings(scene, scene.X[near], words.rings)


def _band(scene: Scene, rule: LinearRule, label: str) -> None:
    """The box without the regions that keep the margin."""
    (x, y), (right, top) = scene.low, scene.high
    outer = Path([(x, y), (right, y), (right, top), (x, top), (x, y)], closed=True)
    inner = regions(rule, scene.low, scene.high, scene.result.certificate.margin)
    holes = [Path(np.vstack([region[::-1], region[-1:]]), closed=True) for region in inner]
    band = PathPatch(
        Path.make_compound_path(outer, *holes), fc=current().grey, alpha=0.15, lw=0, zorder=0.5, label=label
    )
    scene.ax.add_patch(band)


def _clearance(rule: LinearRule, X: Floats, place: NDArray[np.intp]) -> Floats:
    """The distance of each row from the nearest line that parts its class from another."""
    full = rule.to_reference(rule.classes[0])
    own = np.maximum(place, 0)
    z, rows = full.score(X), np.arange(len(X))
    lengths = np.linalg.norm(full.weights[own][:, None, :] - full.weights[None, :, :], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = (z[rows, own][:, None] - z) / lengths
    return np.where(lengths > 0, gaps, np.inf).min(axis=1)  # type: ignore[no-any-return]


def _crossing(scene: Scene, crossing: Combination) -> None:
    stars, classes = _stars(scene, crossing), involved(crossing)
    owns = [crossing.own == k for k in classes]
    for k, own, star in zip(classes, owns, np.resize(stars, (len(classes), 2)), strict=True):
        colour, other = look(int(k)).colour, crossing.other == k
        _joined(scene, crossing.rows[own], colour, "-")
        _shares(scene, crossing, own, star, colour)
        if not any(np.array_equal(other, mask) for mask in owns):
            _joined(scene, crossing.rows[other], current().ink, ":")
    if not scene.result.fit_intercept:
        scene.ax.plot(0, 0, "+", color=current().ink, ms=12, mew=1.5, zorder=4, label="the origin")
        for star in stars:
            scene.ax.plot(*np.array([np.zeros(2), star]).T, ":", color=current().ink, lw=1.2, zorder=4)
    words = LEGEND["crossing" if scene.result.fit_intercept else "cones"].line
    scene.ax.scatter(*stars.T, s=260, marker="*", c=current().mark, ec="black", lw=1, zorder=6, label=words)
    _rings(scene, scene.X[crossing.rows], "rows of the mixture", "s")


def _stars(scene: Scene, crossing: Combination) -> Floats:
    """The mixture of each class; of two classes one point, unless there is no intercept."""
    stars = np.array([crossing_point(crossing, scene.X, int(k))[0] for k in involved(crossing)])
    return stars[:1] if len(stars) == 2 and scene.result.fit_intercept else stars


def _joined(scene: Scene, rows: NDArray[np.intp], colour: str, dash: str) -> None:
    if len(rows):
        hull = corners(scene.X[rows])
        scene.ax.add_patch(Polygon(hull, fill=False, ec=colour, ls=dash, lw=2.6, zorder=4, capstyle="round"))


def _shares(scene: Scene, crossing: Combination, own: NDArray[np.bool_], star: Floats, colour: str) -> None:
    """Write the share of each row of a mixture beside it, away from the star or the line; a lone row's is plain."""
    points, shares = scene.X[crossing.rows[own]], crossing.multipliers[own]
    for point, share in zip(points, shares / shares.sum(), strict=True) if len(points) > 1 else ():
        away = (point - star) / (scene.high - scene.low)
        if scene.result.kind == "quasi-separated":  # along the line there are other rows
            away = np.array([away[1], -away[0]]) * (-1 if away[1] < 0 else 1)
        shift = ASIDE * away / max(float(np.linalg.norm(away)), 1e-300)
        scene.ax.annotate(
            f"{100 * share:.3g} %", point, xytext=shift, textcoords="offset points", color=colour, zorder=7,
            ha="center", va="center", fontsize=SHARE_LETTERS, weight="bold",
            bbox={"fc": current().paper, "ec": "none", "alpha": 0.75, "pad": 1},
        )  # fmt: skip


def _rings(scene: Scene, points: Floats, label: str, marker: str = "o") -> None:
    scene.ax.scatter(*points.T, s=RING, marker=marker, fc="none", ec=current().ink, lw=1.2, zorder=5, label=label)


def _frame(scene: Scene) -> None:
    ax = scene.ax
    ax.set_xlim(scene.low[0], scene.high[0])
    ax.set_ylim(scene.low[1], scene.high[1])
    if _alike(scene.high - scene.low):
        ax.set_aspect("equal", adjustable="box")  # so that a margin is as wide as it is long
    ax.set_xlabel(scene.result.columns[0])
    ax.set_ylabel(scene.result.columns[1])
    ax.set_title(title_of(scene.result, int(np.count_nonzero(scene.place >= 0))), fontsize=10)
    legend_below(ax, 2)


class Words(NamedTuple):
    """The entries of the legend."""

    line: str
    band: str = "_"
    rings: str = "_"


LEGEND = {
    "separated": Words("a line that separates", "its margin", "nearest rows"),
    "quasi-separated": Words("a line that errs on no row", "_", "rows that stay on it"),
    "crossing": Words("a point of both hulls"),
    "cones": Words("mixtures in one direction"),
}
"""By the kind of separation, and for what meets."""


def title_of(result: Separability, count: int) -> str:
    """The kind, and what one sees of its proof; count is how many rows count."""
    if result.kind == "quasi-separated":
        return _quasi(result, count - len(result.rows))
    return _separated(result) if result.kind == "separated" else _overlap(result)


def _line(result: Separability) -> str:
    return "line" if result.fit_intercept else "line through the origin"


def _separated(result: Separability) -> str:
    parts = f"classes {listed(result.classes)}"
    what = f"a {_line(result)} parts" if len(result.classes) == 2 else f"{_line(result)}s part"
    return f"Separated: {what} {parts},\nthe nearest row is {result.certificate.margin:.3g} away"


def _quasi(result: Separability, stay: int) -> str:
    off = len(result.rows)
    if len(result.classes) > 2:
        return (
            f"Quasi-separated: {_line(result)}s put no row on a wrong side,\n{plural(off)} lie off them, {stay} do not"
        )
    start = f"Quasi-separated: no row is on the wrong side of the {_line(result)};"
    return f"{start}\n{plural(off)} off it, {stay} stay on it, where the hulls meet"


def _overlap(result: Separability) -> str:
    crossing = result.certificate.crossing
    if crossing is None:
        return "Overlap"
    classes = involved(crossing)
    names = [result.classes[k] for k in classes]
    if len(classes) > 2:
        return f"Overlap of classes {listed(names)}: a mixture of rows of each\nis a mixture of rows of the others"
    sides = [int(np.count_nonzero(crossing.own == k)) for k in classes]
    if not all(sides) or not result.fit_intercept:
        return f"Overlap: no {_line(result)} is right\non all {plural(len(crossing))} of the mixture"
    first, second = (f"a mixture of {plural(n)} of class {name}" for n, name in zip(sides, names, strict=True))
    return f"Overlap: {first}\nis {second}"
