"""Charts as SVG: scales, axes, lines, bands and dots. Colours are classes of the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from .markup import power


def short(value: float) -> str:
    """A coordinate with two digits after the point, which is finer than eyes can see.

    >>> short(12.0), short(1.239), short(-0.001)
    ('12', '1.24', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def tick_text(value: float) -> str:
    """A number on an axis.

    >>> tick_text(0.2), tick_text(-3.0), tick_text(250000.0), tick_text(1e-5)
    ('0.2', '−3', '250 000', '10⁻⁵')
    """
    if value and (abs(value) >= 1e7 or abs(value) < 1e-3):
        return power(value).replace("-", "−")
    whole = f"{value:,.0f}".replace(",", " ") if value == round(value) else f"{value:.4g}"
    return whole.replace("-", "−")


class Scale(NamedTuple):
    """A map from numbers to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of a number; one outside stands at the end."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.logarithmic else (self.low, self.high)
        value = math.log10(max(value, 1e-300)) if self.logarithmic else value
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers; of a logarithmic scale powers of ten."""
        if not self.logarithmic:
            return nice_ticks(self.low, self.high, about)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        step = max(1, -(-(last - first) // about))
        return [10.0**k for k in range(first, last + 1, step)]


Point = tuple[float, float]


@dataclass
class Chart:
    """A picture with two axes."""

    x: Scale
    y: Scale
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, x: tuple[float, float], y: tuple[float, float], *, width: int = 350, height: int = 285,
        log_y: bool = False, left: int = 52, bottom: int = 44,
    ) -> Chart:  # fmt: skip
        """Room for numbers and names at the left and below."""
        return cls(Scale(*x, left, width - 20), Scale(*y, height - bottom, 12, log_y), width, height)

    def axes(self, x_name: str, y_name: str, *, about: int = 5, whole: bool = False) -> None:
        """Draw the grid, the numbers and the names of the axes; an x that counts has `whole` numbers only."""
        for value in self.y.ticks(about):
            at = short(self.y(value))
            self.parts.append(f'<path class="grid" d="M{short(self.x.start)} {at}H{short(self.x.end)}"/>')
            self.text(self.x.start - 6, self.y(value) + 4, tick_text(value), "end")
        for value in (each for each in self.x.ticks(about) if not whole or each == round(each)):
            self.parts.append(f'<path class="tick" d="M{short(self.x(value))} {short(self.y.start)}v4"/>')
            self.text(self.x(value), self.y.start + 17, tick_text(value), "middle")
        self.parts.append(f'<path class="axis" d="M{short(self.x.start)} {short(self.y.end)}V{short(self.y.start)}'
                          f'H{short(self.x.end)}"/>')  # fmt: skip
        self.text((self.x.start + self.x.end) / 2, self.height - 8, x_name, "middle")
        middle = (self.y.start + self.y.end) / 2
        self.parts.append(f'<text class="name" text-anchor="middle" transform="translate(13 {short(middle)}) '
                          f'rotate(-90)">{escape(y_name)}</text>')  # fmt: skip

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Write a text at a place of the picture."""
        own = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text{own} x="{short(x)}" y="{short(y)}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, points: Sequence[Point], kind: str) -> None:
        """Draw a line through points."""
        if points:
            self.parts.append(f'<path class="line {kind}" d="M{self._path(points)}"/>')

    def band(self, lower: Sequence[Point], upper: Sequence[Point], kind: str) -> None:
        """The band between two lines."""
        if lower and upper:
            self.parts.append(f'<path class="band {kind}" d="M{self._path([*lower, *reversed(upper)])}Z"/>')

    def bars(self, boxes: Sequence[tuple[float, float, float, float]], kind: str) -> None:
        """Draw rectangles from x to x and from y to y, as one path."""
        drawn = []
        for x0, x1, y0, y1 in boxes:
            left, right, low, top = self.x(x0), self.x(x1), self.y(y0), self.y(y1)
            if low > top:
                drawn.append(
                    f"M{short(left)} {short(low)}V{short(top)}H{short(max(right - 1, left + 0.4))}V{short(low)}z"
                )
        if drawn:
            self.parts.append(f'<path class="bar {kind}" d="{"".join(drawn)}"/>')

    def whisker(self, x: float, low: float, high: float, kind: str) -> None:
        """Draw an upright interval."""
        self.parts.append(f'<path class="whisker {kind}" d="M{short(self.x(x))} {short(self.y(low))}'
                          f'V{short(self.y(high))}"/>')  # fmt: skip

    def dot(self, x: float, y: float, kind: str, name: str = "", size: float = 4) -> None:
        """Draw a point; one with a name can be moved."""
        own = f' id="{escape(name)}"' if name else ""
        self.parts.append(f'<circle{own} class="dot {kind}" cx="{short(self.x(x))}" cy="{short(self.y(y))}" '
                          f'r="{short(size)}"/>')  # fmt: skip

    def _path(self, points: Sequence[Point]) -> str:
        return "L".join(f"{short(self.x(x))} {short(self.y(y))}" for x, y in points)

    def svg(self, name: str, title: str, description: str, kind: str = "chart") -> str:
        """The picture, with its words for those who do not see it."""
        return picture(name, title, description, self.width, self.height, self.parts, kind)


def picture(
    name: str, title: str, description: str, width: float, height: float, parts: Sequence[str], kind: str = "chart"
) -> str:
    """An SVG element that has a title and a description."""
    one = escape(name)
    return (
        f'<svg class="{kind}" id="{one}" role="img" aria-labelledby="{one}-t {one}-d" '
        f'viewBox="0 0 {short(width)} {short(height)}">'
        f'<title id="{one}-t">{escape(title)}</title><desc id="{one}-d">{escape(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten from `low` to `high` (which they may overshoot inwards only).

    >>> nice_ticks(0.0, 1.0), nice_ticks(17, 90, 4), nice_ticks(3.0, 3.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0, 60.0, 80.0], [3.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    rough = (high - low) / about
    if not rough > 0 or not math.isfinite(rough):
        return [low, high]
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * each for each in (1, 2, 2.5, 5, 10)), key=lambda each: abs(each - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 4 * about:
        return [low, high]
    found = [float(f"{k * step:.12g}") + 0.0 for k in range(first, last + 1)]
    return found if len(found) > 1 else [low, high]
