"""From the outcome of a fit to its verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..fitting.problem import Outcome, Problem
from ..rule import LinearRule
from ..verdict import Claim, Optimality, Rank, Separation, Verdict
from . import words
from .validation import Labels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prepared:
    """Checked input."""

    problem: Problem
    labels: Labels
    columns: tuple[str, ...]
    class_weight: tuple[float, float]


def verdict_of(outcome: Outcome, prepared: Prepared) -> Verdict:
    """What a fit that came to its end can say."""
    problem, found = prepared.problem, outcome.bounds
    certificate: Optimality | Separation | None = None
    if outcome.status == "separated":
        nearest = _nearest(outcome, problem)
        certificate = Separation(outcome.weights, outcome.intercept, nearest)
        said = words.separated(len(problem.rows), nearest)
    elif outcome.status == "optimal":
        said = words.optimal(outcome, problem.tol)
    else:
        said = words.budget(outcome, problem, prepared.columns)
    if found is not None and certificate is None:
        relative, coefficients = found.gap / outcome.value, found.spread * found.distance
        certificate = Optimality(found.nu, found.rho, found.gap, relative, found.distance, coefficients, found.share)
    aliased = tuple(prepared.columns[j] for j in outcome.aliased)
    of = len(prepared.columns) + problem.lifted
    claim = _claim(outcome.weights, outcome.intercept, outcome.value, prepared)
    return Verdict(outcome.status, Rank(of - len(aliased), of, aliased), certificate, *said, claim)


def interrupted_verdict(weights: Floats, intercept: float, value: float, passes: float, prepared: Prepared) -> Verdict:
    """What a fit that was stopped can say: where it stood, and that nothing is proved, the rank included."""
    of = len(prepared.columns) + prepared.problem.lifted
    said = words.interrupted(passes, value)
    return Verdict("interrupted", Rank(None, of, ()), None, *said, _claim(weights, intercept, value, prepared))


def _claim(weights: Floats, intercept: float, value: float, prepared: Prepared) -> Claim:
    problem = prepared.problem
    return Claim(
        tuple(prepared.labels.classes.tolist()), prepared.columns, weights.copy(), float(intercept),
        problem.lifted, problem.l2, prepared.class_weight, value, len(problem.rows),
    )  # fmt: skip


def _nearest(outcome: Outcome, problem: Problem) -> float:
    """The distance of the nearest row that counts."""
    distance = problem.rows.y * LinearRule(outcome.weights, outcome.intercept).distance(problem.rows.X)
    return float(distance[problem.rows.cost > 0].min() if problem.rows.cost.size else distance.min())
