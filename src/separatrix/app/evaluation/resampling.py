"""The bootstrap: rows drawn again, within each class, for measures whose interval has no formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats, Places
from .intervals import Interval
from .predictions import Predictions

Statistic = Callable[[Floats], Floats]
"""From draws × rows of weights to one number a draw; NaN where a draw has none."""

DRAWS = 1000
"""Draws of a bootstrap."""
FEWEST = 200
"""Draws of the bootstrap of any number of rows."""
WORK = 50_000_000
"""Draws × rows, at the most: many rows are drawn less often."""
AT_ONCE = 4_000_000
"""Draws × rows held at a time."""


def draws_of(rows: int) -> int:
    """How many draws are made of so many rows."""
    return int(min(DRAWS, max(FEWEST, WORK // max(rows, 1))))


def weights_drawn(given: Predictions, seed: int) -> Iterator[Floats]:
    """Draws × rows: how often each row was drawn, times its weight; the same for the same rows, classes and seed.

    Rows are drawn within their class, so that its size is kept; where rows belong to clusters, clusters are drawn.
    """
    strata = _of_classes(given.truth) if given.clusters is None else [np.arange(given.clusters.max() + 1)]
    total, step = draws_of(given.rows), max(1, AT_ONCE // max(given.rows, 1))
    random = np.random.default_rng(seed)
    for start in range(0, total, step):
        b = min(step, total - start)
        if given.clusters is None:
            counts: Floats = np.empty((b, given.rows))
            for rows in strata:
                counts[:, rows] = _multiplicities(len(rows), b, random)
        else:
            counts = _multiplicities(len(strata[0]), b, random)[:, given.clusters].astype(np.float64)
        yield counts if given.weights is None else counts * given.weights


def bootstrap(given: Predictions, statistic: Statistic, level: float, seed: int) -> Interval:
    """The middle `level` of the values that the draws give."""
    found = np.concatenate([statistic(drawn) for drawn in weights_drawn(given, seed)])
    return percentiles(found, level, "stratified by class" if given.clusters is None else "by groups")


def percentiles(found: Floats, level: float, how: str) -> Interval:
    """The interval between the (1 ∓ level)/2 quantiles; none where a draw in twenty has no value, or all are equal."""
    known = found[np.isfinite(found)]
    if len(known) < 0.95 * len(found):
        lost = len(found) - len(known)
        return Interval(None, None, "", f"{lost} of {len(found)} bootstrap draws have no value: there are too few rows")
    if known.min() == known.max():
        return Interval(None, None, "", "all bootstrap draws have the same value, which says nothing about other rows")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), f"bootstrap {how}, {len(found)} draws")


def _of_classes(truth: Places) -> list[Places]:
    return [np.flatnonzero(truth == k) for k in np.unique(truth)]


def _multiplicities(n: int, draws: int, random: np.random.Generator) -> NDArray[np.intp]:
    picked = random.integers(0, n, (draws, n)) + np.arange(draws)[:, None] * n
    return np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n)
