"""A report as the text of a file: a page that is never larger than it may be, Markdown, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .markdown import markdown_of
from .shortening import ROOMS, shortened

LARGEST = 500_000
"""Bytes of a page."""


def html_of(facts: dict[str, Any], model: str | None, name: str) -> str:
    """The page that shows most among those that are small enough: with the model file, if that leaves room."""
    from .page import page_of

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
    """All facts."""
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[dict[str, Any], str | None, str], str]] = {
    "html": html_of, "md": lambda facts, model, name: markdown_of(facts), "json": json_of,
}  # fmt: skip
"""Each takes the facts, the text of the model file, and its name."""
