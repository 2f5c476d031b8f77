"""A JSON document that is looked at with suspicion: every part knows its place, and says there what is wrong.

The text is looked over before it is parsed: how deep it is, and what memory its objects would take.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...numerics.arrays import Floats, Integers

DIGITS = 20
"""Of a whole number: more does not fit into 64 bits."""
SHA256 = re.compile(r"[0-9a-f]{64}")
BLANK = b" \t\r\n"
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


class ModelFileError(DataError):
    """A model file cannot be used: which file, where in it, and why."""

    def __init__(self, problem: str, *, path: str = "", where: str = "") -> None:
        super().__init__(problem)
        self.path, self.where = path, where

    def __str__(self) -> str:
        return ": ".join(part for part in (self.path, self.where, self.problem) if part)

    def __reduce__(self) -> Any:
        return ValueError.__reduce__(self)  # the problem, then all fields

    def of(self, path: str) -> ModelFileError:
        """The error, of this file."""
        return ModelFileError(self.problem, path=path, where=self.where)


class CannotSaveError(DataError):
    """A learner that no file can hold: which, why, and what can be done."""


# ----------------------------------------------------------------------------------------------------- looking it over


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


# ------------------------------------------------------------------------------------------------------------ the text


def parsed(content: bytes) -> Any:
    """The document; what JSON or we do not allow raises ModelFileError: NaN, names that are there twice, depth, digits.

    >>> parsed(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    large = scanned(content).large
    return parsed_text(decoded(content), large)


def read_text(file: BinaryIO, size: int) -> tuple[str, bool]:
    """A file of this size as text, looked over while it is read; and whether a number in it may be too large.

    Its bytes are let go of before it is parsed: text and objects are all that is held then. A long file that does not
    begin as an object does is left there.
    """
    content, scan, filled = np.empty(size, np.uint8), Scan(size), 0  # which takes no memory before it is filled
    while filled < size and (length := file.readinto(content[filled : filled + CHUNK])):  # type: ignore[attr-defined]
        scan.add(piece := content[filled : filled + length].tobytes())
        if filled == 0 and size > CHUNK and not piece.lstrip(BLANK).startswith(b"{"):
            raise ModelFileError("it does not begin with the { of an object: it is no model file.")
        filled += length
    if filled < size or file.read(1):
        raise ModelFileError("it was changed while it was read: read it again.")
    return decoded(content.data), scan.large


def decoded(content: bytes | memoryview) -> str:
    """The text of these bytes."""
    try:
        return str(content, "utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"it is not UTF-8 text (byte {error.start}), so it is no model file.") from None


def parsed_text(text: str, large: bool) -> Any:
    """The document of a text that was looked over; numbers are looked at one by one if one may be too large."""
    careful: dict[str, Any] = {"parse_int": _whole, "parse_float": _number} if large else {}
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, **careful)
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}. It may have been cut short or "
            "edited: save the model again."
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelFileError(f"the name {shown(key)} is there twice in one object.")
        found[key] = value
    return found


def _no_constant(text: str) -> Any:
    raise ModelFileError(f"it holds {text}, which is no JSON: all numbers of a model are finite.")


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS:
        raise ModelFileError(f"it holds a whole number of {len(text.lstrip('-'))} digits: none here is so large.")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ModelFileError(f"it holds {text[:40]}, which is larger than any number in double precision.")
    return number


