"""Whether weights and targets are numbers of rows."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats

COUNTED = 1e-9
"""Relative: how far from a whole number a count may be, which is the product of a share and a weight."""


def whole_counts(target: Floats, cost: Floats) -> NDArray[np.bool_]:
    """For each row, whether it stands for a whole number of rows of every class; no costs are costs of one."""
    if not cost.size:
        largest: Floats = reduce(np.maximum, target.T)  # column by column: a row has few
        return np.asarray(largest >= 1 - COUNTED)  # shares add up to 1: so the others are none
    parts = target * cost[:, None]
    near = np.abs(parts - np.round(parts)) <= COUNTED * np.maximum(parts, 1)
    return np.asarray(near.all(axis=1))
