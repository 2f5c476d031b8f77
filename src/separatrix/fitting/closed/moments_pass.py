"""The pass over the rows that moments are made of."""

from __future__ import annotations

from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ...data import Sparse
from ...numerics.arrays import Floats, Integers
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from .moments import BLOCK, RUNS, SMALL, Moments


def moments_of(
    X: Any, target: Integers, classes: int, cost: Floats, kind: str, gaps: bool, n_threads: int | None
) -> Moments:
    """The moments of runs of rows, merged in their order: the same bits for any number of threads."""
    if isinstance(X, Sparse):
        run = partial(_sparse_run if kind == "diagonal" else _written_run, X, target, cost, classes, kind)
    elif kind != "diagonal":
        run = partial(_full_run, X, target, cost, classes, kind)
    else:
        run = partial(_gaps_run if gaps else _diagonal_run, X, target, cost, classes)
    count = 1 if X.size < SMALL else RUNS
    cuts = np.linspace(0, len(X), min(count, max(1, len(X))) + 1).astype(int).tolist()
    jobs = [(lo, hi) for lo, hi in pairwise(cuts) if lo < hi]
    nothing = Moments.none(classes, X.shape[1], kind, gaps=gaps)
    threads = thread_count(n_threads) if len(jobs) > 1 else 1
    with ordered_map(threads) as each, one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        return reduce(Moments.merge, each(lambda job: run(*job), jobs), nothing)


def _readable(X: Any, lo: int, hi: int) -> tuple[Any, int, int]:
    """Rows as compiled code takes them, in C order: those of X where it is, else a copy of these."""
    if X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative:
        return X, lo, hi
    here = np.empty((hi - lo, X.shape[1]), X.dtype.newbyteorder("="))
    here[:] = X[lo:hi]
    return here, 0, hi - lo


def _diagonal_run(X: Any, target: Integers, cost: Floats, classes: int, lo: int, hi: int) -> Moments:
    from .moment_kernels import diagonal_kernel

    found = Moments.none(classes, X.shape[1], "diagonal")
    for start in range(lo, hi, 1 << 16):
        end = min(start + (1 << 16), hi)
        rows, first, last = _readable(X, start, end)
        own, costs = (target, cost) if rows is X else (target[start:end], cost[start:end])
        diagonal_kernel(rows.dtype.name)(
            rows, own, costs, first, last, BLOCK, found.rows, found.weight, found.mean, found.rest, found.scatter
        )
    return found


def _gaps_run(X: Any, target: Integers, cost: Floats, classes: int, lo: int, hi: int) -> Moments:
    from .moment_kernels import gaps_kernel

    found = Moments.none(classes, X.shape[1], "diagonal", gaps=True)
    for start in range(lo, hi, 1 << 16):
        end = min(start + (1 << 16), hi)
        rows, first, last = _readable(X, start, end)
        own, costs = (target, cost) if rows is X else (target[start:end], cost[start:end])
        gaps_kernel(rows.dtype.name)(
            rows,
            own,
            costs,
            first,
            last,
            found.rows,
            found.weight,
            found.present,
            found.mean,
            found.rest,
            found.scatter,
        )
    return found


def _full_run(X: Any, target: Integers, cost: Floats, classes: int, kind: str, lo: int, hi: int) -> Moments:
    """Blocks of rows seen from the means so far, their products by BLAS, and the means moved."""
    from .moment_kernels import centred_kernel

    d = X.shape[1]
    found, size = Moments.none(classes, d, kind), max(256, min(4096, (1 << 17) // max(1, d)))
    Z = np.empty((size, d))
    for start in range(lo, hi, size):
        end = min(start + size, hi)
        rows, first, last = _readable(X, start, end)
        own, costs = (target, cost) if rows is X else (target[start:end], cost[start:end])
        fresh, sums = np.zeros(classes), np.zeros((classes, d))
        centred_kernel(rows.dtype.name)(rows, own, costs, first, last, found.rows, found.mean, fresh, sums, Z)
        _join(found, Z[: end - start], target[start:end], fresh, sums)
    return found


def _join(found: Moments, Z: Floats, own: Integers, fresh: Floats, sums: Floats) -> None:
    """A block joins: S gains ZᵀZ less what belongs to the means, which have `rest` below their last digit."""
    weight, rest, f = found.weight, found.rest, fresh[:, None]
    moved = sums - f * rest
    delta = np.divide(moved, weight[:, None] + f, out=np.zeros_like(moved), where=(weight[:, None] + f) > 0)
    if found.kind == "pooled":
        cross = sums.T @ rest
        found.scatter[:] += Z.T @ Z - (cross + cross.T - (f * rest).T @ rest) - delta.T @ moved
    else:
        for k in np.flatnonzero(fresh > 0):
            part, cross = Z[own == k], np.outer(sums[k], rest[k])
            off = cross + cross.T - fresh[k] * np.outer(rest[k], rest[k])
            found.scatter[k] += part.T @ part - off - np.outer(delta[k], moved[k])
    low = rest + delta
    mean = found.mean + low
    found.rest[:] = low - (mean - found.mean)
    found.mean[:] = mean
    found.weight[:] += fresh


def _written_run(X: Sparse, target: Integers, cost: Floats, classes: int, kind: str, lo: int, hi: int) -> Moments:
    """CSR rows, some at a time with their zeros: their scatter has no zeros anyway."""
    found, size = Moments.none(classes, X.shape[1], kind), max(256, (1 << 20) // max(1, X.shape[1]))
    for start in range(lo, hi, size):
        end = min(start + size, hi)
        part = _full_run(X[start:end].dense(), target[start:end], cost[start:end], classes, kind, 0, end - start)
        found = found.merge(part)
    return found


def _sparse_run(X: Sparse, target: Integers, cost: Floats, classes: int, kind: str, lo: int, hi: int) -> Moments:
    """Twice over the numbers that are there: their means, then their squares about these. Zeros are counted."""
    from .moment_kernels import sparse_squares_kernel, sparse_sums_kernel

    found, d = Moments.none(classes, X.shape[1], kind), X.shape[1]
    there, sums, parts = np.zeros((classes, d)), np.zeros((classes, d)), X.parts
    kinds = X.dtype.name, X.columns.dtype.name
    sparse_sums_kernel(*kinds)(*parts, target, cost, lo, hi, found.rows, found.weight, there, sums)
    n = found.weight[:, None]
    mean = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    off, squares = np.zeros_like(sums), np.zeros_like(sums)
    sparse_squares_kernel(*kinds)(*parts, target, cost, lo, hi, mean, off, squares)
    off -= (n - there) * mean
    rest = np.divide(off, n, out=np.zeros_like(off), where=n > 0)
    found.mean[:], found.rest[:] = mean, rest
    found.scatter[:] = np.maximum(squares + (n - there) * mean**2 - off * rest, 0.0)
    return found
