"""The parameters of logistic regression, checked one by one and in pairs."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...fitting.path import CrossValidation
from ...fitting.scan.online import LearningRate
from ...losses.margin import LogisticSquared, LogLikelihood, MarginLoss
from ...losses.softmax import ClassLoss, SoftmaxLikelihood, SoftmaxSquared
from ..checks.settings import checked_choice, checked_number

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
    for name in ("fit_intercept", "averaging", "warm_start"):
        if not isinstance(getattr(model, name), bool | np.bool_):
            raise ValueError(f"{name} is {getattr(model, name)!r}; it must be True or False.")
    for name in ("n_threads", "starts"):
        value = getattr(model, name)
        if (name == "starts" or value is not None) and checked_number(name, value, least=1) % 1:
            raise ValueError(f"{name} is {value!r}; it must be a whole number.")
    settings = Settings(
        objective, solver, _penalty(model.l2), bool(model.fit_intercept),
        checked_number("tol", model.tol, least=0, strict=True),
        checked_number("max_passes", model.max_passes, least=0, strict=True),
        int(model.starts), _rate(model.learning_rate), order, bool(model.averaging),
    )  # fmt: skip
    _check_pairs(settings)
    _check_prior(model.prior)
    if solver == "stochastic" and getattr(model, "features", None) is not None:
        raise ValueError(
            "solver='stochastic' and features do not go together: features are made for blocks of rows, and it takes "
            "one row at a time. Put them before it, make_pipeline(Polynomial(2), LogisticRegression("
            "solver='stochastic')), or use solver='auto'."
        )
    return settings


def _penalty(l2: Any) -> float | CrossValidation:
    if isinstance(l2, CrossValidation):
        return _checked_cross_validation(l2)
    if isinstance(l2, str):
        if l2 != "cv":
            raise ValueError(f"l2 is {l2!r}; it must be a number of at least 0, 'cv', or a CrossValidation(...).")
        return CrossValidation()
    return checked_number("l2", l2, least=0)


def _checked_cross_validation(plan: CrossValidation) -> CrossValidation:
    if checked_number("folds", plan.folds, least=2) % 1:
        raise ValueError(f"folds is {plan.folds!r}; it must be a whole number.")
    if not isinstance(plan.one_standard_error, bool | np.bool_):
        raise ValueError(f"one_standard_error is {plan.one_standard_error!r}; it must be True or False.")
    if plan.grid is None:
        return replace(plan, folds=int(plan.folds))
    if np.ndim(plan.grid) != 1 or not len(plan.grid):
        what = "empty" if np.ndim(plan.grid) == 1 else repr(plan.grid)
        raise ValueError(f"grid is {what}; give the values of l2 to choose from, such as (1.0, 0.1, 0.01).")
    grid = tuple(checked_number("a value of grid", value, least=0) for value in plan.grid)
    return replace(plan, grid=grid, folds=int(plan.folds))


def _check_prior(prior: Any) -> None:
    """None, "data", or a positive share for each class it names; which classes these must be, y tells."""
    if prior is None or (isinstance(prior, str) and prior == "data"):
        return
    if not isinstance(prior, Mapping):
        raise ValueError(
            f"prior is {prior!r}; it must be None (probabilities for the classes as they were weighed), 'data' (for "
            "the classes as they are in the rows) or a dict {class: share}."
        )
    for label, share in prior.items():
        if not (isinstance(share, numbers.Real) and 0 < float(share) < np.inf):
            raise ValueError(
                f"prior[{label!r}] is {share!r}; a class has a positive share: leave the rows of a class of none out."
            )


def _rate(rate: Any) -> Any:
    if rate is None or callable(rate):
        return rate
    if isinstance(rate, numbers.Real):
        return checked_number("learning_rate", rate, least=0, strict=True)
    raise ValueError(
        f"learning_rate is {rate!r}; it must be None, a number above 0, or a schedule such as "
        "LearningRate(0.1, power=0.5)."
    )


def _check_pairs(settings: Settings) -> None:
    solver, stochastic = settings.solver, settings.solver == "stochastic"

    def clash(one: str, other: str, way_out: str) -> None:
        raise ValueError(f"{one} and {other} do not go together: {way_out}")

    here = f"solver={solver!r}"
    if settings.objective in PENALISED:
        _check_penalised(settings, clash)
    if solver == "gauss-newton" and settings.objective != "squared":
        clash(here, f"objective={settings.objective!r}",
              "Gauss–Newton is for sums of squares; use solver='newton', or objective='squared'.")  # fmt: skip
    if settings.rate is not None and solver not in ("gradient", "stochastic"):
        clash(here, f"learning_rate={settings.rate!r}",
              "its steps come from line search; use solver='gradient' or 'stochastic', or None.")  # fmt: skip
    if solver == "gradient" and callable(settings.rate):
        clash(here, f"learning_rate={settings.rate!r}",
              "a schedule is for solver='stochastic'; give a number, or None for line search.")  # fmt: skip
    if settings.averaging and not stochastic:
        clash(here, "averaging=True", "weights are averaged over the steps of solver='stochastic' only.")
    if settings.order != "permutation" and not stochastic:
        clash(here, f"order={settings.order!r}", "only solver='stochastic' takes the rows in an order.")
    if isinstance(settings.l2, CrossValidation) and stochastic:
        clash(here, "l2='cv'", "choose l2 with solver='auto', then set it.")


def _check_penalised(settings: Settings, clash: Callable[[str, str, str], None]) -> None:
    """Firth's penalty is the only one, and its maximum is found by Newton's method."""
    objective = f"objective={settings.objective!r}"
    if isinstance(settings.l2, CrossValidation):
        clash(objective, "l2='cv'", "its penalty has no strength to choose; use l2=0, or objective='likelihood'.")
    elif settings.l2:
        clash(objective, f"l2={settings.l2:g}", "it has a penalty of its own; use l2=0, or objective='likelihood'.")
    if settings.solver not in ("auto", "newton"):
        clash(objective, f"solver={settings.solver!r}",
              "its maximum is found by Newton's method; use solver='auto' or 'newton'.")  # fmt: skip
    if settings.objective == "flic" and not settings.fit_intercept:
        clash(objective, "fit_intercept=False",
              "FLIC fits the intercept again; use objective='firth', or fit_intercept=True.")  # fmt: skip


def check_two_classes(settings: Settings, classes: int) -> None:
    """Firth's penalty is for two classes."""
    if settings.objective in PENALISED and classes > 2:
        raise ValueError(
            f"objective={settings.objective!r} and {classes} classes do not go together: the penalty need not keep "
            "weights finite with more than two classes; "
            f"OneVsRest(LogisticRegression(objective={settings.objective!r})) does. "
            "(Only binary classification is supported. The type of the target is multiclass.)"
        )


def schedule_of(rate: Any) -> Any:
    """A number is a constant rate."""
    return LearningRate(rate) if isinstance(rate, float) else rate
