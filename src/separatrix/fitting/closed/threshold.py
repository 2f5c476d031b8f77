"""How many numbers of each class and column are above a threshold: one read, no table of zeros and ones."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics.arrays import Floats, Integers
from ...numerics.jit import EXACT, made_once
from ...numerics.threads import ordered_map, thread_count
from .moments import RUNS, Moments

COMPILE_FROM = 400_000
"""Numbers from which the compiled pass repays loading it."""


def moments_above(X: Any, target: Integers, classes: int, cost: Floats, threshold: float) -> Moments | None:
    """The moments of 1[x > threshold]; None where X is small, not in C order, or has a NaN or an infinity."""
    if X.size < COMPILE_FROM or not (X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative):
        return None
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


def _above(stamp):  # type: ignore[no-untyped-def]
    """Σ c·1[x > threshold] of each class and column over the rows lo ≤ i < hi; `odd` is NaN where x is not finite."""

    def kernel(X, target, cost, lo, hi, threshold, rows, weight, above, odd):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            c = cost[i] if cost.size else 1.0
            if c == 0:
                continue
            k, x = target[i], X[i]
            own = above[k]
            rows[k] += 1
            weight[k] += c
            for j in range(x.size):
                own[j] += c if x[j] > threshold else 0.0
                odd[j] += x[j] * 0.0

    return kernel


@made_once
def above_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled `_above`."""
    from numba import types

    from ...data.compiled import passes as compiled

    stamp = hashlib.sha256(
        "".join(inspect.getsource(module) for module in (compiled, sys.modules[__name__])).encode()
    ).hexdigest()
    numbers, whole = (types.Array(kind, 1, "C", readonly=True) for kind in (types.float64, types.int64))
    X, table = compiled._matrix(dtype, "C", readonly=True), compiled._matrix("float64", "C", readonly=False)
    i, f = types.int64, types.float64
    signature = types.void(
        X, whole, numbers, i, i, f, types.Array(i, 1, "C"), types.Array(f, 1, "C"), table, types.Array(f, 1, "C")
    )
    return compiled._compiled(_above(stamp), signature, cached=True, **EXACT)  # type: ignore[no-untyped-call]
