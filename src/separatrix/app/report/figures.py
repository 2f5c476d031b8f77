"""The figures of a report, drawn from its facts."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from ...inference.summary.numerals import brief
from .markup import class_name
from .svg import Chart, Point, Scale, nice_ticks, picture, short, tick_text

COLOURS = 6
"""Classes that have a colour of their own; then they begin again, with other dashes."""


def colour(k: int) -> str:
    """The class of the style that class k is drawn in."""
    return f"c{k % COLOURS}"


def said(measure: dict[str, Any], digits: int = 3) -> str:
    """A measure in words: 0.912 (0.903 to 0.921); or why it has no value.

    >>> said({"value": 0.5, "low": 0.25, "high": 0.75, "why": ""})
    '0.500 (0.250 to 0.750)'
    """
    if measure["value"] is None:
        return f"not known: {measure['why']}"

    def written(value: float) -> str:
        return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")

    ends = "" if measure["low"] is None else f" ({written(measure['low'])} to {written(measure['high'])})"
    return f"{written(measure['value'])}{ends}"


def roc(curve: dict[str, Any], number: int, marked: dict[str, Any] | None) -> str:
    """Sensitivity against the share of false alarms, with Wilson's intervals of the sensitivity."""
    points = _ascending(curve["points"])
    chart = Chart.of((0, 1), (0, 1))
    lower = [
        (1 - each["specificity"][0], each["sensitivity"][1]) for each in points if each["sensitivity"][1] is not None
    ]
    upper = [
        (1 - each["specificity"][0], each["sensitivity"][2]) for each in points if each["sensitivity"][2] is not None
    ]
    chart.band(lower, upper, "c0")
    chart.axes("1 − specificity", "sensitivity")
    chart.line([(0, 0), (1, 1)], "chance")
    line: list[Point] = [(0, 0), *((1 - each["specificity"][0], each["sensitivity"][0]) for each in points), (1, 1)]
    chart.line(line, "c0")
    if marked is not None:
        chart.dot(1 - marked["specificity"][0], marked["sensitivity"][0], "marked", f"roc-dot-{number}", 6)
    words = f"ROC curve of {curve['class']}"
    return chart.svg(f"roc-{number}", words, f"The area under the curve is {said(curve['auc'])}; 0.5 would be chance. "
                     "The band is the interval of the sensitivity at each threshold.")  # fmt: skip


def precision_recall(curve: dict[str, Any], number: int, marked: dict[str, Any] | None) -> str:
    """Precision against sensitivity, with intervals of the precision."""
    points = [each for each in curve["points"] if each["precision"][0] is not None]
    chart = Chart.of((0, 1), (0, 1))
    known = [each for each in points if each["precision"][1] is not None]
    chart.band([(each["sensitivity"][0], each["precision"][1]) for each in known],
               [(each["sensitivity"][0], each["precision"][2]) for each in known], "c1")  # fmt: skip
    chart.axes("sensitivity (recall)", "precision")
    chart.line([(0, curve["share"]), (1, curve["share"])], "chance")
    chart.line([(each["sensitivity"][0], each["precision"][0]) for each in points], "c1")
    if marked is not None and marked["precision"][0] is not None:
        chart.dot(marked["sensitivity"][0], marked["precision"][0], "marked", f"pr-dot-{number}", 6)
    return chart.svg(f"pr-{number}", f"Precision and recall of {curve['class']}",
                     f"The average precision is {said(curve['average_precision'])}; {curve['share']:.3f} would be "
                     "chance, the share of the class.")  # fmt: skip


