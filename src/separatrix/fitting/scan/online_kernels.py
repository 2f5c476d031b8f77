"""The compiled steps of the scan: one row at a time, each step waiting for the one before.

A pass is as fast as the way from one pull to the next: move the weights, score the next row, look up σ. So the weights
move and the next row is scored in one sweep, σ is a short polynomial around a point of a grid instead of an exponential
and a division, and rows are called into the cache well before their turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...data.compiled import row_access
from ...data.compiled.passes import inlined, is_ours, own_fields
from ...data.compiled.readers import rows_type
from ...data.compiled.row_access import (
    FAR_BYTES,
    NEAR_BYTES,
    decay,
    fetch_far,
    fetch_near,
    learn,
    note,
    read_score,
    row_bytes,
)
from ...losses import margin
from ...losses.margin import LogisticSquared, LogLikelihood, MarginLoss
from ...losses.softmax import SoftmaxLikelihood, SoftmaxSquared
from ...numerics import functions, lanes, vector_functions
from ...numerics.arrays import Floats
from ...numerics.jit import EXACT, kernel, read, write
from ...numerics.vector_functions import exp
from .online import LEAST_SQUARES

GRID = 16
"""Points of the table of σ from one number to the next."""
REACH = 40
"""σ is 0 at minus this and 1 from this on."""
TERMS = 8
"""Terms of σ around a point."""
POINTS = 2048
"""A power of two, so that no bits whatever, not even those of a NaN, point beyond the table."""
ANCHOR = 2.0**52 / GRID + REACH
"""Added to z it leaves GRID · (z + REACH), rounded, in the last bits."""


@cache
def sigmoid_table() -> Floats:
    """σ(g + h) = Σₙ cₙ hⁿ, (n + 1) cₙ₊₁ = Σᵢ cᵢ c̄ₙ₋ᵢ, c̄ the coefficients of 1 − σ: to the last bit for |h| ≤ 1/32."""
    g = np.arange(POINTS) / GRID - REACH
    c, other = np.empty((POINTS, TERMS)), np.empty((POINTS, TERMS))
    c[:, 0], other[:, 0] = functions.sigmoid(g), functions.sigmoid(-g)
    for n in range(TERMS - 1):
        c[:, n + 1] = (c[:, : n + 1] * other[:, n::-1]).sum(axis=1) / (n + 1)
        other[:, n + 1] = -c[:, n + 1]
    return c.ravel()


@register_jitable(**EXACT)
def _sigmoid(z, table):  # type: ignore[no-untyped-def]
    """σ(z) from the nearest point of the grid; 0 up to −40, 1 from 40 on."""
    if z <= -REACH:
        return 0.0
    if z >= REACH:
        return 1.0
    anchored = z + ANCHOR
    i = TERMS * (np.float64(anchored).view(np.int64) & (POINTS - 1))
    h = z - (anchored - ANCHOR)
    q = h * h
    low = (table[i + 1] * h + table[i]) + (table[i + 3] * h + table[i + 2]) * q
    high = (table[i + 5] * h + table[i + 4]) + (table[i + 7] * h + table[i + 6]) * q
    return low + high * (q * q)


@register_jitable(**EXACT)
def _likelihood(t, p):  # type: ignore[no-untyped-def]
    """t − p."""
    return t - p


@register_jitable(**EXACT)
def _squared(t, p):  # type: ignore[no-untyped-def]
    """(t − p) p (1 − p)."""
    return (t - p) * (p * (1.0 - p))


@register_jitable(**EXACT)
def _likelihood_of_many(t, p, mean):  # type: ignore[no-untyped-def]
    """tₖ − pₖ."""
    return t - p


@register_jitable(**EXACT)
def _squared_of_many(t, p, mean):  # type: ignore[no-untyped-def]
    """pₖ ((tₖ − pₖ) − Σⱼ (tⱼ − pⱼ) pⱼ)."""
    return p * ((t - p) - mean)


PULLS: dict[Any, Any] = {
    LogLikelihood(): _likelihood,
    LogisticSquared(): _squared,
    SoftmaxLikelihood(): _likelihood_of_many,
    SoftmaxSquared(): _squared_of_many,
}
"""−∂/∂score of a row's loss where the link is looked up; of the squared errors, half of it, as in the notes."""


