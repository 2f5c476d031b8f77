"""Measures of how scores order the rows: areas under curves."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .confusion import one_class
from .intervals import Interval, Measure, clustered_square, quantile
from .predictions import Predictions

Flags = NDArray[np.bool_]


class Area(NamedTuple):
    """An area under a curve, and each row's part in its error, ψᵢ: the error is Σψᵢ, to first order."""

    value: float
    parts: Floats


def area(scores: Floats, yes: Flags, w: Floats) -> Area:
    """P(s > s') + ½P(s = s') of a row of the class and one of the rest; with DeLong's parts of each row.

    V(s) is the share of the other class that s is on the right side of, ties by half; the parts are w(V − A)/Σw over
    each class.
    """
    distinct, place = np.unique(scores, return_inverse=True)
    up, down = (np.bincount(place, w * side, len(distinct)) for side in (yes, ~yes))
    below = (np.cumsum(down) - down / 2) / down.sum()
    above = (up.sum() - np.cumsum(up) + up / 2) / up.sum()
    value = float(up @ below / up.sum())
    parts = np.where(yes, w * (below[place] - value) / up.sum(), w * (above[place] - value) / down.sum())
    return Area(value, parts)


def auc(given: Predictions, level: float) -> Measure:
    """The area under the ROC curve of the positive class; of K classes the mean of each against the rest."""
    why = no_ranking(given)
    if why:
        return Measure("auc", None, level=level, why=why)
    areas = areas_of(given)
    value, parts = float(np.mean([one.value for one in areas])), np.mean([one.parts for one in areas], axis=0)
    found = area_interval(value, ranked_variance(parts, given), _counts(given), level)
    method = found.method if len(areas) == 1 else f"mean of each class against the rest; {found.method}"
    return Measure("auc", value, found.low, found.high, level, found.method and method, why=found.why)


def hand_till(given: Predictions, level: float) -> Measure:
    """2/(K(K − 1)) Σ_{j<k} (A(j|k) + A(k|j))/2: the mean over pairs of classes, other rows left out."""
    name, why = "auc_hand_till", no_ranking(given)
    if why:
        return Measure(name, None, level=level, why=why)
    value, parts = pairs_of_classes(given)
    found = area_interval(value, of_classes(parts, given), _counts(given), level)
    method = found.method and f"mean over pairs of classes; {found.method}"
    return Measure(name, value, found.low, found.high, level, method, why=found.why)


def pairs_of_classes(given: Predictions) -> tuple[float, Floats]:
    """The mean of the areas of all ordered pairs of classes, and each row's part in its error."""
    ranking = given.ranking
    assert ranking is not None
    value, parts, k = 0.0, np.zeros(given.rows), len(given.classes)
    for i, j in permutations(range(k), 2):
        rows = (given.truth == i) | (given.truth == j)
        one = within(area, given.of(rows), ranking[rows, i], given.truth[rows] == i)
        value += one.value
        parts[rows] += one.parts
    return value / (k * (k - 1)), parts / (k * (k - 1))


def areas_of(given: Predictions) -> list[Area]:
    """The area of the positive class; of K classes of each against the rest."""
    return [within(area, given, column, given.truth == k) for column, k in _columns(given)]


def within(find: Callable[[Floats, Flags, Floats], Area], given: Predictions, scores: Floats, yes: Flags) -> Area:
    """Σ_f c_f A_f / Σ_f c_f over folds f, c_f the weight of their pairs of a row of the class and one of the rest.

    Without folds, the area itself.
    """
    if given.fold is None:
        return find(scores, yes, given.w)
    value, total, parts = 0.0, 0.0, np.zeros(given.rows)
    for fold in np.unique(given.fold):
        rows = given.fold == fold
        pairs = float(given.w[rows & yes].sum() * given.w[rows & ~yes].sum())
        if pairs > 0:
            one = find(scores[rows], yes[rows], given.w[rows])
            value, total, parts[rows] = value + pairs * one.value, total + pairs, pairs * one.parts
    return Area(value / total, parts / total) if total else Area(math.nan, parts)


def no_ranking(given: Predictions) -> str:
    """Why there is no area: '' if there is one."""
    if given.ranking is None:
        return "there are neither scores nor probabilities to rank rows by"
    absent = [str(given.classes[k]) for k in range(len(given.classes)) if k not in given.present]
    if len(given.present) < 2:
        return one_class(given)
    if absent:
        return f"no row is of class {absent[0]!r}"
    return "" if given.fold is None or _together(given) else "no fold has rows of all classes to be ranked together"


def _together(given: Predictions) -> bool:
    """Whether every two classes meet in some fold."""
    assert given.fold is not None
    folds = np.unique(given.fold, return_inverse=True)[1]
    met = np.zeros((len(given.classes), int(folds.max()) + 1), dtype=bool)
    used = given.w > 0
    met[given.truth[used], folds[used]] = True
    return all((met[i] & met[j]).any() for i, j in combinations(range(len(met)), 2))


def area_interval(value: float, variance: float, sizes: tuple[float, float], level: float) -> Interval:
    """logit⁻¹(logit A ± z √V/(A(1 − A))), V DeLong's variance; of A = 0 or 1, where V = 0, Newcombe's fifth method."""
    if value in (0.0, 1.0):
        end = _newcombe_end(sizes, quantile(level))
        ends = (end, 1.0) if value == 1.0 else (0.0, 1 - end)
        return Interval(*ends, "Newcombe's method 5, as no pair of rows is tied or out of order")
    return logit_interval(value, variance, level, "DeLong's variance on the logit scale")


