"""A summary as a page of text, as a fragment of HTML and as tables for LaTeX: one table, three writers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from .lines import Block
from .numerals import brief, number, p_value

if TYPE_CHECKING:
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
        _text_table(summary),
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
    left, right = _text_column(shown[:half]), _text_column(shown[half:])
    right += [""] * (len(left) - len(right))
    return "\n".join(f"{one}{' ' * 4}{other}".rstrip() for one, other in zip(left, right, strict=True))


def _text_column(pairs: list[tuple[str, str]]) -> list[str]:
    wide = max((len(label) for label, _ in pairs), default=0)
    value = max((len(text) for _, text in pairs), default=0)
    return [f"{label:<{wide}}  {text:>{value}}" for label, text in pairs]


def _text_table(summary: Summary) -> str:
    top = summary.headings()
    rows = [[summary.cells(line) for line in block.lines] for block in summary.blocks]
    every = [top, *(row for block in rows for row in block)]
    widths = [max(len(row[j]) for row in every) for j in range(len(top))]
    room = max(LEAST_NAME, WIDTH - sum(width + GAP for width in widths[1:]))
    widths[0] = min(widths[0], room)
    lines: list[str] = []
    for block, body in zip(summary.blocks, rows, strict=True):
        lines += [*([""] if lines else []), *wrap(summary.title(block), WIDTH), _text_row(top, widths)]
        lines.append("─" * len(_text_row([*top[:-1], "x" * widths[-1]], widths)))
        for row in body:
            if len(row[0]) > widths[0]:
                lines += wrap(row[0], WIDTH)
                row = ["", *row[1:]]
            lines.append(_text_row(row, widths))
    return "\n".join(lines)


def _text_row(row: list[str], widths: list[int]) -> str:
    numbers = "".join(" " * GAP + f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
    return f"{row[0]:<{widths[0]}}{numbers}".rstrip()


NUMERAL = ' style="text-align: right"'


def as_html(summary: Summary) -> str:
    """Paragraphs and tables, each with a caption, its headings marked as such."""
    parts = [
        '<section class="separatrix-summary" aria-label="Summary of a fitted model">',
        paragraph(heading(summary)),
        paragraph(summary.verdict),
        *_html_measures(summary),
        *(line for block in summary.blocks for line in _html_block(summary, block)),
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


def _html_measures(summary: Summary) -> list[str]:
    if not summary.measures:
        return []
    rows = ([each.label, measure_text(each.key, each.value)] for each in summary.measures)
    return table("How well it fits", ["measure", "value"], rows)


def _html_block(summary: Summary, block: Block) -> list[str]:
    return table(summary.title(block), summary.headings(), (summary.cells(line) for line in block.lines))


ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "−": "$-$", "∞": r"$\infty$", "±": r"$\pm$", "†": r"\dag{}", "‡": r"\ddag{}", "…": r"\dots{}", "×": r"$\times$",
    "·": r"$\cdot$", "→": r"$\to$", "≤": r"$\le$", "≥": r"$\ge$", "ρ": r"$\rho$", "ν": r"$\nu$", "χ": r"$\chi$",
    "²": r"$^2$", "½": r"$\frac12$", "√": r"$\surd$", "—": "---", "–": "--",
}  # fmt: skip
SCIENTIFIC = re.compile(r"(\d)e([−+])0*(\d+)")


def as_latex(summary: Summary) -> str:
    r"""A table environment with one tabular for the measures and one for every class; it needs booktabs."""
    captions = " ".join([heading(summary) + ".", summary.verdict])
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(captions)}}}",
        *_latex_measures(summary),
        *(line for block in summary.blocks for line in _latex_block(summary, block)),
        *(rf"\par\footnotesize {escaped(sentence)}" for sentence in summary.sentences()),
        r"\end{table}",
    ]
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Text as LaTeX sets it: what has a meaning there is escaped, signs beyond ASCII are named."""
    return "".join(ESCAPES.get(sign, sign) for sign in text)


def numeral(text: str) -> str:
    r"""A cell of numbers: 1.2e−05 is 1.2 · 10⁻⁵.

    >>> print(numeral("−1.2e−05"))
    $-$1.2$\cdot10^{-5}$
    """

    def power(found: re.Match[str]) -> str:
        return rf"{found[1]}@cdot10^{{{'-' if found[2] == '−' else ''}{found[3]}}}@"

    first, *rest = re.split(r"@(cdot10\^\{-?\d+\})@", SCIENTIFIC.sub(power, text))
    return escaped(first) + "".join(rf"$\{part}$" if j % 2 == 0 else escaped(part) for j, part in enumerate(rest))


def _latex_measures(summary: Summary) -> list[str]:
    if not summary.measures:
        return []
    rows = [[each.label, measure_text(each.key, each.value)] for each in summary.measures]
    return _tabular("lr", [["measure", "value"]], rows)


def _latex_block(summary: Summary, block: Block) -> list[str]:
    top = summary.headings()
    rows = [summary.cells(line) for line in block.lines]
    title = rf"\multicolumn{{{len(top)}}}{{l}}{{{escaped(summary.title(block))}}} \\"
    return _tabular("l" + "r" * (len(top) - 1), [top], rows, title)


def _tabular(layout: str, tops: list[list[str]], rows: list[list[str]], title: str = "") -> list[str]:
    return [
        rf"\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        *([title, r"\midrule"] if title else []),
        *(" & ".join(map(escaped, top)) + r" \\" for top in tops),
        r"\midrule",
        *(" & ".join([escaped(row[0]), *map(numeral, row[1:])]) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\medskip",
    ]
