"""A summary as a fragment of HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .lines import Block
from .summary import Summary
from .text import heading, measure_text

NUMERAL = ' style="text-align: right"'


def as_html(summary: Summary) -> str:
    """Paragraphs and tables, each with a caption, its headings marked as such."""
    parts = [
        '<section class="separatrix-summary" aria-label="Summary of a fitted model">',
        paragraph(heading(summary)),
        paragraph(summary.verdict),
        *_measures(summary),
        *(line for block in summary.blocks for line in _block(summary, block)),
        *map(paragraph, summary.sentences()),
        "</section>",
    ]
    return "\n".join(parts)


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def table(caption: str, headings: list[str], rows: Iterable[list[str]]) -> list[str]:
    """A table whose first column names its rows."""
    top = "".join(
        f'<th scope="col"{NUMERAL if j else ""}>{escape(name) or "name"}</th>' for j, name in enumerate(headings)
    )
    lines = ["<table>", f"<caption>{escape(caption)}</caption>", f"<thead><tr>{top}</tr></thead>", "<tbody>"]
    for name, *numbers in rows:
        body = "".join(f"<td{NUMERAL}>{escape(cell)}</td>" for cell in numbers)
        lines.append(f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>{body}</tr>')
    return [*lines, "</tbody>", "</table>"]


def _measures(summary: Summary) -> list[str]:
    if not summary.measures:
        return []
    rows = ([each.label, measure_text(each.key, each.value)] for each in summary.measures)
    return table("How well it fits", ["measure", "value"], rows)


def _block(summary: Summary, block: Block) -> list[str]:
    return table(summary.title(block), summary.headings(), (summary.cells(line) for line in block.lines))
