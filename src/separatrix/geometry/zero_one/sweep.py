"""Two columns with an intercept: all lines, by a sweep around every point."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ...numerics.jit import UNFUSED, kernel, write
from .problem import Problem

SMALLEST = 2.0**-300
"""In units of the range: smaller coordinates would lose digits in products, or larger ones than its inverse."""
MOST_BITS = 100
"""Of a sum of costs that two integers of 64 bits can hold."""
TIES = 12
"""Lines of the least cost that are remembered, to find the widest margin among them."""
FIRST_STEPS = 500_000
"""Steps before the first look at the clock, about."""
PACE = 0.05
"""Seconds between two looks at the clock, about."""


def fits(problem: Problem, columns: tuple[int, ...]) -> bool:
    """Whether coordinates and costs are of sizes that the compiled sweep computes without error."""
    sizes = np.abs(_scaled(problem.X[:, columns]))
    sound = sizes[sizes > 0].min(initial=1.0) >= SMALLEST and sizes.max(initial=1.0) <= 1 / SMALLEST
    return bool(sound) and int(problem.cost.sum()).bit_length() <= MOST_BITS


class SweepResult(NamedTuple):
    """The least cost in units, the base included; the rows that a line of it gets wrong, and those that others do."""

    cost: int
    wrong: NDArray[np.bool_]
    others: list[NDArray[np.bool_]]


def loaded() -> None:
    """Compile the sweep, or load it: some seconds at its first use."""
    sweep_kernel()


def sweep(problem: Problem, columns: tuple[int, ...]) -> Generator[float, None, SweepResult]:
    """All lines, some points at a time; and the part of the points that is done."""
    kernel, n = sweep_kernel(), len(problem)
    points = _scaled(problem.X[:, columns])
    x, y = (np.ascontiguousarray(column) for column in points.T)
    up = problem.sign > 0
    high, low = (np.array(part.tolist(), dtype=np.int64) for part in (problem.cost >> LIMB, problem.cost & MASK))
    best, order, ties = np.array([2**62, 0, 0, 0, 0, 0]), np.zeros(n, np.int64), np.zeros((TIES, 4), np.int64)
    first, count = 0, max(1, min(n, FIRST_STEPS // (n * 16)))
    while first < n:
        began = time.perf_counter()
        kernel(x, y, up, high, low, first, min(first + count, n), best, order, ties)
        first += count
        count = max(1, int(count * min(4.0, PACE / max(1e-9, time.perf_counter() - began))))
        yield min(1.0, first / n)
    point, turns, side, count = best[2:].tolist()
    passed = np.zeros(n, bool)
    passed[order[:turns]] = True
    below = (y < y[point]) | ((y == y[point]) & (x < x[point]))
    wrong = ((below == passed) != up) != bool(side)
    wrong[point] = False
    cost = problem.base + (int(best[0]) << LIMB) + int(best[1])
    return SweepResult(cost, wrong, _others(problem, points, ties[:count], cost))


def _others(problem: Problem, points: Floats, ties: NDArray[np.int64], cost: int) -> list[NDArray[np.bool_]]:
    """What the lines in the middle between two directions get wrong, where floats confirm what it costs."""
    found: dict[bytes, NDArray[np.bool_]] = {}
    for point, before, after, side in ties.tolist():
        d = points - points[point]
        lengths = np.hypot(*d[[before, after]].T)
        units = d[[before, after]] / lengths[:, None]
        units *= np.where((units[:, 1] < 0) | ((units[:, 1] == 0) & (units[:, 0] < 0)), -1.0, 1.0)[:, None]
        angles = np.arctan2(units[:, 1], units[:, 0])
        u = units[1] + units[0] if angles[0] < angles[1] else units[1] - units[0]
        wrong = ((u[0] * d[:, 1] - u[1] * d[:, 0] > 0) != (problem.sign > 0)) != bool(side)
        wrong[point] = False
        if problem.paid(wrong) == cost:
            found.setdefault(wrong.tobytes(), wrong)
    return list(found.values())


def _scaled(points: Floats) -> Floats:
    """Each column by a power of two, its range to about one: no digit is lost, no line is bent."""
    spread = np.ptp(points, axis=0)
    return points * np.exp2(-np.ceil(np.log2(np.where(spread > 0, spread, 1.0))))  # type: ignore[no-any-return]


# The compiled sweep: a line turns around every point, and what it gets wrong is counted at each turn.
#
# Every way to divide points by a line is one by a line through a single point, turned a little so that it meets no
# other,
# with that point on either side: so on its right one. Directions that are equal are passed together. Whether two are
# equal, and which comes first, is decided by a float and its error bound, or else by sums without rounding.

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