def calibration(curve: dict[str, Any], number: int) -> str:
    """The share that is of the class against the mean probability, in bins of as many rows."""
    chart = Chart.of((0, 1), (0, 1))
    chart.axes("mean probability of the bin", "share of the class")
    chart.line([(0, 0), (1, 1)], "chance")
    for each in curve["bins"]:
        if each["low"] is not None:
            chart.whisker(each["predicted"], each["low"], each["high"], "c2")
    chart.line([(each["predicted"], each["observed"]) for each in curve["bins"]], "c2 thin")
    for each in curve["bins"]:
        chart.dot(each["predicted"], each["observed"], "c2")
    slope = curve["calibration_slope"]
    off = max((abs(each["predicted"] - each["observed"]) for each in curve["bins"]), default=0.0)
    return chart.svg(f"calibration-{number}", f"Calibration of {curve['class']}",
                     f"Dots on the diagonal would be right. The slope is {said(slope, 2)}; the largest distance of a "
                     f"bin is {off:.3f}.")  # fmt: skip


def margins(facts: dict[str, Any]) -> str:
    """How far held-out rows are on the right side or on the wrong one, stacked by class."""
    edges, classes = facts["edges"], facts["classes"]
    heights = [sum(each["counts"][i] for each in classes) for i in range(len(edges) - 1)]
    chart = Chart.of((edges[0], edges[-1]), (0, max(heights) * 1.05 or 1.0), width=760, height=300, left=60)
    chart.axes(f"margin of the row, in {facts['unit']}: wrong below 0, right above", "rows", about=6)
    floor = [0.0] * len(heights)
    series = classes if len(classes) <= COLOURS else [{"counts": heights}]  # a colour for two classes tells of neither
    for k, each in enumerate(series):
        counts = each["counts"]
        chart.bars([(edges[i], edges[i + 1], floor[i], floor[i] + n) for i, n in enumerate(counts)], colour(k))
        floor = [below + n for below, n in zip(floor, counts, strict=True)]
    if edges[0] < 0 < edges[-1]:
        chart.line([(0, 0), (0, chart.y.high)], "zero")
    parts = [f"{100 * each['wrong'][0]:.1f} % of {class_name(each['class'])}" for each in classes]
    return chart.svg("margins", "Margins of held-out rows", f"Below zero, on the wrong side, are {', '.join(parts)}.",
                     "chart wide")  # fmt: skip


def convergence(facts: dict[str, Any]) -> list[str]:
    """Loss above the best, length of the gradient; or the mistakes of each pass; or the bounds of a margin."""
    passes = facts["passes"]
    wide = (min(passes), max(passes) if max(passes) > min(passes) else min(passes) + 1)
    if "value" in facts:
        least = min(facts["value"]) if facts["least"] is None else facts["least"]
        floor = abs(least) * 2.0**-52 or 2.0**-52
        above = [max(each - least, floor) for each in facts["value"]]
        name = "Loss above the best that was reached" if facts["least"] is None else "Loss above its limit"
        return [
            _falling("loss", name, above, facts, wide, "c0"),
            _falling("gradient", "Length of the gradient", facts["gradient"], facts, wide, "c1"),
        ]
    if "mistakes" in facts:
        chart = Chart.of(wide, (0, max(facts["mistakes"]) or 1.0))
        chart.axes("passes over the rows", "mistakes in the pass", whole=True)
        chart.line(list(zip(passes, facts["mistakes"], strict=True)), "c0")
        first, last = facts["mistakes"][0], facts["mistakes"][-1]
        return [chart.svg("mistakes", "Mistakes of each pass", f"From {brief(first)} to {brief(last)} mistakes.")]
    return [_between(facts, wide)]


def _between(facts: dict[str, Any], wide: tuple[float, float]) -> str:
    names, what = (("lower", "upper"), "margin") if "lower" in facts else (("fewest", "most"), "mistakes")
    values = [each for name in names for each in facts[name] if isinstance(each, float | int)]
    chart = Chart.of(wide, (min(*values, 0.0), max(*values, 1e-9)))
    chart.axes("passes over the rows" if what == "margin" else "steps of the search", what)
    for name, kind in zip(names, ("c0", "c1"), strict=True):
        chart.line([(p, v) for p, v in zip(facts["passes"], facts[name], strict=True) if isinstance(v, float)], kind)
    low, high = (facts[name][-1] for name in names)
    return chart.svg("bounds", f"Bounds of the {what}", f"From {brief(low)} to {brief(high)} at the end.")


