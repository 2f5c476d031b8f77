"""Facts as a page shows them: sentences, and cells of tables. First the table, the model and its weights."""

from __future__ import annotations

import json
import math
from typing import Any

from ..interpretation.numerals import brief, number, p_value, percent
from . import figures, forest, nomogram
from .svg import short

Cell = dict[str, Any]
LINES, FEWEST = 320, 25
"""Weights that a page shows, all classes together; of each class so many at least."""
THIN = "\u202f"
"""A narrow blank at which no line breaks."""
NAMES = {
    "accuracy": "accuracy", "error_rate": "error rate", "balanced_accuracy": "balanced accuracy",
    "sensitivity": "sensitivity (recall)", "specificity": "specificity", "precision": "precision", "f1": "F1",
    "mcc": "Matthews correlation", "auc": "area under the ROC curve", "auc_hand_till": "Hand and Till's area",
    "average_precision": "average precision", "log_loss": "log loss", "brier": "Brier score",
    "calibration_intercept": "calibration intercept", "calibration_slope": "calibration slope",
}  # fmt: skip
"""Measures in words."""


def all_views(facts: dict[str, Any]) -> dict[str, Any]:
    """Everything but what was held out."""
    return {
        "lead": _lead(facts),
        "verdict": _verdict(facts),
        "cards": _cards(facts),
        "sections": [("checks", "Checks"), ("data", "Data"), ("model", "Model"), ("weights", "Weights"),
                     ("score", "Score one row"), ("held-out", "How well it predicts"),
                     ("convergence", "How it was found"), ("repeat", "How to repeat it")],
        "data": _data(facts["data"]),
        "model_card": _model_card(facts),
        "parameters": [[name, _plain(value)] for name, value in facts["model"]["parameters"].items()],
        "fit_measures": [[each["label"], cell(each["value"])] for each in facts["weights"]["measures"]],
        "weights": _weights(facts["weights"]),
        "nomogram": _nomogram(facts["nomogram"]),
        "fields": [_field(each) for each in facts["scorer"].get("columns", ())],
        "probable": facts["scorer"].get("link", "none") != "none",
        "convergence": _convergence(facts["convergence"]),
        **_repeat(facts),
    }  # fmt: skip


def cell(value: Any, digits: int = 4) -> str:
    """A number as a cell shows it."""
    if value in ("+inf", "-inf"):
        return "∞" if value == "+inf" else "−∞"
    return "" if value is None else f"{value:,}".replace(",", THIN) if isinstance(value, int) else number(value, digits)


def spaced(count: float) -> str:
    """A count with narrow blanks: 48 842."""
    whole = float(count).is_integer()
    return f"{int(count):,}".replace(",", THIN) if whole else number(float(count), 6)


def _lead(facts: dict[str, Any]) -> str:
    model, rows = facts["model"], facts["data"]["rows"]
    kinds, same = len(model["classes"]), ", those that it was learnt from" if facts["repeat"]["seen"] else ""
    columns = f"{model['columns']} column{'s' if model['columns'] != 1 else ''}"
    return (f"{model['learner']} predicts {facts['target']}, one of {kinds} classes, from {columns}. "
            f"This report looks at {spaced(rows)} rows{same}.")  # fmt: skip


def _verdict(facts: dict[str, Any]) -> str:
    said = facts["verdict"]
    text = said["sentence"]
    head = str(said["status"]).replace("-", " ").lower()
    first, _, rest = text.partition(": ")
    text = rest[:1].upper() + rest[1:] if rest and first.replace("-", " ").lower() == head else text
    return _beginning(f"{text} {said['remedy']}".strip())


def _beginning(text: str, most: int = 330) -> str:
    """The first sentences of a long text, the first one at least; the whole stands further below."""
    if len(text) <= most:
        return text
    end = max(text.rfind(". ", 0, most), text.find(". "))
    return text if end < 0 else f"{text[: end + 1]} More under “How it was found”."


