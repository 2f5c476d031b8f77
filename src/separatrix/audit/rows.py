"""What the audit reads: the rows that count, their targets and costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import DataError
from ..results.claims import Claim

# How the audit reads X: an array, or CSR rows, of which only some are written out at a time.

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


SUM_TO_ONE = 1e-6
"""How far the probabilities of a row may add up to something else: those of a table in single precision do."""


class Table:
    """The rows that count, their targets and costs, as the verdict's claim reads them.

    A soft target is a row of each class, at the cost cᵢtᵢₖwₖ with the class weights w: together a row with the target
    tᵢₖwₖ / Σⱼ tᵢⱼwⱼ at the cost cᵢ Σⱼ tᵢⱼwⱼ. A label is the target that is one at its class. `places` says where in X
    the rows stand.
    """

    def __init__(self, claim: Claim, X: Any, y: Any, sample_weight: Any) -> None:
        X = read(X)
        share = probabilities(claim, y) if claim.soft else indicators(claim, y)
        cost = costs_of(sample_weight, len(share))
        width = np.shape(claim.weights)[-1]
        if len(X.shape) != 2 or X.shape[1] != width:
            raise DataError(f"has shape {X.shape}; the verdict speaks of {width} columns.", array="X")
        if not X.shape[0] == len(share) == len(cost):
            raise DataError(f"X has {X.shape[0]} rows, y {len(share)}, sample_weight {len(cost)}: they must agree.")
        split = cost[:, None] * share * np.asarray(claim.class_weight, dtype=float)
        counts = split.sum(axis=1) > 0
        self.rows, self.places = X.shape[0], np.flatnonzero(counts)
        self.known = bool((share >= 0).all() and (np.abs(share.sum(axis=1) - 1) <= SUM_TO_ONE).all())
        self.known &= bool((cost >= 0).all() and np.isfinite(cost).all())
        self.X = X if counts.all() else X[counts]
        self.cost = split[counts].sum(axis=1)
        self.target = split[counts] / self.cost[:, None]

    @property
    def matrix(self) -> Any:
        """X as an array, or as scipy's CSR."""
        return self.X.rows if isinstance(self.X, Sheet) else self.X

    def finite(self) -> bool:
        """Whether X has neither NaN nor infinity."""
        return self.X.finite() if isinstance(self.X, Sheet) else bool(np.isfinite(self.X).all())

    def skim(self) -> Iterator[tuple[Any, Any, Any]]:
        """What `chunks` gives, with CSR rows as they are: what only multiplies them need not see their zeros."""
        if not isinstance(self.X, Sheet):
            yield from self.chunks()
            return
        for rows, X in self.X.parts(np.longdouble):
            yield X, self.target[rows].astype(np.longdouble), self.cost[rows]

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, targets and costs, some hundred or thousand rows at a time, in long double."""
        classes = self.target.shape[1]
        size = min(ROWS, max(256, self.X.shape[1], 16 * ROWS // classes**2))  # a row may need classes² numbers
        if isinstance(self.X, Sheet):
            size = min(size, max(64, NUMBERS // self.X.shape[1]))
        for lo in range(0, len(self.X), size):
            rows = slice(lo, lo + size)
            yield self.X[rows].astype(np.longdouble), self.target[rows].astype(np.longdouble), self.cost[rows]


def costs_of(sample_weight: Any, rows: int) -> Any:
    """A cost for each row: one where none is given, the same for all where it is a single number."""
    if sample_weight is None:
        return np.ones(rows)
    cost = np.asarray(sample_weight, dtype=float)
    if cost.ndim > 1:
        raise DataError(
            f"has shape {cost.shape}; one number for each of the {rows} rows is needed.", array="sample_weight"
        )
    return np.full(rows, float(cost)) if cost.ndim == 0 else cost


def indicators(claim: Any, y: Any) -> Any:
    """One where a label is the class of the column; a row of zeros for a label that is unknown."""
    given = np.asarray(y).ravel()
    found = np.empty((len(given), len(claim.classes)))
    if all(_compares(given.dtype, known) for known in claim.classes):
        for k, known in enumerate(claim.classes):
            found[:, k] = given == (np.float64(known) if given.dtype.kind == "f" else known)
        return found
    for k, known in enumerate(claim.classes):
        found[:, k] = [names(label, known) for label in given.tolist()]
    return found


def _compares(kind: Any, known: Any) -> bool:
    """Whether NumPy compares such labels with this class as Python would, one by one."""
    if kind.kind == "f":
        return kind.itemsize <= 8 and type(known) in (int, float) and abs(known) <= 1 << 53
    return type(known) in {"U": (str,), "i": (int,), "u": (int,), "b": (bool,)}.get(kind.kind, ())


def names(label: Any, known: Any) -> bool:
    """Whether the label names this class."""
    try:
        return bool(label == known)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal
        return False


def probabilities(claim: Any, y: Any) -> Any:
    """A column for every class; of two classes, y may be the second's alone."""
    classes = len(claim.classes)
    try:
        t = np.asarray(y, dtype=float)
    except (TypeError, ValueError):  # words are no probabilities, and no reason to fail
        t = np.full(np.asarray(y).shape, np.nan)
    if classes == 2 and (t.ndim < 2 or t.shape[1:] == (1,)):
        return np.column_stack([1 - t.ravel(), t.ravel()])
    if t.ndim != 2 or t.shape[1] != classes:
        raise DataError(
            f"has shape {t.shape}; the verdict speaks of the probabilities of {classes} classes.", array="y"
        )
    return t
