"""Everything that a report shows, computed and as plain data: a page only draws it, and the JSON format prints it."""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np

from ... import __version__
from ...fitting.path import TRIAL
from ...inference.summary.summary import Summary, restored
from ..models.facts import plain
from .checks import FAILED, PASSED, all_checks
from .held_out import held_out_facts
from .inputs import Inputs
from .scoring import nomogram_facts, scorer_of
from .weights import path_facts, weights_facts

MOST_STEPS = 400
"""The most passes of a history that are kept."""


def facts_of(inputs: Inputs) -> dict[str, Any]:
    """The report as data: texts, numbers, lists and dictionaries; what is infinite is a text, NaN is None."""
    model = inputs.model
    held = held_out_facts(inputs)
    checks = [each.to_dict() for each in all_checks(inputs, held)]
    summary = summary_of(inputs)
    found: dict[str, Any] = finite({
        "version": __version__,
        "target": inputs.target,
        "model": {
            "learner": model.learner, "status": model.status, "classes": list(inputs.classes),
            "parameters": plain(dict(model.parameters)), "columns": len(inputs.encoding.columns),
            "features": len(model.features), "package": model.package, "rule": model.rule.kind,
            "intercept": model.parameters.get("fit_intercept"),
        },
        "verdict": _verdict(inputs),
        "checks": checks,
        "counts": {"passed": sum(each["state"] == PASSED for each in checks),
                   "failed": sum(each["state"] == FAILED for each in checks), "all": len(checks)},
        "data": columns_facts(inputs),
        "weights": weights_facts(model, summary, inputs),
        "nomogram": nomogram_facts(inputs),
        "scorer": scorer_of(inputs),
        "held_out": held,
        "convergence": convergence_facts(inputs),
        "path": path_facts(inputs),
        "repeat": _repeat(inputs),
    })  # fmt: skip
    return found


def summary_of(inputs: Inputs) -> Summary | None:
    """The summary that the file keeps; else that of the learner that was taught the same rows again."""
    kept = inputs.model.training.get("summary")
    if kept is not None and "blocks" in kept:
        try:
            return restored(kept)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
    return inputs.refit.summary if inputs.seen and isinstance(inputs.refit.summary, Summary) else None


def convergence_facts(inputs: Inputs) -> dict[str, Any]:
    """Where the refitted learner stood after each pass."""
    kept = getattr(inputs.refit.estimator, "history_", None) or []
    history = [each for each in kept if getattr(each, "start", 0) != TRIAL]  # a trial saw a part of the rows
    if not history:
        why = inputs.refit.why or inputs.refit.path.why or "This learner reads its rows once."
        return {"there": False, "why": why}
    first = history[0]
    if hasattr(first, "value"):
        columns = {"value": [each.value for each in history], "gradient": [each.gradient_norm for each in history]}
    elif hasattr(first, "lower"):
        bounds = ("fewest", "most") if hasattr(first, "cuts") else ("lower", "upper")
        columns = {name: [getattr(each, end) for each in history]
                   for name, end in zip(bounds, ("lower", "upper"), strict=True)}  # fmt: skip
    elif hasattr(first, "mistakes"):
        columns = {"mistakes": [each.mistakes for each in history]}
    else:
        return {"there": False, "why": "This learner reads its rows once, and computes its answer from what it has "
                "counted."}  # fmt: skip
    passes = [float(getattr(each, "passes", i + 1)) for i, each in enumerate(history)]
    kept = np.unique(np.linspace(0, len(history) - 1, min(len(history), MOST_STEPS)).round().astype(int)).tolist()
    return {
        "there": True, "same_rows": inputs.seen, "least": _limit(inputs.refit.estimator), "steps": len(history),
        "passes": [passes[i] for i in kept],
        "start": [int(getattr(history[i], "start", 0)) for i in kept],
        **{name: [float(values[i]) for i in kept] for name, values in columns.items()},
    }  # fmt: skip


def _limit(estimator: Any) -> float | None:
    """The limit of the loss where classes are separated; None where there is a minimum."""
    verdict = getattr(estimator, "verdict_", None)
    status = getattr(verdict, "status", "")
    value = getattr(getattr(verdict, "certificate", None), "value", None) if status == "quasi-separated" else None
    return 0.0 if status == "separated" else None if value is None else float(value)


def _verdict(inputs: Inputs) -> dict[str, Any]:
    model = inputs.model
    said = dict(model.verdict or {})
    return {
        "status": said.get("status", "not known"),
        "ok": bool(said.get("ok")) and not model.interrupted,
        "sentence": said.get("cause") or said.get("text") or "The model file holds no verdict.",
        "remedy": said.get("remedy") or "",
        "gap": (said.get("certificate") or {}).get("relative_gap"),
    }


def _repeat(inputs: Inputs) -> dict[str, Any]:
    training = inputs.model.training
    return {
        "fit": training.get("command"),
        "report": inputs.command,
        "versions": training.get("versions") or {"separatrix": inputs.model.package},
        "report_versions": {"separatrix": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "seed": training.get("seed"),
        "report_seed": inputs.seed,
        "files": list(inputs.files),
        "fingerprint": inputs.fingerprint,
        "training_fingerprint": training.get("fingerprint"),
        "training_rows": training.get("rows"),
        "seen": inputs.seen,
    }


def finite(value: Any) -> Any:
    """Infinite numbers as texts, NaN as None: what JSON can hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else "+inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


SHOWN = 8
"""Levels of a category that are named one by one."""
BINS = 16
"""Bars of the small histogram of a column of numbers."""


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
