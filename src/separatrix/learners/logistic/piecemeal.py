"""Learning from rows as they come: `partial_fit`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...data import Rows
from ...errors import SettingError
from ...fitting.problem import Problem
from ...fitting.scan.online import OnlineState, scan
from ...fitting.scan.stochastic import begin, reading
from ...losses.penalty import NoPenalty
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.verdict import Rank, Verdict
from ...wording import setting
from ..checks.rows import checked_costs, not_finite, rows_to_learn, set_fitted
from ..checks.targets import checked_targets, given_costs, known_targets, second_of_two
from . import words
from .training import OBJECTIVES, Settings, checked_settings, schedule_of, seed_for, start_of


def continue_online(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """One pass over these rows in their order, from where the model stands."""
    settings = checked_settings(model)
    _check_online(model)
    _check_prior(model)
    if getattr(model, "features_", None) is not None:
        raise SettingError(
            "features",
            model.features,
            "",
            "This model was fitted in features of X, and partial_fit learns in X itself: call fit again with "
            f"{setting('features', None)}, or put the features before a new learner in a pipeline.",
        )
    new = not hasattr(model, "classes_")
    rows, read, names = rows_to_learn(model, X, new=new)
    known = _classes(model, y, classes, new)
    cost = checked_costs(sample_weight, len(rows), some=False)
    target = second_of_two(y, known, len(rows)) if model.class_weight is None else None
    if target is None:
        target, cost = _weighted(model, known, known_targets(y, known, len(rows)), cost)
    many = len(known) > 2
    counted = np.flatnonzero(cost > 0) if cost.size else np.arange(len(rows))
    loss = settings.loss(len(known))
    state = scan(
        _state(model, settings, rows.shape[1], len(known)),
        rows,
        target,
        cost,
        counted,
        loss=loss,
        rate=schedule_of(settings.rate),
        l2=model.l2 / loss.excess,
        fit_intercept=settings.fit_intercept,
        averaging=settings.averaging,
    )
    weights, intercept = reading(state, many, averaging=settings.averaging)
    if not (np.isfinite(weights).all() and np.isfinite(intercept).all()):
        raise _overflow(model, rows, names, settings)
    _set(model, read, names, state, known, weights, intercept, settings)


def _weighted(model: Any, known: Any, T: Any, cost: Any) -> tuple[Any, Any]:
    """Targets and costs with the class weights in them; of two classes the probability of the second."""
    factors = np.array(given_costs(model.class_weight, known.tolist()))
    if (factors != 1).any():
        T = T * factors
        total = T.sum(axis=1)
        T, cost = T / total[:, None], total * cost if cost.size else total
    return (T if len(known) > 2 else np.ascontiguousarray(T[:, 1])), cost


def _overflow(model: Any, rows: Any, names: tuple[str, ...], settings: Settings) -> Exception:
    if not rows.finite():
        return not_finite(rows, names, model)
    return SettingError(
        "learning_rate",
        settings.rate,
        "",
        f"The weights overflow: {setting('learning_rate', settings.rate)} is too large for these rows. Lower it, or "
        "use larger "
        "units for X; the model is as it was before this call.",
    )


def _check_online(model: Any) -> None:
    if model.learning_rate is None:
        raise SettingError(
            "learning_rate",
            model.learning_rate,
            "",
            f"partial_fit needs a {setting('learning_rate')} that does not depend on rows still to come: give a "
            "number, or a "
            "schedule such as LearningRate(0.1, power=0.5).",
        )
    if isinstance(model.class_weight, str):
        raise SettingError(
            "class_weight",
            model.class_weight,
            "",
            f"partial_fit cannot know {setting('class_weight', model.class_weight)} before all rows are seen: give a "
            "dict.",
        )


def _check_prior(model: Any) -> None:
    if model.prior is not None:
        raise SettingError(
            "prior",
            model.prior,
            "",
            f"partial_fit cannot know the shares of the classes, which {setting('prior', model.prior)} needs, before "
            f"all rows are seen: set {setting('prior', None)}, or use fit.",
        )


def _classes(model: Any, y: Any, classes: Any, new: bool) -> Any:
    if new and classes is None:
        known = checked_targets(model, y).classes
    elif new:
        known = np.unique(np.asarray(classes))
        if known.size < 2:
            raise SettingError(
                "classes", classes, "", f"classes are {known.tolist()}; a classifier needs two classes or more."
            )
    else:
        known = model.classes_
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), np.unique(known)):
            raise SettingError(
                "classes",
                classes,
                "",
                f"classes are {np.asarray(classes).tolist()}; this model learns {known.tolist()}.",
            )
    return known


def _state(model: Any, settings: Settings, d: int, K: int) -> OnlineState:
    """Where the model stands: after its last call, after a fit, or at its start."""
    if model._online is not None:
        return model._online  # type: ignore[no-any-return]
    if hasattr(model, "coef_"):
        return OnlineState(model.coef_.copy(), model.intercept_.copy())
    nothing = Rows.of(np.empty((0, d)), np.empty(0), np.empty(0))
    start, seed = start_of(model, d, K), seed_for(model, settings)
    return begin(Problem(nothing, settings.loss(K), NoPenalty(), True, None, start, settings.tol, 1.0, seed, K))


def _set(
    model: Any, read: Any, columns: tuple[str, ...], state: OnlineState, known: Any, weights: Any, intercept: Any,
    settings: Settings,
) -> None:  # fmt: skip
    """Set all attributes."""
    l2 = float(settings.l2)  # type: ignore[arg-type]
    claim = Claim(
        tuple(known.tolist()), columns, weights, intercept, settings.fit_intercept, l2, (1.0,) * len(known), math.nan,
        state.steps, settings.objective,
    )  # fmt: skip
    rank = Rank(None, len(columns) + settings.fit_intercept, ())
    set_fitted(
        model, read, classes_=known, coef_=np.atleast_2d(weights),
        intercept_=np.atleast_1d(np.asarray(intercept, float)), n_passes_=1.0, l2_=l2, n_steps_=state.steps,
        rule_=LinearRule(weights, intercept, tuple(known), columns, OBJECTIVES[settings.objective][0].log_odds == 1),
        verdict_=Verdict("interrupted", rank, None, *words.online(state.steps), claim),
        history_=getattr(model, "history_", []), _online=state,
    )  # fmt: skip
