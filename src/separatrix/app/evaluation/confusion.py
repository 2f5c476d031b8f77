"""Measures that come from the confusion matrix: what was predicted, by what is true."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .intervals import (
    Better,
    Interval,
    Measure,
    Statistic,
    bootstrap,
    draws_of,
    effective,
    percentiles,
    proportion,
    wilson,
)
from .predictions import Predictions


def matrix(given: Predictions) -> Floats:
    """Cⱼₖ = Σᵢ wᵢ 1[yᵢ = j] 1[ŷᵢ = k]: a row for each true class."""
    k = len(given.classes)
    counts = np.bincount(given.truth * k + given.chosen, given.w, k * k)
    return counts.astype(np.float64).reshape(k, k)


def accuracy(given: Predictions, level: float) -> Measure:
    """Σwᵢ 1[ŷᵢ = yᵢ] / Σwᵢ."""
    return share("accuracy", given, given.hit, np.ones(given.rows, bool), level, "there are no rows")


def error_rate(given: Predictions, level: float) -> Measure:
    """Σwᵢ 1[ŷᵢ ≠ yᵢ] / Σwᵢ."""
    rows = np.ones(given.rows, bool)
    return share("error_rate", given, 1 - given.hit, rows, level, "there are no rows", better="lower")


def sensitivity(given: Predictions, level: float, k: int, of: str = "") -> Measure:
    """P(ŷ = k | y = k)."""
    why = f"no row is of class {given.classes[k]!r}"
    return share("sensitivity", given, given.hit, given.truth == k, level, why, of)


def specificity(given: Predictions, level: float, k: int, of: str = "") -> Measure:
    """P(ŷ ≠ k | y ≠ k)."""
    why = f"every row is of class {given.classes[k]!r}"
    return share("specificity", given, (given.chosen != k).astype(float), given.truth != k, level, why, of)


def precision(given: Predictions, level: float, k: int, of: str = "") -> Measure:
    """P(y = k | ŷ = k)."""
    why = f"no row is predicted to be {given.classes[k]!r}"
    return share("precision", given, given.hit, given.chosen == k, level, why, of)


def f1(given: Predictions, level: float, k: int, of: str = "") -> Measure:
    """2J/(1 + J), J = TP/(TP + FP + FN): an interval of the share J is one of F1."""
    rows = (given.truth == k) | (given.chosen == k)
    why = f"no row is of class {given.classes[k]!r}, and none is predicted to be"
    jaccard = share("f1", given, given.hit, rows, level, why, of)
    if jaccard.value is None:
        return jaccard
    low, high = (None if end is None else 2 * end / (1 + end) for end in (jaccard.low, jaccard.high))
    method = jaccard.method and f"{jaccard.method} of TP/(TP + FP + FN)"
    return Measure("f1", 2 * jaccard.value / (1 + jaccard.value), low, high, level, method, of=of, why=jaccard.why)


def share(
    name: str, given: Predictions, x: Floats, rows: NDArray[np.bool_], level: float, why: str, of: str = "",
    better: Better = "higher",
) -> Measure:  # fmt: skip
    """The share of the weight of these rows for which x is one."""
    w = given.w[rows]
    if not w.any():
        return Measure(name, None, level=level, better=better, of=of, why=why)
    clusters = None if given.clusters is None else given.clusters[rows]
    low, high, method, none = proportion(x[rows], w, level, clusters, given.weights is not None)
    value = min(max(float(w @ x[rows] / w.sum()), 0.0), 1.0)
    return Measure(name, value, low, high, level, method, better, of, none)


def balanced_accuracy(given: Predictions, level: float, seed: int) -> Measure:
    """Σₖ P(ŷ = k | y = k) / K over the classes that occur; v ∓ √(Σₖ(vₖ − lₖ)²)/K of Wilson's limits lₖ."""
    k = len(given.present)
    if k < 2:
        return Measure("balanced_accuracy", None, level=level, why=one_class(given))
    table = matrix(given)[list(given.present)]
    shares = np.clip(np.diag(matrix(given))[list(given.present)] / table.sum(axis=1), 0, 1)
    value = float(shares.mean())
    if given.clusters is not None:
        found = of_tables(given, _balanced, level, seed)
    else:
        ends = np.array([wilson(p, _size(given, c), level) for p, c in zip(shares, given.present, strict=True)])
        below, above = (float(np.linalg.norm(shares - side)) / k for side in ends.T)
        found = Interval(max(value - below, 0.0), min(value + above, 1.0), "square and add of Wilson limits, by class")
    return Measure("balanced_accuracy", value, found.low, found.high, level, found.method, why=found.why)