def logit_interval(value: float, variance: float, level: float, method: str) -> Interval:
    """logit⁻¹(logit v ± z √V/(v(1 − v)))."""
    if not math.isfinite(variance):
        return Interval(None, None, "", "a class has one row (or there is one group) only, which gives no interval")
    if variance <= 0 or not 0 < value < 1:
        return Interval(None, None, "", "every row ranks alike among the others, which gives no interval")
    middle, half = math.log(value / (1 - value)), quantile(level) * math.sqrt(variance) / (value * (1 - value))
    low, high = (_expit(middle + side * half) for side in (-1, 1))
    return Interval(low, high, method)


def average_precision(given: Predictions, level: float) -> Measure:
    """Σₜ (R(t) − R(t₋)) P(t) over thresholds t, P precision and R sensitivity; of K classes the mean over classes."""
    why = no_ranking(given)
    if why:
        return Measure("average_precision", None, level=level, why=why)
    value, parts = averages_of(given)
    found = logit_interval(value, ranked_variance(parts, given), level, "linearised variance on the logit scale")
    return Measure("average_precision", value, found.low, found.high, level, found.method, why=found.why)


def averages_of(given: Predictions) -> tuple[float, Floats]:
    """The average precision, and each row's part in its error; of K classes the means of both."""
    found = [within(average, given, column, given.truth == k) for column, k in _columns(given)]
    return min(float(np.mean([one.value for one in found])), 1.0), np.mean([one.parts for one in found], axis=0)


def average(scores: Floats, yes: Flags, w: Floats) -> Area:
    """Σᵢ wᵢyᵢP(sᵢ)/Σwy, P = A/B with A(t) = Σ wy 1[s ≥ t], B(t) = Σ w 1[s ≥ t]; and its parts by rows.

    ∂/∂wⱼ = (yⱼ(P(sⱼ) − value) + Σ_{sᵢ ≤ sⱼ} wᵢyᵢ(yⱼ − P(sᵢ))/B(sᵢ))/Σwy: times wⱼ, and less its mean over the class, as
    the sizes of the classes are taken as they are.
    """
    distinct, place = np.unique(-scores, return_inverse=True)
    up, both = (np.bincount(place, w * side, len(distinct)) for side in (yes, 1.0))
    flagged = np.cumsum(both)
    with np.errstate(invalid="ignore", divide="ignore"):
        P, rate = (np.where(flagged > 0, over / flagged, 0.0) for over in (np.cumsum(up), up))
    value = float(up @ P / up.sum())
    kept, lost = (np.cumsum(term[::-1])[::-1] for term in (rate, rate * P))
    slope = (yes * (P[place] - value + kept[place]) - lost[place]) / up.sum()
    for side in (yes, ~yes):
        slope[side] -= w[side] @ slope[side] / w[side].sum()
    return Area(value, w * slope)


def ranked_variance(parts: Floats, given: Predictions) -> float:
    """Of two classes within each; of more, where a row has a part in several areas, over all rows."""
    return of_classes(parts, given) if len(given.classes) == 2 else of_rows(parts, given)


def _columns(given: Predictions) -> list[tuple[Floats, int]]:
    """What rows are ranked by for each class: of two classes for the positive one only."""
    ranking = given.ranking
    assert ranking is not None
    return [(ranking, given.positive)] if ranking.ndim == 1 else [(column, k) for k, column in enumerate(ranking.T)]


def of_rows(parts: Floats, given: Predictions) -> float:
    """g/(g − 1) Σψᵢ² of all rows, or of the sums of clusters."""
    used = given.w > 0
    return clustered_square(parts, None if given.clusters is None else given.clusters[used], used)


def of_classes(parts: Floats, given: Predictions) -> float:
    """Σψᵢ² within each class, m/(m − 1) times; with clusters, of both classes together."""
    used = given.w > 0
    if given.clusters is not None:
        return of_rows(parts, given)
    return sum(clustered_square(parts, None, used & (given.truth == k)) for k in given.present)


def _counts(given: Predictions) -> tuple[float, float]:
    """How many rows the classes have; of more than two, twice that of the smallest."""
    counts = [float(((given.truth == k) & (given.w > 0)).sum()) for k in given.present]
    return (counts[0], counts[1]) if len(counts) == 2 else (min(counts), min(counts))


def _newcombe_end(sizes: tuple[float, float], z: float) -> float:
    """θ with 1 − θ = z √(θ(1 − θ)(1 + (N − 1)((1 − θ)/(2 − θ) + θ/(1 + θ)))/(mn)), N = (m + n)/2."""
    m, n = sizes
    low, high = 0.0, 1.0 - 1e-15
    for _ in range(200):
        t = (low + high) / 2
        spread = t * (1 - t) * (1 + ((m + n) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))) / (m * n)
        low, high = (t, high) if 1 - t > z * math.sqrt(spread) else (low, t)
    return low


def _expit(t: float) -> float:
    return 1 / (1 + math.exp(-t)) if t > -700 else 0.0
