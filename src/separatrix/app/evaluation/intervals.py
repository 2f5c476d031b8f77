"""How good predictions are, how sure that is, and the intervals that have a formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...numerics.arrays import Floats, Indices
from .predictions import Predictions

Better = Literal["higher", "lower", "nearer 0", "nearer 1"]


class Interval(NamedTuple):
    """From low to high, and in words how it was found; without ends `why` says why there are none."""

    low: float | None
    high: float | None
    method: str
    why: str = ""


@dataclass(frozen=True)
class Measure:
    """A measure of predictions. Where it has no value, or no interval, `why` says the reason."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    better: Better = "higher"
    of: str = ""
    """The class that it is about, where it is about one of more than two."""
    why: str = ""

    @property
    def label(self) -> str:
        """The name, and the class in brackets: 'sensitivity[setosa]'."""
        return f"{self.name}[{self.of}]" if self.of else self.name

    def gain(self, other: float) -> float:
        """How much better the value is than another number; above zero is better."""
        assert self.value is not None
        signs = {"higher": self.value - other, "lower": other - self.value}
        aims = {"nearer 0": abs(other) - abs(self.value), "nearer 1": abs(other - 1) - abs(self.value - 1)}
        return {**signs, **aims}[self.better]

    def noted(self, note: str) -> Measure:
        """The measure with a note after the method."""
        return replace(self, method=f"{self.method}; {note}") if self.method else self

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"name": self.name, "of": self.of or None, "value": self.value, "low": self.low, "high": self.high,
                "level": self.level, "method": self.method or None, "better": self.better,
                "why": self.why or None}  # fmt: skip

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.label}: {self.why}"
        ends = "" if self.low is None or self.high is None else f" ({self.low:.4g} … {self.high:.4g})"
        return f"{self.label} {self.value:.4g}{ends}"


def checked_level(level: float) -> float:
    """The level of an interval, between 0 and 1."""
    if not 0 < level < 1:
        raise SettingError("level", level, "give a number between 0 and 1, such as 0.95.")
    return float(level)


def quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level, Z standard normal."""
    return NormalDist().inv_cdf((1 + checked_level(level)) / 2)


# ------------------------------------------------------------------------------------------------------------- formulas


def wilson(p: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """(p + z²/2n ± z√(p(1 − p)/n + z²/4n²)) / (1 + z²/n), the p' with |p − p'| ≤ z√(p'(1 − p')/n)."""
    z = quantile(level)
    middle, half = p + z * z / (2 * n), z * math.sqrt(max(p * (1 - p), 0) / n + (z / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return (0.0 if p == 0 else max(low, 0.0)), (1.0 if p == 1 else min(high, 1.0))


def effective(w: Floats) -> float:
    """(Σw)²/Σw²: as many rows of equal weight give a mean as sure."""
    # Divided before squaring, so that nothing overflows.
    shares = w / w.max()
    return float(shares.sum() ** 2 / (shares * shares).sum())


def mean_variance(x: Floats, w: Floats, clusters: Indices | None = None) -> float:
    """g/(g − 1) Σ_g (Σ_{i∈g} wᵢ(xᵢ − x̄)/Σw)², the rows of a cluster as one; without clusters each row by itself."""
    used = w > 0
    mean = (w @ x) / w.sum()
    return clustered_square(w * (x - mean) / w.sum(), None if clusters is None else clusters[used], used)


def clustered_square(parts: Floats, clusters: Indices | None, used: NDArray[np.bool_]) -> float:
    """g/(g − 1) Σ_g (Σ_{i∈g} ψᵢ)²; infinite for a single cluster, of which nothing can be said."""
    sums = parts[used] if clusters is None else np.bincount(np.unique(clusters, return_inverse=True)[1], parts[used])
    g = len(sums)
    return math.inf if g < 2 else float(sums @ sums) * g / (g - 1)


def proportion(x: Floats, w: Floats, level: float, clusters: Indices | None = None, weighted: bool = False) -> Interval:
    """Wilson's interval of the weighted share of ones in x."""
    used = w > 0
    x, w = x[used], w[used]
    if clusters is None:
        n = effective(w) if weighted else float(len(x))
        how = f"Wilson score, effective sample size {n:.4g} of the weights" if weighted else "Wilson score"
        return Interval(*wilson(_share(x, w), n, level), how)
    clusters = clusters[used]
    n = _effective_of_clusters(x, w, clusters)
    if n <= 1:
        return Interval(None, None, "", "all rows belong to one group, of which nothing can be said about others")
    return Interval(*wilson(_share(x, w), n, level), f"Wilson score, effective sample size {n:.4g} of the groups")


