"""A table in memory: a data frame of pandas, polars or Arrow, or a mapping of names to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from .columns import Profile
from .database import connect, first_line, identifier
from .errors import Place
from .table import Columns, profile_of_levels

PLACE = "the place of the row"


class Frame(Columns):
    """The columns of a data frame, read as those of a file are: None, NaN and the empty text are missing."""

    def __init__(self, data: Any, na: Sequence[str] = (), where: str | None = None) -> None:
        columns = {str(name): _cells(data[name], na) for name in _names(data)}
        self._rows_of_frame = None if where is None else rows_where(columns, where)
        if self._rows_of_frame is not None:
            columns = {name: _taken(column, self._rows_of_frame) for name, column in columns.items()}
        super().__init__(columns)

    def profile(self, name: str) -> Profile:
        """What is seen in a column before it is read."""
        column = self._columns[name]
        if not isinstance(column, np.ndarray):
            return profile_of_levels(self.coded(name))
        missing = int(np.count_nonzero(np.isnan(column)))
        return Profile(
            "number", self.rows - missing, missing, None, int(np.count_nonzero(np.isfinite(column))), 0
        )  # fmt: skip

    def place(self, row: int) -> Place:
        """Where a row stands in the frame, counted from 1."""
        return super().place(row if self._rows_of_frame is None else int(self._rows_of_frame[row]))


def is_frame(data: Any) -> bool:
    """Whether it has named columns."""
    return isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names")


def _names(data: Any) -> list[Any]:
    if isinstance(data, Mapping):
        return list(data)
    return list(getattr(data, "column_names", None) or data.columns)


def _cells(column: Any, na: Sequence[str]) -> NDArray[Any] | list[Any]:
    """Numbers as an array; other cells as a list, None where one is missing or a text of `na`."""
    array = np.asarray(column)
    if array.dtype.kind in "fiu":
        return np.where(np.isin(array.astype(str), na), np.nan, array) if na else array
    if array.dtype.kind in "US" and not isinstance(column, np.ndarray):
        array = np.asarray(column, dtype=object)  # of texts and NaN together NumPy makes texts
    gone = {"", *na}
    cells = [str(cell) for cell in column] if array.dtype.kind in "mM" else array.tolist()
    return [None if _is_missing(cell) or str(cell) in gone else cell for cell in cells]


def _is_missing(cell: Any) -> bool:
    """None, NaN, pandas' NA and NaT: none of them equals itself."""
    if cell is None or str(cell) == "NaT":
        return True
    same = cell == cell
    return not isinstance(same, bool | np.bool_) or not same


def _taken(column: NDArray[Any] | list[Any], rows: NDArray[np.intp]) -> NDArray[Any] | list[Any]:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]


def rows_where(columns: Mapping[str, NDArray[Any] | list[Any]], where: str) -> NDArray[np.intp]:
    """The rows for which an SQL condition holds: it sees these columns and nothing else."""
    arrays = {
        name: column if isinstance(column, np.ndarray)
        else np.array([None if cell is None else str(cell) for cell in column], dtype=object)
        for name, column in columns.items()
    }  # fmt: skip
    count = len(next(iter(arrays.values()), ()))
    database = connect()
    try:
        duckdb.SQLExpression(where)  # one expression
        with database.holding("frame", {**arrays, PLACE: np.arange(count)}):
            database.run("CREATE TABLE data AS SELECT * FROM frame")
        database.run("SET enable_external_access = false; SET lock_configuration = true")
        place = identifier(PLACE)
        found = database.arrays(f"SELECT {place} FROM data WHERE (\n{where}\n) ORDER BY {place}")  # noqa: S608
    except duckdb.Error as error:
        raise SettingError("where", where, first_line(error)) from None
    finally:
        database.close()
    return np.asarray(found[PLACE], dtype=np.intp)
