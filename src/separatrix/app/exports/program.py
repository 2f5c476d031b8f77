"""A model as a list of steps of school arithmetic, of which every target writes the same in its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ...errors import DataError
from ..tables.columns import Column

MOST_TERMS = 100
"""Of one sum: longer ones are added up in parts, as databases limit how deep and spreadsheets how long a formula is."""


class CannotExportError(DataError):
    """A model that a target cannot hold: which, why, and what can be done."""


@dataclass(frozen=True)
class Number:
    """A constant; finite."""

    value: float


@dataclass(frozen=True)
class Ref:
    """The value of a cell or of an earlier step."""

    name: str


@dataclass(frozen=True)
class Finite:
    """A number that is unknown (NULL, NaN, #N/A) where it is not finite."""

    of: Expression


@dataclass(frozen=True)
class Choice:
    """values[code]: one number for each level of a category."""

    code: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Sum:
    """Σ terms."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Product:
    """Π factors."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Ratio:
    """a/b."""

    above: Expression
    below: Expression


@dataclass(frozen=True)
class Exp:
    """eᶻ with z ≤ 0, or of a difference from the largest: it cannot overflow."""

    power: Expression


@dataclass(frozen=True)
class Abs:
    """|z|."""

    of: Expression


@dataclass(frozen=True)
class Largest:
    """max of two numbers or more."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class If:
    """`then` where left < right (or ≤), else `other`."""

    left: Expression
    sign: Literal["<", "<="]
    right: Expression
    then: Expression
    other: Expression


Expression = Number | Ref | Finite | Choice | Sum | Product | Ratio | Exp | Abs | Largest | If


def parts_of(value: Expression) -> tuple[Expression, ...]:
    """What an expression is made of, one level down."""
    return _PARTS[type(value)](value)


_PARTS: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
    Number: lambda _: (),
    Ref: lambda _: (),
    Finite: lambda e: (e.of,),
    Choice: lambda _: (),
    Sum: lambda e: e.terms,
    Product: lambda e: e.factors,
    Ratio: lambda e: (e.above, e.below),
    Exp: lambda e: (e.power,),
    Abs: lambda e: (e.of,),
    Largest: lambda e: e.of,
    If: lambda e: (e.left, e.right, e.then, e.other),
}


def names_in(value: Expression) -> Iterator[str]:
    """The cells and steps that an expression reads."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, Choice):
        yield value.code
    for part in parts_of(value):
        yield from names_in(part)


@dataclass(frozen=True)
class Step:
    """name = value."""

    name: str
    value: Expression


Allowed = tuple[float | None, float | None, bool]
"""The lowest number and the highest, where there are any, and whether only whole ones."""


@dataclass(frozen=True)
class Cell:
    """What is read from a column: (x − center)/scale of a number, the place of its level of a category; and 1[missing].

    Where the model would refuse the cell, its value is unknown, and so is all that follows from it.
    """

    column: Column
    value: str
    """The name under which steps read it."""
    missing: str | None
    """The name of the indicator, where there is one."""
    unseen: Literal["error", "reference"]
    allowed: Allowed = (None, None, False)
    """What numbers the model knows there; it refuses others."""

    @property
    def filled(self) -> float | None:
        """What steps read where the value is missing; None: it is unknown then."""
        column = self.column
        if column.kind == "category":
            return None if column.fill is None else 0.0
        if column.fill is None or not column.indicator:
            return None
        return (float(column.fill) - column.center) / column.scale

    @property
    def shifted(self) -> bool:
        """Whether a number is centred or scaled at all."""
        return (self.column.center, self.column.scale) != (0.0, 1.0)


@dataclass(frozen=True)
class Program:
    """Cells, then steps, each of which reads cells and earlier steps; then what is answered."""

    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    classes: tuple[Any, ...]
    scores: tuple[str, ...]
    """The steps that are the scores: one for two classes, else one for each."""
    probabilities: tuple[str, ...]
    """One for each class; none where the learner has none."""
    place: Expression
    """Of the class that is predicted, counted from 0."""
    facts: tuple[str, ...]
    """Lines about the model, for the head of what is written."""

    @cached_property
    def stages(self) -> tuple[tuple[Step, ...], ...]:
        """The steps, those together that read nothing of each other: first those that read cells only."""
        depth = {name: 0 for cell in self.cells for name in (cell.value, cell.missing) if name is not None}
        found: list[list[Step]] = []
        for step in self.steps:
            at = max((depth[name] for name in names_in(step.value)), default=0)
            depth[step.name] = at + 1
            found.extend([] for _ in range(at + 1 - len(found)))
            found[at].append(step)
        return tuple(map(tuple, found))

    @property
    def score_titles(self) -> tuple[str, ...]:
        """What the scores are called."""
        return ("score",) if len(self.scores) == 1 else tuple(f"score of {label}" for label in self.classes)

    @property
    def probability_titles(self) -> tuple[str, ...]:
        """What the probabilities are called."""
        return tuple(f"probability of {label}" for label in self.classes) if self.probabilities else ()
