"""How expressions are written: what most languages have in common, and what a language may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .program import Abs, Choice, Exp, Expression, Finite, If, Largest, Number, Product, Ratio, Ref, Sum

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
