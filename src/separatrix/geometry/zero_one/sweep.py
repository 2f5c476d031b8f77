"""Two columns with an intercept: all lines, by a sweep around every point."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
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
    from .sweep_kernel import sweep_kernel

    sweep_kernel()


def sweep(problem: Problem, columns: tuple[int, ...]) -> Generator[float, None, SweepResult]:
    """All lines, some points at a time; and the part of the points that is done."""
    from .sweep_kernel import LIMB, MASK, sweep_kernel

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
