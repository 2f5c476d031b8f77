"""Features as the audit makes them: from the kinds and numbers that a claim holds, by formulas of its own.

It shares no code with what maps rows inside a fit, so that an error there cannot confirm itself here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ..errors import DataError
from .rows import SMALL, Sheet

NUMBERS = 1 << 21
"""Features that are looked at together."""
Step = Callable[[Any], Any]


def unfolded(claim: Any, X: Any) -> Any:
    """The features of X that the claim speaks of: an array if they are few, else made when read; None if it names none.

    Raises ValueError where X has not the columns that the features are made of.
    """
    steps, width = read_steps(claim.features)
    if steps is None or width[1] != len(claim.columns):
        return None
    given: Any = X
    rows: Any = csr_array(given) if issparse(X) else np.asarray(X)
    rows = rows if rows.dtype.kind in "biuf" else rows.astype(float)
    if rows.ndim != 2 or rows.shape[1] != width[0]:
        raise DataError(f"has shape {rows.shape}; the verdict speaks of features of {width[0]} columns.", array="X")
    made = FeatureSheet(rows, steps, width[1])
    return made.astype(float) if made.shape[0] * made.shape[1] <= SMALL else made


class FeatureSheet(Sheet):
    """Rows of features that read like an array: what is taken from them is not made yet, `astype` makes it."""

    def __init__(self, rows: Any, steps: list[Step], width: int) -> None:
        self.rows, self.steps = rows, steps
        self.shape, self.dtype = (rows.shape[0], width), np.dtype(float)

    def __getitem__(self, which: Any) -> FeatureSheet:
        return FeatureSheet(self.rows[which], self.steps, self.shape[1])

    def astype(self, dtype: Any) -> Any:
        """The features of these rows, made in double precision as they were for the fit."""
        X = (self.rows if isinstance(self.rows, np.ndarray) else self.rows.toarray()).astype(float)
        for step in self.steps:
            X = step(X)
        return X.astype(dtype)

    def any(self) -> bool:
        """Whether a feature is not zero."""
        return any(bool(X.any()) for _, X in self.parts(float))

    def finite(self) -> bool:
        """Whether there is neither NaN nor infinity, in X and in the features."""
        raw = self.rows if isinstance(self.rows, np.ndarray) else self.rows.data
        return bool(np.isfinite(raw).all()) and all(bool(np.isfinite(X).all()) for _, X in self.parts(float))

    def parts(self, dtype: Any) -> Iterator[tuple[slice, Any]]:
        """All rows, some at a time."""
        size = max(1, NUMBERS // max(1, self.shape[1]))
        for lo in range(0, len(self), size):
            rows = slice(lo, min(lo + size, len(self)))
            yield rows, self[rows].astype(dtype)


def read_steps(features: Any) -> tuple[list[Step] | None, tuple[int, int]]:
    """The maps in their order, with how many columns the first takes and the last makes; None where one makes no sense.

    What is no number or no table of them makes no sense.
    """
    steps: list[Step] = []
    taken = width = 0
    try:
        for k, given in enumerate(features):
            columns = int(given["columns"])
            if columns < 1 or (k and columns != width):
                return None, (0, 0)
            taken = taken if k else columns
            step, width = READERS[given["kind"]](given, columns)
            steps.append(step)
    except (TypeError, ValueError, LookupError, AttributeError):
        return None, (0, 0)
    return (steps or None), (taken, width)


def _require(sound: Any) -> None:
    if not sound:
        raise ValueError("a map that makes no sense")


def _products(given: Mapping[str, Any], columns: int) -> tuple[Step, int]:
    """Πₖ x_{t(j, k)}; the place −1 stands for a factor of one."""
    terms = np.asarray(given["terms"])
    _require(terms.ndim == 2 and terms.dtype.kind in "iu" and terms.size)
    _require((terms >= -1).all() and (terms < columns).all() and (terms.max(axis=1) >= 0).all())

    def step(X: Any) -> Any:
        with_one = np.column_stack([X, np.ones(len(X))])
        made = with_one[:, terms[:, 0]]
        for k in range(1, terms.shape[1]):
            made = made * with_one[:, terms[:, k]]
        return made

    return step, len(terms)


def _gaussians(given: Mapping[str, Any], columns: int) -> tuple[Step, int]:
    """exp(−½ Σₖ ((xₖ − cⱼₖ)/sⱼ)²)"""
    centres, widths = np.asarray(given["centres"], dtype=float), np.asarray(given["widths"], dtype=float)
    _require(centres.ndim == 2 and centres.shape[1] == columns and widths.shape == (len(centres),) and len(centres))
    _require(np.isfinite(centres).all() and np.isfinite(widths).all() and (widths > 0).all())

    def step(X: Any) -> Any:
        total = np.zeros((len(X), len(centres)))
        for k in range(columns):
            total += np.square((X[:, [k]] - centres[:, k]) / widths)
        return np.exp(-total / 2)

    return step, len(centres)


def _lift(given: Mapping[str, Any], columns: int) -> tuple[Step, int]:
    """(x, 1) or (x, ‖x‖²)"""
    square = given["square"]
    _require(isinstance(square, bool | np.bool_))

    def step(X: Any) -> Any:
        return np.column_stack([X, np.square(X).sum(axis=1) if square else np.ones(len(X))])

    return step, columns + 1


def _standard(given: Mapping[str, Any], columns: int) -> tuple[Step, int]:
    """(x − m)/s"""
    mean, deviation = np.asarray(given["mean"], dtype=float), np.asarray(given["deviation"], dtype=float)
    _require(mean.shape == (columns,) == deviation.shape and np.isfinite(mean).all())
    _require(np.isfinite(deviation).all() and (deviation > 0).all())
    return (lambda X: (X - mean) / deviation), columns


READERS: dict[str, Callable[[Mapping[str, Any], int], tuple[Step, int]]] = {
    "products": _products,
    "gaussians": _gaussians,
    "lift": _lift,
    "standard": _standard,
}
"""By the kind that a claim names."""
