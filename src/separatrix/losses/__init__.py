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

__all__ = [
    "ALL",
    "Exponential",
    "GaussNewton",
    "Hinge",
    "LogLikelihood",
    "LogisticSquared",
    "MarginLoss",
    "Perceptron",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
]
