"""What a saved model says of itself, and of single rows. It needs NumPy only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from ...errors import SettingError
from ...numerics.arrays import Floats
from ...results.verdict import plain_value
from .learners import LEARNERS
from .predicting import by_column, not_linear

KEPT = ("na", "decimal", "header", "encoding")
"""What a model remembers of how its table was read; which rows were taken is asked anew."""
OF_THE_FILE = ("decimal", "header", "encoding")
"""Of these a table of another kind of file knows nothing: they hold where names end as those of the fit did."""
PACKED = (".gz", ".xz", ".zst", ".zstd")


def reading_to_keep(reading: Any) -> dict[str, Any]:
    """What was said at the fit, for the model file; what was not said is not there."""
    found = {name: getattr(reading, name) for name in KEPT}
    found = {name: value for name, value in found.items() if value not in ((), None, ".")}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def kept_reading(model: Any, files: Sequence[str]) -> dict[str, Any]:
    """How cells of these files are to be read, as far as the model remembers it from its fit."""
    training = model.training or {}
    kept = {name: value for name, value in dict(training.get("reading") or {}).items() if value is not None}
    learnt_from = [each.get("name", "") for each in training.get("files") or () if isinstance(each, dict)]
    if not _endings(files) <= _endings(learnt_from):
        kept = {name: value for name, value in kept.items() if name not in OF_THE_FILE}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}


def _endings(names: Iterable[str]) -> set[str]:
    """What names end with, .csv also of data.csv.gz."""
    return {next((end for end in reversed(PurePath(str(each)).suffixes) if end not in PACKED), "") for each in names}


def model_columns(model: Any, kind: str) -> tuple[str, ...]:
    """The columns that the model reads as numbers, or as categories."""
    return () if model.encoding is None else tuple(each.name for each in model.encoding.columns if each.kind == kind)


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


def name_of(model: Any) -> str:
    """The learner as it is typed, where it is one that is typed."""
    return next((name for name, each in LEARNERS.items() if each.home == model.learner), model.learner)


def verdict_of(model: Any) -> dict[str, Any] | None:
    """How the fit ended, in the words of who fitted it."""
    kept = model.verdict
    if kept is None:
        return None
    sentence = str(kept.get("text") or kept.get("cause") or "")
    return {"status": str(kept.get("status")), "ok": bool(kept.get("ok")), "sentence": sentence}


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


def explanation_of(model: Any, x: Floats, *, for_class: Any, against: Any) -> dict[str, Any]:
    """By log-odds where the model has them, else by its scores."""
    rule = model.rule
    if getattr(rule, "likely", False) or getattr(rule, "separated", False):
        return _by_odds(model, x, for_class, against)
    if rule.linear() is None:
        raise not_linear(model)
    return _by_score(model, x, for_class, against)


def _by_odds(model: Any, x: Floats, for_class: Any, against: Any) -> dict[str, Any]:
    found = model.explain(x, for_class=for_class, against=against)
    return {"prediction": str(model.labels(x)[0]), "kind": "log-odds", **found.to_dict(), "text": str(found)}


def _by_score(model: Any, x: Floats, for_class: Any, against: Any) -> dict[str, Any]:
    """score = score of the average row + Σⱼ wⱼ(xⱼ − x̄ⱼ)."""
    sizes, score, classes = model.contributions(x)[0], model.scores(x)[0], list(model.classes)
    label = model.labels(x)[0].item() if hasattr(model.labels(x)[0], "item") else model.labels(x)[0]
    if sizes.ndim == 2:
        k = classes.index(label if for_class is None else for_class)
        rivals = [j for j in range(len(classes)) if j != k]
        r = max(rivals, key=lambda j: (score[j], j)) if against is None else classes.index(against)
        if k == r:
            both = f"The class that is explained and the one against it are both {classes[k]!r}:"
            raise SettingError("against", against, "name two.", both)
        sizes, total = sizes[k] - sizes[r], float(score[k] - score[r])
    else:
        k = 1 if for_class is None else classes.index(for_class)
        r, sign = 1 - k, 1.0 if k == 1 else -1.0
        sizes, total = sign * sizes, sign * float(score)
    base = total - float(np.sum(sizes))
    steps = [
        {"name": cell.name, "value": cell.value, "contribution": size}
        for cell, size in by_column(model, x, sizes[None], most=sizes.size)[0]
    ]
    return {
        "prediction": str(label), "kind": "score", "class": str(classes[k]), "against": str(classes[r]), "base": base,
        "contributions": steps, "score": total,
    }  # fmt: skip
