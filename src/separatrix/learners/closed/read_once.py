"""Learners that read the rows once: their history has a line for each time that rows were given."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple


class EstimateRecord(NamedTuple):
    """One line of `history_`: rows that were counted."""

    passes: float
    rows: int
    """So far, these among them."""
    seconds: float


class ReadsOnce:
    """What fits in one step has steps too."""

    history_: list[EstimateRecord]

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[EstimateRecord]:
        """The same fit in steps, of which there is one: the rows are read once."""
        self.fit(X, y, sample_weight)  # type: ignore[attr-defined]
        yield self.history_[-1]

    def _note(self, rows: int, began: float, *, anew: bool) -> None:
        """A line more; `rows` are those of all calls since the last `fit`."""
        before = [] if anew else getattr(self, "history_", [])
        self.history_ = [*before, EstimateRecord(len(before) + 1.0, rows, time.perf_counter() - began)]
