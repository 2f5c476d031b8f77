"""Where rows are: what every place of rows answers, so that nothing above this room need know it.

A pass over the rows goes block by block. What is done with a block is a function f(rows, lo, hi) of rows in memory, of
which it may read those from lo to hi; what it returns is added up, or looked at, in the order of the blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from operator import iadd
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..numerics.threads import Map
from .block import Block

if TYPE_CHECKING:
    from .rows import Rows

LANES = 16
"""Sums that are added up side by side in a pass over whole rows: a term meets a rounding for every sixteenth row."""
ROUNDINGS = 100
"""Roundings of a sum beside those for its terms."""


class Source(ABC):
    """Rows, their targets and their costs, wherever they are."""

    compiled: bool = False
    """Whether there are rows enough for the compiled passes."""
    at_hand: bool = False
    """Whether all rows are in memory."""
    few: bool = False
    """Whether passes may share a copy of all rows in their frame."""
    packed: Any = None
    """The rows without their zeros, where there is such a copy of all of them."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    @abstractmethod
    def kind(self) -> Block:
        """A block of these rows, or none of them: to be asked how such blocks are read, never for its numbers."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """C = Σᵢcᵢ."""

    @property
    @abstractmethod
    def counting(self) -> int:
        """How many rows do not cost nothing."""

    @abstractmethod
    def each(self, f: Callable[[Rows, int, int], Any], *, blas: bool = False) -> Iterator[Any]:
        """f(block), f(block), …, in the order of the blocks; a row of two signs comes twice. `blas`: f calls BLAS."""

    @abstractmethod
    def sample(self, size: int, seed: int) -> Rows:
        """About `size` rows, in random order; all of them where that is no more."""

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Rows:
        """These rows, in memory."""

    @abstractmethod
    def alike(self) -> Self:
        """These rows, all of one class: for what hangs on X alone."""

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """How many numbers a pass reads."""
        return self.shape[0] * self.shape[1]

    @property
    def longest_sum(self) -> float:
        """How many roundings a term of a sum over the rows can meet."""
        return len(self) / LANES + ROUNDINGS

    def fold(self, f: Callable[[Rows, int, int], Any], *, blas: bool = False) -> Any:
        """f(block) + f(block) + …, in order; the first result is added to in place."""
        return reduce(iadd, self.each(f, blas=blas))

    def gathered(self) -> Rows:
        """All rows, in memory: for those who need all of them at once."""
        return self.take(np.arange(len(self)))

    def any(self) -> bool:
        """Whether a number is not zero."""
        return any(self.each(lambda rows, lo, hi: rows.block[lo:hi].any()))

    def passed_by(self, each: Map) -> Self:
        """These rows, their blocks handed out by `each` where they are in memory."""
        return self

    def pack(self, classes: int, dtype: str = "float64") -> Self:
        """These rows with a copy without their zeros, if that pays for products with so many classes."""
        return self
