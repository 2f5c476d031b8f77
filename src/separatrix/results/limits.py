"""Probabilities in the limit, where some rows are separated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.mapped import MappedRows
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp
from .proofs import Limit
from .verdict import Verdict

TIE = 2.0**-40
"""Scores that differ by less than this part of what went into them are equal."""


@dataclass(frozen=True, eq=False)
class LimitRule:
    """v + tu for t → ∞: where weights go if some rows are separated and others are not."""

    direction: Floats
    """u: K × columns; of two classes, the first's are zero."""
    direction_intercept: Floats
    rest: Floats
    """v, as u is."""
    rest_intercept: Floats

    @classmethod
    def of(cls, verdict: Verdict) -> LimitRule:
        """What a verdict says of it."""
        limit, direction = verdict.certificate, verdict.separability.certificate
        assert isinstance(limit, Limit)
        return cls(*_per_class(direction.weights, direction.intercept), *_per_class(limit.weights, limit.intercept))

    def probabilities(self, X: Any) -> Floats:
        """lim P(y | x): the softmax of Vx + b among the classes with the largest score of u."""
        U, level, V, b = self.direction, self.direction_intercept, self.rest, self.rest_intercept
        if isinstance(X, MappedRows):
            return np.concatenate([np.empty((0, len(V))), *(self.probabilities(part) for _, part in X.blocks())])
        lead = X @ U.T + level
        size = abs(X) @ np.abs(U).T + np.abs(level)
        tied = lead.max(axis=1, keepdims=True) - lead <= TIE * size.max(axis=1, keepdims=True)
        s = np.where(tied, X @ V.T + b, -np.inf)
        return np.where(tied, np.exp(s - log_sum_exp(s)[:, None]), 0.0)


def limit_probabilities(verdict: Verdict, X: Any) -> Floats:
    """lim P(y | x) for weights v + tu, t → ∞, of a verdict."""
    return LimitRule.of(verdict).probabilities(X)


def _per_class(weights: Floats, intercept: Any) -> tuple[Floats, Floats]:
    """A row of weights for every class; of two classes, the first's are zero."""
    if weights.ndim == 2:
        return weights, np.asarray(intercept)
    return np.vstack([np.zeros_like(weights), weights]), np.array([0.0, float(intercept)])
