"""A number that says how it was found and how far off it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

LAST_DIGITS = 2.0**-50
"""The relative error of a sum or a closed form."""


class Estimate(float):
    """value ± error, found as `how` says; everywhere else a float.

    Of a sum or a closed form the error covers the last digits; of a quadrature it is an estimate from two rules on the
    same points; of random or given points it is one standard error.

    >>> half = Estimate(0.5, 1e-16, "sum over 2 points")
    >>> half
    0.5 ± 1e-16 (sum over 2 points)
    >>> half + 1
    1.5
    """

    __slots__ = ("error", "how")
    error: float
    how: str

    def __new__(cls, value: float, error: float, how: str) -> Estimate:
        made = super().__new__(cls, value)
        made.error, made.how = float(error), how
        return made

    @property
    def value(self) -> float:
        """The number alone."""
        return float(self)

    def minus(self, other: Estimate) -> Estimate:
        """a − b ± (error of a + error of b): as if the errors never cancelled."""
        return Estimate(float(self) - float(other), self.error + other.error, _joined(self.how, other.how))

    def __repr__(self) -> str:
        return f"{float(self):.10g} ± {self.error:.2g} ({self.how})"

    def __str__(self) -> str:
        return repr(self)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.error, self.how

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, (float(self), self.error, self.how)


def exact(terms: Iterable[float], how: str) -> Estimate:
    """Σ terms, to the last digits."""
    numbers = [float(term) for term in terms]
    return Estimate(math.fsum(numbers), LAST_DIGITS * math.fsum(map(abs, numbers)), how)


def _joined(first: str, second: str) -> str:
    return first if first == second else f"{first}; {second}"
