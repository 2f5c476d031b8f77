"""Facts cut down to what a page has room for; what is left out is counted, so that the page can say so."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

OTHERS = "all other classes"
NAMES = frozenset({"name", "class", "against", "text", "reference", "target", "positive", "of"})
"""Entries that are names; others are sentences, which may be longer."""
FEWEST = 6
"""The fewest weights shown of each class."""


@dataclass(frozen=True)
class Room:
    """How much of each list a page shows, and how long texts may be."""

    weights: int
    """Lines of all tables of weights together."""
    columns: int
    classes: int
    curves: int
    """Classes that have curves and a table of weights of their own."""
    marks: int
    """Values that a ruler of the nomogram marks."""
    form: int
    """Bytes that the form may take."""
    name: int
    text: int


ROOMS = (
    Room(weights=320, columns=500, classes=40, curves=12, marks=80, form=220_000, name=400, text=6000),
    Room(weights=200, columns=160, classes=25, curves=8, marks=40, form=110_000, name=160, text=3000),
    Room(weights=100, columns=60, classes=15, curves=5, marks=20, form=40_000, name=80, text=1500),
    Room(weights=60, columns=30, classes=8, curves=3, marks=10, form=0, name=60, text=800),
)
"""From a page that shows nearly everything to one that is small whatever it is about."""


def shortened(facts: dict[str, Any], room: Room) -> dict[str, Any]:
    """The facts with lists and texts cut to the room there is."""
    kept = {name: _clipped(each, room, "") for name, each in facts.items() if name != "scorer"}
    many = len(facts["model"]["classes"])
    return kept | {
        "scorer": _scorer(facts["scorer"], room),
        "data": _data(kept["data"], room),
        "model": kept["model"] | {"classes": kept["model"]["classes"][: room.classes], "classes_all": many},
        "weights": _weights(kept["weights"], room),
        "nomogram": _nomogram(kept["nomogram"], room),
        "held_out": _held(kept["held_out"], room),
    }


def clip(text: str, most: int) -> str:
    """A text that has lost its middle, if it was longer.

    >>> clip("abcdefghij", 7), clip("abc", 7)
    ('abcd…ij', 'abc')
    """
    return text if len(text) <= most else f"{text[: most - most // 3 - 1]}…{text[-(most // 3) :]}"


def _clipped(value: Any, room: Room, key: str) -> Any:
    if isinstance(value, str):
        return clip(value, room.name if key in NAMES else room.text)
    if isinstance(value, dict):
        return {clip(name, room.name): _clipped(each, room, name) for name, each in value.items()}
    if isinstance(value, list):
        names = key in ("classes", "levels", "columns")
        return [_clipped(each, room, "name" if names and isinstance(each, str) else key) for each in value]
    return value


def _scorer(scorer: dict[str, Any], room: Room) -> dict[str, Any]:
    """The form is whole or not there: half a model scores nothing."""
    if not scorer["there"]:
        return scorer
    levels = sum(len(level) + 30 for column in scorer["columns"] for level in column.get("levels", ()))
    size = len(json.dumps(scorer, ensure_ascii=False).encode()) + levels + 260 * len(scorer["columns"])
    if size <= room.form:
        return scorer
    return {"there": False, "why": f"The form would need {size // 1000} KB, more than this page has room for; the "
            "model file scores rows all the same."}  # fmt: skip


def _data(data: dict[str, Any], room: Room) -> dict[str, Any]:
    classes = data["classes"]
    rest = classes[room.classes :]
    others = [{"name": f"{len(rest)} other classes", "rows": sum(each["rows"] for each in rest)}] if rest else []
    return data | {
        "columns": data["columns"][: room.columns], "columns_all": len(data["columns"]),
        "classes": [*classes[: room.classes], *others],
        "left_out": data["left_out"][: room.columns], "left_out_all": len(data["left_out"]),
    }  # fmt: skip


def _weights(weights: dict[str, Any], room: Room) -> dict[str, Any]:
    blocks = weights["blocks"][: room.curves]
    most = max(FEWEST, room.weights // max(len(blocks), 1))
    cut = [{**each, "lines": largest(each["lines"], most), "lines_all": len(each["lines"])} for each in blocks]
    return weights | {"blocks": cut, "blocks_all": len(weights["blocks"]), "notes": weights["notes"][:12]}


def largest(lines: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The lines that move the score most, in the order of the model; those that go to infinity before all."""
    if len(lines) <= most:
        return lines

    def size(line: dict[str, Any]) -> float:
        moved = line["weight"] if line["per_deviation"] is None else line["per_deviation"]
        return math.inf if line["tends"] in ("+inf", "-inf") or not isinstance(moved, float) else abs(moved)

    kept = {id(line) for line in sorted(lines, key=size, reverse=True)[:most]}
    return [line for line in lines if id(line) in kept]


def _nomogram(facts: dict[str, Any], room: Room) -> dict[str, Any]:
    """The marks of each ruler; of many, the ends and others spread evenly over the points."""
    if not facts["there"]:
        return facts
    lines = []
    for line in facts["lines"][: room.columns // 5]:
        marks = sorted(line["marks"], key=lambda each: each["points"])
        places = np.unique(np.linspace(0, len(marks) - 1, min(len(marks), room.marks)).round().astype(int)).tolist()
        lines.append({**line, "marks": [marks[i] for i in places] if len(marks) > room.marks else line["marks"],
                      "marks_all": len(marks)})  # fmt: skip
    return facts | {"lines": lines, "lines_all": len(facts["lines"])}


def _held(held: dict[str, Any], room: Room) -> dict[str, Any]:
    if not held["there"]:
        return held
    curves = held["curves"][: room.curves]
    held = held | {
        "curves": curves, "left_out": held["left_out"] + len(held["curves"]) - len(curves),
        "remarks": held["remarks"][:12], "classes_all": len(held["classes"]),
    }  # fmt: skip
    many = len(held["classes"])
    if many <= room.classes:
        return held
    counts = np.array(held["confusion"], dtype=float)
    first = sorted(np.argsort(-counts.sum(axis=1), kind="stable")[: room.classes].tolist())
    names = {held["classes"][k] for k in first}
    return held | {
        "classes": [*(held["classes"][k] for k in first), OTHERS],
        "confusion": _together(counts, first),
        "by_class": [each for each in held["by_class"] if each["of"] is None or each["of"] in names],
        "margins": _margins(held["margins"], names),
    }


def _together(counts: Any, kept: list[int]) -> list[list[float]]:
    """The counts of some classes, and of all others as one."""
    others = [k for k in range(len(counts)) if k not in set(kept)]
    columns = np.column_stack([counts[:, kept], counts[:, others].sum(axis=1)])
    found: list[list[float]] = np.vstack([columns[kept], columns[others].sum(axis=0)]).tolist()
    return found


def _margins(facts: dict[str, Any] | None, names: set[str]) -> dict[str, Any] | None:
    if facts is None:
        return None
    own = [each for each in facts["classes"] if each["class"] in names]
    rest = [each for each in facts["classes"] if each["class"] not in names]
    if not rest:
        return facts
    rows = sum(each["rows"] for each in rest)
    wrong = sum(each["rows"] * each["wrong"][0] for each in rest) / rows
    one = {
        "class": OTHERS, "rows": rows, "counts": np.sum([each["counts"] for each in rest], axis=0).tolist(),
        "median": None, "wrong": [wrong, None, None],
    }  # fmt: skip
    return facts | {"classes": [*own, one]}
