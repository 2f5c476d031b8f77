"""Rules to begin with: those of the other learners, and the one of the largest margin on rows that are right."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.zero_one.counting import CountedRule, counted
from ...geometry.zero_one.problem import Problem
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ..closed.discriminant import GaussianDiscriminant
from ..closed.least_squares import LeastSquaresClassifier
from ..closed.naive_bayes import BernoulliNaiveBayes, GaussianNaiveBayes, PoissonNaiveBayes
from ..logistic.logistic import LogisticRegression
from ..perceptron.online import OnlinePerceptron
from ..perceptron.perceptrons import AveragedPerceptron, Perceptron, Pocket, VotedPerceptron
from .margin import MaxMarginClassifier

MOST_STEPS = 3e7
"""Numbers that a perceptron may read in all its passes."""
AT_LEAST = 0.5
"""Seconds that the search for a wide margin has at the least."""

QUICK: tuple[Any, ...] = (
    LogisticRegression, LeastSquaresClassifier, GaussianDiscriminant, GaussianNaiveBayes, BernoulliNaiveBayes,
    PoissonNaiveBayes, OnlinePerceptron, MaxMarginClassifier,
)  # fmt: skip
SLOW: tuple[Any, ...] = (AveragedPerceptron, VotedPerceptron, Perceptron, Pocket)
"""Those with many passes."""
SHARED: dict[Any, dict[str, Any]] = {GaussianNaiveBayes: {"variance": "shared"}}
"""What makes a learner's rule linear in X."""


def rules_of(
    learners: tuple[Any, ...], X: Floats, second: NDArray[np.bool_], cost: Floats, lifted: bool, seed: int
) -> Iterator[tuple[Floats, float]]:
    """Weights and intercept of each learner that has a linear rule for these rows."""
    y = second.astype(np.int64)
    for learner in learners:
        known, takes = inspect.signature(learner).parameters, inspect.signature(learner.fit).parameters
        if not lifted and "fit_intercept" not in known:
            continue
        given: dict[str, Any] = dict(SHARED.get(learner, {}))
        given |= {"fit_intercept": lifted} if "fit_intercept" in known else {}
        given |= {"random_state": seed} if "random_state" in known else {}
        if "max_passes" in known and learner in SLOW:
            given["max_passes"] = min(float(known["max_passes"].default), max(1.0, MOST_STEPS / X.size))
        costs = {"sample_weight": cost} if cost.size and "sample_weight" in takes else {}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                rule = learner(**given).fit(X, y, **costs).rule_
            except (ValueError, ArithmeticError, AttributeError, np.linalg.LinAlgError):
                continue  # a learner that is not for such rows has no rule to offer
        if isinstance(rule, LinearRule) and rule.weights.shape == (X.shape[1],):
            yield rule.weights, float(rule.intercept)


def constants(problem: Problem) -> Iterator[tuple[Floats, float]]:
    """The rules that say the same of every row; without an intercept only the first class can be said."""
    nothing = np.zeros(problem.X.shape[1])
    yield nothing, -1.0 if problem.lifted else 0.0
    if problem.lifted:
        yield nothing, 1.0


def widest(problem: Problem, right: NDArray[np.bool_], seconds: float) -> CountedRule | None:
    """The rule of the largest margin on these rows, as far as it is found in time; None if there is none."""
    until = time.perf_counter() + seconds
    y = problem.sign[right]
    if (y == 1).all() or (y == -1).all():
        options = (counted(problem, *rule) for rule in constants(problem))
        return min((kept for kept in options if kept is not None), key=lambda kept: kept.cost, default=None)
    model = MaxMarginClassifier(fit_intercept=problem.lifted)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            for _ in model.steps(problem.X[right], y):
                if time.perf_counter() > until:
                    break
        except (ValueError, ArithmeticError):
            return None
    return counted(problem, model.coef_[0], float(model.intercept_[0])) if hasattr(model, "coef_") else None


def clearance(problem: Problem, kept: CountedRule) -> float:
    """minᵢ |xᵢᵀw + b|/‖w‖ over the rows that are right; infinite where the rule says the same of all."""
    size = float(np.abs(kept.weights).max(initial=0.0))
    if size == 0:
        return np.inf
    scores = problem.X[~kept.wrong] @ kept.weights + kept.intercept
    return float(np.abs(scores).min(initial=np.inf)) / size / float(np.linalg.norm(kept.weights / size))
