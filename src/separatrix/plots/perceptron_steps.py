"""A perceptron in motion, as a display."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from ..results.rule import LinearRule
from .display import Display
from .inputs import labels_of
from .style import plural
from .style import theme as themed
from .updates import Panel, draw_panels, on_the_line, panels_of, plane_of, wrong_of


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
            raise ValueError(f"{type(model).__name__} has no steps(X, y); give a perceptron, such as Perceptron().")
        rows = plane_of(X)
        labels = labels_of(y, len(rows))
        display = cls(panels_of(model, X, y, count, first), rows, labels, type(model).__name__)
        return display.plot(ax, theme=theme, **looks)

    @classmethod
    def from_steps(
        cls, steps: Iterable[Any], X: Any, y: Any, *, count: int = 10, first: int = 1, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> PerceptronStepsDisplay:  # fmt: skip
        """The same of updates that are there already: what `model.steps(X, y)` gave, from zero weights on."""
        rows = plane_of(X)
        labels = labels_of(y, len(rows))
        if count < 1 or first < 1:
            raise ValueError(f"count is {count} and first {first}; both are at least one.")
        classes, before, panels = tuple(np.unique(labels).tolist()), None, []
        for number, step in enumerate(islice(steps, first + count - 1), start=1):
            after = _rule(step, classes, number)
            panels += [Panel(number, before, after, int(step.row), step.label)] if number >= first else []
            before = after
        if not panels:
            raise ValueError(f"There are fewer than {first} steps: there is nothing to draw. Begin earlier.")
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
        raise ValueError(
            f"Step {number} has weights of shape {weights.shape}; of {len(classes)} classes and two columns "
            f"{(2,) if len(classes) == 2 else (len(classes), 2)} is needed. A stream whose classes come one by one is "
            "drawn by from_estimator."
        )
    return LinearRule(weights, step.intercept, classes)
