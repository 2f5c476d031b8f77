"""The mistake log: all that a perceptron's run leaves behind. Its weights at any time are sums over the log."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ..data.block import block_of
from ..numerics.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class MistakeLog:
    """At step `steps[l]` row `rows[l]` was of class `own[l]` and taken for `rival[l]`: W_own rose by ηx, W_rival fell.

    Of two classes there is one vector of weights, w = W₁ = −W₀, which moved by ηyx, y = +1 if own is 1, else −1.
    Steps are counted from zero over all passes: `steps[l]` is how many rows had been looked at before.
    """

    rows: Integers
    """Which row of X, for each mistake."""
    steps: Integers
    """How many rows had been looked at before, over all passes."""
    own: Integers
    """The class of the row, as its place in `classes_`."""
    rival: Integers
    """The class it was taken for, as its place in `classes_`."""
    seen: int
    """How many steps there were in all, T."""

    @classmethod
    def empty(cls) -> MistakeLog:
        """Nothing seen."""
        none = np.empty(0, np.int64)
        return cls(none, none, none, none, 0)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def signs(self) -> NDArray[np.float64]:
        """y = ±1 of each mistake, of two classes."""
        return np.where(self.own == 1, 1.0, -1.0)

    def votes(self, tail: float = 1.0) -> Integers:
        """How many of the classifiers f̂₁, …, f̂_{T+1} had each vector of weights, the first one's own included.

        f̂ₜ is in hand before step t, f̂_{T+1} after the last; so there are len(log) + 1 counts, and they add up to T + 1.
        With a tail < 1 only the last ⌊tail·(T + 1)⌋ of them count, one at the least.  [001 slide 27]
        """
        changes = np.concatenate([[0], self.steps + 1, [self.seen + 1]])
        first = self.seen + 1 - max(1, int(tail * (self.seen + 1)))
        counts: Integers = np.diff(np.maximum(changes, first))
        return counts

    def until(self, seen: int) -> MistakeLog:
        """The log as it was after so many steps."""
        k = int(np.searchsorted(self.steps, seen))
        return MistakeLog(self.rows[:k], self.steps[:k], self.own[:k], self.rival[:k], min(seen, self.seen))

    def __add__(self, later: MistakeLog) -> MistakeLog:
        """Both logs as one; the steps of the later one go on counting."""
        return MistakeLog(
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.steps, later.steps]),
            np.concatenate([self.own, later.own]),
            np.concatenate([self.rival, later.rival]),
            max(self.seen, later.seen),
        )


# How many mistakes a perceptron can make: the bound in numbers.

NUMBERS = 1 << 20
"""Numbers of X that are looked at together."""


class MistakeBound(NamedTuple):
    """made ≤ bound = ((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ), over T passes."""

    R: float
    """The length of the longest row, in the lifted space if there is an intercept."""
    gamma: float
    """The margin that u is held to."""
    D: float
    """√Σᵢdᵢ², dᵢ = max(0, γ − yᵢuᵀxᵢ): how far the rows of one pass fall short of it together."""
    bound: float
    """What the theorem allows."""
    made: int
    """The mistakes that were made."""


def mistake_bound(leads: Floats, R: float, times: Any, start: float, rate: float, made: int) -> MistakeBound:
    """The bound of a unit direction from the leads yᵢuᵀxᵢ it gives the rows, each of which came so many `times`.

    If all leads are positive, γ is the least of them, and D = 0. Else γ is what makes the bound least. `start` is ‖w₀‖.
    [001 slides 22, 25]
    """
    least = float(leads.min())
    if least > 0:
        return MistakeBound(R, least, 0.0, bound_at(leads, R, least, times, start, rate), made)
    top = float(leads.max())
    if not top > 0:  # no row at all is on its side
        return MistakeBound(R, math.nan, math.nan, math.inf, made)
    trials = np.geomspace(1e-3 * top, 1e3 * max(top, R), 61)
    values = [bound_at(leads, R, gamma, times, start, rate) for gamma in trials]
    k = int(np.argmin(values))
    near = trials[max(k - 1, 0)], trials[min(k + 1, 60)]
    low, high = math.log(near[0]), math.log(near[1])
    found = minimize_scalar(
        lambda log: bound_at(leads, R, math.exp(log), times, start, rate), bounds=(low, high), method="bounded"
    )
    gamma = math.exp(found.x) if found.fun < values[k] else float(trials[k])
    return MistakeBound(R, gamma, shortfall(leads, gamma), bound_at(leads, R, gamma, times, start, rate), made)


def shortfall(leads: Floats, gamma: Any) -> float:
    """D = √Σᵢ max(0, γ − yᵢuᵀxᵢ)²."""
    return float(np.linalg.norm(np.maximum(0.0, gamma - leads)))


def bound_at(leads: Floats, R: float, gamma: float, times: Any, start: float, rate: float) -> float:
    """((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ): a row that comes T times falls short T times, and the squares add up.

    A start w₀ ≠ 0 costs what it takes to turn it round: (ηkγ − ‖w₀‖)² ≤ ‖w₀‖² + kη²R².
    """
    D = shortfall(np.sqrt(times) * leads, np.sqrt(times) * gamma)
    turned = 2 * start * math.sqrt(1 + D / R) / (rate * gamma) if R > 0 else 0.0
    return ((R + D) / gamma) ** 2 + turned


def longest(X: Any, lifted: bool) -> float:
    """max ‖x‖, or max ‖(x, 1)‖."""
    rows = block_of(X)
    squares = (rows[part].squares().max(initial=0.0) for part in rows.stretches(NUMBERS))
    return math.sqrt(max(0.0, *squares) + lifted)


def leads_of(X: Any, target: Any, U: Floats, lifted: bool) -> Floats:
    """yᵢuᵀxᵢ of each row; of K classes the least uᵧᵀxᵢ − uₖᵀxᵢ over the others. U has the intercepts last, if any."""
    found, X = [], block_of(X)
    for rows in X.stretches(NUMBERS):
        s = X[rows] @ U[:, : X.shape[1]].T + (U[:, -1] if lifted else 0.0)
        own = target[rows]
        if len(U) == 1:
            found.append(np.where(own == 1, s[:, 0], -s[:, 0]))
            continue
        mine = np.take_along_axis(s, own[:, None], 1)
        np.put_along_axis(s, own[:, None], -math.inf, 1)
        found.append(mine[:, 0] - s.max(axis=1))
    return np.concatenate(found)
