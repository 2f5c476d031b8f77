"""L-BFGS upon a diagonal, and upon a factor of the Hessian from where the passes ahead would cost more than it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from .lbfgs import FEWEST_STEPS, MEMORY, MOST_STEPS, ROOM, PreconditionedLBFGS, Solves, two_loops
from .newton import bounded

LOOK_BACK = 8
"""Points over which the pace is told."""
LATELY = 4
"""Points over which curvatures must have settled before a factor is made of them."""
RESTLESS = 0.3
"""The most that curvatures may have changed lately, as a part of their sum, for a factor that costs little."""
SETTLED = 0.1
"""The same for a factor that costs much: whether one made now will still do later."""
DEAR = 8.0
"""The passes that a factor may cost for each unit of that change."""
EVEN_SO = 60
"""Points after which a factor is made of curvatures that have not settled."""
STALE = 0.03
"""The change of the curvatures from which on a new factor may be better than the old one."""
EARNED = 0.3
"""The part of its cost that a factor must have served, in passes, before it is made again."""
GAIN = 2.0
"""What the logarithm of the decrement loses in a step upon a fresh factor (measured: 1.5 to 4)."""
FEWEST = 4
"""Steps upon a factor, at the least."""


class FactorCost(NamedTuple):
    """What a factor costs, in passes over the rows."""

    first: float
    again: float
    """With other curvatures."""
    step: float
    """A pass, and a solution with the factor."""


class PatientLBFGS(PreconditionedLBFGS):
    """d = −Bg, B the L-BFGS inverse Hessian upon γ diag(H)⁻¹, γ = yᵀs / yᵀdiag(H)⁻¹y of the last step, or a factor.

    The first move is along the diagonal's own direction, as far as the curvature there allows: many columns that go
    together bend more than each by itself. A jet's Hessian is the curvatures of the rows, which tell whether a factor
    made of them will still serve at the end.
    """

    def __init__(
        self, ask: Any, diagonal: Callable[[Floats], Floats], product: Callable[[Floats, Floats], Floats],
        factorise: Callable[[Floats], Solves], cost: FactorCost,
    ) -> None:  # fmt: skip
        super().__init__(None, ask, ask, cost.first, factorise)
        self._diagonal_of, self._product, self._costs = diagonal, product, cost
        self._curvatures: deque[Floats] = deque(maxlen=LATELY + 1)
        self._decrements: deque[float] = deque(maxlen=LOOK_BACK + 1)
        self._made_of: Floats | None = None
        self._points = 0

    def __call__(self, at: Any) -> Floats:
        if not self._points:
            self._diagonal = self._diagonal_of(at.hessian)
            self._pairs = deque(maxlen=max(FEWEST_STEPS, min(MOST_STEPS, ROOM // at.gradient.size)))
            move = at.gradient / self._diagonal
            self._note(move, self._product(self.here, move))
        self._points += 1
        self._curvatures.append(at.hessian)
        d = bounded(-self.solve(at.gradient), at)
        self._decrements.append(-float(at.gradient @ d))
        if not self._pays():
            return d
        self._factor, self._made_of = self._factorise(at.hessian), at.hessian
        self._pairs = deque(maxlen=MEMORY)
        self._decrements.clear()
        self._points = 1
        return bounded(-self.solve(at.gradient), at)

    def solve(self, g: Floats) -> Floats:
        """Bg: what the diagonal or the factor and the last steps together make of H⁻¹g."""
        if self._factor is not None:
            return two_loops(self._pairs, g, self._factor.solve)
        scale = 1.0
        if self._pairs:
            _, bend, product = self._pairs[-1]
            scale = product / float(bend @ (bend / self._diagonal))
        return two_loops(self._pairs, g, lambda q: q * (scale / self._diagonal))

    def learn(self, move: Floats, before: Any, after: Any) -> None:
        self._note(move, after.gradient - before.gradient)

    def _note(self, move: Floats, bend: Floats) -> None:
        product = float(move @ bend)
        if product > 0:
            self._pairs.append((move, bend, product))

    def _pays(self) -> bool:
        """Whether a factor made now saves more passes than it costs."""
        cost = self._costs.first if self._made_of is None else self._costs.again
        each = self._costs.step
        ahead = math.log(max(self._decrements[-1] / max(self.target, 1e-300), 1.0))
        if ahead == 0 or len(self._decrements) <= (LOOK_BACK if self._made_of is None else FEWEST):
            return False
        pace = math.log(max(self._decrements[0] / self._decrements[-1], 1.01)) / (len(self._decrements) - 1)
        now = 1.0 if self._made_of is None else each
        if now * ahead / pace <= cost + each * (FEWEST + ahead / GAIN):
            return False
        latest = self._curvatures[-1]
        if self._made_of is not None:
            return self._points * each >= EARNED * cost and changed(self._made_of, latest) > STALE
        allowed = min(RESTLESS, max(SETTLED, DEAR / cost))
        return self._points >= EVEN_SO or changed(self._curvatures[0], latest) <= allowed


def changed(before: Floats, now: Floats) -> float:
    """Σᵢ |hᵢ − h′ᵢ| / Σᵢ hᵢ."""
    return float(np.abs(now - before).sum()) / max(float(now.sum()), 1e-300)
