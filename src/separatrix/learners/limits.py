"""Probabilities in the limit, where some rows are separated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mapped import Mapped
from ..numerics import log_sum_exp
from ..verdict import Limit, Verdict

Floats = NDArray[np.float64]

TIE = 2.0**-40
"""Scores that differ by less than this part of what went into them are equal."""


def limit_probabilities(verdict: Verdict, X: Any) -> Floats:
    """lim P(y | x) for weights v + tu, t → ∞: the softmax of Vx + b among the classes with the largest score of u."""
    limit, direction = verdict.certificate, verdict.separability.certificate
    assert isinstance(limit, Limit)
    U, level = _per_class(direction.weights, direction.intercept)
    V, b = _per_class(limit.weights, limit.intercept)
    if isinstance(X, Mapped):
        return np.concatenate([np.empty((0, len(V))), *(limit_probabilities(verdict, part) for _, part in X.blocks())])
    lead = X @ U.T + level
    size = abs(X) @ np.abs(U).T + np.abs(level)
    tied = lead.max(axis=1, keepdims=True) - lead <= TIE * size.max(axis=1, keepdims=True)
    s = np.where(tied, X @ V.T + b, -np.inf)
    return np.where(tied, np.exp(s - log_sum_exp(s)[:, None]), 0.0)


def _per_class(weights: Floats, intercept: Any) -> tuple[Floats, Floats]:
    """A row of weights for every class; of two classes, the first's are zero."""
    if weights.ndim == 2:
        return weights, np.asarray(intercept)
    return np.vstack([np.zeros_like(weights), weights]), np.array([0.0, float(intercept)])
