"""One prediction in words: from the base rate to the probability, contribution by contribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

from ..results.verdict import plain_value
from .summary.html import paragraph, table
from .summary.numerals import brief, number, percent, signed

MOST, WIDTH = 10, 100
"""Contributions that are shown one by one; columns of the text."""


class Contribution(NamedTuple):
    """What one column adds to the log-odds."""

    name: str
    value: float | str | None
    """Of the column in this row, a number or a level; the average row has none."""
    mean: float | None
    """What the value is compared with."""
    contribution: float
    """wⱼ(xⱼ − x̄ⱼ)."""
    odds_factor: float | None
    """e^contribution: what it multiplies the odds by. None where the weights have no finite size."""
    probability: float | None
    """The probability once this and all before it are counted; None as above."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """base + Σ contributions = score: why one row has the probability that it has.

    The first contribution is the step from the base rate to the average row, the others are those of the columns, the
    largest first. They add up to the score: of two classes `decision_function`, of K the difference of two of its
    columns.
    """

    label: Any
    """The class whose probability is explained."""
    against: Any
    """The class that the odds are against."""
    base_rate: float
    """The part of the training rows that is of the class."""
    base: float
    """The log-odds of the two classes among the training rows."""
    contributions: list[Contribution]
    """What is added to the log-odds, by what: the average row first, then the columns, largest first."""
    score: float
    """The log-odds of this row."""
    probability: float
    """P(label | row); after *separated* and *quasi-separated* the limit."""
    finite: bool = True
    """Whether the weights have a finite size: after *separated* and *quasi-separated* they have not."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, in sentences."""

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[j]) for row in rows) for j in range(4)]
        lines = [
            "  ".join([f"{row[0]:<{widths[0]}}", *(f"{row[j]:>{widths[j]}}" for j in (1, 2, 3))]).rstrip()
            for row in rows
        ]
        said = [line for sentence in self.sentences() for line in wrap(sentence, WIDTH)]
        return "\n".join([*said, "", *lines])

    def sentences(self) -> list[str]:
        """The prediction in words."""
        way = "up from a" if self.probability > self.base_rate else "down from a"
        way = "about the" if percent(self.probability) == percent(self.base_rate) else way
        said = [f"The probability of {self.label} is {percent(self.probability)}, {way} base rate of "
                f"{percent(self.base_rate)}."]  # fmt: skip
        columns = [each for each in self.contributions[1:] if each.contribution]
        if columns:
            said.append(_largest(columns[0], self.label, self.finite))
        return [*said, *self.notes]

    def _rows(self) -> list[list[str]]:
        """The table: what, how much in log-odds, the factor, the probability after it."""
        unit = "log-odds" if self.finite else "score"
        rows = [
            ["", unit, "odds" if self.finite else "", "→ P"],
            ["base rate", signed(self.base), "", percent(self.base_rate)],
        ]
        first, shown, rest = self.contributions[0], self.contributions[1 : MOST + 1], self.contributions[MOST + 1 :]
        rows += [_row(_said(each), each.contribution, each.odds_factor, each.probability) for each in (first, *shown)]
        if rest:
            total = math.fsum(each.contribution for each in rest)
            factor = _factor(total) if self.finite else None
            rows.append(_row(f"{len(rest)} other columns", total, factor, rest[-1].probability))
        return [*rows, [f"{self.label} against {self.against}", signed(self.score), "", percent(self.probability)]]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return {
            "class": plain_value(self.label),
            "against": plain_value(self.against),
            "base_rate": self.base_rate,
            "base": self.base,
            "contributions": [{k: plain_value(v) for k, v in each._asdict().items()} for each in self.contributions],
            "score": self.score,
            "probability": self.probability,
            "finite": self.finite,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every contribution."""
        from pandas import DataFrame  # type: ignore[import-untyped]

        return DataFrame(self.contributions, columns=list(Contribution._fields))

    def _repr_html_(self) -> str:
        top, *rows = self._rows()
        said = [paragraph(sentence) for sentence in self.sentences()]
        caption = f"From the base rate to the probability of {self.label}"
        return "\n".join(['<section class="separatrix-explanation">', *said, *table(caption, top, rows), "</section>"])


def _factor(log_odds: float) -> float:
    try:
        return math.exp(log_odds)
    except OverflowError:
        return math.inf


def _largest(column: Contribution, label: Any, finite: bool) -> str:
    """The contribution that counts most."""
    way = "for" if column.contribution > 0 else "against"
    if not finite or column.odds_factor is None:
        return f"{_said(column)} speaks most, {way} it."
    return f"{_said(column)} speaks most, {way} it: it multiplies the odds by {number(column.odds_factor, 3)}."


def _said(column: Contribution) -> str:
    """age = 63 (mean 45.2)."""
    if column.value is None:
        return column.name
    if isinstance(column.value, str):
        return f"{column.name} = {column.value}"
    beside = "" if column.mean is None else f" (mean {brief(column.mean)})"
    return f"{column.name} = {brief(column.value, 4)}{beside}"


def _row(what: str, contribution: float, factor: float | None, probability: float | None) -> list[str]:
    shown = "" if factor is None else f"× {number(factor, 3)}"
    return [what, signed(contribution), shown, "" if probability is None else percent(probability)]
