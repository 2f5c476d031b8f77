"""What single columns tell of the class, and how far columns depend on each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ..evaluation.ranking import area
from .inputs import Inputs

WIDEST, ROWS = 1500, 200_000
"""Columns and rows up to which the condition is computed; of more rows, evenly spaced ones are taken."""


class Single(NamedTuple):
    """What one column tells."""

    name: str
    auc: float
    """The largest over classes of its area under the ROC curve, either way round."""
    same: bool
    """Whether no value of it stands with two classes, and values repeat."""


def single_columns(inputs: Inputs) -> list[Single]:
    """Each column that the model uses, by itself."""
    return [_single(inputs, column.name, column.kind) for column in inputs.encoding.columns]


def _single(inputs: Inputs, name: str, kind: str) -> Single:
    truth, K = inputs.truth, len(inputs.classes)
    if kind == "category":
        codes, levels = inputs.table.coded(name)
        place = codes.astype(np.intp) + 1
        counts = np.bincount(place * K + truth, minlength=(len(levels) + 1) * K).reshape(-1, K)
        return Single(name, _of_levels(place, truth, len(levels) + 1, K), _same(counts))
    x = inputs.table.numbers(name)
    there = ~np.isnan(x)
    if not there.any():
        return Single(name, 0.5, False)
    values, place = np.unique(x[there], return_inverse=True)
    counts = np.bincount(place * K + truth[there], minlength=len(values) * K).reshape(-1, K)
    best = max((_area(x[there], truth[there] == k) for k in range(K)), default=0.5)
    return Single(name, best, _same(counts) and bool(there.all()))


def _area(x: Floats, yes: NDArray[np.bool_]) -> float:
    if yes.all() or not yes.any():
        return 0.5
    found = area(x, yes, np.ones(len(x))).value
    return max(found, 1 - found)


def _of_levels(place: NDArray[np.intp], truth: NDArray[np.intp], levels: int, K: int) -> float:
    """Each half of the rows by the shares of the classes in the other half, so that rare levels tell nothing."""
    halves = np.arange(len(truth)) % 2 == 0
    found = np.full((2, K), 0.5)
    for i, own in enumerate((halves, ~halves)):
        counts = np.bincount(place[~own] * K + truth[~own], minlength=levels * K).reshape(-1, K)
        base = counts.sum(axis=0) / max(counts.sum(), 1)
        shares = (counts + base) / (counts.sum(axis=1, keepdims=True) + 1)
        for k in range(K):
            yes = truth[own] == k
            if yes.any() and not yes.all():
                found[i, k] = area(shares[place[own], k], yes, np.ones(int(own.sum()))).value
    return float(found.mean(axis=0).max())


def _same(counts: NDArray[np.int64]) -> bool:
    """Every value has one class, values repeat, and they are few enough to be another name of the class."""
    used = counts[counts.sum(axis=1) > 0]
    pure = bool((np.count_nonzero(used, axis=1) == 1).all())
    return pure and 2 <= len(used) <= max(20, counts.shape[1]) and counts.sum() >= 5 * len(used)


def condition_of(X: Any, names: tuple[str, ...]) -> tuple[float | None, tuple[str, str, float] | None]:
    """κ = √(λmax/λmin) of the correlations of the columns that vary, and the pair that is closest."""
    if X.shape[1] > WIDEST:
        return None, None
    rows = np.asarray(X[:: max(1, -(-len(X) // ROWS))], dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    length = np.sqrt((centred * centred).sum(axis=0))
    vary = length > 1e-12 * (1 + np.abs(rows).max(axis=0))
    if vary.sum() < 2:
        return 1.0, None
    Z = centred[:, vary] / length[vary]
    R = Z.T @ Z
    values = np.linalg.eigvalsh(R)
    kappa = float(np.sqrt(values[-1] / values[0])) if values[0] > 1e-14 * values[-1] else float(np.inf)
    off = np.abs(np.triu(R, 1))
    i, j = (int(each) for each in np.unravel_index(int(off.argmax()), off.shape))
    left = np.flatnonzero(vary)
    return kappa, (names[left[i]], names[left[j]], float(R[i, j]))
