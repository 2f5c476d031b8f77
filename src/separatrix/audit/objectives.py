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


OBJECTIVES: dict[tuple[str, bool], Objective] = {
    ("likelihood", False): Likelihood(),
    ("likelihood", True): Likelihood(),
    ("squared", False): SquaredOfTwo(),
    ("squared", True): Squared(),
}
"""By name, and whether there are more than two classes."""


def objective(claim: Claim) -> Objective:
    """What the claim says was minimised."""
    return OBJECTIVES[claim.objective, len(claim.classes) > 2]
