"""A summary as tables for LaTeX."""

from __future__ import annotations

import re

from .lines import Block
from .summary import Summary
from .text import heading, measure_text

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
        *_measures(summary),
        *(line for block in summary.blocks for line in _block(summary, block)),
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


def _measures(summary: Summary) -> list[str]:
    if not summary.measures:
        return []
    rows = [[each.label, measure_text(each.key, each.value)] for each in summary.measures]
    return _tabular("lr", [["measure", "value"]], rows)


def _block(summary: Summary, block: Block) -> list[str]:
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
