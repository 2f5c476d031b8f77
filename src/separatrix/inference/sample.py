"""The rows that a likelihood is made of, in coordinates, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Any, NamedTuple

import numpy as np

from ..data.frame import Frame
from ..numerics.arrays import Floats
from ..numerics.threads import one_blas_thread, ordered_map

BLOCK, NUMBERS = 8192, 1 << 21
"""Rows in a block, and numbers that a block may make of them."""


class Block(NamedTuple):
    """Some rows: coordinates z, targets t, and how much each counts."""

    Z: Floats
    target: Floats
    """The probability of the second class; of K classes a column for each."""
    cost: Floats


@dataclass(frozen=True)
class Sample:
    """Rows X, their targets, their weights (none: all one), and the frame in which they are seen."""

    X: Any
    target: Floats
    cost: Floats
    frame: Frame
    threads: int = 1

    def __len__(self) -> int:
        return len(self.X)

    @property
    def width(self) -> int:
        """Weights of one class, the intercept's counted."""
        return self.frame.width

    @property
    def total(self) -> float:
        """Σᵢcᵢ."""
        return float(self.cost.sum()) if self.cost.size else float(len(self))

    def blocks(self, made: int = 1) -> Iterator[slice]:
        """A division of the rows by their number alone, so that sums have the same bits for any number of threads.

        `made` says how many numbers are made of each row.
        """
        size = max(256, min(BLOCK, NUMBERS // max(made, self.width)))
        return (slice(lo, min(lo + size, len(self))) for lo in range(0, len(self), size))

    def block(self, rows: slice) -> Block:
        """These rows in the frame."""
        cost = self.cost[rows] if self.cost.size else np.ones(rows.stop - rows.start)
        return Block(self.frame.coordinates(self.X[rows]), self.target[rows], cost)

    def fold(self, f: Callable[[Block], Any], made: int = 1) -> Any:
        """f(block) + f(block) + …, in order; the first result is added to in place."""
        slices = list(self.blocks(made))
        with one_blas_thread(), ordered_map(min(self.threads, len(slices))) as each:
            return reduce(iadd, each(lambda rows: f(self.block(rows)), slices))

    def reach(self, step: Floats) -> float:
        """The most by which a step moves a score."""
        each = step.reshape(-1, self.width)
        return float(max(np.abs(self.block(rows).Z @ each.T).max(initial=0.0) for rows in self.blocks(len(each))))
