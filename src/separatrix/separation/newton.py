"""Newton's method for a few signed rows: it separates them, or shows that they overlap, or neither."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

Floats = NDArray[np.float64]

STEPS, MORE_STEPS, CLEAR = 60, 6, 1.0
"""Steps at most; those that are added to a rule that separates, to give it room, until every log-odds is so large."""
STEADY = 1e-5
"""A Cholesky factor whose pivots differ by no more than this is good enough; else QR."""
UNDECIDED = 1e-6


class Tried(NamedTuple):
    """What Newton's method found."""

    status: str
    """separated, overlap or unclear."""
    v: Floats
    weights: Floats
    """σ(−m) of each row: what balances the rows where they overlap."""


def try_newton(A: Floats, undecided: float = UNDECIDED) -> Tried:
    """argmin Σ log(1 + exp(−aᵀv)) over the signed rows a, as far as it is needed to tell.

    A decrement below `undecided` leaves what is neither separated nor proved to overlap to others.
    """
    v, m, more = np.zeros(A.shape[1]), np.zeros(len(A)), MORE_STEPS
    for _ in range(STEPS):
        least = float(m.min(initial=np.inf))
        if least > 0:
            more -= 1
            if least >= CLEAR or more < 0:
                return Tried("separated", v, _fall(m))
        s = _fall(m)
        newton = Step(A, s)
        if not newton.good:
            break
        if least <= 0 and newton.near():
            return _settle(A, v, newton.step)
        if newton.decrement**2 < undecided:
            break
        v, m = _go(A, v, m, newton)
    status = "separated" if float(m.min(initial=np.inf)) > 0 else "unclear"
    return Tried(status, v, _fall(m))


def _go(A: Floats, v: Floats, m: Floats, newton: Step) -> tuple[Floats, Floats]:
    """Halve the step until the loss falls as it should."""
    rise, t, value = A @ newton.step, 1.0, _value(m)
    while t > 1e-10 and _value(m + t * rise) > value - 0.1 * t * newton.decrement**2:
        t /= 2
    return v + t * newton.step, m + t * rise


def _settle(A: Floats, v: Floats, step: Floats) -> Tried:
    """ρν < 1: the minimum exists; go there to the last digits."""
    for _ in range(8):
        v = v + step
        s = _fall(A @ v)
        newton = Step(A, s)
        step = newton.step
        if not newton.good or newton.decrement < 1e-13:
            break
    return Tried("overlap", v, s)


class Step:
    """H⁻¹Aᵀs with H = AᵀVA, V = diag s(1 − s), and ν = √(gᵀH⁻¹g): by Cholesky, or where that is poor by an SVD."""

    step: Floats
    decrement: float
    full: bool
    inverse_root: Floats

    def __init__(self, A: Floats, s: Floats) -> None:
        self.A, self.s = A, s
        root = np.sqrt(s * (1 - s))
        if not self._by_products(root):
            self._by_svd(root)
        self.good = bool(np.isfinite(self.step).all())

    def near(self) -> bool:
        """ρν < ½, ρ = maxᵢ √(aᵢᵀH⁻¹aᵢ); since Σvᵢaᵢᵀ(H⁻¹)aᵢ is the number of weights, ρ² is at least that over Σv."""
        least = np.sqrt(self.A.shape[1] / float((self.s * (1 - self.s)).sum()))
        return self.full and self.decrement * least < 0.5 and self.decrement * self.reach() < 0.5

    def reach(self) -> float:
        """ρ."""
        return float(np.sqrt(np.square(self.A @ self.inverse_root).sum(axis=1).max()))

    def _by_products(self, root: Floats) -> bool:
        B, g = self.A * root[:, None], self.s @ self.A
        H = B.T @ B
        size = np.sqrt(np.diag(H))
        try:
            L = cholesky(H / np.outer(size, size), lower=True)
        except (LinAlgError, ValueError):
            return False
        if np.diag(L).min() <= STEADY:
            return False
        self.step = cho_solve((L, True), g / size) / size
        self.decrement, self.full = math.sqrt(max(float(g @ self.step), 0.0)), True
        self.inverse_root = solve_triangular(L, np.diag(1 / size), lower=True).T
        return True

    def _by_svd(self, root: Floats) -> None:
        U, values, Vt = np.linalg.svd(self.A * root[:, None], full_matrices=False)
        good = values > 1e-14 * values[0]
        short = U[:, good].T @ np.divide(self.s, root, out=np.zeros_like(self.s), where=root > 0)
        self.step = Vt[good].T @ (short / values[good])
        self.decrement, self.full = float(np.linalg.norm(short)), bool(good.sum() == self.A.shape[1])
        self.inverse_root = Vt[good].T / values[good]


def _fall(m: Floats) -> Floats:
    """σ(−m)."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(m))  # type: ignore[no-any-return]


def _value(m: Floats) -> float:
    return float(np.logaddexp(0.0, -m).sum())
