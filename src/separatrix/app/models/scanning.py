"""A JSON text is looked over before it is parsed: how deep it is, and what memory its objects would take."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from .errors import ModelFileError

DEEPEST = 60
"""Lists and objects inside each other; our own files have a dozen."""
FIXED = 64 << 20
"""Bytes of memory that a file may take beyond twice its own."""
CHUNK = 1 << 15
"""Bytes that are looked over at once."""
COSTS = {b",": 40, b"[": 112, b"{": 440, b":": 180, b'"': 40}
"""Bytes of memory that a mark outside of texts stands for, at the most: a comma for a number, a bracket for a list and
its first entry, a brace for an object, a colon for a name, a quotation mark for half a text without its letters."""
TEXTS = re.compile(rb'"[^"]*+"?')
OTHERS = bytes(sorted(set(range(256)) - set(b',[]{}:"')))
"""What is no mark: taken out before anything is counted, as most of a file is digits and spaces."""
SHAPES = bytes(ord("0") if chr(k).isdigit() and k < 128 else ord("e") if k == ord("E") else k for k in range(256))
"""Every digit is 0, every E is e."""
LARGE = (b"e000", b"e+000", b"0" * 21)
"""Shapes of numbers that may be too large; a text that has none need not be looked at number by number."""
STEPS: NDArray[np.int32] = np.zeros(256, np.int32)
STEPS[list(b"[{")], STEPS[list(b"]}")] = 1, -1
WEIGHTS: NDArray[np.int64] = np.zeros(256, np.int64)
for _mark, _cost in COSTS.items():
    WEIGHTS[_mark[0]] = _cost


class Scan:
    """Depth and memory of a text that comes in pieces; a file that is too deep or too costly is refused at once.

    >>> scan = Scan(12)
    >>> for piece in (b'{"a": ', b"[[1, 2]", b"]}"):
    ...     scan.add(piece)
    >>> scan.depth, scan.deepest
    (0, 3)
    """

    def __init__(self, size: int) -> None:
        self.depth, self.deepest, self.size = 0, 0, size
        self._objects, self._letters, self._wide = 0, 0, 1
        self._in_text, self._rest, self._tail = False, b"", b""
        self.large = False
        """Whether a number may be too large, as far as shapes tell."""

    @property
    def memory(self) -> int:
        """Bytes that the text and what is made of it take, at the most, as far as it was read."""
        return self._objects + self._letters * self._wide + self.size * self._wide

    def add(self, piece: bytes) -> None:
        """The next bytes."""
        self._look(piece)
        piece = self._rest + piece
        ends = len(piece) - len(piece.rstrip(b"\\"))
        self._rest = b"\\" if ends % 2 else b""  # half an escape waits for its other half
        piece = piece[: len(piece) - ends % 2]
        plain = piece
        if b"\\" in piece:
            plain = piece.replace(b"\\\\", b"").replace(b'\\"', b"")  # in this order: the first may hide a quote
        if not piece.isascii():
            self._wide = max(self._wide, 4 if max(piece) >= 0xF0 else 2)
        quotes = plain.count(b'"')
        marks = TEXTS.sub(b"", b'"' + plain if self._in_text else plain)
        self._letters += len(plain) - len(marks)
        self._in_text ^= quotes % 2 == 1
        self._count(np.frombuffer(marks.translate(None, OTHERS), np.uint8), quotes)
        if self.memory > 2 * self.size + FIXED:
            raise ModelFileError(
                f"to read its {self.size} bytes would take more than twice as much memory, and {FIXED >> 20} MiB: it "
                "holds more lists, objects or texts than a model of that size has."
            )
        if b"\0" in piece:
            raise ModelFileError("it holds the byte 0: it is not UTF-8 text, so it is no model file.")

    def _look(self, piece: bytes) -> None:
        """Whether a number may be too large, also across two pieces."""
        if not self.large:
            shapes = self._tail + piece.translate(SHAPES)
            self.large = any(each in shapes for each in LARGE)
            self._tail = shapes[1 - max(map(len, LARGE)) :]

    def _count(self, marks: NDArray[np.uint8], quotes: int) -> None:
        depths = STEPS[marks].cumsum(dtype=np.int32)
        self.deepest = max(self.deepest, self.depth + int(depths.max(initial=0)))
        self.depth += int(depths[-1]) if len(depths) else 0
        if self.deepest > DEEPEST:
            raise ModelFileError(
                f"more than {DEEPEST} lists or objects are inside each other: no model of ours is so deep."
            )
        self._objects += int(np.bincount(marks, minlength=256) @ WEIGHTS) + quotes * COSTS[b'"']


def scanned(content: bytes) -> Scan:
    """Refuse a text that is too deep, or takes too much memory."""
    scan = Scan(len(content))
    for start in range(0, len(content), CHUNK):
        scan.add(content[start : start + CHUNK])
    return scan
