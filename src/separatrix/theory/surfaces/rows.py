"""X of one or two columns, y of two classes and weights, made ready to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..surrogate_input import shares
from .plane import Plane

LEAST, MOST = 1e-100, 1e100
"""How large a column may be: its squares, and products of these, must not leave the range of numbers."""
WHOLE = 2.0**40
"""Weights up to this one stay as they are: sums of whole numbers are exact."""
LIGHTEST = 1e-100
"""The least part of the largest weight that another may be."""


def plane_of(X: Any, y: Any, sample_weight: Any) -> Plane:
    """z = (1, x) or (x₁, x₂), signs and weights; rows of weight zero left out."""
    try:
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers; it holds something else. ({error})") from None
    if rows.ndim != 2 or rows.shape[1] not in (1, 2) or not len(rows):
        raise ValueError(
            f"X has shape {rows.shape}; a surface needs rows of one column, for an intercept and a weight, or of two, "
            "for two weights. Pass the columns that you want to see: X[:, [j]]."
        )
    if not np.isfinite(rows).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(rows))[0])
        raise ValueError(f"X[{i}, {j}] is {rows[i, j]}; finite numbers are needed: impute it, or drop the row.")
    weight = _weights(sample_weight, len(rows))
    counts = weight > 0
    classes, place = _labels(y, counts)
    _check_sizes(rows[counts])
    lifted = rows.shape[1] == 1
    Z = np.column_stack([np.ones(len(rows)), rows]) if lifted else rows
    plane = Plane(Z[counts], 2.0 * place[counts] - 1, weight[counts], lifted, classes)
    _check_two_directions(plane)
    return plane


def _check_sizes(rows: Any) -> None:
    """Names a column whose numbers, or of a single one whose differences, are too large or too small to be squared."""
    centre = rows[0] if rows.shape[1] == 1 and np.abs(rows).max() <= MOST else 0.0
    for j, size in enumerate(np.abs(rows - centre).max(axis=0).tolist()):
        if size and not LEAST <= size <= MOST:
            what = "differ by" if rows.shape[1] == 1 and size < LEAST else "reach"
            raise ValueError(
                f"X's numbers in column {j} {what} {size:.3g}; from {LEAST:g} to {MOST:g} they can be squared without "
                f"loss. Change the units: X[:, {j}] / {size:.0e}."
            )


def _weights(sample_weight: Any, rows: int) -> Any:
    shares(sample_weight, rows)  # says what is wrong with them
    if sample_weight is None:
        return np.ones(rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    largest, lightest = weight.max(), weight[weight > 0].min()
    if lightest / largest < LIGHTEST:
        i = int(np.flatnonzero(weight == lightest)[0])
        raise ValueError(
            f"sample_weight[{i}] is {lightest:.3g} and the largest is {largest:.3g}, more than {1 / LIGHTEST:g} times "
            "it: such a row cannot be seen beside the others. Give it weight zero, or more."
        )
    if 0.5 <= largest <= WHOLE:
        return weight
    return np.ldexp(weight, -int(np.frexp(largest)[1]))  # a power of two rounds nothing, and only ratios count


def _labels(y: Any, counts: Any) -> tuple[tuple[Any, Any], Any]:
    y = np.asarray(y)
    if y.shape != counts.shape:
        raise ValueError(f"y has shape {y.shape}; a label for each of the {len(counts)} rows is needed.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"y[{i}] is {y[i]}; a label is needed there, or leave the row out.")
    classes = np.unique(y[counts])
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} class(es) among the rows that count, {classes.tolist()[:5]}; a surface is of two. "
            "Of more, compare one with the rest: y == label."
        )
    return tuple(classes.tolist()), y == classes[1]  # type: ignore[return-value]


def _check_two_directions(plane: Plane) -> None:
    Z = plane.Z
    first = Z[np.abs(Z).sum(axis=1).argmax()]
    if not (Z[:, 0] * first[1] != Z[:, 1] * first[0]).any():
        what = (
            f"X's column is {Z[0, 1]:g} in every row" if plane.lifted else "X's two columns are multiples of each other"
        )
        raise ValueError(f"{what}, so that J depends on one number only, not on θ₀ and θ₁: give another column.")
