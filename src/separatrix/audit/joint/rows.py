"""What the audit reads of joint features: Φ of every row and class, targets and costs, as the claim has them.

The feature map is the claim's; all else is done again here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import DataError
from ...results.claims import JointClaim
from ..objectives import OBJECTIVES, Objective, Softmax
from ..rows import SUM_TO_ONE, costs_of, indicators, probabilities

CHUNK = 1 << 19
"""Numbers of Φ that are looked at together."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
OUT = -1e4000 if np.finfo(np.longdouble).max > 1e4000 else -1e300
"""A score so low that its class has no probability."""


class JointTable:
    """The rows that count, their targets and costs, and Φ of them.

    A soft target is a row of each class, at the cost cᵢtᵢₖwₖ with the class weights w.
    """

    def __init__(self, claim: JointClaim, X: Any, y: Any, sample_weight: Any) -> None:
        self.claim, rows = claim, _rows(claim, X)
        share = probabilities(claim, y) if claim.soft else indicators(claim, y)
        cost = costs_of(sample_weight, len(share))
        self.rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if not self.rows == len(share) == len(cost):
            raise DataError(f"X has {self.rows} rows, y {len(share)}, sample_weight {len(cost)}: they must agree.")
        split = cost[:, None] * share * np.asarray(claim.class_weight or 1.0, dtype=float)
        counts = np.flatnonzero(split.sum(axis=1) > 0)
        self.known = bool((share >= 0).all() and (np.abs(share.sum(axis=1) - 1) <= SUM_TO_ONE).all())
        self.known &= bool((cost >= 0).all() and np.isfinite(cost).all())
        self.X: Any = rows[counts] if hasattr(rows, "shape") else [rows[i] for i in counts]
        self.cost = split[counts].sum(axis=1)
        self.target = split[counts] / self.cost[:, None]
        self.own = self.target.argmax(axis=1)
        self.among = np.ones(self.target.shape, bool)
        """The classes that a row is compared with: all, unless a limit is meant."""

    def __len__(self) -> int:
        return len(self.cost)

    @property
    def share(self) -> Any:
        """cᵢ/C."""
        return self.cost / self.cost.sum()

    @property
    def loss(self) -> Objective:
        """What was minimised."""
        return OBJECTIVES[self.claim.objective, True]

    def features(self) -> Iterator[tuple[slice, Any]]:
        """Φ, rows × classes × p, some rows at a time; ValueError where it is no such table."""
        K, p = len(self.claim.classes), self.claim.weights.size
        step = max(1, CHUNK // (K * p))
        for lo in range(0, len(self), step):
            part = slice(lo, min(lo + step, len(self)))
            F = np.empty((part.stop - lo, K, p))
            for k, c in enumerate(self.claim.classes):
                F[:, k] = self._asked(part, c, p)
            if not np.isfinite(F).all():
                raise ValueError("the feature map gives NaN or infinity")
            yield part, F

    def _asked(self, part: slice, c: Any, p: int) -> Any:
        """What the claim's map gives for some rows and a class, if it is a table of p columns."""
        try:
            found = self.claim.feature_map(self.X[part], c)
            found = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=float)
        except Exception as error:
            raise ValueError("the feature map fails") from error
        if found.shape != (part.stop - part.start, p):
            raise ValueError("the feature map gives another number of features, or of rows")
        return found

    def differences(self) -> Iterator[tuple[slice, Any]]:
        """E_c = Φ(x, c) − Φ(x, y), zero for classes that a row is not compared with."""
        for part, F in self.features():
            E = F - F[np.arange(len(F)), self.own[part]][:, None]
            E[~self.among[part]] = 0
            yield part, E

    def scores(self, theta: Any, E: Any, part: slice) -> Softmax:
        """The softmax of θ·E_c in long double, among the classes that are compared."""
        s = E.astype(np.longdouble) @ np.asarray(theta, dtype=np.longdouble)
        return Softmax(np.where(self.among[part], s, np.longdouble(OUT)))

    def mean_loss(self, theta: Any) -> float:
        """Σᵢ (cᵢ/C) ℓ(sᵢ, tᵢ), without the penalty."""
        total = np.longdouble(0)
        for part, E in self.differences():
            t = self.target[part].astype(np.longdouble)
            total += (self.cost[part] * self.loss.loss(self.scores(theta, E, part), t)).sum()
        return float(total / self.cost.sum())

    def rounding(self, theta: Any) -> float:
        """How far two scores can move against each other because θ is rounded to 53 bits."""
        size = max(float((np.abs(E) @ np.abs(theta)).max(initial=0.0)) for _, E in self.differences())
        return 2 * (np.size(theta) + 2) * float(np.finfo(float).eps) * size


def _rows(claim: JointClaim, X: Any) -> Any:
    """X as the feature map was given it: floats of four or eight bytes as they are, all other numbers as eight."""
    if claim.tabular:
        if hasattr(X, "tocsr"):
            rows = X.tocsr()
            return rows if rows.dtype in FLOATS else rows.astype(float)
        table = np.asarray(X)
        table = table if table.dtype in FLOATS else table.astype(float)
        if table.ndim != 2:
            raise DataError(f"has shape {table.shape}; the verdict speaks of rows and columns.", array="X")
        return table
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X.to_dict("records")
    return X.to_dicts() if hasattr(X, "to_dicts") else list(X)
