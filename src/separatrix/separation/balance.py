"""Signed rows that balance: many that span, few that cross."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.threads import one_blas_thread
from ..separable import Combination
from .newton import try_newton
from .program import even_balance, few_that_balance
from .search import RANK, Found, TroubleError, simple

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SPARE = 6
"""Rows for each weight with which a balance is first tried."""


class Balance(NamedTuple):
    """Rows of the working set and what they are multiplied by."""

    rows: Indices
    multipliers: Floats
    rank: int


def balance_of(found: Found) -> Balance:
    """Positive multipliers of boundary rows that span them, of as few rows as come easily."""
    rows, A = found.boundary, found.working.A[found.boundary]
    with one_blas_thread():
        Q = _row_space(A)
        rank = Q.shape[1]
        if not rank:  # rows of zeros only
            return Balance(rows[:1], np.ones(1), 0)
        order, count = np.random.default_rng(0).permutation(len(rows)), SPARE * rank
        while True:
            part = np.sort(order[:count])
            tried = try_newton(A[part] @ Q)
            if tried.status == "overlap":
                return Balance(rows[part], tried.weights, rank)
            if count >= len(rows):
                break
            count *= 2
        weights = even_balance(A)
    if weights is None:
        raise TroubleError
    return Balance(rows, weights, rank)


def _row_space(A: Floats) -> Floats:
    """An orthonormal basis of the span of the rows."""
    length = np.linalg.norm(A, axis=1)
    if not length.any():
        return np.zeros((A.shape[1], 0))
    _, s, Vt = np.linalg.svd(A[length > 0] / length[length > 0, None], full_matrices=False)
    rank = int((s > RANK * s[0]).sum())
    return np.eye(A.shape[1]) if rank == A.shape[1] else Vt[:rank].T


def crossing_of(found: Found, balance: Balance) -> Balance:
    """At most (rank + 1) of these rows that balance."""
    A = found.working.A[balance.rows]
    zero = np.flatnonzero(~A.any(axis=1))
    if zero.size:  # a row of zeros balances by itself
        return Balance(balance.rows[zero[:1]], np.ones(1), 0)
    chosen = few_that_balance(A, np.random.default_rng(0).random(len(A)))
    if chosen is None:
        raise TroubleError
    few = chosen > 1e-9 * chosen.max()
    multipliers = _only_balance(A[few])
    if multipliers is None:
        raise TroubleError
    return Balance(balance.rows[few], multipliers, int(few.sum()) - 1)


def _only_balance(A: Floats) -> Floats | None:
    """λ > 0 with Aᵀλ = 0, of rows that balance in one way only; in whole numbers where possible."""
    length = np.linalg.norm(A, axis=1)
    U, _, _ = np.linalg.svd(A / length[:, None], full_matrices=True)
    found = U[:, len(A) - 1] / length
    found = simple(found * np.sign(found.sum()))
    return found if (found > 0).all() else None


def slip_of(found: Found, balance: Balance, full_rank: int) -> float:
    """How far from balance, relative to what is balanced, where no completion of the last digits makes it exact."""
    if balance.rank >= full_rank:
        return 0.0
    case = found.working.case[balance.rows]
    X = found.cases.X[found.cases.row[case]]
    worst = 0.0
    for k in range(found.cases.classes):
        sign = 1.0 * (found.cases.own[case] == k) - 1.0 * (found.working.other[balance.rows] == k)
        for column in X.T:
            terms = [
                Fraction(float(a)) * Fraction(float(b)) for a, b in zip(balance.multipliers * sign, column, strict=True)
            ]
            size = float(sum(map(abs, terms), Fraction(0)))
            worst = max(worst, abs(float(sum(terms, Fraction(0)))) / size if size else 0.0)
    return worst * (1 + 1e-6)


def combination(found: Found, balance: Balance) -> Combination:
    """The same by rows of X."""
    cases, case = found.cases, found.working.case[balance.rows]
    return Combination(cases.row[case], cases.own[case], found.working.other[balance.rows], balance.multipliers)
