"""A summary as a page of text."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from .numerals import brief, number, p_value
from .summary import Summary

WIDTH = 100
GAP = 2
LEAST_NAME = 12
"""The least room for names beside the numbers; longer ones stand on lines of their own."""


def as_text(summary: Summary) -> str:
    """The page, at most 100 columns wide."""
    parts = [
        _filled([heading(summary)]),
        _filled([summary.verdict]),
        _pairs(summary),
        _table(summary),
        _filled(summary.sentences()),
    ]
    return "\n\n".join(part for part in parts if part)


def heading(summary: Summary) -> str:
    """What was fitted, in one sentence."""
    head = dict(summary.head)
    model = head.pop("model")
    return f"{model}: " + ", ".join(f"{name} {in_words(value)}" for name, value in head.items())


def in_words(value: Any) -> str:
    """A fact of the head."""
    if isinstance(value, float):
        return f"{value:g}"
    return " | ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def measure_text(key: str, value: float) -> str:
    """A measure, with as many digits as it needs."""
    if key == "degrees":
        return f"{value:.0f}"
    if key == "events_per_parameter":
        return brief(value)
    return p_value(value) if key == "p" else number(value, 6 if abs(value) >= 10 else 4)


def _filled(sentences: list[str]) -> str:
    return "\n".join(line for each in sentences for line in wrap(each, WIDTH, break_on_hyphens=False))


def _pairs(summary: Summary) -> str:
    """Measures two by two."""
    shown = [(each.label, measure_text(each.key, each.value)) for each in summary.measures]
    if not shown:
        return ""
    half = (len(shown) + 1) // 2
    left, right = _column(shown[:half]), _column(shown[half:])
    right += [""] * (len(left) - len(right))
    return "\n".join(f"{one}{' ' * 4}{other}".rstrip() for one, other in zip(left, right, strict=True))


def _column(pairs: list[tuple[str, str]]) -> list[str]:
    wide = max((len(label) for label, _ in pairs), default=0)
    value = max((len(text) for _, text in pairs), default=0)
    return [f"{label:<{wide}}  {text:>{value}}" for label, text in pairs]


def _table(summary: Summary) -> str:
    top = summary.headings()
    rows = [[summary.cells(line) for line in block.lines] for block in summary.blocks]
    every = [top, *(row for block in rows for row in block)]
    widths = [max(len(row[j]) for row in every) for j in range(len(top))]
    room = max(LEAST_NAME, WIDTH - sum(width + GAP for width in widths[1:]))
    widths[0] = min(widths[0], room)
    lines: list[str] = []
    for block, body in zip(summary.blocks, rows, strict=True):
        lines += [*([""] if lines else []), *wrap(summary.title(block), WIDTH), _row(top, widths)]
        lines.append("─" * len(_row([*top[:-1], "x" * widths[-1]], widths)))
        for row in body:
            if len(row[0]) > widths[0]:
                lines += wrap(row[0], WIDTH)
                row = ["", *row[1:]]
            lines.append(_row(row, widths))
    return "\n".join(lines)


def _row(row: list[str], widths: list[int]) -> str:
    numbers = "".join(" " * GAP + f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
    return f"{row[0]:<{widths[0]}}{numbers}".rstrip()
