"""The compiled sums of a class's rows about its mean so far, one read of X.

A run of rows goes in blocks. Within one, rows are seen from the mean that their class had before it, so that what is
squared is small; then the block is merged. No digits are lost that the spread itself does not hold.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...data.compiled import passes as compiled
from ...data.compiled.passes import _compiled, _matrix
from ...numerics.jit import EXACT, made_once


@register_jitable(**EXACT)
def _settle(n, fresh, s, q, high, low):  # type: ignore[no-untyped-def]
    """μ ← μ + Σt/(n + fresh) for t = x − μ, and what S gains: Σt² − (Σt)²/(n + fresh). The mean is `high` + `low`.

    The sums s and q are about `high`; below it the mean has digits that would be lost far from zero.
    """
    q = q - low * (2 * s - fresh * low)
    s = s - fresh * low
    delta = s / (n + fresh)
    rest = low + delta
    total = high + rest
    return total, rest - (total - high), q - delta * s


@register_jitable(**EXACT)
def _merge(k, fresh, sums, squares, weight, mean, rest, scatter):  # type: ignore[no-untyped-def]
    """A block of weight `fresh` joins its class."""
    for j in range(mean.shape[1]):
        mean[k, j], rest[k, j], gain = _settle(weight[k], fresh, sums[k, j], squares[k, j], mean[k, j], rest[k, j])
        scatter[k, j] += gain
        sums[k, j], squares[k, j] = 0.0, 0.0
    weight[k] += fresh


def _diagonal(stamp):  # type: ignore[no-untyped-def]
    """nₖ, μₖ and Σᵢ cᵢ(xᵢⱼ − μₖⱼ)² of each class and column, over the rows lo ≤ i < hi."""

    def kernel(X, target, cost, lo, hi, block, rows, weight, mean, rest, scatter):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        classes, d = mean.shape
        sums, squares, fresh = np.zeros((classes, d)), np.zeros((classes, d)), np.zeros(classes)
        for start in range(lo, hi, block):
            for i in range(start, min(start + block, hi)):
                k = target[i]
                c = cost[i] if cost.size else 1.0
                if c == 0:
                    continue
                x, m, s, q = X[i], mean[k], sums[k], squares[k]
                if rows[k] == 0:  # the first row of a class is where it is seen from
                    for j in range(d):
                        m[j] = x[j]
                rows[k] += 1
                fresh[k] += c
                for j in range(d):
                    t = x[j] - m[j]
                    s[j] += c * t
                    q[j] += c * t * t
            for k in range(classes):
                if fresh[k] > 0:
                    _merge(k, fresh[k], sums, squares, weight, mean, rest, scatter)
                    fresh[k] = 0.0

    return kernel


def _with_gaps(stamp):  # type: ignore[no-untyped-def]
    """The same where a number may be missing (NaN): each column has a weight of its own."""

    def kernel(X, target, cost, lo, hi, rows, weight, present, mean, rest, scatter):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            k = target[i]
            c = cost[i] if cost.size else 1.0
            if c == 0:
                continue
            rows[k] += 1
            weight[k] += c
            for j in range(mean.shape[1]):
                x = X[i, j]
                if np.isnan(x):
                    continue
                if present[k, j] == 0:
                    mean[k, j] = x
                t = x - mean[k, j]
                found = _settle(present[k, j], c, c * t, c * t * t, mean[k, j], rest[k, j])
                mean[k, j], rest[k, j], scatter[k, j] = found[0], found[1], scatter[k, j] + found[2]
                present[k, j] += c

    return kernel


def _centred(stamp):  # type: ignore[no-untyped-def]
    """Z = √c(x − μₖ), row by row, for the products that a full scatter is made of; and Σ c(x − μₖ) of each class."""

    def kernel(X, target, cost, lo, hi, rows, mean, fresh, sums, Z):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            k, z = target[i], Z[i - lo]
            c = cost[i] if cost.size else 1.0
            if c == 0:
                z[:] = 0.0
                continue
            x, m, s, root = X[i], mean[k], sums[k], np.sqrt(c)
            if rows[k] == 0:
                for j in range(z.size):
                    m[j] = x[j]
            rows[k] += 1
            fresh[k] += c
            for j in range(z.size):
                t = x[j] - m[j]
                s[j] += c * t
                z[j] = root * t

    return kernel


def _sparse_sums(stamp):  # type: ignore[no-untyped-def]
    """Σ cx and the weight of the numbers that are there, by class and column, of CSR rows."""

    def kernel(values, columns, starts, target, cost, lo, hi, rows, weight, there, sums):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            k = target[i]
            c = cost[i] if cost.size else 1.0
            if c == 0:
                continue
            rows[k] += 1
            weight[k] += c
            for e in range(starts[i], starts[i + 1]):
                sums[k, columns[e]] += c * values[e]
                there[k, columns[e]] += c

    return kernel


def _sparse_squares(stamp):  # type: ignore[no-untyped-def]
    """Σ c(x − μₖ)² and Σ c(x − μₖ) over the numbers that are there, of CSR rows."""

    def kernel(values, columns, starts, target, cost, lo, hi, mean, sums, squares):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            k = target[i]
            c = cost[i] if cost.size else 1.0
            if c == 0:
                continue
            for e in range(starts[i], starts[i + 1]):
                t = values[e] - mean[k, columns[e]]
                sums[k, columns[e]] += c * t
                squares[k, columns[e]] += c * t * t

    return kernel


STAMP = hashlib.sha256(
    "".join(inspect.getsource(module) for module in (compiled, sys.modules[__name__])).encode()
).hexdigest()


_numbers, _targets = types.Array(types.float64, 1, "C", readonly=True), types.Array(types.int64, 1, "C", readonly=True)
_table, _weights, _rows = (
    _matrix("float64", "C", readonly=False),
    types.Array(types.float64, 1, "C"),
    types.Array(types.int64, 1, "C"),
)
_i = types.int64


@made_once
def diagonal_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled `_diagonal`."""
    X = _matrix(dtype, "C", readonly=True)
    signature = types.void(X, _targets, _numbers, _i, _i, _i, _rows, _weights, _table, _table, _table)
    return _compiled(_diagonal(STAMP), signature, cached=True, **EXACT)  # type: ignore[no-untyped-call]


