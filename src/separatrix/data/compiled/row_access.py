"""How a compiled scan reads a row, dense or CSR: scans have one text, and Numba picks what is done by the type of X.

X is a C-ordered matrix, or the numbers, columns and starts of CSR rows. Each function here is its own definition in
Python, which runs where nothing is compiled, and has one compiled version for each kind of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from ...numerics.jit import EXACT, INLINED
from ...numerics.lanes import instructions
from ...numerics.plain_lanes import CACHE_LINE

U = np.uint64
AHEAD = 128
"""Numbers of CSR rows between the one that is read and the one that is called into the cache."""
FAR_BYTES = 1 << 14
"""How far ahead of its turn a row is called into the second level of the cache."""
NEAR_BYTES = 1 << 11
"""How far ahead of its turn a row is called into the first level of the cache."""
SMALLEST = 1e-3
"""The least factor that all weights may share: the sums of weights lose as many digits."""


def _row(X: Any, i: int) -> tuple[Any, Any]:
    """The columns of row i that are there, and their numbers."""
    if isinstance(X, tuple):
        values, columns, starts = X
        here = slice(starts[i], starts[i + 1])
        return columns[here], values[here].astype(np.float64)
    return slice(None), X[i].astype(np.float64)


def _is_csr(X: Any) -> bool:
    return isinstance(X, types.BaseTuple)


def score(W: Any, k: int, start: float, X: Any, i: int) -> float:
    """start + Σⱼ Wₖⱼ Xᵢⱼ."""
    columns, values = _row(X, i)
    return float(start + W[k][columns] @ values)


@overload(score, jit_options=INLINED)
def _score(W, k, start, X, i):  # type: ignore[no-untyped-def]
    if not _is_csr(X):
        dense_score = instructions().dense_score
        return lambda W, k, start, X, i: dense_score(W, k, start, X, i)
    line_near = instructions().line_near

    def sparse(W, k, start, X, i):  # type: ignore[no-untyped-def]
        values, columns, starts = X
        # unsigned: of a signed index Numba asks whether it counts from the end
        e, last = U(starts[i]), U(starts[i + 1])
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        while e + U(8) <= last:
            line_near(
                values, np.int64(e) + AHEAD
            )  # rows mostly come one after the other; beyond the end it does no harm
            line_near(columns, np.int64(e) + AHEAD)
            a += W[k, U(columns[e])] * values[e]
            b += W[k, U(columns[e + U(1)])] * values[e + U(1)]
            c += W[k, U(columns[e + U(2)])] * values[e + U(2)]
            d += W[k, U(columns[e + U(3)])] * values[e + U(3)]
            a += W[k, U(columns[e + U(4)])] * values[e + U(4)]
            b += W[k, U(columns[e + U(5)])] * values[e + U(5)]
            c += W[k, U(columns[e + U(6)])] * values[e + U(6)]
            d += W[k, U(columns[e + U(7)])] * values[e + U(7)]
            e += U(8)
        while e + U(4) <= last:
            a += W[k, U(columns[e])] * values[e]
            b += W[k, U(columns[e + U(1)])] * values[e + U(1)]
            c += W[k, U(columns[e + U(2)])] * values[e + U(2)]
            d += W[k, U(columns[e + U(3)])] * values[e + U(3)]
            e += U(4)
        while e < last:
            a += W[k, U(columns[e])] * values[e]
            e += U(1)
        return start + ((a + b) + (c + d))

    return sparse


def add(W: Any, k: int, pull: float, X: Any, i: int) -> None:
    """Wₖ ← Wₖ + pull Xᵢ."""
    columns, values = _row(X, i)
    W[k][columns] += pull * values


@overload(add, jit_options=INLINED)
def _add(W, k, pull, X, i):  # type: ignore[no-untyped-def]
    if not _is_csr(X):

        def dense(W, k, pull, X, i):  # type: ignore[no-untyped-def]
            for j in range(W.shape[1]):
                W[k, j] += pull * X[i, j]

        return dense

    def sparse(W, k, pull, X, i):  # type: ignore[no-untyped-def]
        values, columns, starts = X
        e, last = U(starts[i]), U(starts[i + 1])
        while e + U(4) <= last:  # no column stands twice in a row: four sums need not wait for each other's store
            p, q, r, s = U(columns[e]), U(columns[e + U(1)]), U(columns[e + U(2)]), U(columns[e + U(3)])
            a = W[k, p] + pull * values[e]
            b = W[k, q] + pull * values[e + U(1)]
            c = W[k, r] + pull * values[e + U(2)]
            d = W[k, s] + pull * values[e + U(3)]
            W[k, p], W[k, q], W[k, r], W[k, s] = a, b, c, d
            e += U(4)
        while e < last:
            W[k, U(columns[e])] += pull * values[e]
            e += U(1)

    return sparse


def move_and_score(W: Any, k: int, pull: float, X: Any, h: int, start: float, i: int) -> float:
    """Wₖ ← Wₖ + pull Xₕ, then start + Σⱼ Wₖⱼ Xᵢⱼ."""
    add(W, k, pull, X, h)
    return score(W, k, start, X, i)


@overload(move_and_score, jit_options=INLINED)
def _move_and_score(W, k, pull, X, h, start, i):  # type: ignore[no-untyped-def]
    if not _is_csr(X):
        dense_move_and_score = instructions().dense_move_and_score
        return lambda W, k, pull, X, h, start, i: dense_move_and_score(W, k, 1.0, pull, h, start, X, i)

    def sparse(W, k, pull, X, h, start, i):  # type: ignore[no-untyped-def]
        add(W, k, pull, X, h)
        return score(W, k, start, X, i)

    return sparse


def read_score(W: Any, k: int, memo: Any, start: float, X: Any, i: int) -> float:
    """start + s Σⱼ Wₖⱼ Xᵢⱼ, s = memo[0] the factor that all weights share; it is one for dense rows."""
    return float(start + memo[0] * (score(W, k, 0.0, X, i)))


@overload(read_score, jit_options=INLINED)
def _read_score(W, k, memo, start, X, i):  # type: ignore[no-untyped-def]
    if not _is_csr(X):
        dense_score = instructions().dense_score
        return lambda W, k, memo, start, X, i: dense_score(W, k, start, X, i)
    return lambda W, k, memo, start, X, i: start + memo[0] * score(W, k, 0.0, X, i)


def decay(X: Any, memo: Any, keep: float, W: Any, sum_W: Any) -> None:
    """s ← keep · s: of CSR rows a step that shrinks all weights touches none of them.

    Before s becomes small, the weights take it over. `sum_W` and memo[1] are those of `note`.
    """
    memo[0] *= keep
    if not memo[0] > SMALLEST:
        for k in range(len(sum_W)):
            sum_W[k] += memo[1] * W[k]
        W *= memo[0]
        memo[0], memo[1] = 1.0, 0.0


@overload(decay, jit_options=EXACT)
def _decay(X, memo, keep, W, sum_W):  # type: ignore[no-untyped-def]
    if not _is_csr(X):
        return lambda X, memo, keep, W, sum_W: None

    def sparse(X, memo, keep, W, sum_W):  # type: ignore[no-untyped-def]
        memo[0] *= keep
        if not memo[0] > SMALLEST:
            for k in range(W.shape[0]):
                for j in range(W.shape[1]):
                    if sum_W.shape[0]:
                        sum_W[k, j] += memo[1] * W[k, j]
                    W[k, j] *= memo[0]
            memo[0], memo[1] = 1.0, 0.0

    return sparse


def learn(
    W: Any, k: int, memo: Any, keep: float, pull: float, h: int, start: float, X: Any, i: int, sum_W: Any
) -> float:
    """sWₖ ← sWₖ + pull Xₕ, then `read_score` of row i; what the sums must not count of it goes to `sum_W`."""
    add(W, k, pull / memo[0], X, h)
    if len(sum_W):
        add(sum_W, k, -memo[1] * (pull / memo[0]), X, h)
    return read_score(W, k, memo, start, X, i)


@overload(learn, jit_options=INLINED)
def _learn(W, k, memo, keep, pull, h, start, X, i, sum_W):  # type: ignore[no-untyped-def]
    if not _is_csr(X):
        dense_move_and_score = instructions().dense_move_and_score

        def dense(W, k, memo, keep, pull, h, start, X, i, sum_W):  # type: ignore[no-untyped-def]
            return dense_move_and_score(W, k, keep, pull, h, start, X, i)

        return dense

    def sparse(W, k, memo, keep, pull, h, start, X, i, sum_W):  # type: ignore[no-untyped-def]
        step = pull / memo[0]
        add(W, k, step, X, h)
        if sum_W.shape[0]:
            add(sum_W, k, -memo[1] * step, X, h)
        return start + memo[0] * score(W, k, 0.0, X, i)

    return sparse


def note(X: Any, memo: Any, W: Any, b: Any, sum_W: Any, sum_b: Any) -> None:
    """ΣW ← ΣW + W, Σb ← Σb + b. Of CSR rows ΣW is kept as memo[1] · W + sum_W, so that a step touches few numbers."""
    memo[1] += memo[0]
    sum_b += b


@overload(note, jit_options=EXACT)
def _note(X, memo, W, b, sum_W, sum_b):  # type: ignore[no-untyped-def]
    if _is_csr(X):

        def sparse(X, memo, W, b, sum_W, sum_b):  # type: ignore[no-untyped-def]
            memo[1] += memo[0]
            for k in range(b.size):
                sum_b[k] += b[k]

        return sparse

    def dense(X, memo, W, b, sum_W, sum_b):  # type: ignore[no-untyped-def]
        for k in range(b.size):
            sum_b[k] += b[k]
            for j in range(W.shape[1]):
                sum_W[k, j] += W[k, j]

    return dense


def fetch_near(X: Any, i: int) -> None:
    """A hint that row i is wanted very soon."""


def fetch_far(X: Any, i: int) -> None:
    """A hint that row i is wanted soon."""


def _fetch(hint: Any, of_row: str, of_line: str) -> None:
    @overload(hint, jit_options=INLINED)
    def _(X, i):  # type: ignore[no-untyped-def]
        dense, line = getattr(instructions(), of_row), getattr(instructions(), of_line)
        if not _is_csr(X):
            return lambda X, i: dense(X, i)

        def sparse(X, i):  # type: ignore[no-untyped-def]
            values, columns, starts = X
            first, last = starts[i], starts[i + 1]
            for e in range(first, last, CACHE_LINE // values.itemsize):
                line(values, e)
            for e in range(first, last, CACHE_LINE // columns.itemsize):
                line(columns, e)

        return sparse


_fetch(fetch_near, "dense_fetch_near", "line_near")
_fetch(fetch_far, "dense_fetch_far", "line_far")


def row_bytes(X: Any) -> int:
    """How long a row is, in bytes; one of many where they differ."""
    return int(np.mean(np.diff(X[2])) * X[0].itemsize) if isinstance(X, tuple) else int(X.shape[1] * X.itemsize)


@overload(row_bytes)
def _row_bytes(X):  # type: ignore[no-untyped-def]
    if _is_csr(X):
        return lambda X: X[0].itemsize * (X[2][-1] - X[2][0]) // max(1, X[2].size - 1)
    return lambda X: X.shape[1] * X.itemsize
