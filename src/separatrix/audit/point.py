"""The point that the audit looks at: where a fit ended, in coordinates that suit its rows.

Adding one number to all scores of a row changes no objective. So directions are written as V ⊗ z: for two classes
V = (0, 1)ᵀ, for more an orthonormal basis of the vectors that add up to zero. On these the penalty is (l2/2)‖·‖² both
times; what the weights of all classes have in common only adds (l2/2)K‖w̄‖² to the objective, and that exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import helmert, solve_triangular

from ..results.claims import Claim
from ..results.verdict import Verdict
from .rows import Softmax, Table, objective, per_class, scores


class Look(NamedTuple):
    """Some rows as one pass sees them."""

    rows: slice
    X: Any
    Z: Any
    at: Softmax
    target: Any
    share: Any
    """cᵢ/C."""


@dataclass(frozen=True)
class Point:
    """Where the fit ended, in coordinates z: the columns that are not aliased, centred and scaled, and a one."""

    claim: Claim
    table: Table
    center: Any
    scale: Any
    keep: list[int]

    @classmethod
    def of(cls, verdict: Verdict, table: Table) -> Point:
        """The point of the claim; with a penalty no column is left out."""
        aliased = set(verdict.rank.aliased) if verdict.claim.l2 == 0 else set()
        keep = [j for j, name in enumerate(verdict.claim.columns) if name not in aliased]
        return cls(verdict.claim, table, *_center_and_scale(verdict.claim, table), keep)

    @property
    def contrasts(self) -> Any:
        """V with VᵀV = I and Vᵀ1 = 0; for two classes (0, 1)ᵀ, since their penalty is on one vector of weights."""
        classes = len(self.claim.classes)
        return np.array([[0.0], [1.0]]) if classes == 2 else np.asarray(helmert(classes)).T

    @property
    def ridge(self) -> Any:
        """√l2/scale, and nothing for the intercept: the roots of the penalty's curvatures."""
        roots = math.sqrt(self.claim.l2) / self.scale[self.keep]
        return np.append(roots, 0 * self._intercepts(1)).astype(float)

    def coordinates(self, X: Any) -> Any:
        """z = ((x − center)/scale, 1)."""
        return np.column_stack([((X - self.center) / self.scale)[:, self.keep], self._intercepts(len(X))])

    def _intercepts(self, count: int) -> Any:
        return np.ones((count, int(self.claim.fit_intercept)))

    def penalty_slope(self, W: Any) -> Any:
        """l2 VᵀW / scale, and nothing for the intercepts."""
        slopes = self.claim.l2 * (self.contrasts.T @ W / self.scale)[:, self.keep]
        return np.column_stack([slopes, 0 * self._intercepts(len(slopes))])

    def looks(self) -> Iterator[Look]:
        """All rows, some at a time."""
        total, start = self.table.cost.sum(), 0
        for X, target, cost in self.table.chunks():
            at = Softmax(scores(self.claim.weights, self.claim.intercept, X))
            yield Look(slice(start, start + len(X)), X, self.coordinates(X), at, target, cost / total)
            start += len(X)

    def slope(self) -> Any:
        """g = Σᵢ (cᵢ/C) Vᵀ(∂ℓᵢ/∂s) zᵢᵀ + l2 VᵀW / scale."""
        V, loss = self.contrasts, objective(self.claim)
        g = self.penalty_slope(per_class(self.claim.weights, self.claim.intercept)[0])
        for look in self.looks():
            g = g + (loss.slope(look.at, look.target) * look.share[:, None] @ V).T @ look.Z
        return g


def excess(claim: Claim) -> float:
    """(l2/2) K ‖w̄‖²: what more than two classes pay for having weights in common."""
    W = np.atleast_2d(claim.weights).astype(np.longdouble)
    return float(claim.l2 / 2 * len(W) * (W.mean(axis=0) ** 2).sum()) if len(W) > 1 else 0.0


class Root:
    """RᵀR = Σᵢ ωᵢ zᵢzᵢᵀ + diag(ridge²), by QR."""

    def __init__(self, point: Point, weight: Any) -> None:
        R, start = np.diag(point.ridge), 0
        for X, _, _ in point.table.chunks():
            rooted = np.sqrt(weight[start : start + len(X)])[:, None] * point.coordinates(X)
            R, start = np.asarray(np.linalg.qr(np.vstack([R, rooted.astype(float)]), mode="r")), start + len(X)
        self.length = np.linalg.norm(R, axis=0)
        self.steady = bool((np.abs(np.diag(R)) > len(R) * np.finfo(float).eps * self.length).all())
        self.R = R / np.where(self.length > 0, self.length, 1)

    def whiten(self, columns: Any) -> Any:
        """R⁻ᵀ times the columns; what is not finite stays so, and proves nothing."""
        return solve_triangular(self.R, columns.astype(float) / self.length[:, None], trans="T", check_finite=False)


def explained(point: Point) -> bool:
    """Whether the columns left out are combinations of the others and the intercept, on a thousand rows at least."""
    everything = point.table.X
    n, d = everything.shape
    few = 1000 + (20 if isinstance(everything, np.ndarray) or d <= 500 else 5) * d
    X = everything[:: max(1, n // few)].astype(np.longdouble)
    Z, design = ((X - point.center) / point.scale).astype(float), point.coordinates(X).astype(float)
    left = Z - design @ np.linalg.lstsq(design, Z, rcond=None)[0]
    rounding = np.finfo(float).eps * (1 + np.abs(point.center / point.scale).astype(float).max(initial=0))
    return bool(np.abs(left).max(initial=0) <= 1e-6 + 1e6 * rounding)


def _center_and_scale(claim: Claim, table: Table) -> tuple[Any, Any]:
    """Means and deviations of the columns; without an intercept, zero and the root mean square."""
    n, d = table.X.shape
    center, square = np.zeros(d, np.longdouble), np.zeros(d, np.longdouble)
    if claim.fit_intercept:
        center = sum((X.sum(axis=0) for X, _, _ in table.chunks()), center) / n
    square = sum((((X - center) ** 2).sum(axis=0) for X, _, _ in table.chunks()), square) / n
    return center, np.where(square > 0, np.sqrt(square), 1)
