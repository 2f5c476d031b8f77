"""Losses of K classes: functions of the scores s of a row, one for each class, and of its target.

Everything is laid out with the classes first, K × rows, because that is how the products by BLAS are fastest. A target
is the index of the true class, or a probability for each class.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats


class Probabilities(NamedTuple):
    """p = softmax(s), and what of it must not be lost to rounding."""

    p: Floats
    """K × rows."""
    error: Floats
    """e = p − t, K × rows; at the true class −Σ of the other p, which keeps its digits when p is nearly one."""
    loss: Floats
    """−Σₖ tₖ log pₖ of each row."""


def softmax(s: Floats, target: NDArray[Any]) -> Probabilities:
    """pₖ = exp(sₖ)/Σⱼ exp(sⱼ), the largest s taken out first.

    `target` holds the index of the true class of each row, or is rows × K of probabilities.
    """
    top = s.max(axis=0)
    p = np.exp(s - top)
    if target.ndim == 2:
        total = p.sum(axis=0)
        p /= total
        t = target.T
        loss = (t * ((top - s) + np.log(total))).sum(axis=0)
        return Probabilities(p, p - t, loss)
    column = np.arange(s.shape[1])
    own = p[target, column]
    p[target, column] = 0
    others = p.sum(axis=0)
    total = others + own
    p /= total
    error = p.copy()
    error[target, column] = -others / total
    p[target, column] = own / total
    behind = top - s[target, column]
    return Probabilities(p, error, behind + np.where(behind == 0, np.log1p(others), np.log(total)))


class ClassLoss(ABC):
    """A function of the scores of a row and its first two derivatives."""

    convex: ClassVar[bool] = True
    third: ClassVar[float] = math.inf
    """The most that the third derivative along a line can be, in units of the cube of the scores' range."""

    excess: ClassVar[float] = 1.0
    """How many times the texts' own step for one row the slope is."""

    @property
    def steering(self) -> ClassLoss:
        """The loss itself; or where it is not convex, one of this value and slope that can steer a descent."""
        return self

    @abstractmethod
    def value(self, at: Probabilities) -> Floats:
        """f(s) of each row."""

    @abstractmethod
    def slope(self, at: Probabilities) -> Floats:
        """∂f/∂s, K × rows."""

    @abstractmethod
    def bend(self, at: Probabilities, q: Any) -> Any:
        """(∂²f/∂s²) q for each row, q being K × rows."""

    @abstractmethod
    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        """∂²f/∂sₖ∂sⱼ of each row."""

    def curvatures(self, at: Probabilities) -> Floats:
        """∂²f/∂s² of each row, K × K × rows."""
        K = len(at.p)
        return np.array([[self.curvature(at, max(k, j), min(k, j)) for j in range(K)] for k in range(K)])


def _spread(p: Any, q: Any) -> Any:
    """(diag p − ppᵀ) q = p∘(q − pᵀq)."""
    return p * (q - (p * q).sum(axis=0))


def _entry(at: Probabilities, k: int, j: int) -> Floats:
    """(diag p − ppᵀ)ₖⱼ, with 1 − pₖ as the sum of the others, which keeps its digits when pₖ is nearly one."""
    p = at.p
    rest = -p[j] if k != j else p[:k].sum(axis=0) + p[k + 1 :].sum(axis=0)
    return p[k] * rest  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SoftmaxLikelihood(ClassLoss):
    """f = log Σₖ exp(sₖ) − Σₖ tₖ sₖ = −Σₖ tₖ log pₖ: the negative log-likelihood.  [000 8.18]"""

    def value(self, at: Probabilities) -> Floats:
        """−Σₖ tₖ log pₖ."""
        return at.loss

    def slope(self, at: Probabilities) -> Floats:
        """p − t."""
        return at.error

    def bend(self, at: Probabilities, q: Any) -> Any:
        """(diag p − ppᵀ) q."""
        return _spread(at.p, q)

    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        """pₖ(1 − pₖ), or −pₖpⱼ."""
        return _entry(at, k, j)

    def curvatures(self, at: Probabilities) -> Floats:
        """diag p − ppᵀ, with 1 − pₖ as the sum of the others."""
        K = len(at.p)
        found = at.p[:, None] * -at.p
        found[np.arange(K), np.arange(K)] = at.p * ((1 - np.eye(K)) @ at.p)
        return found


@dataclass(frozen=True)
class SoftmaxSquared(ClassLoss):
    """f = ‖t − p‖², p = softmax(s): LMSE of K classes; for K = 2 twice (y − p)².

    With e = p − t, A = diag p − ppᵀ and a = Ae: ∂f/∂s = 2a and ∂²f/∂s² = 2(A² + diag a − apᵀ − paᵀ), which may be
    indefinite. Along a line |f‴| ≤ 1.1·range³: with o = q − E q the deviations of the scores' rates, of range one,
    f‴ = 2(3 cov(p·o, o²) + cov(e, o³ − 3 var(o)·o)); the covariances are at most √(1/16 · 3/16) and √(27/64 · 7/64).
    """

    convex, third, excess = False, 1.1, 2.0

    @property
    def steering(self) -> ClassLoss:
        """Its linearised errors, whose curvature is never negative."""
        return SoftmaxGaussNewton()

    def value(self, at: Probabilities) -> Floats:
        """‖t − p‖²."""
        return np.square(at.error).sum(axis=0)  # type: ignore[no-any-return]

    def slope(self, at: Probabilities) -> Floats:
        """2Ae."""
        return 2 * _spread(at.p, at.error)  # type: ignore[no-any-return]

    def bend(self, at: Probabilities, q: Any) -> Any:
        """2(A²q + a∘q − a pᵀq − p aᵀq)."""
        a = _spread(at.p, at.error)
        mixed = a * (q - (at.p * q).sum(axis=0)) - at.p * (a * q).sum(axis=0)
        return 2 * (_spread(at.p, _spread(at.p, q)) + mixed)

    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        """2((A²)ₖⱼ + aₖ1[k = j] − aₖpⱼ − pₖaⱼ)."""
        a = _spread(at.p, at.error)
        own = a[k] if k == j else 0.0
        return 2 * (_squared_entry(at.p, k, j) + own - a[k] * at.p[j] - at.p[k] * a[j])  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SoftmaxGaussNewton(ClassLoss):
    """f = ‖t − p‖² with the curvature 2A² = 2JᵀJ of its linearised errors, which is never negative."""

    convex, third = False, 1.1
    value, slope = SoftmaxSquared.value, SoftmaxSquared.slope

    def bend(self, at: Probabilities, q: Any) -> Any:
        """2A²q."""
        return 2 * _spread(at.p, _spread(at.p, q))

    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        """2(A²)ₖⱼ."""
        return 2 * _squared_entry(at.p, k, j)


def _squared_entry(p: Floats, k: int, j: int) -> Floats:
    """(A²)ₖⱼ = pₖ²1[k = j] + pₖpⱼ(‖p‖² − pₖ − pⱼ)."""
    own = p[k] ** 2 if k == j else 0.0
    return own + p[k] * p[j] * (np.square(p).sum(axis=0) - p[k] - p[j])  # type: ignore[no-any-return]
