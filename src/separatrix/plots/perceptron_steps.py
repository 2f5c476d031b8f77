"""A perceptron in motion, as a display."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Self

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..errors import DataError, Refusal, SettingError
from ..numerics.arrays import Floats
from ..results.linear_rule import LinearRule
from .display import Display
from .inputs import PAD, labels_of
from .planes import boundary, regions
from .style import YELLOW, class_words, current, dress, look, plural, row_size
from .style import theme as themed


@dataclass(eq=False)
class PerceptronStepsDisplay(Display):
    """w ← w + ηyx, update by update: the boundary before and after, and the row that was mistaken.  [003 slide 23]

    One small picture for each update; `ax_` is the array of their axes.
    """

    panels: list[Panel]
    X: Floats
    y: NDArray[Any]
    name: str

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, count: int = 10, first: int = 1, ax: Any = None, theme: str | None = None,
        **looks: Any,
    ) -> PerceptronStepsDisplay:  # fmt: skip
        """`count` updates from number `first` on; the model is any with `steps(X, y)`, and a clone of it learns."""
        if not hasattr(model, "steps"):
            raise Refusal(f"{type(model).__name__} has no steps(X, y); give a perceptron, such as Perceptron().")
        rows = plane_of(X)
        labels = labels_of(y, len(rows))
        display = cls(panels_of(model, X, y, count, first), rows, labels, type(model).__name__)
        return display.plot(ax, theme=theme, **looks)

    @classmethod
    def from_steps(
        cls, steps: Iterable[Any], X: Any, y: Any, *, count: int = 10, first: int = 1, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> PerceptronStepsDisplay:  # fmt: skip
        """Draw updates that `model.steps(X, y)` has given, from zero weights on."""
        rows = plane_of(X)
        labels = labels_of(y, len(rows))
        if count < 1 or first < 1:
            raise SettingError("count", count, "both are at least one.", f"count is {count} and first {first};")
        classes, before, panels = tuple(np.unique(labels).tolist()), None, []
        for number, step in enumerate(islice(steps, first + count - 1), start=1):
            after = _rule(step, classes, number)
            panels += [Panel(number, before, after, int(step.row), step.label)] if number >= first else []
            before = after
        if not panels:
            raise Refusal(f"There are fewer than {first} steps: there is nothing to draw. Begin earlier.")
        return cls(panels, rows, labels, "a perceptron").plot(ax, theme=theme, **looks)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, legend: bool = True, title: str | None = None
    ) -> Self:  # fmt: skip
        """Draw it, on new axes unless as many as there are updates are given; they are kept as `ax_`."""
        with themed(theme):
            self._draw(ax, legend, title)
        return self

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        self.ax_ = draw_panels(self.panels, self.X, self.y, ax, legend)
        self.figure_ = np.ravel(self.ax_)[0].figure
        if title is not None:
            self.figure_.suptitle(title)

    @property
    def data(self) -> dict[str, Any]:
        """A line for each update: the row, its class, the weights it led to, and how many rows are wrong."""
        rules = [panel.after for panel in self.panels]
        return {
            "update": [panel.number for panel in self.panels],
            "row": [panel.row for panel in self.panels],
            "class": [panel.label for panel in self.panels],
            "weights": [rule.weights.tolist() for rule in rules],
            "intercept": [np.asarray(rule.intercept).tolist() for rule in rules],
            "wrong before": [wrong_of(panel.before, self.X, self.y) for panel in self.panels],
            "wrong after": [wrong_of(rule, self.X, self.y) for rule in rules],
            "on the line after": [on_the_line(rule, self.X) for rule in rules],
        }

    @property
    def alt_text(self) -> str:
        """How many updates are shown, and how many rows are wrong before the first and after the last."""
        table = self.data
        shown = f"Updates {table['update'][0]} to {table['update'][-1]}" if len(self.panels) > 1 else "One update"
        fewest = min(table["wrong after"])
        return (
            f"{shown} of {self.name} on {plural(len(self.X))} of two columns: {table['wrong before'][0]} wrong before, "
            f"{table['wrong after'][-1]} after the last, {fewest} at best. Rows mistaken: "
            f"{', '.join(map(str, table['row']))}."
        )

    def _facts(self) -> dict[str, Any]:
        return {"model": self.name, "rows": len(self.X)}


def _rule(step: Any, classes: tuple[Any, ...], number: int) -> LinearRule:
    weights = np.asarray(step.weights, dtype=np.float64)
    if weights.shape not in ((2,), (len(classes), 2)):
        raise DataError(
            f"Step {number} has weights of shape {weights.shape}; of {len(classes)} classes and two columns "
            f"{(2,) if len(classes) == 2 else (len(classes), 2)} is needed. A stream whose classes come one by one is "
            "drawn by from_estimator."
        )
    return LinearRule(weights, step.intercept, classes)


ARROW = 0.16
"""The length of an arrow, as a part of the panel."""
WIDEST = 5
"""The most panels side by side."""
DISC = 190
"""The area of the disc under the mistaken row, in square points."""


class Panel(NamedTuple):
    """One update of the weights."""

    number: int
    before: LinearRule | None
    """None at the start, where all weights are zero."""
    after: LinearRule
    row: int
    label: Any


def draw_updates(model: Any, X: Any, y: Any, count: int = 10, *, first: int = 1, axes: Any = None) -> Any:
    """Draw `count` successive updates of a perceptron on rows of two columns, from number `first` on.  [003 slide 23]

    The model is any that has `steps(X, y)`; a clone of it learns. In each panel the row that was mistaken has a ring,
    the boundary was the dashed line and becomes the solid one, an arrow shows the way the weights point, and the title
    says how many rows are wrong before and after: an update mends its own row, and may spoil others. Rows that lie on
    the new boundary are told apart from these: predict gives them to a class, and the perceptron may still take them
    for mistakes. Returns the axes.
    """
    rows = plane_of(X)
    labels = labels_of(y, len(rows))
    return draw_panels(panels_of(model, X, y, count, first), rows, labels, axes)


@themed()
def draw_panels(panels: list[Panel], rows: Floats, labels: NDArray[Any], axes: Any = None, legend: bool = True) -> Any:
    """Draw updates, one in each axes; new ones unless they are given. Axes that are left over are switched off."""
    if axes is None:
        wide = min(WIDEST, len(panels))
        high = -(-len(panels) // wide)
        _, axes = plt.subplots(high, wide, figsize=(2.9 * wide, 3.2 * high), layout="constrained", squeeze=False)
    places = np.ravel(axes)
    if len(places) < len(panels):
        raise SettingError("axes", axes, f"{len(places)} were given.", f"{len(panels)} updates need as many axes;")
    for ax, panel in zip(places, panels, strict=False):
        dress(ax)
        _draw_one(ax, panel, rows, labels)
    for ax in places[len(panels) :]:
        ax.set_axis_off()
    if legend:
        _legend(places[0], panels[0])
    return axes


def describe_updates(model: Any, X: Any, y: Any, count: int = 10, *, first: int = 1) -> str:
    """The picture of `draw_updates` in words."""
    rows, labels = plane_of(X), np.asarray(y)
    lines = [f"{plural(len(rows))} of two columns; updates {first} on of {type(model).__name__}."]
    for panel in panels_of(model, X, y, count, first):
        was, now = wrong_of(panel.before, rows, labels), wrong_of(panel.after, rows, labels)
        lines.append(f"Update {panel.number}: row {panel.row} ({panel.label}) was mistaken; {was} wrong, then {now}.")
    return " ".join(lines)


def plane_of(X: Any) -> Floats:
    """X as rows of two columns."""
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError(f"has shape {rows.shape}; a picture of updates needs rows of two columns.", array="X")
    return rows


def panels_of(model: Any, X: Any, y: Any, count: int, first: int) -> list[Panel]:
    """`count` updates of a clone of the model from number `first` on; at least one."""
    if count < 1 or first < 1:
        raise SettingError("count", count, "both are at least one.", f"count is {count} and first {first};")
    learner, panels = clone(model), []
    before = _start(learner, y)
    run = learner.steps(X, y)
    classes = tuple(np.unique(np.asarray(y)).tolist())
    for number, update in enumerate(islice(run, first + count - 1), start=1):
        all_there = len(classes) == (2 if update.weights.ndim == 1 else len(update.weights))
        after = LinearRule(update.weights, update.intercept, classes if all_there else _so_far(y, update.row))
        if number >= first:
            panels.append(Panel(number, before, after, update.row, update.label))
        before = after
    run.close()
    if not panels:
        raise Refusal(f"The run has fewer than {first} updates: there is nothing to draw. Begin earlier.")
    return panels


def _start(learner: Any, y: Any) -> LinearRule | None:
    """The rule of the weights that were given to start with; None for zero."""
    given, classes = getattr(learner, "init", None), tuple(np.unique(np.asarray(y)).tolist())
    if given is None:
        return None
    W = np.reshape(np.asarray(given, dtype=np.float64), (1 if len(classes) == 2 else len(classes), -1))
    b = W[:, 2] if W.shape[1] > 2 else np.zeros(len(W))
    return LinearRule(W[0, :2], float(b[0]), classes) if len(W) == 1 else LinearRule(W[:, :2], b, classes)


def _so_far(y: Any, row: int) -> tuple[Any, ...]:
    """The classes of a stream as far as they have come with this row."""
    classes = tuple(np.unique(np.asarray(y)[: row + 1]).tolist())
    return classes if len(classes) > 1 else (f"not {classes[0]}", classes[0])


def wrong_of(rule: LinearRule | None, X: Floats, y: NDArray[Any]) -> int:
    """How many rows the rule gets wrong; without weights all are of the first class."""
    predicted = np.full(len(y), np.unique(y)[0]) if rule is None else rule.classify(X)
    return int((predicted != y).sum())


def on_the_line(rule: LinearRule, X: Floats) -> int:
    """How many rows lie on a boundary: predict gives them to a class, and a perceptron may still take them to err."""
    z = rule.score(X)
    leads = z if z.ndim == 1 else np.diff(np.sort(z, axis=1)[:, -2:])
    return int((leads == 0).sum())


def _on_the_line(rule: LinearRule, X: Floats) -> str:
    count = on_the_line(rule, X)
    return f", {count} on the line" if count else ""


def _draw_one(ax: Any, panel: Panel, X: Floats, y: NDArray[Any]) -> None:
    low, high = _box(X)
    for k, region in enumerate(regions(panel.after, low, high, 0.0)):
        ax.fill(*region.T, color=look(k).colour, alpha=0.08, lw=0, zorder=0)
    for k, label in enumerate(np.unique(y)):
        colour, marker = look(k)
        ax.scatter(*X[y == label].T, s=row_size(len(X)), c=colour, marker=marker, lw=0, alpha=0.85, zorder=3)
    for rule, style, colour in ((panel.before, "--", current().grey), (panel.after, "-", current().ink)):
        if rule is not None:
            for ends in boundary(rule, low, high):
                ax.plot(*ends.T, style, color=colour, lw=1.6, zorder=2)
                _arrow(ax, rule, ends, colour, high - low)
    ax.scatter(*X[panel.row], s=DISC, fc=YELLOW, ec="black", lw=1.3, zorder=2.5)
    was, now = wrong_of(panel.before, X, y), wrong_of(panel.after, X, y)
    ax.set_title(
        f"update {panel.number}: row {panel.row}\n{was} → {now} wrong{_on_the_line(panel.after, X)}", fontsize=9
    )
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_xticks([])
    ax.set_yticks([])


def _arrow(ax: Any, rule: LinearRule, ends: Floats, colour: str, size: Floats) -> None:
    """From the middle of the line towards the second class; of many classes there is none."""
    if rule.weights.ndim > 1:
        return
    normal = rule.weights * size  # in the box the columns have one scale, so that the arrow has one length
    tip = ARROW * size * normal / np.linalg.norm(normal)
    ax.annotate("", ends.mean(axis=0) + tip, ends.mean(axis=0), arrowprops={"arrowstyle": "-|>", "color": colour})


def _box(X: Floats) -> tuple[Floats, Floats]:
    low, high = X.min(axis=0), X.max(axis=0)
    pad = PAD * np.where(high > low, high - low, 1.0)
    return low - pad, high + pad


def _legend(ax: Any, panel: Panel) -> None:
    handles = [
        plt.Line2D([], [], ls="none", marker=look(k).marker, color=look(k).colour, label=class_words(label))
        for k, label in enumerate(panel.after.classes)
    ]
    handles += [
        plt.Line2D([], [], ls="none", marker="o", mfc=YELLOW, mec="black", ms=10, label="the row mistaken"),
        plt.Line2D([], [], ls="--", color=current().grey, label="before"),
        plt.Line2D([], [], ls="-", color=current().ink, label="after"),
    ]
    ax.figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