def _slope_of(loss: MarginLoss) -> Any:
    """Any other loss of a margin: its own slope, compiled with the step."""
    slope, own = inlined(type(loss).slope), own_fields(loss)

    @register_jitable(**EXACT)
    def pull(t, z):  # type: ignore[no-untyped-def]
        """(1 − t)φ′(−z) − tφ′(z)."""
        total = 0.0
        if t > 0:
            total -= t * slope(own, z)
        if t < 1:
            total += (1.0 - t) * slope(own, -z)
        return total

    return pull


@register_jitable(**EXACT)
def _hard(target, i, k):  # type: ignore[no-untyped-def]
    return 1.0 if target[i, 0] == k else 0.0


@register_jitable(**EXACT)
def _soft(target, i, k):  # type: ignore[no-untyped-def]
    return target[i, k]


@register_jitable(**EXACT)
def _softmax(s):  # type: ignore[no-untyped-def]
    """pₖ = e^sₖ / Σⱼ e^sⱼ, in place."""
    top = s[0]
    for k in range(s.size):
        top = s[k] if s[k] > top else top
    for k in range(s.size):
        s[k] = exp(s[k] - top)
    total = 0.0
    for k in range(s.size):
        total += s[k]
    for k in range(s.size):
        s[k] /= total


@register_jitable(**EXACT)
def _score(z, table):  # type: ignore[no-untyped-def]
    """z: the identity, in the place of σ."""
    return z


@register_jitable(**EXACT)
def _scores(s):  # type: ignore[no-untyped-def]
    """s: the identity, in the place of the softmax."""


