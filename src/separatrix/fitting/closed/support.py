"""Whether all numbers of X are such as their columns may hold: one read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Sparse
from ...numerics.arrays import Floats
from ...numerics.threads import ordered_map, thread_count

COMPILE_FROM = 400_000
"""Numbers from which the compiled look repays loading it."""
RUNS = 16
"""Parts of X."""
BLOCK = 1 << 18
"""Numbers in a block of the plain look."""


PAIR, LOW, ANY = 0, 1, 2
"""Two numbers are allowed; all that are not too low; what the general rule says."""


@dataclass(frozen=True, eq=False)
class Support:
    """lowest ≤ x ≤ highest in each column, whole numbers where `whole`; NaN is no number, and allowed."""

    lowest: Floats
    highest: Floats
    whole: NDArray[np.bool_]

    @property
    def free(self) -> bool:
        """Whether anything goes."""
        return bool(np.isneginf(self.lowest).all() and np.isposinf(self.highest).all() and not self.whole.any())

    @property
    def kind(self) -> int:
        """What is to be looked at, the same for all columns: PAIR, LOW, or else ANY."""
        if self.whole.all() and (self.highest == self.lowest + 1).all():
            return PAIR
        return LOW if not self.whole.any() and np.isposinf(self.highest).all() else ANY

    def wrong(self, X: Any, columns: Any = slice(None)) -> NDArray[np.bool_]:
        """Where a number is not allowed."""
        lowest, highest, whole = self.lowest[columns], self.highest[columns], self.whole[columns]
        return np.less(X, lowest) | np.greater(X, highest) | (whole & (X - np.floor(X) > 0))  # type: ignore[no-any-return]


def first_outside(X: Any, cost: Floats, support: Support) -> tuple[int, int] | None:
    """The row and column of the first number that is not allowed, in rows that count; None if there is none."""
    if support.free:
        return None
    if isinstance(X, Sparse):
        return _first_of_sparse(X, cost, support)
    if X.size < COMPILE_FROM or not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return _first(X, cost, support, 0, len(X))
    from .moment_kernels import outside_kernel

    cuts = np.linspace(0, len(X), RUNS + 1).astype(int).tolist()
    look, jobs = outside_kernel(X.dtype.name, support.kind), list(pairwise(cuts))
    arguments = (support.lowest, support.highest, support.whole.astype(float))
    with ordered_map(thread_count(None)) as each:
        suspect = list(each(lambda job: look(X, cost, *job, *arguments), jobs))
    found = (_first(X, cost, support, *job) for job, some in zip(jobs, suspect, strict=True) if some)
    return next((each for each in found if each is not None), None)


def _first(X: Any, cost: Floats, support: Support, lo: int, hi: int) -> tuple[int, int] | None:
    size = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(lo, hi, size):
        end = min(start + size, hi)
        wrong = support.wrong(X[start:end])
        if cost.size:
            wrong &= (cost[start:end] > 0)[:, None]
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            return start + i, j
    return None


def _first_of_sparse(X: Sparse, cost: Floats, support: Support) -> tuple[int, int] | None:
    """Among the numbers that are there; then, where a zero is not allowed, row by row."""
    counts = cost > 0 if cost.size else np.ones(len(X), bool)
    row = np.repeat(np.arange(len(X)), np.diff(X.starts))
    wrong = support.wrong(X.numbers, X.named) & counts[row]
    if wrong.any():
        place = int(np.argmax(wrong))
        return int(row[place]), int(X.named[place])
    for j in np.flatnonzero(support.wrong(np.zeros((1, X.shape[1])))[0]):
        there = np.zeros(len(X), bool)
        there[row[X.named == j]] = True
        if (counts & ~there).any():
            return int(np.argmax(counts & ~there)), int(j)
    return None
