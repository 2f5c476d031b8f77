"""How far rows are on the right side: margins by class, and the band that they leave free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from ..errors import Refusal, SettingError
from ..numerics.arrays import Floats, Indices
from ..results.linear_rule import LinearRule
from .display import Display
from .inputs import (
    PAD,
    Table,
    are_scores,
    check_fitted,
    classes_of,
    labels_of,
    places_of,
    scores_of,
    table_of,
    weights_of,
)
from .planes import boundary, regions
from .style import DASHES, class_words, current, legend_below, look, plural, ring_size, row_size

BINS = 30
"""Bars of the histogram."""
HATCHES = ("", "///", "...", "xxx")
"""Of the classes in their order, for who cannot tell their colours apart."""
KINDS = ("histogram", "sorted", "band")
"""The ways to draw margins."""
NEAREST = 1 + 1e-6
"""Rows count as nearest up to this many times the smallest margin."""


@dataclass(eq=False)
class MarginsDisplay(Display):
    """γᵢ = yᵢ(xᵢᵀw + b)/‖w‖: the distance of each row from the boundary, negative on the wrong side.  [001 slide 21]

    Of K classes the least of (z_y − zₖ)/‖w_y − wₖ‖ over the others. A model that is not linear in its columns has no
    distances: there it is by how much the score of a row's own class leads. Drawn as a histogram by class, as sorted
    curves of shares, or, of two columns, as the band along the boundary with the rows that bear it.
    """

    margins: Floats
    truth: Indices
    classes: NDArray[Any]
    distances: bool
    """Whether margins are distances; else leads of the score."""
    kind: str
    X: Floats
    columns: tuple[str, ...]
    rule: LinearRule | None
    """The boundary, of models that are linear in their columns."""
    half: float | None
    """Half the width of the band; None where rows are on the wrong side and no support rows are known."""
    ringed: NDArray[np.intp]
    ringed_words: str
    name: str

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, kind: str | None = None, ax: Any = None, theme: str | None = None,
        **looks: Any,
    ) -> MarginsDisplay:  # fmt: skip
        """The margins of rows of a fitted model with scores.

        `kind` is "histogram", "sorted" or "band"; None is the band for two columns of a linear model, else the
        histogram. Rows of `support_`, which are those of the fit, have rings in the band; of a model without them the
        nearest rows, or those on the wrong side.
        """
        check_fitted(model)
        table = table_of(X, model)
        classes = classes_of(model, X)
        truth = places_of(labels_of(y, table.count), classes)
        rule = _rule(model, table, classes)
        chosen = _kind(kind, rule, table, type(model).__name__)
        scores = scores_of(model, X)
        if scores.shape[1] != len(classes):
            raise Refusal(
                f"{type(model).__name__} gives {scores.shape[1]} scores for {len(classes)} classes; one for each class "
                "is needed."
            )
        margins = _margins(scores, truth, rule)
        half, ringed, words = _band(model, margins, rule)
        display = cls(
            margins, truth, classes, rule is not None, chosen, table.values, table.names, rule, half, ringed, words,
            type(model).__name__,
        )  # fmt: skip
        return display.plot(ax, theme=theme, **looks)

    @property
    def wrong(self) -> NDArray[np.intp]:
        """The rows on the wrong side."""
        return np.flatnonzero(self.margins < 0)

    @property
    def data(self) -> dict[str, Any]:
        """A line for each row: its class and margin, and whether it has a ring in the band."""
        rows = np.arange(len(self.margins))
        return {"row": rows, "class": self.classes[self.truth], "margin": self.margins,
                "ring": np.isin(rows, self.ringed)}  # fmt: skip

    @property
    def alt_text(self) -> str:
        """From where to where margins reach, their medians by class, and the share on the wrong side."""
        what = "Signed distances" if self.distances else "Leads of the score"
        medians = [f"{class_words(label)} {np.median(self.margins[self.truth == k]):.3g}"
                   for k, label in enumerate(self.classes.tolist()) if (self.truth == k).any()]  # fmt: skip
        words = (
            f"{what} of {plural(len(self.margins))} of {self.name}, from {self.margins.min():.3g} to "
            f"{self.margins.max():.3g}; medians: {', '.join(medians)}. {self._wrong_words()}."
        )
        if self.kind == "band" and self.half is not None:
            words += f" The band reaches {self.half:.4g} to each side; {self.ringed_words}: {len(self.ringed)}."
        return words

    def _wrong_words(self) -> str:
        wrong, n = len(self.wrong), len(self.margins)
        return f"{wrong} of {plural(n)} ({wrong / n:.1%}) on the wrong side"

    def _facts(self) -> dict[str, Any]:
        return {"model": self.name, "kind": self.kind, "distances": self.distances, "wrong": len(self.wrong),
                "smallest": float(self.margins.min()), "band": self.half, "rings": self.ringed_words}  # fmt: skip

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        ax.set_title(f"Margins of {self.name}\n{self._wrong_words()}" if title is None else title, fontsize=10.5)
        draws = {"histogram": self._histogram, "sorted": self._sorted, "band": self._along}
        draws[self.kind](ax)
        if legend:
            legend_below(ax, 2 if self.kind == "band" else 4)

    def _along(self, ax: Any) -> None:
        draw_band(ax, self)

    def _histogram(self, ax: Any) -> None:
        bins = np.histogram_bin_edges(self.margins, BINS)
        for k, label in enumerate(self.classes.tolist()):
            own = self.margins[self.truth == k]
            colour = look(k).colour
            ax.hist(own, bins, histtype="stepfilled", color=colour, alpha=0.3, hatch=HATCHES[k % len(HATCHES)],
                    ec=colour, lw=0, zorder=2)  # fmt: skip
            ax.hist(own, bins, histtype="step", color=colour, lw=1.6, zorder=3, label=class_words(label),
                    ls=DASHES[k % len(DASHES)])  # fmt: skip
        ax.set_ylabel("rows")
        self._zero(ax, bins[0], bins[-1])

    def _sorted(self, ax: Any) -> None:
        for k, label in enumerate(self.classes.tolist()):
            own = np.sort(self.margins[self.truth == k])
            if len(own):
                ax.step(own, np.arange(1, len(own) + 1) / len(own), where="post", color=look(k).colour, lw=1.8,
                        ls=DASHES[k % len(DASHES)], label=class_words(label))  # fmt: skip
        ax.set_ylim(0, 1.02)
        ax.set_ylabel("share of the class with a margin up to this")
        self._zero(ax, self.margins.min(), self.margins.max())

    def _zero(self, ax: Any, low: float, high: float) -> None:
        """The boundary, and the wrong side of it."""
        worn, pad = current(), 0.03 * (high - low or 1.0)
        left, right = min(low, 0.0) - pad, max(high, 0.0) + pad
        ax.axvspan(left, 0, color=worn.grey, alpha=0.14, lw=0, zorder=0, label="wrong side")
        ax.axvline(0, color=worn.ink, lw=1.4, zorder=4)
        ax.set_xlim(left, right)
        ax.set_xlabel("signed distance from the boundary" if self.distances else "lead of the own class's score")


def _rule(model: Any, table: Table, classes: NDArray[Any]) -> LinearRule | None:
    """The boundary as a rule of the columns, where the model has one."""
    d = len(table.names)
    W, b = weights_of(model, d), np.ravel(getattr(model, "intercept_", 0.0))
    if W is None or len(W) not in (1, len(classes)):
        return None
    b = np.broadcast_to(b, (len(W),))
    if not W.any():
        raise Refusal(f"All weights of {type(model).__name__} are zero: there is no boundary, hence no margin.")
    if not are_scores(model, table.given, table.values, W):
        return None
    names = tuple(classes.tolist())
    return LinearRule(W[0], float(b[0]), names, table.names) if len(W) == 1 else LinearRule(W, b, names, table.names)


def _kind(kind: Any, rule: LinearRule | None, table: Table, name: str) -> str:
    flat = rule is not None and len(table.names) == 2
    if kind is None:
        return "band" if flat else "histogram"
    if kind not in KINDS:
        raise SettingError("kind", kind, f"it must be one of {', '.join(map(repr, KINDS))}.")
    if kind == "band" and not flat:
        what = f"X has {len(table.names)} columns" if rule is not None else f"{name} has no weights of its columns"
        raise SettingError(
            "kind", kind, "draw the histogram.", f"kind='band' needs a linear model of two columns, and {what}:"
        )
    return str(kind)


def _margins(scores: Floats, truth: Indices, rule: LinearRule | None) -> Floats:
    rows, K = np.arange(len(scores)), scores.shape[1]
    gaps = scores[rows, truth][:, None] - scores
    lengths = np.ones((len(scores), K))
    if rule is not None:
        W = rule.to_reference(rule.classes[0]).weights
        lengths = np.linalg.norm(W[truth][:, None, :] - W[None, :, :], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = np.where(lengths > 0, gaps / lengths, np.where(gaps == 0, np.inf, np.sign(gaps) * np.inf))
    gaps[rows, truth] = np.inf
    return np.asarray(gaps.min(axis=1))


def _band(model: Any, margins: Floats, rule: LinearRule | None) -> tuple[float | None, NDArray[np.intp], str]:
    """Half the width of the band, the rows with rings, and what they are."""
    support = getattr(model, "support_", None)
    if (
        support is not None
        and rule is not None
        and rule.weights.ndim == 1
        and np.max(support, initial=-1) < len(margins)
    ):
        return 1 / rule.norm, np.asarray(support, np.intp), "support rows"
    least = float(margins.min())
    if least > 0:
        return least, np.flatnonzero(margins <= least * NEAREST), "nearest rows"
    return None, np.flatnonzero(margins < 0), "rows on the wrong side"


STRETCHED = 4.0
"""Columns whose ranges differ by a larger factor are not drawn on one scale."""
FLATTEST = 1.4
"""How many times as wide as high a picture on one scale may be, or as high as wide."""


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
    """The corners of the picture, and whether both columns have one scale."""
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