def _cards(facts: dict[str, Any]) -> list[dict[str, str]]:
    held, counts = facts["held_out"], facts["counts"]
    cards = [{"what": "checks passed", "value": f"{counts['passed']} of {counts['all']}",
              "beside": f"{counts['failed']} failed"},
             {"what": "rows", "value": spaced(facts["data"]["rows"]),
              "beside": f"{facts['data']['features']} features"}]  # fmt: skip
    if not held["there"]:
        return cards
    known = {each["name"]: each for each in held["measures"]}
    for name in ("auc", "accuracy", "log_loss"):
        each = known.get(name)
        if each is not None and each["value"] is not None:
            ends = "" if each["low"] is None else f"{each['low']:.3f} to {each['high']:.3f}"
            label = {"auc": "held-out AUC", "accuracy": "held-out accuracy", "log_loss": "held-out log loss"}[name]
            cards.append({"what": label, "value": f"{each['value']:.3f}", "beside": ends})
    return cards


# -------------------------------------------------------------------------------------------------------- the columns


def _data(data: dict[str, Any]) -> dict[str, Any]:
    rows = data["rows"]
    count = len(data["columns"])
    return {
        "sentence": f"The table has {spaced(rows)} rows. {count} column{'s make' if count != 1 else ' makes'} "
                    f"{data['features']} features: a number is one, a category one for each level but its reference.",
        "classes": [{"name": each["name"], "rows": spaced(each["rows"]), "share": percent(each["rows"] / rows)}
                    for each in data["classes"]],
        "columns": [_column(each, rows) for each in data["columns"]],
        "left_out": data["left_out"],
    }  # fmt: skip


def _column(each: dict[str, Any], rows: int) -> dict[str, Any]:
    missing = f"{spaced(each['missing'])} ({percent(each['missing'] / rows)})" if each["missing"] else "0"
    if each["missing"] and each["fill"] is not None:
        fill = each["fill"] if isinstance(each["fill"], str) else brief(each["fill"], 4)
        missing += f", filled with {fill}"
    found = {"name": each["name"], "kind": each["kind"], "missing": missing, "picture": ""}
    if each["kind"] == "number":
        if each["mean"] is None:
            return found | {"holds": "no value"}
        holds = (f"mean {brief(each['mean'], 4)}, standard deviation {brief(each['deviation'], 4)}, from "
                 f"{brief(each['minimum'], 4)} to {brief(each['maximum'], 4)}")  # fmt: skip
        return found | {"holds": holds, "picture": _markup(_spark(each["histogram"]))}
    others = [f"{level['name']} {spaced(level['rows'])}" for level in each["shown"][1:]]
    more = f", and {each['more']} more" if each["more"] else ""
    strange = f"; not seen before: {', '.join(list(each['unseen'])[:5])}" if each["unseen"] else ""
    first = each["shown"][0]
    holds = f"reference {first['name']} {spaced(first['rows'])}"
    holds += f"; {', '.join(others)}{more}" if others else ""
    counts = [level["rows"] for level in each["shown"]]
    return found | {"holds": holds + strange, "picture": _markup(_spark(counts))}


def _spark(counts: list[int]) -> str:
    """A histogram as small as a word."""
    most, wide = max(counts, default=0) or 1, 96 / max(len(counts), 1)
    bars = [f"M{short(i * wide)} 24v{short(-24 * n / most)}h{short(wide - 1)}V24z" for i, n in enumerate(counts) if n]
    return (f'<svg class="spark" aria-hidden="true" viewBox="0 0 96 24"><path class="bar c0" d="{"".join(bars)}"/>'
            "</svg>")  # fmt: skip


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - made by our own figures, which escape every text


