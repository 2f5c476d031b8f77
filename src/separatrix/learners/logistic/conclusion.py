"""From the outcome of a fit, after a closer look where it proved no optimum, to its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...data.block import Dense
from ...fitting.plans.wide import goes_wide, too_large
from ...fitting.problem import Bounds, FirthEnd, Outcome, Problem
from ...geometry.separation.limit import LimitFit, limit_fit
from ...geometry.separation.proof import SeparationAnswer
from ...geometry.separation.search import Arrangement, HiddenSeparationError
from ...numerics.arrays import Floats
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.proofs import Limit, Locality, Optimality, PenalisedLocality, Proof, Separation
from ...results.separability import Separability
from ...results.verdict import Rank, Verdict
from ..geometry.separability import result_of, searchable, separation_of
from . import words
from .training import Training


def concluded(outcome: Outcome, training: Training) -> tuple[Outcome, Verdict]:
    """What a fit that came to its end can say; where it proved no optimum, after a closer look."""
    closer = look_closer(outcome, training)
    result, limit = (None, None) if closer is None else (closer.result, closer.limit)
    if closer is not None:
        outcome = seen_closer(outcome, closer)
    problem, found = training.problem, outcome.bounds
    certificate: Proof | None = None
    if outcome.status == "separated":
        nearest = _nearest(outcome, problem)
        certificate = Separation(outcome.weights, outcome.intercept, nearest)
        said = words.separated(len(problem.rows), nearest, training.settings, result)
    elif limit is not None and result is not None:
        certificate = _limit(limit)
        said = words.quasi_separated(result, certificate.deviance)
    elif outcome.firth is not None:
        said = words.firth(outcome, problem, training.settings)
    elif outcome.status in ("optimal", "local"):
        said = words.optimal(outcome, problem.tol) if outcome.status == "optimal" else words.local(outcome, problem.tol)
    else:
        overlap = result is not None and result.kind == "overlap"
        said = words.budget(outcome, training.problem, training.settings, training.columns, overlap)
    if found is not None and certificate is None:
        certificate = _certificate(outcome)
    aliased = tuple(training.columns[j] for j in outcome.aliased)
    of = len(training.columns) + problem.lifted
    claim = _claim(outcome.weights, outcome.intercept, outcome.value, training)
    rank = Rank(of - len(aliased) if outcome.ranked else None, of, aliased)
    return outcome, Verdict(outcome.status, rank, certificate, *said, claim, result)


def _limit(limit: LimitFit) -> Limit:
    found = limit.bounds
    return Limit(
        limit.weights, limit.intercept, limit.value, 2 * limit.total * limit.value, found.nu, found.rho, found.gap,
        found.gap / limit.value if limit.value else 0.0, found.distance, _bounded(found),
    )  # fmt: skip


def _bounded(found: Bounds) -> Floats:
    """The distance in each coefficient: infinite where that has no bound."""
    finite = np.isfinite(found.spread)
    return np.where(finite, np.where(finite, found.spread, 0.0) * found.distance, np.inf)


def _certificate(outcome: Outcome) -> Optimality | Locality:
    found = outcome.bounds
    assert found is not None
    if outcome.firth is not None:
        return _penalised(outcome.firth, found)
    relative = found.gap / outcome.value if found.gap else 0.0
    coefficients = found.spread * found.distance
    if not found.only:
        return Locality(found.nu, found.rho, found.gap, relative, found.distance, coefficients)
    return Optimality(
        found.nu, found.rho, found.gap, relative, found.distance, coefficients, found.share, found.witness, found.sample
    )


def _penalised(end: FirthEnd, found: Bounds) -> PenalisedLocality:
    return PenalisedLocality(
        found.nu, found.rho, found.gap, found.gap / end.mean_loss, found.distance, found.spread * found.distance, *end
    )


def interrupted_verdict(weights: Floats, intercept: Any, value: float, passes: float, training: Training) -> Verdict:
    """What a fit that was stopped can say: where it stood, and that nothing is proved, the rank included."""
    of = len(training.columns) + training.problem.lifted
    said = words.interrupted(passes, value)
    return Verdict("interrupted", Rank(None, of, ()), None, *said, _claim(weights, intercept, value, training))


def _claim(weights: Floats, intercept: Any, value: float, training: Training) -> Claim:
    problem = training.problem
    several = not isinstance(intercept, float) and np.ndim(intercept)
    level = np.array(intercept, float) if several else float(intercept)
    return Claim(
        tuple(training.targets.classes.tolist()), training.columns, weights.copy(), level,
        problem.lifted, problem.penalty.strength, training.class_weight, value, len(problem.rows),
        training.settings.objective, training.targets.soft,
        None if training.features is None else training.features.map.spec,
    )  # fmt: skip


def _nearest(outcome: Outcome, problem: Problem) -> float:
    """The distance of the nearest row that counts."""
    rule = LinearRule(outcome.weights, outcome.intercept)
    nearest = np.inf
    for side in problem.rows.gathered().sides():
        distance = rule.distance(side.block)
        if outcome.weights.ndim == 1:
            distance = side.y * distance
        nearest = min(nearest, float(distance[side.cost > 0].min() if side.cost.size else distance.min()))
    return nearest


MOST_WEIGHTS = 1500
"""Weights beyond which a fit does not look closer: the linear programs would take longer than the fit."""


class CloserLook(NamedTuple):
    """How the classes lie to each other, and what the likelihood tends to where they are separated in part."""

    result: Separability
    looks: float
    limit: LimitFit | None


def look_closer(outcome: Outcome, training: Training) -> CloserLook | None:
    """Only where maximum likelihood may have no finite answer: no optimum was proved, or a separating rule was."""
    problem, settings, rows = training.problem, training.settings, training.rows
    unproved = outcome.status == "separated" or (outcome.status == "budget" and outcome.bounds is None)
    exact = settings.solver != "stochastic" and settings.rate is None
    if settings.objective != "likelihood" or not problem.penalty.idle or not (unproved and exact):
        return None
    weights = (problem.classes - 1) * (problem.rows.shape[1] + problem.lifted)
    few = min(weights, (problem.classes - 1) * len(problem.rows)) <= MOST_WEIGHTS
    if not few or goes_wide(problem) or not searchable(rows.block, problem.classes, problem.lifted):
        return None
    if rows.block.by_numbers and not too_large(problem):  # small: read it as it is
        rows = replace(rows, block=Dense(rows.dense()))
        training = replace(training, problem=replace(problem, rows=rows))
    try:
        found, proved = separation_of(rows, problem.classes, problem.lifted)
        limit = _limit_of_likelihood(found, proved, outcome, training) if proved.kind == "quasi-separated" else None
    except HiddenSeparationError:
        return None
    labels = tuple(training.targets.classes.tolist())
    return CloserLook(result_of(found, proved, labels, training.columns, training.index), found.looks, limit)


def _limit_of_likelihood(
    found: Arrangement, proved: SeparationAnswer, outcome: Outcome, training: Training
) -> LimitFit:
    direction = _per_class(proved.proof.weights, proved.proof.intercept)
    return limit_fit(found, training.rows, direction, _per_class(outcome.weights, outcome.intercept))


def _per_class(w: Any, b: Any) -> np.ndarray:
    """classes × (weights, intercept)."""
    if w.ndim == 1:
        return np.vstack([np.zeros(len(w) + 1), np.append(w, b)])
    return np.column_stack([w, b])


def seen_closer(outcome: Outcome, closer: CloserLook) -> Outcome:
    """The outcome as it is after the closer look."""
    proof, passes = closer.result.certificate, outcome.passes + closer.looks
    if closer.limit is not None:
        weights, intercept = closer.limit.stand_in
        return replace(
            outcome, status="quasi-separated", weights=weights, intercept=intercept, value=closer.limit.value,
            passes=passes, bounds=None,
        )  # fmt: skip
    if closer.result.kind == "separated" and outcome.status != "separated":
        assert proof.weights is not None
        return replace(outcome, status="separated", weights=proof.weights, intercept=proof.intercept, passes=passes)
    return replace(outcome, passes=passes)
