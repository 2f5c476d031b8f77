"""The few functions every loss is made of, safe at both ends of the real line.

This is the only place that knows floating point. Each function takes a NumPy array or number, or any
array of the array-API standard; `numerics.vector_functions` gives them their scalar, compiled twins.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def namespace(z: Any) -> Any:
    """The module that owns z: its array-API namespace, else NumPy."""
    return z.__array_namespace__() if hasattr(z, "__array_namespace__") else np


def sigmoid(z: Any) -> Any:
    """σ(z) = 1 / (1 + e⁻ᶻ).  [000 8.1; 002 1]

    >>> float(sigmoid(0.0)), float(sigmoid(-1e6)), float(sigmoid(1e6))
    (0.5, 0.0, 1.0)
    """
    xp = namespace(z)
    e = xp.exp(-xp.abs(z))  # in [0, 1]: it cannot overflow
    return xp.where(z < 0, e, xp.ones_like(e)) / (1 + e)


def softplus(z: Any) -> Any:
    """log(1 + eᶻ) = [z]₊ + log(1 + e^−|z|)."""
    xp = namespace(z)
    return positive(z) + xp.log1p(xp.exp(-xp.abs(z)))


def log_odds(z: Any) -> tuple[Any, Any, Any]:
    """log(1 + e⁻ᶻ), σ(z) and σ(−z), the exponential taken once."""
    xp = namespace(z)
    e, right = xp.exp(-xp.abs(z)), z > 0
    less, more = e / (1 + e), 1 / (1 + e)
    value = xp.where(right, xp.zeros_like(z), -z) + xp.log1p(e)
    return value, xp.where(right, more, less), xp.where(right, less, more)


def positive(z: Any) -> Any:
    """[z]₊ = max(z, 0)."""
    xp = namespace(z)
    return xp.where(z < 0, xp.zeros_like(z), z)  # a NaN stays one


def step(z: Any) -> Any:
    """1[z > 0]."""
    xp = namespace(z)
    return xp.where(z > 0, xp.ones_like(z), xp.zeros_like(z))


def exponential(z: Any) -> Any:
    """eᶻ, held one e-fold below the largest finite number of z's precision."""
    xp = namespace(z)
    held = math.log(float(xp.finfo(xp.exp(0 * z).dtype).max)) - 1
    return xp.exp(xp.where(z > held, held * xp.ones_like(z), z))


def log_sum_exp(z: Any, axis: int = -1) -> Any:
    """Log Σₖ e^zₖ, the largest zₖ taken out first."""
    xp = namespace(z)
    top = xp.max(z, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return xp.squeeze(top, axis=axis) + xp.log(xp.sum(xp.exp(z - top), axis=axis))
