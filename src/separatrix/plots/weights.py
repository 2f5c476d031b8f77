"""Weights per standard deviation with their intervals, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from ..errors import Refusal, SettingError
from ..inference.result import Inference
from ..numerics.arrays import Floats
from .display import Display, wrapped
from .inputs import Table, are_scores, check_fitted, classes_of, labels_of, table_of
from .style import current, legend_below, look, plural

LINE = 0.26
"""Inches of height for each weight."""
LEAST = 2.0
"""Inches of height for all weights at least."""
MARGIN = 1.5
"""Inches of height around the weights: title, axis and its label."""
MOST = 30
"""Columns drawn unless said otherwise, those with the largest weights."""


@dataclass(eq=False)
class WeightsDisplay(Display):
    """ŵⱼsⱼ ± z √Cⱼⱼ sⱼ: what one standard deviation of each column adds to the score, and how sure that is.

    A filled mark has an interval. Marks are hollow where there is none, and the reason stands under the picture; forced
    intervals are marked †. Of K classes a colour and a marker for each class.
    """

    columns: tuple[str, ...]
    equations: tuple[Any, ...]
    """The classes that have weights; of two classes one."""
    places: tuple[int, ...]
    """Which of the model's classes they are, so that a class has one colour in all pictures."""
    reference: Any
    """The class that they are against; None where each class has weights of its own."""
    weights: Floats
    """equations × columns, times the scales."""
    intervals: Floats | None
    """equations × columns × 2, times the scales; None where there are none."""
    scales: Floats
    """Standard deviations of the columns, or ones."""
    standardised: bool
    level: float
    method: str
    reason: str
    """Why there are no intervals, or, if they are forced, what is wrong with them."""
    forced: bool
    likely: bool
    """Whether the score is a log-odds."""
    name: str
    most: int = MOST

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None, level: float = 0.95, method: str = "wald",
        covariance: str = "model", standardised: bool = True, reference: Any = None, force: bool = False,
        most: int = MOST, ax: Any = None, theme: str | None = None, **looks: Any,
    ) -> WeightsDisplay:  # fmt: skip
        """The weights of a fitted linear model, on the rows of its fit.

        A model that has `inference` gives intervals of this level by "wald" or "profile", or refuses them; `force` is
        its own. `standardised` multiplies each weight by the standard deviation of its column. Of more than `most`
        columns those with the largest weights are drawn.
        """
        check_fitted(model)
        table = table_of(X, model)
        labels_of(y, table.count)
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
            raise SettingError("most", most, "it must be a whole number of at least 1.")
        classes = classes_of(model, X).tolist()
        if reference is not None and reference not in classes:
            raise SettingError("reference", reference, f"the classes are {classes}.")
        plain = weights_by_model(model, table, classes, reference)
        found, reason, forced = plain, plain.reason, False
        if hasattr(model, "inference") and model.verdict_.claim.of_likelihood:
            inference: Inference = model.inference(X, y, sample_weight, covariance=covariance, force=force)
            if reference is not None:
                inference = inference.with_reference(reference)
            reason, forced = " ".join(inference.reasons), inference.forced
            found = weights_by_inference(inference, plain, level, method)
        scales = plain.scales(sample_weight) if standardised else np.ones(len(found.columns))
        intervals = None if found.intervals is None else found.intervals * scales[:, None]
        display = cls(
            found.columns, found.equations, tuple(map(classes.index, found.equations)), found.reference,
            found.weights * scales, intervals, scales, standardised,
            level, method, reason, forced, plain.likely, type(model).__name__, int(most),
        )  # fmt: skip
        return display.plot(ax, theme=theme, **looks)

    @property
    def shown(self) -> NDArray[np.intp]:
        """The places of the columns that are drawn, in their order."""
        if len(self.columns) <= self.most:
            return np.arange(len(self.columns))
        return np.sort(np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")[: self.most])

    @property
    def data(self) -> dict[str, Any]:
        """A line for each weight: class, column, weight, and the ends of its interval if there are any."""
        d, E = len(self.columns), len(self.equations)
        found = {
            "class": np.repeat(np.asarray(self.equations), d),
            "column": np.tile(np.asarray(self.columns), E),
            "weight": self.weights.ravel(),
        }
        if self.intervals is not None:
            found |= {"from": self.intervals[..., 0].ravel(), "to": self.intervals[..., 1].ravel()}
        return found

    @property
    def alt_text(self) -> str:
        """The largest weight, how many intervals leave zero out, or why there are none."""
        k, j = np.unravel_index(np.abs(self.weights).argmax(), self.weights.shape)
        per = " per standard deviation" if self.standardised else ""
        of = f" of {self.equations[k]}" if len(self.equations) > 1 else ""
        words = (
            f"{plural(self.weights.size, 'weight')} of {self.name}{per}: the largest is {self.weights[k, j]:.3g}, "
            f"{self.columns[j]}{of}."
        )
        if self.intervals is not None:
            clear = int(((self.intervals[..., 0] > 0) | (self.intervals[..., 1] < 0)).sum())
            words += f" Intervals of {self.level:.4g} ({self.method}): {clear} of {self.weights.size} leave zero out."
        return words + (f" {self._note()}" if self.reason else "")

    def _facts(self) -> dict[str, Any]:
        return {
            "model": self.name, "reference": self.reference, "level": self.level, "method": self.method,
            "reason": self.reason, "forced": self.forced, "standard deviations": self.scales,
        }  # fmt: skip

    def _note(self) -> str:
        return f"† Forced: {self.reason}" if self.forced else f"No intervals: {self.reason}"

    def _axes(self) -> Any:
        lines = len(self.shown) * (1 + 0.45 * (len(self.equations) - 1))
        high = max(LEAST, LINE * lines) + MARGIN + 0.17 * self._words().count("\n")
        return plt.subplots(figsize=(6.6, high), layout="constrained")[1]

    def _words(self) -> str:
        """The text under the axes: label, columns left out, and why there are no intervals."""
        words = "weight per standard deviation" if self.standardised else "weight"
        if self.likely and self.reference is not None:
            whose = f"{self.equations[0]} against {self.reference}" if len(self.equations) == 1 else f"{self.reference}"
            words += f" (log-odds of {whose})" if len(self.equations) == 1 else f" (log-odds against {whose})"
        elif len(self.equations) == 1:
            words += f" (towards {self.equations[0]})"
        left = len(self.columns) - len(self.shown)
        notes = [f"{plural(left, 'column')} with smaller weights left out"] if left else []
        notes += [wrapped(self._note(), 84)] if self.reason else []
        return "\n".join([words, *notes])

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        worn, shown, E = current(), self.shown, len(self.equations)
        ax.axvline(0, color=worn.grey, lw=1, ls=":", zorder=1)
        for j in range(0, len(shown) if E > 1 else 0, 2):
            ax.axhspan(j - 0.5, j + 0.5, color=worn.grey, alpha=0.1, lw=0, zorder=0)
        for k, label in enumerate(self.equations):
            colour, marker = look(self.places[k])
            y = np.arange(len(shown)) + (0.5 * (k - (E - 1) / 2) / max(E - 1, 1) if E > 1 else 0.0)
            w = self.weights[k, shown]
            sure = self.intervals is not None
            if sure:
                ends = _known(self.intervals)[k, shown]
                ax.hlines(y, ends[:, 0], ends[:, 1], colors=colour, lw=1.8, zorder=2)
            ax.plot(w, y, marker, ms=7, mfc=colour if sure else worn.paper, mec=colour, mew=1.4, ls="none", zorder=3,
                    label=f"class {label}" if E > 1 else "_")  # fmt: skip
        mark = "† " if self.forced else ""
        ax.set_yticks(np.arange(len(shown)), [f"{mark}{self.columns[j]}" for j in shown])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.margins(x=0.08)
        ax.set_xlabel(self._words(), fontsize=9.5, loc="right", multialignment="left")  # long words reach under names
        ax.set_title(self._title() if title is None else title, fontsize=10.5)
        if legend and E > 1:
            legend_below(ax, 4, gap=34 + 13 * (1 + self._words().count("\n")))

    def _title(self) -> str:
        if self.intervals is None:
            return f"Weights of {self.name}"
        forced = ", forced" if self.forced else ""
        return f"Weights of {self.name}, {100 * self.level:.4g} % intervals ({self.method}{forced})"


def _known(intervals: Floats | None) -> Floats:
    assert intervals is not None
    return intervals


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a model, one row for each class that has some."""

    columns: tuple[str, ...]
    equations: tuple[Any, ...]
    reference: Any
    weights: Floats
    intervals: Floats | None
    reason: str
    likely: bool
    rows: Floats
    """The numbers that the weights multiply: X, or features made of it."""

    def scales(self, sample_weight: Any) -> Floats:
        """√(Σᵢcᵢ(xᵢⱼ − x̄ⱼ)²/Σᵢcᵢ): the standard deviation of each column."""
        cost = np.ones(len(self.rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(self.rows, axis=0, weights=cost)
        return np.asarray(np.sqrt(np.average(np.square(self.rows - mean), axis=0, weights=cost)))


def weights_by_model(model: Any, table: Table, classes: list[Any], reference: Any) -> Weights:
    """The weights as the model has them; against the reference, where one is asked for."""
    W = getattr(model, "coef_", None)
    if W is None:
        raise Refusal(
            f"{type(model).__name__} has no weights of its columns (no coef_), so there are none to draw: "
            "draw its regions by DecisionRegionsDisplay."
        )
    W = np.atleast_2d(np.asarray(W.toarray() if hasattr(W, "toarray") else W, dtype=np.float64))
    rows, columns = table.values, table.names
    if W.shape[1] != len(columns):
        rows, columns = _features(model, table, W.shape[1])
    K, rule = len(classes), getattr(model, "rule_", None)
    if len(W) not in (1, K) or not are_scores(model, table.given, rows, W):
        raise Refusal(
            f"{type(model).__name__} has {len(W)} rows of weights for {K} classes, which are not those of its scores; "
            "one for each class is needed: draw its regions by DecisionRegionsDisplay."
        )
    likely = bool(getattr(rule, "probabilistic", hasattr(model, "predict_proba")))
    reason = f"{type(model).__name__} has weights without standard errors."
    if len(W) == 1:
        against = classes[0] if reference is None else reference
        turned = against == classes[1]
        return Weights(
            columns, (classes[0 if turned else 1],), against, -W if turned else W, None, reason, likely, rows
        )
    if reference is None:
        return Weights(columns, tuple(classes), None, W, None, reason, likely, rows)
    place = classes.index(reference)
    return Weights(columns, tuple(name for name in classes if name != reference), reference,
                   np.delete(W, place, 0) - W[place], None, reason, likely, rows)  # fmt: skip


def weights_by_inference(inference: Inference, plain: Weights, level: float, method: str) -> Weights:
    """The weights of an inference with their intervals, or those of the model where it refuses intervals."""
    equations = inference.equations
    if inference.refused is not None:
        W = plain.weights
        if plain.reference is None:
            place = plain.equations.index(inference.reference)
            W = np.delete(W, place, 0) - W[place]
        return replace(plain, equations=equations, reference=inference.reference, weights=W)
    intercepts = len(inference.names) - len(plain.columns)
    shape = (len(equations), len(inference.names))
    W = inference.coefficients.reshape(shape)[:, intercepts:]
    ends = inference.interval(level, method).reshape(*shape, 2)[:, intercepts:]
    return replace(plain, equations=equations, reference=inference.reference, weights=W, intervals=ends)


def _features(model: Any, table: Table, width: int) -> tuple[Floats, tuple[str, ...]]:
    """The features that the weights are of, where the model makes them itself."""
    features: Any = getattr(model, "features_", None)
    of_columns = getattr(model, "features", None)
    if hasattr(features, "transform"):
        made, names = features.transform(table.given), features.names
    elif callable(of_columns):  # naive Bayes: the statistics of each column
        made, names = of_columns(table.given), model.rule_.columns
    else:
        raise Refusal(
            f"{type(model).__name__} has {width} weights and X {len(table.names)} columns: they are not of these."
        )
    made = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)
    return made, tuple(map(str, names))
