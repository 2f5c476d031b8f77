"""How good can any rule be? The best there is, where η(x) is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ..errors import DataError, Refusal, SettingError, SettingTypeError
from ..losses.margin import MarginLoss
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp
from ..results.linear_rule import LinearRule
from .populations.best_linear import BestLinear, best_linear
from .populations.estimate import Estimate, checked_posterior
from .populations.population import Population, known_at

# The loss of a rule's answer for each class that may be true: n×K tables, for any rule.

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


class Floors(NamedTuple):
    """The least risk of any rule: of the 0-1 loss, of the squared error and of the negative log-likelihood (nats)."""

    zero_one: Estimate
    squared: Estimate
    log: Estimate


class Excess(NamedTuple):
    """err − err* = (err − best linear) + (best linear − err*), err* being that of Bayes' rule.  [001 slide 11]"""

    error: Estimate
    over_bayes: Estimate
    over_linear: Estimate
    of_linear: Estimate
    """The excess of the best linear rule over Bayes' rule."""
    best: BestLinear


class BayesClassifier:
    """f*(x) = 1[η(x) > ½] = 1[log(η/(1 − η)) > 0]; of K classes argmaxₖ P(k | x).  [001 slide 2]

    Nothing is fitted: η is given, as a `Population` or as a function of rows, P(1 | x) for each or P(k | x) as n×K.
    Risks are expectations over x. A population knows how x is spread; beside a function give `inputs`, a distribution
    of `separatrix.populations` or rows that stand for one.

    >>> from separatrix.populations import GaussianMixture
    >>> bayes = BayesClassifier(GaussianMixture([[-1.0], [1.0]]))
    >>> bayes.predict([[-0.1], [0.0], [0.1]]).tolist()
    [0, 0, 1]
    >>> bayes.error()
    0.1586552539 ± 1.4e-16 (normal distribution function)
    """

    def __init__(
        self,
        eta: Population | Callable[[Any], Any],
        *,
        inputs: Any = None,
        classes: Sequence[Any] | None = None,
        random_state: int = 0,
    ) -> None:
        if not (isinstance(eta, Population) or callable(eta)):
            raise SettingTypeError("eta", eta, "give a population, or a function of rows.")
        self.eta = eta
        self.inputs = inputs
        self.random_state = random_state
        self.classes = None if classes is None else tuple(classes)

    def predict_proba(self, X: Any) -> Floats:
        """P(k | x), n×K."""
        if isinstance(self.eta, Population):
            return self.eta.posterior(X)
        return checked_posterior(self.eta(X), len(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(k | x), n×K."""
        if isinstance(self.eta, Population):
            return self.eta.log_posterior(X)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """log η(x)/(1 − η(x)), ±∞ where y is certain; of K classes log P(k | x), n×K.  [001 slide 2]"""
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, the first of equals."""
        z = self.decision_function(X)
        chosen = (z > 0).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)
        names = np.asarray(self._names(2 if z.ndim == 1 else z.shape[1]))
        return np.asarray(names[chosen])

    def error(self, inputs: Any = None) -> Estimate:
        """E[min(η, 1 − η)], of K classes E[1 − maxₖ P(k | x)]: no rule errs less often."""
        population = self._population(inputs)
        rule = population.bayes_rule()
        closed = None if rule is None else _closed(population, rule)
        if closed is not None:
            return closed
        return population.mean_of_posterior(lambda P: 1 - P.max(axis=1), self.random_state)

    def squared_floor(self, inputs: Any = None) -> Estimate:
        """E[η(1 − η)] = E[Var(Y | x)], of K > 2 classes E[1 − Σₖ P(k | x)²].  [000 §8.1.5]"""
        return self._population(inputs).mean_of_posterior(_variance, self.random_state)

    def log_floor(self, inputs: Any = None) -> Estimate:
        """E[H(Y | x)] = −E[Σₖ P(k | x) log P(k | x)], in nats.  [000 §8.1.5]"""
        return self._population(inputs).mean_of_posterior(lambda P: -xlogy(P, P).sum(axis=1), self.random_state)

    def floors(self, inputs: Any = None) -> Floors:
        """E[min(η, 1 − η)], E[η(1 − η)], E[H(Y | x)]: the least risks, reached at s(x) = η(x).  [000 §8.1.5]"""
        return Floors(self.error(inputs), self.squared_floor(inputs), self.log_floor(inputs))

    def risk(self, rule: Any, inputs: Any = None, *, loss: str | MarginLoss = "0-1") -> Estimate:
        """E[Σₖ P(k | x) ℓₖ(x)]: the true risk of any rule.  [000 §8.1.5]

        A rule is a LinearRule, a fitted estimator or a function of rows. It is asked for classes by the 0-1 loss, for
        probabilities by "squared", (y − p)², and "log", −log p, and for a score by a margin loss.
        """
        population, kind = self._population(inputs), as_rule_loss(loss)
        classes = self._names(population.n_classes)
        if not isinstance(rule, LinearRule):
            return population.mean_loss(lambda X: kind.table(rule, X, classes), self.random_state)
        if rule.features:
            raise Refusal(
                f"The rule is linear in {rule.features}, not in x, and does not make these features itself: give the "
                "fitted learner, whose predict does."
            )
        if isinstance(kind, Mistakes):
            places(list(rule.classes), classes)
            closed = _closed(population, rule, classes)
            if closed is not None:
                return closed
        at_scores = of_its_scores(rule)
        return population.mean_loss_of_scores(rule, lambda Z: kind.table(at_scores, Z, classes), self.random_state)

    def best_linear(self, inputs: Any = None) -> BestLinear:
        """argmin of the true error over linear rules: proved, or the best found.  [001 slide 11]"""
        population = self._population(inputs)
        found = best_linear(population, self.random_state)
        names = self._names(population.n_classes)
        renamed = LinearRule(found.rule.weights, found.rule.intercept, names, probabilistic=found.rule.probabilistic)
        return found._replace(rule=renamed)

    def excess(self, rule: Any, inputs: Any = None) -> Excess:
        """err(f) − min err(linear), and what linear rules lose to Bayes' rule.  [001 slide 11]"""
        error, bayes = self.risk(rule, inputs), self.error(inputs)
        best = self.best_linear(inputs)
        if isinstance(rule, LinearRule) and error < best.error:
            best = BestLinear(rule, error, best.proved)
        return Excess(error, error.minus(bayes), error.minus(best.error), best.error.minus(bayes), best)

    def _population(self, inputs: Any) -> Population:
        given = self.inputs if inputs is None else inputs
        if given is None and isinstance(self.eta, Population):
            return self.eta
        if given is None:
            raise SettingError(
                "inputs",
                None,
                "give rows X, or a distribution of separatrix.populations, as inputs.",
                "A risk is a mean over x, and eta alone does not say how x is spread:",
            )
        if isinstance(given, Population):
            given = given.inputs
        return known_at(given, self.predict_proba)

    def _names(self, k: int) -> tuple[Any, ...]:
        names = tuple(range(k)) if self.classes is None else self.classes
        if len(names) != k:
            raise SettingError(
                "classes", self.classes, f"{list(names)}.", f"eta is of {k} classes, and {len(names)} are named:"
            )
        return names

    def __repr__(self) -> str:
        return f"BayesClassifier({self.eta!r})"


def _variance(P: Floats) -> Floats:
    return np.asarray(P[:, 0] * P[:, 1] if P.shape[1] == 2 else 1 - (P * P).sum(axis=1))


def _closed(population: Population, rule: LinearRule, classes: tuple[Any, ...] = (0, 1)) -> Estimate | None:
    """The error of one row of weights by a formula, if the population has one."""
    if rule.weights.ndim != 1 or population.n_classes != 2:
        return None
    error = population.error_of(rule.weights, float(rule.intercept))
    if error is None or rule.classes == classes:
        return error
    return Estimate(1 - error, error.error + 2**-52, error.how)
