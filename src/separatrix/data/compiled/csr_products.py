"""The compiled products of K classes with rows that are mostly zeros: only what is not zero is read.

The weights of a column lie side by side, K of them in vector lanes, so that one number of X meets all classes at once.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload

from ...numerics import lanes
from ...numerics.jit import INLINED, kernel, read, write
from ...numerics.lanes import instructions

MOST_VECTORS = 4
"""Vectors of classes that are worked on together."""


def _row_products(count: int) -> Any:
    """Sᵣ = Σₑ valuesₑ W[columnsₑ], so many vectors of classes long."""

    def products(values, columns, first, last, W, S, r):  # type: ignore[no-untyped-def]
        """For compiled code alone."""

    @overload(products, jit_options=INLINED)
    def _(values, columns, first, last, W, S, r):  # type: ignore[no-untyped-def]
        gather = instructions().gather(count)
        return lambda values, columns, first, last, W, S, r: gather(values, columns, first, last, W, S, r)

    return products


def _row_sums(count: int) -> Any:
    """G[columnsₑ] ← G[columnsₑ] + valuesₑ Rᵣ for every e, so many vectors of classes long."""

    def sums(values, columns, first, last, R, r, G):  # type: ignore[no-untyped-def]
        """For compiled code alone."""

    @overload(sums, jit_options=INLINED)
    def _(values, columns, first, last, R, r, G):  # type: ignore[no-untyped-def]
        scatter = instructions().scatter(count)
        return lambda values, columns, first, last, R, r, G: scatter(values, columns, first, last, R, r, G)

    return sums


_gather_1, _gather_2, _gather_3, _gather_4 = (_row_products(count) for count in range(1, MOST_VECTORS + 1))
_scatter_1, _scatter_2, _scatter_3, _scatter_4 = (_row_sums(count) for count in range(1, MOST_VECTORS + 1))


def _scores(values, columns, starts, lo, hi, vectors, W, S):  # type: ignore[no-untyped-def]
    """S = X W over the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        first, last, r = starts[i], starts[i + 1], i - lo
        if vectors == 1:
            _gather_1(values, columns, first, last, W, S, r)
        elif vectors == 2:
            _gather_2(values, columns, first, last, W, S, r)
        elif vectors == 3:
            _gather_3(values, columns, first, last, W, S, r)
        else:
            _gather_4(values, columns, first, last, W, S, r)


def _pull(values, columns, starts, lo, hi, vectors, R, G):  # type: ignore[no-untyped-def]
    """G ← G + Xᵀ R over the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        first, last, r = starts[i], starts[i + 1], i - lo
        if vectors == 1:
            _scatter_1(values, columns, first, last, R, r, G)
        elif vectors == 2:
            _scatter_2(values, columns, first, last, R, r, G)
        elif vectors == 3:
            _scatter_3(values, columns, first, last, R, r, G)
        else:
            _scatter_4(values, columns, first, last, R, r, G)


def _count(X, lo, hi, counts):  # type: ignore[no-untyped-def]
    """How many numbers of each row are not zero; a NaN counts."""
    for i in range(lo, hi):
        found = 0
        for j in range(X.shape[1]):
            found += 1 if X[i, j] != 0 else 0
        counts[i] = found


def _fill(X, lo, hi, starts, values, columns):  # type: ignore[no-untyped-def]
    """The numbers of each row that are not zero, and where they stood."""
    for i in range(lo, hi):
        e = starts[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                values[e] = X[i, j]
                columns[e] = j
                e += 1


_i = types.int64


@kernel(*lanes.SOURCES)
def scores_kernel(dtype: str, index: str = "int32") -> Any:
    """The compiled S = XW in one precision, for one kind of column numbers."""
    table = read(dtype, 2), write(dtype, 2)
    return _scores, types.void(read(dtype), read(index), read("int64"), _i, _i, _i, *table)


@kernel(*lanes.SOURCES)
def pull_kernel(dtype: str, index: str = "int32") -> Any:
    """The compiled G ← G + XᵀR in one precision, for one kind of column numbers."""
    table = read(dtype, 2), write(dtype, 2)
    return _pull, types.void(read(dtype), read(index), read("int64"), _i, _i, _i, *table)


@kernel()
def count_kernel(dtype: str) -> Any:
    """The compiled counts of numbers other than zero in C-ordered rows."""
    return _count, types.void(read(dtype, 2), _i, _i, write("int64"))


@kernel()
def fill_kernel(dtype: str, out: str) -> Any:
    """The compiled copy of numbers other than zero, from one precision of C-ordered rows to another."""
    return _fill, types.void(read(dtype, 2), _i, _i, read("int64"), write(out), write("int32"))
