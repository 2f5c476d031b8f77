"""What text is a number, a date or a time."""

from __future__ import annotations

import math
import re

DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
TIME = rf"\s*({DATE}([ T]+{CLOCK})?|{CLOCK})\s*(Z|UTC|[+-]\d{{2}}:?\d{{2}})?\s*"
"""A date, a time, or both: understood by Python and by duckdb."""
DECIMAL_COMMA = r"\s*[+-]?\d+(\.\d{3})*,\d+\s*"


def number_of(text: str, decimal: str = ".") -> float | None:
    """The finite number that a text stands for, or None; inf and nan are words, and not numbers.

    >>> number_of(" 1e3"), number_of("1,5"), number_of("1,5", decimal=","), number_of("nan")
    (1000.0, None, 1.5, None)
    """
    if decimal == ",":
        text = text.translate({ord("."): ",", ord(","): "."})
    try:
        found = float(text) if text.isascii() else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def has_decimal_comma(text: str) -> bool:
    """Whether a text is a number written with a decimal comma: 3,14 or 1.234,5."""
    return re.fullmatch(DECIMAL_COMMA, text) is not None


def spaced(count: int) -> str:
    """A whole number in groups of three digits: 99 999."""
    return f"{count:,}".replace(",", " ")
