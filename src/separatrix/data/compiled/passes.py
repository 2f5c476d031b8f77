"""The compiled passes over rows, generic over the loss: Numba meets the losses' own three lines.

What differs between kinds of rows is in `readers`. A loss from elsewhere is compiled anew in each process: what it is
made of cannot be known. Nothing here uses Numba's own threads.
"""

from __future__ import annotations

import hashlib
import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import astuple, fields
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from ...losses import margin as losses
from ...numerics import functions, vector_functions
from ...numerics.jit import EXACT, SUMS, kernel, made_once, read, write
from ..categorical import TABLE
from . import readers
from .readers import TILE, pull, room, rows_type, scores, sizes, step, take


@register_jitable(**SUMS)
def _total(z, rows):  # type: ignore[no-untyped-def]
    s = 0.0
    for k in range(rows):
        s += z[k]
    return s


def _pass(value, slope, curvature, self):  # type: ignore[no-untyped-def]
    """One loss's pass over the rows lo ≤ i < hi: Σ sφ(m), Σ sφ′(m) y (x − c), the least margin."""

    def kernel(X, y, cost, lo, hi, gather, center, w, b, gradient, weight):  # type: ignore[no-untyped-def]
        m, f, r, sign = np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE)
        tile, size = room(X, gather), step(X)
        total, margin, pulls = 0.0, np.inf, 0.0
        for start in range(lo, hi, size):
            rows = min(size, hi - start)
            if gather:
                take(X, start, rows, tile)
                scores(tile, 0, rows, center, w, b, m)
            else:
                scores(X, start, rows, center, w, b, m)
            for k in range(rows):
                sign[k] = y[start + k]
            for k in range(TILE):
                m[k] *= sign[k]
            for k in range(TILE):
                f[k] = value(self, m[k])
            for k in range(TILE):
                r[k] = slope(self, m[k]) * sign[k]
            if weight.size:
                for k in range(rows):
                    weight[start - lo + k] = curvature(self, m[k])
            for k in range(rows):
                counts = True
                if cost.size:
                    f[k] *= cost[start + k]
                    r[k] *= cost[start + k]
                    counts = cost[start + k] > 0
                    if weight.size:
                        weight[start - lo + k] *= cost[start + k]
                margin = m[k] if m[k] < margin and counts else margin
            total += _total(f, rows)
            pulls += _total(r, rows)
            if gather:
                pull(tile, 0, rows, center, r, gradient)
            else:
                pull(X, start, rows, center, r, gradient)
        return total, pulls, margin

    return kernel


def _bend(curvature, self):  # type: ignore[no-untyped-def]
    """One loss's Σ cφ″(m) ((x − c)ᵀu + a) (x − c, 1) over the rows lo ≤ i < hi: the Hessian's product with (u, a)."""

    def kernel(X, y, cost, lo, hi, gather, center, w, b, u, a, product):  # type: ignore[no-untyped-def]
        m, q, r = np.zeros(TILE), np.zeros(TILE), np.zeros(TILE)
        tile, size = room(X, gather), step(X)
        pulls = 0.0
        for start in range(lo, hi, size):
            rows = min(size, hi - start)
            if gather:
                take(X, start, rows, tile)
                scores(tile, 0, rows, center, w, b, m)
                scores(tile, 0, rows, center, u, a, q)
            else:
                scores(X, start, rows, center, w, b, m)
                scores(X, start, rows, center, u, a, q)
            for k in range(rows):
                m[k] *= y[start + k]
            for k in range(TILE):
                r[k] = curvature(self, m[k]) * q[k]
            if cost.size:
                for k in range(rows):
                    r[k] *= cost[start + k]
            pulls += _total(r, rows)
            if gather:
                pull(tile, 0, rows, center, r, product)
            else:
                pull(X, start, rows, center, r, product)
        return pulls

    return kernel


def _score(X, lo, hi, gather, center, w, b, found, spans):  # type: ignore[no-untyped-def]
    """The scores of the rows lo ≤ i < hi; their sizes too where there is room for them."""
    tile = room(X, gather)
    for start in range(lo, hi, TILE):
        rows = min(TILE, hi - start)
        if gather:
            take(X, start, rows, tile)
            scores(tile, 0, rows, center, w, b, found[start - lo :])
            if spans.size:
                sizes(tile, 0, rows, center, w, b, spans[start - lo :])
        else:
            scores(X, start, rows, center, w, b, found[start - lo :])
            if spans.size:
                sizes(X, start, rows, center, w, b, spans[start - lo :])