@made_once
def gaps_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled `_with_gaps`."""
    X = _matrix(dtype, "C", readonly=True)
    signature = types.void(X, _targets, _numbers, _i, _i, _rows, _weights, _table, _table, _table, _table)
    return _compiled(_with_gaps(STAMP), signature, cached=True, **EXACT)  # type: ignore[no-untyped-call]


@made_once
def centred_kernel(dtype: str) -> Callable[..., Any]:
    """The compiled `_centred`."""
    X = _matrix(dtype, "C", readonly=True)
    signature = types.void(X, _targets, _numbers, _i, _i, _rows, _table, _weights, _table, _table)
    return _compiled(_centred(STAMP), signature, cached=True, **EXACT)  # type: ignore[no-untyped-call]


@made_once
def sparse_kernels(dtype: str, index: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled `_sparse_sums` and `_sparse_squares`."""
    parts = (
        types.Array(getattr(types, dtype), 1, "C", readonly=True),
        types.Array(getattr(types, index), 1, "C", readonly=True), _targets, _targets, _numbers, _i, _i,
    )  # fmt: skip
    sums = types.void(*parts, _rows, _weights, _table, _table)
    squares = types.void(*parts, _table, _table, _table)
    return (
        _compiled(_sparse_sums(STAMP), sums, cached=True, **EXACT),  # type: ignore[no-untyped-call]
        _compiled(_sparse_squares(STAMP), squares, cached=True, **EXACT),  # type: ignore[no-untyped-call]
    )
