"""How each column of a table is read, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["number", "category", "ignored", "target", "weights", "group"]


@dataclass(frozen=True)
class Profile:
    """What is seen in a column before it is decided how to read it."""

    family: Literal["number", "text", "boolean", "time", "nested"]
    """What its values are in the file; of a text table, numbers may be texts."""
    values: int
    """How many are not missing."""
    missing: int
    distinct: int | None
    """How many different values there are, where that was counted."""
    numbers: int
    """How many values are finite numbers."""
    times: int
    """How many values are written like a date or a time."""
    commas: int = 0
    """How many values are numbers written with a decimal comma."""


@dataclass(frozen=True)
class Decision:
    """What a column is taken for, and what was seen that decided it: a line of `separatrix schema`."""

    name: str
    kind: Kind
    why: str
    """A sentence: 'every value is a number', '5 levels, the most frequent is the reference'."""
    missing: int = 0
    distinct: int | None = None
    levels: tuple[str, ...] = ()
    """Of a category or a target: its levels, the most frequent first (ties: in alphabetical order)."""
    counts: tuple[int, ...] = ()
    """How often each level occurs."""
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    deviation: float | None = None
    """√(Σ(x − x̄)²/n) of the values that are there."""


@dataclass(frozen=True)
class Column:
    """How a column of a table becomes columns of numbers: all that a model must remember of it.

    A number becomes (x − center)/scale. A category becomes one column of zeros and ones for each level but the
    reference. Where missing values are filled, one more column tells that the value was missing.
    """

    name: str
    kind: Literal["number", "category"]
    levels: tuple[str, ...] = ()
    """Of a category: the reference first."""
    center: float = 0.0
    scale: float = 1.0
    fill: float | str | None = None
    """What stands for a missing value: the mean, or the reference. None: a missing value is an error."""
    indicator: bool = False
    """Whether values were missing in the training rows, so that a column tells of it."""

    @property
    def reference(self) -> str | None:
        """The level that all others are compared with."""
        return self.levels[0] if self.levels else None

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its columns of numbers: 'age', 'city=Bonn', 'age is missing'."""
        own = (self.name,) if self.kind == "number" else tuple(f"{self.name}={level}" for level in self.levels[1:])
        return (*own, f"{self.name} is missing") if self.indicator else own

    def to_dict(self) -> dict[str, Any]:
        """What a model file keeps."""
        if self.kind == "category":
            return {"name": self.name, "kind": "category", "levels": list(self.levels), "fill": self.fill,
                    "indicator": self.indicator}  # fmt: skip
        return {"name": self.name, "kind": "number", "center": self.center, "scale": self.scale, "fill": self.fill,
                "indicator": self.indicator}  # fmt: skip