def _root(X, lo, hi, center, inverse_scale, weight, A):  # type: ignore[no-untyped-def]
    """Aᵢ = √|vᵢ| ((xᵢ − c)/s, 1): the square root of the block's Hessian, and its rows' own."""
    d = center.size
    for i in range(lo, hi):
        root = math.sqrt(abs(weight[i - lo]))
        for j in range(d):
            A[i - lo, j] = root * ((X[i, j] - center[j]) * inverse_scale[j])
        for j in range(d, A.shape[1]):
            A[i - lo, j] = root


def _table_root(X, lo, hi, center, inverse_scale, level, at, columns, weight, A):  # type: ignore[no-untyped-def]
    """Aᵢ of a table's rows: `level` is (0 − c)/s of all columns, then 1; numbers stand `at`, levels in `columns`.

    What a row has is put over what it has not.
    """
    numbers, places = X
    p, q, L = numbers.shape[1], places.shape[1], columns.size
    for i in range(lo, hi):
        root = math.sqrt(abs(weight[i - lo]))
        for j in range(A.shape[1]):
            A[i - lo, j] = root * level[j]
        for j in range(p):
            A[i - lo, at[j]] = root * ((numbers[i, j] - center[at[j]]) * inverse_scale[at[j]])
        for k in range(q):
            place = places[i, k]
            if place < L:
                j = columns[place]
                A[i - lo, j] = root * ((1.0 - center[j]) * inverse_scale[j])


def own_fields(loss: losses.MarginLoss) -> Any:
    """The loss's parameters by name: all that `self` is to Numba. The type is importable, or the cache would miss."""
    if not fields(loss):  # type: ignore[arg-type]
        return ()
    names = [field.name for field in fields(loss)]  # type: ignore[arg-type]
    name = f"Fields_{hashlib.sha256(repr(names).encode()).hexdigest()[:16]}"
    kind = globals().setdefault(name, namedtuple(name, names, module=__name__))  # type: ignore[misc]
    return kind(*astuple(loss))  # type: ignore[call-overload]


@made_once
def inlined(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is, and Numba told to write its text into the caller: a call would stop the vector unit."""
    overload(method, strict=False, inline="always", jit_options=EXACT)(lambda *_: method)
    return method


def is_ours(loss: losses.MarginLoss, *_: str) -> bool:
    """Of a foreign loss we cannot know all that it is made of."""
    return type(loss).__module__ == losses.__name__


_i, _f = types.int64, types.float64


@kernel(functions, vector_functions, losses, readers, cached=is_ours)
def pass_kernel(loss: losses.MarginLoss, dtype: str, layout: str) -> Any:
    """The compiled pass for one loss, precision and layout of X."""
    methods = (inlined(getattr(type(loss), name)) for name in ("value", "slope", "curvature"))
    signature = types.UniTuple(_f, 3)(
        rows_type(dtype, layout), read("int8"), read(), _i, _i, types.boolean, read(), read(), _f, write(), write()
    )
    return _pass(*methods, own_fields(loss)), signature  # type: ignore[no-untyped-call, call-arg]


@kernel(functions, vector_functions, losses, readers, cached=is_ours)
def bend_kernel(loss: losses.MarginLoss, dtype: str, layout: str) -> Any:
    """The compiled product of a loss's Hessian with weights."""
    rows = rows_type(dtype, layout)
    signature = _f(rows, read("int8"), read(), _i, _i, types.boolean, read(), read(), _f, read(), _f, write())
    return _bend(inlined(type(loss).curvature), own_fields(loss)), signature  # type: ignore[no-untyped-call]


@kernel()
def root_kernel(dtype: str, order: str, out: str) -> Any:
    """The compiled square root of a block's Hessian, in the precision `out`."""
    return _root, types.void(read(dtype, 2, order), _i, _i, read(), read(), read(), write(out, 2))


@kernel()
def table_root_kernel(out: str) -> Any:
    """The compiled square root of a block's Hessian over a table's rows, in the precision `out`."""
    places = read("int64")
    signature = types.void(
        rows_type("float64", TABLE), _i, _i, read(), read(), read(), places, places, read(), write(out, 2)
    )
    return _table_root, signature


@kernel(readers)
def score_kernel(dtype: str, layout: str) -> Any:
    """The compiled scores of rows."""
    rows = rows_type(dtype, layout)
    return _score, types.void(rows, _i, _i, types.boolean, read(), read(), _f, write(), write())
