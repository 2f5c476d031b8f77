"""Where to draw the line: what each threshold of two classes gives, and which one costs least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .intervals import Measure
from .measures import measures
from .predictions import Predictions
from .probability import Costs

SHOWN = ("sensitivity", "specificity", "precision", "f1", "accuracy")
USUAL = tuple(k / 10 for k in range(1, 10))


@dataclass(frozen=True)
class AtThreshold:
    """What the rule "positive if p ≥ threshold" gives."""

    threshold: float
    flagged: float
    """The share of the weight of all rows that is predicted to be positive."""
    measures: tuple[Measure, ...]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"threshold": self.threshold, "flagged": self.flagged,
                "measures": [one.to_dict() for one in self.measures]}  # fmt: skip


@dataclass(frozen=True)
class Cheapest:
    """The threshold at which mistakes cost least in these rows, and what that is for a row."""

    threshold: float | None
    """None: no row is flagged; a threshold above all scores."""
    cost: float
    if_true: float | None
    """fp/(fp + fn): the threshold to take if the probabilities are true; None where there are none."""

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"threshold": self.threshold, "cost": self.cost, "if_probabilities_are_true": self.if_true}


def threshold_table(
    given: Predictions, thresholds: Sequence[float] = (), *, level: float = 0.95, seed: int = 0,
    costs: Costs | None = None,
) -> tuple[AtThreshold, ...]:  # fmt: skip
    """The measures at each threshold: by default 0.1 … 0.9, of scores without probabilities their deciles."""
    ranked = _ranked(given)
    if not thresholds:
        deciles = np.unique(np.quantile(ranked, USUAL)).tolist() if given.rows else []
        thresholds = USUAL if given.probabilities is not None else deciles
    found = []
    for threshold in thresholds:
        there = given.at(threshold)
        flagged = float(given.w @ (there.chosen == given.positive) / given.w.sum()) if given.rows else 0.0
        found.append(
            AtThreshold(float(threshold), flagged, measures(there, SHOWN, level=level, seed=seed, costs=costs))
        )
    return tuple(found)


def cheapest(given: Predictions, costs: Costs) -> Cheapest:
    """minₜ (fp Σw 1[p ≥ t, y = 0] + fn Σw 1[p < t, y = 1]) / Σw over the t that rows have; the highest of equals."""
    ranked = _ranked(given)
    yes = given.truth == given.positive
    levels, place = np.unique(-ranked, return_inverse=True)
    alarms, found = (np.cumsum(np.bincount(place, given.w * side, len(levels))) for side in (~yes, yes))
    missed = float(given.w @ yes)
    total = np.append(
        costs.false_negative * missed, costs.false_positive * alarms + costs.false_negative * (missed - found)
    )
    # Sums of weights are rounded: what is equal but for the last digits is equal, and fewer alarms are taken.
    best = int(np.flatnonzero(total <= total.min() + 1e-12 * total.max())[0])
    threshold = None if best == 0 else float(-levels[best - 1])
    if_true = costs.threshold if given.probabilities is not None else None
    return Cheapest(threshold, max(float(total[best] / given.w.sum()), 0.0), if_true)


def _ranked(given: Predictions) -> Floats:
    given.at(0.0)  # which says what is missing, if something is
    ranked = given.ranking if given.probabilities is None else given.probabilities[:, given.positive]
    assert ranked is not None
    return ranked
