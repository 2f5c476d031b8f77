"""Measures of probabilities, row by row: log loss and Brier score; and what mistakes cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import SettingError
from ...numerics.arrays import Floats
from .intervals import Measure, mean
from .predictions import Predictions

NONE = "there are no probabilities"


@dataclass(frozen=True)
class Costs:
    """What a mistake costs: a false alarm, and a positive row that is missed."""

    false_positive: float = 1.0
    false_negative: float = 1.0

    def __post_init__(self) -> None:
        if not all(np.isfinite(c) and c >= 0 for c in (self.false_positive, self.false_negative)) or not self.total:
            costs = f"fp={self.false_positive!r}, fn={self.false_negative!r}"
            raise SettingError("costs", costs, "give numbers ≥ 0, not both 0.", f"The costs are {costs};")

    @property
    def total(self) -> float:
        """The sum of both."""
        return self.false_positive + self.false_negative

    @property
    def threshold(self) -> float:
        """fp/(fp + fn): the least probability at which a true probability makes alarm the cheaper answer."""
        return self.false_positive / self.total

    def of(self, given: Predictions) -> Floats:
        """What each row costs."""
        alarm = (given.chosen == given.positive) & (given.truth != given.positive)
        missed = (given.chosen != given.positive) & (given.truth == given.positive)
        return np.asarray(self.false_positive * alarm + self.false_negative * missed)


def log_losses(given: Predictions) -> Floats | str:
    """−log P(yᵢ | xᵢ) of each row, in nats; or why there is none."""
    logs = given.log_probabilities
    if logs is None:
        return NONE
    own = -logs[np.arange(given.rows), given.truth]
    endless = np.flatnonzero(~np.isfinite(own) & (given.w > 0))
    if len(endless):
        return (
            f"{len(endless)} of {given.rows} rows, the first of them row {endless[0] + 1}, are of a class whose "
            "probability is given as 0: the log loss is infinite"
        )
    return np.where(np.isfinite(own), own, 0.0) + 0.0


def squared_errors(given: Predictions) -> Floats | str:
    """(yᵢ − pᵢ)² of each row; of K > 2 classes ‖yᵢ − pᵢ‖².  [000 §8.1.5]"""
    P = given.probabilities
    if P is None:
        return NONE
    rows = np.arange(given.rows)
    if len(given.classes) == 2:
        return np.asarray(P[rows, 1 - given.truth] ** 2)
    return np.asarray(1 - 2 * P[rows, given.truth] + (P * P).sum(axis=1))


def log_loss(given: Predictions, level: float) -> Measure:
    """−Σwᵢ log P(yᵢ | xᵢ) / Σwᵢ, in nats."""
    return of_rows("log_loss", given, log_losses(given), level)


def brier(given: Predictions, level: float) -> Measure:
    """Σwᵢ(yᵢ − pᵢ)² / Σwᵢ; of K > 2 classes Σwᵢ‖yᵢ − pᵢ‖² / Σwᵢ.  [000 §8.1.5]"""
    return of_rows("brier", given, squared_errors(given), level)


def cost(given: Predictions, level: float, costs: Costs) -> Measure:
    """The mean cost of a row: (fp·FP + fn·FN)/n."""
    return of_rows("cost", given, costs.of(given), level)


def of_rows(name: str, given: Predictions, losses: Floats | str, level: float) -> Measure:
    """The mean of a loss that every row has; lower is better."""
    if isinstance(losses, str) or not given.rows:
        why = losses if isinstance(losses, str) else "there are no rows"
        return Measure(name, None, level=level, better="lower", why=why)
    value = float(given.w @ losses / given.w.sum())
    low, high, method, why = mean(losses, given.w, level, given.clusters, least=0.0)
    if low is not None and low == high:
        low, high, method, why = None, None, "", "all rows have the same loss, which says nothing about other rows"
    return Measure(name, value, low, high, level, method, "lower", "", why)
