"""The table: what each column is, what it holds, and what was left out and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import Inputs

SHOWN = 8
"""Levels of a category that are named one by one."""
BINS = 16


def columns_facts(inputs: Inputs) -> dict[str, Any]:
    """Rows, classes, and a line for every column of the table."""
    known = {column.name: column for column in inputs.encoding.columns}
    counts = np.bincount(inputs.truth, minlength=len(inputs.classes)).tolist()
    decided = {each.name: each for each in inputs.decisions}
    lines = [_line(inputs, column, decided.get(name)) for name, column in known.items()]
    left = []
    for each in inputs.decisions:
        if each.name not in known and each.kind != "target":
            why = each.why if each.kind in ("ignored", "weights", "group") else "the model does not use it"
            left.append({"name": each.name, "why": why})
    return {
        "rows": int(inputs.table.rows),
        "classes": [{"name": name, "rows": n} for name, n in zip(inputs.classes, counts, strict=True)],
        "columns": lines,
        "left_out": left,
        "features": len(inputs.encoding.names),
    }


def _line(inputs: Inputs, column: Any, decision: Any) -> dict[str, Any]:
    line: dict[str, Any] = {
        "name": column.name, "kind": column.kind, "missing": 0 if decision is None else int(decision.missing),
        "fill": column.fill,
    }  # fmt: skip
    if column.kind == "category":
        codes, levels = inputs.table.coded(column.name)
        counts = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
        here = dict(zip(levels, counts, strict=True))
        listed = [{"name": level, "rows": here.get(level, 0)} for level in column.levels]
        strange = inputs.unseen.get(column.name, {})
        return line | {
            "reference": column.reference, "levels": len(column.levels), "shown": listed[:SHOWN],
            "more": max(len(listed) - SHOWN, 0), "unseen": strange,
        }  # fmt: skip
    x = inputs.table.numbers(column.name)
    x = x[~np.isnan(x)]
    if not x.size:
        return line | {"mean": None, "deviation": None, "minimum": None, "maximum": None, "histogram": []}
    counts, _ = np.histogram(x, BINS) if x.max() > x.min() and np.isfinite(x.max() - x.min()) else ([len(x)], None)
    return line | {
        "mean": float(x.mean()), "deviation": float(x.std()), "minimum": float(x.min()), "maximum": float(x.max()),
        "histogram": [int(n) for n in counts],
    }  # fmt: skip
