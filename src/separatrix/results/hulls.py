"""Convex hulls: mixtures of rows, where two of them meet, and the corners of a hull in the plane."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..numerics.arrays import Floats

Indices = NDArray[np.intp]
FLAT = 1e-12
"""A hull is drawn as a segment if it is thinner than this part of its length."""


class SignedRows(Protocol):
    """Rows, the class of each, the class it is compared with, and its multiplier."""

    @property
    def rows(self) -> Indices: ...
    @property
    def own(self) -> Indices: ...
    @property
    def other(self) -> Indices: ...
    @property
    def multipliers(self) -> Floats: ...


def mixture(points: Floats, shares: Floats) -> Floats:
    """Σᵢ λᵢ xᵢ / Σᵢ λᵢ: the point of the hull with these shares; of no points the origin.

    >>> mixture(np.array([[0.0, 0.0], [4.0, 8.0]]), np.array([3.0, 1.0])).tolist()
    [1.0, 2.0]
    """
    if not len(points):
        return np.zeros(points.shape[1])
    return (shares / shares.sum()) @ points  # type: ignore[no-any-return]


def involved(combination: SignedRows) -> Indices:
    """The classes that a combination compares, by their places."""
    return np.union1d(combination.own, combination.other).astype(np.intp)


def crossing_point(combination: SignedRows, X: Any, of: int | None = None) -> tuple[Floats, Floats]:
    """Σ_{own = k} λx/Σλ and Σ_{other = k} λx/Σλ: a mixture of rows of class k, and one of rows compared with k.

    Rows that balance make them one point, up to rounding: there the hull of class k meets that of the others. `of` is
    k, the first class of the combination unless given; of two classes these are then the points of the first and of
    the second. Without an intercept only their directions from the origin agree: cones meet, not hulls.
    """
    k = int(involved(combination)[0]) if of is None else of
    points = some_rows(X, combination.rows)
    own, other = combination.own == k, combination.other == k
    if not (own | other).any():
        raise SettingError(
            "of", of, f"it compares {involved(combination).tolist()}.", f"Class number {k} is not in this combination;"
        )
    return mixture(points[own], combination.multipliers[own]), mixture(points[other], combination.multipliers[other])


def some_rows(X: Any, rows: Any) -> Floats:
    """Rows of a table, of a data frame or of scipy's sparse rows, as an array.

    >>> from scipy.sparse import csr_array
    >>> some_rows(csr_array([[0.0, 1.0], [2.0, 0.0]]), [1]).tolist()
    [[2.0, 0.0]]
    """
    if hasattr(X, "tocsr"):
        X, rows = X.tocsr()[rows].toarray(), slice(None)
    return np.asarray(X, dtype=np.float64)[rows]  # type: ignore[no-any-return]


def corners(points: Floats) -> Floats:
    """The corners of the convex hull of points in the plane, in order; two of a segment, one of a point.

    >>> corners(np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])).tolist()
    [[0.0, 0.0], [2.0, 2.0]]
    """
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points
    size = np.ptp(points, axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(size > 0, size, 1.0)  # columns may have any scales
    _, spread, axes = np.linalg.svd(scaled, full_matrices=False)
    if spread[1] <= FLAT * spread[0]:
        along = scaled @ axes[0]
        return points[np.sort([along.argmin(), along.argmax()])]  # type: ignore[no-any-return]
    from scipy.spatial import ConvexHull  # at need: a picture is rare

    return points[ConvexHull(scaled @ axes.T / spread).vertices]  # type: ignore[no-any-return]
