"""How the audit reads X: an array, or CSR rows, of which only some are written out at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

NUMBERS = 1 << 21
"""How many numbers of sparse rows are written out, or looked at, at a time."""


def is_csr(X: Any) -> bool:
    """Whether X is one of scipy's."""
    return bool(sparse.issparse(X))


def matrix(X: Any) -> Any:
    """X as an array of numbers, or as CSR in which every column of a row is named once."""
    if not is_csr(X):
        X = np.asarray(X)
    elif not (X := X.tocsr()).has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X if X.dtype.kind in "biuf" else X.astype(float)


def written(X: Any) -> Any:
    """X with its zeros, in double precision."""
    return (X.toarray() if is_csr(X) else X).astype(float, copy=False)


def finite(X: Any) -> bool:
    """Whether there is neither NaN nor infinity."""
    return bool(np.isfinite(X.data if is_csr(X) else X).all())


def largest(X: Any) -> Any:
    """maxᵢ |xᵢⱼ| of each column."""
    if not is_csr(X):
        return np.abs(X).max(axis=0)
    sizes = np.zeros(X.shape[1])
    np.maximum.at(sizes, X.indices, np.abs(X.data.astype(float)))
    return sizes


def numbers_of(X: Any, row: int) -> tuple[Any, Any]:
    """The columns in which a row is not zero, and its numbers there."""
    if is_csr(X):
        some = slice(X.indptr[row], X.indptr[row + 1])
        columns, numbers = X.indices[some], X.data[some].astype(float)
        return columns[numbers != 0], numbers[numbers != 0]
    columns = np.flatnonzero(X[row])
    return columns, X[row][columns].astype(float)


def without_empty(X: Any, used: Any) -> tuple[Any, Any]:
    """Those of some columns that X may have numbers in, and these columns of X written out."""
    if is_csr(X):
        named = np.zeros(X.shape[1], bool)
        named[X.indices] = True
        used = used & named
    return used, written(X if used.all() else X[:, used])


def pieces(X: Any, rows: Any, most: int) -> Iterator[Any]:
    """The rows, at most so many together; sparse ones so few that what `without_empty` writes out is bounded."""
    filled = np.append(0, np.cumsum(np.diff(X.indptr)[rows])) if is_csr(X) else None
    lo = 0
    while lo < len(rows):
        count = min(most, len(rows) - lo)
        if filled is not None:
            while count > 1 and count * min(X.shape[1], filled[lo + count] - filled[lo]) > NUMBERS:
                count //= 2
        yield rows[lo : lo + count]
        lo += count


SMALL = 4_000_000
"""A table of so many numbers, zeros counted, is simply written out."""
ROWS = 4096
"""Rows that are looked at together."""


def read(X: Any) -> Any:
    """X as an array of numbers; sparse rows as a `Sheet`, or written out where the table is small."""
    if isinstance(X, Sheet):
        return X
    rows = matrix(sparse.csr_array(X) if is_csr(X) else X)
    return rows if not is_csr(rows) else rows.toarray() if np.prod(rows.shape) <= SMALL else Sheet(rows)


class Sheet:
    """CSR rows that read like an array: what is taken from them stays CSR, and `astype` writes it out."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, which: Any) -> Sheet:
        return Sheet(self.rows[which])

    def astype(self, dtype: Any) -> Any:
        """These rows as an array, with their zeros."""
        return self.rows.toarray().astype(dtype)

    def any(self) -> bool:
        """Whether a number is not zero."""
        return bool(self.rows.data.any())

    def finite(self) -> bool:
        """Whether there is neither NaN nor infinity."""
        return bool(np.isfinite(self.rows.data).all())

    def parts(self, dtype: Any) -> Iterator[tuple[slice, Any]]:
        """All rows, some at a time, without their zeros, in this precision."""
        starts, lo = self.rows.indptr, 0
        while lo < len(self):
            hi = int(np.searchsorted(starts, starts[lo] + NUMBERS, side="right")) - 1
            hi = max(lo + 1, min(hi, lo + ROWS, len(self)))
            yield slice(lo, hi), self.rows[lo:hi].astype(dtype)
            lo = hi


def lengths(X: Any) -> Any:
    """‖xᵢ‖² of every row."""
    return np.ravel((X * X).sum(axis=1))
