"""The certificate of separability, as a display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np

from ..results.separability import Separability
from .display import Display
from .inputs import labels_of, table_of
from .separability import draw
from .separability_words import title as title_of
from .style import plural


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
            raise ValueError(
                f"X has {len(table.names)} columns; a picture needs two: give two columns, or two projections of X."
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
            raise TypeError(
                f"from_result() was given {type(result).__name__}; give what separatrix.separability(X, y) returns."
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
        draw(self.result, self.X, self.y, ax, sample_weight=self.sample_weight)
        if title is not None:
            ax.set_title(title, fontsize=10)
        if not legend:
            ax.get_legend().remove()
