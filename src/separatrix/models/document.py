"""A JSON document that is looked at with suspicion: every part knows its place, and says there what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
DEEPEST = 60
"""Lists and objects inside each other; our own files have a dozen."""
DIGITS = 20
"""Of a whole number: more does not fit into 64 bits."""
LARGE = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{21}")
"""What a number has that may be too large: without it numbers need not be looked at one by one, which is slow."""
UNMARKED = bytes(set(range(256)) - set(b'"[]{}'))
TEXTS = re.compile(rb'"[^"]*+"?')


class ModelFileError(ValueError):
    """A model file cannot be used: which file, where in it, and why."""

    def __init__(self, problem: str, *, path: str = "", where: str = "") -> None:
        self.problem, self.path, self.where = problem, path, where
        super().__init__(": ".join(part for part in (path, where, problem) if part))

    def of(self, path: str) -> ModelFileError:
        """The same, of this file."""
        return ModelFileError(self.problem, path=path, where=self.where)


# ------------------------------------------------------------------------------------------------------------ the text


def parsed(content: bytes) -> Any:
    """The document; what JSON or we do not allow raises ModelFileError: NaN, names that are there twice, depth, digits.

    >>> parsed(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    _check_depth(content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"it is not UTF-8 text (byte {error.start}), so it is no model file.") from None
    careful: dict[str, Any] = {"parse_int": _whole, "parse_float": _number} if LARGE.search(content) else {}
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, **careful)
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}. It may have been cut short or "
            "edited: save the model again."
        ) from None


def _check_depth(content: bytes) -> None:
    """Brackets are counted before anything is parsed: a parser that calls itself would run out of stack."""
    marks = (
        content.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, UNMARKED)
    )  # escapes first: they hide quotes
    marks = TEXTS.sub(b"", marks)
    step = np.zeros(256, np.int64)
    step[list(b"[{")], step[list(b"]}")] = 1, -1
    if step[np.frombuffer(marks, np.uint8)].cumsum().max(initial=0) > DEEPEST:
        raise ModelFileError(
            f"more than {DEEPEST} lists or objects are inside each other: no model of ours is so deep."
        )


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
    nested = isinstance(value, list) and any(isinstance(each, list | dict) for each in value)
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


def shown(value: Any) -> str:
    """A value in an error: not all of it."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float) else type_of(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def type_of(value: Any) -> str:
    """What JSON calls it."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


# ------------------------------------------------------------------------------------------------------------ its parts


class Part:
    """A value of a document and its place; each method gives the value if it is what it must be."""

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
        return tuple(each.text() for each in self.items())

    def floats(self, *shape: int | None) -> Floats:
        """An array of this shape; None is any length."""
        return np.asarray(self._array((int, float), "numbers", shape), dtype=np.float64).reshape(self._shape(shape))

    def integers(self, *shape: int | None, least: int = -(2**62), most: int = 2**62) -> Integers:
        """An array of whole numbers in this range."""
        numbers = self._array((int,), "whole numbers", shape)
        flat = np.asarray(numbers, dtype=object).ravel()
        if flat.size and not (min(flat) >= least and max(flat) <= most):
            raise self.fail(
                f"its numbers must lie between {least} and {most}; they go from {min(flat)} to {max(flat)}."
            )
        return np.asarray(numbers, dtype=np.int64).reshape(self._shape(shape))

    def _shape(self, shape: Sequence[int | None]) -> tuple[int, ...]:
        """The lengths that are not given, of lists that are there."""
        found, at = [], self.value
        for length in shape:
            found.append(len(at) if length is None else length)
            at = at[0] if at else []
        return tuple(found)

    def _array(self, kinds: tuple[type, ...], what: str, shape: Sequence[int | None]) -> Any:
        level: list[tuple[Any, str]] = [(self.value, self.where)]
        lengths: list[int | None] = list(shape)
        for axis, length in enumerate(lengths):
            for each, where in level:
                if not isinstance(each, list):
                    raise ModelFileError(f"it is {shown(each)}; a list is needed.", where=where)
                if length is None:
                    length = len(each)
                if len(each) != length:
                    raise ModelFileError(f"it has {len(each)} entries; {length} are needed.", where=where)
            if axis < len(lengths) - 1:
                level = [(inner, f"{where}[{k}]") for each, where in level for k, inner in enumerate(each)]
        for each, where in level:
            if not set(map(type, each)) <= set(kinds):
                k = next(k for k, number in enumerate(each) if type(number) not in kinds)
                raise ModelFileError(f"it is {shown(each[k])}; {what} are needed.", where=f"{where}[{k}]")
        return self.value
