"""The compiled perceptron: look at a row, and where it is on the wrong side, move and write it in the log.

A stretch ends with its rows; or earlier, before a mistake that the log has no room for, before a mistake that ends a
longer run than any so far, when the weights have stayed as they are for long enough, or (with a run of −1) at a score
that is not finite. The text is the same for dense
and CSR rows, and runs interpreted too. The next row is scored while the weights move, so that no sum waits for a store.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from ...data.compiled import passes as compiled
from ...data.compiled import row_access
from ...data.compiled.passes import _compiled, _matrix
from ...data.compiled.row_access import U, add, fetch_far, fetch_near, move_and_score, row_bytes, rows_type, score
from ...numerics import lanes
from ...numerics.jit import EXACT, made_once
from .online_kernels import FAR_BYTES, NEAR_BYTES


def two_classes(stamp):  # type: ignore[no-untyped-def]
    """w ← w + ηyx, b ← b + ηy where y(xᵀw + b) ≤ 0.  [001 slide 24; 003 slide 23]"""

    def kernel(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        last, far, near = rows.size - 1, 1 + FAR_BYTES // (1 + row_bytes(X)), 1 + NEAR_BYTES // (1 + row_bytes(X))
        bias, made, signs = b[0], 0, np.array([-1.0, 1.0])
        i = rows[0] if rows.size else 0
        z = score(W, 0, bias, X, i) if rows.size else 0.0
        for n in range(rows.size):
            then = rows[min(n + 1, last)]
            if shuffled:
                fetch_near(X, rows[min(n + near, last)])
                fetch_far(X, rows[min(n + far, last)])
            y = signs[U(target[U(i)])]
            m = y * z
            if (m > 0 and m < np.inf) or (m == 0 and not tied[target[i]]):
                run += 1
                if run >= patience:
                    b[0] = bias
                    return n + 1, made, run
                z = score(W, 0, bias, X, then)
            else:
                if not (m > -np.inf and m < np.inf):
                    return n, made, -1
                if made == log.size or run > record:
                    b[0] = bias
                    return n, made, run
                log[made], at[made], rival[made], run = i, n, 1 - target[i], 0
                made += 1
                if lifted:
                    bias += eta * y
                z = move_and_score(W, 0, eta * y, X, i, bias, then)
            i = then
        b[0] = bias
        return rows.size, made, run

    return kernel


def many_classes(stamp):  # type: ignore[no-untyped-def]
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), ŷ = argmax_c θ·Φ(x, c): W_y rises by ηx, W_ŷ falls.  [004 §4.5]

    ŷ is the strongest of the other classes; whether it beats y at a tie, `tied` says for each order of the two.
    """

    def kernel(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        last, far, near = rows.size - 1, 1 + FAR_BYTES // (1 + row_bytes(X)), 1 + NEAR_BYTES // (1 + row_bytes(X))
        made = 0
        for n in range(rows.size):
            if shuffled:
                fetch_near(X, rows[min(n + near, last)])
                fetch_far(X, rows[min(n + far, last)])
            i = rows[n]
            y = target[i]
            own = score(W, y, b[y], X, i)
            best, other = -np.inf, -1
            for k in range(b.size):
                if k != y:
                    s = score(W, k, b[k], X, i)
                    # of equals the first; where the tie is for the later class, the last
                    if s > best or other < 0 or (s == best and tied[0] and not tied[1]):
                        best, other = s, k
            m = own - best
            if not (m > -np.inf and m < np.inf):
                return n, made, -1
            # tied[1]: a tie with a class before y is a mistake; tied[0]: with a class after it
            if m > 0 or (m == 0 and not (tied[1] if other < y else tied[0])):
                run += 1
                if run >= patience:
                    return n + 1, made, run
                continue
            if made == log.size or run > record:
                return n, made, run
            log[made], at[made], rival[made], run = i, n, other, 0
            made += 1
            add(W, y, eta, X, i)
            add(W, other, -eta, X, i)
            if lifted:
                b[y] += eta
                b[other] -= eta
        return rows.size, made, run

    return kernel


def weighted_sum(stamp):  # type: ignore[no-untyped-def]
    """W_{classₗ} ← W_{classₗ} + cₗ x_{rowₗ} for every l."""

    def kernel(X, rows, classes, factors, W):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for n in range(rows.size):
            add(W, classes[n], factors[n], X, rows[n])

    return kernel


def all_scores(stamp):  # type: ignore[no-untyped-def]
    """sᵢₖ = Wₖxᵢ + bₖ for the rows lo ≤ i < hi."""

    def kernel(X, lo, hi, W, b, s):  # type: ignore[no-untyped-def]
        stamp  # noqa: B018  in the closure, hence in Numba's cache key
        for i in range(lo, hi):
            for k in range(b.size):
                s[i - lo, k] = score(W, k, b[k], X, i)

    return kernel


STAMP = hashlib.sha256(
    "".join(inspect.getsource(module) for module in (compiled, lanes, row_access, sys.modules[__name__])).encode()
).hexdigest()

_indices, _log = types.Array(types.int64, 1, "C", readonly=True), types.Array(types.int64, 1, "C")
_ties = types.UniTuple(types.boolean, 2)


@made_once
def scan_kernel(dtype: str, index: str | None, two: bool) -> Callable[..., Any]:
    """The compiled scan, for one kind of rows and for two classes or many."""
    W, b = _matrix("float64", "C", readonly=False), types.Array(types.float64, 1, "C")
    signature = types.Tuple((types.int64,) * 3)(
        rows_type(dtype, index), _indices, _indices, types.float64, types.boolean, _ties, types.boolean, types.int64,
        types.int64, W, b, types.int64, _log, _log, _log,
    )  # fmt: skip
    kernel: Callable[..., Any] = (two_classes if two else many_classes)(STAMP)  # type: ignore[no-untyped-call]
    return _compiled(kernel, signature, cached=True, **EXACT)


@made_once
def sum_kernel(dtype: str, index: str | None) -> Callable[..., Any]:
    """The compiled sum over a log."""
    numbers, W = types.Array(types.float64, 1, "C", readonly=True), _matrix("float64", "C", readonly=False)
    signature = types.void(rows_type(dtype, index), _indices, _indices, numbers, W)
    kernel: Callable[..., Any] = weighted_sum(STAMP)  # type: ignore[no-untyped-call]
    return _compiled(kernel, signature, cached=True, **EXACT)


@made_once
def scores_kernel(dtype: str, index: str | None) -> Callable[..., Any]:
    """The compiled scores of rows."""
    read, write = _matrix("float64", "C", readonly=True), _matrix("float64", "C", readonly=False)
    numbers = types.Array(types.float64, 1, "C", readonly=True)
    signature = types.void(rows_type(dtype, index), types.int64, types.int64, read, numbers, write)
    kernel: Callable[..., Any] = all_scores(STAMP)  # type: ignore[no-untyped-call]
    return _compiled(kernel, signature, cached=True, **EXACT)
