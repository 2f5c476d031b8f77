"""The compiled perceptron: look at a row, and where it is on the wrong side, move and write it in the log.

A stretch ends with its rows; or earlier, before a mistake that the log has no room for, before a mistake that ends a
longer run than any so far, when the weights have stayed as they are for long enough, or (with a run of −1) at a score
that is not finite. The text is the same for dense
and CSR rows, and runs interpreted too. The next row is scored while the weights move, so that no sum waits for a store.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ...data.compiled import row_access
from ...data.compiled.readers import rows_type
from ...data.compiled.row_access import (
    FAR_BYTES,
    NEAR_BYTES,
    U,
    add,
    fetch_far,
    fetch_near,
    move_and_score,
    row_bytes,
    score,
)
from ...numerics import lanes
from ...numerics.jit import kernel, read, write


def two_classes(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
    """w ← w + ηyx, b ← b + ηy where y(xᵀw + b) ≤ 0.  [001 slide 24; 003 slide 23]"""
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


def many_classes(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), ŷ = argmax_c θ·Φ(x, c): W_y rises by ηx, W_ŷ falls.  [004 §4.5]

    ŷ is the strongest of the other classes; whether it beats y at a tie, `tied` says for each order of the two.
    """
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


def weighted_sum(X, rows, classes, factors, W):  # type: ignore[no-untyped-def]
    """W_{classₗ} ← W_{classₗ} + cₗ x_{rowₗ} for every l."""
    for n in range(rows.size):
        add(W, classes[n], factors[n], X, rows[n])


def all_scores(X, lo, hi, W, b, s):  # type: ignore[no-untyped-def]
    """sᵢₖ = Wₖxᵢ + bₖ for the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        for k in range(b.size):
            s[i - lo, k] = score(W, k, b[k], X, i)


_i = types.int64


@kernel(*lanes.SOURCES, row_access)
def scan_kernel(dtype: str, index: str | None, two: bool) -> Any:
    """The compiled scan, for one kind of rows and for two classes or many."""
    ties, log = types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(_i, 3)(
        rows_type(dtype, index or "C"), read("int64"), read("int64"), types.float64, types.boolean, ties,
        types.boolean, _i, _i, write("float64", 2), write(), _i, log, log, log,
    )  # fmt: skip
    return two_classes if two else many_classes, signature


@kernel(*lanes.SOURCES, row_access)
def sum_kernel(dtype: str, index: str | None) -> Any:
    """The compiled sum over a log."""
    rows = rows_type(dtype, index or "C")
    return weighted_sum, types.void(rows, read("int64"), read("int64"), read(), write("float64", 2))


@kernel(*lanes.SOURCES, row_access)
def scores_kernel(dtype: str, index: str | None) -> Any:
    """The compiled scores of rows."""
    rows = rows_type(dtype, index or "C")
    return all_scores, types.void(rows, _i, _i, read("float64", 2), read(), write("float64", 2))
