"""Families of distributions of one column within a class, for naive Bayes."""

from .losses.families import (
    ALL,
    Bernoulli,
    Categorical,
    Exponential,
    Family,
    Gaussian,
    Geometric,
    Poisson,
)

__all__ = [
    "ALL",
    "Bernoulli",
    "Categorical",
    "Exponential",
    "Family",
    "Gaussian",
    "Geometric",
    "Poisson",
]
