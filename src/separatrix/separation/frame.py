"""The frame in which rows are looked at: numbers of size one that stay exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import Rows
from ..fitting.problem import NotFiniteError

Floats = NDArray[np.float64]

SAMPLE = 1024


class Frame(NamedTuple):
    """z = (x − center)/scale, scale a power of two and center a multiple of it: exact, but for far-fetched numbers."""

    center: Floats
    scale: Floats


def frame_of(rows: Rows, lifted: bool, seed: int) -> Frame:
    """Means and deviations of a sample, rounded to powers of two and multiples of them.

    Of a column that is constant in the sample, that constant (zero without an intercept) and the largest distance from
    it.
    """
    X = rows.sample(SAMPLE, seed).X.astype(np.float64)
    center = X.mean(axis=0) if lifted else np.zeros(X.shape[1])
    spread = np.sqrt(np.square(X - center).mean(axis=0))
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    if lifted:
        center[constant] = X[0, constant]
    for j in constant:
        spread[j] = np.abs(rows.X[:, j] - center[j]).max()
    if not (np.isfinite(spread).all() and np.isfinite(center).all()):
        raise NotFiniteError
    scale = np.exp2(np.round(np.log2(np.where(spread > 0, spread, 1.0))))
    varied = np.setdiff1d(np.arange(X.shape[1]), constant)
    center[varied] = np.round(center[varied] / scale[varied]) * scale[varied]
    return Frame(center, scale)
