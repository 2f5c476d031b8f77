"""The fingerprint of a document: whether it is still what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from .document import nests

NAME = "fingerprint"
TOGETHER = 1024
"""Entries of a list that become text at once: the text of all of a large document is never held."""


def fingerprint_of(document: dict[str, Any]) -> str:
    """SHA-256 of the document without its fingerprint, as JSON with sorted names, no spaces and ASCII only.

    It is what `sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())` gives.

    >>> fingerprint_of({"b": 1, "a": [0.5, "é"], "fingerprint": "any"})
    '9e35e11878bfd9f32e23aa870d83711fd3e20b377514966b2ce39a7ec4880663'
    """
    found = hashlib.sha256()
    _feed({name: value for name, value in document.items() if name != NAME}, lambda text: found.update(text.encode()))
    return found.hexdigest()


def _feed(value: Any, add: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        for place, name in enumerate(sorted(value)):
            add(("," if place else "{") + json.dumps(name) + ":")
            _feed(value[name], add)
        add("}" if value else "{}")
    elif isinstance(value, list) and nests(value):
        for place, each in enumerate(value):
            add("," if place else "[")
            _feed(each, add)
        add("]")
    elif isinstance(value, list) and len(value) > TOGETHER:
        for start in range(0, len(value), TOGETHER):
            add(("," if start else "[") + _text(value[start : start + TOGETHER])[1:-1])
        add("]")
    else:
        add(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
