"""L-BFGS whose first guess of the Hessian is a Cholesky factor."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from scipy.linalg.blas import daxpy

from ...numerics.arrays import Floats
from ...numerics.linalg import steady_factor
from .descent import Direction, bounded

MEMORY = 10
NEWTON_GAIN = 100.0
"""By how much a pass shrinks the decrement while a fresh Hessian lasts."""


Pairs = deque[tuple[Floats, Floats, float]]
"""The last steps s, the changes y of the gradient along them, and sᵀy."""


class Solves(Protocol):
    """What can solve Hd = g, exactly or nearly."""

    def solve(self, g: Floats) -> Floats:
        """d with Hd ≈ g."""


class Preconditioned(Direction):
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
        self._refresh = factor is None
        self._last = math.inf
        self.target = 0.0
        """The decrement that will do."""

    @property
    def factor(self) -> Solves | None:
        """The factor in use."""
        return self._factor

    @property
    def ask(self) -> Any:
        return self._full if self._refresh else self._plain

    def __call__(self, at: Any) -> Floats:
        if at.hessian is not None:
            self._factor = self._factorise(at.hessian)
            self._pairs.clear()
        d = bounded(-self.solve(at.gradient), at)
        self._refresh = self._too_slow(-float(at.gradient @ d))
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
