"""Whether weights and targets are numbers of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COUNTED = 1e-9
"""Relative: how far from a whole number a count may be, which is the product of a share and a weight."""


def whole_counts(target: Floats, cost: Floats) -> NDArray[np.bool_]:
    """For each row, whether it stands for a whole number of rows of every class; no costs are costs of one."""
    if not cost.size:
        return np.asarray(((target <= COUNTED) | (target >= 1 - COUNTED)).all(axis=1))  # a share is between 0 and 1
    parts = target * cost[:, None]
    near = np.abs(parts - np.round(parts)) <= COUNTED * np.maximum(parts, 1)
    return np.asarray(near.all(axis=1))
