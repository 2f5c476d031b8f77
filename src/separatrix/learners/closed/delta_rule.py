"""The delta rule: least squares one row at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import DataError, SettingError
from ...fitting.closed.least_squares import NormalEquations, Solution, contrasts, judge, solve
from ...fitting.scan.online import LEAST_SQUARES, LearningRate, OnlineState, row_order, scan
from ...numerics.arrays import EPS, Floats
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.verdict import Rank, Verdict
from ...wording import setting
from ..checks.rows import check_lengths, checked_costs, not_finite, rows_to_learn
from ..checks.targets import Targets, checked_targets, known_targets
from ..logistic.training import schedule_of
from . import words
from .batches import Batch

DECAY = 0.75
"""The default learning rate falls as the passes to this power."""


@dataclass(frozen=True, eq=False)
class DeltaRuleEnd:
    """Where the delta rule ended."""

    solution: Solution
    state: OnlineState
    passes: float
    diverged: bool


def run_delta_rule(model: Any, batch: Batch, normal: NormalEquations, seed: int) -> DeltaRuleEnd:
    """Passes over the rows until the value is within `tol` of the least, or `max_passes` are done.

    The moments, which are known, tell how far from the minimum each pass ends.
    """
    target, rng = online_target(batch.targets), np.random.default_rng(seed)
    counted: Any = np.flatnonzero(batch.cost > 0) if batch.cost.size else len(batch.rows)
    count = int(np.size(counted)) if batch.cost.size else len(batch.rows)
    rate = schedule_of(_as_rate(model.learning_rate)) or default_rate(normal, batch, count)
    lines = len(contrasts(len(batch.targets.classes)))
    X = batch.rows.gathered().block
    state = OnlineState(np.zeros((lines, X.shape[1])), np.zeros(lines))
    done, (W, b), least = 0.0, state.last(), solve(normal).value
    while done < model.max_passes and normal.value(W, b) - least > model.tol * least:
        part = min(1.0, model.max_passes - done)
        order = row_order(model.order, counted, rng)[: max(1, round(part * count))]
        after = step(model, state, X, target, batch.cost, order, rate)
        done += len(order) / count
        now = after.averaged() if model.averaging else after.last()
        with np.errstate(over="ignore", invalid="ignore"):
            if not (all(np.isfinite(each).all() for each in now) and math.isfinite(normal.value(*now))):
                return DeltaRuleEnd(judge(normal, W, b), state, done, True)
        state, (W, b) = after, now
    return DeltaRuleEnd(judge(normal, W, b), state, done, False)


def step(model: Any, state: OnlineState, X: Any, target: Any, cost: Floats, order: Any, rate: Any) -> OnlineState:
    """W ← W + η c (t − Wx − b) xᵀ − η c (l2/2) W over these rows: half the slope of a square, as in the notes."""
    with np.errstate(over="ignore", invalid="ignore"):
        return scan(
            state, X, target, cost, order, loss=LEAST_SQUARES, rate=rate, l2=float(model.l2) / 2,
            fit_intercept=bool(model.fit_intercept), averaging=bool(model.averaging),
        )  # fmt: skip


def online_target(targets: Targets) -> Any:
    """±1, or 2t − 1, of two classes; else the class, or a share of each."""
    if len(targets.classes) > 2:
        return targets.index if targets.index is not None else targets.probability
    second = targets.index if targets.index is not None else targets.probability[:, 1]  # type: ignore[index]
    return 2.0 * np.asarray(second, dtype=np.float64) - 1.0


def default_rate(normal: NormalEquations, batch: Batch, count: int) -> LearningRate:
    """η₀ = ¼/(c̄ E‖(x, 1)‖²), c̄ the mean cost, falling with the passes: the unit of the costs does not matter."""
    center = normal.center.astype(float)
    size = float(np.trace(normal.gram) + center @ center) + normal.lifted
    cost = float(batch.cost.sum()) / count if batch.cost.size else 1.0
    return LearningRate(0.25 / max(size, EPS) / cost, power=DECAY, delay=float(count))


def continued_delta_rule(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, dict[str, Any]]:
    """One pass over these rows in their order, from where the model stands: for `set_fitted`."""
    if model.learning_rate is None:
        raise SettingError(
            "learning_rate", None, "give a number, or a schedule such as LearningRate(0.1, power=0.5).",
            f"partial_fit with {setting('solver', 'stochastic')} needs a learning_rate that does not depend on rows "
            "still to come:",
        )  # fmt: skip
    new = not hasattr(model, "classes_")
    rows, read, columns = rows_to_learn(model, X, new=new)
    known = _known(model, y, classes, new)
    shares = known_targets(y, known, len(rows))
    check_lengths(len(rows), len(shares))
    cost = checked_costs(sample_weight, len(rows), some=False)
    target = shares if len(known) > 2 else 2 * shares[:, 1] - 1
    counted = np.flatnonzero(cost > 0) if cost.size else np.arange(len(rows))
    state = step(
        model, _state(model, rows, known), rows, target, cost, counted, schedule_of(_as_rate(model.learning_rate))
    )
    W, b = state.averaged() if model.averaging else state.last()
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise _overflow(model, rows, columns)
    return read, _found(model, state, known, W, b, columns)


def _as_rate(rate: Any) -> Any:
    return rate if rate is None or callable(rate) else float(rate)


def _known(model: Any, y: Any, classes: Any, new: bool) -> Any:
    if not new:
        return model.classes_
    if classes is None:
        return checked_targets(model, y).classes
    known = np.unique(np.asarray(classes))
    if known.size < 2:
        raise DataError(f"classes are {known.tolist()}; a classifier needs two classes or more.")
    return known


def _state(model: Any, rows: Any, known: Any) -> OnlineState:
    if model._online is not None:
        return model._online  # type: ignore[no-any-return]
    if hasattr(model, "coef_"):
        return OnlineState(model.coef_.copy(), model.intercept_.copy())
    lines = len(contrasts(len(known)))
    return OnlineState(np.zeros((lines, rows.shape[1])), np.zeros(lines))


def _overflow(model: Any, rows: Any, columns: tuple[str, ...]) -> ValueError:
    if not rows.finite():
        return not_finite(rows, columns, model)
    return SettingError(
        "learning_rate", model.learning_rate,
        "is too large for these rows. Lower it, or use larger units for X; the model is as it was before this call.",
        f"The weights overflow: {setting('learning_rate', model.learning_rate)}",
    )  # fmt: skip


def _found(
    model: Any, state: OnlineState, known: Any, W: Floats, b: Floats, columns: tuple[str, ...]
) -> dict[str, Any]:
    """What was learnt, by the names of the attributes."""
    many = len(known) > 2
    weights, intercept = (W, b) if many else (W[0], float(b[0]))
    claim = Claim(
        tuple(known.tolist()), columns, weights, intercept, bool(model.fit_intercept), float(model.l2),
        (1.0,) * len(known), math.nan, state.steps, "least squares",
    )  # fmt: skip
    of = len(columns) + bool(model.fit_intercept)
    return {
        "classes_": known, "coef_": W, "intercept_": b, "n_passes_": 1.0,
        "rule_": LinearRule(weights, intercept, tuple(known), columns),
        "verdict_": Verdict("interrupted", Rank(None, of, ()), None, *words.online(state.steps), claim),
        "_statistics": None, "_online": state,
    }  # fmt: skip
