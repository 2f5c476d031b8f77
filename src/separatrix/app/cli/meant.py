"""Did you mean …?, after a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from ..tables import errors


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """' Did you mean 'target'?', or nothing."""
    question = errors.did_you_mean(asked, known)
    return f" {question}" if question else ""
