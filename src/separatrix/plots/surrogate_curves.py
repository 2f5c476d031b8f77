"""Losses against the margin, each as many times itself as it needs to stay above the mistakes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import SettingError
from ..losses import margin as losses
from ..losses.margin import MarginLoss
from ..numerics.arrays import Floats
from .display import Display
from .style import DASHES, current, legend_below, look

TOP = 4.0
"""The largest loss that the picture shows."""
FINE = 601
"""Margins at which losses are computed."""


class NamedLoss(NamedTuple):
    """A loss, what it is called, its formula, and how its bound is written."""

    loss: MarginLoss
    formula: str
    times: str = ""


KNOWN = {
    "zero-one": NamedLoss(losses.ZeroOne(), "1[m ≤ 0]"),
    "squared": NamedLoss(losses.Squared(), "(1 − m)²"),
    "logistic squared": NamedLoss(losses.LogisticSquared(), "σ(−m)²", "4·"),
    "log likelihood": NamedLoss(losses.LogLikelihood(), "log(1 + e⁻ᵐ)", "(1/log 2)·"),
    "perceptron": NamedLoss(losses.Perceptron(), "[−m]₊"),
    "hinge": NamedLoss(losses.Hinge(), "[1 − m]₊"),
    "squared hinge": NamedLoss(losses.SquaredHinge(), "[1 − m]₊²"),
    "exponential": NamedLoss(losses.Exponential(), "e⁻ᵐ"),
}
"""In the order of `losses.ALL`."""
ALSO = {"0-1": "zero-one", "log": "log likelihood", "mistakes": "zero-one"}
"""Other names of losses."""
USUAL = ("zero-one", "squared", "logistic squared", "log likelihood", "perceptron", "hinge")
"""The losses drawn where none are named."""


@dataclass(eq=False)
class SurrogateCurvesDisplay(Display):
    """k φ(m) ≥ 1[m ≤ 0], m = y xᵀw: what each loss charges for a margin, above the mistakes themselves.  [004 §4.3]

    k is the least factor that makes the loss a bound on the mistakes; a loss with none, such as the perceptron's, is
    drawn as it is. Margins below zero, where rows are mistaken, are shaded.
    """

    margins: Floats
    values: dict[str, Floats]
    factors: dict[str, float]
    """k of each loss; 1 where it has none or none was wanted."""
    bounds: dict[str, bool]
    """Whether the curve that is drawn bounds the mistakes."""
    labels: dict[str, str]
    size: ClassVar[tuple[float, float]] = (6.6, 4.8)

    @classmethod
    def of(
        cls, *names: Any, margins: tuple[float, float] = (-2.5, 2.5), scaled: bool = True, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> SurrogateCurvesDisplay:  # fmt: skip
        """The losses by name, or as objects of `separatrix.losses`; without names the usual six."""
        chosen = dict(_known(name) for name in names or USUAL)
        m = _margins(margins)
        factors = {name: each.loss.bound if scaled and math.isfinite(each.loss.bound) else 1.0
                   for name, each in chosen.items()}  # fmt: skip
        values = {name: factors[name] * np.asarray(each.loss.value(m), dtype=np.float64) + 0.0
                  for name, each in chosen.items()}  # fmt: skip
        bounds = {name: each.loss.bound <= factors[name] for name, each in chosen.items()}
        labels = {name: _label(name, each, factors[name], bounds[name]) for name, each in chosen.items()}
        return cls(m, values, factors, bounds, labels).plot(ax, theme=theme, **looks)

    @property
    def data(self) -> dict[str, Any]:
        """The margins, and what each loss is there, times its factor."""
        return {"margin": self.margins, **self.values}

    @property
    def alt_text(self) -> str:
        """Which losses, what each charges at the margins −1, 0 and 1, and which bound the mistakes."""
        seen = [m for m in (-1.0, 0.0, 1.0) if self.margins[0] <= m <= self.margins[-1]]
        at = {m: int(np.abs(self.margins - m).argmin()) for m in seen}
        said = [f"{name} {', '.join(f'{v[at[m]]:.3g}' for m in seen)}" for name, v in self.values.items()]
        lost = [name for name, holds in self.bounds.items() if not holds]
        where = f" (at {', '.join(f'{m:g}' for m in seen)})" if seen else ""
        tail = "All are" if not lost else f"All but {' and '.join(lost)} are"
        return (
            f"{len(self.values)} losses against the margin from {self.margins[0]:g} to {self.margins[-1]:g}{where}: "
            f"{'; '.join(said)}. {tail} at least the mistakes, 1[m ≤ 0], everywhere."
        )

    def _facts(self) -> dict[str, Any]:
        return {"factors": self.factors, "bounds": self.bounds, "formulas": self.labels}

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        worn = current()
        if self.margins[0] < 0:
            ax.axvspan(self.margins[0], min(0.0, self.margins[-1]), color=worn.grey, alpha=0.12, lw=0, zorder=0)
        for k, (name, values) in enumerate((n, v) for n, v in self.values.items() if n != "zero-one"):
            ax.plot(self.margins, values, color=look(k).colour, ls=DASHES[k % len(DASHES)], lw=2,
                    label=self.labels[name])  # fmt: skip
        if "zero-one" in self.values:
            self._mistakes(ax)
        ax.set_xlim(self.margins[0], self.margins[-1])
        ax.set_ylim(-0.08, TOP)
        ax.set_xlabel("margin m = y xᵀw")
        ax.set_ylabel("loss")
        ax.set_title("Losses above the mistakes" if title is None else title, fontsize=11)
        if legend:
            legend_below(ax, 2)

    def _mistakes(self, ax: Any) -> None:
        """The step, closed above at zero and open below."""
        ink = current().ink
        left, right = self.margins[0], self.margins[-1]
        if left < 0:
            ax.plot([left, min(0, right)], [1, 1], color=ink, lw=3, label=self.labels["zero-one"], zorder=3)
        if right > 0:
            ax.plot([max(0, left), right], [0, 0], color=ink, lw=3, zorder=3)
        if left <= 0 <= right:
            ax.plot(0, 1, "o", color=ink, ms=6, zorder=4)
            ax.plot(0, 0, "o", mfc=current().paper, mec=ink, mew=1.5, ms=6, zorder=4)


def _known(name: Any) -> tuple[str, NamedLoss]:
    if isinstance(name, MarginLoss):
        for known, each in KNOWN.items():
            if type(each.loss) is type(name):
                return known, each
        return type(name).__name__, NamedLoss(name, type(name).__name__)
    key = ALSO.get(name, name.replace("-", " ") if isinstance(name, str) and name != "zero-one" else name)
    if not isinstance(key, str) or key not in KNOWN:
        raise SettingError(
            "loss",
            name,
            f"give one of {', '.join(map(repr, KNOWN))}, or one of separatrix.losses.",
            f"There is no loss {name!r};",
        )
    return key, KNOWN[key]


def _margins(given: Any) -> Floats:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise SettingError("margins", given, "give two numbers, from … to ….") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingError("margins", given, "the first must be less than the second, and both finite.")
    return np.unique(np.append(np.linspace(low, high, FINE), [m for m in (-1.0, 0.0, 1.0) if low <= m <= high]))


def _label(name: str, each: NamedLoss, factor: float, bound: bool) -> str:
    times = (each.times or f"{factor:g}·") if factor != 1 else ""
    return f"{name}: {times}{each.formula}" + ("" if bound else " (no bound)")
