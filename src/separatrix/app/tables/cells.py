"""What the numbers of a row say about each column of the table they were made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from .columns import Column


class ColumnSpan(NamedTuple):
    """The numbers that one column of a table became."""

    column: Column
    places: slice


class Cell(NamedTuple):
    """What a column holds in one row."""

    name: str
    """The column; 'age is missing' where it holds nothing."""
    value: float | str | None
    """A number in the units of the table, a level, or nothing."""


def parts_of(columns: Sequence[Column]) -> list[ColumnSpan]:
    """The columns that became numbers, in order, and where these are."""
    found, at = [], 0
    for column in columns:
        width = len(column.features)
        if width:
            found.append(ColumnSpan(column, slice(at, at + width)))
        at += width
    return found


def cell_of(part: ColumnSpan, row: Floats) -> Cell:
    """The cell that these numbers were made from."""
    column, numbers = part.column, row[part.places]
    if column.indicator and numbers[-1]:
        return Cell(f"{column.name} is missing", None)
    if column.kind == "number":
        return Cell(column.name, float(numbers[0] * column.scale + column.center))
    own = numbers[: len(column.levels) - 1]
    return Cell(column.name, column.levels[int(own.argmax()) + 1 if own.any() else 0])


def summed(parts: Sequence[ColumnSpan], numbers: Floats) -> Floats:
    """Σⱼ over the numbers of each column, along the last axis."""
    return np.add.reduceat(numbers, [part.places.start for part in parts], axis=-1) if parts else numbers[..., :0]
