"""The scoring of one row in the page: points of a nomogram, and the numbers of the form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.functions import sigmoid
from ...results.linear_rule import TIE
from ..models.rules import Linear
from .inputs import Inputs
from .svg import nice_ticks

POINTS = 100.0
"""Points between the ends of the column that moves the score most."""
LARGEST = 400_000
"""The most weights that a page holds."""


def why_not(inputs: Inputs) -> str:
    """Why rows cannot be scored in the page; '' if they can."""
    model = inputs.model
    if not isinstance(model.rule, Linear):
        return f"{model.learner} has a rule of kind {model.rule.kind!r}, which is not a sum over columns."
    if model.feature_map is not None:
        return "The model is linear in features that are made of several columns, not in the columns."
    if model.rule.rule.weights.size > LARGEST:
        return "The model has too many weights for a page."
    return ""


def scorer_of(inputs: Inputs) -> dict[str, Any]:
    """The numbers of the form: columns and how they are encoded, the weights of every class, and the link."""
    why = why_not(inputs)
    if why:
        return {"there": False, "why": why}
    rule = inputs.model.rule
    W, b = _per_class(rule)
    link = "limit" if rule.limit is not None else "separated" if rule.separated else "odds" if rule.likely else "none"
    limit = None
    if rule.limit is not None:
        limit = {
            "direction": rule.limit.direction.tolist(), "level": rule.limit.direction_intercept.tolist(),
            "rest": rule.limit.rest.tolist(), "intercept": rule.limit.rest_intercept.tolist(), "tie": TIE,
        }  # fmt: skip
    return {
        "there": True, "classes": list(inputs.classes), "weights": W.tolist(), "intercept": b.tolist(), "link": link,
        "limit": limit, "shift": None if rule.prior is None else rule.prior.shift.tolist(),
        "columns": [_field(inputs, column) for column in inputs.encoding.columns],
        "positive": inputs.positive if len(inputs.classes) == 2 else None,
    }  # fmt: skip


def _per_class(rule: Linear) -> tuple[Any, Any]:
    """A row of weights for every class; of one score for two classes, the first's are zero."""
    W, b = np.asarray(rule.rule.weights), np.asarray(rule.rule.intercept, dtype=np.float64)
    return (W, b) if W.ndim == 2 else (np.vstack([np.zeros_like(W), W]), np.array([0.0, float(b)]))


def _field(inputs: Inputs, column: Any) -> dict[str, Any]:
    """A field of the form; it begins at the mean, or at the reference."""
    if column.kind == "category":
        return {"name": column.name, "kind": "category", "levels": list(column.levels), "missing": column.indicator,
                "start": column.levels[0]}  # fmt: skip
    x = inputs.table.numbers(column.name)
    x = x[np.isfinite(x)]
    start = float(f"{x.mean():.4g}") if x.size else 0.0
    start = float(round(start)) if x.size and (x == np.rint(x)).all() and abs(start) < 1e15 else start
    return {
        "name": column.name, "kind": "number", "center": column.center, "scale": column.scale, "fill": column.fill,
        "missing": column.indicator, "start": start,
        "least": float(x.min()) if x.size else 0.0, "most": float(x.max()) if x.size else 1.0,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------- the nomogram


def nomogram_facts(inputs: Inputs) -> dict[str, Any]:
    """Points of every value of every column, so that their sum gives the probability; or why there are none."""
    why = why_not(inputs) or _no_nomogram(inputs)
    if why:
        return {"there": False, "why": why}
    rule = inputs.model.rule
    W, b = _per_class(rule)
    k = inputs.positive
    w, intercept = W[k] - W[1 - k], float(b[k] - b[1 - k])
    if rule.prior is not None:
        intercept += float(rule.prior.shift[k] - rule.prior.shift[1 - k])
    lines, start = [], 0
    for column in inputs.encoding.columns:
        width = len(column.features)
        lines.append(_marks(inputs, column, w[start : start + width]))
        start += width
    moves = [max(each["log_odds"] for each in line["marks"]) - min(each["log_odds"] for each in line["marks"])
             for line in lines]  # fmt: skip
    unit = max(moves, default=0.0) / POINTS
    if not unit > 0:
        return {"there": False, "why": "No column moves the score."}
    base, total = intercept, 0.0
    for line in lines:
        least = min(each["log_odds"] for each in line["marks"])
        for each in line["marks"]:
            each["points"] = (each["log_odds"] - least) / unit
        base += least
        total += max(each["points"] for each in line["marks"])
    order = sorted(range(len(lines)), key=lambda j: -moves[j])
    return {
        "there": True, "class": inputs.classes[k], "unit": unit, "base": base, "most": total,
        "lines": [lines[j] for j in order], "scale": _scale(base, unit, total),
    }  # fmt: skip


def _no_nomogram(inputs: Inputs) -> str:
    rule = inputs.model.rule
    if len(inputs.classes) != 2:
        return f"A nomogram adds points up to the odds of two classes; this model has {len(inputs.classes)}."
    if rule.separated or rule.limit is not None:
        return "Some weights are infinite, so that no sum of points gives the probability."
    if not rule.likely:
        return "The scores of this learner are not log-odds, so that points give no probability."
    return ""


def _marks(inputs: Inputs, column: Any, w: Any) -> dict[str, Any]:
    """The values of a column that are marked, with w(x) of each."""
    found = []
    if column.kind == "category":
        found = [{"text": level, "log_odds": float(w[j - 1]) if j else 0.0} for j, level in enumerate(column.levels)]
        if column.indicator:
            place = column.levels.index(column.fill) if column.fill in column.levels else 0
            found.append({"text": "missing", "log_odds": (float(w[place - 1]) if place else 0.0) + float(w[-1])})
        return {"name": column.name, "kind": column.kind, "marks": found}
    x = inputs.table.numbers(column.name)
    x = x[np.isfinite(x)]
    low, high = (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    for value in _ticks(low, high, whole=bool(x.size) and bool((x == np.rint(x)).all())):
        found.append({"text": f"{value:.6g}", "log_odds": float(w[0]) * (value - column.center) / column.scale})
    if column.indicator:
        value = float(column.fill or 0.0)
        found.append(
            {"text": "missing", "log_odds": float(w[0]) * (value - column.center) / column.scale + float(w[1])}
        )
    return {"name": column.name, "kind": column.kind, "marks": found}


def _ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Round values of a column; of one that holds whole numbers only such.

    >>> _ticks(1.0, 2.0, whole=True), _ticks(1.0, 4.0, whole=True)
    ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0])
    """
    found = nice_ticks(low, high, 6)
    own = [each for each in found if each == round(each)] if whole else found
    return own if len(own) > 1 or not low < high else [low, high]


def _scale(base: float, unit: float, total: float) -> list[dict[str, float]]:
    """Probabilities that some sum of points gives, and that sum."""
    found = []
    for p in (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999):
        points = (float(np.log(p / (1 - p))) - base) / unit
        if 0 <= points <= total:
            found.append({"probability": p, "points": points})
    ends = [{"probability": float(sigmoid(np.array([base + unit * each]))[0]), "points": each} for each in (0.0, total)]
    return found or ends
