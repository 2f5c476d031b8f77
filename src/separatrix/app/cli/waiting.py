"""A line for what takes long and has no steps: a table that is read, a proof that is looked for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from .console import has_cursor, shortened, tell, width_of
from .durations import duration
from .options import Talking

PATIENCE, FRAME = 1.0, 0.2
"""Seconds before anything is shown, and between two pictures on a terminal; elsewhere a line at 2, 4, 8 … seconds."""


class Waiting:
    """Says what is being done, for how long, and how much is left where that is known; in a thread of its own.

    `share` is the part that is done, from 0 to 1, or less than 0 where nobody knows. Use it in a `with` block.
    """

    def __init__(
        self, talking: Talking, what: str, share: Callable[[], float] = lambda: -1.0, patience: float = PATIENCE
    ) -> None:
        self._what, self._share, self._patience = what, share, patience
        self._over = has_cursor(sys.stderr) or talking.progress == "always"
        self._shown, self._ended, self._since = False, threading.Event(), time.monotonic()
        self._next = patience if self._over else 2 * patience
        silent = talking.quiet or talking.progress == "never"
        self._thread = None if silent else threading.Thread(target=self._work, name="separatrix-waiting", daemon=True)

    def begin(self, what: str | None = None, share: Callable[[], float] | None = None) -> None:
        """Begin to wait; or begin anew, for something else."""
        self._what, self._share = what or self._what, share or self._share
        self._since = time.monotonic()
        self._next = self._patience if self._over else 2 * self._patience
        if self._thread is not None and not self._thread.is_alive() and not self._ended.is_set():
            self._thread.start()

    def _work(self) -> None:
        while not self._ended.wait(min(FRAME, self._patience)):
            seconds = time.monotonic() - self._since
            if seconds < self._next:
                continue
            line = said(self._what, seconds, self._share())
            if self._over:
                self._next, self._shown = seconds, True
                tell(f"\r\x1b[2K{shortened(line, width_of(sys.stderr) - 1)}")
            else:
                self._next = 2 * seconds
                tell(line + "\n")

    def close(self) -> None:
        """Wipe the line away."""
        self._ended.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()
        if self._shown:
            tell("\r\x1b[2K")

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def said(what: str, seconds: float, share: float) -> str:
    """What is done, how far it is, and how long the rest will take.

    >>> said("reading data.csv", 3.0, 0.25)
    'reading data.csv: 25 %, about 9 s left'
    >>> said("reading data.csv", 3.0, -1.0)
    'reading data.csv: 3 s so far'
    """
    if not 0.01 <= share <= 1:
        return f"{what}: {duration(seconds)} so far"
    return f"{what}: {100 * share:.0f} %, about {duration(seconds * (1 - share) / share)} left"
