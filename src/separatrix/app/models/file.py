"""Model files: JSON of a fixed form, written whole or not at all, and checked before anything of it is used."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...errors import DataTypeError
from ...results.coding import checked_code
from ..files import name_beside, replace_pair
from ..tables.columns import Column
from ..tables.encoding import Encoding
from ..tables.errors import TableError
from .document import CannotSaveError, ModelFileError, Part, parsed_text, read_text, scanned, shown, written
from .examples import answer_again, examples_of, examples_read
from .model import FITTED, INTERRUPTED, Model
from .rules import Linear, Rule, features_read, features_to_dict
from .tensors import ENDING, packed, read_arrays, wanted_of, with_arrays

# Every kind of rule that a file may hold, by its name.

KINDS = ("linear", "coded", "naive bayes", "quadratic", "kernel", "voted", "committee")
MOST_COUPLED = 1500
"""Classes whose probabilities are coupled: more take more memory than a file should."""


def read_rule(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    """The rule of a document, checked."""
    kind = part.fields_kind(*KINDS)
    try:
        if kind == "linear":
            return Linear.read(part, classes, columns)
        return _coded(part, classes, columns) if kind == "coded" else _other(kind, part, classes, columns)
    except ModelFileError:
        raise
    except ValueError as error:
        raise part.fail(str(error)) from None  # what the rule itself has to say


def _other(kind: str, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    from .curved_rules import Gaussians, Kernel, Sums  # here: a linear rule needs no SciPy, which takes 0.3 s to load
    from .many_rules import Committee, VoteRule

    kinds: dict[str, Any] = {
        "naive bayes": Sums, "quadratic": Gaussians, "kernel": Kernel, "voted": VoteRule, "committee": Committee,
    }  # fmt: skip
    found: Rule = kinds[kind].read(part, classes, columns)
    return found


def _coded(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    from .many_rules import COUPLED, COUPLINGS, CodeRule, Member

    part.fields("kind", "code", "per_class", "by_votes", "coupling", "members")
    code = checked_code(part["code"].integers(len(classes), None, least=-1, most=1), list(classes))
    coupling = part["coupling"].one_of(*COUPLINGS) if part.has("coupling") else None
    if coupling == COUPLED and len(classes) > MOST_COUPLED:
        raise part["coupling"].fail(
            f"each row takes a system of equations in {len(classes)} classes; up to {MOST_COUPLED} are read."
        )
    members, widths = [], (len(classes), len(classes) - 1)
    for each in part["members"].items():
        each.fields("features", "rule")
        features = features_read(each["features"], columns)
        names = columns if features is None else tuple(map(str, range(features.width_out)))  # nobody asks for them
        rule = read_rule(each["rule"], (0, 1), names)
        if rule.kind == "coded" or (coupling and rule.probabilities(_nothing(features, columns), np.empty(0)) is None):
            raise each["rule"].fail("a classifier of two classes, with probabilities if the whole has any, is needed.")
        members.append(Member(rule, features))
    if len(members) != code.shape[1]:
        raise part["members"].fail(f"there are {len(members)}; the code has {code.shape[1]} columns.")
    per_class = part["per_class"].flag()
    if per_class and len(classes) > 2 and len(members) not in widths:
        raise part["members"].fail("a classifier for each class, or for each but the last, is needed.")
    return CodeRule(code, tuple(members), classes, columns, per_class, part["by_votes"].flag(), coupling)


def _nothing(features: Any, columns: tuple[str, ...]) -> Any:
    return np.empty((0, len(columns) if features is None else features.width_out))


FORMAT = "separatrix-model"
"""What the document says that it is."""
VERSION = 1
"""The version of the format."""
NAME = "fingerprint"
"""The entry that holds the hash of all others."""
TOGETHER = 1024
"""Entries of a list, or letters, that become text at once: the text of all of a large document is never held."""
LARGEST = 1 << 30
"""Bytes of a file that is read at all, if no other number is given."""
TRIES = 3
"""How often a model is read that another process saves again and again in the meantime."""
KEYS = (
    "format", "version", "package", "learner", "status", "parameters", "classes", "columns", "encoding", "features",
    "rule", "scaled_weights", "verdict", "training", "examples", "side_file", "fingerprint",
)  # fmt: skip


def save(model: Any, path: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> None:
    """Write a fitted learner, or a `Model`, to a file: JSON that holds numbers and no code.

    The file is whole or not there: it is written under another name beside it, and renamed. Of a model with a kernel
    or more than 100 000 numbers the long lists lie in a safetensors file beside it, which goes where it goes. What a
    file cannot hold is refused with a sentence.

    With the rows of the fit, X, y and sample_weight, the file also has a fingerprint of them, and weights per standard
    deviation. A `LogisticRegression` finds them itself, as long as they are in memory and unchanged.
    """
    if isinstance(model, Model):
        if X is not None or y is not None or sample_weight is not None:
            raise DataTypeError("X, y and sample_weight are for a learner that was just fitted; a Model has its facts.")
        write(model, path)
        return
    from .from_learner import model_with_rows  # whoever only reads a file needs no learner

    write(model_with_rows(model, X, y, sample_weight), path)


def load(path: Any, *, largest: int = LARGEST, accept_changes: bool = False) -> Model:
    """Read a model that `save` wrote. Everything is checked before it is used, and nothing of the file is run.

    A file of more than `largest` bytes is not read. One that was changed after it was written, or that does not answer
    its stored rows as it did then, is refused, unless `accept_changes`.
    """
    return read(path, largest, accept_changes=accept_changes)


# ------------------------------------------------------------------------------------------------------------- writing


def to_document(model: Model) -> dict[str, Any]:
    """The document of a model in one file, its names in their order."""
    return _sealed(_contents(model))


def _contents(model: Model) -> dict[str, Any]:
    scaled = model.scaled_weights
    values: tuple[Any, ...] = (
        FORMAT, VERSION, model.package, model.learner, model.status, dict(model.parameters), list(model.classes),
        list(model.columns), None if model.encoding is None else model.encoding.to_dict(),
        features_to_dict(model.feature_map), model.rule.to_dict(), None if scaled is None else scaled.tolist(),
        None if model.verdict is None else dict(model.verdict), dict(model.training),
        [], None, "",
    )  # fmt: skip
    document = dict(zip(KEYS, values, strict=True))
    again = _model(Part(document))  # as whoever reads it has it: sums may run in another order there
    return {**document, "examples": [each.to_dict() for each in examples_of(again)]}


def _sealed(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, NAME: fingerprint_of(document)}


def write(model: Model, path: Any) -> None:
    """The file of a model, and the one beside it if there are many numbers: the same model, the same bytes."""
    document, beside = packed(_contents(model))
    pair = None
    if beside is not None:
        pair = (name_beside(path, beside), beside)
        document["side_file"] = {
            "name": pair[0], "bytes": len(beside), "sha256": hashlib.sha256(beside).hexdigest(),
        }  # fmt: skip
    content = written(_sealed(document))
    try:
        scanned(content)
    except ModelFileError as error:
        raise CannotSaveError(
            f"The model of {model.learner} cannot be saved, as nobody could read it: {error}"
        ) from None
    replace_pair(path, content, pair)


# --------------------------------------------------------------------------------------------------------- fingerprint


def fingerprint_of(document: dict[str, Any]) -> str:
    """SHA-256 of the document without its fingerprint, as JSON with sorted names, no spaces and ASCII only.

    It is what `sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())` gives.

    >>> fingerprint_of({"b": 1, "a": [0.5, "é"], "fingerprint": "any"})
    '9e35e11878bfd9f32e23aa870d83711fd3e20b377514966b2ce39a7ec4880663'
    """
    found = hashlib.sha256()
    _feed({name: value for name, value in document.items() if name != NAME}, lambda text: found.update(text.encode()))
    return found.hexdigest()


def _feed(value: Any, add: Callable[[str], None]) -> None:
    kinds = set(map(type, value)) if isinstance(value, list) else set()
    if isinstance(value, dict):
        for place, name in enumerate(sorted(value)):
            add("," if place else "{")
            _feed(name, add)
            add(":")
            _feed(value[name], add)
        add("}" if value else "{}")
    elif kinds & {dict, list, str}:
        for place, each in enumerate(value):
            add("," if place else "[")
            _feed(each, add)
        add("]")
    elif isinstance(value, list | str) and len(value) > TOGETHER:
        ends = _json(value[:0])
        for start in range(0, len(value), TOGETHER):
            between = "," if start and isinstance(value, list) else ""
            add((between if start else ends[0]) + _json(value[start : start + TOGETHER])[1:-1])
        add(ends[1])
    else:
        add(_json(value))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


# ------------------------------------------------------------------------------------------------------------- reading


def read(path: Any, largest: int = LARGEST, *, accept_changes: bool = False) -> Model:
    """The model of a file; ModelFileError says what is wrong with it, and where."""
    name = os.fspath(path)
    for again in reversed(range(TRIES)):
        try:
            text, large = _text(name, largest)
            document = parsed_text(text, large)
            del text
            return from_document(document, name, largest, accept_changes=accept_changes)
        except _GoneError as error:
            if not again:  # otherwise a new pair may have come while the old one was read
                raise error.of(str(name)) from None
        except ModelFileError as error:
            raise error.of(str(name)) from None
        except MemoryError:
            raise ModelFileError("there is not memory enough to read it.", path=str(name)) from None
    raise AssertionError


class _GoneError(ModelFileError):
    """The side file is not there."""


def _text(name: Any, largest: int) -> tuple[str, bool]:
    with _opened(name) as file:
        return read_text(file, _size(file.fileno(), largest))


def _opened(name: Any) -> BinaryIO:
    """A file to be read; a pipe is opened too, without waiting for somebody to write to it, and refused by its kind."""
    return open(name, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NONBLOCK", 0)))


def _size(handle: int, largest: int) -> int:
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        raise ModelFileError("it is not a file that can be read as a whole: copy it to one first.")
    if facts.st_size > largest:
        raise ModelFileError(
            f"it has {facts.st_size} bytes; more than {largest} are not read. If you trust it: "
            f"separatrix.load(path, largest={facts.st_size})."
        )
    return facts.st_size


def from_document(
    document: Any, path: Any = None, largest: int = LARGEST, *, accept_changes: bool = False
) -> Model:  # fmt: skip
    """The model of a document, checked part by part; its side file, if it names one, lies beside this path."""
    part = Part(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise part.fail(f'it is no model file of Separatrix: that is an object with "format": "{FORMAT}".')
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise part.fail(
            f"it has version {shown(document.get('version'))}; this Separatrix reads version {VERSION}: use the "
            "release that wrote it, or save the model again."
        )
    part.fields(*KEYS)
    sealed = accept_changes or document[NAME] == fingerprint_of(document)
    if part.has("side_file"):
        part = Part(with_arrays(document, _arrays(part, path, largest)))
    model = _model(part)
    examples = examples_read(part["examples"], model)
    part[NAME].digest()
    if not sealed:
        raise part.fail(
            "it was changed after it was written: its fingerprint is not that of what it holds. If you meant it, read "
            "it with separatrix.load(path, accept_changes=True), and save the model again; if not, get the file anew."
        )
    if not accept_changes:
        answer_again(model, examples, "examples")
    return model


def _model(part: Part) -> Model:
    classes, columns = _classes(part["classes"]), _names(part["columns"])
    encoding = _encoding(part["encoding"], columns) if part.has("encoding") else None
    features = features_read(part["features"], columns)
    names = columns if features is None else tuple(features.names(columns))
    model = Model(
        part["learner"].text(), part["parameters"].object(), classes, columns, read_rule(part["rule"], classes, names),
        features, encoding, part["verdict"].object() if part.has("verdict") else None, part["training"].object(),
        part["status"].one_of(FITTED, INTERRUPTED), part["package"].text(),
    )  # fmt: skip
    _check_facts(part, model)
    return model


def _arrays(part: Part, path: Any, largest: int) -> dict[str, Any]:
    """The numbers that lie in a file beside this one."""
    side = part["side_file"].fields("name", "bytes", "sha256")
    name, size = side["name"].text(), side["bytes"].whole()
    if not ENDING.fullmatch(name):
        raise side["name"].fail(f"it is {shown(name)}; the name of a safetensors file in the same folder is needed.")
    digest, wanted = side["sha256"].digest(), wanted_of(part.value)
    beside = Path(os.path.realpath(path)).with_name(name) if path is not None else Path(name)
    try:
        with _opened(beside) as file:
            if (found := _size(file.fileno(), largest)) != size:
                raise ModelFileError(f"it has {found} bytes, and was written with {size}: it was cut or exchanged.")
            return read_arrays(file, size, digest, wanted)
    except FileNotFoundError:
        raise _GoneError(
            f"its numbers lie in {name}, which is not beside it: put it there, or save the model again."
        ) from None
    except OSError as error:
        raise ModelFileError(f"its numbers lie in {name}, which cannot be read: {error.strerror}.") from None
    except ModelFileError as error:
        raise ModelFileError(f"in {name}, {error}") from None


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
    least = sum(len(level) + len(column.name) for column in columns for level in column.levels[1:])
    if least > sum(map(len, names)):  # before names are made that take more memory than the file
        raise part.fail(f"it makes other columns than the {len(names)} that the model has.")
    try:
        encoding = Encoding(columns)
    except TableError as error:
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
    if training.has("reading"):
        _check_reading(training["reading"])
    if part.has("scaled_weights"):
        part["scaled_weights"].floats(*(np.shape(linear.weights) if linear is not None else (0,)))


def _check_reading(part: Part) -> None:
    """How the table of the fit was read, which later commands go by."""
    part.fields(optional=("na", "decimal", "header", "encoding"))
    for name, check in (("na", Part.texts), ("header", Part.flag), ("encoding", Part.text)):
        if part.has(name):
            check(part[name])
    if part.has("decimal"):
        part["decimal"].one_of(".", ",")
