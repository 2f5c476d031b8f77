"""What a table lacks, said so that it can be mended: values, levels, columns, numbers that are finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .columns import Column, Decision
from .errors import Remedy, TableError
from .table import Table


class Missing(NamedTuple):
    """The values of a column that are not there."""

    where: NDArray[np.bool_]
    total: int


def checked_gaps(column: Column, table: Table, gaps: Missing) -> NDArray[np.bool_] | None:
    """Where values are missing, if that may be."""
    if gaps.total and column.fill is None:
        row = int(np.argmax(gaps.where))
        raise TableError(
            f"{_values(gaps.total)} missing, the first here", place=table.place(row), column=column.name, value="",
            because="In the training rows none was missing, so the model does not know what to make of it.",
            remedies=[
                Remedy("correct the rows, or leave them out", f'--where "{_quoted(column.name)} is not null"'),
                Remedy("or fit again to rows where it is missing too", "separatrix fit … --missing impute"),
            ],
        )  # fmt: skip
    return gaps.where if column.indicator else None


def missing_at_fit(table: Table, name: str, gaps: Missing) -> TableError:
    """Values are missing where nothing was said of them."""
    row = int(np.argmax(gaps.where))
    return TableError(
        f"{_values(gaps.total)} missing, the first here", place=table.place(row), column=name, value="",
        because="Nothing is filled or dropped unless you say so.",
        remedies=[
            Remedy("fill with the mean or the reference level, and tell", "--missing impute"),
            Remedy("leave these rows out", f'--where "{_quoted(name)} is not null"'),
            Remedy("leave the column out", f"--drop {_argument(name)}"),
        ],
    )  # fmt: skip


def unseen_level(
    table: Table, column: Column, levels: Sequence[str], codes: NDArray[Any], strange: NDArray[np.bool_]
) -> TableError:
    """Levels that no training row had."""
    row, count = int(np.argmax(strange)), int(np.count_nonzero(strange))
    value = levels[int(codes[row])]
    known = ", ".join(map(repr, column.levels[:6])) + (", …" if len(column.levels) > 6 else "")
    return TableError(
        f"{value!r} is a level that no training row had ({count} such {'value' if count == 1 else 'values'})",
        place=table.place(row), column=column.name, value=value, because=f"The training rows had {known}.",
        remedies=[
            Remedy(f"take such values for {column.reference!r}, the reference", "--unseen reference"),
            Remedy("or correct the value, or fit again with such rows", "separatrix fit …"),
        ],
    )  # fmt: skip


def check_finite(table: Table, name: str, x: Floats) -> None:
    """Name the first infinity of a column."""
    infinite = np.isinf(x)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise TableError(
            f"{x[row]} is not a finite number ({int(np.count_nonzero(infinite))} in this column)",
            place=table.place(row), column=name, value=str(x[row]),
            remedies=[Remedy("if it stands for a missing value", f"--na {x[row]}"),
                      Remedy("leave the column out", f"--drop {_argument(name)}")],
        )  # fmt: skip


def check_there(columns: Sequence[Column | Decision], table: Table) -> None:
    """Name the columns that a table lacks."""
    absent = [column.name for column in columns if column.name not in table.names]
    if absent:
        more = f" (and {len(absent) - 1} more: {', '.join(map(repr, absent[1:6]))})" if len(absent) > 1 else ""
        few = ", ".join(map(repr, table.names[:8])) + (", …" if len(table.names) > 8 else "")
        raise TableError(
            f"there is no such column{more}", column=absent[0], because=f"The table has {few}.",
            remedies=[Remedy("see what is there", "separatrix schema FILE")],
        )  # fmt: skip


def nothing_there(name: str) -> TableError:
    """A column of which nothing can be learnt."""
    return TableError(
        "every value is missing", column=name, remedies=[Remedy("leave the column out", f"--drop {_argument(name)}")]
    )


def _values(count: int) -> str:
    return "1 value is" if count == 1 else f"{count} values are"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '\\"' + name.replace('"', '""') + '\\"'


def _argument(name: str) -> str:
    return name if name.replace("-", "_").replace(".", "_").isidentifier() else "'" + name.replace("'", "'\\''") + "'"
