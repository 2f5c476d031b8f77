"""Each objective at the scores of a row, with its derivatives, as the audit computes them.

Two classes have the scores (0, xᵀw + b), so that one set of formulas serves any number of classes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..results.claims import Claim


def per_class(weights: Any, intercept: Any) -> tuple[Any, Any]:
    """W and b with a row for every class; of two classes, the first's are zero."""
    W, b = np.atleast_2d(np.asarray(weights, dtype=float)), np.asarray(intercept, dtype=float).ravel()
    return (W, b) if len(W) > 1 else (np.vstack([np.zeros_like(W), W]), np.append(0.0, b))


def scores(weights: Any, intercept: Any, X: Any) -> Any:
    """s = Wx + b, in long double; of two classes, the first's is zero."""
    s = X @ np.atleast_2d(weights).T.astype(np.longdouble) + np.ravel(intercept)
    return s if s.shape[1] > 1 else np.column_stack([np.zeros_like(s), s])


class Softmax:
    """pₖ = exp sₖ / Σⱼ exp sⱼ, 1 − pₖ = Σⱼ≠ₖ pⱼ and log Σⱼ exp sⱼ − sₖ, accurate however far the scores are apart."""

    def __init__(self, s: Any) -> None:
        top = s.argmax(axis=1)[:, None]
        fall = np.take_along_axis(s, top, 1) - s
        others = np.exp(-fall)
        np.put_along_axis(others, top, 0, 1)
        odds = others.sum(axis=1, keepdims=True)
        self.p, self.surprise = np.exp(-fall) / (1 + odds), fall + np.log1p(odds)
        self.rest = 1 - self.p  # exact enough where p ≤ ½, which is everywhere but at the top
        np.put_along_axis(self.rest, top, odds / (1 + odds), 1)

    def error(self, t: Any) -> Any:
        """pₖ − tₖ."""
        return np.where(t > 0.5, (1 - t) - self.rest, self.p - t)

    def spread(self) -> Any:
        """diag(p) − ppᵀ."""
        p, rest = self.p.astype(float), self.rest.astype(float)
        A = -p[:, :, None] * p[:, None, :]
        np.einsum("ikk->ik", A)[:] = p * rest
        return A


class Objective(Protocol):
    """A loss of the scores of a row and its target, with its first two derivatives."""

    def loss(self, at: Softmax, t: Any) -> Any:
        """ℓ(s, t)."""
        ...

    def slope(self, at: Softmax, t: Any) -> Any:
        """∂ℓ/∂s."""
        ...

    def curvature(self, at: Softmax, t: Any) -> Any:
        """∂²ℓ/∂s∂sᵀ."""
        ...


class Likelihood:
    """Σₖ tₖ (log Σⱼ exp sⱼ − sₖ): minus the logarithm of the likelihood."""

    def loss(self, at: Softmax, t: Any) -> Any:
        """Σₖ tₖ (log Σⱼ exp sⱼ − sₖ)."""
        return (t * at.surprise).sum(axis=1)

    def slope(self, at: Softmax, t: Any) -> Any:
        """p − t."""
        return at.error(t)

    def curvature(self, at: Softmax, t: Any) -> Any:
        """diag(p) − ppᵀ."""
        return at.spread()


class SquaredOfTwo:
    """Σₖ tₖ(1 − pₖ)²: the squared error of the second class's probability, of each class's part of a soft row."""

    def loss(self, at: Softmax, t: Any) -> Any:
        """Σₖ tₖ(1 − pₖ)²."""
        return (t * at.rest**2).sum(axis=1)

    def slope(self, at: Softmax, t: Any) -> Any:
        """(−h, h), h = Σₖ ±tₖφ′(mₖ), φ′(m) = −2σ(−m)²σ(m)."""
        falls = -2 * t * at.rest**2 * at.p
        h = falls[:, 1] - falls[:, 0]
        return np.column_stack([-h, h])

    def curvature(self, at: Softmax, t: Any) -> Any:
        """((h, −h), (−h, h)), h = Σₖ tₖφ″(mₖ), φ″(m) = 2σ(m)σ(−m)²(2σ(m) − σ(−m))."""
        h = (2 * t * at.p * at.rest**2 * (2 * at.p - at.rest)).sum(axis=1).astype(float)
        return h[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])


class Squared:
    """‖t − p‖²."""

    def loss(self, at: Softmax, t: Any) -> Any:
        """Σₖ (tₖ − pₖ)²."""
        return (at.error(t) ** 2).sum(axis=1)

    def slope(self, at: Softmax, t: Any) -> Any:
        """2a, a = (diag(p) − ppᵀ)(p − t)."""
        e = at.error(t)
        return 2 * at.p * (e - (at.p * e).sum(axis=1, keepdims=True))

    def curvature(self, at: Softmax, t: Any) -> Any:
        """2(A² + diag(a) − apᵀ − paᵀ), A = diag(p) − ppᵀ, a = A(p − t)."""
        A, a, p = at.spread(), (self.slope(at, t) / 2).astype(float), at.p.astype(float)
        crossed = a[:, :, None] * p[:, None, :]
        bend = A @ A - crossed - crossed.transpose(0, 2, 1)
        np.einsum("ikk->ik", bend)[:] += a
        return 2 * bend


class OfMargin:
    """Σₖ tₖφ(mₖ), m = (−z, z): a loss of the margin, its slope and its curvature given."""

    def __init__(self, value: Any, slope: Any, curvature: Any) -> None:
        self.value, self.falls, self.bends = value, slope, curvature

    @staticmethod
    def margins(at: Softmax) -> Any:
        """(−z, z): how much likelier one class is than the other."""
        return at.surprise[:, ::-1] - at.surprise

    def loss(self, at: Softmax, t: Any) -> Any:
        """Σₖ tₖφ(mₖ)."""
        return (t * self.value(self.margins(at))).sum(axis=1)

    def slope(self, at: Softmax, t: Any) -> Any:
        """(−h, h), h = Σₖ ±tₖφ′(mₖ)."""
        falls = t * self.falls(self.margins(at))
        h = falls[:, 1] - falls[:, 0]
        return np.column_stack([-h, h])

    def bend(self, at: Softmax, t: Any, reach: float = 0.0) -> Any:
        """Σₖ tₖφ″(mₖ + reach): where φ″ does not rise, its least within reach."""
        return (t * self.bends(self.margins(at) + reach)).sum(axis=1).astype(float)

    def curvature(self, at: Softmax, t: Any) -> Any:
        """((h, −h), (−h, h)), h = Σₖ tₖφ″(mₖ)."""
        return self.bend(at, t)[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])


def _gap(m: Any) -> Any:
    return np.maximum(1 - m, 0)


EXPONENTIAL = OfMargin(lambda m: np.exp(-m), lambda m: -np.exp(-m), lambda m: np.exp(-m))
"""e⁻ᵐ."""
SQUARED_HINGE = OfMargin(lambda m: _gap(m) ** 2, lambda m: -2 * _gap(m), lambda m: 2.0 * (m < 1))
"""[1 − m]₊²."""
OBJECTIVES: dict[tuple[str, bool], Objective] = {
    ("likelihood", False): Likelihood(),
    ("likelihood", True): Likelihood(),
    ("squared", False): SquaredOfTwo(),
    ("squared", True): Squared(),
    ("exponential", False): EXPONENTIAL,
    ("squared-hinge", False): SQUARED_HINGE,
}
"""By name, and whether there are more than two classes."""


def objective(claim: Claim) -> Objective:
    """What the claim says was minimised."""
    return OBJECTIVES[claim.objective, len(claim.classes) > 2]
