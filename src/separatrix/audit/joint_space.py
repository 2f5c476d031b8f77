"""Directions of θ as the audit sees them: those that change a difference of scores, and those that change none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..errors import DataError
from ..results.claims import JointClaim
from .exact import EPS
from .objectives import OBJECTIVES, Objective, Softmax
from .rows import SUM_TO_ONE, costs_of, indicators, probabilities

# What the audit reads of joint features: Φ of every row and class, targets and costs, as the claim has them.
#
# The feature map is the claim's; all else is done again here.

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


GONE = 1e-13
"""A column of which this little is its own, beside the columns before it, is a combination of them."""
NOTHING = 1e-10
"""A part of a combination that is this small, in units of the columns' lengths, is rounding."""
STEEP = {"likelihood": 2.0, "squared": 4.0}
"""How much a row's loss can change, at the most, where the differences of its scores change by one."""


@dataclass(frozen=True)
class Space:
    """θ = Bv + Ha + Ic: only v changes scores; a is held at zero by the penalty, c is of no account."""

    basis: Any
    """B, p × r, orthogonal to H in the penalised features, and to I."""
    held: Any
    """H, orthonormal in the penalised features."""
    idle: Any
    """I, in free features alone, orthonormal."""
    penalised: Any
    leak: float
    """How much a unit of a may change a score after all: zero where the features are exact combinations."""
    pull: float
    """And how much the mean loss."""

    def beside(self, theta: Any) -> tuple[Any, Any]:
        """The part of θ in H and I, and how far rounding can move it."""
        pen, start = self.penalised, theta
        for _ in range(2):  # the second time for what rounding left of the first
            theta = theta - self.held @ (self.held[pen].T @ theta[pen])
            theta = theta - self.idle @ (self.idle.T @ theta)
        beside, theta = start - theta, start
        size = np.abs(self.held) @ (np.abs(self.held[pen]).T @ np.abs(theta[pen]))
        size = size + np.abs(self.idle) @ (np.abs(self.idle).T @ (np.abs(theta) + size))
        return beside, 16 * (len(theta) + 4) * EPS * size

    def lower(self, theta: Any, l2: float) -> float:
        """How much lower the objective can be for another a: (pull + l2‖a‖)²/2l2."""
        if not l2:
            return 0.0
        a = self.held[self.penalised].T @ theta[self.penalised]
        return (self.pull / np.sqrt(l2) + np.sqrt(l2) * float(np.linalg.norm(a))) ** 2 / 2  # type: ignore[no-any-return]

    def drift(self, l2: float) -> float:
        """The largest ‖a‖ of a minimum."""
        return self.pull / l2 if l2 and self.pull else 0.0


def space_of(table: JointTable) -> Space:
    """By QR with pivoting of the differences, each column in units of its length."""
    claim = table.claim
    p = claim.weights.size
    R: Any = np.zeros((0, p))
    for part, E in table.differences():
        R = np.linalg.qr(np.vstack([R, (np.sqrt(table.share[part])[:, None, None] * E).reshape(-1, p)]), mode="r")
    size = np.linalg.norm(R, axis=0)
    size = np.where(size > 0, size, 1.0)
    T, order = qr(R / size, mode="r", pivoting=True)
    own = np.abs(np.diag(T))
    r = int((own > GONE * own.max(initial=1e-300)).sum())
    kept, rest = order[:r], order[r:]
    mixed = solve_triangular(T[:r, :r], T[:r, r:]) if r else np.zeros((0, p))
    raw, clean = np.zeros((p, p - r)), np.where(np.abs(mixed) > NOTHING, mixed, 0.0)
    raw[kept], raw[rest] = -mixed * (size[rest] / size[kept, None]), np.eye(p - r)
    N = raw.copy()
    N[kept] = -clean * (size[rest] / size[kept, None])
    N, worst, mean = _plainest(N, raw, size, table)
    penalised = np.setdiff1d(np.arange(p), claim.free)
    held, idle, share = _apart(N, size, penalised)
    basis = np.zeros((p, r))
    basis[kept] = np.diag(1 / size[kept])
    found = Space(basis, held, idle, penalised, float(worst @ share), STEEP[claim.objective] * float(mean @ share))
    if not r or r == p:
        return found
    return replace(found, basis=basis - found.beside(basis)[0])


