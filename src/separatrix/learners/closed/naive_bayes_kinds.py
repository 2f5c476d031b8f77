"""Naive Bayes with one family for all columns."""

from __future__ import annotations

from typing import Any

from .naive_bayes import NaiveBayes


class BernoulliNaiveBayes(NaiveBayes):
    """wⱼ = log(pⱼ₁(1 − pⱼ₀)/((1 − pⱼ₁)pⱼ₀)), b = log(p₁/p₀) + Σⱼ log((1 − pⱼ₁)/(1 − pⱼ₀)), x ∈ {0, 1}.  [000 §8.3.1]"""

    families = "bernoulli"

    def __init__(self, *, smoothing: float = 1.0, priors: Any = None, threshold: float | None = None) -> None:
        self.smoothing, self.priors, self.threshold = smoothing, priors, threshold


class PoissonNaiveBayes(NaiveBayes):
    """wⱼ = log(λⱼ₁/λⱼ₀), b = log(p(1)/p(0)) + Σⱼ (λⱼ₀ − λⱼ₁), x a count.  [000 §8.3.2]"""

    families = "poisson"

    def __init__(self, *, smoothing: float = 1.0, priors: Any = None) -> None:
        self.smoothing, self.priors = smoothing, priors


class GaussianNaiveBayes(NaiveBayes):
    """γⱼ = −(x − μ₁)²/(2σ₁²) + (x − μ₀)²/(2σ₀²) + log(σ₀/σ₁); linear in x if σ is shared.  [000 §8.3.2]"""

    families = "gaussian"

    def __init__(self, *, variance: str = "own", smoothing: float = 1.0, priors: Any = None) -> None:
        self.variance, self.smoothing, self.priors = variance, smoothing, priors
