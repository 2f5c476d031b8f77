"""Two sets of predictions of the same rows: the difference of a measure, with an interval of the difference itself.

Two intervals that overlap say little: what makes a row hard for one model makes it hard for the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...errors import DataError
from ...numerics.arrays import Floats
from . import confusion, probability, ranking
from .calibration import fitted_intercept, fitted_slope
from .intervals import Better, Interval, Measure, checked_level, mean, newcombe, percentiles, quantile, weights_drawn
from .measures import as_name, measures
from .predictions import Predictions

Word = Literal["better", "worse", "no difference shown"]


@dataclass(frozen=True)
class Difference:
    """The first's measure less the second's, on the same rows."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    better: Better
    why: str = ""
    p: float | None = None
    """Of accuracy and error rate: McNemar's exact test, mid-p, of whether the two err equally often."""

    @property
    def word(self) -> Word:
        """Whether the first is better or worse than the second: only where the interval leaves zero out."""
        if (
            self.low is None
            or self.high is None
            or self.low <= 0 <= self.high
            or self.better not in ("higher", "lower")
        ):
            return "no difference shown"
        return "better" if (self.low > 0) == (self.better == "higher") else "worse"

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"name": self.name, "value": self.value, "low": self.low, "high": self.high, "level": self.level,
                "method": self.method or None, "word": self.word, "p": self.p, "why": self.why or None}  # fmt: skip


def difference(first: Predictions, second: Predictions, name: str, *, level: float = 0.95, seed: int = 0) -> Difference:
    """How much the first's measure is above the second's, with an interval that knows that the rows are the same."""
    checked_level(level)
    _check_same(first, second)
    name = as_name(name, len(first.classes))
    a, b = (measures(one, [name], level=level, seed=seed)[0] for one in (first, second))
    if a.value is None or b.value is None:
        return Difference(name, None, None, None, level, "", a.better, a.why or b.why)
    found = FORMULAS.get(name, _bootstrap)(first, second, name, level, seed)
    p = None
    if name in ("accuracy", "error_rate") and first.weights is None and first.clusters is None:
        p = mcnemar(*_disagreements(first, second))
    low, high, method = found.low, found.high, found.method
    if first.folds and method:
        method = f"{method}; out-of-fold predictions of {first.folds} folds, taken as independent"
    return Difference(name, a.value - b.value, low, high, level, method, a.better, found.why, p)


def mcnemar(only_first: int, only_second: int) -> float:
    """2P(X < x) + P(X = x), x the smaller of the counts, X binomial of their sum and ½: the mid-p value."""
    n, x = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2) for k in range(x + 1)]
    terms = [math.exp(t) for t in logs]
    return min(1.0, 2 * math.fsum(terms[:-1]) + terms[-1])


