"""The report as one HTML file: nothing is fetched, and one script and one style are allowed, by their hashes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from ...inference.summary.numerals import brief, p_value
from .checks import FAILED, PASSED
from .markup import cell, class_name, csv_link, ratio, spaced
from .shortening import ROOMS, shortened
from .svg import Chart
from .views import ELSEWHERE, column_view, found_views, head_views, lead, left_out, measure_cells, verdict_words
from .views_held import held_views, scaled, weight_words, weights_views

# The report as Markdown: checks, data, weights, measures and how to repeat it, for a message or a repository.

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
        *_check_lines(short),
        *_data(short["data"]), *_model(short), *_weights(short["weights"]), *_held(short["held_out"]),
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


def _check_lines(facts: dict[str, Any]) -> list[str]:
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


def page_of(facts: dict[str, Any], *, model: str | None = None, name: str = "model.json") -> str:
    """The page; `model` is the text of the model file, which it then holds."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files(__package__) / "template"
    style, script = (_lean((folder / each).read_text(encoding="utf-8")) for each in ("page.css", "page.js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "page.html").read_text(encoding="utf-8"))
    return template.render(
        facts=facts, style=Markup(style), script=Markup(script), style_hash=hash_of(style),  # noqa: S704
        script_hash=hash_of(script), numbers=Markup(as_json(numbers_of(facts))),  # noqa: S704
        model_text=None if model is None else Markup(_inert(model)), model_name=name,  # noqa: S704
        checks=_checks(facts), unknown=sum(each["state"] not in (PASSED, FAILED) for each in facts["checks"]),
        csv_link=csv_link, **head_views(facts), **weights_views(facts), **held_views(facts), **found_views(facts),
    ).strip() + "\n"  # fmt: skip


def hash_of(text: str) -> str:
    """The hash by which a Content-Security-Policy names a text: sha256-…"""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def as_json(value: Any) -> str:
    """JSON that no parser of HTML takes for the end of its element."""
    return _inert(json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")))


def _inert(text: str) -> str:
    return text.replace("<", "\\u003c")


def _lean(text: str) -> str:
    """Without the blanks that lines begin with."""
    return re.sub(r"\n\s*", "\n", text).strip()


def numbers_of(facts: dict[str, Any]) -> dict[str, Any]:
    """The numbers that the script computes with: the model, and the counts at each threshold."""
    held = facts["held_out"]
    two = held["there"] and len(held["classes"]) == 2
    points = held["curves"][0]["points"] if two else []
    frame = Chart.of((0, 1), (0, 1))
    return {
        "scorer": facts["scorer"],
        "thresholds": [[each[name] for name in ("threshold", "tp", "fp", "fn", "tn")] for each in points],
        "frame": [frame.x.start, frame.x.end, frame.y.start, frame.y.end],
        "outcome": [class_name(held["positive"])] if two else [],
    }


def _checks(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks: those that failed first, then those not known, then those that passed."""
    order = {FAILED: 0, PASSED: 2}
    kinds = {FAILED: ("failed", "✗"), PASSED: ("passed", "✓")}
    ranked = sorted(facts["checks"], key=lambda each: order.get(each["state"], 1))
    return [
        {**each, "kind": kinds.get(each["state"], ("unknown", "?"))[0],
         "sign": kinds.get(each["state"], ("unknown", "?"))[1]}
        for each in ranked
    ]  # fmt: skip


LARGEST = 500_000
"""Bytes of a page."""


def html_of(facts: dict[str, Any], model: str | None, name: str) -> str:
    """The page that shows most among those that are small enough: with the model file, if that leaves room."""
    tries = [(room, model) for room in ROOMS[:2] if model is not None] + [(room, None) for room in ROOMS]
    text = ""
    for room, held in tries:
        if held is not None and len(held) > LARGEST:
            continue
        text = page_of(shortened(facts, room), model=held, name=name)
        if len(text.encode()) <= LARGEST:
            break
    return text


def json_of(facts: dict[str, Any], model: str | None, name: str) -> str:
    """The facts as JSON."""
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[dict[str, Any], str | None, str], str]] = {
    "html": html_of, "md": lambda facts, model, name: markdown_of(facts), "json": json_of,
}  # fmt: skip
"""Each takes the facts, the text of the model file, and its name."""
