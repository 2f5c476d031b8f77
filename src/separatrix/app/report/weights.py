"""The weights of a model with odds ratios and intervals, or the reason why there are none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...fitting.path import TRIAL
from ...inference.summary.summary import Summary
from ...numerics.arrays import Floats
from ...wording import learner
from .inputs import Inputs, PathStep, WeightPath

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


# The path of the standardised weights: those that are largest in the end, from the first step to the last.

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
