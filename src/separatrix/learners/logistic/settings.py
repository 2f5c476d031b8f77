"""The parameters of logistic regression, checked one by one and in pairs."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import SettingError
from ...fitting.path import CrossValidation
from ...fitting.scan.online import LearningRate
from ...losses.margin import LogisticSquared, LogLikelihood, MarginLoss
from ...losses.softmax import ClassLoss, SoftmaxLikelihood, SoftmaxSquared
from ...wording import call, has, setting
from ..checks.settings import checked_choice, checked_count, checked_flags, checked_number

OBJECTIVES: dict[str, tuple[MarginLoss, ClassLoss]] = {
    "likelihood": (LogLikelihood(), SoftmaxLikelihood()),
    "squared": (LogisticSquared(), SoftmaxSquared()),
    "firth": (LogLikelihood(), SoftmaxLikelihood()),
    "flic": (LogLikelihood(), SoftmaxLikelihood()),
}
PENALISED = ("firth", "flic")
"""The likelihood with Firth's penalty; the same, its intercept fitted again without."""
SOLVERS = ("auto", "newton", "gauss-newton", "lbfgs", "gradient", "stochastic")
ORDERS = ("permutation", "replacement", "cyclic")


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
        return OBJECTIVES[self.objective][classes > 2]

    @property
    def fixed_rate(self) -> float | None:
        """η of gradient descent for the loss as it is: the notes drop the factor 2 of the squared error's slope."""
        if self.rate is None or self.solver == "stochastic":
            return None
        return float(self.rate) / (2 if self.objective == "squared" else 1)


def checked_settings(model: Any) -> Settings:
    """Every parameter by itself, then those that do not go together."""
    objective = checked_choice("objective", model.objective, tuple(OBJECTIVES))
    solver = checked_choice("solver", model.solver, SOLVERS)
    order = checked_choice("order", model.order, ORDERS)
    checked_flags(model, "fit_intercept", "averaging", "warm_start")
    if model.n_threads is not None:
        checked_count("n_threads", model.n_threads)
    starts = checked_count("starts", model.starts)
    settings = Settings(
        objective, solver, _penalty(model.l2), bool(model.fit_intercept),
        checked_number("tol", model.tol, least=0, strict=True),
        checked_number("max_passes", model.max_passes, least=0, strict=True),
        starts, _rate(model.learning_rate), order, bool(model.averaging),
    )  # fmt: skip
    _check_pairs(settings)
    _check_prior(model.prior)
    if solver == "stochastic" and getattr(model, "features", None) is not None:
        pipeline = "make_pipeline(Polynomial(2), LogisticRegression(solver='stochastic'))"
        before = f"Put them before it, {call(pipeline)}, or use" if has("make_pipeline") else "Use"
        raise SettingError(
            "solver", solver, f"{before} {setting('solver', 'auto')}.",
            f"{setting('solver', 'stochastic')} and {setting('features')} do not go together: features are made for "
            "blocks of rows, and it takes one row at a time.",
        )  # fmt: skip
    return settings


def _penalty(l2: Any) -> float | CrossValidation:
    if isinstance(l2, CrossValidation):
        return _checked_cross_validation(l2)
    if isinstance(l2, str):
        if l2 != "cv":
            plan = ", 'cv', or a CrossValidation(...)" if has("CrossValidation") else ", or cv"
            raise SettingError("l2", l2, f"it must be a number of at least 0{plan}.")
        return CrossValidation()
    return checked_number("l2", l2, least=0)


def _checked_cross_validation(plan: CrossValidation) -> CrossValidation:
    if checked_number("folds", plan.folds, least=2) % 1:
        raise SettingError("folds", plan.folds, "it must be a whole number.")
    checked_flags(plan, "one_standard_error")
    if plan.grid is None:
        return replace(plan, folds=int(plan.folds))
    if np.ndim(plan.grid) != 1 or not len(plan.grid):
        raise SettingError("grid", plan.grid, "give the values of l2 to choose from, such as (1.0, 0.1, 0.01).")
    grid = tuple(checked_number("a value of grid", value, least=0) for value in plan.grid)
    return replace(plan, grid=grid, folds=int(plan.folds))


def _check_prior(prior: Any) -> None:
    """None, "data", or a positive share for each class it names; which classes these must be, y tells."""
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


def _rate(rate: Any) -> Any:
    if rate is None or callable(rate):
        return rate
    if isinstance(rate, numbers.Real):
        return checked_number("learning_rate", rate, least=0, strict=True)
    schedule = ", or a schedule such as LearningRate(0.1, power=0.5)" if has("LearningRate") else ""
    raise SettingError("learning_rate", rate, f"it must be None, a number above 0{schedule}.")


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


def check_two_classes(settings: Settings, classes: int) -> None:
    """Firth's penalty is for two classes."""
    if settings.objective in PENALISED and classes > 2:
        reduction = call(f"OneVsRest(LogisticRegression(objective={settings.objective!r}))")
        raise SettingError(
            "objective", settings.objective, f"{reduction} does. "
            "(Only binary classification is supported. The type of the target is multiclass.)",
            f"{setting('objective', settings.objective)} and {classes} classes do not go together: the penalty need "
            "not keep weights finite with more than two classes;",
        )  # fmt: skip


def schedule_of(rate: Any) -> Any:
    """A number is a constant rate."""
    return LearningRate(rate) if isinstance(rate, float) else rate
