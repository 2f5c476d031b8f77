"""What a command has to say: data for programs, words for people, and an exit status."""

from __future__ import annotations

import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

from ..tables.errors import Remedy, with_remedies

DONE, NO, USAGE, DATA, NOT_OPTIMAL, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
"""Exit statuses: done; the answer is no; wrong usage; bad data; not optimal, with --strict; our bug; Ctrl-C."""


@dataclass(frozen=True)
class Answer:
    """What a command ends with."""

    data: dict[str, Any]
    """What --json prints on stdout: `cli/schemas/<command>.json` describes it. NaN and infinity are None or text."""
    text: str = ""
    """What is printed on stdout without --json: the answer itself, where it is one to be read or piped."""
    words: str = ""
    """Sentences about it, for stderr."""
    next: str = ""
    """The next useful command, for stderr."""
    status: int = DONE
    notes: tuple[str, ...] = field(default=())
    """Warnings, for stderr, each a sentence; they are printed with --quiet too."""


class UsageError(Exception):
    """The command line asks for something that cannot be: what, and what to type instead. Exit status 2."""

    def __init__(self, problem: str, *remedies: Remedy) -> None:
        super().__init__(problem, *remedies)
        self.problem, self.remedies = problem, remedies

    def __str__(self) -> str:
        return with_remedies([self.problem], self.remedies)


# Options as they were typed, for the next command: it must see the same table in the same way.

OF_THE_MODEL = frozenset({"number", "category", "drop"})
"""What a saved model knows itself."""
OF_THE_COLUMNS = ("--missing", "--number", "--category", "--drop")
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
            words += pair(name, str(each))
    return [*words, *(["--seed", str(seed)] if seed and reading.sample is not None else [])]


def files_again(data: Sequence[str]) -> list[str]:
    """The files as they were typed; what was piped in is gone, and has to be named."""
    return ["FILE" if each == "-" else each for each in data or ("-",)]


def columns_again(model: Any) -> list[str]:
    """What the fit was told of its columns, for a command that knows no model."""
    try:
        words = shlex.split(str((model.training or {}).get("command") or ""))
    except ValueError:
        return []
    return [each for word, value in pairwise(words) if word in OF_THE_COLUMNS for each in pair(word[2:], value)]


def explain_again(model: Any, path: str, files: Sequence[str], same: str = "") -> str:
    """The command that explains a row, where a column has a contribution of its own; else the one that shows a page."""
    rule = model.rule
    linear = getattr(rule, "likely", False) or getattr(rule, "separated", False) or rule.linear() is not None
    if model.encoding is None or not linear:
        return f"separatrix summary {shlex.quote(path)}"
    return f"separatrix explain {shlex.join([path, *files_again(files)])} --row 1{same}"


def pair(name: str, value: str) -> tuple[str, ...]:
    """An option and its value as words."""
    return (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)


def after(words: list[str]) -> str:
    """To be put behind a command: nothing, or a space and the words."""
    return " " + shlex.join(words) if words else ""
