"""The compiled sums of a class's rows about its mean so far, one read of X.

A run of rows goes in blocks. Within one, rows are seen from the mean that their class had before it, so that what is
squared is small; then the block is merged. No digits are lost that the spread itself does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...numerics.jit import EXACT, kernel, read, write
from . import support
from .support import LOW, PAIR


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


def _diagonal(X, target, cost, lo, hi, block, rows, weight, mean, rest, scatter):  # type: ignore[no-untyped-def]
    """nₖ, μₖ and Σᵢ cᵢ(xᵢⱼ − μₖⱼ)² of each class and column, over the rows lo ≤ i < hi."""
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


def _with_gaps(X, target, cost, lo, hi, rows, weight, present, mean, rest, scatter):  # type: ignore[no-untyped-def]
    """nₖ, μₖ and Σᵢ cᵢ(xᵢⱼ − μₖⱼ)² where a number may be missing (NaN): each column has a weight of its own."""
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


def _centred(X, target, cost, lo, hi, rows, mean, fresh, sums, Z):  # type: ignore[no-untyped-def]
    """Z = √c(x − μₖ), row by row, for the products that a full scatter is made of; and Σ c(x − μₖ) of each class."""
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


def _sparse_sums(values, columns, starts, target, cost, lo, hi, rows, weight, there, sums):  # type: ignore[no-untyped-def]
    """Σ cx and the weight of the numbers that are there, by class and column, of CSR rows."""
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


def _sparse_squares(values, columns, starts, target, cost, lo, hi, mean, sums, squares):  # type: ignore[no-untyped-def]
    """Σ c(x − μₖ)² and Σ c(x − μₖ) over the numbers that are there, of CSR rows."""
    for i in range(lo, hi):
        k = target[i]
        c = cost[i] if cost.size else 1.0
        if c == 0:
            continue
        for e in range(starts[i], starts[i + 1]):
            t = values[e] - mean[k, columns[e]]
            sums[k, columns[e]] += c * t
            squares[k, columns[e]] += c * t * t


def _above(X, target, cost, lo, hi, threshold, rows, weight, above, odd):  # type: ignore[no-untyped-def]
    """Σ c·1[x > threshold] of each class and column over the rows lo ≤ i < hi; `odd` is NaN where x is not finite."""
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


def _outside(kind):  # type: ignore[no-untyped-def]
    """Whether a number in the rows lo ≤ i < hi may not be allowed: of two numbers NaN is one to be looked at again."""

    def kernel(X, cost, lo, hi, lowest, highest, whole):  # type: ignore[no-untyped-def]
        wrong = np.zeros(X.shape[1])  # counted by columns: so the numbers of a row are looked at together
        for i in range(lo, hi):
            if cost.size and cost[i] == 0:
                continue
            x = X[i]
            if kind == PAIR:
                for j in range(x.size):
                    wrong[j] += abs((x[j] - lowest[j]) * (x[j] - highest[j]))
            elif kind == LOW:
                for j in range(x.size):
                    wrong[j] += 1.0 if x[j] < lowest[j] else 0.0
            else:
                for j in range(x.size):
                    below, above = 1.0 if x[j] < lowest[j] else 0.0, 1.0 if x[j] > highest[j] else 0.0
                    wrong[j] += below + above + (whole[j] if x[j] - np.floor(x[j]) > 0 else 0.0)
        return wrong.sum() != 0

    return kernel


_rows, _weights, _table = write("int64"), write(), write("float64", 2)
_i = types.int64


@kernel()
def diagonal_kernel(dtype: str) -> Any:
    """The compiled `_diagonal`."""
    X, target = read(dtype, 2), read("int64")
    return _diagonal, types.void(X, target, read(), _i, _i, _i, _rows, _weights, _table, _table, _table)


@kernel()
def gaps_kernel(dtype: str) -> Any:
    """The compiled `_with_gaps`."""
    X, target = read(dtype, 2), read("int64")
    return _with_gaps, types.void(X, target, read(), _i, _i, _rows, _weights, _table, _table, _table, _table)


@kernel()
def centred_kernel(dtype: str) -> Any:
    """The compiled `_centred`."""
    X, target = read(dtype, 2), read("int64")
    return _centred, types.void(X, target, read(), _i, _i, _rows, _table, _weights, _table, _table)


@kernel()
def sparse_sums_kernel(dtype: str, index: str) -> Any:
    """The compiled `_sparse_sums`."""
    parts = read(dtype), read(index), read("int64"), read("int64"), read()
    return _sparse_sums, types.void(*parts, _i, _i, _rows, _weights, _table, _table)


@kernel()
def sparse_squares_kernel(dtype: str, index: str) -> Any:
    """The compiled `_sparse_squares`."""
    parts = read(dtype), read(index), read("int64"), read("int64"), read()
    return _sparse_squares, types.void(*parts, _i, _i, _table, _table, _table)


@kernel()
def above_kernel(dtype: str) -> Any:
    """The compiled `_above`."""
    X, target = read(dtype, 2), read("int64")
    return _above, types.void(X, target, read(), _i, _i, types.float64, _rows, _weights, _table, _weights)


@kernel(support)
def outside_kernel(dtype: str, kind: int) -> Any:
    """The compiled `_outside`."""
    return _outside(kind), types.boolean(read(dtype, 2), read(), _i, _i, read(), read(), read())  # type: ignore[no-untyped-call]
