"""Referees of separation that share no code with the library: all extreme rays, exact programmes, floating programmes.

The first, `separation`, is for few rows of small whole numbers, and exact. It enumerates the extreme rays of the cone
of rules that err on no row, {β : aβ ≥ 0 for every signed row a}. Columns that depend on earlier ones are left out, so
the cone holds no line and is the sum of its rays: a signed row is separated by some rule, and so by the sum of all
rays, if and only if a ray is positive on it; a coefficient moves as the rays do. The second, `separation_by_fractions`,
answers the same by Bland's simplex in rational numbers. The third, `separation_by_highs`, is for some hundred rows.

Labels are 0 … K − 1, all of them present among the rows that count.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

INTERCEPT = "(intercept)"


class Answer(NamedTuple):
    kind: str
    rows: tuple[int, ...]
    """Rows that are separated from all other classes."""
    partly: tuple[int, ...]
    """Rows that are separated from some of them."""
    coefficients: Any
    """By column number and "(intercept)"; of K classes a mapping for each but the last."""
    aliased: tuple[int, ...]
    """Columns that are combinations of the intercept and earlier ones."""
    pairs: frozenset[tuple[int, int]]
    """(row, other class) of every signed row that is separated."""


class Signed(NamedTuple):
    """Signed rows: a·β > 0 if the rule β gives the row a higher score for its own class than for the other."""

    vectors: Any
    row: tuple[int, ...]
    own: tuple[int, ...]
    other: tuple[int, ...]


# ------------------------------------------------------------------------------------------------ the problem in rows


def signed_rows(Z: Any, y: Any, classes: int, rows: Iterable[int]) -> Signed:
    """(e_own − e_other) ⊗ z, without the block of the class whose weights are zero: of two the first, else the last."""
    base = 0 if classes == 2 else classes - 1
    kept = [k for k in range(classes) if k != base]
    entries = [(i, int(y[i]), k) for i in rows for k in range(classes) if k != y[i]]
    unit = np.eye(classes, dtype=np.asarray(Z).dtype)[:, kept]
    vectors = [np.kron(unit[own] - unit[k], Z[i]) for i, own, k in entries]
    own, other = tuple(own for _, own, _ in entries), tuple(k for *_, k in entries)
    return Signed(np.array(vectors), tuple(i for i, *_ in entries), own, other)


def with_ones(X: Any, fit_intercept: bool) -> Any:
    """The columns, the intercept's first: it comes before all others in judging which depend on which."""
    X = np.asarray(X)
    return np.column_stack([np.ones((len(X), int(fit_intercept)), dtype=X.dtype), X])


def rank(matrix: Any) -> int:
    return len(independent_columns(np.asarray(matrix).T)) if len(matrix) else 0


def independent_columns(matrix: Any) -> list[int]:
    """The columns that are no combination of earlier ones, by elimination in rational numbers."""
    matrix = np.asarray(matrix)
    reduced: list[tuple[int, list[Fraction]]] = []
    found = []
    for j in range(matrix.shape[1]):
        column = [Fraction(int(value)) for value in matrix[:, j]]
        for at, known in reduced:
            if column[at]:
                factor = column[at] / known[at]
                column = [a - factor * b for a, b in zip(column, known, strict=True)]
        at = next((i for i, value in enumerate(column) if value), None)
        if at is not None:
            reduced.append((at, column))
            found.append(j)
    return found


def _posed(X: Any, y: Any, weight: Any, fit_intercept: bool, classes: int) -> tuple[Signed, list[int], int]:
    """The signed rows that count in independent columns, which columns these are, and of how many."""
    y = np.asarray(y)
    counts = np.arange(len(y)) if weight is None else np.flatnonzero(np.asarray(weight) > 0)
    assert set(y[counts].tolist()) == set(range(classes))
    Z = with_ones(X, fit_intercept)
    kept = independent_columns(Z[counts])
    return signed_rows(Z[:, kept], y, classes, counts), kept, Z.shape[1]


def _answer(signed: Signed, separated: Any, status: list[str], kept: list[int], total: int, one: int, K: int) -> Answer:
    pairs = frozenset((i, k) for i, k, is_so in zip(signed.row, signed.other, separated, strict=True) if is_so)
    count = {i: sum(row == i for row, _ in pairs) for i in set(signed.row)}
    kind = "separated" if all(separated) else "quasi-separated" if pairs else "overlap"
    names = [INTERCEPT if one and j == 0 else j - one for j in range(total)]
    blocks = []
    for k in range(K - 1):
        at = dict(zip(kept, status[k * len(kept) : (k + 1) * len(kept)], strict=True))
        blocks.append({name: at.get(j, "undetermined") for j, name in enumerate(names)})
    return Answer(
        kind,
        tuple(sorted(i for i in count if count[i] == K - 1)),
        tuple(sorted(i for i in count if 0 < count[i] < K - 1)),
        blocks[0] if K == 2 else dict(enumerate(blocks)),
        tuple(j - one for j in range(total) if j not in kept),
        pairs,
    )


