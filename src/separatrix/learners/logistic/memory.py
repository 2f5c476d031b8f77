"""What a fit remembers of its rows: a few numbers, and where the rows are as long as somebody else keeps them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ...data import Sparse
from ...data.categorical import CategoricalRows
from ...data.frame import written_out
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from .conclusion import Prepared

NUMBERS, MOST_ROWS, LEAST_ROWS = 1 << 18, 1 << 15, 256
"""Numbers and rows of X that a fit reads for the means of its columns: all of X would make it a tenth longer."""

LARGE, CACHED = 1 << 22, 1 << 18
"""Numbers in X from which several threads read it; and those of a block, which shall not leave the cache."""
NEAR = 0.25
"""The part of the mean square about a point near the mean that its distance may make up."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Small facts about the rows of a fit."""

    rows: int
    weighted: bool
    """Whether there was a sample_weight."""
    totals: Floats
    """The weight of each class, class weights left out."""
    entropy: float
    """Σ cᵢ H(tᵢ) of targets that are probabilities, class weights counted; of labels zero."""
    means: Floats
    """Of the columns, by weight."""
    sampled: bool
    """Whether the means are those of a sample of the rows."""
    deviations: Floats | None = None
    """Of the columns, by weight, where somebody wanted to know them."""


class Keeper:
    """Weak references to X, y and sample_weight: they keep nothing in memory, and are lost with a copy."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._X, self._y = weakref.ref(X), weakref.ref(y)
        self._cost = None if sample_weight is None else weakref.ref(sample_weight)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> Keeper | None:
        """None where one of them, a list say, cannot be referred to weakly."""
        try:
            return cls(X, y, sample_weight)
        except TypeError:
            return None

    def __call__(self) -> tuple[Any, Any, Any] | None:
        """X, y and sample_weight, if all of them are still there."""
        X, y = self._X(), self._y()
        cost = None if self._cost is None else self._cost()
        gone = X is None or y is None or (self._cost is not None and cost is None)
        return None if gone else (X, y, cost)


def facts_of(prepared: Prepared, cost: Floats) -> Facts:
    """The facts of a fit, at little cost beside it."""
    rows, targets = prepared.problem.rows, prepared.targets
    size = max(LEAST_ROWS, min(MOST_ROWS, NUMBERS // max(1, rows.X.shape[1])))
    X, weight, sampled = rows.X, cost, size < len(rows)
    if sampled:
        step = -(-len(rows) // size)
        chosen: Any = slice(None, None, step) if isinstance(X, np.ndarray) else np.arange(0, len(rows), step)
        X, weight = X[chosen], cost[chosen] if cost.size else cost
        if weight.size and not weight.any():
            chosen = np.flatnonzero(cost)[:size]
            X, weight = rows.X[chosen], cost[chosen]
    entropy = 0.0 if targets.probability is None else entropy_of(targets.probability, cost, prepared.class_weight)
    return Facts(len(rows), bool(cost.size), targets.totals(cost), entropy, means_of(X, weight), sampled)


def facts_among(prepared: Prepared, cost: Floats, varying: NDArray[np.intp], first: NDArray[Any]) -> Facts:
    """The same of a fit that was made in the columns that vary; the others are what they are in the first row."""
    facts = facts_of(prepared, cost)
    if len(varying) == len(first):
        return facts
    means = np.array(first, dtype=np.float64)
    means[varying] = facts.means
    return replace(facts, means=means)


def entropy_of(T: Floats, cost: Floats, class_weight: tuple[float, ...]) -> float:
    """Σᵢ cᵢ H(tᵢ), H(t) = −Σₖ tₖ log tₖ."""
    split = split_by_class(T, cost, class_weight)
    return float(xlogy(split.sum(axis=1), split.sum(axis=1)).sum() - xlogy(split, split).sum())


def split_by_class(T: Floats, cost: Floats, class_weight: tuple[float, ...]) -> Floats:
    """cᵢ fₖ tᵢₖ: what each row counts as one of each class."""
    if not cost.size and set(class_weight) == {1.0}:
        return T
    return T * np.array(class_weight) * (cost[:, None] if cost.size else 1.0)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------------- the columns


def means_of(X: Any, cost: Floats) -> Floats:
    """x̄ = Σ cᵢxᵢ/Σ cᵢ."""
    weight = _shares(cost, len(X))
    total = np.zeros(X.shape[1])
    with np.errstate(all="ignore"), one_blas_thread():  # of rows that are not finite the fit will tell
        if isinstance(X, CategoricalRows):
            return _moments_of_table(X, cost, total)[0]
        if isinstance(X, np.ndarray) and X.size <= NUMBERS:
            return weight @ X + total  # in double precision
        if isinstance(X, Sparse):
            return total + np.bincount(X.named, X.numbers * np.repeat(weight, np.diff(X.starts)), X.shape[1])
        return _summed(X, weight, lambda block, weight: weight @ block, total)


def moments_of(X: Any, cost: Floats, near: Floats) -> tuple[Floats, Floats]:
    """x̄ and s; of dense rows in one pass, by what is `near` the means: s² = Σ cᵢ(xᵢ − a)²/Σ cᵢ − (x̄ − a)².

    Where a is too far away for that, as many digits being lost as it is deviations away, s is had from x̄ itself.
    """
    if isinstance(X, CategoricalRows):
        return _moments_of_table(X, cost, near)
    if isinstance(X, Sparse) or not np.isfinite(near).all():
        means = means_of(X, cost)
        return means, deviations_of(X, cost, means)
    weight, width = _shares(cost, len(X)), X.shape[1]

    def sums(block: Floats, weight: Floats) -> Floats:
        away = block - near
        return np.concatenate([weight @ away, weight @ np.square(away, out=away)])

    with one_blas_thread():
        total = _summed(X, weight, sums, np.zeros(2 * width))
    away, squares = total[:width], total[width:]
    means = near + away
    if not (np.square(away) <= NEAR * squares).all():
        return means, deviations_of(X, cost, means)
    return means, np.sqrt(squares - np.square(away))


def _moments_of_table(X: CategoricalRows, cost: Floats, near: Floats) -> tuple[Floats, Floats]:
    """Of its numbers as of any; of an indicator that is 1 in a share p of the rows, p and √(p(1 − p))."""
    at, share = X.map.of_numbers, X.shares(cost / cost.sum() if cost.size else cost)
    means, deviations = moments_of(X.raw.numbers, cost, near[at]) if at.size else (near[at], near[at])
    return X.map.joined(means, share), X.map.joined(deviations, np.sqrt(np.maximum(share * (1 - share), 0)))


def deviations_of(X: Any, cost: Floats, means: Floats) -> Floats:
    """s = √(Σ cᵢ(xᵢ − x̄)²/Σ cᵢ): the divisor is the weight of all rows, not one less."""
    weight = _shares(cost, len(X))
    total = np.zeros(X.shape[1])
    if isinstance(X, Sparse):
        each = np.repeat(weight, np.diff(X.starts))
        there = np.bincount(X.named, each, X.shape[1])
        total += np.bincount(X.named, each * np.square(X.numbers - means[X.named]), X.shape[1])
        total += np.maximum(1 - there, 0) * np.square(means)
        return np.sqrt(total)
    with one_blas_thread():
        return np.sqrt(_summed(X, weight, lambda block, weight: weight @ np.square(block - means), total))


def _shares(cost: Floats, rows: int) -> Floats:
    return cost / cost.sum() if cost.size else np.full(rows, 1 / rows)


def _summed(X: Any, weight: Floats, of: Callable[[Floats, Floats], Floats], total: Floats) -> Floats:
    """Σ f(block, weights), block by block in their order, whatever the number of threads."""
    size = max(16, CACHED // max(1, X.shape[1]))

    def part(lo: int) -> Floats:
        rows = slice(lo, min(lo + size, len(X)))
        with np.errstate(all="ignore"):
            return np.asarray(of(written_out(X[rows]), weight[rows]))

    with ordered_map(thread_count() if X.size >= LARGE else 1) as each:
        for found in each(part, range(0, len(X), size)):
            total += found
    return total
