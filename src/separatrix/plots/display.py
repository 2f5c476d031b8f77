"""The base of all displays: numbers that are kept, a picture drawn from them alone, and its description in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from textwrap import fill
from typing import Any, ClassVar, Self

import matplotlib.pyplot as plt

from ..errors import SettingTypeError
from ..results.verdict import plain_value
from .style import dress
from .style import theme as themed


class Display(ABC):
    """A picture as scikit-learn has them: made from a model or data, drawn by `plot`, again and elsewhere if wanted.

    After drawing `ax_` and `figure_` are set. `alt_text` says what is to be seen, `data` holds the numbers behind it as
    columns of one table, and `to_dict()` all of it as plain values. Nothing is written to disk.
    """

    ax_ = None
    figure_ = None
    size: ClassVar[tuple[float, float]] = (5.6, 4.8)

    def plot(self, ax: Any = None, *, theme: str | None = None, legend: bool = True, title: str | None = None) -> Self:
        """Draw it, on new axes unless some are given; they are kept as `ax_` and `figure_`.

        `theme` is "light" or "dark", None what `with plots.theme(…)` says; `title` replaces the one that is made.
        """
        with themed(theme):
            ax = self._axes() if ax is None else self._checked(ax)
            dress(ax)
            self._draw(ax, legend, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    @abstractmethod
    def alt_text(self) -> str:
        """The picture described in words, made from its numbers, for readers who cannot see it."""

    @property
    @abstractmethod
    def data(self) -> dict[str, Any]:
        """The numbers behind the picture: columns of one table, so that pandas.DataFrame(display.data) is one."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON: what it is, its words, the facts and the table."""
        return {
            "display": type(self).__name__,
            "alt_text": self.alt_text,
            "facts": plain_value(self._facts()),
            "data": plain_value(self.data),
        }

    def _facts(self) -> dict[str, Any]:
        """Single numbers and names that are in no column."""
        return {}

    @abstractmethod
    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        """Draw on these axes."""

    def _axes(self) -> Any:
        return plt.subplots(figsize=self.size, layout="constrained")[1]

    def _checked(self, ax: Any) -> Any:
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise SettingTypeError(
                "ax",
                ax,
                f"{type(self).__name__} draws on one axes of matplotlib: give it, or None.",
                f"ax is {type(ax).__name__};",
            )
        return ax


def wrapped(text: str, width: int = 62) -> str:
    """Lines that fit above or under axes of the usual width."""
    return "\n".join(fill(line, width) for line in text.split("\n"))
