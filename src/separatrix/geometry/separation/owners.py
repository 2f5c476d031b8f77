"""The rows that count, and the classes that each is of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...data import Rows

Indices = NDArray[np.intp]


def owners(rows: Rows, classes: int) -> tuple[Indices, Indices]:
    """The rows that count and their classes, in the order of the rows."""
    if classes == 2:
        parts = [
            (np.flatnonzero(side.cost > 0) if side.cost.size else np.arange(len(side)), (side.y > 0))
            for side in rows.sides()
        ]
        row = np.concatenate([found for found, _ in parts])
        own = np.concatenate([second[found] for found, second in parts]).astype(np.intp)
    else:
        counts = np.flatnonzero(rows.cost > 0) if rows.cost.size else np.arange(len(rows))
        if rows.y.ndim == 1:
            return counts, rows.y[counts].astype(np.intp)
        place, own = np.nonzero(rows.y[counts] > 0)
        row = counts[place]
    if rows.other.size:
        order = np.argsort(row, kind="stable")
        row, own = row[order], own[order]
    return row, own
