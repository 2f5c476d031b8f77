"""Ctrl-C: once finishes the step and keeps what was learnt, twice stops at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed."""

    asked: bool = False


@contextmanager
def interruptible(quiet: bool = False) -> Iterator[Interruption]:
    """Note the first Ctrl-C instead of stopping; the second stops at once with a KeyboardInterrupt.

    On Windows, where signals come in another thread, and outside the main thread every Ctrl-C stops at once.
    """
    interruption = Interruption()
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interruption.asked:
            raise KeyboardInterrupt
        interruption.asked = True
        if not quiet:
            _tell(b"\nfinishing this step; Ctrl-C again stops at once.\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _tell(words: bytes) -> None:
    """Write past the buffer of stderr: the signal may have come while that was being written."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), words)
