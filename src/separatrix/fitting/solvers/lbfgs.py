"""L-BFGS, its first guess of the Hessian a Cholesky factor, or a diagonal where the weights are many."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import daxpy

from ...numerics.arrays import Floats
from ...numerics.linalg import steady_factor
from .descent import Direction
from .newton import bounded

MEMORY = 10
"""Steps that are remembered upon a factor."""
NEWTON_GAIN = 100.0
"""By how much a pass shrinks the decrement while a fresh Hessian lasts."""
FEWEST_STEPS = 5
"""Steps that are remembered upon a diagonal, at the least."""
MOST_STEPS = 20
"""Steps that are remembered upon a diagonal, at the most."""
ROOM = 1 << 24
"""Numbers that these steps may take, if they are more than the fewest."""


Pairs = deque[tuple[Floats, Floats, float]]
"""The last steps s, the changes y of the gradient along them, and sᵀy."""


class Solves(Protocol):
    """What can solve Hd = g, exactly or nearly."""

    def solve(self, g: Floats) -> Floats:
        """d with Hd ≈ g."""


class PreconditionedLBFGS(Direction):
    """d = −Bg, B the L-BFGS inverse Hessian built from the last steps upon a factor of H.

    The factor may come from a sample of the rows: it only steers. A Hessian of all rows is asked for when the passes
    that the present pace still needs outnumber those of a fresh start, its own cost (in passes) included.
    """

    def __init__(
        self, factor: Solves | None, plain: Any, full: Any, refresh_cost: float,
        factorise: Callable[[Any], Solves] = steady_factor,
    ) -> None:  # fmt: skip
        self._factor, self._plain, self._full, self._cost = factor, plain, full, refresh_cost
        self._factorise = factorise
        self._pairs: Pairs = deque(maxlen=MEMORY)
        self.ask = full if factor is None else plain
        self._last = math.inf
        self.target = 0.0
        """The decrement that will do."""

    @property
    def factor(self) -> Solves | None:
        """The factor in use."""
        return self._factor

    def __call__(self, at: Any) -> Floats:
        if at.hessian is not None:
            self._factor = self._factorise(at.hessian)
            self._pairs.clear()
        d = bounded(-self.solve(at.gradient), at)
        self.ask = self._full if self._too_slow(-float(at.gradient @ d)) else self._plain
        return d

    def solve(self, g: Floats) -> Floats:
        """Bg: what the factor and the last steps together make of H⁻¹g."""
        assert self._factor is not None
        return two_loops(self._pairs, g, self._factor.solve)

    def learn(self, move: Floats, before: Any, after: Any) -> None:
        bend = after.gradient - before.gradient
        product = float(move @ bend)
        if product > 0:
            self._pairs.append((move, bend, product))

    def _too_slow(self, decrement: float) -> bool:
        gain, self._last = self._last / max(decrement, 1e-300), decrement
        ahead = math.log(max(decrement / max(self.target, 1e-300), 1.0))
        if math.isinf(gain) or ahead == 0:
            return False
        if gain <= 1.2:
            return True
        return ahead / math.log(gain) > self._cost + 1 + ahead / math.log(NEWTON_GAIN)


class DiagonalLBFGS(Direction):
    """d = −Bg, B the L-BFGS inverse Hessian built from the last steps upon γ diag(H)⁻¹.

    The diagonal is looked at again after 1, 2, 4, 8, … steps: it changes less and less. Correlations of many columns
    stand beside it, so γ = yᵀs / yᵀdiag(H)⁻¹y of the last step s, y the change of the gradient, shrinks it.
    """

    def __init__(
        self, plain: Any, full: Any, diagonal: Callable[[Any], Floats], among: Callable[[Floats], Floats]
    ) -> None:
        self._plain, self._full, self._diagonal_of, self._among = plain, full, diagonal, among
        self._pairs: Pairs = deque(maxlen=MOST_STEPS)
        self._diagonal: Floats = np.ones(1)
        self._steps, self._next = 0, 0
        self.ask = full

    def __call__(self, at: Any) -> Floats:
        if at.hessian is not None:
            self._diagonal = np.maximum(self._diagonal_of(at.hessian), 1e-300)
            self._next, self.ask = max(1, 2 * self._steps), self._plain
            self._pairs = deque(self._pairs, max(FEWEST_STEPS, min(MOST_STEPS, ROOM // at.gradient.size)))
        return bounded(-self.solve(at.gradient), at)

    def learn(self, move: Floats, before: Any, after: Any) -> None:
        self._steps += 1
        self.ask = self._full if self._steps >= self._next else self._plain
        self.note(move, after.gradient - before.gradient)

    def note(self, move: Floats, bend: Floats) -> None:
        """Take note of what the Hessian makes of a move."""
        product = float(move @ bend)
        if product > 0:
            self._pairs.append((move, bend, product))

    def solve(self, g: Floats) -> Floats:
        """Bg: what the diagonal and the last steps together make of H⁻¹g, among the weights that are sought."""
        scale = 1.0
        if self._pairs:
            _, bend, product = self._pairs[-1]
            scale = product / float(bend @ self._among(bend / self._diagonal))
        return two_loops(self._pairs, g, lambda q: self._among(q * (scale / self._diagonal)))


def two_loops(pairs: Pairs, gradient: Floats, first: Callable[[Floats], Floats]) -> Floats:
    """Bg, B the inverse Hessian that L-BFGS makes of the last steps and of a first guess of it."""
    q, back = gradient.copy(), []
    for move, bend, product in reversed(pairs):
        back.append(float(move @ q) / product)
        q = daxpy(bend, q, a=-back[-1])
    q = first(q)
    for (move, bend, product), a in zip(pairs, reversed(back), strict=True):
        q = daxpy(move, q, a=a - float(bend @ q) / product)
    return q