def matthews(given: Predictions, level: float, seed: int) -> Measure:
    """(c·s − Σₖ tₖpₖ) / √((s² − Σpₖ²)(s² − Σtₖ²)): c right of s in all, tₖ true and pₖ predicted of class k."""
    value = float(_matthews(matrix(given)[None])[0]) if given.rows else math.nan
    if not math.isfinite(value):
        why = one_class(given) if len(given.present) < 2 else "every row is predicted to be of one class"
        return Measure("mcc", None, level=level, why=why)
    found = of_tables(given, _matthews, level, seed)
    return Measure("mcc", value, found.low, found.high, level, found.method, why=found.why)


def macro(name: str, given: Predictions, level: float, seed: int) -> Measure:
    """The plain mean over the classes, of precision or F1."""
    statistic = {"precision": _precisions, "f1": _f1s}[name]
    value = float(statistic(matrix(given)[None])[0]) if given.rows else math.nan
    if not math.isfinite(value):
        reasons = {"precision": "there is a class that is never predicted",
                   "f1": "there is a class that no row has and that is never predicted"}  # fmt: skip
        return Measure(name, None, level=level, why=f"{reasons[name]}, so that the mean over classes is not known")
    found = of_tables(given, statistic, level, seed)
    method = found.method and f"mean over classes; {found.method}"
    return Measure(name, value, found.low, found.high, level, method, why=found.why)


def of_tables(given: Predictions, statistic: Statistic, level: float, seed: int) -> Interval:
    """The bootstrap of what a confusion matrix gives: where rows have no weights, its rows are multinomial."""
    k = len(given.classes)
    if given.weights is None and given.clusters is None:
        random, table, draws = np.random.default_rng(seed), matrix(given), draws_of(1)
        drawn = np.zeros((draws, k, k))
        for j in given.present:
            size = table[j].sum()
            drawn[:, j] = random.multinomial(int(size), table[j] / size, draws)
        return percentiles(statistic(drawn), level, "stratified by class")
    return bootstrap(given, _of_weights(given, statistic), level, seed)


def of_weights(given: Predictions, name: str) -> Statistic:
    """One of OF_TABLES for every row of a table of weights, draws × rows."""
    if len(given.classes) > 2 or name in ("balanced_accuracy", "mcc"):
        return _of_weights(given, OF_TABLES[name])
    return _of_weights(given, lambda C: OF_TWO[name](C, given.positive))


def _of_weights(given: Predictions, statistic: Statistic) -> Statistic:
    k = len(given.classes)
    cells = np.zeros((given.rows, k * k))
    cells[np.arange(given.rows), given.truth * k + given.chosen] = 1
    return lambda w: statistic((w @ cells).reshape(-1, k, k))


def one_class(given: Predictions) -> str:
    """Why a measure that needs two classes has no value."""
    if not given.rows:
        return "there are no rows"
    return f"every row is of class {given.classes[given.present[0]]!r}"


def _size(given: Predictions, k: int) -> float:
    w = given.w[(given.truth == k) & (given.w > 0)]
    return float(len(w)) if given.weights is None else effective(w)


def _balanced(C: Floats) -> Floats:
    rows = C.sum(axis=2)
    shares = np.nan_to_num(_ratio(np.diagonal(C, axis1=1, axis2=2), rows))
    return _ratio(shares.sum(axis=1), (rows > 0).sum(axis=1).astype(np.float64))


def _matthews(C: Floats) -> Floats:
    t, p, s, c = C.sum(axis=2), C.sum(axis=1), C.sum(axis=(1, 2)), np.trace(C, axis1=1, axis2=2)
    under = (s * s - (p * p).sum(axis=1)) * (s * s - (t * t).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(under > 0, (c * s - (t * p).sum(axis=1)) / np.sqrt(np.maximum(under, 0)), np.nan)


def _precisions(C: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray((np.diagonal(C, axis1=1, axis2=2) / C.sum(axis=1)).mean(axis=1))


def _f1s(C: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray((2 * np.diagonal(C, axis1=1, axis2=2) / (C.sum(axis=1) + C.sum(axis=2))).mean(axis=1))


def _ratio(over: Floats, under: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(under > 0, over / under, np.nan))


OF_TABLES: dict[str, Statistic] = {
    "balanced_accuracy": _balanced, "mcc": _matthews, "precision": _precisions, "f1": _f1s,
}  # fmt: skip
"""What tables of counts give, draws × K × K."""
OF_TWO: dict[str, Callable[[Floats, int], Floats]] = {
    "sensitivity": lambda C, k: _ratio(C[:, k, k], C[:, k].sum(axis=1)),
    "specificity": lambda C, k: _ratio(C[:, 1 - k, 1 - k], C[:, 1 - k].sum(axis=1)),
    "precision": lambda C, k: _ratio(C[:, k, k], C[:, :, k].sum(axis=1)),
    "f1": lambda C, k: _ratio(2 * C[:, k, k], C[:, k].sum(axis=1) + C[:, :, k].sum(axis=1)),
}
"""Measures of two classes, about the positive one."""
