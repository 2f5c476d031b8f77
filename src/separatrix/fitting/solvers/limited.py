"""L-BFGS for so many weights that its first guess of the Hessian is a diagonal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .descent import Direction, bounded
from .preconditioned import Pairs, two_loops

LEAST, MOST, ROOM = 5, 20, 1 << 24
"""How many steps are remembered, and so many numbers of them at the most."""


class LimitedMemory(Direction):
    """d = −Bg, B the L-BFGS inverse Hessian built from the last steps upon γ diag(H)⁻¹.

    The diagonal is looked at again after 1, 2, 4, 8, … steps: it changes less and less. Correlations of many columns
    stand beside it, so γ = yᵀs / yᵀdiag(H)⁻¹y of the last step s, y the change of the gradient, shrinks it.
    """

    def __init__(
        self, plain: Any, full: Any, diagonal: Callable[[Any], Floats], among: Callable[[Floats], Floats]
    ) -> None:
        self._plain, self._full, self._diagonal_of, self._among = plain, full, diagonal, among
        self._pairs: Pairs = deque(maxlen=MOST)
        self._diagonal: Floats = np.ones(1)
        self._steps, self._next = 0, 0

    @property
    def ask(self) -> Any:
        return self._full if self._steps >= self._next else self._plain

    def __call__(self, at: Any) -> Floats:
        if at.hessian is not None:
            self._diagonal = np.maximum(self._diagonal_of(at.hessian), 1e-300)
            self._next = max(1, 2 * self._steps)
            self._pairs = deque(self._pairs, max(LEAST, min(MOST, ROOM // at.gradient.size)))
        return bounded(-self.solve(at.gradient), at)

    def learn(self, move: Floats, before: Any, after: Any) -> None:
        self._steps += 1
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
