"""What logistic regression is given: its parameters, checked one by one and in pairs, and its training rows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Rows
from ...data.rows import COMPILE_FROM
from ...errors import SettingError
from ...fitting.coordinates import is_wide
from ...fitting.path import CrossValidation
from ...fitting.plans.wide import goes_wide
from ...fitting.problem import METHODS, At, AtRandom, LeastSquares, Problem, Start
from ...fitting.scan.online import LearningRate
from ...fitting.scan.stochastic import StochasticSettings
from ...losses.margin import Exponential, LogisticSquared, LogLikelihood, MarginLoss, SquaredHinge
from ...losses.penalty import NoPenalty, ridge
from ...losses.softmax import ClassLoss, SoftmaxLikelihood, SoftmaxSquared
from ...numerics.arrays import Floats
from ...wording import call, has, setting
from ..checks.features import Features, learn_features, mapped_rows
from ..checks.settings import (
    NOT_NEGATIVE,
    POSITIVE,
    checked_choice,
    checked_count,
    checked_flag,
    checked_number,
    checked_numbers,
    checked_parameters,
    checked_threads,
    seed_of,
)
from ..checks.targets import Prior, Targets, check_folds, prior_of, rows_of, training_data

OBJECTIVES: dict[str, tuple[MarginLoss, ClassLoss | None]] = {
    "likelihood": (LogLikelihood(), SoftmaxLikelihood()),
    "squared": (LogisticSquared(), SoftmaxSquared()),
    "exponential": (Exponential(), None),
    "squared-hinge": (SquaredHinge(), None),
    "firth": (LogLikelihood(), None),
    "flic": (LogLikelihood(), None),
}
"""The loss of two classes and of many; None where it is for two classes only."""
PENALISED = ("firth", "flic")
"""The likelihood with Firth's penalty; the same, its intercept fitted again without."""
SOLVERS = ("auto", *METHODS, "stochastic")
ORDERS = ("permutation", "replacement", "cyclic")
INITS = {"least-squares": LeastSquares(), "zero": None, "random": AtRandom()}
"""Starts by name; the weights of "zero" have the shape of the problem."""


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    objective: str
    solver: str
    l2: float | CrossValidation
    fit_intercept: bool
    tol: float
    max_passes: float
    starts: int
    rate: Any
    """None, a number, or a schedule."""
    order: str
    averaging: bool

    def loss(self, classes: int) -> MarginLoss | ClassLoss:
        """The loss of two classes or of many."""
        found = OBJECTIVES[self.objective][classes > 2]
        if found is None:
            reduction = call(f"OneVsRest(LogisticRegression(objective={self.objective!r}))")
            raise SettingError(
                "objective", self.objective, f"{reduction} does. "
                "(Only binary classification is supported. The type of the target is multiclass.)",
                f"{setting('objective', self.objective)} and {classes} classes do not go together: {self._of_two}",
            )  # fmt: skip
        return found

    @property
    def _of_two(self) -> str:
        """Why it is for two classes."""
        if self.objective in PENALISED:
            return "the penalty need not keep weights finite with more than two classes;"
        return "it is a loss of the margin, which two classes have;"

    @property
    def fixed_rate(self) -> float | None:
        """η of gradient descent for the loss as it is: the notes drop the factor 2 of the squared error's slope."""
        if self.rate is None or self.solver == "stochastic":
            return None
        return float(self.rate) / OBJECTIVES[self.objective][0].excess


