"""What the numbers of a row say about each column of the table they were made from."""

from __future__ import annotations

import math
import re
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


# What text is a number, a date or a time.

DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
TIME = rf"\s*({DATE}([ T]+{CLOCK})?|{CLOCK})\s*(Z|UTC|[+-]\d{{2}}:?\d{{2}})?\s*"
"""A date, a time, or both: understood by Python and by duckdb."""
DECIMAL_COMMA = r"\s*[+-]?\d+(\.\d{3})*,\d+\s*"


def number_of(text: str, decimal: str = ".") -> float | None:
    """The finite number that a text stands for, or None; inf and nan are words, and not numbers.

    >>> number_of(" 1e3"), number_of("1,5"), number_of("1,5", decimal=","), number_of("nan")
    (1000.0, None, 1.5, None)
    """
    if decimal == ",":
        text = text.translate({ord("."): ",", ord(","): "."})
    try:
        found = float(text) if text.isascii() else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def has_decimal_comma(text: str) -> bool:
    """Whether a text is a number written with a decimal comma: 3,14 or 1.234,5."""
    return re.fullmatch(DECIMAL_COMMA, text) is not None


def spaced(count: int) -> str:
    """A whole number in groups of three digits: 99 999."""
    return f"{count:,}".replace(",", " ")
