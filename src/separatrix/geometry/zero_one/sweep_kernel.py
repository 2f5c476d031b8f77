"""The compiled sweep: a line turns around every point, and what it gets wrong is counted at each turn.

Every way to divide points by a line is one by a line through a single point, turned a little so that it meets no other,
with that point on either side: so on its right one. Directions that are equal are passed together. Whether two are
equal, and which comes first, is decided by a float and its error bound, or else by sums without rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...numerics.jit import UNFUSED, kernel, write

LIMB = 40
"""Bits of the lower half of a cost: both halves can be added up over millions of rows."""
MASK = (1 << LIMB) - 1
NEAR = 1e-14
"""Directions nearer than this, on a scale from −1 to 1, are compared exactly."""
BOUND = 4e-16
"""Relative: more than the error of a determinant of differences, 3.33·10⁻¹⁶."""
SPLIT = 134217729.0


@register_jitable
def _two_sum(a, b):  # type: ignore[no-untyped-def]
    """a + b = s + e."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@register_jitable
def _two_product(a, b):  # type: ignore[no-untyped-def]
    """ab = p + e."""
    p = a * b
    c = SPLIT * a
    a1 = c - (c - a)
    a2 = a - a1
    c = SPLIT * b
    b1 = c - (c - b)
    b2 = b - b1
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


@register_jitable
def _grown(parts, count, term):  # type: ignore[no-untyped-def]
    """One more term in an expansion: its parts do not overlap, and the last that is not zero has the sum's sign."""
    for k in range(count):
        term, parts[k] = _two_sum(term, parts[k])
    parts[count] = term
    return count + 1


@register_jitable
def _turn(ax, ay, bx, by, cx, cy, parts):  # type: ignore[no-untyped-def]
    """The sign of (a − c) × (b − c): +1 if b comes after a, counter-clockwise around c; 0 if they are on a line."""
    left, right = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    det = left - right
    if abs(det) > BOUND * (abs(left) + abs(right)):
        return 1 if det > 0 else -1
    count = 0
    for k in range(6):
        if k == 0:
            p, e = _two_product(ax, by)
        elif k == 1:
            p, e = _two_product(-ax, cy)
        elif k == 2:
            p, e = _two_product(-cx, by)
        elif k == 3:
            p, e = _two_product(-ay, bx)
        elif k == 4:
            p, e = _two_product(ay, cx)
        else:
            p, e = _two_product(cy, bx)
        count = _grown(parts, count, e)
        count = _grown(parts, count, p)
    for k in range(count - 1, -1, -1):
        if parts[k] != 0:
            return 1 if parts[k] > 0 else -1
    return 0


@register_jitable
def _compared(i, a, b, x, y, key, turned, parts):  # type: ignore[no-untyped-def]
    """Whether direction a comes before b (1), after it (−1), or both are one (0), seen from point i."""
    gap = key[b] - key[a]
    if gap > NEAR:
        return 1
    if gap < -NEAR:
        return -1
    sign = _turn(x[a], y[a], x[b], y[b], x[i], y[i], parts)
    return -sign if turned[a] != turned[b] else sign


@register_jitable
def _directions(i, x, y, key, turned):  # type: ignore[no-untyped-def]
    """The directions of all points from point i, turned into the upper half-plane; its own comes last."""
    for j in range(x.size):
        dx, dy = x[j] - x[i], y[j] - y[i]
        turned[j] = dy < 0 or (dy == 0 and dx < 0)
        if turned[j]:
            dx, dy = -dx, -dy
        key[j] = -dx / (abs(dx) + dy) if j != i else 3.0


@register_jitable
def _put_in_order(i, found, spare, x, y, key, turned, parts):  # type: ignore[no-untyped-def]
    """Directions that floats have sorted, all but the last, put in their exact order: by merging, if they are not."""
    n, sorted_ = x.size - 1, True
    for t in range(1, n):
        if _compared(i, found[t - 1], found[t], x, y, key, turned, parts) < 0:
            sorted_ = False
            break
    width = n if sorted_ else 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            a, b = start, middle
            for t in range(start, stop):
                first = b >= stop
                if not first and a < middle:
                    first = _compared(i, found[a], found[b], x, y, key, turned, parts) >= 0
                if first:
                    spare[t] = found[a]
                    a += 1
                else:
                    spare[t] = found[b]
                    b += 1
        found[:n] = spare[:n]
        width *= 2


def _sweep(x, y, up, high, low, first, last, best, order, ties):  # type: ignore[no-untyped-def]
    """best ← (high, low, point, turns, side, ties) of the least cost around the points first ≤ i < last, and its order.

    ties ← (point, the direction before, the one after, side) of as many lines of this cost as there is room for.
    """
    n = x.size
    key, turned, parts, spare = np.empty(n), np.empty(n, np.bool_), np.empty(12), np.empty(n, np.int64)
    all_high, all_low = high.sum(), low.sum()
    for i in range(first, last):
        _directions(i, x, y, key, turned)
        found = np.argsort(key)
        _put_in_order(i, found, spare, x, y, key, turned, parts)
        a, b = 0, 0
        for j in range(n):
            if j != i and up[j] == turned[j]:
                a += high[j]
                b += low[j]
        for t in range(n):
            if t > 0:
                j = found[t - 1]
                wrong = 1 if up[j] != turned[j] else -1
                a += wrong * high[j]
                b += wrong * low[j]
                if t < n - 1 and _compared(i, j, found[t], x, y, key, turned, parts) == 0:
                    continue
            for side in range(2):
                g = all_high - high[i] - a if side else a
                h = all_low - low[i] - b if side else b
                g, h = g + (h >> LIMB), h & MASK
                if g < best[0] or (g == best[0] and h < best[1]):
                    best[0], best[1], best[2], best[3], best[4], best[5] = g, h, i, t, side, 0
                    order[:] = found
                if g == best[0] and h == best[1] and best[5] < ties.shape[0] and t < n - 1:
                    k = best[5]
                    ties[k, 0], ties[k, 1], ties[k, 2], ties[k, 3] = i, found[t - 1 if t else n - 2], found[t], side
                    best[5] += 1


@kernel(options=UNFUSED)
def sweep_kernel() -> Any:
    """The compiled sweep."""
    floats, whole, i = write(), write("int64"), types.int64
    signature = types.void(floats, floats, write("boolean"), whole, whole, i, i, whole, whole, write("int64", 2))
    return _sweep, signature
