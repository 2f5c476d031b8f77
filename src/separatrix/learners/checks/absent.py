"""Rows of weight zero: they are not there, whatever they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Sparse
from ...data.reading import ranges
from ...numerics.arrays import Floats

FAR = 1024.0
"""Ranges of the rows that count by which a row of weight zero may lie outside them and still be read as it is."""
FEW = 1 << 12
"""Rows that count which are looked at first."""
BLOCK = 1 << 20
"""Numbers of X that are looked at together."""


def present(X: Any, cost: Floats) -> Any:
    """X as the passes may read it, so that zero times what a row of weight zero holds is zero.

    Such a row adds nothing to a sum, unless its square overflows; but the samples that choose the units see it. Where
    one lies far from all that count, a row that counts stands in the place of each, in a copy of X: no row changes its
    place, and none of weight zero is ever seen. NaN and infinity stay, to be refused: X has to hold numbers throughout.
    """
    if not cost.size:
        return X
    counts = cost > 0
    if counts.all() or not counts.any() or not _strays(X, counts):
        return X
    return X[np.where(counts, np.arange(len(X)), int(np.argmax(counts)))]


def present_objects(objects: list[Any], cost: Floats) -> list[Any]:
    """The same of objects that are no rows of numbers: one that counts stands in the place of each that does not."""
    counts = cost > 0
    if counts.all() or not counts.any():
        return objects
    deputy = objects[int(np.argmax(counts))]
    return [each if here else deputy for each, here in zip(objects, counts, strict=True)]


def _strays(X: Any, counts: NDArray[np.bool_]) -> bool:
    """Whether a row that does not count lies far from all that do, in some column, though at a finite place."""
    least, most = _box(X, ~counts)
    for seen in (counts & (np.cumsum(counts) <= FEW), counts):  # what is near a few is near to all
        low, high = _box(X, seen)
        with np.errstate(over="ignore", invalid="ignore"):
            reach = FAR * (high - low)
            far = (least < low - reach) | (most > high + reach)
        if not far.any():
            return False
    return bool(all(np.isfinite(each).all() for each in (low, high, least, most)))


def _box(X: Any, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The least and the largest number of each column in the chosen rows, NaN where there is one."""
    if isinstance(X, Sparse):
        return _sparse_box(X[np.flatnonzero(chosen)])
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    size = max(1, BLOCK // max(1, X.shape[1]))
    for lo in range(0, len(X), size):
        here = chosen[lo : lo + size]
        if here.any():
            part = X[lo : lo + size]
            least, most = ranges(part if here.all() else part[np.flatnonzero(here)])
            low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high


def _sparse_box(X: Sparse) -> tuple[Floats, Floats]:
    """The same of CSR rows, zeros counted; without what is compiled, which few rows do not repay."""
    low, high = np.full(X.width, np.inf), np.full(X.width, -np.inf)
    np.minimum.at(low, X.named, X.numbers)
    np.maximum.at(high, X.named, X.numbers)
    some = np.bincount(X.named, minlength=X.width) < len(X)
    return np.where(some, np.minimum(low, 0.0), low), np.where(some, np.maximum(high, 0.0), high)
