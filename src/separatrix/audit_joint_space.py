"""Directions of θ as the audit sees them: those that change a difference of scores, and those that change none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from .audit_joint_rows import JointTable

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
        pen = self.penalised
        a = self.held[pen].T @ theta[pen]
        c = self.idle.T @ (theta - self.held @ a)
        size = np.abs(self.held) @ (np.abs(self.held[pen]).T @ np.abs(theta[pen]))
        size = size + np.abs(self.idle) @ (np.abs(self.idle).T @ (np.abs(theta) + size))
        return self.held @ a + self.idle @ c, 16 * (len(theta) + 4) * EPS * size

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

    What it sees is told in units of the columns' lengths, so that no change of units hides it.
    """
    p, count = N.shape
    length = np.linalg.norm(N * size[:, None], axis=0)
    N = N / length
    seen = np.vstack([(N * size[:, None])[penalised], np.zeros((count, count))])
    _, values, turn = np.linalg.svd(seen, full_matrices=False)
    clear, turn = values > 1e-10, turn.T
    idle = N @ turn[:, ~clear]
    idle[penalised] = 0.0
    idle = np.linalg.qr(idle / np.linalg.norm(idle, axis=0))[0] if idle.shape[1] else np.zeros((p, 0))
    if not clear.any():
        return np.zeros((p, 0)), idle, np.zeros(count)
    some = N @ turn[:, clear]
    scale = np.linalg.norm(some[penalised], axis=0)
    Q, S = np.linalg.qr(some[penalised] / scale)
    back = turn[:, clear] @ (solve_triangular(S, np.eye(len(S))) / scale[:, None])
    held = N @ back
    held[penalised] = Q
    return held - idle @ (idle.T @ held), idle, np.linalg.norm(back, axis=1) / length
