"""What the audit reads: the rows that count, their targets and costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import DataError
from ..results.claims import Claim
from .matrix import NUMBERS, ROWS, Sheet, read

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
    labels = np.asarray(y).ravel().tolist()
    return np.array([[names(label, known) for known in claim.classes] for label in labels], dtype=float).reshape(
        len(labels), len(claim.classes)
    )


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
