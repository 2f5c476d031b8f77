"""The forest plot: a picture in each line of the table of weights, all on one axis."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from .svg import Scale, short, tick_text

WIDTH, HEIGHT, AXIS = 220, 22, 26


def forest_scale(lines: list[dict[str, Any]]) -> Scale | None:
    """An axis of log-odds that holds all that is finite, and zero."""
    values = [0.0]
    for line in lines:
        values += [each for each in line["plot"] if isinstance(each, float | int) and math.isfinite(each)]
    # A few weights that are far larger than the others would press those together: they get arrows.
    reach = sorted(abs(each) for each in values)
    most = reach[-1]
    usual = reach[max(0, math.ceil(0.9 * len(reach)) - 1)]
    most = min(most, 4 * usual) if usual > 0 else most
    if not most > 0:
        return None
    low = max(min(values), -most)
    high = min(max(values), most)
    room = 0.04 * (high - low)
    return Scale(low - room, high + room, 8, WIDTH - 8)


def axis(scale: Scale, odds: bool) -> str:
    """The numbers above the lines: odds ratios, or weights."""
    parts = []
    for value in _ticks(scale, odds):
        x = short(scale(value))
        text = tick_text(float(f"{math.exp(value):.3g}")) if odds else tick_text(value)
        parts.append(f'<text x="{x}" y="14" text-anchor="middle">{escape(text)}</text>'
                     f'<path class="tick" d="M{x} 19v5"/>')  # fmt: skip
    return f'<svg class="forest" aria-hidden="true" viewBox="0 0 {WIDTH} {AXIS}">{"".join(parts)}</svg>'


def _ticks(scale: Scale, odds: bool) -> list[float]:
    if not odds:
        return scale.ticks(4)
    found = [0.0]
    for base in (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e3, 1e4, 1e6, 1e8):
        step = math.log(base)
        count = (scale.high - scale.low) / step
        if count <= 5:
            found = [k * step for k in range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)]
            return found if len(found) > 1 else [0.0]
    return found


def cell(scale: Scale, line: dict[str, Any]) -> str:
    """One line: the interval, the weight, an arrow where it leaves the axis."""
    zero, middle = short(scale(0.0)), short(HEIGHT / 2)
    parts = [f'<path class="zero" d="M{zero} 0V{HEIGHT}"/>']
    value, low, high = line["plot"]
    if isinstance(low, float | int) and isinstance(high, float | int):
        parts.append(f'<path class="whisker c0" d="M{short(scale(low))} {middle}H{short(scale(high))}"/>')
    if value in ("+inf", "-inf") or (isinstance(value, float | int) and not scale.low <= value <= scale.high):
        right = value == "+inf" or (isinstance(value, float | int) and value > 0)
        x, way = (WIDTH - 4, -9) if right else (4, 9)
        parts.append(f'<path class="arrow" d="M{x} {middle}l{way} -5v10z"/>')
    elif isinstance(value, float | int):
        parts.append(f'<circle class="dot c0" cx="{short(scale(value))}" cy="{middle}" r="4"/>')
    return f'<svg class="forest" aria-hidden="true" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
