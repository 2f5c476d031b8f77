"""Probabilities for classes that are as frequent as they are, not as they were weighed or sampled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ...results.prior import Prior as Prior
from .targets import Targets

SUM_TO_ONE = 1e-9


def prior_of(prior: Any, targets: Targets, cost: Floats, class_weight: tuple[float, ...]) -> Prior | None:
    """What was asked for, of these rows; None if nothing was."""
    if prior is None:
        return None
    relative = cost / cost.max() if cost.size else cost  # so that no total overflows
    totals = targets.totals(relative)
    weighed = totals * (np.array(class_weight) / max(class_weight))
    wanted = totals / totals.sum() if isinstance(prior, str) else _given(prior, targets.classes.tolist())
    return Prior(weighed / weighed.sum(), wanted)


def _given(prior: Mapping[Any, float], known: list[Any]) -> Floats:
    """The shares that a dict gives, in the order of the classes."""
    for label in prior:
        if label not in known:
            raise ValueError(f"prior names {label!r}, which is not a class of y; y has the classes {known}.")
    for label in known:
        if label not in prior:
            raise ValueError(f"prior says nothing of class {label!r}; give the share of each of the classes {known}.")
    shares = np.array([float(prior[label]) for label in known])
    if abs(shares.sum() - 1) > SUM_TO_ONE:
        raise ValueError(
            f"prior sums to {shares.sum():.10g}; the shares of all classes sum to one: divide each by that sum."
        )
    return shares / shares.sum()  # type: ignore[no-any-return]
