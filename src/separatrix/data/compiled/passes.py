"""The compiled pass over rows, dense or CSR, generic over the loss.

Numba meets the losses' own three lines: this module teaches it only the primitives of `separatrix.numerics`, once
each, as scalar code without branches, so that the loop over margins becomes vector instructions. A kernel is cached
on disk under a stamp of every source text it is made of: a second process compiles nothing, and an edited loss is never
served stale. (A loss from elsewhere is compiled anew in each process: what it is made of cannot be known.) Nothing here
uses Numba's own threads.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import astuple, fields
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload, register_jitable

from ...losses import margin as losses
from ...numerics import functions as numerics
from ...numerics.jit import EXACT, SUMS, made_once
from . import readers as compiled_rows
from .readers import TILE, pull, room, scores, sizes, take

LOG2_E = 1 / math.log(2)
LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # 33 bits: k · LN2_HIGH is exact for every exponent k
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context: Any, bits: Any) -> Any:
    """The float64 with these bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@register_jitable(**EXACT)
def _exp(z):  # type: ignore[no-untyped-def]
    """eᶻ = 2ᵏ eʳ, |r| ≤ ½ log 2, for z ≤ 709; zero below −708."""
    z = -708.0 if z < -708.0 else z  # a NaN fails the comparison and stays
    k = np.floor(z * LOG2_E + 0.5)
    r = (z - k * LN2_HIGH) - k * LN2_LOW
    p = r * (1 / 6227020800) + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 1 / 2
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _from_bits((np.int64(1023) + np.int64(k)) << np.int64(52)) if z > -708.0 else 0.0 * z


@overload(numerics.sigmoid, jit_options=EXACT)
def _sigmoid(z):  # type: ignore[no-untyped-def]
    def scalar(z):  # type: ignore[no-untyped-def]
        e = _exp(-abs(z))
        return (e if z < 0 else 1.0) / (1.0 + e)

    return scalar


@overload(numerics.softplus, jit_options=EXACT, inline="always")
def _softplus(z):  # type: ignore[no-untyped-def]
    def scalar(z):  # type: ignore[no-untyped-def]
        e = _exp(-abs(z))
        s = e / (2.0 + e)
        q = s * s
        p = q * (1 / 33) + 1 / 31
        p = p * q + 1 / 29
        p = p * q + 1 / 27
        p = p * q + 1 / 25
        p = p * q + 1 / 23
        p = p * q + 1 / 21
        p = p * q + 1 / 19
        p = p * q + 1 / 17
        p = p * q + 1 / 15
        p = p * q + 1 / 13
        p = p * q + 1 / 11
        p = p * q + 1 / 9
        p = p * q + 1 / 7
        p = p * q + 1 / 5
        p = p * q + 1 / 3
        p = p * q + 1.0
        return 0.5 * (z + abs(z)) + 2.0 * s * p  # log(1 + e) = 2 artanh(e / (2 + e))

    return scalar


@overload(numerics.positive, jit_options=EXACT)
def _positive(z):  # type: ignore[no-untyped-def]
    return lambda z: 0.5 * (z + abs(z))


@overload(numerics.step, jit_options=EXACT)
def _step(z):  # type: ignore[no-untyped-def]
    return lambda z: 1.0 if z > 0 else 0.0 * z


@overload(numerics.exponential, jit_options=EXACT)
def _exponential(z):  # type: ignore[no-untyped-def]
    held = math.log(sys.float_info.max) - 1
    return lambda z: _exp(held if z > held else z)


@register_jitable(**SUMS)
def _total(z, rows):  # type: ignore[no-untyped-def]
    s = 0.0
    for k in range(rows):
        s += z[k]
    return s


def _pass(value, slope, curvature, self, stamp):  # type: ignore[no-untyped-def]
    """One loss's pass over the rows lo ≤ i < hi: Σ sφ(m), Σ sφ′(m) y (x − c), the least margin."""

    def kernel(X, y, cost, lo, hi, gather, center, w, b, gradient, weight):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        m, f, r, sign = np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE)
        tile = room(X, gather)
        total, margin, pulls = 0.0, np.inf, 0.0
        for start in range(lo, hi, TILE):
            rows = min(TILE, hi - start)
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


def _bend(curvature, self, stamp):  # type: ignore[no-untyped-def]
    """One loss's Σ cφ″(m) (xᵀu + a) (x, 1) over the rows lo ≤ i < hi: the Hessian's product with (u, a)."""

    def kernel(X, y, cost, lo, hi, w, b, u, a, product):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        m, q, r, center = np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(u.size)
        pulls = 0.0
        for start in range(lo, hi, TILE):
            rows = min(TILE, hi - start)
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
            pull(X, start, rows, center, r, product)
        return pulls

    return kernel


def _score(stamp):  # type: ignore[no-untyped-def]
    """The scores of the rows lo ≤ i < hi; their sizes too where there is room for them."""

    def kernel(X, lo, hi, gather, center, w, b, found, spans):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
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

    return kernel


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
    """The same of a table's rows: `level` is (0 − c)/s of all columns, then 1; numbers stand `at`, levels in `columns`.

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


STAMP = hashlib.sha256(
    "".join(inspect.getsource(module) for module in (numerics, losses, compiled_rows, sys.modules[__name__])).encode()
).hexdigest()


TABLE = "table"


def layout(X: Any) -> str:
    """C, F, or A for any other strides; of CSR rows the kind of their column numbers; of a table's rows TABLE."""
    if not isinstance(X, np.ndarray):
        return TABLE if len(X.parts) == compiled_rows.TABLE_PARTS else str(X.columns.dtype.name)
    return "C" if X.flags.c_contiguous else "F" if X.flags.f_contiguous else "A"