# ---------------------------------------------------------------------------------------------- the model, its weights


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _model_card(facts: dict[str, Any]) -> list[tuple[str, str]]:
    model, repeat = facts["model"], facts["repeat"]
    rows = repeat["training_rows"]
    return [
        ("Learner", model["learner"]),
        ("Predicts", f"{facts['target']}: {', '.join(model['classes'])}"),
        ("Rule", f"{model['rule']}, of {model['features']} features from {model['columns']} columns"),
        ("Learnt from", "rows that are not described in the file" if rows is None else f"{spaced(rows)} rows"),
        ("Ended", facts["verdict"]["status"] + (" (interrupted)" if model["status"] != "fitted" else "")),
        ("Made with", f"Separatrix {model['package']}"),
    ]


def _weights(weights: dict[str, Any]) -> dict[str, Any]:
    percents = f"{100 * weights['level']:g} %"
    if not weights["blocks"]:
        return {"sentence": weights["why"], "why": "", "blocks": [], "notes": []}
    sentence = "A weight is what one unit of its column adds to the log-odds; " if weights["odds"] else (
        "A weight is what one unit of its column adds to the score; ")  # fmt: skip
    sentence += "“per SD” is the same for a standard deviation, so that columns can be compared. "
    sentence += "The picture shows odds ratios" if weights["odds"] else "The picture shows weights"
    sentence += ", of numbers for a standard deviation, of levels against their reference"
    sentence += f", with {percents} intervals ({weights['method']})." if weights["intervals"] else "."
    why = f"There are no intervals. {weights['why']}" if not weights["intervals"] else weights["why"].strip()
    most = max(FEWEST, LINES // len(weights["blocks"]))
    if max(len(each["lines"]) for each in weights["blocks"]) > most:
        sentence += (f" Of each class the {most} weights that move the score most are shown; all of them are in the "
                     "model file, and in what --format json writes.")  # fmt: skip
    return {"sentence": sentence, "why": why, "notes": weights["notes"],
            "blocks": [_block({**each, "lines": _largest(each["lines"], most)}, weights)
                       for each in weights["blocks"]]}  # fmt: skip


def _largest(lines: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The lines that move the score most, in the order of the model; those that go to infinity before all."""
    if len(lines) <= most:
        return lines

    def size(line: dict[str, Any]) -> float:
        moved = line["weight"] if line["per_deviation"] is None else line["per_deviation"]
        return math.inf if line["tends"] in ("+inf", "-inf") or not isinstance(moved, float) else abs(moved)

    kept = {id(line) for line in sorted(lines, key=size, reverse=True)[:most]}
    return [line for line in lines if id(line) in kept]


def _block(block: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    scale = forest.forest_scale(block["lines"])
    against = f" against {block['against']}" if block["against"] is not None else ""
    title = f"{'Log-odds' if weights['odds'] else 'Score'} of {block['class']}{against}"
    head: list[dict[str, Any]] = [{"text": "", "axis": None}]
    if scale is not None:
        head.append({"text": "odds ratio" if weights["odds"] else "weight",
                     "axis": _markup(forest.axis(scale, weights["odds"]))})  # fmt: skip
    names = ["weight", "per SD", *(["odds ratio"] if weights["odds"] else [])]
    names += [f"{100 * weights['level']:g} % interval", "SE", "p"] if weights["intervals"] else []
    head += [{"text": name, "axis": None} for name in names]
    return {"title": title, "head": head, "forest": scale is not None,
            "rows": [_row(line, scale, weights) for line in block["lines"]]}  # fmt: skip


def _row(line: dict[str, Any], scale: Any, weights: dict[str, Any]) -> dict[str, Any]:
    gone = {"+inf": "∞", "-inf": "−∞"}.get(line["tends"], "—" if line["tends"] != "finite" else None)
    raw = None if gone else line["weight"]
    cells: list[Cell] = [{"text": gone or cell(line["weight"]), "sort": raw}]
    cells.append({"text": "" if line["per_deviation"] is None else gone or cell(line["per_deviation"]),
                  "sort": None if gone else line["per_deviation"]})  # fmt: skip
    if weights["odds"]:
        odds = {"+inf": "∞", "-inf": "0"}.get(line["tends"], "—" if gone else cell(line["odds_ratio"]))
        cells.append({"text": odds, "sort": None if gone else line["odds_ratio"]})
    if weights["intervals"]:
        ends = [line["odds_low"], line["odds_high"]]
        shown = "" if None in ends else f"{cell(ends[0])} … {cell(ends[1])}"
        cells += [{"text": shown, "sort": line["low"]}, {"text": cell(line["error"]), "sort": line["error"]},
                  {"text": "" if line["p"] is None else p_value(line["p"]), "sort": line["p"]}]  # fmt: skip
    name = f"{line['name']} ‡" if line["aliased"] else line["name"]
    return {"name": name, "cells": cells, "plot": "" if scale is None else _markup(forest.cell(scale, line))}


def _nomogram(facts: dict[str, Any]) -> dict[str, Any] | None:
    if not facts["there"]:
        return None
    rows = [[line["name"], mark["text"], f"{mark['points']:.1f}"] for line in facts["lines"] for mark in line["marks"]]
    rows += [["sum of points", f"P({facts['class']}) = {100 * each['probability']:.4g} %", f"{each['points']:.1f}"]
             for each in facts["scale"]]  # fmt: skip
    return {"label": facts["class"], "picture": _markup(nomogram.draw(facts)), "rows": rows}


def _field(column: dict[str, Any]) -> dict[str, Any]:
    if column["kind"] == "category":
        return {"name": column["name"], "kind": "category", "levels": column["levels"], "missing": column["missing"]}
    start = column["start"]
    shown = str(int(start)) if float(start).is_integer() and abs(start) < 1e15 else repr(start)
    hint = f"{brief(column['least'], 4)} to {brief(column['most'], 4)}" + ("; empty if missing" * column["missing"])
    return {"name": column["name"], "kind": "number", "start": shown, "hint": hint, "missing": column["missing"]}


# ----------------------------------------------------------------------------------------- how it was found, repeating


def _convergence(facts: dict[str, Any]) -> dict[str, Any]:
    if not facts["there"]:
        return {}
    names = [name for name in ("value", "gradient", "lower", "upper", "mistakes") if name in facts]
    words = {"value": "loss", "gradient": "length of the gradient", "lower": "margin from below",
             "upper": "margin from above", "mistakes": "mistakes"}  # fmt: skip
    rows = [[brief(facts["passes"][i], 6), *(cell(facts[name][i], 8) for name in names)]
            for i in range(len(facts["passes"]))]  # fmt: skip
    whose = "the rows of this report, which are those of the model" if facts["same_rows"] else (
        "the rows of this report, which are not those that the model was learnt from")  # fmt: skip
    return {
        "sentence": f"The learner was taught {whose}; this is where it stood after each of {facts['steps']} steps.",
        "figures": [_markup(each) for each in figures.convergence(facts)],
        "head": ["passes", *(words[name] for name in names)], "rows": rows,
    }  # fmt: skip


def _repeat(facts: dict[str, Any]) -> dict[str, Any]:
    repeat = facts["repeat"]
    commands = [{"what": "The model was fitted by", "command": repeat["fit"]}] if repeat["fit"] else []
    commands.append({"what": "This report was written by", "command": repeat["report"]})
    versions = ", ".join(f"{name} {value}" for name, value in repeat["versions"].items())
    own = ", ".join(f"{name} {value}" for name, value in repeat["report_versions"].items())
    named = [f"{each['name']}" + ("" if each["bytes"] is None else f" ({spaced(each['bytes'])} bytes)")
             for each in repeat["files"]]  # fmt: skip
    pairs = [
        ("Files", ", ".join(named) or "standard input"),
        ("Fingerprint of the data", repeat["fingerprint"] or "not known"),
        ("Of the training data", "the same" if repeat["seen"] else repeat["training_fingerprint"] or "not known"),
        ("Seed of the fit", "not known" if repeat["seed"] is None else str(repeat["seed"])),
        ("Seed of the report", str(repeat["report_seed"])),
        ("Versions at the fit", versions),
        ("Versions at the report", own),
    ]
    return {"commands": commands, "repeat": pairs}
