"""Texts that are markup already: made by our own figures, which escape every text."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from ...inference.summary.numerals import number

# Numbers and names as sentences and cells have them.

THIN = "\u202f"
"""A narrow blank at which no line breaks."""


class Interval(NamedTuple):
    """The ends of an interval, as a cell of a table shows them: 0.12 … 0.34."""

    low: str
    high: str

    def __str__(self) -> str:
        return f"{self.low} … {self.high}"


Cell = str | Interval


def cell(value: Any, digits: int = 4) -> str:
    """A number as a cell shows it."""
    if value in ("+inf", "-inf"):
        return "+∞" if value == "+inf" else "−∞"
    return "" if value is None else f"{value:,}".replace(",", THIN) if isinstance(value, int) else number(value, digits)


def ratio(value: Any) -> str:
    """An odds ratio as a cell shows it: four digits, or as many as tell it from one.

    >>> ratio(1.6886), ratio(1.00005998), ratio(0.99995), ratio(1.0)
    ('1.689', '1.000060', '0.999950', '1.000')
    """
    if not isinstance(value, float) or not 0 < abs(value - 1) < 1e-3:
        return cell(value)
    return f"{value:.{min(1 - math.floor(math.log10(abs(value - 1))), 12)}f}"


def spaced(count: float) -> str:
    """A count with narrow blanks: 48 842."""
    whole = float(count).is_integer()
    return f"{int(count):,}".replace(",", THIN) if whole else number(float(count), 6)


def class_name(name: str) -> str:
    """The name of a class within a sentence: in quotation marks, unless it is one word that is no number.

    >>> class_name("yes"), class_name("1"), class_name("not so good")
    ('yes', '“1”', '“not so good”')
    """
    plain = name.replace("_", "a").replace("-", "a")
    return name if plain.isalnum() and not plain[0].isdigit() else f"“{name}”"


def power(value: float) -> str:
    """A small number as people write it.

    >>> power(6.83e-14), power(0.0), power(0.02)
    ('7·10⁻¹⁴', '0', '0.02')
    """
    if not 0 < abs(value) < 1e-3 and abs(value) < 1e7:
        return f"{value:g}"
    digit, _, exponent = f"{value:.0e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digit == "1" else f"{digit}·10{raised}"


def measured(value: float, low: float | None, high: float | None) -> str:
    """A measure: four digits after the point, or four in all where it is so small that these would say nothing.

    >>> measured(0.46451, 0.4, 0.5), measured(-0.00043, -0.14, 0.14), measured(0.00043, 0.0004, 0.0005)
    ('0.4645', '−0.0004', '0.0004300')
    >>> measured(0.0, None, None)
    '0'
    """
    if value == 0:
        return "0"
    wide = low is not None and high is not None and high - low >= 0.01
    if not wide and abs(value) < 0.01:
        return number(value, 4)
    return f"{round(value, 4) + 0.0:.4f}".replace("-", "−")


def markup(text: str) -> Any:
    """A picture, as the template takes it without escaping it again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
"""A number as programs read it."""


def csv_link(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """The table as a `data:` address."""
    return f"data:text/csv;charset=utf-8,{quote(csv_text(head, rows), safe=',.:;=()/+-_!*')}"


def csv_text(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Numbers as programs read them, intervals in two columns.

    >>> print(csv_text(["name", "interval"], [["a", Interval("−1.5", "2")], ["=b", ""]]), end="")
    name,interval low,interval high
    a,-1.5,2
    '=b,,
    """
    wide = {j for j in range(len(head)) if any(isinstance(row[j], Interval) for row in rows)}
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([name for j, each in enumerate(head) for name in
                    ([f"{each} low", f"{each} high"] if j in wide else [_plain(each)])])  # fmt: skip
    for row in rows:
        lines.writerow([text for j, each in enumerate(row) for text in _cells(each, j in wide)])
    return out.getvalue()


def _cells(cell: Cell, wide: bool) -> list[str]:
    if isinstance(cell, Interval):
        return [_plain(cell.low), _plain(cell.high)]
    return [_plain(cell), ""] if wide else [_plain(cell)]


def _plain(text: str) -> str:
    """A number without its typography; a text that a spreadsheet would take for a formula with a ' before it."""
    bare = text.replace(THIN, "").replace("−", "-")
    if NUMBER.fullmatch(bare):
        return bare
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
