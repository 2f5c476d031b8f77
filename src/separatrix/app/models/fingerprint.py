"""The fingerprint of a document: whether it is still what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

NAME = "fingerprint"
TOGETHER = 1024
"""Entries of a list, or letters, that become text at once: the text of all of a large document is never held."""


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
    kinds = set(map(type, value)) if isinstance(value, list) else set()
    if isinstance(value, dict):
        for place, name in enumerate(sorted(value)):
            add("," if place else "{")
            _feed(name, add)
            add(":")
            _feed(value[name], add)
        add("}" if value else "{}")
    elif kinds & {dict, list, str}:
        for place, each in enumerate(value):
            add("," if place else "[")
            _feed(each, add)
        add("]")
    elif isinstance(value, list | str) and len(value) > TOGETHER:
        ends = _text(value[:0])
        for start in range(0, len(value), TOGETHER):
            between = "," if start and isinstance(value, list) else ""
            add((between if start else ends[0]) + _text(value[start : start + TOGETHER])[1:-1])
        add(ends[1])
    else:
        add(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
