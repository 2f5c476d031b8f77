"""Third and fourth moments about the class means: what Ledoit and Wolf's shrinkage needs beside the scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Sparse
from ...numerics.arrays import Floats
from .moments import Moments

BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Fourth:
    """Σᵢ cᵢ‖xᵢ − μₖ‖⁴ and Σᵢ cᵢ‖xᵢ − μₖ‖²(xᵢ − μₖ) over the rows of each class."""

    fourth: Floats
    third: Floats

    @classmethod
    def of(cls, X: Any, target: Any, cost: Floats, moments: Moments) -> Fourth:
        """A second pass, about the means that the first one found."""
        classes, d = moments.mean.shape
        found = cls(np.zeros(classes), np.zeros((classes, d)))
        size = max(64, BLOCK // max(1, d))
        for lo in range(0, len(X), size):
            own, rows = target[lo : lo + size], X[lo : lo + size]
            here = np.asarray(rows.dense() if isinstance(rows, Sparse) else rows, dtype=np.float64)
            T = (here - moments.mean[own]) - moments.rest[own]
            if cost.size:
                T[cost[lo : lo + size] == 0] = 0.0  # whatever such a row holds, it does not count
            square = np.einsum("ij,ij->i", T, T)
            weighted = square * cost[lo : lo + size] if cost.size else square
            np.add.at(found.fourth, own, weighted * square)
            one = np.zeros((classes, len(own)))
            one[own, np.arange(len(own))] = weighted
            found.third[:] += one @ T
        return found

    def about(self, moments: Moments, other: Moments) -> Fourth:
        """The same about other means: of t + δ for t = x − μₖ, δ = μₖ − μ′ₖ, by S, the third moments and n."""
        delta = (moments.mean - other.mean) + (moments.rest - other.rest)
        delta[moments.weight == 0] = 0.0
        n, D = moments.weight, (delta**2).sum(axis=1)
        S_delta = np.einsum("kij,kj->ki", moments.scatter, delta)
        trace = np.einsum("kii->k", moments.scatter)
        bent = (delta * (4 * S_delta + 4 * self.third)).sum(axis=1)
        fourth = self.fourth + bent + n * D**2 + 2 * D * trace
        third = self.third + 2 * S_delta + (trace + n * D)[:, None] * delta
        return Fourth(fourth, third)

    def grown(self, classes: Any, count: int) -> Fourth:
        """The same with room for more classes."""
        made = Fourth(np.zeros(count), np.zeros((count, self.third.shape[1])))
        made.fourth[classes], made.third[classes] = self.fourth, self.third
        return made


def joined(one: tuple[Fourth, Moments], other: tuple[Fourth, Moments], both: Moments) -> Fourth:
    """Of both sets of rows, about the means of all; the moments must be each class's own, in the same order."""
    a, b = (fourth.about(moments, both) for fourth, moments in (one, other))
    return Fourth(a.fourth + b.fourth, a.third + b.third)
