"""Many numbers lie in a file beside the JSON, in the safetensors form: eight bytes a number, and no code either.

The form is a length in eight bytes, a JSON header of that length with the type, shape and place of each array, and the
bytes of the arrays one after the other.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .document import CannotSaveError, ModelFileError, Part, nests, parsed, shown

MANY = 100_000
"""Numbers that a JSON file holds; with more, its long lists go beside it. Those of a kernel always do."""
LONG = 1000
"""Numbers of a list that is worth a place there."""
ENDING = re.compile(r"[^/\\\0]{1,200}\.[0-9a-f]{16}\.safetensors")
LONGEST_HEADER = 1 << 24
LABELS = "classes"
"""Whole numbers that are names: they stay."""
TYPES = {"F64": np.dtype("<f8"), "I64": np.dtype("<i8")}
STANDS = {"tensor", "dtype", "shape"}
"""The names of an object that stands for an array."""
Array = NDArray[Any]


class Described(NamedTuple):
    """An array of the side file, as the JSON tells of it."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Its bytes."""
        return 8 * math.prod(self.shape)


# ------------------------------------------------------------------------------------------------------------- writing


def packed(document: dict[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """The document with its long lists replaced by their names, and the side file; or as it is, and None."""
    arrays: dict[str, Array] = {}
    if _numbers(document) <= MANY and not _has_kernel(document.get("rule")):
        return document, None
    found: dict[str, Any] = _without(document, "", arrays)
    return (found, _safetensors(arrays)) if arrays else (document, None)


def _has_kernel(rule: Any) -> bool:
    """Whether a rule, or one that it is made of, is a sum over training rows: nobody reads these one by one."""
    if not isinstance(rule, dict):
        return False
    return rule.get("kind") == "kernel" or any(_has_kernel(each["rule"]) for each in rule.get("members", ()))


def _numbers(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        return sum(map(_numbers, value.values()))
    if isinstance(value, list):
        kinds = set(map(type, value))
        return len(value) if kinds <= {int, float} else sum(map(_numbers, value))
    return 0


def _without(value: Any, where: str, arrays: dict[str, Array]) -> Any:
    if isinstance(value, dict):
        if set(value) == STANDS:
            raise CannotSaveError(
                f"{where}: an object of the names tensor, dtype and shape stands for an array: rename one."
            )
        return {key: _without(each, f"{where}.{key}" if where else key, arrays) for key, each in value.items()}
    array = _array(value) if isinstance(value, list | np.ndarray) and where != LABELS else None
    if array is not None and array.size >= LONG:
        while where in arrays:  # names with dots in them may lead to the same
            where += "'"
        arrays[where] = array
        return {"tensor": where, "dtype": _type_of(array), "shape": list(array.shape)}
    if isinstance(value, list):
        return [_without(each, f"{where}[{place}]", arrays) for place, each in enumerate(value)]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Array | None:
    """Lists of equal lengths that hold only whole numbers, or only fractions; None of any others."""
    if isinstance(value, np.ndarray):
        return value
    level, shape = [value], []
    while level and all(type(each) is list for each in level):
        lengths = {len(each) for each in level}
        if len(lengths) > 1 or lengths == {0}:
            return None
        shape.append(lengths.pop())
        level = [inner for each in level for inner in each]
    kinds = set(map(type, level))
    if kinds == {float} or (kinds == {int} and max(map(abs, level)) < 2**62):
        return np.array(level, np.float64 if kinds == {float} else np.int64).reshape(shape)
    return None


def _type_of(array: Array) -> str:
    return "F64" if array.dtype.kind == "f" else "I64"


def _safetensors(arrays: Mapping[str, Array]) -> bytes:
    header, start, bodies = {}, 0, []
    for name, array in sorted(arrays.items()):
        bodies.append(np.ascontiguousarray(array, TYPES[_type_of(array)]).tobytes())
        end = start + len(bodies[-1])
        header[name] = {"dtype": _type_of(array), "shape": list(array.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *bodies])


# ------------------------------------------------------------------------------------------------------------- reading


def described(value: Any, where: str = "") -> Iterator[tuple[str, Described]]:
    """Every array that a document names, and what it says of it."""
    if isinstance(value, dict):
        if set(value) == STANDS:
            part = Part(value, where)
            shape = tuple(part["shape"].integers(None, least=1, most=2**40).tolist())
            if not shape:
                raise part["shape"].fail("a list of one length at the least is needed.")
            yield part["tensor"].text(), Described(part["dtype"].one_of(*TYPES), shape)
            return
        for key, each in value.items():
            yield from described(each, f"{where}.{key}" if where else key)
    elif isinstance(value, list) and nests(value):
        for place, each in enumerate(value):
            yield from described(each, f"{where}[{place}]")


def with_arrays(value: Any, arrays: Mapping[str, Array]) -> Any:
    """The document with each array in its place."""
    if isinstance(value, dict):
        if set(value) == STANDS:
            return arrays[value["tensor"]]
        return {key: with_arrays(each, arrays) for key, each in value.items()}
    if isinstance(value, list) and nests(value):
        return [with_arrays(each, arrays) for each in value]
    return value


def wanted_of(document: Any) -> dict[str, Described]:
    """The arrays that a document needs, each once."""
    found: dict[str, Described] = {}
    for name, each in described(document):
        if name in found:
            raise ModelFileError(f"the array {shown(name)} is named twice.")
        found[name] = each
    return found


def read_arrays(file: BinaryIO, size: int, sha256: str, wanted: Mapping[str, Described]) -> dict[str, Array]:
    """The arrays of a side file; names, types, shapes and places are checked before a number is read."""
    order = _check_header(file, size, wanted)
    if _digest(file) != sha256:
        raise ModelFileError(
            "its bytes are not those that were written with the model: it was changed, or belongs to another; put the "
            "right file there, or save the model again."
        )
    found = {}
    file.seek(size - sum(each.size for each in wanted.values()))
    for name in order:
        array = np.empty(wanted[name].shape, TYPES[wanted[name].dtype])
        if file.readinto(array.reshape(-1).view(np.uint8)) != array.nbytes:  # type: ignore[attr-defined]
            raise ModelFileError("it was changed while it was read: read it again.")
        if not np.isfinite([array.min(), array.max()]).all():
            raise ModelFileError("it holds NaN or infinity: all numbers of a model are finite.", where=name)
        found[name] = array
    return found


def _check_header(file: BinaryIO, size: int, wanted: Mapping[str, Described]) -> list[str]:
    """The names of the arrays as they follow each other."""
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= min(size - 8, LONGEST_HEADER):
        raise ModelFileError("it is no safetensors file: its header has no length that could be.")
    header = Part(parsed(file.read(length)), "its header")
    if set(header.object()) != set(wanted):
        strange = min(set(header.object()) ^ set(wanted))
        raise ModelFileError(f"the array {shown(strange)} is only in one of the two files.")
    starts, at = {}, 0
    for name, each in wanted.items():
        part = header[name].fields("dtype", "shape", "data_offsets")
        shape, ends = part["shape"].integers(None).tolist(), part["data_offsets"].integers(2).tolist()
        if (part["dtype"].text(), tuple(shape)) != (each.dtype, each.shape):
            raise part.fail("type or shape are not those that the model names.")
        if ends[1] - ends[0] != each.size:
            raise part.fail(f"it has {ends[1] - ends[0]} bytes; its shape needs {each.size}.")
        starts[name] = ends[0]
    order = sorted(wanted, key=lambda name: starts[name])
    for name in order:
        if starts[name] != at:
            raise header[name].fail("the arrays must follow each other without gaps.")
        at += wanted[name].size
    if size != 8 + length + at:
        raise ModelFileError(f"it has {size} bytes; its header and arrays take {8 + length + at}.")
    return order


def _digest(file: BinaryIO) -> str:
    found = hashlib.sha256()
    file.seek(0)
    while piece := file.read(1 << 20):
        found.update(piece)
    return found.hexdigest()
