"""What is wrong with a table, said so that it can be mended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ... import wording
from ...errors import DataError


class Place(NamedTuple):
    """Where a row of a table stands."""

    file: str
    line: int | None
    """Its line in the file, the header being line 1; None where a file has no lines."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file} line {self.line}"


class Remedy(NamedTuple):
    """What can be done, and how: by giving a setting this value, or by a call, a command or what else is written.

    >>> Remedy("treat it as missing", "na", ("?",)).text, Remedy("read stdin", call="-").text
    ("na=('?',)", '-')
    """

    purpose: str
    setting: str = ""
    value: Any = None
    call: str = ""

    @property
    def text(self) -> str:
        """What to write, in the words of the reader."""
        return wording.setting(self.setting, self.value) if self.setting else wording.call(self.call)

    def to_dict(self) -> dict[str, str]:
        """The remedy for programs."""
        return {"purpose": self.purpose, "text": self.text}


def with_remedies(lines: Sequence[str], remedies: Sequence[Remedy]) -> str:
    """The lines, and one for each remedy, what to write in a column of its own."""
    width = max((len(remedy.purpose) for remedy in remedies), default=0) + 2
    return "\n".join([*lines, *(f"  {remedy.purpose + ':':<{width}} {remedy.text}" for remedy in remedies)])


class TableError(DataError):
    """A table that cannot be read as it was asked for: where, what, why, and what to do next."""

    def __init__(
        self, problem: str, *, place: Place | None = None, column: str | None = None, value: str | None = None,
        because: str = "", remedies: Sequence[Remedy] = (),
    ) -> None:  # fmt: skip
        super().__init__(problem, column=column, value=value)
        self.file = None if place is None else place.file
        self.line = None if place is None else place.line
        self.because, self.remedies = because, tuple(remedies)

    @property
    def place(self) -> Place | None:
        """The file and the line, where they are known."""
        return None if self.file is None else Place(self.file, self.line)

    def __str__(self) -> str:
        known = (self.place, None if self.column is None else f"column {self.column!r}")
        where = ", ".join(str(part) for part in known if part is not None)
        lines = [f"{where}: {self.problem}" if where else self.problem]
        if self.because:
            lines.append(f"  {self.because}")
        return with_remedies(lines, self.remedies)

    def __reduce__(self) -> Any:
        return ValueError.__reduce__(self)  # the problem, then all fields

    def to_dict(self) -> dict[str, Any]:
        """The error for programs."""
        return {
            "problem": self.problem,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "value": self.value,
            "because": self.because or None,
            "remedies": [remedy.to_dict() for remedy in self.remedies],
        }


def in_sql(column: str) -> str:
    """The name of a column in a condition.

    >>> in_sql("age"), in_sql("hours per week")
    ('age', '"hours per week"')
    """
    return column if column.isidentifier() and column.isascii() else '"' + column.replace('"', '""') + '"'


def nearest(name: str, choices: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The choices that look like a name, the nearest first; capital letters count for nothing.

    >>> nearest("Taget", ["sex", "target", "weight"])
    ('target',)
    """
    spelt: dict[str, str] = {}
    for choice in choices:
        spelt.setdefault(choice.casefold(), choice)
    found = get_close_matches(name.casefold(), list(spelt), n=most, cutoff=0.6)
    return tuple(spelt[match] for match in found)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A question that offers the nearest name, or an empty text.

    >>> did_you_mean("taget", ["age", "target"])
    "Did you mean 'target'?"
    """
    found = nearest(name, choices, 1)
    return f"Did you mean {found[0]!r}?" if found else ""
