"""Populations with a known η(x) = P(Y = 1 | x): what no learner knows, for tests, demos and lessons."""

from .theory.populations import (
    BestLinear,
    Box,
    Discrete,
    Estimate,
    GaussianMixture,
    Gaussians,
    Inputs,
    Known,
    LogisticModel,
    Points,
    Population,
    Rows,
    best_linear,
    figures,
)

__all__ = [
    "BestLinear",
    "Box",
    "Discrete",
    "Estimate",
    "GaussianMixture",
    "Gaussians",
    "Inputs",
    "Known",
    "LogisticModel",
    "Points",
    "Population",
    "Rows",
    "best_linear",
    "figures",
]
