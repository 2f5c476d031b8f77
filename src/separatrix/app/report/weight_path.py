"""The path of the standardised weights: those that are largest in the end, from the first step to the last."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .following import ENDLESS
from .inputs import Inputs

LINES = 8
"""Weights that are drawn."""


def path_facts(inputs: Inputs) -> dict[str, Any]:
    """wⱼ·sⱼ after each step, sⱼ the standard deviation of feature j; or why there is no path."""
    followed = inputs.refit.followed
    if not followed.path:
        return {"there": False, "why": followed.why or inputs.refit.why or "The learner was not taught again."}
    if len(followed.path) < 2:
        return {"there": False, "why": "It was at its answer after one step."}
    weights = np.stack([place.weights for place in followed.path])
    scale = _deviations(inputs, weights.shape[-1])
    moved = weights if scale is None else weights * scale
    names = _names(inputs, moved.shape[1:])
    final = np.abs(moved[-1]).ravel()
    order = np.argsort(-final, kind="stable")[: min(LINES, np.count_nonzero(np.abs(moved).max(axis=0)))]
    flat = moved.reshape(len(moved), -1)
    status = str(getattr(getattr(inputs.refit.estimator, "verdict_", None), "status", ""))
    return {
        "there": True, "unit": followed.unit, "standardised": scale is not None, "endless": status in ENDLESS,
        "same_rows": inputs.seen,
        "at": [place.at for place in followed.path], "weights": int(final.size),
        "lines": [{"name": names[j], "values": flat[:, j].tolist()} for j in order.tolist()],
    }  # fmt: skip


def _deviations(inputs: Inputs, width: int) -> Floats | None:
    kept = (inputs.model.training or {}).get("deviations")
    if kept is not None and len(kept) == width:
        return np.asarray(kept, dtype=np.float64)
    return np.asarray(inputs.X.std(axis=0)) if inputs.X.shape[1] == width else None


def _names(inputs: Inputs, shape: tuple[int, ...]) -> list[str]:
    scores, width = shape
    linear = inputs.model.rule.linear()
    features = list(map(str, inputs.model.features if linear is None else linear.columns))
    features = features if len(features) == width else [f"feature {j + 1}" for j in range(width)]
    if scores == 1:
        return features
    labels = inputs.classes if scores == len(inputs.classes) else tuple(f"score {k + 1}" for k in range(scores))
    return [f"{name} ({label})" for label in labels for name in features]
