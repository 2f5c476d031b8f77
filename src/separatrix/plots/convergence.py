"""How a fit came to its end, pass by pass."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..errors import Refusal, SettingError
from ..fitting.path import TRIAL
from ..learners.base import MarginRecord, Record
from ..numerics.arrays import EPS, Floats
from ..results.proofs import Limit
from .display import Display
from .inputs import check_fitted
from .style import DASHES, current, legend_below, look, plural


class Curve(NamedTuple):
    """The history of one run of a model, from one start."""

    name: str
    start: int
    passes: Floats
    seconds: Floats
    values: Floats
    """As the history has them."""
    drawn: Floats


class Quantity(NamedTuple):
    """A quantity of the history that can be drawn: the words on its axis, and whether that is logarithmic."""

    axis: str
    logarithmic: bool


QUANTITIES = {
    "value": Quantity("value above the best", True),
    "gradient": Quantity("length of the gradient", True),
    "mistakes": Quantity("mistakes in the pass", False),
    "gap": Quantity("gap of the margin, (upper − lower)/upper", True),
}
CLOCKS = ("passes", "seconds")
"""What the horizontal axis can count."""


@dataclass(eq=False)
class ConvergenceDisplay(Display):
    """J(wₜ) − min J, ‖∇J(wₜ)‖, or the mistakes of pass t: how fits came to their ends, by passes or by seconds.

    The best is the least value that any of the fits has, less the gap that its certificate proves, or the limit of the
    loss where weights grow for ever; a value that is no more than that is drawn at the last digit of the best.
    Of several starts each is a curve.
    """

    curves: list[Curve]
    quantity: str
    by: str
    best: float | None
    """The value that is taken off those of the history, so that what is drawn falls to zero; None for other
    quantities, which are drawn as they are."""
    endings: dict[str, str]
    """The status of each model's verdict."""

    @classmethod
    def from_estimator(
        cls, model: Any, *, quantity: str | None = None, by: str = "passes", best: float | None = None, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> ConvergenceDisplay:  # fmt: skip
        """The history of one fitted model.

        `quantity` is "value" or "gradient" of a minimum, "mistakes" of a perceptron, "gap" of a margin; None is what
        the model has. `by` is "passes" or "seconds". `best` is as in `compare`.
        """
        models = {type(model).__name__: model}
        return cls.compare(models, quantity=quantity, by=by, best=best, ax=ax, theme=theme, **looks)

    @classmethod
    def compare(
        cls, models: Mapping[str, Any], *, quantity: str | None = None, by: str = "passes", best: float | None = None,
        ax: Any = None, theme: str | None = None, **looks: Any,
    ) -> ConvergenceDisplay:  # fmt: skip
        """The histories of several fitted models, by name: {"newton": model, "gradient": another}.

        `best` is the least value there is, where it is known from elsewhere, such as a fit that is not drawn; the value
        of no model may be below it. Without it, it is the least value of these models, less the gap that its
        certificate proves.
        """
        if not isinstance(models, Mapping) or not models:
            raise SettingError(
                "models", models, '{"newton": model, "gradient": another}.', "compare() needs models by name:"
            )
        if by not in CLOCKS:
            raise SettingError("by", by, f"it must be one of {', '.join(map(repr, CLOCKS))}.")
        for name, model in models.items():
            _check(name, model)
        chosen = _quantity(models, quantity)
        if best is not None and chosen != "value":
            raise SettingError("best", best, "leave best out.", f"best is {best!r}, and {chosen!r} is drawn as it is:")
        if chosen == "value":
            best = _best(models) if best is None else _checked_best(best, models)
        curves = [curve for name, model in models.items() for curve in _curves(str(name), model, chosen, best)]
        endings = {str(name): str(getattr(getattr(m, "verdict_", None), "status", "")) for name, m in models.items()}
        return cls(curves, chosen, by, best, endings).plot(ax, theme=theme, **looks)

    @property
    def data(self) -> dict[str, Any]:
        """A line for each record: model, start, passes, seconds, the number in the history, and what is drawn."""
        sizes = [len(curve.passes) for curve in self.curves]
        columns = {
            "model": np.repeat([curve.name for curve in self.curves], sizes),
            "start": np.repeat([curve.start for curve in self.curves], sizes),
        }
        for name in ("passes", "seconds", "values", "drawn"):
            columns[name] = np.concatenate([getattr(curve, name) for curve in self.curves])
        return columns

    @property
    def alt_text(self) -> str:
        """Where each curve begins and ends, and after how long."""
        said = []
        for curve in self.curves:
            took = f"{curve.passes[-1]:.4g} passes" if self.by == "passes" else f"{curve.seconds[-1]:.3g} seconds"
            which = f"{curve.name}, start {curve.start}" if self._many(curve.name) else curve.name
            said.append(f"{which}: from {curve.drawn[0]:.3g} to {curve.drawn[-1]:.3g} after {took}")
        ends = ", ".join(f"{name} ended {status}" for name, status in self.endings.items() if status)
        what = QUANTITIES[self.quantity].axis.capitalize() + ("" if self.best is None else f", {self.best:.6g},")
        return f"{what} of {plural(len(self.curves), 'curve')}. {'; '.join(said)}.{f' {ends}.' if ends else ''}"

    def _facts(self) -> dict[str, Any]:
        return {"quantity": self.quantity, "by": self.by, "best": self.best, "endings": self.endings}

    def _many(self, name: str) -> bool:
        return sum(curve.name == name for curve in self.curves) > 1

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        names = list(self.endings)
        for curve in self.curves:
            k = names.index(curve.name)
            colour, marker = look(k)
            starts = [c.start for c in self.curves if c.name == curve.name]
            many, first = len(starts) > 1, curve.start == min(starts)
            label = f"{curve.name}, {plural(len(starts), 'start')}" if many else curve.name
            x = curve.passes if self.by == "passes" else curve.seconds
            ax.plot(x, curve.drawn, color=colour, ls=DASHES[k % len(DASHES)], marker=marker, ms=4.5,
                    markevery=max(1, len(x) // 25), lw=1.2 if many else 1.8, alpha=0.8 if many else 1.0,
                    label=label if first else "_")  # fmt: skip
        quantity = QUANTITIES[self.quantity]
        if quantity.logarithmic and any((curve.drawn > 0).any() for curve in self.curves):
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        ax.tick_params(colors=current().ink, which="both")
        ax.grid(visible=True, axis="y", alpha=0.35)
        ax.set_xlabel("passes over the rows" if self.by == "passes" else "seconds")
        if self.by == "passes":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylabel(quantity.axis if self.best is None else f"{quantity.axis}, {self.best:.4g}")
        made = f"Convergence of {names[0]}" if len(names) == 1 else "Convergence"
        ax.set_title(made if title is None else title, fontsize=11)
        if legend and len(names) > 1:
            legend_below(ax, 4)


def _check(name: Any, model: Any) -> None:
    check_fitted(model, "fit")
    history = getattr(model, "history_", None)
    if not history:
        raise Refusal(
            f"{name!r} is {type(model).__name__}, which keeps no history_ of passes; fit one of separatrix, all "
            "rows at a time: a stream has none."
        )
    if not any(hasattr(history[0], each) for each in ("value", "mistakes", "lower")):
        raise Refusal(f"{name!r} is {type(model).__name__}, which reads its rows once: there is nothing to converge.")


def _has(model: Any) -> tuple[str, ...]:
    first = model.history_[0]
    if isinstance(first, MarginRecord):
        return ("gap",)
    return ("value", "gradient") if isinstance(first, Record) else ("mistakes",)


def _quantity(models: Mapping[str, Any], asked: Any) -> str:
    if asked is not None and asked not in QUANTITIES:
        raise SettingError("quantity", asked, f"it must be one of {', '.join(map(repr, QUANTITIES))}.")
    name, first = next(iter(models.items()))
    chosen = _has(first)[0] if asked is None else str(asked)
    for other, model in models.items():
        if chosen not in _has(model):
            known = " or ".join(map(repr, _has(model)))
            raise Refusal(f"{other!r} is {type(model).__name__}, whose history has {known} and not {chosen!r}.")
    if chosen == "value":
        aims = {str(key): (getattr(m, "objective", ""), getattr(m, "l2_", 0.0)) for key, m in models.items()}
        for other, aim in aims.items():
            if aim != aims[str(name)]:
                raise Refusal(
                    f"{name!r} minimises {aims[str(name)]} and {other!r} {aim} (objective, l2): values of different "
                    "things cannot be compared. Fit them alike, or draw quantity='gradient'."
                )
    return chosen


def _best(models: Mapping[str, Any]) -> float:
    """The least value of all, less what its certificate leaves open."""
    return float(np.subtract(*min(_reached(model) for model in models.values())))


def _checked_best(best: Any, models: Mapping[str, Any]) -> float:
    if not isinstance(best, numbers.Real) or not np.isfinite(float(best)):
        raise SettingError("best", best, "it must be a finite number, or None.")
    for name, model in models.items():
        least = min(record.value for record in model.history_ if record.start != TRIAL)
        if least < float(best):
            raise SettingError(
                "best",
                best,
                "give the least of all, or None.",
                f"best is {best!r}, and {name!r} has reached {least!r}, which is lower:",
            )
    return float(best)


def _reached(model: Any) -> tuple[float, float]:
    """The least value of a fit, or its limit where weights grow for ever, and how much lower it may be."""
    least = min(record.value for record in model.history_ if record.start != TRIAL)
    verdict = model.verdict_
    if verdict.status == "separated":
        return 0.0, 0.0
    if isinstance(verdict.certificate, Limit):
        return min(least, verdict.certificate.value), 0.0
    gap = float(getattr(verdict.certificate, "gap", np.nan)) if verdict.ok else np.nan
    return least, gap if np.isfinite(gap) else 0.0


def _curves(name: str, model: Any, quantity: str, best: float | None) -> list[Curve]:
    """A curve for each start. Trials of cross-validation saw only some of the rows and are left out."""
    records = [record for record in model.history_ if getattr(record, "start", 0) != TRIAL]
    found = []
    for start in dict.fromkeys(getattr(record, "start", 0) for record in records):
        run = [record for record in records if getattr(record, "start", 0) == start]
        passes, seconds = (np.array([getattr(r, key) for r in run], dtype=np.float64) for key in CLOCKS)
        values = np.array([_number(record, quantity) for record in run], dtype=np.float64)
        drawn = values if best is None else np.maximum(values - best, EPS * (abs(best) or 1.0))
        found.append(Curve(name, int(start), passes, seconds, values, drawn))
    return found


def _number(record: Any, quantity: str) -> float:
    if quantity == "gap":
        return float((record.upper - record.lower) / record.upper) if record.upper > 0 else 0.0
    return float(getattr(record, {"gradient": "gradient_norm"}.get(quantity, quantity)))
