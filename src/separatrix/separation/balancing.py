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
from .rational import balances_exactly
from .search import POOR, RANK, SURE, Found, TroubleError, simple

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SPARE, ENOUGH = 6, 30
"""Rows for each weight with which a balance is first tried; those that need not be thinned."""
TRIES, EVEN = 4, 1e-6
"""How many crossings are looked for until the smallest of its multipliers is not too small beside the largest."""
FAINT, FAINTEST = 1e-6, 1e-13
"""Multipliers, relative to the largest, that are better done without; that are small enough to be anything."""


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
        if found.weights is not None and rank == A.shape[1] and len(rows) <= ENOUGH * rank:
            balanced = _without_the_faint(A, np.arange(len(rows)), found.weights, sure=True)
            if balanced is not None:
                return Balance(rows[balanced[0]], balanced[1], rank)
        order, count = np.random.default_rng(0).permutation(len(rows)), SPARE * rank
        while True:
            part = np.sort(order[:count])
            balanced = _balanced(A @ Q, part)
            if balanced is not None:
                return Balance(rows[balanced[0]], balanced[1], rank)
            if count >= len(rows):
                break
            count *= 2
        weights = even_balance(A @ Q)
    if weights is None:
        raise TroubleError
    return Balance(rows, weights, rank)


def _balanced(A: Floats, part: Indices) -> tuple[Indices, Floats] | None:
    """Rows of this part and positive multipliers that balance and span; rows that hardly count are left out."""
    tried = try_newton(A[part], SURE)
    if tried.status == "separated":
        return None
    return _without_the_faint(A, part, tried.weights, tried.status == "overlap")


def _without_the_faint(A: Floats, part: Indices, weights: Floats, sure: bool) -> tuple[Indices, Floats] | None:
    """The same without rows that hardly count; None if what is left is not known to span and balance by itself."""
    best = (part, np.asarray(np.maximum(weights, FAINTEST * weights.max()))) if sure else None
    while (faint := weights < FAINT * weights.max()).any():
        part = part[~faint]
        if len(part) <= A.shape[1] or np.linalg.matrix_rank(A[part]) < A.shape[1]:
            break
        tried = try_newton(A[part], SURE)
        if tried.status == "separated":
            break
        weights = tried.weights
        if tried.status == "overlap":
            best = part, np.asarray(np.maximum(weights, FAINTEST * weights.max()))
    return best


def _row_space(A: Floats) -> Floats:
    """A basis of the span of the rows, in which they are as far as can be from a smaller one."""
    length = np.linalg.norm(A, axis=1)
    if not length.any():
        return np.zeros((A.shape[1], 0))
    _, s, Vt = np.linalg.svd(A[length > 0] / length[length > 0, None], full_matrices=False)
    rank = int((s > RANK * s[0]).sum())
    if rank == A.shape[1] and s[-1] > POOR * s[0]:
        return np.eye(rank)
    return np.asarray(Vt[:rank].T * (s[0] / s[:rank]))


def crossing_of(found: Found, balance: Balance) -> Balance:
    """At most (rank + 1) of these rows that balance."""
    A = found.working.A[balance.rows]
    A = A @ _row_space(A)
    zero = np.flatnonzero(~A.any(axis=1))
    if zero.size:  # a row of zeros balances by itself
        return Balance(balance.rows[zero[:1]], np.ones(1), 0)
    for seed in range(TRIES):
        chosen = few_that_balance(A, np.random.default_rng(seed).random(len(A)))
        few = np.flatnonzero(chosen > 1e-9 * chosen.max()) if chosen is not None else np.empty(0, np.intp)
        multipliers = _only_balance(A[few]) if few.size else None
        if multipliers is not None:
            return Balance(balance.rows[few], multipliers, len(few) - 1)
    few = _thinned(A, balance.multipliers)
    multipliers = _only_balance(A[few], poor=True)
    if multipliers is None:
        raise TroubleError
    return Balance(balance.rows[few], multipliers, len(few) - 1)


def _only_balance(A: Floats, *, poor: bool = False) -> Floats | None:
    """λ > 0 with Aᵀλ = 0, of rows that balance in one way only; in whole numbers where possible."""
    length = np.linalg.norm(A, axis=1)
    U, s, _ = np.linalg.svd(A / length[:, None], full_matrices=True)
    found = U[:, len(A) - 1] / length
    found = simple(found * np.sign(found.sum()))
    if not (found > (0 if poor else EVEN) * found.max()).all():
        return None
    steady = len(s) < len(A) - 1 or len(A) < 2 or s[len(A) - 2] > 1e-6 * s[0]
    left = np.abs(found @ A) <= 1e-13 * (found @ np.abs(A)) + 1e-13 * found.max() * length.max()
    return found if poor or (steady and left.all()) else None


def _thinned(A: Floats, multipliers: Floats) -> Indices:
    """Rows with Aᵀλ = 0 for positive λ that do so in one way only: one row at a time is relieved by the others."""
    rows, rest, balance = np.argsort(-multipliers)[:0], np.argsort(-multipliers), multipliers.copy()
    rank = _row_space(A).shape[1]
    while rest.size or len(rows) > rank + 1:
        take = rank + 2 - len(rows)
        rows, rest = np.append(rows, rest[:take]), rest[take:]
        null = np.linalg.svd(A[rows] * balance[rows, None])[0][:, -1] * balance[rows]
        if len(rows) < rank + 2 and np.abs(null @ A[rows]).max() > 1e-12 * np.abs(null) @ np.abs(A[rows]).max(axis=1):
            break
        if not (null > 0).any():
            null = -null
        ratio = np.where(null > 0, balance[rows] / np.where(null > 0, null, 1.0), np.inf)
        out = int(ratio.argmin())
        balance[rows] -= ratio[out] * null
        rows = np.delete(rows, out)
        rows = rows[balance[rows] > 0]
    return rows.astype(np.intp)


def slip_of(found: Found, balance: Balance, full_rank: int) -> float:
    """How far from balance, relative to what is balanced, where no completion of the last digits makes it exact."""
    if balance.rank >= full_rank:
        return 0.0
    case, other = found.working.case[balance.rows], found.working.other[balance.rows]
    own, X = found.cases.own[case], found.cases.X[found.cases.row[case]].astype(np.float64)
    X = np.column_stack([X, np.ones((len(X), int(found.cases.lifted)))])
    blocks = [(1.0 * (own == k) - 1.0 * (other == k))[:, None] * X for k in range(1, found.cases.classes)]
    A = np.hstack(blocks)
    if balances_exactly(A, balance.multipliers):
        return 0.0
    ratio, left = 0.0, 0.0
    for j, column in enumerate(A.T):
        terms = zip(balance.multipliers.tolist(), column.tolist(), strict=True)
        total = abs(float(sum((Fraction(a) * Fraction(b) for a, b in terms), Fraction(0))))
        if found.cases.lifted and (j + 1) % X.shape[1] == 0:
            left += total  # ones are not perturbed: the flows between classes are scaled instead
        elif total:
            ratio += total / float(balance.multipliers @ np.abs(column))
    flow = np.zeros((found.cases.classes,) * 2)
    np.add.at(flow, (own, other), balance.multipliers)
    return ratio + 3 * left / float(flow[flow > 0].min())


def combination(found: Found, balance: Balance) -> Combination:
    """The same by rows of X."""
    cases, case = found.cases, found.working.case[balance.rows]
    return Combination(cases.row[case], cases.own[case], found.working.other[balance.rows], balance.multipliers)
