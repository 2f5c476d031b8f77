"""Signed rows that balance: many that span, few that cross."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgetrf, dgetrs

from ...numerics.arrays import Floats, Indices
from ...numerics.exact import balances_exactly, exact_dot
from ...numerics.threads import one_blas_thread
from ...results.separability import Combination
from ..program import even_balance, few_that_balance
from .newton import blocks, try_newton
from .search import SURE, WIDE, Arrangement, HiddenSeparationError
from .units import POOR, RANK, simple

REFRESH = 60
"""Exchanges after which the inverse of the basis is worked out anew."""
BLOCK = 64
"""Exchanges that change the combinations of many weights together."""
AT_A_TIME = 256
"""Rows whose combinations are worked out together."""
REFRESH_OF_MANY = 8 * BLOCK
"""Exchanges after which these are worked out anew."""
STEADY = 1e-9
"""A share of a row, relative to its largest, that is none."""
NOTHING = 1e-11
"""A multiplier, relative to the largest, that is zero."""


def thinned(A: Floats, multipliers: Floats) -> tuple[Indices, Floats] | None:
    """At most (columns + 1) of the rows, and λ > 0 with Aᵀλ = 0; None if rounding gets in the way.

    Independent rows are a basis, in which every other row is a combination, a = cᵀB: to take t of it out, add tc to the
    multipliers of the basis. Either all of it goes, or a row of the basis is used up before, and it takes its place.
    """
    width = A.shape[1]
    order = qr((A * multipliers[:, None]).T, mode="r", pivoting=True)[1].astype(np.intp)
    basis, rest = order[:width].copy(), order[width:][np.argsort(multipliers[order[width:]])]
    left = multipliers / multipliers.max()
    try:
        inverse, changes = _inverse(A[basis]), 0
        for j in rest[:-1]:
            c = A[j] @ inverse
            out, t = _first_used_up(left[basis], c)
            t = min(t, float(left[j]))
            left[basis] += t * c
            left[j] -= t
            if left[j] > 0:  # row `out` of the basis is used up
                left[basis[out]], basis[out], changes = 0.0, j, changes + 1
                inverse = _exchanged(inverse, c, out) if changes % REFRESH else _inverse(A[basis])
        return _settled(A, basis, int(rest[-1]))
    except np.linalg.LinAlgError:
        return None


def thinned_in_blocks(A: Floats, multipliers: Floats) -> tuple[Indices, Floats] | None:
    """What `thinned` does, for many weights: the combinations of all rows are at hand, their changes in blocks.

    When the row with the combination c takes place `out`, any other, cᵢ, becomes cᵢ − cᵢ[out]/c[out](c − e_out).
    """
    n, width = A.shape
    pivots = dgetrf(np.multiply(A, multipliers[:, None], order="F"), overwrite_a=True)[1]
    order = np.arange(n)
    for i, j in enumerate(pivots.tolist()):
        order[i], order[j] = order[j], order[i]
    basis, rest = order[:width].copy(), order[width:][np.argsort(multipliers[order[width:]])]
    left, k, changes = multipliers / multipliers.max(), 0, 0
    U, V = np.empty((len(rest), BLOCK)), np.empty((BLOCK, width))
    try:
        C = _combinations(A, basis, rest)
        for i, j in enumerate(rest[:-1]):
            c = C[i] - U[i, :k] @ V[:k]
            out, t = _first_used_up(left[basis], c)
            t = min(t, float(left[j]))
            left[basis] += t * c
            left[j] -= t
            if not left[j] > 0:
                continue
            left[basis[out]], basis[out], changes = 0.0, j, changes + 1
            U[i + 1 :, k] = (C[i + 1 :, out] - U[i + 1 :, :k] @ V[:k, out]) / c[out]
            c[out] -= 1.0
            V[k], k = c, k + 1
            if changes % (REFRESH_OF_MANY) == 0:
                C[i + 1 :], k = _combinations(A, basis, rest[i + 1 :]), 0
            elif k == BLOCK:
                C[i + 1 :] -= U[i + 1 :] @ V
                k = 0
        return _settled(A, basis, int(rest[-1]))
    except np.linalg.LinAlgError:
        return None


def _combinations(A: Floats, basis: Indices, rows: Indices) -> Floats:
    """C with C A[basis] = A[rows]."""
    upper, pivots, failed = dgetrf(A[basis].T)
    if failed:
        raise np.linalg.LinAlgError
    C = np.empty((len(rows), len(basis)))
    for lo in range(0, len(rows), AT_A_TIME):
        C[lo : lo + AT_A_TIME] = dgetrs(upper, pivots, A[rows[lo : lo + AT_A_TIME]].T)[0].T
    return C


def _inverse(B: Floats) -> Floats:
    return np.asarray(np.linalg.inv(B), dtype=np.float64)


def _first_used_up(left: Floats, c: Floats) -> tuple[int, float]:
    """The row of the basis whose multiplier is the first to reach zero, of several the steadiest; and when."""
    size = float(np.abs(c).max(initial=0.0))
    falls = c < -STEADY * size
    room = np.divide(np.maximum(left, 0.0), -c, out=np.full(len(c), np.inf), where=falls)
    least = float(room.min(initial=np.inf))
    near = np.flatnonzero(room <= least * (1 + STEADY)) if np.isfinite(least) else np.zeros(1, np.intp)
    return int(near[np.abs(c[near]).argmax()]), max(least, 0.0)


def _exchanged(inverse: Floats, c: Floats, out: int) -> Floats:
    """The inverse after row `out` of the matrix became cᵀ times the matrix."""
    column = inverse[:, out] / c[out]
    c = c.copy()
    c[out] -= 1.0
    return inverse - np.outer(column, c)


def _settled(A: Floats, basis: Indices, last: int) -> tuple[Indices, Floats] | None:
    """The multipliers of the basis and one more row, to their last digits."""
    system = np.linalg.solve(A[basis].T, -A[last])
    rows, found = np.append(basis, last), np.append(system, 1.0)
    found[np.abs(found) < NOTHING * np.abs(found).max()] = 0.0
    return (rows[found > 0], found[found > 0]) if (found >= 0).all() else None


FEWER = 3
"""Rows for each weight with which a balance is first tried."""
ENOUGH = 30
"""Rows for each weight that may all stay in a balance."""
EXACT = 24
"""Weights up to which it is worked out in fractions whether rows cross exactly."""
TRIES = 4
"""How many crossings are looked for until one is even enough."""
EVEN = 1e-6
"""The smallest multiplier of a crossing beside the largest, from which on it is even enough."""
SPAN = 1e-14
"""The square of a singular value, relative, with which rows span a direction."""
SMALL = 100_000
"""Numbers of rows up to which faint multipliers are made even by a linear program."""
FAINT = 1e-6
"""Multipliers, relative to the largest, that are better done without."""
FAINTEST = 1e-13
"""Multipliers, relative to the largest, that are small enough to be anything."""


class Balance(NamedTuple):
    """Rows of the working set and what they are multiplied by."""

    rows: Indices
    multipliers: Floats
    rank: int


def balance_of(found: Arrangement) -> Balance:
    """Positive multipliers of boundary rows that span them, of as few rows as come easily."""
    rows, A = found.boundary, found.working.A
    A = A if len(rows) == len(A) else A[rows]
    with one_blas_thread():
        known = found.weights is not None and len(rows) <= ENOUGH * A.shape[1]
        Q = np.eye(A.shape[1]) if known else _row_space(A)
        rank = Q.shape[1]
        if not rank:  # rows of zeros only
            return Balance(rows[:1], np.ones(1), 0)
        order, count = np.random.default_rng(0).permutation(len(rows)), FEWER * rank
        while True:
            if known and rank >= WIDE:
                assert found.weights is not None
                every = np.arange(len(rows))
                balanced, count = _without_the_faint(A, every, found.weights, sure=True, start=found.middle), len(rows)
            elif known and count > 2 * FEWER * rank and rank < WIDE:  # smaller ones were tried in vain
                assert found.weights is not None
                balanced = _without_the_faint(A, np.arange(len(rows)), found.weights, sure=True)
            else:
                balanced = _balanced(A if known else A @ Q, np.sort(order[:count]))
            if balanced is not None:
                return Balance(rows[balanced[0]], balanced[1], rank)
            if count >= len(rows):
                break
            count *= 2
        weights = even_balance(A @ Q)
    if weights is None:
        raise HiddenSeparationError
    return Balance(rows, weights, rank)


def _balanced(A: Floats, part: Indices) -> tuple[Indices, Floats] | None:
    """Rows of this part and positive multipliers that balance and span; rows that hardly count are left out."""
    if len(part) < len(A) and not _spans(A[part]):
        return None
    tried = try_newton(A[part], SURE)
    if tried.status == "separated":
        return None
    best = _without_the_faint(A, part, tried.weights, tried.status == "overlap")
    if best is None or best[1].min() >= FAINT * best[1].max() or best[1].size * A.shape[1] > SMALL:
        return best
    even = even_balance(A[best[0]])  # rows that hardly count, and yet are needed for the span
    return (best[0], even) if even is not None and even.min() > best[1].min() / best[1].max() * even.max() else best


def _without_the_faint(
    A: Floats, part: Indices, weights: Floats, sure: bool, start: Floats | None = None
) -> tuple[Indices, Floats] | None:
    """The balance without rows that hardly count; None if what is left is not known to span and balance by itself."""
    best = (part, np.asarray(np.maximum(weights, FAINTEST * weights.max()))) if sure else None
    while (faint := weights < FAINT * weights.max()).any():
        part = part[~faint]
        if len(part) <= A.shape[1] or not _spans(A[part]):
            break
        tried = try_newton(A[part], SURE, start=start)
        if tried.status == "separated":
            break
        weights = tried.weights
        if tried.status == "overlap":
            best = part, np.asarray(np.maximum(weights, FAINTEST * weights.max()))
    return best


def _spans(A: Floats) -> bool:
    """Whether these rows span all that the columns allow, well above the rounding of their coordinates."""
    length, products = np.sqrt(np.vecdot(A, A)), np.zeros((A.shape[1],) * 2)
    for part in blocks(A):
        unit = A[part] / np.where(length > 0, length, 1.0)[part, None]
        products += unit.T @ unit
    values = np.linalg.eigvalsh(products)
    return bool(values[0] > SPAN * values[-1])


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


def crossing_of(found: Arrangement, balance: Balance) -> Balance:
    """At most (rank + 1) of these rows that balance."""
    A = found.working.A[balance.rows]
    zero = np.flatnonzero(~A.any(axis=1))
    if zero.size:  # a row of zeros balances by itself
        return Balance(balance.rows[zero[:1]], np.ones(1), 0)
    with one_blas_thread():
        if balance.rank < A.shape[1] or balance.rank < WIDE:
            A = A @ _row_space(A)
        best: tuple[Indices, Floats] | None = None
        for few, multipliers in _few(A, balance.multipliers):
            if len(few) <= A.shape[1]:
                neat = _only_balance(A[few])
                if neat is None:
                    continue
                multipliers = neat
            if np.abs(multipliers @ A[few]).max() > 1e-12 * multipliers.max() * np.abs(A[few]).max():
                continue
            if best is None or _evenness(multipliers) > _evenness(best[1]):
                best = few, multipliers
            if A.shape[1] >= WIDE or _evenness(multipliers) > EVEN:
                break
    if best is None:
        raise HiddenSeparationError
    return Balance(balance.rows[best[0]], simple(best[1]), len(best[0]) - 1)


def _evenness(multipliers: Floats) -> float:
    return float(multipliers.min() / multipliers.max())


def _few(A: Floats, multipliers: Floats) -> Iterator[tuple[Indices, Floats]]:
    """Few rows that balance: those that are left when the others are taken out, or vertices of a linear program."""
    for thin in (thinned_in_blocks, thinned) if A.shape[1] >= WIDE else (thinned,):
        found = thin(A, multipliers) if len(A) > A.shape[1] else None
        if found is not None:
            yield found
    for seed in range(TRIES if A.shape[1] < WIDE else 0):
        chosen = few_that_balance(A, np.random.default_rng(seed).random(len(A)))
        if chosen is not None:
            few = np.flatnonzero(chosen > 1e-9 * chosen.max())
            yield few, chosen[few]


def _only_balance(A: Floats) -> Floats | None:
    """λ > 0 with Aᵀλ = 0, of rows that balance in one way only."""
    length = np.linalg.norm(A, axis=1)
    U, s, _ = np.linalg.svd(A / length[:, None], full_matrices=True)
    found = U[:, len(A) - 1] / length
    found = found * np.sign(found.sum())
    steady = len(s) < len(A) - 1 or len(A) < 2 or s[len(A) - 2] > 1e-6 * s[0]
    left = np.abs(found @ A) <= 1e-13 * (found @ np.abs(A)) + 1e-13 * found.max() * length.max()
    return found if steady and left.all() and (found > 0).all() else None


def slip_of(found: Arrangement, balance: Balance, full_rank: int) -> float:
    """How far from balance, relative to what is balanced, where no completion of the last digits makes it exact."""
    if balance.rank >= full_rank and (full_rank > EXACT or _steady(found.working.A[balance.rows], balance)):
        return 0.0  # the check completes its multipliers
    case, other = found.working.case[balance.rows], found.working.other[balance.rows]
    own, X = found.cases.own[case], found.cases.block.written(found.cases.row[case]).astype(np.float64)
    X = np.column_stack([X, np.ones((len(X), int(found.cases.lifted)))])
    blocks = [(1.0 * (own == k) - 1.0 * (other == k))[:, None] * X for k in range(1, found.cases.classes)]
    A = np.hstack(blocks)
    if balances_exactly(A, balance.multipliers):
        return 0.0
    ratio, left = 0.0, 0.0
    for j, column in enumerate(A.T):
        there = column != 0
        total = abs(float(exact_dot(balance.multipliers[there], column[there])))
        if found.cases.lifted and (j + 1) % X.shape[1] == 0:
            left += total  # ones are not perturbed: the flows between classes are scaled instead
        elif total:
            ratio += total / float(balance.multipliers @ np.abs(column))
    flow = np.zeros((found.cases.classes,) * 2)
    np.add.at(flow, (own, other), balance.multipliers)
    return ratio + 3 * left / float(flow[flow > 0].min())


def _steady(A: Floats, balance: Balance) -> bool:
    """Whether the rows, each as heavy as it counts, are so far from dependent that last digits do not matter."""
    s = np.linalg.svd(A @ _row_space(A) * (balance.multipliers / balance.multipliers.max())[:, None], compute_uv=False)
    return not s.size or bool(s[-1] > POOR**2 * s[0])


def combination(found: Arrangement, balance: Balance) -> Combination:
    """The balance in rows of X."""
    cases, case = found.cases, found.working.case[balance.rows]
    return Combination(cases.row[case], cases.own[case], found.working.other[balance.rows], balance.multipliers)
