"""The path of the standardised weights: those that are largest in the end, from the first step to the last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...fitting.path import TRIAL
from ...numerics.arrays import Floats
from .inputs import Inputs, PathStep, WeightPath

LINES = 8
"""The most weights that are drawn."""


def path_facts(inputs: Inputs) -> dict[str, Any]:
    """wⱼ·sⱼ after each step, sⱼ the standard deviation of feature j; or why there is no path."""
    path = inputs.refit.path
    if not path.steps:
        return {"there": False, "why": path.why or inputs.refit.why or "The learner was not fitted again."}
    if len(path.steps) < 2:
        return {"there": False, "why": "It was at its answer after one step."}
    weights = np.stack([step.weights for step in path.steps])
    scale = _deviations(inputs, weights.shape[-1])
    moved = weights if scale is None else weights * scale
    names = _names(inputs, moved.shape[1:])
    final = np.abs(moved[-1]).ravel()
    order = np.argsort(-final, kind="stable")[: min(LINES, np.count_nonzero(np.abs(moved).max(axis=0)))]
    flat = moved.reshape(len(moved), -1)
    status = str(getattr(getattr(inputs.refit.estimator, "verdict_", None), "status", ""))
    return {
        "there": True, "unit": path.unit, "standardised": scale is not None, "endless": status in ENDLESS,
        "same_rows": inputs.seen,
        "at": [step.at for step in path.steps], "weights": int(final.size),
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


MOST = 200
"""The most steps of a path that are kept."""
UPDATES = 20_000
"""The most mistakes that are followed one by one."""
NUMBERS = 4_000_000
"""Numbers that a path may hold while it is followed."""


@dataclass
class Track:
    """Steps of a path, never more than twice `most`: then every second one is let go of."""

    most: int = MOST
    steps: list[PathStep] = field(default_factory=list)
    last: PathStep | None = None
    every: int = 1
    seen: int = 0

    def add(self, step: PathStep) -> None:
        """One more step."""
        self.last = step
        if self.seen % self.every == 0:
            self.steps.append(step)
        self.seen += 1
        if len(self.steps) > 2 * self.most:
            self.steps, self.every = self.steps[::2], 2 * self.every

    def path(self) -> tuple[PathStep, ...]:
        """The steps that were kept, and the last."""
        ended = [] if self.last is None or (self.steps and self.steps[-1] is self.last) else [self.last]
        return (*self.steps, *ended)


ENDLESS = ("separated", "quasi-separated")
"""Verdicts after which weights grow for ever: a path shows it, and does not end at the answer."""


def fit_with_path(make: Callable[[], Any], given: tuple[Any, ...]) -> tuple[Any, WeightPath]:
    """A fitted learner, and the path that its weights took."""
    estimator = make()
    card = type(estimator).card
    if card.path_unit and card.course == "steps":
        track = _tracked(estimator.steps(*given), lambda step, n: float(getattr(step, "passes", n)))
        return estimator, _ended(estimator, track, card.path_unit)
    estimator.fit(*given)
    if card.path_unit:
        return estimator, _by_mistakes(estimator, make, given)
    return estimator, WeightPath(why=card.no_path or "It does not tell its weights while it learns.")


def _by_mistakes(estimator: Any, make: Callable[[], Any], given: tuple[Any, ...]) -> WeightPath:
    """The path of another, equal fit, mistake by mistake, where these are few."""
    count, rows = int(np.sum(estimator.mistakes_)), int(given[0].shape[0])
    if max(count, rows) > UPDATES:
        return WeightPath(why=f"It made {count} mistakes in {rows} rows; up to {UPDATES} are followed one by one.")
    track = _tracked(make().steps(*given), lambda step, n: float(step.mistakes))
    return _ended(estimator, track, estimator.card.path_unit)


def _tracked(steps: Iterable[Any], at: Callable[[Any, int], float]) -> Track:
    track = Track()
    for step in steps:
        if getattr(step, "start", 0) == TRIAL:  # a trial of cross-validation saw a part of the rows
            continue
        W = np.atleast_2d(np.asarray(step.weights, dtype=np.float64)).copy()
        track.most = max(2, min(MOST, NUMBERS // W.size))
        track.add(PathStep(at(step, track.seen + 1), int(getattr(step, "start", 0)), W))
    return track


def _ended(estimator: Any, track: Track, unit: str) -> WeightPath:
    """The path of the start that led to the answer, if one did."""
    if track.last is None or not hasattr(estimator, "coef_"):
        return WeightPath(why="It ended before its first step.")
    W, path = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64)), track.path()
    if path[-1].weights.shape != W.shape or not np.isfinite(path[-1].weights).all():
        return WeightPath(why="Its weights on the way are not those of the answer.")
    ends = {step.start: step.weights for step in path}
    best = min(ends, key=lambda start: float(np.abs(ends[start] - W).max()))
    size = 1e-6 * (1.0 + float(np.abs(W).max()))
    if estimator.verdict_.status not in ENDLESS and float(np.abs(ends[best] - W).max()) > size:
        return WeightPath(why="Its answer is made of what was found on the way: it is not where the last step stood.")
    return WeightPath(tuple(step for step in path if step.start == best), unit)
