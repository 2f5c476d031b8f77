"""What a rule costs: by its scores, and in fractions where rounding could have decided."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

Floats = NDArray[np.float64]
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class Kept(NamedTuple):
    """A rule in the user's units, the rows it gets wrong, and what they cost in units, the base included."""

    weights: Floats
    intercept: float
    wrong: NDArray[np.bool_]
    cost: int


def counted(problem: Problem, weights: Floats, intercept: float) -> Kept | None:
    """The rule with its cost; None if its scores put a row on another side than exact arithmetic does."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = problem.X @ weights + intercept
        size = np.abs(problem.X) @ np.abs(weights) + abs(intercept)
    if not (np.isfinite(scores).all() and np.isfinite(weights).all() and np.isfinite(intercept)):
        return None
    doubt = np.abs(scores) <= (len(weights) + 4) * (EPS * size + TINY)
    doubt &= bool(weights.any()) or intercept != 0  # else every score is zero, and no doubt
    if any((_exact(problem.X[i], weights, intercept) > 0) != (scores[i] > 0) for i in np.flatnonzero(doubt)):
        return None
    wrong = (scores > 0) != (problem.sign > 0)
    return Kept(weights, float(intercept), wrong, problem.paid(wrong))


def _exact(x: Floats, weights: Floats, intercept: float) -> Fraction:
    """xᵀw + b, in fractions."""
    pairs = zip(x.tolist(), weights.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(w) for a, w in pairs if a and w), Fraction(intercept))