def written(document: Any) -> bytes:
    """JSON in UTF-8 that people can read: an entry a line, lists of numbers or texts on one line; a newline at the end.

    >>> print(written({"a": [1, 2.5], "b": {}}).decode(), end="")
    {
      "a": [1, 2.5],
      "b": {}
    }
    """
    try:
        return (_text(document, "", ascii_only=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        return (_text(document, "", ascii_only=True) + "\n").encode("ascii")


def _text(value: Any, indent: str, *, ascii_only: bool) -> str:
    nested = isinstance(value, list) and nests(value)
    if not value or not (nested or isinstance(value, dict)):
        return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [
            f"{json.dumps(key, ensure_ascii=ascii_only)}: {_text(each, inner, ascii_only=ascii_only)}"
            for key, each in value.items()
        ]
        return "{\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _text(each, inner, ascii_only=ascii_only) for each in value) + f"\n{indent}]"


def nests(values: list[Any]) -> bool:
    """Whether a list holds lists or objects."""
    return not {list, dict}.isdisjoint(set(map(type, values)))


def shown(value: Any) -> str:
    """A value in an error: not all of it."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float) else type_of(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def type_of(value: Any) -> str:
    """What JSON calls it."""
    names = {
        dict: "an object",
        list: "a list",
        np.ndarray: "an array",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


# ------------------------------------------------------------------------------------------------------------ its parts


class Part:
    """A value of a document and its place; each method gives the value if it is what it must be."""

    __slots__ = ("value", "where")

    def __init__(self, value: Any, where: str = "") -> None:
        self.value, self.where = value, where

    def fail(self, problem: str) -> ModelFileError:
        """The error that says so, here."""
        return ModelFileError(problem, where=self.where)

    def __getitem__(self, name: str) -> Part:
        assert isinstance(self.value, dict)
        return Part(self.value[name], f"{self.where}.{name}" if self.where else name)

    def fields(self, *needed: str, optional: Sequence[str] = ()) -> Part:
        """An object with these names, and no others."""
        if not isinstance(self.value, dict):
            raise self.fail(f"it is {type_of(self.value)}; an object is needed.")
        for name in needed:
            if name not in self.value:
                raise self.fail(f"{name!r} is missing.")
        for name in self.value:
            if name not in needed and name not in optional:
                raise self.fail(f"{shown(name)} is not known here: the file may be of a later version.")
        return self

    def fields_kind(self, *kinds: str) -> str:
        """The kind of an object, one of these."""
        if "kind" not in self.object():
            raise self.fail("'kind' is missing.")
        return self["kind"].one_of(*kinds)

    def has(self, name: str) -> bool:
        """Whether an optional name is there, and not null."""
        return self.value.get(name) is not None

    def items(self) -> list[Part]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.fail(f"it is {type_of(self.value)}; a list is needed.")
        return [Part(each, f"{self.where}[{place}]") for place, each in enumerate(self.value)]

    def object(self) -> dict[str, Any]:
        """An object of any names."""
        if not isinstance(self.value, dict):
            raise self.fail(f"it is {type_of(self.value)}; an object is needed.")
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.fail(f"it is {shown(self.value)}; a text is needed.")
        return self.value

    def digest(self) -> str:
        """A SHA-256 in hexadecimal digits."""
        if not SHA256.fullmatch(self.text()):
            raise self.fail(f"it is {shown(self.value)}; the 64 hexadecimal digits of a SHA-256 are needed.")
        return self.text()

    def one_of(self, *choices: str) -> str:
        """One of these texts."""
        if self.value not in choices or not isinstance(self.value, str):
            raise self.fail(f"it is {shown(self.value)}; it must be one of {', '.join(map(repr, choices))}.")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.fail(f"it is {shown(self.value)}; true or false is needed.")
        return self.value

    def whole(self, least: int = 0, most: int = 2**62) -> int:
        """A whole number in this range."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.fail(f"it is {shown(self.value)}; a whole number from {least} to {most} is needed.")
        return self.value

    def number(self, *, positive: bool = False) -> float:
        """A finite number."""
        if type(self.value) not in (int, float) or (positive and not self.value > 0):
            raise self.fail(f"it is {shown(self.value)}; a {'positive ' * positive}number is needed.")
        return float(self.value)

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        if not isinstance(self.value, list):
            raise self.fail(f"it is {type_of(self.value)}; a list is needed.")
        if set(map(type, self.value)) <= {str}:  # without an object for each of a million names
            return tuple(self.value)
        return tuple(each.text() for each in self.items())

    def nested(self) -> bool:
        """Whether the first entry of a list is a list."""
        if isinstance(self.value, np.ndarray):
            return self.value.ndim > 1
        if not isinstance(self.value, list):
            raise self.fail(f"it is {type_of(self.value)}; a list is needed.")
        return bool(self.value) and isinstance(self.value[0], list)

    def floats(self, *shape: int | None) -> Floats:
        """An array of this shape; None is any length."""
        return np.asarray(self._array((int, float), "numbers", shape), dtype=np.float64).reshape(self._shape(shape))

    def integers(self, *shape: int | None, least: int = -(2**62), most: int = 2**62) -> Integers:
        """An array of whole numbers in this range."""
        numbers = self._array((int,), "whole numbers", shape)
        flat = numbers.ravel() if isinstance(numbers, np.ndarray) else np.asarray(numbers, dtype=object).ravel()
        if flat.size and not (flat.min() >= least and flat.max() <= most):
            raise self.fail(
                f"its numbers must lie between {least} and {most}; they go from {flat.min()} to {flat.max()}."
            )
        return np.asarray(numbers, dtype=np.int64).reshape(self._shape(shape))

    def _shape(self, shape: Sequence[int | None]) -> tuple[int, ...]:
        """The lengths that are not given, of lists that are there."""
        if isinstance(self.value, np.ndarray):
            return tuple(self.value.shape)
        found, at = [], self.value
        for length in shape:
            found.append(len(at) if length is None else length)
            at = at[0] if at else []
        return tuple(found)

    def _array(self, kinds: tuple[type, ...], what: str, shape: Sequence[int | None]) -> Any:
        """Lists of this shape that hold nothing else, or an array of the side file."""
        if isinstance(self.value, np.ndarray):
            return self._stored(kinds, what, shape)
        level, lengths = [self.value], [*shape]
        for axis, length in enumerate(shape):
            for k, each in enumerate(level):
                if not isinstance(each, list):
                    raise self._inside(lengths[:axis], k, f"it is {shown(each)}; a list is needed.")
                if lengths[axis] is None:
                    lengths[axis] = len(each)
                if len(each) != lengths[axis]:
                    said = f"it has {len(each)} entries; {lengths[axis] if length is None else length} are needed."
                    raise self._inside(lengths[:axis], k, said)
            if axis < len(lengths) - 1:
                level = [inner for each in level for inner in each]
        for k, each in enumerate(level):
            if not set(map(type, each)) <= set(kinds):
                j = next(j for j, number in enumerate(each) if type(number) not in kinds)
                said = f"it is {shown(each[j])}; {what} are needed."
                raise self._inside(lengths, k * len(each) + j, said)
        return self.value

    def _stored(self, kinds: tuple[type, ...], what: str, shape: Sequence[int | None]) -> Any:
        found = self.value.shape
        if len(found) != len(shape) or any(n not in (None, m) for n, m in zip(shape, found, strict=False)):
            wanted = " × ".join("any" if n is None else str(n) for n in shape)
            raise self.fail(f"it has the shape {' × '.join(map(str, found))}; {wanted} is needed.")
        if self.value.dtype.kind == "f" and float not in kinds:
            raise self.fail(f"it holds fractions; {what} are needed.")
        return self.value

    def _inside(self, lengths: Sequence[int | None], place: int, problem: str) -> ModelFileError:
        """The error of an entry, whose place is counted through lists of these lengths."""
        path: list[int] = []
        for length in reversed(lengths):
            place, k = divmod(place, length or 1)
            path.insert(0, k)
        return ModelFileError(problem, where=self.where + "".join(f"[{k}]" for k in path))
