"""Facts as a page shows them: the weights, the nomogram and the form."""

from __future__ import annotations

from typing import Any

from ...inference.summary.numerals import brief, p_value
from . import figures
from .markup import csv_link, markup
from .words import Interval, cell, class_name, ratio

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
