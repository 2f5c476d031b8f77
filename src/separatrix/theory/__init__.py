"""The notes themselves: the theory of the perceptron, populations, Bayes, surfaces, surrogates, scenes."""

from .perceptron import (
    ACTIVATIONS,
    Chain,
    chain,
    cosine,
    criterion,
    delta_step,
    is_mistake,
    length,
    progress,
)

__all__ = [
    "ACTIVATIONS",
    "Chain",
    "chain",
    "cosine",
    "criterion",
    "delta_step",
    "is_mistake",
    "length",
    "progress",
]
