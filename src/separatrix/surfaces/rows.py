"""X of one or two columns, y of two classes and weights, made ready to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..surrogate_input import shares
from .plane import Plane


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
    lifted = rows.shape[1] == 1
    Z = np.column_stack([np.ones(len(rows)), rows]) if lifted else rows
    plane = Plane(Z[counts], 2.0 * place[counts] - 1, weight[counts], lifted, classes)
    _check_two_directions(plane)
    return plane


def _weights(sample_weight: Any, rows: int) -> Any:
    shares(sample_weight, rows)  # says what is wrong with them
    return np.ones(rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


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
