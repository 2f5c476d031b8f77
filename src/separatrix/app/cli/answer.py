"""What a command has to say: data for programs, words for people, and an exit status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
