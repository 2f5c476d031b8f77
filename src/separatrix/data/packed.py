"""When it pays to leave out the zeros of dense rows, and doing so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sparse import Sparse

DENSITY, LOOKED_AT, FEWEST_COLUMNS, MOST_CLASSES = 0.25, 1024, 32, 32
"""At most so many of the numbers may be other than zero for this to pay, judged by so many rows."""


def pays(X: NDArray[Any], classes: int) -> bool:
    """Whether so much of X is zero that its products with K classes are faster without."""
    if X.shape[1] < FEWEST_COLUMNS or classes > MOST_CLASSES or not X.flags.c_contiguous:
        return False
    some = X[:: max(1, len(X) // LOOKED_AT)][:LOOKED_AT]
    return bool(np.count_nonzero(some) <= DENSITY * some.size)


def pack(X: NDArray[Any], runs: list[tuple[int, int]], each: Any, dtype: str = "float64") -> Sparse | None:
    """X without its zeros, run by run; None if they are fewer than a sample promised."""
    from .compiled.csr_products import count_kernel, fill_kernel

    count, fill = count_kernel(X.dtype.name), fill_kernel(X.dtype.name, dtype)
    starts = np.zeros(len(X) + 1, np.int64)
    list(each(lambda run: count(X, *run, starts[1:]), runs))
    np.cumsum(starts, out=starts)
    if starts[-1] > 1.2 * DENSITY * X.size:
        return None
    values, columns = np.empty(starts[-1], dtype), np.empty(starts[-1], np.int32)
    list(each(lambda run: fill(X, *run, starts, values, columns), runs))
    return Sparse(values, columns, starts, X.shape[1])
