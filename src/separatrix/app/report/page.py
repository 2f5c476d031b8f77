"""The report as one HTML file: nothing is fetched, and one script and one style are allowed, by their hashes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from .checks import FAILED, PASSED
from .markdown import markdown_of
from .markup import coded, csv_link
from .shortening import ROOMS, shortened
from .svg import Chart
from .views import found_views, head_views
from .views_held import held_views
from .views_weights import weights_views
from .words import class_name


def page_of(facts: dict[str, Any], *, model: str | None = None, name: str = "model.json") -> str:
    """The page; `model` is the text of the model file, which it then holds."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files(__package__) / "template"
    style, script = (_lean((folder / each).read_text(encoding="utf-8")) for each in ("page.css", "page.js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["coded"] = coded
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
