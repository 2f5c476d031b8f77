"""What is wrong with a table, said so that it can be mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a row of a table stands."""

    file: str
    line: int | None
    """Its line in the file, the header being line 1; None where a file has no lines."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file} line {self.line}"


class Remedy(NamedTuple):
    """What can be done, and what to type for it."""

    purpose: str
    text: str


class DataError(ValueError):
    """A table cannot be read as it was asked for: where, what, why, and what to type next."""

    def __init__(
        self, problem: str, *, place: Place | None = None, column: str = "", value: str | None = None,
        because: str = "", remedies: Sequence[Remedy] = (),
    ) -> None:  # fmt: skip
        self.problem, self.place, self.column, self.value = problem, place, column, value
        self.because, self.remedies = because, tuple(remedies)
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ", ".join(
            part for part in (str(self.place or ""), f"column {self.column!r}" * bool(self.column)) if part
        )
        lines = [f"{where}: {self.problem}" if where else self.problem]
        if self.because:
            lines.append(f"  {self.because}")
        width = max((len(remedy.purpose) for remedy in self.remedies), default=0) + 2
        lines += [f"  {remedy.purpose + ':':<{width}} {remedy.text}" for remedy in self.remedies]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "problem": self.problem,
            "file": None if self.place is None else self.place.file,
            "line": None if self.place is None else self.place.line,
            "column": self.column or None,
            "value": self.value,
            "because": self.because or None,
            "remedies": [remedy._asdict() for remedy in self.remedies],
        }
