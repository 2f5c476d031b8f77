"""A rule that separates, where there are too many weights for the search: by descent, a few passes over the rows.

It finds such a rule where a clear one exists, as most do that have more columns than rows. Finding none proves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .cases import Cases

PASSES = 200
"""The most passes."""
MORE = 4
"""Passes that are added to a rule that separates."""
CLEAR = 0.5
"""The least margin, in units of the rows' lengths, from which on no pass is added."""
SLOW = 1e-4
"""A fall of the sum, relative, with which it would not come near zero in all passes."""
MEMORY = 10
"""Steps that L-BFGS remembers."""
NUMBERS = 20_000_000
"""Numbers that L-BFGS may hold."""


def separating_rule(cases: Cases) -> Floats | None:
    """W, b with s_own > s_other for all rows, s = Wx + b: classes × (weights, intercept); None if none was found.

    By the descent of Σᵢ Σₖ [1 − (s_own − sₖ)/‖zᵢ‖]₊², z in units of the columns' root mean squares.
    """
    size = (cases.classes - 1) * (cases.block.shape[1] + 1)
    if len(np.unique(cases.row)) < len(cases) or 7 * size > NUMBERS:  # a row of two classes is on both sides
        return None
    hinges = Hinges(cases)
    memory = min(MEMORY, (NUMBERS // size - 1) // 2)
    options: Any = {"maxcor": memory, "maxfun": PASSES, "maxiter": PASSES, "ftol": SLOW, "gtol": 0.0}
    from scipy.optimize import minimize  # 0.1 s to load, and few fits need it

    descend: Any = minimize
    descend(hinges, np.zeros(size), jac=True, method="L-BFGS-B", options=options, callback=hinges.told)
    return hinges.best


class Hinges:
    """½ Σᵢ Σₖ [1 − (s_own − sₖ)/‖zᵢ‖]₊² over k ≠ own, with its gradient; it remembers the rule that parts them best."""

    def __init__(self, cases: Cases) -> None:
        self.cases, self.own = cases, cases.own
        self.block = cases.block if len(cases) == len(cases.block) else cases.block[cases.row]
        self.rest = np.flatnonzero(np.arange(cases.classes) != cases.reference)
        self.scale = self.block.root_mean_squares()
        self.length = np.sqrt(self.block.squares(self.scale) + cases.lifted)
        self.length[self.length == 0] = 1.0
        self.best: Floats | None = None
        self.nearest, self.more, self.over = 0.0, MORE, False

    def __call__(self, v: Floats) -> tuple[float, Floats]:
        """The value and the gradient at v, classes but that of reference × (weights, intercept)."""
        V = v.reshape(len(self.rest), -1)
        W, b = V[:, :-1] / self.scale, V[:, -1] * self.cases.lifted
        scores = np.zeros((len(self.block), self.cases.classes))
        scores[:, self.rest] = (self.block @ W.T + b) / self.length[:, None]
        every = np.arange(len(scores))
        margins = scores[every, self.own][:, None] - scores
        margins[every, self.own] = np.inf
        self._remember(np.column_stack([W, b]), float(margins.min()))
        short = np.maximum(1 - margins, 0.0)
        pull = short / self.length[:, None]
        pull[every, self.own] = -pull.sum(axis=1)
        pull = pull[:, self.rest]
        gradient = np.column_stack([self.block.pull(pull) / self.scale, pull.sum(axis=0) * self.cases.lifted])
        return float(np.square(short).sum()) / 2, gradient.ravel()

    def told(self, intermediate_result: object) -> None:
        """A step is over: after the last one that is wanted SciPy ends the descent."""
        if self.over:
            raise StopIteration

    def _remember(self, rule: Floats, nearest: float) -> None:
        if self.over:
            return
        if nearest > self.nearest:
            self.best, self.nearest = np.zeros((self.cases.classes, rule.shape[1])), nearest
            self.best[self.rest] = rule
        if self.best is not None:
            self.more -= 1
            self.over = self.nearest >= CLEAR or self.more < 0
