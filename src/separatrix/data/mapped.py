"""Rows of features that are made when they are read, a block at a time: the table of them never exists as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .maps.maps import FeatureMap

BLOCK = 1 << 19
"""Features that are made together where they are used once."""


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Φ(xᵢ) for the rows xᵢ of a table, dense or mostly zeros.

    It reads like an array where the rest of the library looks at rows: `len`, `shape`, `dtype`, rows by slices (views)
    and by indices (copies of the rows x), products with weights. `dense` makes the features: of a block of rows.
    """

    raw: Any
    """The rows x: an array, or `Sparse`."""
    map: FeatureMap

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.raw), self.map.width_out

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def size(self) -> int:
        """How many features are made when all rows are read."""
        return len(self.raw) * self.map.width_out

    @property
    def dtype(self) -> Any:
        """Features are made in double precision."""
        return np.dtype(np.float64)

    def __getitem__(self, rows: Any) -> MappedRows:
        return replace(self, raw=self.raw[rows])

    def dense(self) -> Floats:
        """The features of these rows."""
        return self.map.expand(self.raw.dense() if hasattr(self.raw, "dense") else self.raw)

    def blocks(self, numbers: int = BLOCK) -> Iterator[tuple[slice, Floats]]:
        """All rows, some at a time."""
        size = max(16, numbers // max(1, self.map.width_out))
        for lo in range(0, len(self), size):
            rows = slice(lo, min(lo + size, len(self)))
            yield rows, self[rows].dense()

    def __matmul__(self, weights: Any) -> Floats:
        """Φ(X)W."""
        W = np.asarray(weights, dtype=np.float64)
        return np.concatenate([np.empty((0, *W.shape[1:])), *(block @ W for _, block in self.blocks())])

    def any(self) -> bool:
        """Whether a feature is not zero."""
        return any(bool(block.any()) for _, block in self.blocks())

    def finite(self) -> bool:
        """Whether there is neither NaN nor infinity."""
        return all(bool(np.isfinite(block).all()) for _, block in self.blocks())

    def extremes(self) -> tuple[Floats, Floats]:
        """The least and the largest number of each feature."""
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        for _, block in self.blocks():
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return low, high
