"""Naive Bayes as a linear rule: within a class the columns are independent, so log p(x | k) is a sum of columns.

log p(xⱼ | k) = cₖⱼ + aₖⱼzⱼ + qₖⱼzⱼ² + what all classes share, z = x − m: every family of one parameter has aₖⱼ = θ,
cₖⱼ = −a(θ), and neither q nor m. A Gaussian is seen from the column's mean m, so that nothing cancels far from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refusal
from ...losses.families import Family, Gaussian
from ...numerics.arrays import Floats
from ...wording import setting
from .column_statistics import ColumnFamilies, ColumnStatistics

ROUNDING = 4 * np.finfo(float).eps
"""A spread below this part of the mean is none."""


class EstimateError(Refusal):
    """The rows do not determine a parameter, or put it where a logarithm is infinite."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The probabilities of a categorical column's levels."""

    values: Floats
    probability: Floats
    """Classes × levels."""
    unseen: Floats | None
    """Of each class: the probability of a level that no row had, were it known; none without smoothing."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """The estimates, and the parts of the score that they make; arrays are classes × columns."""

    log_prior: Floats
    mean: Floats
    """Of the family, smoothed; NaN in categorical columns."""
    variance: Floats
    """NaN where the family has none of its own."""
    linear: Floats
    square: Floats
    constant: Floats
    centre: Floats
    """m, for each column."""
    tables: dict[int, Tables]
    silent: tuple[int, ...]
    """Columns that say nothing of the class: all their numbers are equal, which leaves nothing to learn."""


class Draft:
    """Parameters in the making."""

    def __init__(
        self, statistics: ColumnStatistics, families: ColumnFamilies, smoothing: float, name: Callable[[int, int], str]
    ) -> None:
        shape = statistics.moments.mean.shape
        self.statistics, self.families, self.smoothing, self.name = statistics, families, smoothing, name
        self.mean, self.variance = np.full(shape, np.nan), np.full(shape, np.nan)
        self.linear, self.square, self.constant = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.centre, self.silent = np.zeros(shape[1]), np.zeros(shape[1], bool)
        self.tables: dict[int, Tables] = {}

    def refuse(self, wrong: NDArray[np.bool_], columns: Any, why: str) -> None:
        """Name the first class and column of which something cannot be said."""
        if wrong.any():
            k, j = np.argwhere(wrong)[0].tolist()
            raise EstimateError(
                f"{self.name(k, int(columns[j]))} {why}; set {setting('smoothing')} above zero, or leave the column "
                "out."
            )


def estimate(
    statistics: ColumnStatistics,
    families: ColumnFamilies,
    smoothing: float,
    log_prior: Floats,
    name: Callable[[int, int], str],
) -> Parameters:
    """The parameters of every class and column; `name` puts a class and a column in words, for errors."""
    draft = Draft(statistics, families, smoothing, name)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for family in families.distinct:
            columns = families.columns(family)
            if isinstance(family, Gaussian):
                _gaussian(draft, columns, shared=family.variance == "shared")
            elif isinstance(family, Family):
                _one_parameter(draft, family, columns)
        for j in statistics.levels:
            _categorical(draft, j)
    return Parameters(
        log_prior, draft.mean, draft.variance, draft.linear, draft.square, draft.constant, draft.centre, draft.tables,
        tuple(np.flatnonzero(draft.silent).tolist()),
    )  # fmt: skip


def _one_parameter(draft: Draft, family: Family, columns: NDArray[np.intp]) -> None:
    """aₖⱼ = θₖⱼ, cₖⱼ = −a(θₖⱼ), θ at the smoothed mean.  [000 §8.3.2]"""
    statistics = draft.statistics
    total, weight = statistics.moments.sums[:, columns], statistics.present[:, columns]
    if family.whole and statistics.whole:
        total = np.rint(total)  # what a sum of whole numbers has beside them is rounding
    all_total, all_weight = total.sum(axis=0), weight.sum(axis=0)
    overall = all_total / all_weight
    silent = ~np.isfinite(family.natural(all_total, all_weight))
    theta = family.learnt(total, weight, draft.smoothing, overall)
    total, weight = family.smoothed(total, weight, draft.smoothing, overall)
    constant = -family.log_partition(theta)
    silent &= ~np.isfinite(theta).any(axis=0)
    mean, finite = total / weight, np.isfinite(theta) & np.isfinite(constant)
    draft.refuse((weight == 0) & ~silent, columns, "has no number that is not missing")
    edge = f"has the lowest or highest mean that a {family.name} column can have: its log-odds are infinite"
    draft.refuse(~finite & ~silent, columns, edge)
    draft.mean[:, columns] = np.where(silent, overall, mean)
    draft.linear[:, columns] = np.where(silent, 0.0, theta)
    draft.constant[:, columns] = np.where(silent, 0.0, constant)
    draft.silent[columns] = silent


def overall_of(statistics: ColumnStatistics, columns: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """x̄ and Σ(x − x̄)²/n of each column over all classes, by parts that do not cancel."""
    moments, there = statistics.moments, statistics.present[:, columns]
    mean, rest, scatter = (each[:, columns] for each in (moments.mean, moments.rest, moments.scatter))
    weight = there.sum(axis=0)
    base = np.take_along_axis(mean, there.argmax(axis=0)[None], 0)[0]
    apart = (mean - base) + rest
    shift = (there * apart).sum(axis=0) / weight
    centre = base + shift
    variance = (scatter.sum(axis=0) + (there * (apart - shift) ** 2).sum(axis=0)) / weight
    return centre, np.where(variance > (ROUNDING * centre) ** 2, variance, 0.0)


def _gaussian(draft: Draft, columns: NDArray[np.intp], *, shared: bool) -> None:
    """−(x − μ)²/(2σ²) − ½log(2πσ²) in z = x − x̄: a = (μ − x̄)/σ², c = −(μ − x̄)²/(2σ²) − ½log(2πσ²), q = −1/(2σ²).

    With a shared variance q and ½log(2πσ²) are the same in every class, and are left out.  [000 §8.3.2]

    σ² = (S + αv)/(n + α): α rows more that scatter as the whole column does, v = Σ(x − x̄)²/n. Means are not smoothed;
    that of a class without a number is the column's.
    """
    statistics, alpha = draft.statistics, draft.smoothing
    weight, moments = statistics.present[:, columns], statistics.moments
    centre, spread = overall_of(statistics, columns)
    silent = ~(spread > 0)
    offset = np.where(weight > 0, (moments.mean[:, columns] - centre) + moments.rest[:, columns], 0.0)
    scatter = moments.scatter[:, columns]
    scatter = np.where(scatter > weight * (ROUNDING * moments.mean[:, columns]) ** 2, scatter, 0.0)
    if shared:
        variance = (scatter.sum(axis=0) + alpha * spread) / (weight.sum(axis=0) + alpha) + 0 * offset
    else:
        variance = (scatter + alpha * spread) / (weight + alpha)
    draft.refuse((weight == 0) & (alpha == 0) & ~silent, columns, "has no number that is not missing")
    draft.refuse(~(variance > 0) & ~silent, columns, "has no variance: its numbers are all equal, or it has one only")
    linear = offset / variance
    constant = -offset * linear / 2
    if not shared:
        constant = constant - np.log(2 * math.pi * variance) / 2
        draft.square[:, columns] = np.where(silent, 0.0, -0.5 / variance)
    draft.mean[:, columns] = centre + offset
    draft.variance[:, columns] = np.where(silent, 0.0, variance)
    draft.linear[:, columns] = np.where(silent, 0.0, linear)
    draft.constant[:, columns] = np.where(silent, 0.0, constant)
    draft.centre[columns] = np.where(np.isfinite(centre), centre, 0.0)
    draft.silent[columns] = silent


def _categorical(draft: Draft, j: int) -> None:
    """pₖₗ = (nₖₗ + α)/(nₖ + αL) for each of L levels; a level not seen: α/(nₖ + α(L + 1)), as if it had been known."""
    found, alpha = draft.statistics.levels[j], draft.smoothing
    counts, levels = found.counts, len(found.values)
    total = counts.sum(axis=1, keepdims=True)
    if not levels:
        draft.silent[j] = True
    probability = (counts + alpha) / (total + alpha * levels)
    empty = ~(probability > 0)
    if empty.any():
        k, which = np.argwhere(empty)[0].tolist()
        raise EstimateError(
            f"{draft.name(k, j)} never has the level {found.values[which]:g}, so its probability is zero and its "
            f"log-odds are infinite; set {setting('smoothing')} above zero, or leave the column out."
        )
    unseen = alpha / (total[:, 0] + alpha * (levels + 1)) if alpha > 0 else None
    draft.tables[j] = Tables(found.values, probability, unseen)
