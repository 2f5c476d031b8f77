"""Options as they were typed, for the next command: it must see the same table in the same way."""

from __future__ import annotations

import shlex
from collections.abc import Container, Mapping
from dataclasses import fields
from typing import Any

OF_THE_MODEL = frozenset({"number", "category", "drop"})
"""What a saved model knows itself."""
FORMAT = {"format": "input_format"}
"""What the format of the table is called where there is one of the rows that are written, too."""


def typed_again(
    reading: Any, *, without: Container[str] = (), renamed: Mapping[str, str] | None = None, seed: int = 0
) -> list[str]:
    """How the table is read, in words of the command line; the seed where it chooses rows."""
    words: list[str] = []
    for entry in fields(reading):
        value = getattr(reading, entry.name)
        if entry.name in without or value == entry.default:
            continue
        name = (renamed or {}).get(entry.name, entry.name).replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words += _pair(name, str(each))
    return [*words, *(["--seed", str(seed)] if seed and reading.sample is not None else [])]


def _pair(name: str, value: str) -> tuple[str, ...]:
    return (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)


def after(words: list[str]) -> str:
    """To be put behind a command: nothing, or a space and the words."""
    return " " + shlex.join(words) if words else ""
