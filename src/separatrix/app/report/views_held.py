"""Facts as a page shows them: how well held-out rows are predicted."""

from __future__ import annotations

from typing import Any

from ...inference.summary.numerals import brief, percent
from ...results.verdict import listed
from . import figures
from .markup import markup
from .views import NAMES, measure_cells
from .words import Cell, Interval, cell, class_name, spaced

POINT_HEAD = ["threshold", "found (TP)", "false alarms (FP)", "missed (FN)", "let pass (TN)", "sensitivity",
              "its interval", "specificity", "precision", "its interval"]  # fmt: skip
"""The head of the table of thresholds."""
CUT = 0.5
"""The probability at which a class is predicted."""
FEW = 4
"""The most classes that sentences and heads of tables spell out."""


def held_views(facts: dict[str, Any]) -> dict[str, Any]:
    """Measures, confusion, curves and margins of the held-out predictions."""
    held = facts["held_out"]
    base: dict[str, Any] = {"held": held, "level_name": "", "point_head": POINT_HEAD}
    if not held["there"]:
        return base
    two = len(held["classes"]) == 2
    marked = _marked(held) if two else None
    return base | {
        "level_name": f"{100 * held['level']:g} % interval",
        "held_sentence": _sentence(facts),
        "measures": [measure_cells(each, held["methods"].get(each["name"], "")) for each in held["measures"]],
        "by_class": [[each["of"] or "", NAMES.get(each["name"], each["name"]), *measure_cells(each)[1:3]]
                     for each in held["by_class"]],
        "slider": _slider(held, marked),
        "confusion": _confusion(held, marked),
        "curves": [_curve(each, k, marked if two else None, held) for k, each in enumerate(held["curves"])],
        "margins": _margins(held),
    }  # fmt: skip


def _sentence(facts: dict[str, Any]) -> str:
    held = facts["held_out"]
    together = " Rows of a group stay together." if held["grouped"] else ""
    counted = " Rows count by their weights." if held["weighted"] else ""
    return (
        f"Every row was predicted by a model that has not seen it: {facts['model']['learner']} with the same "
        f"parameters, fitted {held['folds']} times without one of {held['folds']} folds of these rows, levels "
        f"and means learnt anew each time.{together}{counted} The numbers describe models fitted like this one, not "
        "its fit to its own rows."
    )


def _marked(held: dict[str, Any]) -> dict[str, Any] | None:
    """The point at which predictions are made: a probability of one half, or a score of zero."""
    points = held["curves"][0]["points"]
    cut = CUT if held["probabilities"] else 0.0
    return min(points, key=lambda each: abs(each["threshold"] - cut), default=None)


def _slider(held: dict[str, Any], marked: dict[str, Any] | None) -> dict[str, Any] | None:
    if marked is None:
        return None
    points = held["curves"][0]["points"]
    unit = "probability" if held["probabilities"] else "score"
    return {
        "last": len(points) - 1, "start": points.index(marked), "value": f"{marked['threshold']:g}",
        "sentence": f"A row is predicted to be {class_name(held['positive'])} where its {unit} of that is at least the "
                    "threshold. "
                    "Move it, and the dots on the curves and the confusion move too.",
    }  # fmt: skip


def _confusion(held: dict[str, Any], marked: dict[str, Any] | None) -> dict[str, Any]:
    counts, classes = held["confusion"], held["classes"]
    ids: dict[tuple[int, int], str] = {}
    if marked is not None:
        k = classes.index(held["positive"])
        ids = {(k, k): "tp", (k, 1 - k): "fn", (1 - k, k): "fp", (1 - k, 1 - k): "tn"}
        counts = [[marked[ids[j, i]] for i in range(2)] for j in range(2)]
    rows, two = [], len(classes) == 2
    for j, name in enumerate(classes):
        total = sum(counts[j])
        cells = [
            {"count": spaced(n) if n or two else "·", "share": percent(n / total) if total and (n or two) else "",
             "id": f"cell-{ids[j, i]}" if ids else "",
             "shade": round(6 * n / total) if total else 0}
            for i, n in enumerate(counts[j])
        ]  # fmt: skip
        rows.append({"name": name, "cells": cells, "total": spaced(total)})
    right = held["right"] if marked is None else marked["tp"] + marked["tn"]
    every = sum(map(sum, counts))
    cut = held["classes_all"] - len(classes) + 1
    more = (f" The {cut} classes with the fewest rows are shown as one; all are in the report as JSON."
            if held["classes_all"] > len(classes) else "")  # fmt: skip
    many = len(classes) > FEW
    return {"many": many, "heads": list(classes) if many else [f"predicted {each}" for each in classes],
            "rows": rows, "right": f"{spaced(right)} of {spaced(every)}", "share": percent(right / every),
            "sentence": f"Shares are of the rows of a true class.{more}"}  # fmt: skip


