"""The mistake log: all that a perceptron's run leaves behind. Its weights at any time are sums over the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Integers


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
