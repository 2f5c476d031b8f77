"""The bound on a learner's mistakes, from its training rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...errors import DataError, Refusal, SettingError
from ...fitting.scan.perceptron_scan import Course
from ...numerics.arrays import Floats
from ...results.mistake_bound import MistakeBound, leads_of, longest, mistake_bound
from ..checks.rows import check_lengths, checked_rows
from ..checks.settings import checked_numbers
from ..checks.targets import checked_targets
from ..geometry.margin import MaxMarginClassifier

FEW_NUMBERS = 2_000_000
"""In rows of so many numbers a separating rule is looked for even where none was learnt."""


def bound_of(model: Any, u: Any, X: Any, y: Any) -> MistakeBound:
    """((R + √T D)/γ)², beside the mistakes that were made."""
    check_is_fitted(model, "rule_")
    if len(model.classes_) < 2:
        raise Refusal("Only one class has been seen so far: there is no bound on mistakes without a second.")
    course = _course(model, X, y)
    lifted, K = course.update.lifted, len(model.classes_)
    direction = _best(model, course) if u is None else _given(u, course.X.shape[1] + lifted, K)
    leads = leads_of(course.X, course.target, direction / np.linalg.norm(direction), lifted)
    R = longest(course.X, lifted) * (math.sqrt(2) if K > 2 else 1.0)
    start = math.hypot(np.linalg.norm(course.start.weights), np.linalg.norm(course.start.intercept))
    times = course.passes.visits(len(course.X), model.n_steps_)
    made = int(model.mistakes_.sum())
    return mistake_bound(leads, R, times, start, course.update.rate, made)


def _course(model: Any, X: Any, y: Any) -> Course:
    kept: Course = model._learnt_course()
    if X is None and y is None:
        if kept.X is None:
            raise Refusal("The training rows are no longer at hand: give them, bound(X=X, y=y).")
        return kept
    if X is None or y is None:
        raise DataError("bound needs both X and y, or neither.")
    rows, targets = checked_rows(model, X, reset=False), checked_targets(model, y)
    check_lengths(rows, targets)
    if targets.index is None or not np.array_equal(targets.classes, model.classes_):
        raise DataError(
            f"has the classes {targets.classes.tolist()}; this model learnt {model.classes_.tolist()}.", array="y"
        )
    return replace(kept, X=rows, target=np.ascontiguousarray(targets.index, dtype=np.int64))


def _given(u: Any, width: int, classes: int) -> Floats:
    rows = 1 if classes == 2 else classes
    direction = checked_numbers("u", u)
    if direction.size != rows * width:
        each = f" for each of the {classes} classes" if classes > 2 else ""
        raise SettingError(
            "u", u, f"{width} are needed{each}, the intercept last if there is one.", f"u has {direction.size} numbers;"
        )
    if not direction.any():
        raise SettingError("u", u, "give a direction.", "u is zero, and points nowhere:")
    return direction.reshape(rows, width)


def _best(model: Any, course: Course) -> Floats:
    """The rule of the largest margin where there is one; else what was learnt."""
    lifted = course.update.lifted
    learnt = np.column_stack([model.coef_, model.intercept_]) if lifted else model.coef_
    learnt = learnt if learnt.any() else np.ones_like(learnt)
    parted = leads_of(course.X, course.target, learnt, lifted).min() > 0
    if len(model.classes_) > 2 or not (parted or course.X.size <= FEW_NUMBERS):
        return learnt
    best = MaxMarginClassifier(fit_intercept=lifted, lifted=lifted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best.fit(_plain(course.X), course.target)
    except ValueError:  # too many columns for it: what was learnt separates the rows as well
        return learnt
    found = np.column_stack([best.coef_, best.intercept_]) if lifted else best.coef_
    if not best.verdict_.ok or not found.any():
        return learnt
    better = leads_of(course.X, course.target, found / (np.linalg.norm(found) or 1.0), lifted).min()
    return (
        found if better > leads_of(course.X, course.target, learnt / np.linalg.norm(learnt), lifted).min() else learnt
    )


def _plain(X: Any) -> Any:
    """The rows as a user would give them."""
    return X if isinstance(X, np.ndarray) else X.scipy()