def readable(X: Any) -> Any:
    """The rows as a compiled pass takes them."""
    return X if isinstance(X, np.ndarray) else X.parts


def _matrix(dtype: str, order: str, *, readonly: bool) -> types.Array:
    return types.Array(types.float32 if dtype == "float32" else types.float64, 2, order, readonly=readonly)


def _rows(dtype: str, order: str) -> Any:
    """The type of the rows in a layout: an array, CSR parts, or those of a table."""
    if order in ("C", "F", "A"):
        return _matrix(dtype, order, readonly=True)
    if order == TABLE:
        return types.Tuple([_matrix(dtype, "C", readonly=True), types.Array(types.int32, 2, "C", readonly=True)])
    numbers = (types.float32 if dtype == "float32" else types.float64, types.int32, types.int64)
    kinds = (numbers[0], numbers[1] if order == "int32" else numbers[2], types.int64)
    return types.Tuple([types.Array(kind, 1, "C", readonly=True) for kind in kinds])


def _compiled(kernel: Callable[..., Any], signature: Any, *, cached: bool, **options: Any) -> Callable[..., Any]:
    """The kernel compiled to one signature, from the disk cache where one can be written."""
    try:
        return njit(signature, nogil=True, cache=cached, **options)(kernel)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder for the cache
        return njit(signature, nogil=True, **options)(kernel)  # type: ignore[no-any-return]


def _own_fields(loss: losses.MarginLoss) -> Any:
    """The loss's parameters by name: all that `self` is to Numba. The type is importable, or the cache would miss."""
    if not fields(loss):  # type: ignore[arg-type]
        return ()
    names = [field.name for field in fields(loss)]  # type: ignore[arg-type]
    name = f"Fields_{hashlib.sha256(repr(names).encode()).hexdigest()[:16]}"
    kind = globals().setdefault(name, namedtuple(name, names, module=__name__))  # type: ignore[misc]
    return kind(*astuple(loss))  # type: ignore[call-overload]


@made_once
def _inlined(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is, and Numba told to write its text into the caller: a call would stop the vector unit."""
    overload(method, strict=False, inline="always", jit_options=EXACT)(lambda *_: method)
    return method


@made_once
def pass_kernel(loss: losses.MarginLoss, dtype: str, order: str) -> Callable[..., Any]:
    """The compiled pass for one loss, precision and layout of X."""
    methods = (_inlined(getattr(type(loss), name)) for name in ("value", "slope", "curvature"))
    vector, numbers = types.Array(types.float64, 1, "C"), types.Array(types.float64, 1, "C", readonly=True)
    signs = types.Array(types.int8, 1, "C", readonly=True)
    signature = types.Tuple((types.float64,) * 3)(
        _rows(dtype, order), signs, numbers, types.int64, types.int64, types.boolean,
        numbers, numbers, types.float64, vector, vector,
    )  # fmt: skip
    kernel: Callable[..., Any] = _pass(*methods, _own_fields(loss), STAMP)  # type: ignore[no-untyped-call, call-arg]
    return _compiled(kernel, signature, cached=_is_ours(loss), **EXACT)


def _is_ours(loss: losses.MarginLoss) -> bool:
    """Of a foreign loss we cannot know all that it is made of."""
    return type(loss).__module__ == losses.__name__


@made_once
def bend_kernel(loss: losses.MarginLoss, dtype: str, order: str) -> Callable[..., Any]:
    """The compiled product of a loss's Hessian with weights."""
    vector, numbers = types.Array(types.float64, 1, "C"), types.Array(types.float64, 1, "C", readonly=True)
    signs = types.Array(types.int8, 1, "C", readonly=True)
    signature = types.float64(
        _rows(dtype, order), signs, numbers, types.int64, types.int64, numbers, types.float64, numbers, types.float64,
        vector,
    )  # fmt: skip
    kernel: Callable[..., Any] = _bend(_inlined(type(loss).curvature), _own_fields(loss), STAMP)  # type: ignore[no-untyped-call]
    return _compiled(kernel, signature, cached=_is_ours(loss), **EXACT)


@made_once
def root_kernel(dtype: str, order: str, out: str) -> Callable[..., Any]:
    """The compiled square root of a block's Hessian, in the precision `out`."""
    numbers = types.Array(types.float64, 1, "C", readonly=True)
    signature = types.void(
        _matrix(dtype, order, readonly=True), types.int64, types.int64, numbers, numbers, numbers,
        _matrix(out, "C", readonly=False),
    )  # fmt: skip
    return _compiled(_root, signature, cached=True, **EXACT)


@made_once
def table_root_kernel(out: str) -> Callable[..., Any]:
    """The same of a table's rows."""
    numbers, columns = (types.Array(kind, 1, "C", readonly=True) for kind in (types.float64, types.int64))
    signature = types.void(
        _rows("float64", TABLE), types.int64, types.int64, numbers, numbers, numbers, columns, columns, numbers,
        _matrix(out, "C", readonly=False),
    )  # fmt: skip
    return _compiled(_table_root, signature, cached=True, **EXACT)


@made_once
def score_kernel(dtype: str, order: str) -> Callable[..., Any]:
    """The compiled scores of rows."""
    vector, numbers = types.Array(types.float64, 1, "C"), types.Array(types.float64, 1, "C", readonly=True)
    signature = types.void(
        _rows(dtype, order), types.int64, types.int64, types.boolean, numbers, numbers, types.float64, vector, vector,
    )  # fmt: skip
    return _compiled(_score(STAMP), signature, cached=True, **EXACT)  # type: ignore[no-untyped-call]
