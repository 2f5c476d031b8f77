"""What a saved model says of itself. It needs NumPy only."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from ...results.verdict import listed, plain_value
from ..cli.console import table as laid_out
from ..cli.wording import in_options
from .learners import LEARNERS

LONGEST, WIDTH = 400, 100
"""Signs of an equation that is written out, and of a line."""


def weights_of(model: Any) -> list[dict[str, Any]]:
    """The weights of a linear rule, class by class; of two classes those of the second. Other rules have none."""
    rule = model.rule.linear()
    if rule is None:
        return []
    W, b = np.atleast_2d(rule.weights), np.atleast_1d(np.asarray(rule.intercept, dtype=np.float64))
    scaled = None if model.scaled_weights is None else np.atleast_2d(model.scaled_weights)
    names, limits, found = tuple(map(str, rule.columns)), _limits(model), []

    def told(label: Any, name: str, weight: float, own: float | None) -> dict[str, Any]:
        way = limits.get(name, "finite")
        return {"class": str(label), "name": name, "weight": plain_value(weight), "per_deviation": plain_value(own),
                "in_the_limit": None if way == "finite" else way}  # fmt: skip

    for k, label in enumerate(list(rule.classes)[-len(W) :]):
        found.append(told(label, "(intercept)", b[k], None))
        found += [told(label, name, W[k, j], None if scaled is None else scaled[k, j]) for j, name in enumerate(names)]
    return found


def _limits(model: Any) -> dict[str, str]:
    """What maximum likelihood makes of each coefficient after *quasi-separated*; of two classes only."""
    verdict = model.verdict or {}
    if verdict.get("status") != "quasi-separated" or len(model.classes) > 2:
        return {}
    kept = (verdict.get("separability") or {}).get("coefficients")
    return {str(name): str(way) for name, way in kept.items()} if isinstance(kept, dict) else {}


def largest(weights: list[dict[str, Any]], most: int) -> list[str]:
    """The weights that move scores most, by the spread of their columns where that is known; lines of a table."""
    own = [each for each in weights if each["name"] != "(intercept)" and each["weight"] is not None]
    if not own:
        return []
    scaled = all(each["per_deviation"] is not None for each in own)
    size = "per_deviation" if scaled else "weight"
    ranked = sorted(own, key=lambda each: -abs(each[size]))[:most]
    several = len({each["class"] for each in own}) > 1
    signs = {"+inf": "→ +∞", "-inf": "→ −∞", "undetermined": "→ ±∞"}
    rows = [
        [f" {each['name']}" + (f" [{each['class']}]" if several else ""), gone or f"{each['weight']:.6g}"]
        + (["" if gone else f"{each['per_deviation']:.4g}"] if scaled else [])
        for each in ranked
        for gone in [signs.get(each["in_the_limit"] or "", "")]
    ]
    more = len(own) - len(ranked)
    header = [" weight of", "raw", *(["per SD"] if scaled else [])]
    return [laid_out(header, rows, right=(1, 2)), *([f" and {more} more"] if more else [])]


def name_of(model: Any) -> str:
    """The learner as it is typed, where it is one that is typed."""
    return next((name for name, each in LEARNERS.items() if each.home == model.learner), model.learner)


def verdict_of(model: Any) -> dict[str, Any] | None:
    """How the fit ended, in the words of the command line."""
    kept = model.verdict
    if kept is None:
        return None
    sentence = str(kept.get("text") or kept.get("cause") or "")
    return {"status": str(kept.get("status")), "ok": bool(kept.get("ok")), "sentence": in_options(sentence)}


def facts_of(model: Any, page: Any) -> dict[str, Any]:
    """All of it, for programs."""
    training = model.training
    return {
        "learner": name_of(model),
        "status": model.status,
        "parameters": dict(model.parameters),
        "classes": [str(each) for each in model.classes],
        "class_counts": training.get("class_counts"),
        "target": training.get("target"),
        "columns": list(model.columns) if model.encoding is None else [each.name for each in model.encoding.columns],
        "features": list(model.features),
        "rows": training.get("rows"),
        "fingerprint": training.get("fingerprint"),
        "seed": training.get("seed"),
        "fitted_by": training.get("command"),
        "verdict": verdict_of(model),
        "coefficients": weights_of(model),
        "cross_validation": training.get("cross_validation"),
        "summary": None if page is None else page.to_dict(),
    }


def described(model: Any) -> list[str]:
    """A model that keeps no summary, in lines."""
    training, verdict, rule = model.training, verdict_of(model), model.rule.linear()
    counts = training.get("class_counts") or {}
    classes = listed([f"{label}" + (f" ({counts[str(label)]} rows)" if str(label) in counts else "")
                      for label in model.classes], 12)  # fmt: skip
    given = {name: value for name, value in model.parameters.items() if value is not None and name != "estimator"}
    lines = [
        f"learner     {name_of(model)}",
        f"parameters  {', '.join(f'{name} {value}' for name, value in given.items())}",
        f"rows        {training.get('rows', 'not known')}",
        f"classes     {classes}",
        f"columns     {len(model.columns)} numbers"
        + ("" if model.encoding is None else f" from {len(model.encoding.columns)} columns"),
        "",
        *([*wrap(verdict["sentence"], WIDTH), ""] if verdict else []),
    ]
    equation = "" if rule is None else str(rule)
    if equation and len(equation) <= LONGEST:
        lines += [*wrap(equation, WIDTH), ""]
    return lines + largest(weights_of(model), 40)
