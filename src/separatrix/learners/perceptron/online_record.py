"""An online perceptron written down in plain numbers and words, and read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...fitting.scan.class_stream import ClassStream
from ...fitting.scan.perceptron import PerceptronState
from ..checks.rows import checked_numbers

VERSION = 1
FIELDS = (
    "parameters",
    "columns",
    "names",
    "classes",
    "weights",
    "intercept",
    "unit",
    "steps",
    "run",
    "mistakes",
    "missed",
)
PARAMETERS = ("learning_rate", "ties", "fit_intercept")
MOST = 1 << 62
COUNTS = ("columns", "steps", "run", "mistakes", "missed")


def record_of(model: Any) -> dict[str, Any]:
    """All that it takes to go on."""
    stream, names = model._stream, getattr(model, "feature_names_in_", None)
    return {
        "kind": "OnlinePerceptron",
        "version": VERSION,
        "parameters": {
            "learning_rate": float(model.learning_rate),
            "ties": model.ties,
            "fit_intercept": bool(model.fit_intercept),
        },
        "columns": int(model.n_features_in_),
        "names": None if names is None else [str(name) for name in names],
        "classes": stream.classes.tolist(),
        "weights": stream.state.weights.tolist(),
        "intercept": stream.state.intercept.tolist(),
        "unit": float(stream.unit),
        "steps": int(stream.state.steps),
        "run": int(stream.state.run),
        "mistakes": int(stream.state.mistakes),
        "missed": int(stream.missed),
    }


def read_record(record: Any) -> tuple[dict[str, Any], ClassStream, int, list[str] | None]:
    """Parameters, where it stood, how many columns, and their names."""
    _check(record)
    state = PerceptronState(
        checked_numbers("weights", record["weights"]), checked_numbers("intercept", record["intercept"]),
        record["steps"], record["run"], record["mistakes"],
    )  # fmt: skip
    stream = ClassStream(np.array(record["classes"]), state, record["unit"], record["missed"])
    return dict(record["parameters"]), stream, record["columns"], record["names"]


def _check(record: Any) -> None:
    if not isinstance(record, dict) or record.get("kind") != "OnlinePerceptron":
        raise ValueError("This is no record of an OnlinePerceptron: give what to_dict() returned.")
    if record.get("version") != VERSION:
        raise ValueError(f"The record has version {record.get('version')!r}; this program reads version {VERSION}.")
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise ValueError(f"The record lacks {missing[0]!r}: give what to_dict() returned, unchanged.")
    if not isinstance(record["parameters"], dict) or sorted(record["parameters"]) != sorted(PARAMETERS):
        raise ValueError(f"The record's parameters must be {', '.join(PARAMETERS)}; they are {record['parameters']!r}.")
    for name in COUNTS:
        if type(record[name]) is not int or not 0 <= record[name] < MOST:
            raise ValueError(f"The record's {name} is {record[name]!r}; it must be a whole number of at least 0.")
    if type(record["unit"]) is not float or not 0 < record["unit"] <= 1:
        raise ValueError(f"The record's unit is {record['unit']!r}; it must lie in (0, 1].")
    _check_classes(record["classes"])
    _check_names(record["names"], record["columns"])
    K, shape = len(record["classes"]), np.shape(record["weights"])
    if shape != (K if K > 2 else 1, record["columns"]) or np.shape(record["intercept"]) != shape[:1]:
        raise ValueError(f"The record has {K} classes and weights of shape {shape}: they do not fit together.")
    if record["parameters"]["fit_intercept"] is False and np.any(record["intercept"]):
        raise ValueError("The record has an intercept, and its parameters say that there is none.")


def _check_classes(classes: Any) -> None:
    plain = isinstance(classes, list) and all(isinstance(label, str | int | float) for label in classes)
    if not plain or len({isinstance(label, str) for label in classes}) != 1:
        raise ValueError(f"The record's classes are {classes!r}; they must be a list of names, or one of numbers.")
    if classes != np.unique(classes).tolist():
        raise ValueError(f"The record's classes are {classes!r}; they must be different, and in order.")


def _check_names(names: Any, columns: int) -> None:
    if names is None:
        return
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"The record's names are {names!r}; they must be a list of words, or None.")
    if len(names) != columns or len(set(names)) < len(names):
        raise ValueError(f"The record names {len(set(names))} columns and has {columns}: each needs a name of its own.")
