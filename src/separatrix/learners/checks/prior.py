"""Probabilities for classes that are as frequent as they are, not as they were weighed or sampled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import SettingError
from ...numerics.arrays import Floats
from ...results.prior import Prior as Prior
from ...wording import setting
from .targets import Targets

SUM_TO_ONE = 1e-9
"""How far from one the shares may sum."""


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
            problem = f"{setting('prior')} names {label!r}, which is not a class of y;"
            raise SettingError("prior", prior, f"y has the classes {known}.", problem)
    for label in known:
        if label not in prior:
            problem = f"{setting('prior')} says nothing of class {label!r};"
            raise SettingError("prior", prior, f"give the share of each of the classes {known}.", problem)
    shares = np.array([float(prior[label]) for label in known])
    if abs(shares.sum() - 1) > SUM_TO_ONE:
        problem = f"{setting('prior')} sums to {shares.sum():.10g};"
        raise SettingError("prior", prior, "the shares of all classes sum to one: divide each by that sum.", problem)
    return shares / shares.sum()  # type: ignore[no-any-return]
