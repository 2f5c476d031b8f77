"""A perceptron in motion: the boundary before and after each of some updates, and the row that caused it."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..numerics.arrays import Floats
from ..results.rule import LinearRule
from .lines import boundary, regions
from .style import YELLOW, class_words, current, dress, look, plural, row_size, theme

PAD, ARROW, WIDEST, RING = 0.12, 0.16, 5, 190
"""The free part of a column's range on each side; the length of an arrow in the box; panels side by side; the area of
the disc under the row that was mistaken."""


class Panel(NamedTuple):
    """One update, as it is drawn."""

    number: int
    before: LinearRule | None
    """None at the start, where all weights are zero."""
    after: LinearRule
    row: int
    label: Any


def draw(model: Any, X: Any, y: Any, count: int = 10, *, first: int = 1, axes: Any = None) -> Any:
    """Draw `count` successive updates of a perceptron on rows of two columns, from number `first` on.  [003 slide 23]

    The model is any that has `steps(X, y)`; a clone of it learns. In each panel the row that was mistaken has a ring,
    the boundary was the dashed line and becomes the solid one, an arrow shows the way the weights point, and the title
    says how many rows are wrong before and after: an update mends its own row, and may spoil others. Rows that lie on
    the new boundary are told apart from these: predict gives them to a class, and the perceptron may still take them
    for mistakes. Returns the axes.
    """
    rows, labels = plane_of(X), np.asarray(y)
    if labels.shape != (len(rows),):
        raise ValueError(f"y has shape {labels.shape}; a label for each of the {len(rows)} rows is needed.")
    return draw_panels(panels_of(model, X, y, count, first), rows, labels, axes)


@theme()
def draw_panels(panels: list[Panel], rows: Floats, labels: NDArray[Any], axes: Any = None, legend: bool = True) -> Any:
    """Draw updates, one in each axes; new ones unless they are given. Axes that are left over are switched off."""
    if axes is None:
        wide = min(WIDEST, len(panels))
        high = -(-len(panels) // wide)
        _, axes = plt.subplots(high, wide, figsize=(2.9 * wide, 3.2 * high), layout="constrained", squeeze=False)
    places = np.ravel(axes)
    if len(places) < len(panels):
        raise ValueError(f"{len(panels)} updates need as many axes; {len(places)} were given.")
    for ax, panel in zip(places, panels, strict=False):
        dress(ax)
        _draw_one(ax, panel, rows, labels)
    for ax in places[len(panels) :]:
        ax.set_axis_off()
    if legend:
        _legend(places[0], panels[0])
    return axes


def alt_text(model: Any, X: Any, y: Any, count: int = 10, *, first: int = 1) -> str:
    """The same in words, for who cannot see it."""
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
        raise ValueError(f"X has shape {rows.shape}; a picture of updates needs rows of two columns.")
    return rows


def panels_of(model: Any, X: Any, y: Any, count: int, first: int) -> list[Panel]:
    """`count` updates of a clone of the model from number `first` on; at least one."""
    if count < 1 or first < 1:
        raise ValueError(f"count is {count} and first {first}; both are at least one.")
    learner, panels = clone(model), []
    before = _start(learner, y)
    run = learner.steps(X, y)
    classes = tuple(np.unique(np.asarray(y)).tolist())
    for number, update in enumerate(islice(run, first + count - 1), start=1):
        all_there = len(classes) == (2 if update.weights.ndim == 1 else len(update.weights))
        after = LinearRule(update.weights, update.intercept, classes if all_there else _so_far(learner))
        if number >= first:
            panels.append(Panel(number, before, after, update.row, update.label))
        before = after
    run.close()
    if not panels:
        raise ValueError(f"The run has fewer than {first} updates: there is nothing to draw. Begin earlier.")
    return panels


def _start(learner: Any, y: Any) -> LinearRule | None:
    """The rule of the weights that were given to start with; None for zero."""
    given, classes = getattr(learner, "init", None), tuple(np.unique(np.asarray(y)).tolist())
    if given is None:
        return None
    W = np.reshape(np.asarray(given, dtype=np.float64), (1 if len(classes) == 2 else len(classes), -1))
    b = W[:, 2] if W.shape[1] > 2 else np.zeros(len(W))
    return LinearRule(W[0, :2], float(b[0]), classes) if len(W) == 1 else LinearRule(W[:, :2], b, classes)


def _so_far(learner: Any) -> tuple[Any, ...]:
    """The classes of a stream as far as they have come."""
    classes = tuple(learner.classes_.tolist())
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
    ax.scatter(*X[panel.row], s=RING, fc=YELLOW, ec="black", lw=1.3, zorder=2.5)
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