def _curve(curve: dict[str, Any], k: int, marked: dict[str, Any] | None, held: dict[str, Any]) -> dict[str, Any]:
    said = figures.said
    drawn = []
    if curve["points"]:
        drawn = [
            {"picture": markup(figures.roc(curve, k, marked)), "title": "ROC",
             "words": f"The area under the curve is {said(curve['auc'])}; chance would be 0.5. The band is the "
                      "interval of the sensitivity at each threshold."},
            {"picture": markup(figures.precision_recall(curve, k, marked)), "title": "Precision and recall",
             "words": f"The average precision is {said(curve['average_precision'])}; chance would be "
                      f"{curve['share']:.3f}, the share of {class_name(curve['class'])}."},
        ]  # fmt: skip
    if curve["bins"]:
        drawn.append({
            "picture": markup(figures.calibration(curve, k)), "title": "Calibration",
            "words": _calibrated(curve),
        })  # fmt: skip
    return {"label": f"{class_name(curve['class'])} against the rest" if len(held["classes"]) > 2 else
            class_name(curve["class"]),
            "figures": drawn, "points": [_point(each) for each in curve["points"]],
            "bins": [_bin(each) for each in curve["bins"]]}  # fmt: skip


def _calibrated(curve: dict[str, Any]) -> str:
    slope, intercept = curve["calibration_slope"], curve["calibration_intercept"]
    if slope["value"] is None:
        return f"It has no slope: {slope['why']}."
    return (f"The slope is {figures.said(slope, 2)}, 1 would be right; the intercept is "
            f"{figures.said(intercept, 2)}, 0 would be right.")  # fmt: skip


def _point(each: dict[str, Any]) -> list[Cell]:
    def share(name: str) -> str:
        return "" if each[name][0] is None else f"{each[name][0]:.3f}"

    def ends(name: str) -> Cell:
        return "" if each[name][1] is None else Interval(f"{each[name][1]:.3f}", f"{each[name][2]:.3f}")

    counts = [spaced(each[name]) for name in ("tp", "fp", "fn", "tn")]
    return [f"{each['threshold']:g}", *counts, share("sensitivity"), ends("sensitivity"), share("specificity"),
            share("precision"), ends("precision")]  # fmt: skip


def _bin(each: dict[str, Any]) -> list[Cell]:
    ends = "" if each["low"] is None else Interval(f"{each['low']:.3f}", f"{each['high']:.3f}")
    return [cell(each["from"]), cell(each["to"]), spaced(each["rows"]), f"{each['predicted']:.4f}",
            f"{each['observed']:.4f}", ends]  # fmt: skip


def _wrong_sides(classes: list[dict[str, Any]]) -> str:
    """The share of rows on the wrong side: of each class, or of all where there are many."""
    if len(classes) <= FEW:
        return listed([f"{percent(each['wrong'][0])} of the rows of {class_name(each['class'])}" for each in classes])
    rows = sum(each["rows"] for each in classes)
    return f"{percent(sum(each['rows'] * each['wrong'][0] for each in classes) / rows)} of all rows"


def _margins(held: dict[str, Any]) -> dict[str, Any] | None:
    facts = held["margins"]
    if facts is None:
        return None
    classes, edges = facts["classes"], facts["edges"]
    shares = _wrong_sides(classes)
    beyond = f" {spaced(facts['beyond'])} rows beyond the ends are counted in the last bars." if facts["beyond"] else ""
    what = "The margin of a row is the score of its own class less that of the best other"
    return {
        "sentence": f"{what}: below zero the row is on the wrong side, as are {shares}.{beyond}",
        "legend": [{"name": each["class"], "colour": figures.colour(k)} for k, each in enumerate(classes)]
        if len(classes) <= figures.COLOURS else [],
        "picture": markup(figures.margins(facts)),
        "wrong": [
            [each["class"], spaced(each["rows"]), "" if each["median"] is None else brief(each["median"], 4),
             percent(each["wrong"][0]),
             "" if each["wrong"][1] is None else Interval(percent(each["wrong"][1]), percent(each["wrong"][2]))]
            for each in classes
        ],
        "head": ["margin from", "to", *(each["class"] for each in classes)],
        "rows": [[cell(edges[i]), cell(edges[i + 1]), *(spaced(each["counts"][i]) for each in classes)]
                 for i in range(len(edges) - 1)],
    }  # fmt: skip
