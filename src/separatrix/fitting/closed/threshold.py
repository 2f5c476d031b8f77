"""How many numbers of each class and column are above a threshold: one read, no table of zeros and ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics.arrays import Floats, Integers
from ...numerics.threads import ordered_map, thread_count
from .moments import RUNS, Moments

COMPILE_FROM = 400_000
"""Numbers from which the compiled pass repays loading it."""


def moments_above(X: Any, target: Integers, classes: int, cost: Floats, threshold: float) -> Moments | None:
    """The moments of 1[x > threshold]; None where X is small, not in C order, or has a NaN or an infinity."""
    if X.size < COMPILE_FROM or not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return None
    from .moment_kernels import above_kernel

    cuts = np.linspace(0, len(X), RUNS + 1).astype(int).tolist()
    count, jobs = above_kernel(X.dtype.name), list(pairwise(cuts))

    def run(job: tuple[int, int]) -> tuple[Integers, Floats, Floats, Floats]:
        rows, weight, above = np.zeros(classes, np.int64), np.zeros(classes), np.zeros((classes, X.shape[1]))
        odd = np.zeros(X.shape[1])
        count(X, target, cost, *job, threshold, rows, weight, above, odd)
        return rows, weight, above, odd

    with ordered_map(thread_count(None)) as each:
        rows, weight, above, odd = (sum(parts) for parts in zip(*each(run, jobs), strict=True))
    if np.isnan(odd).any():
        return None
    n = np.where(weight > 0, weight, 1.0)[:, None].astype(np.longdouble)
    mean = (above / n).astype(float)
    rest = ((above - n * mean) / n).astype(float)
    return Moments(rows, weight, mean, rest, np.maximum(above * (1 - mean), 0.0), "diagonal")
