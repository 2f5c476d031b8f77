"""The types of arrays that signatures name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Places = NDArray[np.intp]
"""Indices: of rows, classes, groups, folds."""
