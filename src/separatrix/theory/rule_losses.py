"""The loss of a rule's answer for each class that may be true: n×K tables, for any rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Refusal, SettingError, SettingTypeError
from ..losses.margin import MarginLoss
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp
from ..results.linear_rule import LinearRule
from .populations.checks import checked_posterior

Classes = tuple[Any, ...]
ROUNDED = 1e-5
"""How far a rule's probabilities may be from adding up to one: single precision is allowed."""


class RuleLoss(ABC):
    """A loss of what a rule answers at x, for each class that may be the truth."""

    @abstractmethod
    def table(self, rule: Any, X: Floats, classes: Classes) -> Floats:
        """ℓₖ(x), n×K."""


class Mistakes(RuleLoss):
    """ℓₖ = 1[ŷ ≠ k]."""

    def table(self, rule: Any, X: Floats, classes: Classes) -> Floats:
        return np.asarray(chosen(rule, X, classes)[:, None] != np.arange(len(classes)), dtype=np.float64)


class SquaredError(RuleLoss):
    """(y − p)² with y ∈ {0, 1}; of K > 2 classes ‖y − p‖², which for two would be twice as much.  [000 §8.1.5]"""

    def table(self, rule: Any, X: Floats, classes: Classes) -> Floats:
        P = probabilities(rule, X, classes)
        if len(classes) == 2:
            return P[:, ::-1] ** 2
        return np.asarray(1 - 2 * P + (P * P).sum(axis=1)[:, None])


class CrossEntropy(RuleLoss):
    """−log pₖ, in nats.  [000 §8.1.5]"""

    def table(self, rule: Any, X: Floats, classes: Classes) -> Floats:
        return -log_probabilities(rule, X, classes)


@dataclass(frozen=True)
class OfMargin(RuleLoss):
    """φ(m), m = ±score: of two classes."""

    loss: MarginLoss

    def table(self, rule: Any, X: Floats, classes: Classes) -> Floats:
        z = scores(rule, X, classes)
        return np.column_stack([self.loss.value(-z), self.loss.value(z)])


RULE_LOSSES: dict[str, RuleLoss] = {"0-1": Mistakes(), "squared": SquaredError(), "log": CrossEntropy()}
"""The losses that a risk can be asked for by name."""


def as_rule_loss(loss: Any) -> RuleLoss:
    """A loss by name, or a margin loss."""
    if isinstance(loss, MarginLoss):
        return OfMargin(loss)
    if loss not in RULE_LOSSES:
        raise SettingError(
            "loss", loss, f"give one of {', '.join(map(repr, RULE_LOSSES))}, or one of separatrix.losses."
        )
    return RULE_LOSSES[loss]


def of_its_scores(rule: LinearRule) -> LinearRule:
    """The rule that answers at z = Wx + c as `rule` does at x."""
    if rule.weights.ndim == 1:
        return LinearRule(np.ones(1), 0.0, rule.classes, probabilistic=rule.probabilistic)
    k = len(rule.weights)
    return LinearRule(np.eye(k), np.zeros(k), rule.classes, probabilistic=rule.probabilistic)


def chosen(rule: Any, X: Floats, classes: Classes) -> NDArray[np.intp]:
    """The place in `classes` of what the rule predicts: by classify, predict, or as a function."""
    if isinstance(rule, LinearRule):
        answer = rule.classify(X)
    else:
        answer = rule.predict(X) if hasattr(rule, "predict") else _called(rule, X)
    labels = np.asarray(answer)
    if labels.shape != (len(X),):
        raise DataError(f"The rule gave an array of shape {labels.shape} for {len(X)} rows; give one class a row.")
    names, which = np.unique(labels, return_inverse=True)
    return places(names.tolist(), classes)[which]


def probabilities(rule: Any, X: Floats, classes: Classes) -> Floats:
    """The rule's P(k | x), n×K in the order of `classes`: by probability, predict_proba, or as a function."""
    names: Any = classes
    if isinstance(rule, LinearRule):
        given, names = rule.probability(X), rule.classes
    elif hasattr(rule, "predict_proba"):
        given, names = rule.predict_proba(X), getattr(rule, "classes_", classes)
    elif hasattr(rule, "predict"):
        raise Refusal(f"{type(rule).__name__} has no predict_proba; of such a rule only the 0-1 risk is known.")
    else:
        given = _called(rule, X)
    return in_order(checked_posterior(given, len(X), "The rule's probability", ROUNDED), list(names), classes, 0.0)


def log_probabilities(rule: Any, X: Floats, classes: Classes) -> Floats:
    """log P(k | x) as the rule has it; by scores or predict_log_proba finite where P(k | x) rounds to zero."""
    if isinstance(rule, LinearRule) and rule.probabilistic:
        z = rule.score(X)
        z = np.column_stack([np.zeros(len(z)), z]) if z.ndim == 1 else z
        return in_order(z - log_sum_exp(z, axis=1)[:, None], list(rule.classes), classes, -np.inf)
    if hasattr(rule, "predict_log_proba"):
        names = list(getattr(rule, "classes_", classes))
        return in_order(np.asarray(rule.predict_log_proba(X), dtype=np.float64), names, classes, -np.inf)
    with np.errstate(divide="ignore"):
        return np.log(probabilities(rule, X, classes))


def in_order(given: Floats, names: list[Any], classes: Classes, absent: float) -> Floats:
    """The columns in the order of `classes`; a class of which the rule does not know gets `absent`."""
    columns = places(names, classes)
    if given.shape[1] != len(columns):
        raise DataError(f"The rule gives probabilities of {given.shape[1]} classes, and names {len(columns)}: {names}.")
    full = np.full((len(given), len(classes)), absent)
    full[:, columns] = given
    return full


def scores(rule: Any, X: Floats, classes: Classes) -> Floats:
    """The rule's score of the second of two classes: by score, decision_function, or as a function."""
    names: Any = classes
    if isinstance(rule, LinearRule):
        given, names = rule.score(X), rule.classes
    elif hasattr(rule, "decision_function"):
        given, names = rule.decision_function(X), getattr(rule, "classes_", classes)
    else:
        given = _called(rule, X)
    z = np.asarray(given, dtype=np.float64)
    if z.shape != (len(X),) or len(classes) != 2:
        raise Refusal(f"A margin loss is of two classes and one score a row; the rule's have shape {z.shape}.")
    order = places(list(names), classes).tolist()
    return z if order == [0, 1] else -z


def places(names: list[Any], classes: Classes) -> NDArray[np.intp]:
    """The places of the names in `classes`."""
    for name in names:
        if name not in classes:
            raise DataError(f"The rule speaks of class {name!r}; the classes are {list(classes)}.", value=name)
    return np.array([classes.index(name) for name in names], dtype=np.intp)


def _called(rule: Any, X: Floats) -> Any:
    if not callable(rule):
        raise SettingTypeError("rule", rule, "give a LinearRule, a fitted estimator, or a function of rows.")
    return rule(X)
