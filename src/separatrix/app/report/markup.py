"""Texts that are markup already: made by our own figures, which escape every text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from .words import THIN, Cell, Interval

OPTION = re.compile(r"--[a-z][a-z0-9-]*")
"""What is typed on a command line, shown in one piece."""


def markup(text: str) -> Any:
    """A picture, as the template takes it without escaping it again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def coded(text: str) -> Any:
    """A sentence whose options are shown as what is typed, and never broken: --l2 in one piece."""
    from markupsafe import Markup, escape

    return Markup(OPTION.sub(r'<code class="option">\g<0></code>', str(escape(text))))  # noqa: S704 - escaped before


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
