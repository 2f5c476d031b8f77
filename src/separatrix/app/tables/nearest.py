"""Did you mean …? The names that a mistyped one may stand for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, choices: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The choices that look like a name, the nearest first; capital letters count for nothing.

    >>> nearest("Taget", ["sex", "target", "weight"])
    ('target',)
    """
    spelt: dict[str, str] = {}
    for choice in choices:
        spelt.setdefault(choice.casefold(), choice)
    found = get_close_matches(name.casefold(), list(spelt), n=most, cutoff=0.6)
    return tuple(spelt[match] for match in found)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A question that offers the nearest name, or an empty text.

    >>> did_you_mean("taget", ["age", "target"])
    "Did you mean 'target'?"
    """
    found = nearest(name, choices, 1)
    return f"Did you mean {found[0]!r}?" if found else ""
