"""The nomogram: a ruler for every column, one for points, one for their sum, and one for the probability."""

from __future__ import annotations

from html import escape
from typing import Any

from .svg import Scale, picture, short, tick_text
from .ticks import nice_ticks

WIDTH, LEFT, ROW = 780, 170, 46
MOST = 30
"""Columns that have a ruler, those that move the score most."""


def draw(facts: dict[str, Any]) -> str:
    """All rulers below each other."""
    lines = facts["lines"][:MOST]
    points = Scale(0, 100, LEFT, WIDTH - 30)
    total = Scale(0, max(facts["most"], 1e-12), LEFT, WIDTH - 30)
    parts = _ruler(0, "Points", [(points(v), tick_text(float(v))) for v in range(0, 101, 10)])
    for i, line in enumerate(lines, 1):
        minus = "−" if line["kind"] == "number" else "-"
        marks = sorted(((points(each["points"]), each["text"].replace("-", minus)) for each in line["marks"]),
                       key=lambda mark: mark[0])  # fmt: skip
        parts += _ruler(i, line["name"], marks)
    sums = [(total(value), tick_text(value)) for value in nice_ticks(0, facts["most"], 10)]
    parts += _ruler(len(lines) + 1, "Sum of points", sums)
    chances = [(total(each["points"]), f"{100 * each['probability']:.6g} %") for each in facts["scale"]]
    parts += _ruler(len(lines) + 2, f"P({_cut(facts['class'], 14)})", chances)
    first = lines[0]["name"]
    words = (f"Points of every value. {first} moves the score most, by up to 100 points; all columns together by up to "
             f"{facts['most']:.0f}.")  # fmt: skip
    return picture("nomogram", f"Nomogram of {facts['class']}", words, WIDTH, ROW * (len(lines) + 3) + 6, parts,
                   "chart nomogram")  # fmt: skip


def _ruler(i: int, name: str, marks: list[tuple[float, str]]) -> list[str]:
    """Texts above and below in turn where they would touch; those that fit nowhere are in the table only."""
    y = ROW * i + 25
    parts = [f'<text class="name" x="{LEFT - 14}" y="{y + 4}" text-anchor="end">{escape(_cut(name, 24))}</text>']
    if marks:
        parts.append(f'<path class="axis" d="M{short(marks[0][0])} {y}H{short(max(marks[-1][0], marks[0][0] + 1))}"/>')
    ends = [-1e9, -1e9]
    for x, text in marks:
        shown = _cut(text, 16)
        half = 3.4 * len(shown) + 3
        side = 0 if x - half >= ends[0] else 1 if x - half >= ends[1] else None
        tick = "v-5" if side in (0, None) else "v5"
        parts.append(f'<path class="tick" d="M{short(x)} {y}{tick}"/>')
        if side is None:
            continue
        ends[side] = x + half
        at = y - 9 if side == 0 else y + 17
        parts.append(f'<text x="{short(x)}" y="{at}" text-anchor="middle">{escape(shown)}</text>')
    return parts


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
