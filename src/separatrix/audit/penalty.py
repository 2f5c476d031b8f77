"""The proof that the audit rebuilds for any number of columns, from the penalty: no matrix of them is made.

With h the intercept's own curvature and c the mean of the rows by curvature, the Hessian is h on the intercept and at
least l2 on what that leaves of the weights. So (r, r₀)ᵀH⁻¹(r, r₀) ≤ ‖r − r₀c‖²/l2 + r₀²/h, of a row and of
what a witness u leaves of the slope. Of more than two classes the least probability stands for the curvature, and a
row moves two scores against each other: twice the sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..results.claims import Claim
from .matrix import lengths
from .minimum import fall
from .objectives import Softmax, scores
from .rows import Table


def penalised_gap(claim: Claim, table: Table, witness: Any) -> float:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ², ν ≤ √(uᵀHu) + ‖g − Hu‖, ρ the largest ‖(x, 1)‖ of a row, both in H⁻¹.

    Infinite where nothing is proved.
    """
    W = np.atleast_2d(claim.weights).astype(np.longdouble)
    u = np.zeros((len(W), W.shape[1] + 1)) if witness is None else np.asarray(witness)
    if u.shape != (len(W), W.shape[1] + 1) or not np.isfinite(u).all() or not claim.l2 > 0:
        return math.inf
    u = apart(u.astype(np.longdouble))
    left, level, size = _rest(claim, table, apart(W), u)
    norm = Norm(claim, table)
    if not norm.level > 0:
        return math.inf
    return fall(math.sqrt(size) + norm.of(left, level), norm.largest(table) * math.sqrt(min(2, len(W))))


def apart(W: Any) -> Any:
    """What the classes do not share; of two classes the weights are their difference already."""
    return W - W.mean(axis=0) if len(W) > 1 else W


def _rest(claim: Claim, table: Table, W: Any, u: Any) -> tuple[Any, Any, float]:
    """g − Hu, of the weights and of the intercepts, and uᵀHu."""
    U, a = u[:, :-1], u[:, -1] * claim.fit_intercept
    left, level, size, total = claim.l2 * (W - U), 0 * a, claim.l2 * (U * U).sum(), table.cost.sum()
    for X, target, cost in table.skim():
        at = Softmax(scores(claim.weights, claim.intercept, X))
        q = scores(U, a, X)
        bent = at.p * (q - (at.p * q).sum(axis=1, keepdims=True))
        share = (cost / total)[:, None]
        pull = (share * (at.error(target) - bent))[:, -len(W) :]
        left = left + (X.T @ pull).T
        level = level + pull.sum(axis=0)
        size = size + (share * bent * q).sum()
    return apart(left), apart(level[:, None]).ravel() * claim.fit_intercept, max(float(size), 0.0)


class Norm:
    """√(‖r − r₀c‖²/l2 + r₀²/h): no less than that of H⁻¹; without an intercept c = 0 and r₀ = 0."""

    def __init__(self, claim: Claim, table: Table) -> None:
        self.claim, self.center, self.level = claim, np.zeros(len(claim.columns), np.longdouble), np.longdouble(1)
        if not claim.fit_intercept:
            return
        total, mean = np.longdouble(0), self.center
        for X, _, cost in table.skim():
            at = Softmax(scores(claim.weights, claim.intercept, X))
            bend = cost * (at.p.min(axis=1) if at.p.shape[1] > 2 else at.p[:, 0] * at.p[:, 1])
            total, mean = total + bend.sum(), mean + X.T @ bend
        self.level = total / table.cost.sum()
        self.center = mean / total if total > 0 else mean

    def of(self, rest: Any, level: Any) -> float:
        """The norm of (r, r₀), all classes together."""
        left = rest - level[:, None] * self.center
        return math.sqrt(float((left * left).sum() / self.claim.l2 + (level * level).sum() / self.level))

    def largest(self, table: Table) -> float:
        """The largest norm of a row (x, 1)."""
        own = (self.center * self.center).sum()
        squares = (lengths(X) - 2 * (X @ self.center) + own for X, *_ in table.skim())
        farthest = max(float(each.max(initial=0)) for each in squares) * (1 + 1e-12)
        return math.sqrt(max(farthest, 0.0) / self.claim.l2 + float(self.claim.fit_intercept / self.level))
