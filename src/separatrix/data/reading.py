"""Reading a table that has been checked, of whatever kind: a few rows as an array, the ranges of columns."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ..numerics.arrays import Floats, Indices
from .block import block_of


def written(X: Any, rows: Any, columns: Indices | None = None) -> NDArray[Any]:
    """Some rows, all columns of them or some in ascending order, as an array in the precision of X."""
    return block_of(X).written(rows, columns)


def ranges(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest number of each column, the zeros counted; NaN where there is one."""
    return block_of(X).extremes()


def largest(X: Any) -> Floats:
    """maxᵢ |xᵢⱼ| of each column."""
    return block_of(X).largest()


def occurring(X: Any) -> Indices:
    """The columns of X; of rows that are mostly zeros those that hold another number, or if there is none the first."""
    return block_of(X).occurring()


def finite(X: Any) -> bool:
    """Whether there is neither NaN nor infinity."""
    return block_of(X).finite()


def numbers_of(X: Any, row: int) -> tuple[Indices, Floats]:
    """The columns of a row that are not zero, and their numbers."""
    return block_of(X).numbers_of(row)
