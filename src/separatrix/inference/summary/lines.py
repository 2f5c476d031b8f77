"""The table of a summary: a block for every class that has weights, a line for every weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from .numerals import MINUS, number, p_value

MARK = "†"
"""Marks numbers that were forced."""
ALIASED = "‡"
"""Marks columns that are combinations of others."""
TENDS = {"+inf": math.inf, "-inf": -math.inf}
SHOWN = {"+inf": "+∞", "-inf": f"{MINUS}∞", "undetermined": "±∞", "unknown": "—"}


class Spread(NamedTuple):
    """What inference says of one weight."""

    low: float
    high: float
    standard_error: float
    z: float
    p: float


@dataclass(frozen=True)
class Line:
    """One weight and what follows from it."""

    name: str
    weight: float
    """In the units of X; infinite where maximum likelihood sends it there, NaN where it has no value."""
    per_deviation: float | None = None
    """w·s: for a step of one standard deviation of the column. The intercept has none."""
    spread: Spread | None = None
    aliased: bool = False
    """Whether the column is a combination of others."""
    tends: str = "finite"
    """Or "+inf", "-inf", "undetermined" (it goes to infinity either way), "unknown": what maximum likelihood makes of
    it."""

    @property
    def odds_ratio(self) -> float:
        """e^w."""
        return _exp(self.weight)

    @property
    def odds_interval(self) -> tuple[float, float] | None:
        """e^low … e^high."""
        return None if self.spread is None else (_exp(self.spread.low), _exp(self.spread.high))


@dataclass(frozen=True)
class Block:
    """The weights of one class."""

    label: Any
    against: Any
    """The class that the odds are against; None: the geometric mean of all."""
    lines: tuple[Line, ...]


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def headings(*, deviations: bool, spread: bool, level: float, marked: bool) -> list[str]:
    """What stands above the columns of the table."""
    mark = MARK if marked else ""
    shown = ["", "weight", *(["per SD"] if deviations else []), "odds ratio"]
    return (
        shown + [f"{name}{mark}" for name in (f"its {100 * level:g} % interval", "SE", "z", "p")] if spread else shown
    )


def cells(line: Line, *, deviations: bool, spread: bool, marked: bool) -> list[str]:
    """One line of the table, the same in every form."""
    name = f"{line.name} {ALIASED}" if line.aliased else line.name
    gone = line.tends != "finite"
    weight = _gone(line) if gone else number(line.weight)
    shown = [name, weight]
    if deviations:
        shown.append("" if line.per_deviation is None else _gone(line) if gone else number(line.per_deviation))
    shown.append(_odds_gone(line) if gone else number(line.odds_ratio))
    if not spread:
        return shown
    if line.spread is None or line.odds_interval is None:
        return [*shown, "", "", "", ""]
    low, high = line.odds_interval
    z = "—" if math.isnan(line.spread.z) else f"{line.spread.z:.2f}".replace("-", MINUS)
    p = p_value(line.spread.p) + (MARK if marked else "")
    return [*shown, f"{number(low)} … {number(high)}", number(line.spread.standard_error), z, p]


def _gone(line: Line) -> str:
    return "—" if line.aliased else SHOWN[line.tends]


def _odds_gone(line: Line) -> str:
    return {"+inf": "∞", "-inf": "0"}.get(line.tends, "—")