def checked_settings(model: Any) -> Settings:
    """Every parameter by itself, then those that do not go together."""
    given = checked_parameters(
        model, objective=tuple(OBJECTIVES), solver=SOLVERS, order=ORDERS, fit_intercept=checked_flag,
        averaging=checked_flag, warm_start=checked_flag, n_threads=checked_threads, starts=checked_count,
        l2=NOT_NEGATIVE if isinstance(model.l2, numbers.Real) else _penalty, tol=POSITIVE, max_passes=POSITIVE,
    )  # fmt: skip
    rate = None if model.learning_rate is None else checked_rate("learning_rate", model.learning_rate)
    settings = Settings(
        given.objective, given.solver, given.l2, given.fit_intercept, given.tol, given.max_passes, given.starts, rate,
        given.order, given.averaging,
    )  # fmt: skip
    _check_pairs(settings)
    _check_prior(model.prior, settings.objective)
    if settings.solver == "stochastic" and model.features is not None:
        pipeline = "make_pipeline(Polynomial(2), LogisticRegression(solver='stochastic'))"
        before = f"Put them before it, {call(pipeline)}, or use" if has("make_pipeline") else "Use"
        raise SettingError(
            "solver", settings.solver, f"{before} {setting('solver', 'auto')}.",
            f"{setting('solver', 'stochastic')} and {setting('features')} do not go together: features are made for "
            "blocks of rows, and it takes one row at a time.",
        )  # fmt: skip
    return settings


def _penalty(name: str, l2: Any) -> float | CrossValidation:
    if isinstance(l2, CrossValidation):
        return _checked_cross_validation(l2)
    if isinstance(l2, str):
        if l2 != "cv":
            plan = ", 'cv', or a CrossValidation(...)" if has("CrossValidation") else ", or cv"
            raise SettingError("l2", l2, f"it must be a number of at least 0{plan}.")
        return CrossValidation()
    return NOT_NEGATIVE(name, l2)


def _checked_cross_validation(plan: CrossValidation) -> CrossValidation:
    if checked_number("folds", plan.folds, least=2) % 1:
        raise SettingError("folds", plan.folds, "it must be a whole number.")
    checked_flag("one_standard_error", plan.one_standard_error)
    if plan.grid is None:
        return replace(plan, folds=int(plan.folds))
    if np.ndim(plan.grid) != 1 or not len(plan.grid):
        raise SettingError("grid", plan.grid, "give the values of l2 to choose from, such as (1.0, 0.1, 0.01).")
    grid = tuple(NOT_NEGATIVE("a value of grid", value) for value in plan.grid)
    return replace(plan, grid=grid, folds=int(plan.folds))


def _check_prior(prior: Any, objective: str) -> None:
    """None, "data", or a positive share for each class it names; which classes these must be, y tells."""
    if prior is not None and OBJECTIVES[objective][0].log_odds is None:
        raise _clash(("prior", prior), ("objective", objective), f"it has no probabilities; {setting('prior', None)}.")
    if prior is None or (isinstance(prior, str) and prior == "data"):
        return
    if not isinstance(prior, Mapping):
        raise SettingError(
            "prior", prior, "it must be None (probabilities for the classes as they were weighed), 'data' (for the "
            "classes as they are in the rows) or a dict {class: share}.",
        )  # fmt: skip
    for label, share in prior.items():
        if not (isinstance(share, numbers.Real) and 0 < float(share) < np.inf):
            needed = "a class has a positive share: leave the rows of a class of none out."
            raise SettingError("prior", prior, needed, f"{setting('prior')}[{label!r}] is {share!r};")


def checked_rate(name: str, rate: Any) -> Any:
    """None, a number above 0, or a schedule."""
    if rate is None or callable(rate):
        return rate
    if isinstance(rate, numbers.Real):
        return POSITIVE(name, rate)
    schedule = ", or a schedule such as LearningRate(0.1, power=0.5)" if has("LearningRate") else ""
    raise SettingError(name, rate, f"it must be None, a number above 0{schedule}.")


