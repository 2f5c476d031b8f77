"""The report as Markdown: checks, data, weights, measures and how to repeat it, for a message or a repository."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...inference.summary.numerals import brief, p_value
from .shortening import ROOMS, shortened
from .views import ELSEWHERE, column_view, lead, left_out, measure_cells, verdict_words
from .views_weights import scaled, weight_words
from .words import cell, class_name, ratio, spaced

SIGNS = {"failed": "✗", "passed": "✓"}
"""The sign of each state of a check."""
SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
"""Characters that Markdown would take for markup."""
ORDER = {"failed": 0, "passed": 2}
"""Checks that failed come first, those not known next."""


def markdown_of(facts: dict[str, Any]) -> str:
    """The whole report; no text of a table or of a model is taken for markup."""
    short = shortened(facts, ROOMS[0])
    parts = [
        f"# Report on a model: {escaped(short['target'])}", escaped(lead(short)),
        f"**{escaped(str(short['verdict']['status']).capitalize())}.** {escaped(verdict_words(short))}",
        *_checks(short), *_data(short["data"]), *_model(short), *_weights(short["weights"]), *_held(short["held_out"]),
        *_path(short), *_repeat(short["repeat"]),
        f"Written by Separatrix {escaped(short['version'])}.",
    ]  # fmt: skip
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(text: Any) -> str:
    """A text in which nothing is markup, neither for Markdown nor for HTML."""
    plain = " ".join(str(text).split())
    return SPECIAL.sub(r"\\\1", plain.replace("&", "&amp;").replace("<", "&lt;"))


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as GitHub and others draw it."""
    lines = [[escaped(each) for each in line] for line in (head, *rows)]
    drawn = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([drawn[0], "|" + " --- |" * len(head), *drawn[1:]])


def _checks(facts: dict[str, Any]) -> list[str]:
    counts = facts["counts"]
    ranked = sorted(facts["checks"], key=lambda each: ORDER.get(each["state"], 1))
    lines = [
        f"- {SIGNS.get(each['state'], '?')} **{escaped(each['name'])}** ({each['state']}): {escaped(each['sentence'])}"
        + (f" → {escaped(each['remedy'])}" if each["remedy"] else "")
        for each in ranked
    ]
    return ["## Checks", f"{counts['passed']} of {counts['all']} checks passed, {counts['failed']} failed.",
            "\n".join(lines)]  # fmt: skip


def _data(data: dict[str, Any]) -> list[str]:
    rows = data["rows"]
    shown = [column_view(each, rows) for each in data["columns"]]
    cut = data["columns_all"] - len(shown)
    return [
        "## Data", f"{spaced(rows)} rows.",
        table(["class", "rows"], [[each["name"], spaced(each["rows"])] for each in data["classes"]]),
        table(["column", "read as", "missing", "what it holds"],
              [[each["name"], each["kind"], each["missing"], each["holds"]] for each in shown]),
        f"{cut} more columns are in the report as JSON." if cut else "",
        "\n".join(f"- Left out: **{escaped(each['names'])}**: {escaped(each['why'])}." for each in left_out(data)),
    ]  # fmt: skip


def _model(facts: dict[str, Any]) -> list[str]:
    model = facts["model"]
    rows = [[name, value] for name, value in model["parameters"].items()]
    return ["## Model", f"{escaped(model['learner'])}, {model['features']} features from {model['columns']} columns.",
            table(["parameter", "value"], rows) if rows else ""]  # fmt: skip


def _weights(weights: dict[str, Any]) -> list[str]:
    sentence, why = weight_words(weights, pictured=False)
    found = ["## Weights", escaped(sentence), escaped(why)]
    level = f"{100 * weights['level']:g} % interval"
    head = ["name", "weight", *(["per SD"] if scaled(weights["blocks"]) else [])]
    head += [*(["odds ratio"] if weights["odds"] else []), *([level, "p"] if weights["intervals"] else [])]
    for block in weights["blocks"]:
        against = f" against {class_name(block['against'])}" if block["against"] is not None else ""
        what = "Log-odds" if weights["odds"] else "Score"
        title = f"{what} of {class_name(block['class'])}{against}"
        found += [f"### {escaped(title)}",
                  table(head, [_line(each, weights) for each in block["lines"]])]  # fmt: skip
    return [*found, *(escaped(each) for each in weights["notes"])]


def _line(line: dict[str, Any], weights: dict[str, Any]) -> list[str]:
    gone = {"+inf": "+∞", "-inf": "−∞", "finite": ""}.get(line["tends"], "±∞")
    cells = [line["name"], gone or cell(line["weight"])]
    if scaled(weights["blocks"]):
        cells.append("" if line["per_deviation"] is None else gone or cell(line["per_deviation"]))
    if weights["odds"]:
        cells.append({"+∞": "∞", "−∞": "0", "±∞": "—"}.get(gone) or ratio(line["odds_ratio"]))
    if weights["intervals"]:
        ends = (line["odds_low"], line["odds_high"])
        cells += ["" if None in ends else f"{ratio(ends[0])} … {ratio(ends[1])}",
                  "" if line["p"] is None else p_value(line["p"])]  # fmt: skip
    return cells


def _held(held: dict[str, Any]) -> list[str]:
    if not held["there"]:
        return ["## How well it predicts", f"Nothing was held out: {escaped(held['why'])}"]
    rows = [measure_cells(each)[:3] for each in held["measures"]]
    counts = [[f"true {name}", *map(spaced, line)]
              for name, line in zip(held["classes"], held["confusion"], strict=True)]  # fmt: skip
    return [
        "## How well it predicts",
        f"Of {spaced(held['rows'])} rows, each predicted by a model that was learnt without its fold, one of "
        f"{held['folds']}.",
        table(["measure", "value", f"{100 * held['level']:g} % interval"], rows),
        table(["", *(f"predicted {name}" for name in held["classes"])], counts),
    ]


def _path(facts: dict[str, Any]) -> list[str]:
    said = [escaped(facts["verdict"]["sentence"]), escaped(facts["verdict"]["remedy"])]
    found, path = ["## How it was found", " ".join(filter(None, said))], facts["path"]
    if path["there"]:
        rows = [[line["name"], cell(line["values"][0]), cell(line["values"][-1])] for line in path["lines"]]
        found += [f"Weights per SD by {path['unit']}, the first and the last that were kept:"
                  + ("" if path["same_rows"] else f" {ELSEWHERE}"),
                  table(["weight", f"at {brief(path['at'][0])}", f"at {brief(path['at'][-1])}"], rows)]  # fmt: skip
    return found


def _repeat(repeat: dict[str, Any]) -> list[str]:
    commands = [each for each in (repeat["fit"], repeat["report"]) if each]
    pairs = [["fingerprint of the data", repeat["fingerprint"] or "not known"],
             ["learnt from these rows", "yes" if repeat["seen"] else "no, or not known"],
             ["seed of the fit", "not known" if repeat["seed"] is None else repeat["seed"]],
             ["seed of the report", repeat["report_seed"]],
             *([f"{name} at the fit", value] for name, value in repeat["versions"].items()),
             *([f"{name} at the report", value] for name, value in repeat["report_versions"].items())]  # fmt: skip
    block = "\n".join(f"    {line}" for each in commands for line in each.splitlines())  # indented: no fence to leave
    return ["## How to repeat it", block, table(["", ""], pairs)]
