"""The weights that a picture shows, read off a model or off its inference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..inference.result import Inference
from ..numerics.arrays import Floats
from .inputs import Table, are_scores


@dataclass(frozen=True, eq=False)
class Weights:
    """One row of weights for each class that has some."""

    columns: tuple[str, ...]
    equations: tuple[Any, ...]
    reference: Any
    weights: Floats
    intervals: Floats | None
    reason: str
    likely: bool
    rows: Floats
    """What the weights multiply: X, or its features."""

    def scales(self, sample_weight: Any) -> Floats:
        """√(Σᵢcᵢ(xᵢⱼ − x̄ⱼ)²/Σᵢcᵢ): the standard deviation of each column."""
        cost = np.ones(len(self.rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(self.rows, axis=0, weights=cost)
        return np.asarray(np.sqrt(np.average(np.square(self.rows - mean), axis=0, weights=cost)))


def weights_by_model(model: Any, table: Table, classes: list[Any], reference: Any) -> Weights:
    """The weights as the model has them; against the reference, where one is asked for."""
    W = getattr(model, "coef_", None)
    if W is None:
        raise ValueError(
            f"{type(model).__name__} has no weights of its columns (no coef_), so there are none to draw: "
            "draw its regions by DecisionRegionsDisplay."
        )
    W = np.atleast_2d(np.asarray(W.toarray() if hasattr(W, "toarray") else W, dtype=np.float64))
    rows, columns = table.values, table.names
    if W.shape[1] != len(columns):
        rows, columns = _features(model, table, W.shape[1])
    K, rule = len(classes), getattr(model, "rule_", None)
    if len(W) not in (1, K) or not are_scores(model, table.given, rows, W):
        raise ValueError(
            f"{type(model).__name__} has {len(W)} rows of weights for {K} classes, which are not those of its scores; "
            "one for each class is needed: draw its regions by DecisionRegionsDisplay."
        )
    likely = bool(getattr(rule, "probabilistic", hasattr(model, "predict_proba")))
    reason = f"{type(model).__name__} has weights without standard errors."
    if len(W) == 1:
        against = classes[0] if reference is None else reference
        turned = against == classes[1]
        return Weights(
            columns, (classes[0 if turned else 1],), against, -W if turned else W, None, reason, likely, rows
        )
    if reference is None:
        return Weights(columns, tuple(classes), None, W, None, reason, likely, rows)
    place = classes.index(reference)
    return Weights(columns, tuple(name for name in classes if name != reference), reference,
                   np.delete(W, place, 0) - W[place], None, reason, likely, rows)  # fmt: skip


def weights_by_inference(told: Inference, plain: Weights, level: float, method: str) -> Weights:
    """The same with intervals; where they are refused, the weights against the reference of the inference."""
    equations = told.equations
    if told.refused is not None:
        W = plain.weights
        if plain.reference is None:
            place = plain.equations.index(told.reference)
            W = np.delete(W, place, 0) - W[place]
        return replace(plain, equations=equations, reference=told.reference, weights=W)
    lifted = len(told.names) - len(plain.columns)
    shape = (len(equations), len(told.names))
    W = told.coefficients.reshape(shape)[:, lifted:]
    ends = told.interval(level, method).reshape(*shape, 2)[:, lifted:]
    return replace(plain, equations=equations, reference=told.reference, weights=W, intervals=ends)


def _features(model: Any, table: Table, width: int) -> tuple[Floats, tuple[str, ...]]:
    """The features that the weights are of, where the model makes them itself."""
    features: Any = getattr(model, "features_", None)
    of_columns = getattr(model, "features", None)
    if hasattr(features, "transform"):
        made, names = features.transform(table.given), features.names
    elif callable(of_columns):  # naive Bayes: the statistics of each column
        made, names = of_columns(table.given), model.rule_.columns
    else:
        raise ValueError(
            f"{type(model).__name__} has {width} weights and X {len(table.names)} columns: they are not of these."
        )
    made = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)
    return made, tuple(map(str, names))
