"""The maximum of a likelihood among the weights for which some linear functions have given values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linalg import Factor, steady_factor
from .likelihood import Likelihood

Floats = NDArray[np.float64]
STEPS, SHORTEST, SETTLED, ROUNDING = 100, 2.0**-30, 1e-12, 1e-13
"""Newton steps and the shortest of them; the gain in sight of a likelihood that is at its maximum, in its own units and
in those of its rounding."""


class Constrained(NamedTuple):
    """Where the likelihood is largest under the constraints."""

    v: Floats
    value: float
    settled: bool
    """Whether the steps came to an end."""


def constrained_maximum(likelihood: Likelihood, v: Floats, A: Floats, values: Floats) -> Constrained:
    """max ℓ(v) with Av = values, by Newton's steps along the constraints.

    Each row of A is a function. The first step goes to where they have their values; the others stay there, so that a
    step which does not pay can be shortened.
    """
    v = v + A.T @ np.linalg.solve(A @ A.T, values - A @ v)
    at = likelihood.jets(v[None])
    value, gradient = float(at.values[0]), at.gradients[0]
    for _ in range(STEPS):
        curvature = steady_factor(likelihood.information(v))
        step = free_step(curvature, gradient, A, values - A @ v)
        gain = float(gradient @ step)
        if gain <= SETTLED + ROUNDING * abs(value):
            return Constrained(v, value, True)
        length = 1.0
        while True:
            at = likelihood.jets((v + length * step)[None])
            if at.values[0] >= value + 1e-4 * length * gain:
                break
            length /= 2
            if length < SHORTEST:
                return Constrained(v, value, gain <= 1e-6)
        v, value, gradient = v + length * step, float(at.values[0]), at.gradients[0]
    return Constrained(v, value, False)


def free_step(curvature: Factor, gradient: Floats, A: Floats, left: Floats) -> Floats:
    """δ = V⁻¹(g + Aᵀλ) with Aδ = left: Newton's step under the constraints."""
    tilted = curvature.solve(A.T)
    plain = curvature.solve(gradient)
    return plain + tilted @ np.linalg.solve(A @ tilted, left - A @ plain)  # type: ignore[no-any-return]
