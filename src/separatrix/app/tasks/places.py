"""What is wrong with X, said of the table that X was made from: its file, line and column, and the value there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ...errors import DataError
from ..tables.columns import Decision
from ..tables.encoding import Encoding
from ..tables.errors import Place, TableError

KINDS = {"y": "target", "sample_weight": "weights"}
"""What a column is to the fit whose numbers are such an array."""


class _Cell(NamedTuple):
    """The column that a number was made from, what a sentence calls the number, and the value in units of the table."""

    column: str | None
    subject: str
    value: Any


@contextmanager
def told_of_the_table(
    place: Callable[[int], Place], encoding: Encoding, decisions: Sequence[Decision] = (), names: Sequence[str] = ()
) -> Iterator[None]:
    """A `DataError` about rows or columns of X, y or the weights is raised as a `TableError`.

    `place` says where row i of X stands; the columns of X are called as in the encoding, or by `names`.
    """
    try:
        yield
    except TableError:
        raise
    except DataError as error:
        cell = _cell(error, encoding, decisions, names or encoding.names)
        if not error.array or (error.row is None and cell.column is None):
            raise
        raise TableError(
            f"{cell.subject} {error.problem}", place=None if error.row is None else place(error.row),
            column=cell.column, value=None if cell.value is None else text_of(cell.value),
        ) from error  # fmt: skip


def _cell(error: DataError, encoding: Encoding, decisions: Sequence[Decision], names: Sequence[str]) -> _Cell:
    if error.array in KINDS:
        kind = KINDS[error.array]
        return _Cell(next((each.name for each in decisions if each.kind == kind), None), "it", error.value)
    owners = [(feature, column) for column in encoding.columns for feature in column.features]
    found = dict(zip(names, owners, strict=True)).get(error.column)
    if found is None:
        return _Cell(None, "it", error.value)
    feature, column = found
    if feature != column.name:
        return _Cell(column.name, f"its feature {feature!r}", error.value)
    if (column.center, column.scale) == (0.0, 1.0):
        return _Cell(column.name, "it", error.value)
    at_a_row = error.row is not None and error.value is not None
    return _Cell(column.name, "standardised, it", error.value * column.scale + column.center if at_a_row else None)


def text_of(value: Any) -> str:
    """A value as a table may have it.

    >>> text_of(-1.0), text_of(0.1), text_of("yes")
    ('-1', '0.1', 'yes')
    """
    return f"{value:.15g}" if isinstance(value, float | np.floating) else str(value)
