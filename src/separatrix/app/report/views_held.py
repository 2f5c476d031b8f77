"""Facts as a page shows them: how well held-out rows are predicted."""

from __future__ import annotations

from typing import Any

from ...inference.summary.numerals import brief, p_value, percent
from ...results.verdict import listed
from . import figures
from .markup import Cell, Interval, cell, class_name, csv_link, markup, ratio, spaced
from .views import NAMES, measure_cells

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


# Facts as a page shows them: the weights, the nomogram and the form.

SortableCell = dict[str, Any]
GONE = {"finite": "", "+inf": "+∞", "-inf": "−∞", "undetermined": "±∞"}
"""How a weight is written that maximum likelihood sends to infinity."""


def weights_views(facts: dict[str, Any]) -> dict[str, Any]:
    """Weights, nomogram, form."""
    return {
        "weights": _weights(facts["weights"]),
        "nomogram": _nomogram(facts["nomogram"]),
        "fields": [_field(each) for each in facts["scorer"].get("columns", ())],
        "probable": facts["scorer"].get("link", "none") != "none",
    }


def _weights(weights: dict[str, Any]) -> dict[str, Any]:
    sentence, why = weight_words(weights)
    if not weights["blocks"]:
        return {"sentence": sentence, "why": "", "blocks": [], "notes": []}
    return {"sentence": sentence, "why": why, "notes": weights["notes"],
            "blocks": [_block(each, weights) for each in weights["blocks"]]}  # fmt: skip


def weight_words(weights: dict[str, Any], *, pictured: bool = True) -> tuple[str, str]:
    """What the table shows; and why there are no intervals, or a remark on them."""
    blocks = weights["blocks"]
    if not blocks:
        return weights["why"], ""
    sentence = f"A weight is what one unit of its column adds to the {'log-odds' if weights['odds'] else 'score'}"
    sentence += "; “per SD” is the same for a standard deviation, so that columns can be compared." if scaled(
        blocks) else "."  # fmt: skip
    if weights["direction"]:
        sentence = (f"Maximum likelihood gives no weight a value here. These are the weights of a rule that separates "
                    f"the rows: its direction counts, its size says nothing. {sentence}")  # fmt: skip
    if pictured:
        sentence += _pictured(weights)
    most, all_of_them = (max(each(block) for block in blocks) for each in
                         (lambda block: len(block["lines"]), lambda block: block["lines_all"]))  # fmt: skip
    if all_of_them > most:
        whose = "Of each class the" if len(blocks) > 1 else "The"
        sentence += (f" {whose} {most} of {all_of_them} weights that move the score most are shown; all of them are in "
                     "the model file, and in the report as JSON.")  # fmt: skip
    if weights["blocks_all"] > len(blocks):
        sentence += f" {weights['blocks_all'] - len(blocks)} more classes have weights, which are there too."
    why = f"There are no intervals. {weights['why']}" if not weights["intervals"] else weights["why"].strip()
    return sentence, why


def _pictured(weights: dict[str, Any]) -> str:
    what = "odds ratios" if weights["odds"] else "weights"
    ends = f", with {100 * weights['level']:g} % intervals ({weights['method']})" if weights["intervals"] else ""
    if not scaled(weights["blocks"]):
        return f" The picture shows {what}{ends}."
    return f" The picture shows {what}, of numbers for a standard deviation, of levels against their reference{ends}."


def _limited(weights: dict[str, Any]) -> bool:
    """Whether it is known what maximum likelihood would make of the weights of a rule that separates."""
    return bool(weights["direction"]) and any(line["limit"] for block in weights["blocks"] for line in block["lines"])


def scaled(blocks: list[dict[str, Any]]) -> bool:
    """Whether weights per standard deviation are known."""
    return any(line["per_deviation"] is not None for block in blocks for line in block["lines"])


