"""What the audit reads: the rows that count, their targets and costs, and each objective at the scores of a row.

Two classes have the scores (0, xᵀw + b), so that one set of formulas serves any number of classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from ..results.claims import Claim
from .sheet import Sheet, read_csr

CHUNK, WRITTEN_OUT = 4096, 1 << 21
"""Rows that are looked at together; numbers of CSR rows that are written out together."""
SUM_TO_ONE = 1e-6
"""How far the probabilities of a row may add up to something else: those of a table in single precision do."""


class Table:
    """The rows that count, their targets and costs, as the verdict's claim reads them.

    A soft target is a row of each class, at the cost cᵢtᵢₖwₖ with the class weights w: together a row with the target
    tᵢₖwₖ / Σⱼ tᵢⱼwⱼ at the cost cᵢ Σⱼ tᵢⱼwⱼ. A label is the target that is one at its class. `places` says where in X
    the rows stand.
    """

    def __init__(self, claim: Claim, X: Any, y: Any, sample_weight: Any) -> None:
        X = X if isinstance(X, Sheet) else read_csr(X) if issparse(X) else np.asarray(X)
        share = probabilities(claim, y) if claim.soft else indicators(claim, y)
        cost = costs_of(sample_weight, len(share))
        X, width = X if X.dtype.kind in "biuf" else X.astype(float), np.shape(claim.weights)[-1]
        if len(X.shape) != 2 or X.shape[1] != width:
            raise ValueError(f"X has shape {X.shape}; the verdict speaks of {width} columns.")
        if not X.shape[0] == len(share) == len(cost):
            raise ValueError(f"X has {X.shape[0]} rows, y {len(share)}, sample_weight {len(cost)}: they must agree.")
        split = cost[:, None] * share * np.asarray(claim.class_weight, dtype=float)
        counts = split.sum(axis=1) > 0
        self.rows, self.places = X.shape[0], np.flatnonzero(counts)
        self.known = bool((share >= 0).all() and (np.abs(share.sum(axis=1) - 1) <= SUM_TO_ONE).all())
        self.known &= bool((cost >= 0).all() and np.isfinite(cost).all())
        self.X = X if counts.all() else X[counts]
        self.cost = split[counts].sum(axis=1)
        self.target = split[counts] / self.cost[:, None]

    @property
    def matrix(self) -> Any:
        """X as an array, or as scipy's CSR."""
        return self.X.rows if isinstance(self.X, Sheet) else self.X

    def finite(self) -> bool:
        """Whether X has neither NaN nor infinity."""
        return self.X.finite() if isinstance(self.X, Sheet) else bool(np.isfinite(self.X).all())

    def skim(self) -> Iterator[tuple[Any, Any, Any]]:
        """The same as `chunks`, with CSR rows as they are: what only multiplies them need not see their zeros."""
        if not isinstance(self.X, Sheet):
            yield from self.chunks()
            return
        for rows, X in self.X.parts(np.longdouble):
            yield X, self.target[rows].astype(np.longdouble), self.cost[rows]

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, targets and costs, some hundred or thousand rows at a time, in long double."""
        classes = self.target.shape[1]
        size = min(CHUNK, max(256, self.X.shape[1], 16 * CHUNK // classes**2))  # a row may need classes² numbers
        if isinstance(self.X, Sheet):
            size = min(size, max(64, WRITTEN_OUT // self.X.shape[1]))
        for lo in range(0, len(self.X), size):
            rows = slice(lo, lo + size)
            yield self.X[rows].astype(np.longdouble), self.target[rows].astype(np.longdouble), self.cost[rows]


def costs_of(sample_weight: Any, rows: int) -> Any:
    """A cost for each row: one where none is given, the same for all where it is a single number."""
    if sample_weight is None:
        return np.ones(rows)
    cost = np.asarray(sample_weight, dtype=float)
    if cost.ndim > 1:
        raise ValueError(f"sample_weight has shape {cost.shape}; one number for each of the {rows} rows is needed.")
    return np.full(rows, float(cost)) if cost.ndim == 0 else cost


def indicators(claim: Any, y: Any) -> Any:
    """One where a label is the class of the column; a row of zeros for a label that is unknown."""
    labels = np.asarray(y).ravel().tolist()
    return np.array([[_same(label, known) for known in claim.classes] for label in labels], dtype=float).reshape(
        len(labels), len(claim.classes)
    )


def _same(label: Any, known: Any) -> bool:
    try:
        return bool(label == known)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal
        return False


def probabilities(claim: Any, y: Any) -> Any:
    """A column for every class; of two classes, y may be the second's alone."""
    classes = len(claim.classes)
    try:
        t = np.asarray(y, dtype=float)
    except (TypeError, ValueError):  # words are no probabilities, and no reason to fail
        t = np.full(np.asarray(y).shape, np.nan)
    if classes == 2 and (t.ndim < 2 or t.shape[1:] == (1,)):
        return np.column_stack([1 - t.ravel(), t.ravel()])
    if t.ndim != 2 or t.shape[1] != classes:
        raise ValueError(f"y has shape {t.shape}; the verdict speaks of the probabilities of {classes} classes.")
    return t


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
