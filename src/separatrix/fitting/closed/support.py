"""Whether all numbers of X are such as their columns may hold: one read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.source import Source
from ...numerics.arrays import Floats

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


def first_outside(rows: Source, support: Support) -> tuple[int, int] | None:
    """The row and column of the first number that is not allowed, in rows that count; None if there is none."""
    done = 0
    for found, count in () if support.free else rows.each(partial(_first_of_run, support)):
        if found is not None:
            return done + found[0], found[1]
        done += count
    return None


def _first_of_run(support: Support, rows: Rows, lo: int, hi: int) -> tuple[tuple[int, int] | None, int]:
    """Where it is among the rows lo ≤ i < hi, and how many these are."""
    X, cost = rows.block, rows.cost
    if rows.compiled and X.at_hand and X.in_place:
        from .moment_kernels import outside_kernel

        look = outside_kernel(X.dtype.name, support.kind)
        if not look(X.readable, cost, lo, hi, support.lowest, support.highest, support.whole.astype(float)):
            return None, hi - lo
    return X[lo:hi].first(support.wrong, cost[lo:hi] > 0 if cost.size else None), hi - lo
