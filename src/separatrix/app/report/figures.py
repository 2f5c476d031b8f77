"""The figures of a report, drawn from its facts."""

from __future__ import annotations

import math
from typing import Any

from ...inference.summary.numerals import brief
from .svg import Chart, Point
from .words import class_name

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
