"""Columns of levels: each row's level as its place among all of them, and what is seen in such a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Profile
from .database import Database, literals
from .numbers import DECIMAL_COMMA, TIME, number_of
from .table import LevelCodes


def codes_of(database: Database, text: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The levels of a text in SQL, in order, and the place of each row's level among them (−1: missing)."""
    levels = [row[0] for row in database.rows(
        f"SELECT DISTINCT {text} AS v FROM data WHERE v IS NOT NULL ORDER BY v"  # noqa: S608
    )]  # fmt: skip
    if not levels:
        rows = database.rows("SELECT count(*) FROM data")[0][0]
        return np.full(rows, -1, np.int32), ()
    database.run(f"CREATE OR REPLACE TYPE levels AS ENUM ({literals(levels)})")
    found = database.arrays(f"SELECT enum_code(CAST({text} AS levels)) AS v FROM data")["v"]  # noqa: S608
    return plain_codes(found), tuple(levels)


def plain_codes(found: Any) -> NDArray[np.int32]:
    """Codes, −1 where they are masked."""
    if isinstance(found, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(found)
        return np.where(missing, np.int32(-1), found.data.astype(np.int32))
    return np.asarray(found).astype(np.int32)


def without_unused(codes: NDArray[np.int32], levels: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes and levels without the levels that no row has."""
    counts = np.bincount(codes + 1, minlength=len(levels) + 1)[1:]
    if counts.all():
        return codes, tuple(levels)
    renumbered = np.concatenate([[-1], np.cumsum(counts > 0) - 1]).astype(np.int32)
    return renumbered[codes + 1], tuple(level for level, count in zip(levels, counts, strict=True) if count)


def profile_of_levels(coded: LevelCodes, decimal: str = ".") -> Profile:
    """How many values are missing, different, numbers, times, numbers with commas: each level is looked at once."""
    codes, levels = coded
    counts = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
    of_levels = list(zip(levels, counts[1:], strict=True))
    numbers = sum(count for level, count in of_levels if number_of(level, decimal) is not None)
    times = sum(count for level, count in of_levels if re.fullmatch(TIME, level))
    commas = sum(count for level, count in of_levels if re.fullmatch(DECIMAL_COMMA, level))
    return Profile("text", len(codes) - counts[0], counts[0], len(levels), numbers, times, commas)