def _check_pairs(settings: Settings) -> None:
    solver, stochastic = settings.solver, settings.solver == "stochastic"
    rate = None if settings.rate is None else ("learning_rate", settings.rate)
    here = ("solver", solver)
    if settings.objective in PENALISED:
        _check_penalised(settings)
    if solver == "gauss-newton" and settings.objective != "squared":
        way_out = f"use {setting('solver', 'newton')}, or {setting('objective', 'squared')}."
        raise _clash(here, ("objective", settings.objective), f"Gauss–Newton is for sums of squares; {way_out}")
    if rate is not None and solver not in ("gradient", "stochastic"):
        way_out = f"use {setting('solver', 'gradient')} or 'stochastic', or {setting('learning_rate', None)}."
        raise _clash(here, rate, f"its steps come from line search; {way_out}")
    if rate is not None and solver == "gradient" and callable(settings.rate):
        way_out = "give a number, or None for line search."
        raise _clash(here, rate, f"a schedule is for {setting('solver', 'stochastic')}; {way_out}")
    if settings.averaging and not stochastic:
        only = f"weights are averaged over the steps of {setting('solver', 'stochastic')} only."
        raise _clash(here, ("averaging", True), only)
    if settings.order != "permutation" and not stochastic:
        only = f"only {setting('solver', 'stochastic')} takes the rows in an order."
        raise _clash(here, ("order", settings.order), only)
    if isinstance(settings.l2, CrossValidation) and stochastic:
        raise _clash(here, ("l2", "cv"), f"choose {setting('l2')} with {setting('solver', 'auto')}, then set it.")


def _clash(one: tuple[str, Any], other: tuple[str, Any], way_out: str) -> SettingError:
    """Two settings that do not go together."""
    return SettingError(*one, way_out, f"{setting(*one)} and {setting(*other)} do not go together:")


def _check_penalised(settings: Settings) -> None:
    """Firth's penalty is the only one, and its maximum is found by Newton's method."""
    objective = ("objective", settings.objective)
    plain = f"use {setting('l2', 0)}, or {setting('objective', 'likelihood')}."
    if isinstance(settings.l2, CrossValidation):
        raise _clash(objective, ("l2", "cv"), f"its penalty has no strength to choose; {plain}")
    if settings.l2:
        raise _clash(objective, ("l2", settings.l2), f"it has a penalty of its own; {plain}")
    if settings.solver not in ("auto", "newton"):
        way_out = f"use {setting('solver', 'auto')} or 'newton'."
        raise _clash(objective, ("solver", settings.solver), f"its maximum is found by Newton's method; {way_out}")
    if settings.objective == "flic" and not settings.fit_intercept:
        way_out = f"use {setting('objective', 'firth')}, or {setting('fit_intercept', True)}."
        raise _clash(objective, ("fit_intercept", False), f"FLIC fits the intercept again; {way_out}")


def schedule_of(rate: Any) -> Any:
    """A number is a constant rate."""
    return LearningRate(rate) if isinstance(rate, float) else rate


@dataclass(frozen=True)
class Training:
    """Checked input."""

    problem: Problem
    settings: Settings
    targets: Targets
    columns: tuple[str, ...]
    class_weight: tuple[float, ...]
    read: Any
    """Number and names of the columns of X."""
    cost: Floats
    """The sample weights; empty: all one."""
    index: Any = None
    """The names of the rows, where X was a data frame."""
    features: Features | None = None
    """What the rows were mapped to, `columns` being the names of that."""
    prior: Prior | None = None
    """What the probabilities are corrected by."""

    @property
    def rows(self) -> Rows:
        """The training rows, in memory."""
        return self.problem.rows.gathered()

    def walk(self) -> StochasticSettings:
        """How a stochastic descent takes these rows."""
        settings, rows = self.settings, self.rows
        target, cost = online_targets(self.targets, rows.cost, rows.other)
        if target.ndim == 2:
            target = rows.y  # the class weights are in its shares
        return StochasticSettings(target, cost, schedule_of(settings.rate), settings.order, settings.averaging)


def online_targets(targets: Targets, cost: Floats, other: Floats) -> tuple[Any, Floats]:
    """Targets and costs of each row by itself: of two classes the probability of the second."""
    if len(targets.classes) > 2:
        return (targets.index if targets.index is not None else targets.probability), cost
    if targets.index is not None:
        return targets.index.astype(np.float64), cost
    total = cost + other
    return np.where(total > 0, cost, 0.0) / np.where(total > 0, total, 1.0), total