# --------------------------------------------------------------------------------------------------- by extreme rays


def separation(X: Any, y: Any, *, weight: Any = None, fit_intercept: bool = True, classes: int = 2) -> Answer:
    """By all extreme rays. X holds small whole numbers; rows of weight zero are absent."""
    signed, kept, total = _posed(np.asarray(X, dtype=np.int64), y, weight, fit_intercept, classes)
    rays = extreme_rays(signed.vectors)
    separated = (signed.vectors @ rays.T > 0).any(axis=1)
    return _answer(signed, separated, [_status(ray) for ray in rays.T], kept, total, int(fit_intercept), classes)


def _status(moves: Any) -> str:
    """What the rays make of a coefficient: a rule inside the cone is a sum with a positive share of each."""
    up, down = bool((moves > 0).any()), bool((moves < 0).any())
    return {(False, False): "finite", (True, False): "+inf", (False, True): "-inf", (True, True): "undetermined"}[
        up, down
    ]


def balances(A: Any) -> bool:
    """Whether some λ > 0 has λA = 0: by Stiemke if and only if no β has Aβ ≥ 0 and Aβ ≠ 0."""
    A = np.asarray(A, dtype=np.int64)
    return not len(extreme_rays(A[:, independent_columns(A)]))


def extreme_rays(A: Any) -> Any:
    """All extreme rays of {β : Aβ ≥ 0}, A of full column rank p, in whole numbers.

    A ray is extreme if p − 1 independent rows vanish on it; so every choice of p − 1 rows is tried, both ways.
    """
    p = A.shape[1]
    A = np.unique(A[A.any(axis=1)], axis=0)
    if p == 0 or not len(A):
        return np.empty((0, p), dtype=np.int64)
    normals = normals_of(A[_choices(len(A), p - 1)])
    both = np.concatenate([normals, -normals])
    rays = both[both.any(axis=1) & (both @ A.T >= 0).all(axis=1)]
    return np.unique(rays // np.gcd.reduce(rays, axis=1)[:, None], axis=0) if len(rays) else rays


@cache
def _choices(m: int, r: int) -> Any:
    flat = np.fromiter(chain.from_iterable(combinations(range(m), r)), dtype=np.intp)
    return flat.reshape(-1, r) if r else np.empty((1, 0), dtype=np.intp)


def normals_of(M: Any) -> Any:
    """Of each (p − 1) × p matrix the vector of its signed minors: normal to its rows, zero if they are dependent.

    Expansion by rows: the minors of the first r + 1 rows from those of the first r, for every set of columns.
    """
    p = M.shape[2]
    largest = max(1, int(np.abs(M).max(initial=0)))
    assert (p * largest * largest) ** (p - 1) < 2**120  # Hadamard: no minor overflows
    minors = {(): np.ones(len(M), dtype=np.int64)}
    for r in range(p - 1):
        minors = {
            columns: sum(
                (-1) ** (r + at) * M[:, r, j] * minors[columns[:at] + columns[at + 1 :]] for at, j in enumerate(columns)
            )
            for columns in combinations(range(p), r + 1)
        }
    everything = tuple(range(p))
    return np.column_stack([(-1) ** j * minors[everything[:j] + everything[j + 1 :]] for j in range(p)])


# ------------------------------------------------------------------------------------------------ by exact programmes


def separation_by_fractions(
    X: Any, y: Any, *, weight: Any = None, fit_intercept: bool = True, classes: int = 2
) -> Answer:
    """The same by programmes in rational numbers: for each signed row the largest a·β ≤ 1 in the cone, 0 or 1."""
    signed, kept, total = _posed(np.asarray(X, dtype=np.int64), y, weight, fit_intercept, classes)
    A = [[int(value) for value in row] for row in signed.vectors]
    separated = [largest(a, A) == 1 for a in A]
    still = signed.vectors[[not is_so for is_so in separated]]
    cone = A + [[-value for value in row] for row in still.tolist()]
    status = []
    for unit in np.eye(len(A[0]), dtype=int):
        if rank(np.vstack([still, unit])) == rank(still):
            status.append("finite")
        else:
            up, down = largest(unit.tolist(), cone) == 1, largest((-unit).tolist(), cone) == 1
            assert up or down
            status.append("undetermined" if up and down else "+inf" if up else "-inf")
    return _answer(signed, separated, status, kept, total, int(fit_intercept), classes)


def largest(c: list[int], A: list[list[int]]) -> Fraction:
    """max c·β over Aβ ≥ 0, c·β ≤ 1."""
    rows = [[-value for value in a] for a in A] + [list(c)]
    split = [[*row, *(-value for value in row)] for row in rows]
    return simplex([*c, *(-value for value in c)], split, [0] * len(A) + [1])


def simplex(c: list[int], M: list[list[int]], b: list[int]) -> Fraction:
    """max c·x over Mx ≤ b, x ≥ 0, where b ≥ 0 and the maximum exists; Bland's rule, so that it ends."""
    m, n = len(M), len(c)
    table = [[Fraction(v) for v in [*row, *(int(i == k) for k in range(m)), b[i]]] for i, row in enumerate(M)]
    gain = [Fraction(v) for v in [*c, *[0] * m, 0]]
    basis = list(range(n, n + m))
    while True:
        enter = next((j for j in range(n + m) if gain[j] > 0), None)
        if enter is None:
            return -gain[-1]
        bounds = [(table[i][-1] / table[i][enter], basis[i], i) for i in range(m) if table[i][enter] > 0]
        assert bounds, "unbounded"
        *_, leave = min(bounds)
        pivot = table[leave] = [value / table[leave][enter] for value in table[leave]]
        for row in (*(table[i] for i in range(m) if i != leave), gain):
            factor = row[enter]
            if factor:
                row[:] = [a - factor * p for a, p in zip(row, pivot, strict=True)]
        basis[leave] = enter


# --------------------------------------------------------------------------------------------- by floating programmes


def separation_by_highs(X: Any, y: Any, *, weight: Any = None, fit_intercept: bool = True, classes: int = 2) -> Answer:
    """The same in floating point: max Σ t over aβ ≥ t, 0 ≤ t ≤ 1, whose optimum is 0 or 1, then a pair for each β."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    counts = np.arange(len(y)) if weight is None else np.flatnonzero(np.asarray(weight) > 0)
    assert set(y[counts].tolist()) == set(range(classes))
    one = int(fit_intercept)
    size = np.abs(X[counts]).max(axis=0)
    Z = with_ones(X / np.where(size > 0, size, 1), fit_intercept)
    kept: list[int] = []
    for j in range(Z.shape[1]):
        if np.linalg.matrix_rank(Z[np.ix_(counts, [*kept, j])], tol=1e-9) > len(kept):
            kept.append(j)
    signed = signed_rows(Z[:, kept], y, classes, counts)
    A, inverse = np.unique(signed.vectors, axis=0, return_inverse=True)
    m, p = A.shape
    cost = np.r_[np.zeros(p), -np.ones(m)]
    bounds = [(None, None)] * p + [(0, 1)] * m
    found = linprog(cost, np.hstack([-A, np.eye(m)]), np.zeros(m), bounds=bounds, method="highs-ds")
    assert found.status == 0, found.message
    t = found.x[p:]
    assert (np.minimum(t, 1 - t) < 1e-3).all()
    part = t > 0.5
    status = []
    for j in range(p):
        ways = []
        for sign in (1.0, -1.0):
            limits = [(None, None)] * p
            limits[j] = (None, 1) if sign > 0 else (-1, None)
            goal = np.zeros(p)
            goal[j] = -sign
            still = A[~part]
            best = linprog(
                goal,
                -A[part] if part.any() else None,
                np.zeros(part.sum()) if part.any() else None,
                still if len(still) else None,
                np.zeros(len(still)) if len(still) else None,
                limits,
                method="highs-ds",
            )
            assert best.status == 0, best.message
            assert min(abs(best.fun), abs(best.fun + 1)) < 1e-3
            ways.append(best.fun < -0.5)
        status.append({(0, 0): "finite", (1, 0): "+inf", (0, 1): "-inf", (1, 1): "undetermined"}[ways[0], ways[1]])
    return _answer(signed, part[inverse.ravel()], status, kept, Z.shape[1], one, classes)


# ------------------------------------------------------------------------------------------------ the limiting model


class Limit(NamedTuple):
    deviance: float
    """Twice the least upper bound of the negative log-likelihood: what it tends to, and never reaches."""
    probabilities: Any
    """Of the rows that count, rows × K: what they tend to, 0 for the classes a row is separated from."""
    coefficients: Any
    """(K − 1) × (intercept, then columns), of two classes the only row; what is not "finite" means nothing."""


def limit(X: Any, y: Any, answer: Answer, *, weight: Any = None, fit_intercept: bool = True, classes: int = 2) -> Limit:
    """The likelihood of what is not separated: Σ w log(1 + Σₖ exp(−aβ)), k over classes a row is not separated from.

    Newton with halved steps, the shortest where several are as good.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    cost = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    size = np.abs(X).max(axis=0)
    size[size == 0] = 1
    Z = with_ones(X / size, fit_intercept)
    signed = signed_rows(Z, y, classes, np.flatnonzero(cost > 0))
    still = np.array([pair not in answer.pairs for pair in zip(signed.row, signed.other, strict=True)])
    A, row = signed.vectors[still], np.array(signed.row)[still]
    beta = np.zeros(signed.vectors.shape[1])

    def odds(beta: Any) -> Any:
        """Of the other class against the own one."""
        return np.exp(-A @ beta)

    def loss(beta: Any) -> float:
        return float(cost @ np.log1p(np.bincount(row, odds(beta), len(y))))

    for _ in range(60):
        s = odds(beta) / (1 + np.bincount(row, odds(beta), len(y)))[row]
        mean = np.array([s[row == i] @ A[row == i] for i in range(len(y))]).reshape(len(y), -1)
        hessian = (A.T * (s * cost[row])) @ A - (mean.T * cost) @ mean
        step = np.linalg.lstsq(hessian, mean.T @ cost, rcond=1e-12)[0]
        t, now = 1.0, loss(beta)
        while loss(beta + t * step) > now * (1 + 1e-16) and t > 1e-9:
            t /= 2
        beta = beta + t * step
    share = np.zeros((len(y), classes))
    share[np.arange(len(y)), y] = 1
    share[row, np.array(signed.other)[still]] = odds(beta)
    scale = np.r_[np.ones(int(fit_intercept)), size]
    return Limit(2 * loss(beta), share / share.sum(axis=1, keepdims=True), beta.reshape(classes - 1, -1) / scale)


# ---------------------------------------------------------------------------------------------------- small problems


class Problem(NamedTuple):
    X: Any
    y: Any
    weight: Any
    fit_intercept: bool
    classes: int

    @property
    def answer(self) -> Answer:
        return separation(self.X, self.y, weight=self.weight, fit_intercept=self.fit_intercept, classes=self.classes)


def small_problem(seed: int, classes: int | None = None) -> Problem:
    """Whole numbers in at most ten rows and three columns; every other seed is degenerate in several ways."""
    rng = np.random.default_rng([20, seed])
    K = classes or (3 if seed % 10 in (4, 9) else 2)
    while True:
        problem = _draw(rng, K, degenerate=seed % 2 == 1)
        counts = np.ones(len(problem.y), bool) if problem.weight is None else problem.weight > 0
        if set(problem.y[counts].tolist()) == set(range(K)):
            return problem


def _draw(rng: Any, K: int, *, degenerate: bool) -> Problem:
    n, d = int(rng.integers(K, 11 if K == 2 else 9)), int(rng.choice([1, 2, 3] if K == 2 else [1, 1, 2]))
    if not degenerate:
        X = rng.integers(-3, 4, size=(n, d))
        y = _labels(rng, X, K, noise=rng.choice([0, 2, 6]))
        return Problem(X, y, None, bool(rng.random() < 0.8), K)
    values = ([-1, 0, 1], [0, 1], [-1, 0, 1, 2], [-2, -1, 1, 2])[rng.integers(4)]
    X = rng.choice(values, size=(n, d))
    y = _labels(rng, X, K, noise=rng.choice([0, 0, 2]))
    if rng.random() < 0.3:  # points of a line
        X = rng.choice(values, size=(n, 1)) * rng.choice(values, size=d) + rng.choice(values, size=d)
    if rng.random() < 0.3:  # rows again, with the same label or another one
        source = rng.integers(n, size=n // 2)
        X[: n // 2] = X[source]
        if rng.random() < 0.7:
            y[: n // 2] = y[source]
    if rng.random() < 0.2:
        X[rng.integers(n)] = 0
    if rng.random() < 0.35:  # a column that is constant, or another one again, or a sum
        j = rng.integers(d)
        ways = (np.full(n, rng.choice(values)), X[:, rng.integers(d)] * rng.choice([1, -1, 2]), X.sum(axis=1) - X[:, j])
        X[:, j] = ways[rng.integers(3)]
    weight = rng.choice([0, 1, 1, 3], size=n) if rng.random() < 0.25 else None
    return Problem(X, y, weight, bool(rng.random() < 0.7), K)


def _labels(rng: Any, X: Any, K: int, noise: int) -> Any:
    """By the scores of a rule, so that separation is common; ties fall to one side or the other by chance."""
    n, d = X.shape
    W = rng.integers(-2, 3, size=(K, d))
    scores = X @ W.T + rng.integers(-2, 3, size=K) + rng.random((n, K)) / 2
    return (scores + noise * rng.normal(size=(n, K))).argmax(axis=1)
