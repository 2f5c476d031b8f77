"""A population: a distribution of x, and the probability of each class at every x; by points or by formula."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, softmax

from ...errors import DataError, Refusal, SettingError
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp
from ...results.linear_rule import LinearRule
from .estimate import Estimate, as_rows, checked_posterior, exact
from .inputs import Gaussians, Inputs, Points, Rows

Losses = Callable[[Floats], Floats]


class Population(ABC):
    """A distribution of (x, y): `inputs` says how x is spread, `posterior` which classes it may have."""

    inputs: Inputs

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """K."""

    @abstractmethod
    def posterior(self, X: Any) -> Floats:
        """P(k | x), n×K."""

    def eta(self, X: Any) -> Floats:
        """η(x) = P(Y = 1 | x), of two classes.  [001 slide 2]"""
        if self.n_classes != 2:
            raise Refusal(f"There are {self.n_classes} classes, and η is of two; use posterior(X).")
        return self.posterior(X)[:, 1]

    def log_posterior(self, X: Any) -> Floats:
        """log P(k | x), n×K, −∞ where a class cannot be."""
        with np.errstate(divide="ignore"):
            return np.log(self.posterior(X))

    @property
    def n_features(self) -> int:
        """The number of columns of x."""
        return self.inputs.n_features

    def bayes_rule(self) -> LinearRule | None:
        """The rule with P(k | x) = softmax(Wx + c), where Bayes' rule is linear and known to be; else None."""
        return None

    def sample(self, n: int, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
        """n independent rows and their classes 0 to K − 1; the same bytes for the same seed."""
        rng = np.random.default_rng(random_state)
        X = self.inputs.draw(n, rng)
        below = np.cumsum(self.posterior(X), axis=1)[:, :-1]
        return X, (rng.random((n, 1)) >= below).sum(axis=1)

    def expectation(self, f: Callable[[Floats], Any], random_state: int = 0) -> Estimate:
        """E[f(x)]; f takes rows and gives a number for each."""
        return self.inputs.mean(f, random_state)

    def mean_of_posterior(self, f: Losses, random_state: int = 0) -> Estimate:
        """E[f(P(· | x))]; where P(k | x) depends on x by scores Wx + c, over the scores alone.

        A Gaussian x has Gaussian scores, so that two classes take one dimension however many columns there are.
        """
        scores = self._scores()
        image = None if scores is None else self.inputs.image(*scores)
        if image is None:
            return self.inputs.mean(lambda X: f(self.posterior(X)), random_state)
        return image.mean(lambda Z: f(_from_scores(Z)), random_state)

    def mean_loss(self, losses: Losses, random_state: int = 0) -> Estimate:
        """E[Σₖ P(k | x) ℓₖ(x)], ℓ an n×K table of what each class would cost."""
        return self.inputs.mean(lambda X: expected(self.posterior(X), losses(X)), random_state)

    def mean_loss_of_scores(self, rule: LinearRule, losses: Losses, random_state: int = 0) -> Estimate:
        """E[Σₖ P(k | x) ℓₖ(z)], z the scores of a linear rule: over the scores alone, where that can be."""
        own, W, c = self._scores(), np.atleast_2d(rule.weights), np.atleast_1d(rule.intercept)
        image = None if own is None else self.inputs.image(np.vstack([W, own[0]]), np.concatenate([c, own[1]]))
        if image is None:
            return self.mean_loss(lambda X: losses(X @ W.T + c), random_state)
        k = len(W)
        return image.mean(lambda Z: expected(_from_scores(Z[:, k:]), losses(Z[:, :k])), random_state)

    def error_of(self, weights: Floats, intercept: float) -> Estimate | None:
        """P(1[xᵀw + b > 0] ≠ y) in closed form, of two classes; None where there is none."""
        return None

    def _scores(self) -> tuple[Floats, Floats] | None:
        rule = self.bayes_rule()
        if rule is None:
            return None
        if rule.weights.ndim == 1:
            return rule.weights[None, :], np.array([rule.intercept])
        first = rule.to_reference(rule.classes[0])
        return first.weights[1:], np.asarray(first.intercept)[1:]


@dataclass(frozen=True, eq=False)
class Known(Population):
    """Any inputs with any η: a function of rows that gives P(1 | x), or P(k | x) as n×K."""

    inputs: Inputs
    probability: Callable[[Any], Any]

    @property
    def n_classes(self) -> int:
        one_row = self.inputs.draw(1, np.random.default_rng(0))
        return int(self.posterior(one_row).shape[1])

    def posterior(self, X: Any) -> Floats:
        return checked_posterior(self.probability(X), len(X))


@dataclass(frozen=True, eq=False)
class Discrete(Population):
    """x = xᵢ with probability massᵢ, and then P(Y = 1) = ηᵢ: all is a sum, nothing is estimated.

    >>> coin = Discrete([[0.0], [1.0]], [0.75, 0.25], [0.2, 1.0])
    >>> coin.expectation(lambda X: coin.eta(X) * (1 - coin.eta(X)))
    0.12 ± 1.1e-16 (sum over 2 points)
    """

    points: Any
    masses: Any
    probabilities: Any

    def __post_init__(self) -> None:
        spread = Points(self.points, self.masses)
        probabilities = checked_posterior(self.probabilities, len(spread.points))
        object.__setattr__(self, "inputs", spread)
        object.__setattr__(self, "points", spread.points)
        object.__setattr__(self, "masses", spread.masses)
        object.__setattr__(self, "probabilities", probabilities)
        distinct = np.unique(spread.points, axis=0)
        if len(distinct) < len(spread.points):
            raise DataError("A point is given twice; add up its masses, or use Discrete.of_rows(X, y).")

    @classmethod
    def of_rows(cls, X: Any, y: Any, n_classes: int = 2) -> Discrete:
        """The population whose sample is X and y itself: mass 1/n a row, η the part of its copies in class 1."""
        rows = as_rows(X, "X")
        points, which = np.unique(rows, axis=0, return_inverse=True)
        counts = np.zeros((len(points), n_classes))
        np.add.at(counts, (which.ravel(), np.asarray(y, dtype=np.intp)), 1.0)
        total = counts.sum(axis=1)
        return cls(points, total / len(rows), counts / total[:, None])

    @property
    def n_classes(self) -> int:
        return int(self.probabilities.shape[1])

    def posterior(self, X: Any) -> Floats:
        """P(k | x), of points that can occur."""
        X = as_rows(X, "X")
        if X is self.points:
            return np.asarray(self.probabilities)
        place = {point.tobytes(): i for i, point in enumerate(self.points + 0.0)}
        found = [place.get(row.tobytes(), -1) for row in X + 0.0]  # + 0.0: −0.0 is 0.0
        if -1 in found:
            row = found.index(-1)
            raise DataError(
                f"is {X[row].tolist()} in row {row}, which is no point of this population: it has no η.", array="X"
            )
        return np.asarray(self.probabilities[found])

    def mean_of_posterior(self, f: Losses, random_state: int = 0) -> Estimate:
        return exact(self.masses * f(self.probabilities), f"sum over {len(self.points)} points")


@dataclass(frozen=True, eq=False)
class GaussianMixture(Population):
    """P(k | x) = Σ πᵢ N(x; μᵢ, Σᵢ) over the components of class k, divided by the sum over all.  [003 slide 8]

    `priors` are the masses of the components, `labels` their classes: without labels each is a class of its own.

    >>> two = GaussianMixture([[-1.0], [1.0]])
    >>> two.eta([[0.0], [3.0]]).round(4).tolist()
    [0.5, 0.9975]
    >>> two.error_of([1.0], 0.0)
    0.1586552539 ± 1.4e-16 (normal distribution function)
    """

    means: Any
    covariances: Any = 1.0
    priors: Any = None
    labels: Any = None

    def __post_init__(self) -> None:
        inputs = Gaussians(self.means, self.covariances, self.priors)
        labels = np.arange(len(inputs.means)) if self.labels is None else np.asarray(self.labels)
        wanted = np.arange(max(2, int(labels.max(initial=0)) + 1))
        if labels.shape != (len(inputs.means),) or not np.array_equal(np.unique(labels), wanted):
            raise DataError(
                f"are {labels.tolist()}; give one of 0, 1, …, K − 1 for each of {len(inputs.means)} components, "
                "K ≥ 2 and every class at least once.",
                array="labels",
            )
        for i, covariance in enumerate(inputs.covariances):
            eigenvalues = np.linalg.eigvalsh(covariance)
            if eigenvalues[0] <= 1e-14 * eigenvalues[-1]:
                raise DataError(f"Covariance {i} is singular: component {i} has no density. Give it some width.")
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "means", inputs.means)
        object.__setattr__(self, "covariances", inputs.covariances)
        object.__setattr__(self, "priors", inputs.masses)
        object.__setattr__(self, "labels", labels.astype(np.intp))

    @property
    def n_classes(self) -> int:
        return int(self.labels.max()) + 1

    def posterior(self, X: Any) -> Floats:
        """P(k | x) = p(x | k) P(k)/p(x).  [003 slide 8]"""
        return np.asarray(np.exp(self.log_posterior(X)))

    def log_posterior(self, X: Any) -> Floats:
        parts = self._log_parts(as_rows(X, "X"))
        joint = np.column_stack([log_sum_exp(parts[:, self.labels == k], axis=1) for k in range(self.n_classes)])
        return np.asarray(joint - log_sum_exp(joint, axis=1)[:, None])

    def bayes_rule(self) -> LinearRule | None:
        """wₖ = Σ⁻¹μₖ, bₖ = log πₖ − ½μₖᵀΣ⁻¹μₖ, where every class is one Gaussian and all share Σ."""
        one_each = len(self.labels) == self.n_classes and (self.priors > 0).all()
        if not one_each or not (self.covariances == self.covariances[0]).all():
            return None
        order = np.argsort(self.labels)
        means = self.means[order]
        W = np.linalg.solve(self.covariances[0], means.T).T
        c = np.log(self.priors[order]) - 0.5 * (W * means).sum(axis=1)
        if self.n_classes > 2:
            return LinearRule(W, c, tuple(range(len(W))), probabilistic=True)
        return LinearRule(W[1] - W[0], float(c[1] - c[0]), probabilistic=True)

    def mean_loss_of_scores(self, rule: LinearRule, losses: Losses, random_state: int = 0) -> Estimate:
        """Σᵢ πᵢ E[ℓ_k(i)(z)], z ~ N(Wμᵢ + c, WΣᵢWᵀ): one dimension for two classes, whatever the columns."""
        W, c = np.atleast_2d(rule.weights), np.atleast_1d(rule.intercept)
        image = self.inputs.image(W, c)
        assert isinstance(image, Gaussians)
        parts = [
            image.mean_of_component(i, lambda Z, k=k: losses(Z)[:, k], random_state)  # type: ignore[misc]
            for i, k in enumerate(self.labels)
        ]
        error = float(np.dot(self.priors, [part.error for part in parts]))
        hows = list(dict.fromkeys(part.how for part in parts))
        return Estimate(float(np.dot(self.priors, [float(part) for part in parts])), error, "; ".join(hows))

    def error_of(self, weights: Any, intercept: float) -> Estimate:
        """Σᵢ πᵢ Φ(±(wᵀμᵢ + b)/√(wᵀΣᵢw)), + for the components of class 0."""
        w = np.asarray(weights, dtype=np.float64)
        if not w.any():
            return exact(self.priors * ((self.labels == 1) != (intercept > 0)), "normal distribution function")
        deviations = np.sqrt(np.einsum("i,nij,j->n", w, self.covariances, w))
        towards_error = np.where(self.labels == 1, -1.0, 1.0)
        wrong = ndtr(towards_error * (self.means @ w + intercept) / deviations)
        return exact(self.priors * wrong, "normal distribution function")

    def _log_parts(self, X: Floats) -> Floats:
        """log πᵢ + log N(x; μᵢ, Σᵢ), n×components, but for a constant."""
        parts = np.empty((len(X), len(self.means)))
        with np.errstate(divide="ignore"):
            logs = np.log(self.priors)
        for i, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            root = np.linalg.cholesky(covariance)
            z = np.linalg.solve(root, (X - mean).T)
            parts[:, i] = logs[i] - np.log(np.diag(root)).sum() - 0.5 * (z * z).sum(axis=0)
        return parts


