"""Floating point, exact arithmetic, factors, threads and compilation: nothing of ours is imported here."""

from .functions import (
    exponential,
    log_sum_exp,
    namespace,
    positive,
    sigmoid,
    softplus,
    step,
)

__all__ = [
    "exponential",
    "log_sum_exp",
    "namespace",
    "positive",
    "sigmoid",
    "softplus",
    "step",
]
