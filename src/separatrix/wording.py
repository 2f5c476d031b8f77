"""How sentences name a setting, a learner or a call: as the reader would write it.

In Python `l2=0.1` and `LogisticRegression`; on the command line `--l2 0.1` and `--learner logistic`. Whoever writes a
sentence for people calls these functions; a program with a reader of another kind says so once, `with speaking(…)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NOTHING: Any = object()
"""Stands for no value, where only a name is meant."""


class Python:
    """The words of who writes Python."""

    def setting(self, name: str, value: Any = NOTHING) -> str:
        """`l2`, or `l2=0.1`."""
        return name if value is NOTHING else f"{name}={value!r}"

    def learner(self, name: str) -> str:
        """The name of a class: `LogisticRegression`."""
        return name

    def call(self, text: str) -> str:
        """A call, as `separability(X, y)`."""
        return text

    def has(self, name: str) -> bool:
        """Whether the reader has this setting or call at all."""
        return True


_words: Python = Python()


@contextmanager
def speaking(words: Python) -> Iterator[None]:
    """Speak to a reader of another kind until the end of the block: all threads of the process do."""
    global _words
    before, _words = _words, words
    try:
        yield
    finally:
        _words = before


def setting(name: str, value: Any = NOTHING) -> str:
    """A setting, and its value where one is meant: `l2=0.1`.

    >>> setting("l2"), setting("l2", 0.1), setting("objective", "firth")
    ('l2', 'l2=0.1', "objective='firth'")
    """
    return _words.setting(name) if value is NOTHING else _words.setting(name, value)


def learner(name: str) -> str:
    """A learner by the name of its class."""
    return _words.learner(name)


def call(text: str) -> str:
    """A call of this library, as Python writes it."""
    return _words.call(text)


def has(name: str) -> bool:
    """Whether the reader has this setting or call, so that advice may name it."""
    return _words.has(name)
