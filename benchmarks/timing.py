"""Clocks: rounds in which everyone takes a turn, and the progress line."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

REST_S = 0.15
"""Before each turn: the BLAS threads of the one before go to sleep."""


def summary(seconds: list[float]) -> dict[str, Any]:
    return {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds), "runs": len(seconds)}


def in_turns(tasks: Mapping[str, tuple[Callable[[], float], int]], rest: float = REST_S) -> dict[str, dict[str, Any]]:
    """Each task returns its own seconds. One turn each per round, so that a disturbance hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(max(times for _, times in tasks.values())):
        for name, (task, times) in tasks.items():
            if turn < times:
                gc.collect()
                time.sleep(rest)
                seconds[name].append(task())
    return {name: summary(runs) for name, runs in seconds.items() if runs}


def clocked(task: Callable[[], Any]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


@dataclass
class Progress:
    """What has been done, and about how long the rest takes at this pace."""

    total: float
    done: float = 0.0
    began: float = field(default_factory=time.perf_counter)

    def tell(self, text: str) -> None:
        print(f"[{100 * self.done / self.total:3.0f} %] {text}{self._left()}", file=sys.stderr, flush=True)

    def advance(self, work: float) -> None:
        self.done = min(self.done + work, self.total)

    def _left(self) -> str:
        if self.done <= 0:
            return ""
        left = (time.perf_counter() - self.began) * (self.total / self.done - 1)
        return f"  (about {left / 60:.0f} min left)" if left >= 90 else f"  (about {left:.0f} s left)"
