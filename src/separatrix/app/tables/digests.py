"""Hashes of files, worked out while somebody else reads them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

PIECE = 1 << 23
"""Bytes that are hashed at a time: long pieces, since between two of them a thread may wait for others."""


class Digests:
    """SHA-256 of each file."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths, self._found, self._unwanted = paths, list[bytes](), threading.Event()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Begin, in a thread of its own."""
        self._thread = threading.Thread(target=self._work, name="separatrix-digests")
        self._thread.start()

    def all(self) -> list[bytes]:
        """The hashes; what went wrong with a file is raised here."""
        if self._unwanted.is_set():  # what was begun was cut short
            self._thread = None
            self._unwanted.clear()
        if self._thread is None:
            self._work()
        else:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found

    def give_up(self) -> None:
        """Nobody will ask."""
        self._unwanted.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            self._found = [self._digest(path) for path in self._paths]
        except Exception as error:
            self._error = error

    def _digest(self, path: Path) -> bytes:
        digest, piece = hashlib.sha256(), memoryview(bytearray(min(PIECE, path.stat().st_size + 1)))
        with path.open("rb", buffering=0) as stream:
            while not self._unwanted.is_set() and (size := stream.readinto(piece)):
                digest.update(piece[:size])
        return digest.digest()