def _falling(name: str, title: str, values: list[float], facts: dict[str, Any], wide: tuple[float, float],
             kind: str) -> str:  # fmt: skip
    there = [each for each in values if isinstance(each, float) and each > 0]
    if not there:
        there = [1.0]
    low, high = 10.0 ** math.floor(math.log10(min(there))), 10.0 ** math.ceil(math.log10(max(there)) + 1e-9)
    chart = Chart.of(wide, (low, high if high > low else 10 * low), log_y=True, left=70)
    chart.axes("passes over the rows", title.lower(), whole=True)
    starts = sorted(set(facts["start"]))
    for one in starts:
        own = [(p, max(v, low)) for p, v, s in zip(facts["passes"], values, facts["start"], strict=True) if s == one]
        chart.line(own, kind + (" thin" if len(starts) > 1 else ""))
        if len(own) <= 60:
            for x, y in own:
                chart.dot(x, y, kind, size=2.5)
    return chart.svg(name, title, f"From {values[0]:.2g} to {values[-1]:.2g} after {facts['passes'][-1]:.0f} passes.")


def _ascending(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From no alarms to all of them."""
    return [each for each in reversed(points) if each["specificity"][0] is not None]


PATH_WIDTH = 760
"""The width of the picture of a path."""
PATH_HEIGHT = 360
"""Its height."""
PATH_LEFT = 62
"""Its room at the left, for numbers."""
PATH_NAMES = 220
"""Its room at the right, for names."""
GAP = 16
"""Between two of these names."""
LONGEST = 30
"""Letters of a name at the end of a path."""


def path(facts: dict[str, Any]) -> str:
    """The path of the weights: a line for each, and a leader from its end to its name."""
    lines, at = facts["lines"], facts["at"]
    values = [each for line in lines for each in line["values"]]
    low, high = min(*values, 0.0), max(*values, 0.0)
    room = 0.04 * ((high - low) or 1.0)
    wide = (min(at), max(at) if max(at) > min(at) else min(at) + 1)
    across, up = Scale(*wide, PATH_LEFT, PATH_WIDTH - PATH_NAMES), Scale(low - room, high + room, PATH_HEIGHT - 44, 12)
    chart = Chart(across, up, PATH_WIDTH, PATH_HEIGHT)
    chart.axes(facts["unit"], "weight per SD" if facts["standardised"] else "weight", about=6, whole=True)
    chart.line([(wide[0], 0.0), (wide[1], 0.0)], "zero")
    for k, line in enumerate(lines):
        chart.line(list(zip(at, line["values"], strict=True)), _path_kind(k))
        if len(at) <= 40:
            for x, y in zip(at, line["values"], strict=True):
                chart.dot(x, y, colour(k), size=2.2)
    _path_names(chart, [(line["name"], chart.y(line["values"][-1])) for line in lines])
    ends = "; ".join(f"{_without_middle(line['name'])} ends at {brief(line['values'][-1])}" for line in lines)
    return chart.svg("path", "Path of the weights", f"{ends}.", "chart wide")


def _path_kind(k: int) -> str:
    """A colour; those that are used twice are dashed the second time."""
    return colour(k) + (" dashed" if k >= COLOURS else "")


def _path_names(chart: Chart, ends: list[tuple[str, float]]) -> None:
    """Names in the order of the ends, moved apart where they would touch."""
    order = sorted(range(len(ends)), key=lambda k: ends[k][1])
    places = spread([ends[k][1] for k in order], GAP, chart.y.end + 4, chart.y.start)
    for k, y in zip(order, places, strict=True):
        name, end = ends[k]
        x = chart.x.end
        chart.parts.append(f'<path class="line thin {_path_kind(k)}" d="M{short(x + 3)} {short(end)}L{short(x + 18)} '
                           f'{short(y)}H{short(x + 26)}"/>')  # fmt: skip
        chart.parts.append(
            f'<text class="name" x="{short(x + 30)}" y="{short(y + 4)}">{escape(_without_middle(name))}</text>'
        )


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


def _without_middle(text: str) -> str:
    """Long names lose their middle: they begin with the column and end with the class."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 12]}…{text[-11:]}"


NOMOGRAM_WIDTH = 780
"""The width of a nomogram."""
NOMOGRAM_LEFT = 170
"""Its room at the left, for names."""
RULER = 46
"""The height of one of its rulers."""
MOST_RULERS = 30
"""Columns that have a ruler, those that move the score most."""


def nomogram(facts: dict[str, Any]) -> str:
    """The nomogram: a ruler for each column, one for points, one for their sum, one for the probability."""
    lines = facts["lines"][:MOST_RULERS]
    points = Scale(0, 100, NOMOGRAM_LEFT, NOMOGRAM_WIDTH - 30)
    total = Scale(0, max(facts["most"], 1e-12), NOMOGRAM_LEFT, NOMOGRAM_WIDTH - 30)
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
    height = RULER * (len(lines) + 3) + 6
    return picture("nomogram", f"Nomogram of {facts['class']}", words, NOMOGRAM_WIDTH, height, parts, "chart nomogram")


def _ruler(i: int, name: str, marks: list[tuple[float, str]]) -> list[str]:
    """Texts above and below in turn where they would touch; those that fit nowhere are in the table only."""
    y = RULER * i + 25
    parts = [
        f'<text class="name" x="{NOMOGRAM_LEFT - 14}" y="{y + 4}" text-anchor="end">{escape(_cut(name, 24))}</text>'
    ]
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


FOREST_WIDTH = 220
"""The width of the pictures in the table of weights."""
FOREST_LINE = 22
"""The height of one line."""
FOREST_AXIS = 26
"""The height of the axis above the lines."""


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
    return Scale(low - room, high + room, 8, FOREST_WIDTH - 8)


def forest_axis(scale: Scale, odds: bool) -> str:
    """The numbers above the lines: odds ratios, or weights."""
    parts = []
    for value in _forest_ticks(scale, odds):
        x = short(scale(value))
        text = tick_text(float(f"{math.exp(value):.3g}")) if odds else tick_text(value)
        parts.append(f'<text x="{x}" y="14" text-anchor="middle">{escape(text)}</text>'
                     f'<path class="tick" d="M{x} 19v5"/>')  # fmt: skip
    return f'<svg class="forest" aria-hidden="true" viewBox="0 0 {FOREST_WIDTH} {FOREST_AXIS}">{"".join(parts)}</svg>'


def _forest_ticks(scale: Scale, odds: bool) -> list[float]:
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


def forest_cell(scale: Scale, line: dict[str, Any]) -> str:
    """One line: the interval, the weight, an arrow where it leaves the axis."""
    zero, middle = short(scale(0.0)), short(FOREST_LINE / 2)
    parts = [f'<path class="zero" d="M{zero} 0V{FOREST_LINE}"/>']
    value, low, high = line["plot"]
    if isinstance(low, float | int) and isinstance(high, float | int):
        parts.append(f'<path class="whisker c0" d="M{short(scale(low))} {middle}H{short(scale(high))}"/>')
    if value in ("+inf", "-inf") or (isinstance(value, float | int) and not scale.low <= value <= scale.high):
        right = value == "+inf" or (isinstance(value, float | int) and value > 0)
        x, way = (FOREST_WIDTH - 4, -9) if right else (4, 9)
        parts.append(f'<path class="arrow" d="M{x} {middle}l{way} -5v10z"/>')
    elif isinstance(value, float | int):
        parts.append(f'<circle class="dot c0" cx="{short(scale(value))}" cy="{middle}" r="4"/>')
    return f'<svg class="forest" aria-hidden="true" viewBox="0 0 {FOREST_WIDTH} {FOREST_LINE}">{"".join(parts)}</svg>'