def _share(x: Floats, w: Floats) -> float:
    return min(max(float(w @ x / w.sum()), 0.0), 1.0)


def _effective_of_clusters(x: Floats, w: Floats, clusters: Indices) -> float:
    """p(1 − p)/Var(p̂); as many as there are clusters where the rows all agree, and never more than rows."""
    p, groups = _share(x, w), len(np.unique(clusters))
    variance = mean_variance(x, w, clusters)
    if groups < 2:
        return 1.0
    return float(groups) if p in (0, 1) or variance == 0 else min(p * (1 - p) / variance, effective(w))


def mean(
    x: Floats, w: Floats, level: float, clusters: Indices | None = None, least: float = -math.inf, what: str = "mean"
) -> Interval:
    """x̄ ± z√Var(x̄); `what` the mean is."""
    variance = mean_variance(x, w, clusters)
    if not math.isfinite(variance):
        return Interval(None, None, "", f"one {'row' if clusters is None else 'group'} alone gives no interval")
    middle, half = float(w @ x / w.sum()), quantile(level) * math.sqrt(variance)
    how = f"normal interval of the {what}{' over rows' if clusters is None else ', rows by groups'}"
    return Interval(max(middle - half, least), middle + half, how)


def square_and_add(
    first: tuple[float, float, float], second: tuple[float, float, float], correlation: tuple[float, float] = (0, 0)
) -> tuple[float, float]:
    """d − √((a − l)² + (u' − b)²) … d + √((u − a)² + (b − l')²), d = a − b: from (a, l, u) and (b, l', u').

    Zou and Donner's way from two intervals to that of a difference. Where the two are correlated, −2ρ times the product
    of the two lengths stands under each root.
    """
    (a, l1, u1), (b, l2, u2) = first, second
    below = (a - l1) ** 2 - 2 * correlation[0] * (a - l1) * (u2 - b) + (u2 - b) ** 2
    above = (u1 - a) ** 2 - 2 * correlation[1] * (u1 - a) * (b - l2) + (b - l2) ** 2
    return a - b - math.sqrt(max(below, 0)), a - b + math.sqrt(max(above, 0))


def newcombe(both: float, only_first: float, only_second: float, neither: float, level: float) -> tuple[float, float]:
    """The interval of p − p' of paired proportions: square and add Wilson's limits, with their correlation φ.

    Newcombe's tenth method (1998): φ = (ad − bc)/√((a+b)(c+d)(a+c)(b+d)) of the four counts; where ad − bc is
    positive it is made smaller by n/2, though not below zero.
    """
    a, b, c, d = both, only_first, only_second, neither
    n = a + b + c + d
    p, q = (a + b) / n, (a + c) / n
    over = (a + b) * (c + d) * (a + c) * (b + d)
    cross = a * d - b * c
    cross = max(cross - n / 2, 0.0) if cross > 0 else cross
    phi = cross / math.sqrt(over) if over > 0 else 0.0
    return square_and_add((p, *wilson(p, n, level)), (q, *wilson(q, n, level)), (phi, phi))


# The bootstrap: rows drawn again, within each class, for measures whose interval has no formula.

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


def _of_classes(truth: Indices) -> list[Indices]:
    return [np.flatnonzero(truth == k) for k in np.unique(truth)]


def _multiplicities(n: int, draws: int, random: np.random.Generator) -> NDArray[np.intp]:
    picked = random.integers(0, n, (draws, n)) + np.arange(draws)[:, None] * n
    return np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n)
