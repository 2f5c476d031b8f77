"""How good can any rule be? The best there is, where η(x) is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ..errors import Refusal, SettingError, SettingTypeError
from ..losses.margin import MarginLoss
from ..numerics.arrays import Floats
from ..results.linear_rule import LinearRule
from .populations.best_linear import BestLinear, best_linear
from .populations.checks import checked_posterior
from .populations.estimate import Estimate
from .populations.population import Population, known_at
from .rule_losses import Mistakes, as_rule_loss, of_its_scores, places


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
