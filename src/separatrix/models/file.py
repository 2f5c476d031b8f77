"""Model files: JSON of a fixed form, written whole or not at all, and checked before anything of it is used."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..io.columns import Column
from ..io.encoding import Encoding
from ..io.errors import DataError
from .document import ModelFileError, Part, parsed, shown, written
from .kinds import read_rule
from .model import FITTED, INTERRUPTED, Model
from .rules import features_read, features_to_dict

FORMAT, VERSION = "separatrix-model", 1
LARGEST = 1 << 30
"""Bytes of a file that is read at all."""
KEYS = (
    "format", "version", "package", "learner", "status", "parameters", "classes", "columns", "encoding", "features",
    "rule", "scaled_weights", "verdict", "training",
)  # fmt: skip


def save(model: Any, path: Any) -> None:
    """Write a fitted learner, or a `Model`, to a file: JSON that holds numbers and no code.

    The file is whole or not there: it is written under another name beside it, and renamed. What a file cannot hold is
    refused with a sentence.
    """
    write(model if isinstance(model, Model) else import_module(".taking", __package__).model_of(model), path)


def load(path: Any) -> Model:
    """Read a model that `save` wrote. Everything is checked before it is used, and nothing of the file is run."""
    return read(path)


# ------------------------------------------------------------------------------------------------------------- writing


def to_document(model: Model) -> dict[str, Any]:
    """The document of a model, its names in their order."""
    scaled = model.scaled_weights
    values = (
        FORMAT, VERSION, model.package, model.learner, model.status, dict(model.parameters), list(model.classes),
        list(model.columns), None if model.encoding is None else model.encoding.to_dict(),
        features_to_dict(model.feature_map), model.rule.to_dict(), None if scaled is None else scaled.tolist(),
        None if model.verdict is None else dict(model.verdict), dict(model.training),
    )  # fmt: skip
    return dict(zip(KEYS, values, strict=True))


def write(model: Model, path: Any) -> None:
    """The file of a model: the same model, the same bytes."""
    replace_file(path, written(to_document(model)))


def replace_file(path: Any, content: bytes) -> None:
    """Put a file in the place of another, or of none, in one step: who reads sees the old one or the new one."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {os.path.dirname(os.fspath(path))!r}: make it first.")
    aside = target.with_name(f".separatrix-{secrets.token_hex(8)}.partial")
    try:
        with open(aside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(aside, stat.S_IMODE(target.stat().st_mode))
        os.replace(aside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    with suppress(OSError):  # not every system can open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# ------------------------------------------------------------------------------------------------------------- reading


def read(path: Any, largest: int = LARGEST) -> Model:
    """The model of a file; ModelFileError says what is wrong with it, and where."""
    name = os.fspath(path)
    try:
        return from_document(parsed(_content(name, largest)))
    except ModelFileError as error:
        raise error.of(str(name)) from None


def _content(name: Any, largest: int) -> bytes:
    with open(name, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise ModelFileError("it is not a file that can be read as a whole: copy it to one first.")
        if facts.st_size > largest:
            raise ModelFileError(f"it has {facts.st_size} bytes; more than {largest} are not read.")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ModelFileError(f"it has more than {largest} bytes, which are not read.")
    return content


def from_document(document: Any) -> Model:
    """The model of a document, checked part by part."""
    part = Part(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise part.fail(f'it is no model file of Separatrix: that is an object with "format": "{FORMAT}".')
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise part.fail(
            f"it has version {shown(document.get('version'))}; this Separatrix reads version {VERSION}: use the "
            "release that wrote it, or save the model again."
        )
    part.fields(*KEYS)
    classes, columns = _classes(part["classes"]), _names(part["columns"])
    encoding = _encoding(part["encoding"], columns) if part.has("encoding") else None
    features = features_read(part["features"], len(columns))
    names = columns if features is None else tuple(features.names(columns))
    model = Model(
        part["learner"].text(), part["parameters"].object(), classes, columns, read_rule(part["rule"], classes, names),
        features, encoding, part["verdict"].object() if part.has("verdict") else None, part["training"].object(),
        part["status"].one_of(FITTED, INTERRUPTED), part["package"].text(),
    )  # fmt: skip
    _check_facts(part, model)
    return model


def _classes(part: Part) -> tuple[Any, ...]:
    labels = part.value if isinstance(part.value, list) else []
    kinds = {type(label) for label in labels}
    if len(labels) < 2 or len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        raise part.fail("two classes or more are needed: all texts, all whole numbers, all numbers, or true and false.")
    if len(set(labels)) < len(labels):
        raise part.fail("a class is there twice.")
    return tuple(labels)


def _names(part: Part) -> tuple[str, ...]:
    names = part.texts()
    if not names:
        raise part.fail("a model has one column at the least.")
    return names


def _encoding(part: Part, names: tuple[str, ...]) -> Encoding:
    columns = tuple(_column(each) for each in part.items())
    if len({column.name for column in columns}) < len(columns):
        raise part.fail("a column is there twice.")
    try:
        encoding = Encoding(columns)
    except DataError as error:
        raise part.fail(str(error)) from None
    if encoding.names != names:
        raise part.fail(f"it makes other columns than the {len(names)} that the model has.")
    return encoding


def _column(part: Part) -> Column:
    if part.fields_kind("number", "category") == "number":
        part.fields("name", "kind", "center", "scale", "fill", "indicator")
        fill = part["fill"].number() if part.has("fill") else None
        found = Column(part["name"].text(), "number", (), part["center"].number(), part["scale"].number(positive=True),
                       fill, part["indicator"].flag())  # fmt: skip
    else:
        part.fields("name", "kind", "levels", "fill", "indicator")
        levels = part["levels"].texts()
        if not levels or len(set(levels)) < len(levels):
            raise part["levels"].fail("a category has one level at the least, and none twice.")
        level = part["fill"].one_of(*levels) if part.has("fill") else None
        if level not in (None, levels[0]):
            raise part["fill"].fail("what stands for a missing level is the reference, the first of the levels.")
        found = Column(part["name"].text(), "category", levels, fill=level, indicator=part["indicator"].flag())
    if found.indicator != (found.fill is not None):
        raise part.fail("a missing value is filled if and only if an indicator tells of it.")
    return found


def _check_facts(part: Part, model: Model) -> None:
    """What is said of the training rows, as far as answers depend on it."""
    linear, training = model.rule.linear(), part["training"]
    width = len(model.features) if linear is None else linear.weights.shape[-1]
    for name in ("means", "deviations"):
        if training.has(name) and not (name == "means" or (training[name].floats(width) >= 0).all()):
            raise training[name].fail("no deviation is negative.")
        if training.has(name):
            training[name].floats(width)
    if training.has("class_totals") and not (training["class_totals"].floats(len(model.classes)) > 0).all():
        raise training["class_totals"].fail("every class has rows.")
    if part.has("scaled_weights"):
        part["scaled_weights"].floats(*(np.shape(linear.weights) if linear is not None else (0,)))
