"""What a row costs (margin losses, softmax, families) and what weights cost."""

from .margin import (
    ALL,
    Exponential,
    GaussNewton,
    Hinge,
    LogisticSquared,
    LogLikelihood,
    MarginLoss,
    Perceptron,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from .penalty import NoPenalty, Penalty, Ridge, ridge

__all__ = [
    "ALL",
    "Exponential",
    "GaussNewton",
    "Hinge",
    "LogLikelihood",
    "LogisticSquared",
    "MarginLoss",
    "NoPenalty",
    "Penalty",
    "Perceptron",
    "Ridge",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
    "ridge",
]