def prepare(model: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """The parameters and the training rows, checked; the model stays as it is."""
    settings = checked_settings(model)
    rows, targets, cost, class_weight, read, columns = training_data(model, X, y, sample_weight, model.class_weight)
    n_classes = len(targets.classes)
    loss = settings.loss(n_classes)
    if isinstance(settings.l2, CrossValidation):
        check_folds(settings.l2, targets, cost)
    features = None
    if model.features is not None:
        features = learn_features(model.features, rows, columns, hasattr(read, "feature_names_in_"), read, cost)
        rows, columns = mapped_rows(rows, features, read), features.names
    problem = Problem(
        rows_of(rows, targets, cost, class_weight, compiled=is_wide(rows) or math.prod(rows.shape) >= COMPILE_FROM),
        loss, ridge(settings.l2) if isinstance(settings.l2, float) else NoPenalty(), settings.fit_intercept,
        METHODS.get(settings.solver), start_of(model, rows.shape[1], n_classes), settings.tol, settings.max_passes,
        seed_for(model, settings), n_classes, settings.fixed_rate,
    )  # fmt: skip
    _check_width(problem, settings)
    prior = None if model.prior is None else prior_of(model.prior, targets, cost, class_weight)
    index = X.index if hasattr(X, "iloc") else None
    return Training(problem, settings, targets, columns, class_weight, read, cost, index, features, prior)


def start_of(model: Any, d: int, classes: int) -> Start:
    """Weights and intercept that the descent starts from, or how they are found."""
    shape = (classes, d) if classes > 2 else (1, d)
    if model.warm_start and hasattr(model, "coef_") and model.coef_.shape == shape:
        return _at(model.coef_.copy(), model.intercept_.copy())
    if model.init is None or isinstance(model.init, str):
        named = INITS[checked_choice("init", model.init, tuple(INITS))]
        return _at(np.zeros(shape), np.zeros(shape[0])) if named is None else named
    start = checked_numbers("init", model.init)
    if start.size not in (math.prod(shape), shape[0] * (d + bool(model.fit_intercept))):
        each = f" for each of the {classes} classes" if classes > 2 else ""
        raise SettingError(
            "init", model.init, f"{d} weights are needed{each}, then the intercept if there is one.",
            f"{setting('init')} has {start.size} numbers;",
        )  # fmt: skip
    start = start.reshape(shape[0], -1)
    return _at(start[:, :d], start[:, d] if start.shape[1] > d else np.zeros(shape[0]))


def _at(weights: Floats, intercept: Floats) -> At:
    return At(weights, intercept) if len(weights) > 1 else At(weights[0], float(intercept[0]))


def seed_for(model: Any, settings: Settings) -> int:
    """The seed of a fit; without a random_state 0, unless chance decides."""
    chance = settings.solver == "stochastic" and settings.order != "cyclic"
    chance = chance or (isinstance(model.init, str) and model.init == "random")
    return seed_of(model.random_state, needed=chance) if chance or model.random_state is not None else 0


def _check_width(problem: Problem, settings: Settings) -> None:
    """Newton's method, and most proofs, need a matrix of the columns."""
    penalised = settings.objective not in ("likelihood", "squared")
    if not (penalised or settings.solver in ("newton", "gauss-newton")) or not goes_wide(problem):
        return
    n, d = problem.rows.shape
    name, value = ("objective", settings.objective) if penalised else ("solver", settings.solver)
    other = f"{setting('objective', 'likelihood')} with {setting('l2')} > 0" if penalised else (
        f"{setting('solver', 'auto')} or 'lbfgs'"
    )  # fmt: skip
    raise SettingError(
        name, value, f"use {other}, or choose fewer columns.",
        f"{setting(name, value)} needs a {d} × {d} matrix, and X is sparse with {n} rows of {d} columns:",
    )  # fmt: skip