@dataclass(frozen=True, eq=False)
class LogisticModel(Population):
    """P(Y = 1 | x) = σ(xᵀw + b) over any inputs; of K classes the softmax of Wx + c.  [001 slide 3]

    >>> model = LogisticModel([2.0], -1.0, Gaussians([[0.0]]))
    >>> model.eta([[0.5]]).tolist()
    [0.5]
    """

    weights: Any
    intercept: Any
    inputs: Inputs

    def __post_init__(self) -> None:
        rule = LinearRule(self.weights, self.intercept, probabilistic=True)
        if rule.weights.shape[-1] != self.inputs.n_features:
            raise SettingError(
                "weights",
                self.weights,
                f"the inputs have {self.inputs.n_features} columns.",
                f"There are {rule.weights.shape[-1]} weights;",
            )
        object.__setattr__(self, "weights", rule.weights)
        object.__setattr__(self, "intercept", rule.intercept)

    @property
    def n_classes(self) -> int:
        return 2 if self.weights.ndim == 1 else len(self.weights)

    def posterior(self, X: Any) -> Floats:
        return np.asarray(np.exp(self.log_posterior(X)))

    def log_posterior(self, X: Any) -> Floats:
        z = self.bayes_rule().score(as_rows(X, "X"))
        z = np.column_stack([np.zeros(len(z)), z]) if z.ndim == 1 else z
        return np.asarray(z - log_sum_exp(z, axis=1)[:, None])

    def bayes_rule(self) -> LinearRule:
        return LinearRule(self.weights, self.intercept, probabilistic=True)


def known_at(inputs: Any, probability: Callable[[Any], Any]) -> Known:
    """The population of η over inputs, or over rows that stand for them."""
    return Known(inputs if isinstance(inputs, Inputs) else Rows(inputs), probability)


def expected(posterior: Floats, losses: Floats) -> Floats:
    """Σₖ P(k | x) ℓₖ(x), where 0·∞ = 0: what cannot happen costs nothing."""
    return np.asarray((posterior * np.where(posterior > 0, losses, 0.0)).sum(axis=1))


def _from_scores(Z: Floats) -> Floats:
    """Softmax of (0, z₁, …): the first class has no weights."""
    return np.asarray(softmax(np.column_stack([np.zeros(len(Z)), Z]), axis=1))
