"""Rows that are mostly zeros, without the zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DENSITY, LOOKED_AT, FEWEST_COLUMNS, MOST_CLASSES = 0.25, 1024, 32, 32
"""At most so many of the numbers may be other than zero for this to pay, judged by so many rows."""


@dataclass(frozen=True)
class Packed:
    """The numbers that are not zero, row after row, with their columns."""

    values: NDArray[Any]
    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    width: int

    def _padded(self, classes: int) -> tuple[int, int]:
        """How many vectors hold so many classes, and how many lanes they have."""
        from ..compiled_sparse import LANES

        lanes = LANES[self.values.dtype.name]
        vectors = -(-classes // lanes)
        return vectors, vectors * lanes

    def _parts(self, classes: int) -> list[slice]:
        """The classes, as many at a time as the kernels take."""
        from ..compiled_sparse import LANES, MOST_VECTORS

        most = MOST_VECTORS * LANES[self.values.dtype.name]
        return [slice(k, min(k + most, classes)) for k in range(0, classes, most)]

    def scores(self, weights: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        """W xᵢ for the rows lo ≤ i < hi, classes × rows."""
        return np.vstack([self._scores(weights[part], lo, hi) for part in self._parts(len(weights))])

    def pull(self, slope: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        """Σᵢ slopeᵢ xᵢᵀ over the rows lo ≤ i < hi, classes × columns."""
        return np.vstack([self._pull(slope[part], lo, hi) for part in self._parts(len(slope))])

    def _scores(self, weights: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        from ..compiled_sparse import product_kernels

        vectors, width = self._padded(len(weights))
        W = np.zeros((self.width, width), self.values.dtype)
        W[:, : len(weights)] = weights.T
        S = np.empty((hi - lo, width), self.values.dtype)
        product_kernels(self.values.dtype.name)[0](self.values, self.columns, self.starts, lo, hi, vectors, W, S)
        return S[:, : len(weights)].T

    def _pull(self, slope: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        from ..compiled_sparse import product_kernels

        vectors, width = self._padded(len(slope))
        R = np.zeros((hi - lo, width), self.values.dtype)
        R[:, : len(slope)] = slope.T
        G = np.zeros((self.width, width), self.values.dtype)
        product_kernels(self.values.dtype.name)[1](self.values, self.columns, self.starts, lo, hi, vectors, R, G)
        return G[:, : len(slope)].T


def pays(X: NDArray[Any], classes: int) -> bool:
    """Whether so much of X is zero that its products with K classes are faster without."""
    if X.shape[1] < FEWEST_COLUMNS or classes > MOST_CLASSES or not X.flags.c_contiguous:
        return False
    some = X[:: max(1, len(X) // LOOKED_AT)][:LOOKED_AT]
    return bool(np.count_nonzero(some) <= DENSITY * some.size)


def pack(X: NDArray[Any], runs: list[tuple[int, int]], each: Any, dtype: str = "float64") -> Packed | None:
    """X without its zeros, run by run; None if they are fewer than a sample promised."""
    from ..compiled_sparse import packing_kernels

    count, fill = packing_kernels(X.dtype.name, dtype)
    starts = np.zeros(len(X) + 1, np.int64)
    list(each(lambda run: count(X, *run, starts[1:]), runs))
    np.cumsum(starts, out=starts)
    if starts[-1] > 1.2 * DENSITY * X.size:
        return None
    values, columns = np.empty(starts[-1], dtype), np.empty(starts[-1], np.int32)
    list(each(lambda run: fill(X, *run, starts, values, columns), runs))
    return Packed(values, columns, starts, X.shape[1])
