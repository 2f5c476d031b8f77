"""Two columns with an intercept: all lines, by a sweep around every point."""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

Floats = NDArray[np.float64]
SMALLEST = 2.0**-300
"""In units of the largest: coordinates below this would lose digits in products."""
MOST_BITS = 100
"""Of a sum of costs that two integers of 64 bits can hold."""
PACE = 0.05
"""Seconds between two looks at the clock, about."""


def fits(problem: Problem, columns: tuple[int, ...]) -> bool:
    """Whether coordinates and costs are of sizes that the compiled sweep computes without error."""
    sizes = np.abs(_scaled(problem.X[:, columns]))
    return bool(sizes[sizes > 0].min(initial=1.0) >= SMALLEST) and int(problem.cost.sum()).bit_length() <= MOST_BITS


def sweep(problem: Problem, columns: tuple[int, ...]) -> Generator[None, None, tuple[int, NDArray[np.bool_]]]:
    """The least cost in units, the base included, and the rows that a rule of this cost gets wrong."""
    from .sweep_kernel import LIMB, MASK, sweep_kernel

    kernel, n = sweep_kernel(), len(problem)
    points = _scaled(problem.X[:, columns])
    x, y = (np.ascontiguousarray(column) for column in points.T)
    up = problem.sign > 0
    high, low = (np.array(part.tolist(), dtype=np.int64) for part in (problem.cost >> LIMB, problem.cost & MASK))
    best, order = np.array([2**62, 0, 0, 0, 0]), np.zeros(n, np.int64)
    first, count = 0, max(1, min(n, 2_000_000 // (n * 16)))
    while first < n:
        began = time.perf_counter()
        kernel(x, y, up, high, low, first, min(first + count, n), best, order)
        first += count
        count = max(1, int(count * min(4.0, PACE / max(1e-9, time.perf_counter() - began))))
        yield
    point, turns, side = best[2:].tolist()
    passed = np.zeros(n, bool)
    passed[order[:turns]] = True
    below = (y < y[point]) | ((y == y[point]) & (x < x[point]))
    wrong = ((below == passed) != up) != bool(side)
    wrong[point] = False
    return problem.base + (int(best[0]) << LIMB) + int(best[1]), wrong


def _scaled(points: Floats) -> Floats:
    """Each column by a power of two to at most one: no digit is lost, no line is bent."""
    largest = np.abs(points).max(axis=0, initial=0.0)
    return points * np.exp2(-np.ceil(np.log2(np.where(largest > 0, largest, 1.0))))  # type: ignore[no-any-return]
