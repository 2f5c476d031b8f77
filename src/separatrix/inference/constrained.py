"""The maximum of a likelihood among the weights for which some linear functions have given values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..fitting.solvers.descent import Damping, Point, State, minimum
from ..fitting.solvers.newton import OwnStep
from ..numerics.arrays import Floats
from ..numerics.linalg import Factor, factor, steady_factor
from .likelihood import Likelihood

MOVES = 400
"""The most moves along a path."""
STEPS = 12
"""The most Newton steps back to the path after each move."""
SHORTEST = 2.0**-30
"""The shortest part of a Newton step."""
SETTLED = 1e-12
"""The gain in sight of a likelihood that is at its maximum."""
ROUNDING = 1e-13
"""What is added to that gain for each unit of the likelihood."""
NEAR = 1e-9
"""The gain in sight that will do where the steps are at an end."""
NEAR_STALLED = 1e-6
"""The gain in sight that will do where no shorter step pays."""
REACH = 2.0
"""How far a score may move at first."""
SHORT = 2.0**-40
"""How short a move is given up."""


class ConstrainedMaximum(NamedTuple):
    """Where the likelihood is largest under the constraints."""

    v: Floats
    value: float
    settled: bool
    """Whether the steps came to an end."""
    steps: int


@dataclass(frozen=True)
class Plane:
    """The points with the same values of some functions, the rows of A."""

    lift: Floats
    """A⁺: what moves the values and nothing else."""
    along: Floats
    """Directions, at right angles to each other, that leave the values alone."""

    @classmethod
    def of(cls, A: Floats) -> Plane:
        Q, R = np.linalg.qr(A.T, mode="complete")
        r = len(A)
        return cls(np.linalg.solve(R[:r], Q[:, :r].T).T, Q[:, r:])

    def within(self, likelihood: Likelihood, v: Floats) -> tuple[Floats, Factor | None]:
        """−∂²ℓ at v, or what stands for it; and its factor within the plane, None where that is a point."""
        N = self.along
        for H in likelihood.bends(v):
            made = factor(N.T @ H @ N) if N.shape[1] else None
            if made is not None or not N.shape[1]:
                return H, made
        return H, steady_factor(N.T @ H @ N)

    def tangent(self, likelihood: Likelihood, v: Floats, change: Floats) -> tuple[Floats, Floats]:
        """t, along which a constrained maximum moves as the values change so; and H."""
        H, made = self.within(likelihood, v)
        straight = self.lift @ change
        return (straight if made is None else straight - self.along @ made.solve(self.along.T @ (H @ straight))), H

    def step(self, likelihood: Likelihood, v: Floats, gradient: Floats) -> Floats:
        """Newton's step that leaves the values alone."""
        _, made = self.within(likelihood, v)
        return 0 * v if made is None else self.along @ made.solve(self.along.T @ gradient)  # type: ignore[no-any-return]


def constrained_maximum(likelihood: Likelihood, v: Floats, A: Floats, values: Floats) -> ConstrainedMaximum:
    """max ℓ(v) with Av = values, each row of A a function: along the path of such maxima from v, itself one of them."""
    plane, reach = Plane.of(A), REACH
    for _ in range(MOVES):
        step, _ = plane.tangent(likelihood, v, values - A @ v)
        found, share, reach = moved(likelihood, v, plane, step, reach)
        v = found.v
        if share == 1 or not found.settled:
            return found
    return found._replace(settled=False)


def moved(
    likelihood: Likelihood, v: Floats, plane: Plane, step: Floats, reach: float
) -> tuple[ConstrainedMaximum, float, float]:
    """From a constrained maximum v to the one for other values, or a part of the way; which part; and the next reach.

    The step moves scores by no more than `reach`. If Newton's steps do not soon lead back to the path, it was too long.
    Where it was easy the next may be longer: scores far from zero may move far and change nothing.
    """
    size = max(likelihood.sample.reach(step), 1e-300)
    while True:
        share = min(1.0, reach / size)
        found = climbed(likelihood, v + share * step, plane)
        if found.settled or share < SHORT:
            return found, share, reach * (4.0 if found.steps <= 3 else 1.0)
        reach = share * size / 4


def climbed(likelihood: Likelihood, v: Floats, plane: Plane, steps: int = STEPS) -> ConstrainedMaximum:
    """The maximum near v among the points with the same values, by Newton's steps; shortened where they do not pay."""

    def loss(v: Floats, _: Any) -> Point:
        at = likelihood.jets(v[None])
        return Point(-float(at.values[0]), -at.gradients[0])

    def step(v: Floats, at: Point) -> Floats:
        return plane.step(likelihood, v, -at.gradient) if np.isfinite(at.gradient).all() else np.nan * v

    def settled(state: State) -> bool:
        return bool(state.decrement <= SETTLED + ROUNDING * abs(state.at.value))

    found = minimum(loss, v, OwnStep(step), settled, steps, damping=Damping(least=0.5, shortest=SHORTEST))
    state, near = found.state, NEAR_STALLED if found.state.stalled else NEAR
    good = bool(np.isfinite(state.at.gradient).all()) and (found.settled or state.decrement <= near)
    return ConstrainedMaximum(state.v, -state.at.value, good, found.steps)
