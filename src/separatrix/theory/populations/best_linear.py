"""The linear rule of two classes with the fewest mistakes in truth: exact where it can be, else the best found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from .estimate import Estimate
from .models import GaussianMixture
from .population import Discrete, Population
from .search import Cloud, descend
from .sweep import SWEPT_POINTS, Cut, best_cut, swept

DRAWN = 2000


class BestLinear(NamedTuple):
    """A linear rule, its true error, and whether it is proved that none has less."""

    rule: LinearRule
    """The best that was found."""
    error: Estimate
    """How often it errs, in truth."""
    proved: bool
    """Whether no linear rule errs less."""


def best_linear(population: Population, random_state: int = 0) -> BestLinear:
    """argmin over (w, b) of P(1[xᵀw + b > 0] ≠ y).  [001 slide 11]

    Bayes' rule where it is linear; all rules of points on a line or in a plane; else descent from many starts on the
    error itself (Gaussians), on that of widened points (points), or on that of drawn points (anything else).
    """
    bayes = population.bayes_rule()
    if bayes is not None:
        return BestLinear(bayes, _error(population, bayes, random_state), True)
    if population.n_classes != 2:
        raise ValueError(
            f"There are {population.n_classes} classes; the best linear rule is sought for two, "
            "or where Bayes' rule itself is linear."
        )
    if isinstance(population, Discrete):
        found = _best_of_points(population, random_state)
    elif isinstance(population, GaussianMixture):
        found = descend(Cloud.of_mixture(population), np.random.default_rng(random_state))
    else:
        found = _best_of_points(_drawn(population, random_state), random_state)
    candidates = [found, *(Cut(np.zeros(population.n_features), b) for b in (1.0, -1.0))]
    errors = [_error(population, LinearRule(cut.weights, cut.intercept), random_state) for cut in candidates]
    best = int(np.argmin(errors))
    proved = isinstance(population, Discrete) and _can_sweep(population)
    return BestLinear(LinearRule(candidates[best].weights, candidates[best].intercept), errors[best], proved)


def _error(population: Population, rule: LinearRule, random_state: int) -> Estimate:
    if rule.weights.ndim == 1:
        closed = population.error_of(rule.weights, float(rule.intercept))
        if closed is not None:
            return closed
        return population.mean_loss_of_scores(rule, _mistakes_of_sign, random_state)
    return population.mean_of_posterior(lambda P: 1 - P.max(axis=1), random_state)


def _mistakes_of_sign(Z: Floats) -> Floats:
    positive = Z[:, 0] > 0
    return np.column_stack([positive, ~positive]).astype(np.float64)


def _can_sweep(population: Discrete) -> bool:
    return population.n_features == 1 or (population.n_features == 2 and len(population.points) <= SWEPT_POINTS)


def _best_of_points(population: Discrete, random_state: int) -> Cut:
    """All orders in which a line can meet the points, or a descent on the error of widened points."""
    weights = population.masses[:, None] * population.probabilities
    if _can_sweep(population):
        return swept(population.points, weights)
    found = descend(Cloud.of_points(population.points, weights), np.random.default_rng(random_state))
    return best_cut(population.points, weights, np.stack([found.weights, -found.weights]))


def _drawn(population: Population, random_state: int) -> Discrete:
    """Points of the population with their own η: no label is drawn."""
    X = np.unique(population.inputs.draw(DRAWN, np.random.default_rng(random_state)), axis=0)
    return Discrete(X, np.full(len(X), 1 / len(X)), population.posterior(X))
