"""Populations by formula: Gaussian mixtures, and the logistic model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp
from ...results.linear_rule import LinearRule
from .estimate import Estimate, as_rows, exact
from .inputs import Gaussians, Inputs
from .population import Losses, Population


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
