"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(asked: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, letters compared without their case; None if none is near."""
    by_fold = {name.casefold(): name for name in known}
    found = get_close_matches(asked.casefold(), list(by_fold), n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """' Did you mean 'target'?', or nothing."""
    name = nearest(asked, known)
    return f" Did you mean {name!r}?" if name else ""