@register_jitable(inline="always")
def _ahead(X, limit):  # type: ignore[no-untyped-def]
    """How many rows are as many bytes, one at the least."""
    return max(1, limit // max(1, row_bytes(X)))


def _two_classes(pull, link):  # type: ignore[no-untyped-def]
    """w ← (1 − ηcλ) w + a x, b ← b + a, a = ηc · pull(t, link(xᵀw + b)), row after row."""

    def kernel(X, rows, target, cost, rate, l2, lifted, table, memo, W, b, sum_W, sum_b):  # type: ignore[no-untyped-def]
        last, far, near = rows.size - 1, _ahead(X, FAR_BYTES), _ahead(X, NEAR_BYTES)
        bias = b[0]
        z = read_score(W, 0, memo, bias, X, rows[0])
        for n in range(rows.size):
            ahead = rows[min(n + far, last)]
            fetch_near(X, rows[min(n + near, last)])
            fetch_far(X, ahead)
            fetch_far(target, ahead)
            if cost.size:
                fetch_far(cost, ahead)
            i = rows[n]
            step = rate[n] * cost[i, 0] if cost.size else rate[n]
            a = step * pull(target[i, 0], link(z, table))
            if lifted:
                bias += a
            keep = 1.0 - step * l2
            decay(X, memo, keep, W, sum_W)
            z = learn(W, 0, memo, keep, a, i, bias, X, rows[min(n + 1, last)], sum_W)
            if sum_b.size:
                b[0] = bias
                note(X, memo, W, b, sum_W, sum_b)
        b[0] = bias

    return kernel


def _many_classes(pull, link, share):  # type: ignore[no-untyped-def]
    """Wₖ ← (1 − ηcλ) Wₖ + aₖ x, bₖ ← bₖ + aₖ, aₖ = ηc · pullₖ(t, link(Wx + b)), row after row."""

    def kernel(X, rows, target, cost, rate, l2, lifted, memo, W, b, sum_W, sum_b):  # type: ignore[no-untyped-def]
        last, far, near = rows.size - 1, _ahead(X, FAR_BYTES), _ahead(X, NEAR_BYTES)
        s = np.empty(b.size)
        for k in range(b.size):
            s[k] = read_score(W, k, memo, b[k], X, rows[0])
        for n in range(rows.size):
            ahead = rows[min(n + far, last)]
            fetch_near(X, rows[min(n + near, last)])
            fetch_far(X, ahead)
            fetch_far(target, ahead)
            if cost.size:
                fetch_far(cost, ahead)
            i, then = rows[n], rows[min(n + 1, last)]
            step = rate[n] * cost[i, 0] if cost.size else rate[n]
            link(s)
            mean = 0.0
            for k in range(b.size):
                mean += (share(target, i, k) - s[k]) * s[k]
            keep = 1.0 - step * l2
            decay(X, memo, keep, W, sum_W)
            for k in range(b.size):
                a = step * pull(share(target, i, k), s[k], mean)
                if lifted:
                    b[k] += a
                s[k] = learn(W, k, memo, keep, a, i, b[k], X, then, sum_W)
            if sum_b.size:
                note(X, memo, W, b, sum_W, sum_b)

    return kernel


def _shuffle(draws, order):  # type: ignore[no-untyped-def]
    """Fisher and Yates: from the end on, each place is swapped with one at or before it."""
    for i in range(order.size - 1, 0, -1):
        j = np.int64(draws[i] * (i + 1))
        order[i], order[j] = order[j], order[i]


_probabilities, _labels = read("float64", 2), read("int64", 2)


def _signature(rows: Any, target: Any, *table: Any) -> Any:
    vector, weights = write(), write("float64", 2)
    return types.void(
        rows, read("int64"), target, _probabilities, read(), types.float64, types.boolean, *table, vector, weights,
        vector, weights, vector,
    )  # fmt: skip


def _step_of_two(loss: Any) -> tuple[Any, Any]:
    """How a score pulls at the weights, and what of it is compared with the target."""
    if loss == LEAST_SQUARES:
        return _likelihood, _score
    return (PULLS[loss], _sigmoid) if loss in PULLS else (_slope_of(loss), _score)


def _step_of_many(loss: Any) -> tuple[Any, Any]:
    """Of K classes."""
    return (_likelihood_of_many, _scores) if loss == LEAST_SQUARES else (PULLS[loss], _softmax)


def _is_known(loss: Any, *_: Any) -> bool:
    """Of a foreign loss we cannot know all that it is made of."""
    return not isinstance(loss, MarginLoss) or is_ours(loss)


@kernel(functions, vector_functions, margin, *lanes.SOURCES, row_access, cached=_is_known)
def two_class_steps(loss: Any, dtype: str, index: str | None = None) -> Any:
    """The compiled steps for two classes, for one loss and kind of rows; they take a table of σ."""
    text: Any = _two_classes(*_step_of_two(loss))  # type: ignore[no-untyped-call]
    return text, _signature(rows_type(dtype, index or "C"), _probabilities, read())


def two_class_kernel(loss: Any, dtype: str, index: str | None = None) -> Callable[..., None]:
    """`two_class_steps` with its table of σ."""
    run, table = two_class_steps(loss, dtype, index), sigmoid_table()
    return lambda *given: run(*given[:7], table, *given[7:])


@kernel(vector_functions, *lanes.SOURCES, row_access)
def softmax_kernel(loss: Any, dtype: str, hard: bool, index: str | None = None) -> Any:
    """The compiled steps for K classes, for labels or for a matrix of probabilities."""
    share, target = (_hard, _labels) if hard else (_soft, _probabilities)
    text: Any = _many_classes(*_step_of_many(loss), share)  # type: ignore[no-untyped-call]
    return text, _signature(rows_type(dtype, index or "C"), target)


@kernel()
def shuffle_kernel() -> Any:
    """The compiled shuffle."""
    return _shuffle, types.void(read(), write("int64"))
