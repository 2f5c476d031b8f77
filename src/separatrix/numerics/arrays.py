"""The types of arrays that signatures name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
"""Of rows, classes, groups, folds."""
EPS = float(np.finfo(np.float64).eps)
"""The spacing of the numbers at one."""
