"""What a learner is taught: a table as a matrix, its classes as codes, the weights and groups of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...data.categorical import CategoricalRows
from ...data.named import CodedLabels, NamedRows
from ...errors import SettingError
from ...numerics.arrays import Floats
from ...wording import setting
from ..tables.columns import Decision
from ..tables.encoding import Encoding, learn_encoding, pays, table_rows
from ..tables.errors import Remedy, TableError, did_you_mean, in_sql
from ..tables.table import LevelCodes, Table

MOST_LISTED = 12
"""Columns that an error lists."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to learn from."""

    decisions: tuple[Decision, ...]
    encoding: Encoding
    X: NamedRows | CategoricalRows
    y: CodedLabels
    weights: Floats | None = None
    groups: NDArray[np.int32] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each class has."""
        found = np.bincount(self.y.codes, minlength=len(self.y.classes)).tolist()
        return dict(zip(self.y.classes.tolist(), found, strict=True))


def lesson_of(
    table: Table, decisions: Sequence[Decision], *, target: str, weights: str | None = None, group: str | None = None,
    missing: Literal["error", "impute"] = "error", standardise: bool = False, thin: bool = False,
) -> Lesson:  # fmt: skip
    """The whole of a table; what no learner could use is a TableError that says where.

    `thin`: the learner reads rows without zeros too, which a large table with categories is given it as.
    """
    if not table.rows:
        raise TableError(
            "the table has no rows", remedies=[Remedy("look at it", call="decide(table)"),
                                               Remedy("or let more rows through", "where", "…")]
        )  # fmt: skip
    y = labels_of(table, target)
    cost = None if weights is None else weights_of(table, weights)
    groups = None if group is None else groups_of(table, group)
    encoding = learn_encoding(table, decisions, missing=missing, standardise=standardise)
    if thin and len(y.classes) == 2 and pays(encoding, table.rows):
        return Lesson(tuple(decisions), encoding, table_rows(encoding, table), y, cost, groups)
    return Lesson(tuple(decisions), encoding, NamedRows.of(encoding.matrix(table), encoding.names), y, cost, groups)


def labels_of(table: Table, target: str) -> CodedLabels:
    """The classes in the order of their texts, and the code of each row."""
    coded = table.coded(target)
    check_all_there(table, coded, target, "label")
    used = np.bincount(coded.codes, minlength=len(coded.levels)) > 0
    order = sorted(np.flatnonzero(used).tolist(), key=lambda code: coded.levels[code])
    if len(order) < 2:
        raise TableError(
            f"every row is of one class, {coded.levels[order[0]]!r}", column=target,
            because="To learn to tell classes apart, rows of two classes or more are needed.",
            remedies=[Remedy("choose another target", "target", "COLUMN")],
        )  # fmt: skip
    _check_classes(table, target, len(order))
    places = np.zeros(len(coded.levels), np.int32)
    places[order] = np.arange(len(order))
    codes = coded.codes if order == list(range(len(coded.levels))) else places[coded.codes]
    return CodedLabels(codes, [coded.levels[code] for code in order])


def _check_classes(table: Table, target: str, classes: int) -> None:
    """A target that hardly ever repeats itself is a measurement or a name, not a class."""
    if classes > 20 and 2 * classes > table.rows:
        raise TableError(
            f"it has {classes} different values in {table.rows} rows", column=target,
            because="A class is what many rows share; this looks like a number or a name.",
            remedies=[Remedy("choose another target", "target", "COLUMN")],
        )  # fmt: skip


def weights_of(table: Table, name: str) -> Floats:
    """Numbers of at least zero, not all of them zero."""
    found = table.numbers(name)
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        said = "a weight is missing" if np.isnan(found[row]) else f"a weight is {found[row]:g}"
        raise TableError(
            said, place=table.place(row), column=name, because="A weight is a finite number of at least zero.",
            remedies=[Remedy("leave such rows out", "where", f"{in_sql(name)} >= 0")],
        )  # fmt: skip
    if not found.any():
        raise TableError("every weight is zero", column=name, because="Then no row counts.")
    return found


def groups_of(table: Table, name: str) -> NDArray[np.int32]:
    """The group of each row, by its code."""
    coded = table.coded(name)
    check_all_there(table, coded, name, "group")
    return coded.codes


def check_all_there(table: Table, coded: LevelCodes, name: str, what: str) -> None:
    """Every row has a value of this column."""
    absent = coded.codes < 0
    count = int(np.count_nonzero(absent))
    if count:
        raise TableError(
            f"the {what} is missing", place=table.place(int(np.argmax(absent))), column=name, value="",
            because=f"{count} of {table.rows} rows {'has' if count == 1 else 'have'} no {what}.",
            remedies=[Remedy("leave such rows out", "where", f"{in_sql(name)} IS NOT NULL")],
        )  # fmt: skip


def check_columns(table: Table, named: Mapping[str, Sequence[str]]) -> None:
    """Every column that a setting names is there."""
    for name, columns in named.items():
        for column in columns:
            if column not in table.names:
                more = f" and {len(table.names) - MOST_LISTED} more" if len(table.names) > MOST_LISTED else ""
                raise SettingError(
                    name, column, f"Its columns: {', '.join(table.names[:MOST_LISTED])}{more}.",
                    f"{setting(name, column)}: the table has no such column. "
                    f"{did_you_mean(column, table.names)}".rstrip(),
                )  # fmt: skip


def decisions_of(
    table: Table, *, target: str | None = None, weights: str | None = None, group: Sequence[str] = (),
    number: Sequence[str] = (), category: Sequence[str] = (), drop: Sequence[str] = (), na: Sequence[str] = (),
) -> tuple[Decision, ...]:  # fmt: skip
    """How each column is read."""
    from ..tables.kinds import decide

    single = {"target": [target] if target else [], "weights": [weights] if weights else []}
    check_columns(table, {**single, "group": group, "number": number, "category": category, "drop": drop})
    return decide(table, target=target, weights=weights, group=tuple(group), number=number, category=category,
                  drop=drop, na=na)  # fmt: skip


class Rows:
    """Some rows of a table, as a table."""

    def __init__(self, table: Table, rows: Sequence[int] | NDArray[np.intp]) -> None:
        self._table, self._rows = table, rows

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self._table.names

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def numbers(self, name: str) -> Floats:
        """A column as numbers."""
        return self._table.numbers(name)[self._rows]

    def coded(self, name: str) -> LevelCodes:
        """A column as levels."""
        codes, levels = self._table.coded(name)
        return LevelCodes(codes[self._rows], levels)

    def place(self, row: int) -> Any:
        """Where a row stands in the whole table."""
        return self._table.place(int(self._rows[row]))