def _plainest(N: Any, raw: Any, size: Any, table: JointTable) -> tuple[Any, Any, Any]:
    """Each direction in small whole numbers if these are no worse; its largest change of a score, and the mean.

    As it was before small parts were taken for rounding it is only if these make it much better.
    """
    count = N.shape[1]
    if not count:
        return N, np.zeros(0), np.zeros(0)
    near = 1e-6 * (np.abs(N) * size[:, None]).max(axis=0) / size[:, None]
    tries = [np.where(np.abs(m * N - np.rint(m * N)) <= m * near, np.rint(m * N), np.nan) for m in (1, 2, 3)]
    tries += [N, raw]
    worst, mean = np.zeros((5, count)), np.zeros((5, count))
    for part, E in table.differences():
        for k, each in enumerate(tries):
            change = np.abs(E @ each).max(axis=1)
            worst[k] = np.maximum(worst[k], change.max(axis=0, initial=0.0))
            mean[k] += table.share[part] @ change
    best = np.where(np.isnan(worst), np.inf, worst / np.array([1.0, 2.0, 3.0, 1.0, 0.1])[:, None]).argmin(axis=0)
    each = np.arange(count)
    return np.stack(tries)[best, :, each].T, worst[best, each], mean[best, each]


def _apart(N: Any, size: Any, penalised: Any) -> tuple[Any, Any, Any]:
    """H and I, what the penalty sees of the directions and what it does not; and how much of each direction is in H.

    What it sees is told in units of the columns' lengths. In long double, the largest weight of all directions first:
    it is taken out of the other directions, so that none of them differ by their last digits only.
    """
    p, count = N.shape
    A: Any = (N / np.linalg.norm(N * size[:, None], axis=0)).astype(np.longdouble)
    mix: Any = np.eye(count, dtype=np.longdouble)
    left, done = list(range(count)), []
    seen = np.zeros(p, bool)
    seen[penalised] = True
    while left:
        part = np.where(seen[:, None] & (np.abs(A[:, left]) * size[:, None] > NOTHING), np.abs(A[:, left]), 0)
        i, k = divmod(int(part.argmax()), len(left))
        if not part[i, k] > 0:
            break
        j = left.pop(k)
        seen[i] = False
        done.append(j)
        mix[:, j], A[:, j] = mix[:, j] / A[i, j], A[:, j] / A[i, j]
        for other in range(count):
            if other != j and A[i, other] != 0:
                share = A[i, other]
                mix[:, other] -= share * mix[:, j]
                A[:, other] -= share * A[:, j]
                A[i, other] = 0
    idle = A[:, left].astype(float)
    idle[penalised] = 0.0
    free = np.setdiff1d(np.arange(p), penalised)
    if left:
        idle[free] = np.linalg.qr(idle[free] / np.linalg.norm(idle[free], axis=0))[0]
    held, mix = A[:, done], mix[:, done]
    for k in range(len(done)):
        for _ in range(2):
            for j in range(k):
                share = held[penalised, j] @ held[penalised, k]
                held[:, k], mix[:, k] = held[:, k] - share * held[:, j], mix[:, k] - share * mix[:, j]
        length = np.sqrt((held[penalised, k] ** 2).sum())
        held[:, k], mix[:, k] = held[:, k] / length, mix[:, k] / length
    share = np.sqrt((mix**2).sum(axis=1)).astype(float) / np.linalg.norm(N * size[:, None], axis=0)
    held = held.astype(float)
    held[free] -= idle[free] @ (idle[free].T @ held[free])
    return held, idle, share
