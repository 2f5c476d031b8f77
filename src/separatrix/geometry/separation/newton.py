"""Newton's method for a few signed rows: it separates them, or shows that they overlap, or neither."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from ...fitting.solvers.descent import Damping, descend
from ...fitting.solvers.newton import OwnStep
from ...numerics.arrays import Floats

STEPS = 60
"""The most steps."""
MORE_STEPS = 6
"""Steps that are added to a rule that separates, to give it room."""
CLEAR = 1.0
"""The log-odds of every row at which it has room enough."""
LAST_STEPS = 8
"""Steps to the last digits of a minimum that is proved to exist."""
DAMPING = Damping(enough=0.1, least=0.5, shortest=1e-10)
"""How steps are shortened."""
STEADY = 1e-5
"""A Cholesky factor whose pivots differ by no more than this is good enough; else QR."""
UNDECIDED = 1e-6
"""The squared decrement below which others have to decide."""
BLOCK = 1 << 20
"""Numbers of rows that are multiplied together."""


class NewtonAnswer(NamedTuple):
    """What Newton's method found."""

    status: str
    """separated, overlap or unclear."""
    v: Floats
    weights: Floats
    """σ(−m) of each row: what balances the rows where they overlap."""
    steady: bool = True
    """Whether the columns are far enough from dependent for products of them."""


def try_newton(
    A: Floats, undecided: float = UNDECIDED, *, conditioned: bool = False, start: Floats | None = None
) -> NewtonAnswer:
    """argmin Σ log(1 + exp(−aᵀv)) over the signed rows a, as far as it is needed to tell.

    A decrement below `undecided` leaves what is neither separated nor proved to overlap to others; so do, at once,
    columns that are nearly dependent where only `conditioned` ones are wanted.
    """
    direction = OwnStep(lambda _, at: at.newton.step)
    more, steady, settling = MORE_STEPS, True, 0
    start = np.zeros(A.shape[1]) if start is None else start
    for state in islice(descend(partial(SignedPoint.at, A), start, direction, damping=DAMPING), STEPS):
        v, at = state.v, state.at
        least, newton = float(at.m.min(initial=np.inf)), at.newton
        if settling:  # the minimum exists: go there to the last digits
            settling += 1
            if state.stalled or not newton.good or newton.decrement < 1e-13 or settling > LAST_STEPS:
                return NewtonAnswer("overlap", v, at.s)
            continue
        if least > 0:
            more -= 1
            if least >= CLEAR or more < 0:
                return NewtonAnswer("separated", v, at.s)
        steady = steady and (newton.steady or bool(v.any()))
        if not newton.good or (conditioned and not steady):
            break
        if least <= 0 and newton.near():
            settling = 1
        elif state.stalled or newton.decrement**2 < undecided:
            break
    status = "separated" if float(at.m.min(initial=np.inf)) > 0 else "unclear"
    return NewtonAnswer(status, v, at.s, steady)


@dataclass(frozen=True)
class SignedPoint:
    """Σ log(1 + exp(−aᵀv)) over the signed rows a, its slope, and Newton's step, which knows the Hessian."""

    value: float
    gradient: Floats
    A: Floats
    m: Floats
    """aᵀv of each row."""
    s: Floats
    """σ(−m)."""

    @classmethod
    def at(cls, A: Floats, v: Floats, _: Any) -> SignedPoint:
        """The point v."""
        m = A @ v
        s = _fall(m)
        return cls(float(np.logaddexp(0.0, -m).sum()), -(s @ A), A, m, s)

    @cached_property
    def newton(self) -> Step:
        """Newton's step."""
        return Step(self.A, self.s)


class Step:
    """H⁻¹Aᵀs with H = AᵀVA, V = diag s(1 − s), and ν = √(gᵀH⁻¹g): by Cholesky, or where that is poor by an SVD."""

    step: Floats
    decrement: float
    full: bool
    lengths: Callable[[Floats], Floats]
    """√(aᵀH⁻¹a) of rows a."""

    def __init__(self, A: Floats, s: Floats) -> None:
        self.A, self.v = A, s * (1 - s)
        self.steady = self._by_products(s)
        if not self.steady:
            self._by_svd(s)
        self.good = bool(np.isfinite(self.step).all())

    def near(self) -> bool:
        """ρν < ½, ρ = maxᵢ √(aᵢᵀH⁻¹aᵢ); since Σvᵢaᵢᵀ(H⁻¹)aᵢ is the number of weights, ρ² is at least that over Σv."""
        least = math.sqrt(self.A.shape[1] / float(self.v.sum()))
        return self.full and self.decrement * least < 0.5 and self.decrement * self.reach() < 0.5

    def reach(self) -> float:
        """ρ."""
        return max(float(self.lengths(self.A[part]).max()) for part in blocks(self.A))

    def _by_products(self, s: Floats) -> bool:
        g, H = s @ self.A, np.zeros((self.A.shape[1],) * 2)
        for part in blocks(self.A):
            B = self.A[part] * np.sqrt(self.v[part])[:, None]
            H += B.T @ B
        size = np.sqrt(np.diag(H))
        if not size.all():
            return False
        H /= size
        H /= size[:, None]
        L, info = dpotrf(H, lower=1)
        if info or np.diag(L).min() <= STEADY:
            return False
        self.step = dpotrs(L, g / size, lower=1)[0] / size
        self.decrement, self.full = math.sqrt(max(float(g @ self.step), 0.0)), True

        def lengths(A: Floats) -> Floats:
            return np.sqrt(np.square(dtrmm(1.0, dtrtri(L, lower=1)[0], (A / size).T, lower=1)).sum(axis=0))  # type: ignore[no-any-return]

        self.lengths = lengths
        return True

    def _by_svd(self, s: Floats) -> None:
        root = np.sqrt(self.v)
        U, values, Vt = np.linalg.svd(self.A * root[:, None], full_matrices=False)
        good = values > 1e-14 * values[0]
        short = U[:, good].T @ np.divide(s, root, out=np.zeros_like(s), where=root > 0)
        self.step = Vt[good].T @ (short / values[good])
        self.decrement, self.full = float(np.linalg.norm(short)), bool(good.sum() == self.A.shape[1])
        self.lengths = lambda A: np.linalg.norm(A @ (Vt[good].T / values[good]), axis=1)


def blocks(A: Floats) -> Iterator[slice]:
    """All rows, some at a time."""
    size = max(1, BLOCK // max(1, A.shape[1]))
    return (slice(lo, lo + size) for lo in range(0, len(A), size))


def _fall(m: Floats) -> Floats:
    """σ(−m)."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(m))  # type: ignore[no-any-return]
