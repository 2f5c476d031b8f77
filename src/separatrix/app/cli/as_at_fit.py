"""How the table was read at the fit: a model remembers it, so that nobody types it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeVar

KEPT = ("na", "decimal", "header", "encoding")
"""What the model keeps: how cells and letters are read. Which rows were taken (--where, --sample) is asked anew."""
OF_THE_FILE = ("decimal", "header", "encoding")
"""Of these a table of another kind of file knows nothing: they hold where names end as those of the fit did."""
PACKED = (".gz", ".xz", ".zst", ".zstd")
Said = TypeVar("Said")


def to_keep(reading: Any) -> dict[str, Any]:
    """What was said at the fit, for the model file; what was not said is not there."""
    found = {name: getattr(reading, name) for name in KEPT}
    found = {name: value for name, value in found.items() if value not in ((), None, ".")}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def as_at_the_fit(said: Said, model: Any, data: tuple[str, ...]) -> tuple[Said, str]:
    """What was said, completed by what the model remembers; and a sentence about that, if anything was added."""
    training = model.training or {}
    kept = {name: value for name, value in dict(training.get("reading") or {}).items() if value is not None}
    learnt_from = [each.get("name", "") for each in training.get("files") or () if isinstance(each, dict)]
    if not _endings(data) <= _endings(learnt_from):
        kept = {name: value for name, value in kept.items() if name not in OF_THE_FILE}
    added = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept.items()
        if getattr(said, name) in ((), None)
    }
    if not added:
        return said, ""
    words = shlex.join(word for name, value in added.items() for word in _typed(name, value))
    return replace(said, **added), f"The table is read as at the fit: {words}."  # type: ignore[type-var]


def _endings(names: Iterable[str]) -> set[str]:
    """What names end with, .csv also of data.csv.gz."""
    return {next((end for end in reversed(PurePath(str(each)).suffixes) if end not in PACKED), "") for each in names}


def _typed(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [word for each in (value if isinstance(value, tuple) else (value,)) for word in (f"--{name}", str(each))]
