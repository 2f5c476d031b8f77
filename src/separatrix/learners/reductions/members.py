"""The binary classifiers of a reduction: how each is taught, what it says, what it is if it is linear."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter, validate_data

from ...errors import DataError, SettingError, SettingTypeError
from ...numerics.arrays import Floats
from ...numerics.threads import thread_count
from ...results.linear_rule import LinearRule
from ...results.verdict import Verdict
from ...wording import learner, setting
from ..base import LinearClassifier
from ..checks.rows import checked_costs, checked_rows, columns_at, names_of, not_finite, rows_at
from ..logistic.logistic import LogisticRegression
from ..logistic.side_by_side import Task, fit_together, rows_by_their_place
from ..warnings import BudgetWarning, NotSeparableWarning, SeparationWarning

OURS = (SeparationWarning, BudgetWarning, NotSeparableWarning)
COURSES = "stretches", "steps"
"""The methods by which a fit can be watched, and stopped."""


def check_learner(estimator: Any, whole: str) -> None:
    """A learner of two classes that has scores."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise SettingTypeError(
            "estimator", estimator, "", f"{whole} was given the class {name}; give it a learner, {whole}({name}())."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise SettingTypeError(
            "estimator",
            estimator,
            "",
            f"{whole} was given {estimator!r}; it needs a learner of two classes, {learner('LogisticRegression')} say.",
        )
    ways = {
        "class_weight": "weigh classes of y, give sample_weight to fit",
        "prior": f"correct by the classes' shares among the rows, give {setting('prior', 'data')}",
    }
    for parameter, way in ways.items():
        named = getattr(estimator, parameter, None)
        if isinstance(named, dict) and not set(named) <= {0, 1}:
            raise SettingError(
                parameter, named, f"inside {whole} a classifier has the classes 0 and 1, its − and its + side. "
                f"To {way}.",
                f"{setting(parameter)} names {sorted(map(str, set(named) - {0, 1}))[0]!r};",
            )  # fmt: skip
    if not (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")):
        name = type(estimator).__name__
        raise SettingError(
            "estimator",
            estimator,
            "",
            f"{name} has neither decision_function nor predict_proba: without scores {whole} cannot weigh what its "
            f"classifiers say against each other. Use a learner with scores, {learner('LogisticRegression')} say.",
        )


def check_table(columns: Any, X: Any, *, reset: bool) -> None:
    """What any learner may rely on: rows and columns, as many as at fit. Objects that are no table are let pass."""
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if len(shape) == 1 and hasattr(columns, "n_features_in_") and not reset:
        raise DataError(f"has shape {shape}: a row for each sample is needed. Reshape your data.", array="X")
    try:
        validate_data(columns, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        raise DataError(str(error)) from None
    if len(shape) == 2 and 0 in shape:
        what = "sample" if shape[0] == 0 else "feature"
        raise DataError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


def teach(
    estimator: Any, X: Any, tasks: Sequence[Task], sample_weight: Any, n_jobs: int | None, checked: Any,
    columns: tuple[str, ...], *, stoppable: bool = False,
) -> list[Any]:  # fmt: skip
    """A clone of the learner for each task, in order; `checked` is X as a block where the learner is our own.

    Logistic regressions that share rows are fitted together. NaN is named by its place in X, not in a member's rows.
    If it is `stoppable`, every classifier that has not begun when Ctrl-C comes makes one step; a StoppedError has all.
    """
    ended: dict[int, Any] = {}
    try:
        return _all_taught(estimator, X, tasks, sample_weight, n_jobs, checked, columns, ended)
    except KeyboardInterrupt:
        if not (stoppable and _course_of(estimator)):
            raise
        raise _stopped(estimator, X, tasks, sample_weight, ended) from None
    except DataError as error:
        if checked is not None and error.array == "X" and error.column is not None:
            raise not_finite(checked, columns, estimator) from None
        raise


def _stopped(
    estimator: Any, X: Any, tasks: Sequence[Task], sample_weight: Any, ended: dict[int, Any]
) -> KeyboardInterrupt:
    """All classifiers, those that have not ended after one step; where that cannot be, nothing but the interrupt."""
    square = get_tags(estimator).input_tags.pairwise
    with suppress(Exception):
        return StoppedError([
            ended[place] if place in ended else _taught(estimator, X, task, sample_weight, square, _begun)
            for place, task in enumerate(tasks)
        ])  # fmt: skip
    return KeyboardInterrupt()


class StoppedError(KeyboardInterrupt):
    """Ctrl-C: some classifiers have not ended, but all have begun."""

    def __init__(self, members: list[Any]) -> None:
        super().__init__()
        self.members = members


def _all_taught(
    estimator: Any, X: Any, tasks: Sequence[Task], sample_weight: Any, n_jobs: int | None, checked: Any,
    columns: tuple[str, ...], ended: dict[int, Any],
) -> list[Any]:  # fmt: skip
    """All of them; those of one thread are `ended` one after the other."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise SettingError(
            "estimator",
            estimator,
            "",
            f"{type(estimator).__name__} takes no sample_weight: leave it out, or use a learner that does.",
        )
    if type(estimator) is LogisticRegression and checked is not None and checked.at_hand:
        threads = thread_count(None if n_jobs is None else effective_n_jobs(n_jobs))
        named = columns if hasattr(X, "columns") else None
        members = list(fit_together(estimator, checked, tasks, sample_weight, threads, named, X if named else None))
        for member in members if named else ():
            member.feature_names_in_ = np.array(named, dtype=object)
        return members
    square = get_tags(estimator).input_tags.pairwise
    if effective_n_jobs(n_jobs) == 1:
        for place, task in enumerate(tasks):
            _taught(estimator, X, task, sample_weight, square, partial(_fitted, ended, place))
        return list(ended.values())
    jobs = (delayed(_taught)(estimator, X, task, sample_weight, square) for task in tasks)
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(jobs))


def _fitted(ended: dict[int, Any], place: int, model: Any, X: Any, y: Any, **cost: Any) -> None:
    """Fit a model, and keep it in its place; one that was interrupted too."""
    try:
        ended[place] = model.fit(X, y, **cost)
    except KeyboardInterrupt:
        if getattr(getattr(model, "verdict_", None), "status", "") == "interrupted":
            ended[place] = model
        raise


def _course_of(model: Any) -> str:
    """The method by which its fit is watched, if it has one; a Pipeline's steps are something else."""
    return next((each for each in COURSES if callable(getattr(model, each, None))), "")


def _begun(model: Any, X: Any, y: Any, **cost: Any) -> Any:
    """The model after one step, marked interrupted if that was not all."""
    steps = getattr(model, _course_of(model))(X, y, **cost)
    next(steps, None)
    steps.close()
    return model


def _taught(
    estimator: Any, X: Any, task: Task, sample_weight: Any, square: bool, how: Callable[..., Any] | None = None
) -> Any:
    part = X if task.rows is None else rows_at(X, task.rows)
    if square and task.rows is not None:
        part = columns_at(part, task.rows)
    cost: dict[str, Any] = {}
    if sample_weight is not None:
        cost["sample_weight"] = sample_weight if task.rows is None else sample_weight[task.rows]
    with rows_by_their_place(task.rows):
        model, labels = clone(estimator), task.positive.astype(np.int64)
        return model.fit(part, labels, **cost) if how is None else how(model, part, labels, **cost)


def check_jobs(n_jobs: Any) -> None:
    """None, or a whole number as joblib reads it: −1 is all CPUs, −2 all but one."""
    whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise SettingError("n_jobs", n_jobs, "give None, a number of threads, or −1 for as many as there are CPUs.")


def checked_weights(sample_weight: Any, rows: int) -> Floats | None:
    """None, or a cost for each row."""
    return None if sample_weight is None else checked_costs(sample_weight, rows)


def scores_of(member: Any, X: Any, said: str) -> Floats:
    """The member's score of each row: positive for the classes on its + side. Of a probability p it is p − ½."""
    if not hasattr(member, "decision_function"):
        return probability_of(member, X, said) - 0.5
    s = np.asarray(member.decision_function(X), dtype=np.float64)
    s = s[:, 0] if s.ndim == 2 and s.shape[1] == 1 else s
    if s.ndim != 1:
        raise SettingError(
            "estimator",
            member,
            "",
            f"{type(member).__name__} gave scores of shape {s.shape} for two classes; one score a row is needed.",
        )
    return _finite(s, member, said, "score")


def probability_of(member: Any, X: Any, said: str) -> Floats:
    """The member's probability of its + side, row by row."""
    return _finite(np.asarray(member.predict_proba(X), dtype=np.float64)[:, 1], member, said, "probability")


def _finite(given: Floats, member: Any, said: str, what: str) -> Floats:
    wrong = np.flatnonzero(~np.isfinite(given))
    if wrong.size:
        raise SettingError(
            "estimator",
            member,
            "",
            f"{type(member).__name__}, {said}, gave row {wrong[0]} the {what} {given[wrong[0]]}: it cannot be weighed "
            f"against those of the others, so every {what} must be a finite number.",
        )
    return given


def linear_rules(members: Sequence[Any], columns: tuple[str, ...]) -> tuple[Floats, Floats] | None:
    """Weights, L × d, and intercepts, if every member is a linear rule of the columns themselves; else None."""
    found = [_linear(member, len(columns)) for member in members]
    if not found or any(rule is None for rule in found):
        return None
    return np.array([rule[0] for rule in found if rule]), np.array([rule[1] for rule in found if rule])


def _linear(member: Any, width: int) -> tuple[Floats, float] | None:
    rule = getattr(member, "rule_", None)
    if isinstance(rule, LinearRule):
        plain = rule.weights.ndim == 1 and not rule.features and rule.weights.size == width
        return (rule.weights, float(rule.intercept)) if plain else None
    coef, intercept = getattr(member, "coef_", None), getattr(member, "intercept_", None)
    if coef is None or intercept is None or hasattr(coef, "toarray") or not hasattr(member, "decision_function"):
        return None
    weights, level = np.asarray(coef, np.float64), np.ravel(np.asarray(intercept, np.float64))
    if weights.shape not in ((1, width), (width,)) or level.size != 1:
        return None
    if not (np.isfinite(weights).all() and np.isfinite(level).all()):
        return None
    return weights.ravel(), float(level[0])


@contextmanager
def gathered_warnings() -> Iterator[list[Warning]]:
    """Our own warnings of the members go into the list, to be said once for all; others are passed on, each once."""
    ours: list[Warning] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield ours
    said = set()
    for warning in caught:
        if isinstance(warning.message, OURS):
            ours.append(warning.message)
        elif (warning.category, str(warning.message)) not in said:
            said.add((warning.category, str(warning.message)))
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def gives_probabilities(model: Any) -> bool:
    """Whether every member has them; else the reason why there are none."""
    learnt = [member for member in getattr(model, "estimators_", ()) if member is not None]
    if not all(hasattr(member, "predict_proba") for member in learnt or [model.estimator]):
        name = type(model.estimator).__name__
        raise AttributeError(
            f"{name} has no predict_proba, so {type(model).__name__} has none: use LogisticRegression()."
        )
    return True


class MetaLearner(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner made of clones of another."""

    estimator: Any
    n_jobs: int | None
    verdict_: Verdict

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.estimator)
        except (AttributeError, TypeError):
            return tags
        for name in ("sparse", "allow_nan", "pairwise", "positive_only"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _rows(self, columns: Any, X: Any, *, reset: bool) -> Any:
        """X as our own linear learners read it; for any other learner None: it reads X itself."""
        if isinstance(self.estimator, LinearClassifier):
            return checked_rows(columns, X, reset=reset)
        check_table(columns, X, reset=reset)
        return None

    def _scored(self, rule: Any, rows: Any) -> Floats:
        """The scores of linear rules, all at once; NaN in X is named."""
        with np.errstate(invalid="ignore", over="ignore"):
            scores: Floats = rule.score(rows)
        if not np.isfinite(scores).all():
            raise not_finite(rows, names_of(self, rows.shape[1]), self)
        return scores
