"""A table that duckdb is reading, as somebody sees it who works meanwhile."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from .database import engine


class UnderWay:
    """How far the reading is, and how many processors it takes; it may be asked from another thread, and afterwards."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._lock = connection, threading.Lock()
        self._other: Any = None

    def share(self) -> float:
        """The part of a file that has been read, from 0 to 1, or less where that is not known."""
        try:
            return float(self._connection.query_progress()) / 100
        except engine().Error:
            return -1.0

    def spare_one(self) -> None:
        """Leave a processor to who works meanwhile, where there are two; before duckdb begins.

        Three threads on two processors would take turns: the reading would end no sooner, the other work much later.
        """
        [[threads]] = self._connection.execute("SELECT current_setting('threads')").fetchall()
        if threads > 1:
            self._other = self._connection.cursor()  # a running connection takes no commands
            self._connection.execute("SET external_threads = 2")

    def take_all(self) -> None:
        """Take the processor after all: a reading under way gets one more thread. Whoever ends first calls it."""
        with self._lock:
            if self._other is not None:
                with suppress(engine().Error):  # it reads on, only slower
                    self._other.execute("SET external_threads = 1")
                self._other.close()
                self._other = None
