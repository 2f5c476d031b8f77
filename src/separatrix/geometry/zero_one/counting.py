"""What a rule costs, if it costs that on every machine: no row is on a side by rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .problem import Problem

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
LOWEST = -1074
"""The exponent of the smallest number."""
FAR = 5000
"""An exponent above all others."""


class CountedRule(NamedTuple):
    """A rule for the rows of the problem, the rows it gets wrong, and what they cost in units, the base included."""

    weights: Floats
    intercept: float
    wrong: NDArray[np.bool_]
    cost: int


def counted(problem: Problem, weights: Floats, intercept: float) -> CountedRule | None:
    """The rule with its cost; None if the side of a row depends on the order in which a machine adds up its score."""
    if not (np.isfinite(weights).all() and np.isfinite(intercept)):
        return None
    theirs, X = problem.outside(weights, intercept), problem.given
    if theirs is None:
        return None
    w, b = theirs
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = X @ w + b
        size = np.abs(X) @ np.abs(w) + abs(b)
    if not np.isfinite(size).all():
        return None
    doubt = np.abs(scores) <= (len(w) + 4) * (EPS * size + TINY)
    doubt &= bool(w.any()) or b != 0  # else every score is zero, and no doubt
    if doubt.any() and not _without_rounding(X[doubt], w, b).all():
        return None
    wrong = (scores > 0) != (problem.sign > 0)
    return CountedRule(weights, float(intercept), wrong, problem.paid(wrong))


def seems_wrong(problem: Problem, weights: Floats, intercept: float) -> NDArray[np.bool_] | None:
    """The rows that the rule gets wrong as this machine adds up; None if scores overflow."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = problem.X @ weights + intercept
    return (scores > 0) != (problem.sign > 0) if np.isfinite(scores).all() else None


def _without_rounding(X: Floats, weights: Floats, intercept: float) -> NDArray[np.bool_]:
    """Whether xᵀw + b, added up in whatever order, is exact; of two terms, whether both are exact.

    All terms are multiples of the least of their last bits. A sum of some of them is no larger than that of all
    positive or of all negative ones; where this has no more than 53 bits, so has every sum of them.
    """
    values, factors = np.append(X, np.ones((len(X), 1)), axis=1), np.append(weights, intercept)
    with np.errstate(under="ignore"):
        terms = values * factors
    there = (values != 0) & (factors != 0)
    last = np.where(there, last_bit(values) + last_bit(factors), FAR)
    lowest = last.min(axis=1)
    with np.errstate(over="ignore", under="ignore"):
        products = ((np.abs(terms) <= np.ldexp(1.0, last + 53)) & (last >= LOWEST)) | ~there
        most = np.maximum(np.maximum(terms, 0).sum(axis=1), np.maximum(-terms, 0).sum(axis=1))
        sums = most * (1 + 1e-12) <= np.ldexp(1.0, lowest + 53)
    return np.asarray(products.all(axis=1) & (sums | (there.sum(axis=1) <= 2)), dtype=bool)


def last_bit(values: Floats) -> NDArray[np.int64]:
    """The exponent of the last bit that is one: the number is an odd multiple of this power of two."""
    digits, power = np.frexp(values)
    whole = (digits * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(float))[1]
    return np.asarray(power.astype(np.int64) - 54 + lowest, dtype=np.int64)
