"""Rows in memory, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.threads import Map, one_blas_thread, ordered_map, thread_count
from .block import Block, block_of
from .source import ROUNDINGS, Source
from .sparse import Sparse

SMALL = 1 << 20
"""Numbers in X up to which it is one run."""
MEDIUM = 1 << 25
"""Numbers in X up to which it is divided into `FEW_RUNS`."""
LARGE = 1 << 28
"""Numbers in X up to which it is divided into `RUNS`; from there on into `MANY_RUNS`."""
FEW_RUNS = 12
"""Runs of X of medium size."""
RUNS = 16
"""Runs of a large X."""
MANY_RUNS = 64
"""Runs of a very large X."""
SHORTEST_RUN = 1024
"""Rows in a run, at the least."""
COMPILE_FROM = 400_000
"""Numbers in X, zeros counted, from which a compiled pass repays the 0.3 s that loading it takes."""
SHORT_RUN = 32
"""Rows in a run, at the least, where no matrix is added up."""
LIGHT_RUN = 1 << 19
"""Numbers in such a run, at the least: a run costs 25 µs, so many numbers 250."""
NEIGHBOURS = 16
"""Rows taken together into a sample: neighbours cost no more than one row that is far away."""
NONE: NDArray[np.float64] = np.empty(0)
"""No costs: every row costs one."""


@dataclass(frozen=True)
class Rows(Source):
    """Rows X, their targets y and costs c ≥ 0 (none: all one), folded run by run.

    A target is a sign −1 or +1; with many classes the index of one, or a row of probabilities. Where a row may be of
    either sign with some probability, `other` holds its costs as a row of the opposite sign: it counts as two rows.
    """

    block: Any
    """A `Block`: the rows themselves."""
    y: NDArray[Any]
    cost: NDArray[np.float64]
    map: Map = map
    compiled: bool = False
    """Whether there are, or were before a sample was taken, rows enough for the compiled pass."""
    other: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    packed: Sparse | None = None
    """X without its zeros, where it has many and they would be read often."""
    light: bool = False
    """Whether passes add up no more than a gradient: runs may then be short, so that threads share few long rows."""

    at_hand = True

    @classmethod
    def of(cls, X: Any, y: NDArray[Any] | None = None, cost: NDArray[np.float64] = NONE, **more: Any) -> Rows:
        """Rows of an array, or of a block; without targets all of one class."""
        X = block_of(X)
        return cls(X, np.ones(len(X), np.int8) if y is None else y, cost, **more)

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.block.shape  # type: ignore[no-any-return]

    @property
    def kind(self) -> Block:
        return self.block  # type: ignore[no-any-return]

    @property
    def counting(self) -> int:
        return int(np.count_nonzero(self.costs)) if self.cost.size else len(self)

    @property
    def longest_sum(self) -> float:
        if not self.block.skips_zeros:
            return super().longest_sum
        runs = [hi - lo for lo, hi in self.runs()]
        return float(max(runs) + len(runs) + ROUNDINGS)

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        return self.block.size  # type: ignore[no-any-return]

    def dense(self, lo: int = 0, hi: int | None = None) -> NDArray[Any]:
        """The rows lo ≤ i < hi as an array, zeros and all."""
        array = self.array
        return self.block[lo:hi].dense() if array is None else array[lo:hi]  # type: ignore[no-any-return]

    @cached_property
    def array(self) -> NDArray[Any] | None:
        """All rows, where they lie in memory as they are."""
        return self.block.dense() if self.block.at_hand else None

    @cached_property
    def weight(self) -> float:
        return float(self.costs.sum()) if self.cost.size else float(len(self))

    @property
    def costs(self) -> NDArray[np.float64]:
        """What each row costs as one sign or the other; none: all one."""
        return self.cost + self.other if self.other.size else self.cost

    @property
    def few(self) -> bool:  # type: ignore[override]
        """Whether the rows are an array so small that passes may share a copy of it in their frame."""
        return self.block.at_hand and not (self.compiled or self.other.size) and self.size < SMALL

    def sides(self) -> Iterator[Rows]:
        """The rows as what they are, and again with the opposite sign where they may be that too."""
        if not self.other.size:
            yield self
            return
        yield replace(self, other=self.other[:0])
        yield replace(self, y=-self.y, cost=self.other, other=self.other[:0])

    def runs(self) -> Iterator[tuple[int, int]]:
        """A fixed division of the rows, by their shape alone: the same sums for any number of threads."""
        size = self.size
        if self.light:
            count = max(1, min(RUNS, len(self) // SHORT_RUN, size // LIGHT_RUN))
        else:
            count = 1 if size < SMALL else FEW_RUNS if size < MEDIUM else RUNS if size < LARGE else MANY_RUNS
            count = max(1, min(count, len(self) // max(SHORTEST_RUN, self._rows_for_a_gradient())))
        cuts = np.linspace(0, len(self), count + 1).astype(int).tolist()
        return ((lo, hi) for lo, hi in pairwise(cuts) if lo < hi)

    def _rows_for_a_gradient(self) -> int:
        """So many rows that adding up their gradients costs little beside reading them; of a table, their Hessians."""
        return self.block.rows_for_a_gradient  # type: ignore[no-any-return]

    def each(self, f: Callable[[Rows, int, int], Any], *, blas: bool = False) -> Iterator[Any]:
        with one_blas_thread() if blas else nullcontext():
            yield from self.map(lambda job: f(*job), self._jobs())

    def _jobs(self) -> Iterator[tuple[Rows, int, int]]:
        return ((side, lo, hi) for side in self.sides() for lo, hi in self.runs())

    def sample(self, size: int, seed: int) -> Rows:
        """About `size` rows, in clusters of neighbours."""
        if size >= len(self) or len(self) < NEIGHBOURS:
            return self
        clusters = len(self) // NEIGHBOURS
        picked = np.random.default_rng(seed).permutation(clusters)[: max(1, size // NEIGHBOURS)]
        rows = (picked[:, None] * NEIGHBOURS + np.arange(NEIGHBOURS)).ravel()
        if self.cost.size and not self.costs[rows].any():  # none of them counts: rather some that do
            rows = np.random.default_rng(seed).permutation(np.flatnonzero(self.costs))[:size]
        return self.take(rows)

    def take(self, rows: NDArray[np.intp] | slice) -> Rows:
        """These rows: a copy in C order, or with a slice a view."""
        cost = np.ascontiguousarray(self.cost[rows]) if self.cost.size else self.cost
        other = np.ascontiguousarray(self.other[rows]) if self.other.size else self.other
        return replace(
            self, block=self.block[rows], y=np.ascontiguousarray(self.y[rows]), cost=cost, other=other, packed=None
        )

    def alike(self) -> Rows:
        return replace(self, y=np.ones(len(self), np.int8))

    def passed_by(self, each: Map) -> Rows:
        return replace(self, map=each)

    def gathered(self) -> Rows:
        return self

    def any(self) -> bool:
        return self.block.any()  # type: ignore[no-any-return]

    def pack(self, classes: int, dtype: str = "float64") -> Rows:
        if not self.compiled:
            return self
        return replace(self, packed=self.block.packed(classes, list(self.runs()), self.map, dtype))


@contextmanager
def in_threads(rows: Source, n_threads: int | None = None, least: int = SMALL) -> Iterator[Any]:
    """The rows, their blocks handed to threads of our own where there are so many numbers."""
    threads = thread_count(n_threads) if rows.size >= least else 1
    if threads == 1:
        yield rows
        return
    with ordered_map(threads) as each:
        yield rows.passed_by(each)
