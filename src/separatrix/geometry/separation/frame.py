"""The frame in which rows are looked at: numbers of size one that stay exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows, Sparse
from ...data.mapped import MappedRows
from ...data.reading import occurring, ranges, written
from ...fitting.problem import NotFiniteError
from ...numerics.arrays import Floats

SAMPLE = 1024
NEAR = 4.0
"""Means of at most so many deviations are left where they are: zeros stay zeros."""


class ExactFrame(NamedTuple):
    """z = (x − center)/scale, scale a power of two and center a multiple of it: exact, but for far-fetched numbers."""

    center: Floats
    scale: Floats


def frame_of(rows: Rows, lifted: bool, seed: int, near: float = NEAR) -> ExactFrame:
    """Means and deviations of a sample, rounded to powers of two and multiples of them; no mean of at most `near`
    deviations.

    Of a column that is constant in the sample, that constant (zero without an intercept) and the largest distance from
    it.
    """
    columns = occurring(rows.X)
    X = written(rows.sample(SAMPLE, seed).X, slice(None), columns).astype(np.float64)
    center = _mean(X) if lifted else np.zeros(X.shape[1])
    spread = _deviation(X, center)
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    if lifted:
        center[constant] = X[0, constant]
    spread[constant] = _reach(rows, columns[constant], center[constant])
    if not (np.isfinite(spread).all() and np.isfinite(center).all()):
        raise NotFiniteError
    scale = np.exp2(np.round(np.log2(np.where(spread > 0, spread, 1.0))))
    zero = np.abs(center) <= near * scale
    center = np.where(zero, 0.0, np.round(center / scale) * scale)
    center = np.where(np.isin(np.arange(len(scale)), constant) & ~zero, X[0] * lifted, center)
    every = ExactFrame(np.zeros(rows.X.shape[1]), np.ones(rows.X.shape[1]))
    every.center[columns], every.scale[columns] = center, scale
    return every


def _reach(rows: Rows, columns: NDArray[np.intp], center: Floats) -> Floats:
    """maxᵢ |xᵢⱼ − cⱼ| of some columns."""
    if isinstance(rows.X, Sparse | MappedRows) and columns.size:
        low, high = (each[columns] for each in ranges(rows.X))
        return np.maximum(np.abs(low - center), np.abs(high - center))
    return np.array([np.abs(rows.X[:, j] - c).max() for j, c in zip(columns, center, strict=True)])


def _mean(X: Floats) -> Floats:
    """Σx/n, without overflow."""
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray((X / unit).mean(axis=0) * unit)


def _deviation(X: Floats, center: Floats) -> Floats:
    """√(Σ(x − c)²/n), without overflow or underflow."""
    largest = np.abs(X - center).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(np.sqrt(np.square((X - center) / unit).mean(axis=0)) * unit)