def _accuracy(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """Newcombe's paired interval; with weights or groups the normal one of the differences row by row."""
    if first.weights is not None or first.clusters is not None:
        sign = 1 if name == "accuracy" else -1
        return _rows(first, sign * (first.hit - second.hit), level)
    b, c = _disagreements(first, second)
    both = int((first.hit * second.hit).sum())
    low, high = newcombe(both, b, c, first.rows - both - b - c, level)
    ends = (low, high) if name == "accuracy" else (-high, -low)
    return Interval(*ends, "Newcombe's interval of paired proportions")


def _losses(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """d̄ ± z√Var(d̄) of the differences dᵢ of the rows' losses."""
    of = {"log_loss": probability.log_losses, "brier": probability.squared_errors}[name]
    a, b = of(first), of(second)
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    return _rows(first, a - b, level)


def _areas(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """A − A' ± z√V, V DeLong's of the differences ψᵢ − ψ'ᵢ of the rows' parts, so that the covariance is in it."""
    both = [ranking.areas_of(one) for one in (first, second)]
    value = float(np.mean([a.value - b.value for a, b in zip(*both, strict=True)]))
    parts = np.mean([a.parts - b.parts for a, b in zip(*both, strict=True)], axis=0)
    return _normal(value, ranking.ranked_variance(parts, first), level, "DeLong's covariance of the two areas")


def _averages(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """The difference of two average precisions, by each row's part in both."""
    (a, ours), (b, theirs) = (ranking.averages_of(one) for one in (first, second))
    variance = ranking.ranked_variance(ours - theirs, first)
    return _normal(a - b, variance, level, "linearised covariance of the two")


def _pairs_of_classes(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """The difference of two means over pairs of classes, by each row's part in both."""
    (a, ours), (b, theirs) = (ranking.pairs_of_classes(one) for one in (first, second))
    variance = ranking.of_classes(ours - theirs, first)
    return _normal(a - b, variance, level, "DeLong's covariance, mean over pairs of classes")


def _calibration(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """θ − θ' ± z√Σ(ψᵢ − ψ'ᵢ)², ψ the rows' parts in the two logistic fits."""
    find = {"calibration_slope": fitted_slope, "calibration_intercept": fitted_intercept}[name]
    a, b = find(first), find(second)
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    variance = ranking.of_rows(a.parts - b.parts, first)
    return _normal(a.value - b.value, variance, level, "normal interval of the two logistic fits, sandwich covariance")


def _normal(value: float, variance: float, level: float, method: str) -> Interval:
    if not math.isfinite(variance):
        return Interval(None, None, "", "a class has one row (or there is one group) only, which gives no interval")
    if variance == 0:
        return _no_spread(value)
    half = quantile(level) * math.sqrt(variance)
    return Interval(value - half, value + half, method)


def _bootstrap(first: Predictions, second: Predictions, name: str, level: float, seed: int) -> Interval:
    """A bootstrap whose draws of rows are the same for both models."""
    of_first, of_second = (_statistic(one, name) for one in (first, second))
    values = np.concatenate([of_first(drawn) - of_second(drawn) for drawn in weights_drawn(first, seed)])
    known = values[np.isfinite(values)]
    if len(known) and np.ptp(known) == 0:
        return _no_spread(float(known[0]))
    how = "of the same rows for both, " + ("stratified by class" if first.clusters is None else "by groups")
    return percentiles(values, level, how)


def _statistic(given: Predictions, name: str) -> Callable[[Floats], Floats]:
    return confusion.of_weights(given, name)


def _rows(given: Predictions, differences: Floats, level: float) -> Interval:
    if not differences[given.w > 0].any():
        return _no_spread(0.0)
    found = mean(differences, given.w, level, given.clusters, what="mean difference")
    if found.low is not None and found.low == found.high:
        return _no_spread(found.low)
    return found


def _no_spread(value: float) -> Interval:
    if value == 0:
        return Interval(0.0, 0.0, "both give every row the same")
    return Interval(None, None, "", "the difference is the same for all rows, which says nothing about other rows")


def _disagreements(first: Predictions, second: Predictions) -> tuple[int, int]:
    return int((first.hit > second.hit).sum()), int((first.hit < second.hit).sum())


def _check_same(first: Predictions, second: Predictions) -> None:
    if first.classes != second.classes or not np.array_equal(first.truth, second.truth):
        raise DataError("The two sets of predictions are not of the same rows: their true classes differ.")
    for name in ("weights", "clusters"):
        a, b = getattr(first, name), getattr(second, name)
        if (a is None) != (b is None) or (a is not None and not np.array_equal(a, b)):
            raise DataError(f"The two sets of predictions have different {name}; give both the same.")


FORMULAS: dict[str, Callable[[Predictions, Predictions, str, float, int], Interval]] = {
    "accuracy": _accuracy, "error_rate": _accuracy, "log_loss": _losses, "brier": _losses, "auc": _areas,
    "average_precision": _averages,
    "auc_hand_till": _pairs_of_classes, "calibration_slope": _calibration, "calibration_intercept": _calibration,
}  # fmt: skip
"""The measures whose difference has an interval by a formula; of the others the bootstrap gives it."""


def against(
    best: Predictions, others: dict[str, Predictions], name: str, level: float, seed: int
) -> dict[str, Difference]:
    """The difference of each to the best."""
    return {key: difference(other, best, name, level=level, seed=seed) for key, other in others.items()}


def best_of(found: dict[str, Measure]) -> str | None:
    """The name of the best value, the first of equals; None where nothing has a value."""
    known = {key: one for key, one in found.items() if one.value is not None}
    best: str | None = None
    for key, one in known.items():
        if best is None or one.gain(float(known[best].value or 0.0)) > 0:
            best = key
    return best
