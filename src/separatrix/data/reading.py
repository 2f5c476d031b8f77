"""Reading rows, whether they are dense or mostly zeros: a few as an array, their scores, the ranges of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats, Indices
from .mapped import MappedRows
from .sparse import Sparse


def written(X: Any, rows: Any, columns: Indices | None = None) -> NDArray[Any]:
    """Some rows, all columns of them or some in ascending order, as an array in the precision of X."""
    part = X[rows].dense() if isinstance(X, MappedRows) else X[rows]
    if not isinstance(part, Sparse):
        return part if columns is None else part[:, columns]  # type: ignore[no-any-return]
    return (part if columns is None else part.select(columns)).dense()


def ranges(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest number of each column, the zeros counted; NaN where there is one."""
    if isinstance(X, MappedRows):
        return X.extremes()
    if not isinstance(X, Sparse):
        return X.min(axis=0), X.max(axis=0)
    from .compiled.csr_sums import range_kernel

    low, high, counts = np.full(X.width, np.inf), np.full(X.width, -np.inf), np.zeros(X.width, np.int64)
    kernel = range_kernel(X.dtype.name, X.columns.dtype.name)
    kernel(X.values, X.columns, int(X.starts[0]), int(X.starts[-1]), low, high, counts)
    some = counts < len(X)
    return np.where(some, np.minimum(low, 0.0), low), np.where(some, np.maximum(high, 0.0), high)


def largest(X: Any) -> Floats:
    """maxᵢ |xᵢⱼ| of each column."""
    low, high = ranges(X)
    return np.maximum(np.abs(low), np.abs(high)).astype(np.float64)


def occurring(X: Any) -> Indices:
    """The columns of X; of rows that are mostly zeros those that hold another number, or if there is none the first."""
    if not isinstance(X, Sparse):
        return np.arange(X.shape[1])
    there = np.zeros(X.width, bool)
    there[X.named[X.numbers != 0]] = True
    return np.flatnonzero(there) if there.any() else np.zeros(1, np.intp)


def finite(X: Any) -> bool:
    """Whether there is neither NaN nor infinity."""
    return X.finite() if isinstance(X, Sparse | MappedRows) else bool(np.isfinite(X).all())


def numbers_of(X: Any, row: int) -> tuple[Indices, Floats]:
    """The columns of a row that are not zero, and their numbers."""
    part = X[row : row + 1].dense() if isinstance(X, MappedRows) else X[row : row + 1]
    if isinstance(part, Sparse):
        there = part.numbers != 0
        return part.named[there].astype(np.intp), part.numbers[there].astype(np.float64)
    found = np.flatnonzero(part[0])
    return found, part[0][found].astype(np.float64)
