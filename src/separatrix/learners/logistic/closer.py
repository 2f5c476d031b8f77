"""A closer look at a fit that has proved no optimum: are the classes separated, wholly or in part?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...data import Sparse
from ...data.frame import written_out
from ...fitting.plans.wide import goes_wide, too_large
from ...fitting.problem import Outcome
from ...geometry.separation.limit import LimitFit, limit_fit
from ...geometry.separation.proof import SeparationAnswer
from ...geometry.separation.search import Arrangement, HiddenSeparationError
from ...results.separability import Separability
from ..geometry.separability import result_of, searchable, separation_of
from .conclusion import Prepared

MOST_WEIGHTS = 1500
"""Weights beyond which a fit does not look closer: the linear programs would take longer than the fit."""


class Closer(NamedTuple):
    """How the classes lie to each other, and what the likelihood tends to where they are separated in part."""

    result: Separability
    looks: float
    limit: LimitFit | None


def look_closer(outcome: Outcome, prepared: Prepared) -> Closer | None:
    """Only where maximum likelihood may have no finite answer: no optimum was proved, or a separating rule was."""
    problem, settings = prepared.problem, prepared.settings
    if settings.objective != "likelihood":
        return None
    unproved = outcome.status == "separated" or (outcome.status == "budget" and outcome.bounds is None)
    exact = settings.solver != "stochastic" and settings.rate is None
    weights = (problem.classes - 1) * (problem.rows.X.shape[1] + problem.lifted)
    few = min(weights, (problem.classes - 1) * len(problem.rows)) <= MOST_WEIGHTS
    few = few and searchable(problem.rows.X, problem.classes, problem.lifted)
    if problem.l2 or not (unproved and exact and few) or goes_wide(problem):
        return None
    if isinstance(problem.rows.X, Sparse) and not too_large(problem):  # small: read it as it is
        problem = replace(problem, rows=replace(problem.rows, X=written_out(problem.rows.X)))
        prepared = replace(prepared, problem=problem)
    try:
        found, proved = separation_of(problem.rows, problem.classes, problem.lifted)
        limit = _limit(found, proved, outcome, prepared) if proved.kind == "quasi-separated" else None
    except HiddenSeparationError:
        return None
    labels = tuple(prepared.targets.classes.tolist())
    return Closer(result_of(found, proved, labels, prepared.columns, prepared.index), found.looks, limit)


def _limit(found: Arrangement, proved: SeparationAnswer, outcome: Outcome, prepared: Prepared) -> LimitFit:
    direction = _per_class(proved.proof.weights, proved.proof.intercept)
    return limit_fit(found, prepared.problem.rows, direction, _per_class(outcome.weights, outcome.intercept))


def _per_class(w: Any, b: Any) -> np.ndarray:
    """classes × (weights, intercept)."""
    if w.ndim == 1:
        return np.vstack([np.zeros(len(w) + 1), np.append(w, b)])
    return np.column_stack([w, b])


def seen_closer(outcome: Outcome, closer: Closer) -> Outcome:
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