def _block(block: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    scale = figures.forest_scale(block["lines"])
    against = f" against {class_name(block['against'])}" if block["against"] is not None else ""
    title = f"{'Log-odds' if weights['odds'] else 'Score'} of {class_name(block['class'])}{against}"
    head: list[dict[str, Any]] = [{"text": "", "axis": None}]
    if scale is not None:
        per = ", per SD or level" * scaled(weights["blocks"])
        head.append({"text": f"{'odds ratio' if weights['odds'] else 'weight'}{per}",
                     "axis": markup(figures.forest_axis(scale, weights["odds"]))})  # fmt: skip
    names = [
        "weight",
        *(["per SD"] if scaled(weights["blocks"]) else []),
        *(["odds ratio"] if weights["odds"] else []),
    ]
    names += ["in the limit"] if _limited(weights) else []
    names += [f"its {100 * weights['level']:g} % interval", "SE", "p"] if weights["intervals"] else []
    head += [{"text": name, "axis": None} for name in names]
    return {"title": title, "head": head, "forest": scale is not None, "csv": _csv(block["lines"], weights),
            "rows": [_row(line, scale, weights) for line in block["lines"]]}  # fmt: skip


def _row(line: dict[str, Any], scale: Any, weights: dict[str, Any]) -> dict[str, Any]:
    gone = "—" if line["aliased"] and line["tends"] != "finite" else GONE.get(line["tends"], "—")
    raw = None if gone else line["weight"]
    cells: list[SortableCell] = [{"text": gone or cell(line["weight"]), "sort": raw}]
    if scaled(weights["blocks"]):
        cells.append({"text": "" if line["per_deviation"] is None else gone or cell(line["per_deviation"]),
                      "sort": None if gone else line["per_deviation"]})  # fmt: skip
    if weights["odds"]:
        odds = {"+inf": "∞", "-inf": "0"}.get(line["tends"], "—" if gone else ratio(line["odds_ratio"]))
        cells.append({"text": odds, "sort": None if gone else line["odds_ratio"]})
    if _limited(weights):
        cells.append({"text": GONE.get(line["limit"], "—"), "sort": None})
    if weights["intervals"]:
        ends = [line["odds_low"], line["odds_high"]]
        shown = "" if None in ends else Interval(ratio(ends[0]), ratio(ends[1]))
        cells += [{"text": shown, "sort": line["low"]}, {"text": cell(line["error"]), "sort": line["error"]},
                  {"text": "" if line["p"] is None else p_value(line["p"]), "sort": line["p"]}]  # fmt: skip
    name = f"{line['name']} ‡" if line["aliased"] else line["name"]
    return {"name": name, "cells": cells, "plot": "" if scale is None else markup(figures.forest_cell(scale, line))}


def _csv(lines: list[dict[str, Any]], weights: dict[str, Any]) -> str:
    """The table as CSV, with all digits."""
    names = ["weight", "per_deviation", *(["odds_ratio"] if weights["odds"] else []),
             *(["odds_low", "odds_high", "error", "p"] if weights["intervals"] else [])]  # fmt: skip
    rows = []
    for line in lines:
        gone = GONE.get(line["tends"], "—")
        rows.append([line["name"], *("" if line[name] is None else gone or str(line[name]) for name in names)])
    words = {"per_deviation": "per SD", "odds_ratio": "odds ratio", "odds_low": "odds ratio low",
             "odds_high": "odds ratio high", "error": "standard error"}  # fmt: skip
    return csv_link(["name", *(words.get(name, name) for name in names)], rows)


def _nomogram(facts: dict[str, Any]) -> dict[str, Any] | None:
    if not facts["there"]:
        return None
    rows = [[line["name"], mark["text"], f"{mark['points']:.1f}"] for line in facts["lines"] for mark in line["marks"]]
    rows += [["sum of points", f"P({facts['class']}) = {100 * each['probability']:.4g} %", f"{each['points']:.1f}"]
             for each in facts["scale"]]  # fmt: skip
    shown = min(len(facts["lines"]), figures.MOST_RULERS)
    cut = [f"the {shown} columns that move the score most"] if facts["lines_all"] > shown else []
    most = max(len(line["marks"]) for line in facts["lines"])
    cut += [f"{most} values of a column at the most"] if any(
        line["marks_all"] > len(line["marks"]) for line in facts["lines"]) else []  # fmt: skip
    note = f" It shows {' and '.join(cut)}; what it leaves out counts all the same." if cut else ""
    return {"label": class_name(facts["class"]), "picture": markup(figures.nomogram(facts)), "rows": rows, "note": note}


def _field(column: dict[str, Any]) -> dict[str, Any]:
    if column["kind"] == "category":
        count = len(column["levels"])
        return {"name": column["name"], "kind": "category", "levels": column["levels"], "missing": column["missing"],
                "hint": f"{count} level{'s' if count != 1 else ''}"}  # fmt: skip
    start = column["start"]
    shown = str(int(start)) if float(start).is_integer() and abs(start) < 1e15 else repr(start)
    hint = f"{brief(column['least'], 4)} to {brief(column['most'], 4)}" + ("; empty if missing" * column["missing"])
    return {"name": column["name"], "kind": "number", "start": shown, "hint": hint, "missing": column["missing"]}
