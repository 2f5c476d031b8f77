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


# How expressions are written: what most languages have in common, and what a language may change.

FEW = 4
"""Terms of a sum that stand on one line."""


class Language:
    """Writes expressions; a language says how its numbers, names, functions and choices look."""

    between = "\n        "
    """Between the terms of a long sum."""

    def number(self, value: float) -> str:
        """A number that is not negative, so that the same bits are read again."""
        return repr(value)

    def name(self, name: str) -> str:
        """A cell or a step."""
        return name

    def call(self, function: str, *arguments: str) -> str:
        """exp(z), abs(z), max(a, b)."""
        return f"{function}({', '.join(arguments)})"

    def choice(self, value: Choice) -> str:
        """values[code]"""
        raise NotImplementedError

    def condition(self, value: If) -> str:
        """One of two values."""
        raise NotImplementedError

    def finite(self, value: Expression) -> str:
        """The value, unknown where it is not finite."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------------- the writing

    def write(self, value: Expression) -> str:
        """The text of an expression."""
        return _WAYS[type(value)](self, value)

    def signed(self, value: float) -> str:
        """A number, in brackets if it is negative."""
        value = float(value) + 0.0
        return f"(-{self.number(-value)})" if value < 0 else self.number(value)

    def test(self, value: If) -> str:
        """left < right"""
        return f"{self.inside(value.left)} {value.sign} {self.inside(value.right)}"

    def scaled(self, x: str, center: float, scale: float) -> str:
        """(x - center) / scale"""
        return f"({x} {'+' if center < 0 else '-'} {self.number(abs(center))}) / {self.number(scale)}"

    def inside(self, value: Expression) -> str:
        """The text as a part of another, in brackets where they are needed."""
        text = self.write(value)
        return f"({text})" if isinstance(value, Sum | Product | Ratio | If) else text

    def sum(self, value: Sum) -> str:
        """a + b - c"""
        found = ""
        between = self.between if len(value.terms) > FEW else " "
        for term in value.terms:
            minus, text = self._term(term)
            found += f"{between}{'-' if minus else '+'} {text}" if found else ("-" if minus else "") + text
        return found

    def _term(self, term: Expression) -> tuple[bool, str]:
        """Whether it is taken away, and what."""
        if isinstance(term, Number) and term.value < 0:
            return True, self.number(-term.value)
        if isinstance(term, Product) and isinstance(first := term.factors[0], Number):
            rest = term.factors[1:]
            if first.value == -1:
                return True, self._times(rest)
            if first.value < 0:
                return True, self._times((Number(-first.value), *rest))
        return False, self._times(term.factors) if isinstance(term, Product) else self.inside(term)

    def _times(self, factors: tuple[Expression, ...]) -> str:
        return " * ".join(map(self.inside, factors))

    def product(self, value: Product) -> str:
        """a * b"""
        first = value.factors[0]
        if isinstance(first, Number) and first.value == -1:
            return f"-{self._times(value.factors[1:])}"
        return self._times(value.factors)


_WAYS: dict[type, Callable[[Language, Any], str]] = {
    Number: lambda to, e: to.signed(e.value),
    Ref: lambda to, e: to.name(e.name),
    Finite: lambda to, e: to.finite(e.of),
    Choice: lambda to, e: to.choice(e),
    Sum: lambda to, e: to.sum(e),
    Product: lambda to, e: to.product(e),
    Ratio: lambda to, e: f"{to.inside(e.above)} / {to.inside(e.below)}",
    Exp: lambda to, e: to.call("exp", to.write(e.power)),
    Abs: lambda to, e: to.call("abs", to.write(e.of)),
    Largest: lambda to, e: to.call("max", *map(to.write, e.of)),
    If: lambda to, e: to.condition(e),
}


def branches_of(value: If) -> tuple[list[If], Expression]:
    """If, else if, else if … and what is left: a chain of conditions."""
    chain, last = [value], value.other
    while isinstance(last, If):
        chain.append(last)
        last = last.other
    return chain, last


def place_of(value: Expression) -> int:
    """The place of a class, which is a number."""
    assert isinstance(value, Number)
    return int(value.value)


def in_two(value: float) -> tuple[float, float]:
    """hi + lo = value, the first with 15 digits, the second with few.

    Spreadsheets read no more than 15 digits of a number, and SQLite misreads some numbers of 17.

    >>> in_two(0.1), in_two(1 / 3)
    ((0.1, 0.0), (0.333333333333333, 3.3e-16))
    """
    high = float(f"{value:.15g}")
    for digits in range(2, 18):
        low = float(f"{value - high:.{digits}g}")
        if high + low == value:
            return high, low
    return value, 0.0
