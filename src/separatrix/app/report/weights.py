"""The weights of a model with odds ratios and intervals, or the reason why there are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...inference.summary.summary import Summary
from ...wording import learner
from .inputs import Inputs

WITHOUT = {
    "kernel": "The rule scores a row by its likeness to rows that it learnt from: no column has a weight.",
    "voted": "All the rules that were met while learning vote: there is no one set of weights.",
}
"""Rules that have no weights, by their kind."""
INTERCEPTS = ("(intercept)", "intercept")
"""Names of the intercept in tables of weights."""


def weights_facts(model: Any, summary: Summary | None, inputs: Inputs) -> dict[str, Any]:
    """A block of lines for every class that has weights, each with what a forest plot shows of it."""
    found = _found(model, summary, inputs)
    found = {"direction": False} | found
    levels = {name for column in inputs.encoding.columns for name in column.features if name != column.name}
    for block in found["blocks"]:
        for line in block["lines"]:
            line["plot"] = _plotted(line, line["name"] in levels and model.feature_map is None)
    return found


def _plotted(line: dict[str, Any], level: bool) -> list[float | str | None]:
    """Weight and interval, of a level against its reference, of a number for a standard deviation."""
    if line["tends"] in ("+inf", "-inf"):
        return [line["tends"], None, None]
    if line["tends"] != "finite" or line["name"] in INTERCEPTS:
        return [None, None, None]
    per, weight = line["per_deviation"], line["weight"]
    factor = 1.0 if level or per is None or not weight else per / weight
    return [None if each is None else each * factor for each in (weight, line["low"], line["high"])]


def _found(model: Any, summary: Summary | None, inputs: Inputs) -> dict[str, Any]:
    rule = model.rule.linear()
    if summary is not None:
        found = _of_summary(summary)
        ends = {line["tends"] for each in found["blocks"] for line in each["lines"]}
        return found if "finite" in ends or rule is None else _of_direction(model, rule, found, inputs)
    if rule is None:
        kind = model.rule.kind
        return {"blocks": [], "intervals": False, "odds": False, "level": inputs.level, "method": "", "measures": [],
                "why": WITHOUT.get(kind, f"{model.learner} has a rule of kind {kind!r}, which has no weights."),
                "notes": []}  # fmt: skip
    return _of_rule(model, rule, inputs)


def _of_direction(model: Any, rule: Any, summary: dict[str, Any], inputs: Inputs) -> dict[str, Any]:
    """No weight has a value; the rule that separates the rows has a direction, which is worth seeing."""
    found = _of_rule(model, rule, inputs, odds=False)
    if len(found["blocks"]) == len(summary["blocks"]) == 1:  # the weights of one score, line by line
        for line, told in zip(found["blocks"][0]["lines"], summary["blocks"][0]["lines"], strict=False):
            line["limit"] = told["tends"]
    return found | {"why": summary["why"], "measures": summary["measures"], "direction": True}


def _of_rule(model: Any, rule: Any, inputs: Inputs, *, odds: bool | None = None) -> dict[str, Any]:
    W, b = np.atleast_2d(rule.weights), np.atleast_1d(np.asarray(rule.intercept, dtype=np.float64))
    scaled = None if model.scaled_weights is None else np.atleast_2d(model.scaled_weights)
    odds = bool(getattr(model.rule, "likely", False)) if odds is None else odds
    blocks = []
    for k, label in enumerate(list(map(str, rule.classes))[-len(W) :]):
        lines = [_line("(intercept)", float(b[k]), None, odds)]
        for j, name in enumerate(map(str, rule.columns)):
            lines.append(_line(name, float(W[k, j]), None if scaled is None else float(scaled[k, j]), odds))
        against = str(rule.classes[0]) if len(W) == 1 else None
        blocks.append({"class": label, "against": against, "lines": lines})
    return {
        "blocks": blocks, "intervals": False, "odds": odds, "level": inputs.level, "method": "", "measures": [],
        "why": f"Intervals are of maximum likelihood; the weights of {model.learner} have none here. A bootstrap over "
               f"rows, or {learner('LogisticRegression')}, gives some.",
        "notes": [],
    }  # fmt: skip


def _of_summary(summary: Summary) -> dict[str, Any]:
    blocks = []
    for block in summary.blocks:
        lines = []
        for line in block.lines:
            spread = line.spread
            lines.append(
                _line(line.name, line.weight, line.per_deviation, True) | {
                    "odds_low": None if line.odds_interval is None else line.odds_interval[0],
                    "odds_high": None if line.odds_interval is None else line.odds_interval[1],
                    "low": None if spread is None else spread.low, "high": None if spread is None else spread.high,
                    "error": None if spread is None else spread.standard_error,
                    "p": None if spread is None or math.isnan(spread.p) else spread.p,
                    "aliased": line.aliased, "tends": line.tends,
                }
            )  # fmt: skip
        against = None if block.against is None else str(block.against)
        blocks.append({"class": str(block.label), "against": against, "lines": lines})
    penalised = (
        ""
        if not (summary.head.get("l2") and summary.has_spread)
        else " The weights are penalised, which pulls them towards zero."
    )
    return {
        "blocks": blocks, "intervals": summary.has_spread, "odds": True, "level": summary.level,
        "method": {"wald": "Wald", "profile": "profile likelihood"}.get(summary.method, summary.method),
        "measures": [{"label": each.label, "value": each.value} for each in summary.measures],
        "why": (summary.refused or ("" if summary.has_spread else "The fit gave none.")) + penalised,
        "notes": list(summary.notes),
    }  # fmt: skip


def _line(name: str, weight: float, per_deviation: float | None, odds: bool) -> dict[str, Any]:
    return {
        "name": name, "weight": weight, "per_deviation": per_deviation,
        "odds_ratio": math.exp(min(weight, 700.0)) if odds and not math.isnan(weight) else None,
        "odds_low": None, "odds_high": None, "low": None, "high": None, "error": None, "p": None, "aliased": False,
        "tends": "finite", "limit": None,
    }  # fmt: skip
