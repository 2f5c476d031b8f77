"""How our time grows with rows and with columns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from problems import Problem, generate
from timing import Progress, in_turns

from separatrix import LogisticRegression

ROWS = tuple(25_000 * 2**k for k in range(7))
COLUMNS = tuple(25 * 2**k for k in range(6))
AT_COLUMNS, AT_ROWS = 30, 50_000
EXPECTED_S = 60.0


def _seconds(problem: Problem, repeats: int) -> float:
    X, y = generate(problem)

    def fit() -> float:
        began = time.perf_counter()
        LogisticRegression(l2=problem.penalty / problem.rows).fit(X, y)
        return time.perf_counter() - began

    fit()
    return in_turns({"ours": (fit, repeats)})["ours"]["median"]


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent k of time ∝ sizeᵏ, by least squares on the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _series(problems: list[Problem], sizes: list[int], repeats: int, progress: Progress) -> dict[str, Any]:
    seconds = []
    for problem in problems:
        progress.tell(problem.title)
        seconds.append(_seconds(problem, repeats))
        progress.advance(EXPECTED_S / (len(ROWS) + len(COLUMNS)))
    half = len(sizes) // 2
    return {
        "sizes": sizes,
        "seconds": seconds,
        "slope": slope(sizes, seconds),
        "slope_upper_half": slope(sizes[half:], seconds[half:]),
    }


def measure(repeats: int, divisor: int, progress: Progress) -> dict[str, Any]:
    """Times and slopes along both axes; columns on scales 1…10, λ = 1 on the sum."""
    rows = [n // divisor for n in ROWS]
    columns, at_rows = list(COLUMNS), AT_ROWS // divisor
    longer = [Problem("growth", "growth in rows", n, AT_COLUMNS, (1, 10)) for n in rows]
    wider = [Problem("growth", "growth in columns", at_rows, d, (1, 10)) for d in columns]
    return {
        "rows": {"columns": AT_COLUMNS, **_series(longer, rows, repeats, progress)},
        "columns": {"rows": at_rows, **_series(wider, columns, repeats, progress)},
    }
