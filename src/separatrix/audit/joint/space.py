"""Directions of θ as the audit sees them: those that change a difference of scores, and those that change none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from .rows import JointTable

GONE = 1e-13
"""A column of which this little is its own, beside the columns before it, is a combination of them."""
NOTHING = 1e-10
"""A part of a combination that is this small, in units of the columns' lengths, is rounding."""
STEEP = {"likelihood": 2.0, "squared": 4.0}
"""How much a row's loss can change, at the most, where the differences of its scores change by one."""
EPS = float(np.finfo(float).eps)


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
