"""The path of the weights as a picture: a line for each, its name where the line ends."""

from __future__ import annotations

from html import escape
from typing import Any

from ...inference.summary.numerals import brief
from .figures import COLOURS, colour
from .svg import Chart, Scale, short

WIDTH, HEIGHT, LEFT, NAMES, GAP = 760, 360, 62, 220, 16
"""Of the picture; room at the right for names, and between two of them."""
LONGEST = 30


def draw(facts: dict[str, Any]) -> str:
    """All lines, and leaders from their ends to their names."""
    lines, at = facts["lines"], facts["at"]
    values = [each for line in lines for each in line["values"]]
    low, high = min(*values, 0.0), max(*values, 0.0)
    room = 0.04 * ((high - low) or 1.0)
    wide = (min(at), max(at) if max(at) > min(at) else min(at) + 1)
    chart = Chart(
        Scale(*wide, LEFT, WIDTH - NAMES), Scale(low - room, high + room, HEIGHT - 44, 12), WIDTH, HEIGHT,
    )  # fmt: skip
    chart.axes(facts["unit"], "weight per SD" if facts["standardised"] else "weight", about=6, whole=True)
    chart.line([(wide[0], 0.0), (wide[1], 0.0)], "zero")
    for k, line in enumerate(lines):
        chart.line(list(zip(at, line["values"], strict=True)), _kind(k))
        if len(at) <= 40:
            for x, y in zip(at, line["values"], strict=True):
                chart.dot(x, y, colour(k), size=2.2)
    _names(chart, [(line["name"], chart.y(line["values"][-1])) for line in lines])
    ends = "; ".join(f"{_cut(line['name'])} ends at {brief(line['values'][-1])}" for line in lines)
    return chart.svg("path", "Path of the weights", f"{ends}.", "chart wide")


def _kind(k: int) -> str:
    """A colour; those that are used twice are dashed the second time."""
    return colour(k) + (" dashed" if k >= COLOURS else "")


def _names(chart: Chart, ends: list[tuple[str, float]]) -> None:
    """Names in the order of the ends, moved apart where they would touch."""
    order = sorted(range(len(ends)), key=lambda k: ends[k][1])
    places = spread([ends[k][1] for k in order], GAP, chart.y.end + 4, chart.y.start)
    for k, y in zip(order, places, strict=True):
        name, end = ends[k]
        x = chart.x.end
        chart.parts.append(f'<path class="line thin {_kind(k)}" d="M{short(x + 3)} {short(end)}L{short(x + 18)} '
                           f'{short(y)}H{short(x + 26)}"/>')  # fmt: skip
        chart.parts.append(f'<text class="name" x="{short(x + 30)}" y="{short(y + 4)}">{escape(_cut(name))}</text>')


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places near those wanted, no two closer than the gap, inside as far as there is room.

    >>> spread([10.0, 11.0, 50.0], 5.0, 0.0, 100.0)
    [10.0, 15.0, 50.0]
    >>> spread([98.0, 99.0], 5.0, 0.0, 100.0)
    [95.0, 100.0]
    """
    found: list[float] = []
    for each in wanted:
        found.append(max(each, low if not found else found[-1] + gap))
    most = high
    for k in reversed(range(len(found))):
        found[k] = min(found[k], most)
        most = found[k] - gap
    return found


def _cut(text: str) -> str:
    """Long names lose their middle: they begin with the column and end with the class."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 12]}…{text[-11:]}"
