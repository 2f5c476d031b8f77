"""The maximum of a likelihood among the weights for which some linear functions have given values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linalg import Factor, steady_factor
from .likelihood import Likelihood

Floats = NDArray[np.float64]
MOVES, STEPS, SHORTEST, SETTLED, ROUNDING = 400, 8, 2.0**-30, 1e-12, 1e-13
"""Moves along a path, Newton steps back to it after each, and the shortest of them; the gain in sight of a likelihood
that is at its maximum, in its own units and in those of its rounding."""
REACH, SHORT = 2.0, 2.0**-40
"""How far a score may move at first; how short a move is given up."""


class Constrained(NamedTuple):
    """Where the likelihood is largest under the constraints."""

    v: Floats
    value: float
    settled: bool
    """Whether the steps came to an end."""
    steps: int


def constrained_maximum(likelihood: Likelihood, v: Floats, A: Floats, values: Floats) -> Constrained:
    """max ℓ(v) with Av = values, each row of A a function: along the path of such maxima from v, itself one of them."""
    reach = REACH
    for _ in range(MOVES):
        tilted = steady_factor(likelihood.information(v)).solve(A.T)
        found, share, reach = moved(likelihood, v, A, tilted @ np.linalg.solve(A @ tilted, values - A @ v), reach)
        v = found.v
        if share == 1 or not found.settled:
            return found
    return found._replace(settled=False)


def moved(likelihood: Likelihood, v: Floats, A: Floats, step: Floats, reach: float) -> tuple[Constrained, float, float]:
    """From a constrained maximum v to the one for other values, or a part of the way; which part; and the next reach.

    The step moves scores by no more than `reach`. If Newton's steps do not soon lead back to the path, it was too long.
    Where it was easy the next may be longer: scores far from zero may move far and change nothing.
    """
    size = max(likelihood.sample.reach(step), 1e-300)
    while True:
        share = min(1.0, reach / size)
        found = climbed(likelihood, v + share * step, A)
        if found.settled or share < SHORT:
            return found, share, reach * (4.0 if found.steps <= 3 else 1.0)
        reach = share * size / 4


def climbed(likelihood: Likelihood, v: Floats, A: Floats) -> Constrained:
    """The maximum near v among the points with the same Av, by Newton's steps; one that does not pay is shortened."""
    at = likelihood.jets(v[None])
    value, gradient = float(at.values[0]), at.gradients[0]
    for count in range(STEPS):
        step = free_step(steady_factor(likelihood.information(v)), gradient, A)
        gain = float(gradient @ step)
        if gain <= SETTLED + ROUNDING * abs(value):
            return Constrained(v, value, True, count)
        length = 1.0
        while True:
            at = likelihood.jets((v + length * step)[None])
            if at.values[0] >= value + 1e-4 * length * gain:
                break
            length /= 2
            if length < SHORTEST:
                return Constrained(v, value, gain <= 1e-6, count)
        v, value, gradient = v + length * step, float(at.values[0]), at.gradients[0]
    return Constrained(v, value, gain <= 1e-9, STEPS)


def free_step(curvature: Factor, gradient: Floats, A: Floats) -> Floats:
    """δ = V⁻¹(g + Aᵀλ) with Aδ = 0: Newton's step under the constraints."""
    tilted = curvature.solve(A.T)
    plain = curvature.solve(gradient)
    return plain - tilted @ np.linalg.solve(A @ tilted, A @ plain)  # type: ignore[no-any-return]
