"""CSR rows as the audit reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

SMALL, NUMBERS, ROWS = 4_000_000, 1 << 20, 4096
"""A table of so many numbers, zeros counted, is simply written out; numbers and rows that are looked at together."""


def read_csr(X: Any) -> Any:
    """The rows of any sparse matrix; what stands twice is added up. A small table is written out."""
    rows = csr_array(X)
    rows = rows if rows.dtype.kind in "biuf" else rows.astype(float)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows.toarray() if np.prod(rows.shape) <= SMALL else Sheet(rows)


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
