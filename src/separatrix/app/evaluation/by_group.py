"""Measures of parts of the rows, and whether a part differs from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Places
from .intervals import Measure, square_and_add
from .measures import measures
from .predictions import Predictions


@dataclass(frozen=True)
class GroupMeasures:
    """The rows of one group: how many, their measures, and each measure less that of all other rows."""

    group: str
    rows: int
    counts: tuple[int, ...]
    """How many rows of each class."""
    measures: tuple[Measure, ...]
    differences: tuple[Measure, ...]

    @property
    def flagged(self) -> tuple[Measure, ...]:
        """The differences whose interval leaves zero out."""
        return tuple(
            d for d in self.differences if d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)
        )

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"group": self.group, "rows": self.rows, "counts": list(self.counts),
                "measures": [one.to_dict() for one in self.measures],
                "differences": [{**one.to_dict(), "flagged": one in self.flagged} for one in self.differences],
                }  # fmt: skip


def by_group(
    given: Predictions,
    codes: Places,
    groups: Sequence[str],
    names: Sequence[str],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[GroupMeasures, ...]:
    """Each group's measures, and v − v' to all other rows by square and add of the two intervals.

    Rows whose code is negative belong to no group; they are still among the others.
    """
    parts = []
    for code, group in enumerate(groups):
        rows = codes == code
        if not rows.any():
            continue
        own, rest = (measures(_part(given, side), names, level=level, seed=seed) if side.any() else ()
                     for side in (rows, ~rows))  # fmt: skip
        counts = np.bincount(given.truth[rows], minlength=len(given.classes))
        differences = tuple(between(a, b) for a, b in zip(own, rest, strict=True)) if rest else ()
        parts.append(GroupMeasures(group, int(rows.sum()), tuple(counts.tolist()), own, differences))
    return tuple(parts)


def between(first: Measure, second: Measure) -> Measure:
    """v − v' of two measures of different rows: square and add."""

    def absent(why: str) -> Measure:
        value = None if first.value is None or second.value is None else first.value - second.value
        return Measure(first.name, value, level=first.level, better=first.better, of=first.of, why=why)

    if first.value is None or second.value is None:
        return absent(first.why or f"of the other rows: {second.why}")
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return absent(first.why or f"of the other rows: {second.why}")
    low, high = square_and_add((first.value, first.low, first.high), (second.value, second.low, second.high))
    how = "square and add of the two intervals"
    return Measure(first.name, first.value - second.value, low, high, first.level, how, first.better, first.of)


def _part(given: Predictions, rows: NDArray[np.bool_]) -> Predictions:
    """Weights that are all zero in a part leave it without rows that count."""
    part = given.of(rows & (given.w > 0)) if given.weights is not None else given.of(rows)
    return part
