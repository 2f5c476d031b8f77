"""The check of a separability against a referee: small tables of whole numbers, linear programs, exact null spaces."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from separatrix.audit.separation import prove

from .test_audit_separation import claim, combination

CASES = [(seed, classes, intercept) for seed in range(30) for classes in (2, 3) for intercept in (True, False)]


def signed_rows(X, y, classes, intercept):
    """(e_own − e_other)⊗(x, 1) against the last class, with row, own and other."""
    Z = np.column_stack([X, np.ones((len(X), int(intercept)))])
    triples = [(i, c, k) for i, c in enumerate(y) for k in range(classes) if k != c]
    unit = np.eye(classes)[:, :-1] if classes > 2 else np.array([[0.0], [1.0]])
    return np.array([np.kron(unit[c] - unit[k], Z[i]) for i, c, k in triples]), np.array(triples)


def echelon(A):
    """The reduced rows of A, in fractions, and the columns of their ones."""
    rows, pivots = [[Fraction(x) for x in row] for row in A], []
    for j in range(A.shape[1]):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][j]), None)
        if at is None:
            continue
        k = len(pivots)
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [x / rows[k][j] for x in rows[k]]
        rows = [
            row if i == k else [a - row[j] * b for a, b in zip(row, rows[k], strict=True)] for i, row in enumerate(rows)
        ]
        pivots.append(j)
    return rows[: len(pivots)], pivots


def whole(values):
    scale = math.lcm(*(Fraction(v).denominator for v in values))
    return np.array([float(v * scale) for v in values])


def null_space(A):
    """Whole numbers."""
    rows, pivots = echelon(A)
    found = []
    for free in [j for j in range(A.shape[1]) if j not in pivots]:
        u = [Fraction(0)] * A.shape[1]
        u[free] = Fraction(1)
        for row, j in zip(rows, pivots, strict=True):
            u[j] = -row[free]
        found.append(whole(u))
    return np.array(found).reshape(-1, A.shape[1])


def separate(A):
    """The largest set of signed rows, and whole numbers that are positive on them: max Σt, A u ≥ t, 0 ≤ t ≤ 1."""
    n, width = A.shape
    cost = np.append(np.zeros(width), -np.ones(n))
    solved = linprog(cost, np.hstack([-A, np.eye(n)]), np.zeros(n), bounds=[(None, None)] * width + [(0, 1)] * n)
    u = whole([Fraction(v).limit_denominator(1000) for v in solved.x[:width]])
    ahead = solved.x[width:] > 0.5
    assert ((A @ u > 0) == ahead).all()
    assert not (A @ u)[~ahead].any()
    return ahead, u


def balance_of(A, triples, least, rng):
    solved = linprog(
        rng.random(len(A)),
        A_eq=np.vstack([A.T, np.ones(len(A))]),
        b_eq=np.append(np.zeros(A.shape[1]), len(A)),
        bounds=(least, None),
        method="highs-ds",
    )
    assert solved.status == 0
    some = solved.x > 1e-9
    return combination(*triples[some].T, solved.x[some])


def per_class(u, classes, width, intercept):
    """K × (columns, then the intercept); of two classes one row."""
    u = np.vstack([u.reshape(-1, width), np.zeros((int(classes > 2), width))])
    u = u if intercept else np.column_stack([u, np.zeros(len(u))])
    return u[0] if classes == 2 else u


def draw(seed, classes, intercept):
    """A table with columns that are independent, and its result."""
    rng = np.random.default_rng([seed, classes, intercept])
    while True:
        n, d = int(rng.integers(4, 14)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, d)).astype(float)
        X[:, 0] += rng.integers(0, 3) * (y := rng.integers(0, classes, n))
        if np.linalg.matrix_rank(np.column_stack([X, np.ones((n, int(intercept)))])) == d + intercept:
            break
    A, triples = signed_rows(X, y, classes, intercept)
    ahead, u = separate(A)
    kind = "separated" if ahead.all() else "quasi-separated" if ahead.any() else "overlap"
    parts, width = {"fit_intercept": intercept}, d + intercept
    free = null_space(A[~ahead]) if kind == "quasi-separated" else np.zeros((0, A.shape[1]))
    if kind != "separated":
        parts["balance"] = balance_of(A[~ahead], triples[~ahead], 0.01, rng)
        parts["crossing"] = balance_of(A[~ahead], triples[~ahead], 0, rng)
        parts["directions"] = np.array([per_class(each, classes, width, intercept) for each in free])
    if kind != "overlap":
        w = np.atleast_2d(per_class(u, classes, width, intercept))
        parts["weights"], parts["intercept"] = (w[0, :-1], w[0, -1]) if classes == 2 else (w[:, :-1], w[:, -1])
        counts = [np.bincount(triples[which, 0], minlength=n) for which in (ahead, slice(None))]
        parts["rows"] = np.flatnonzero(counts[0] == counts[1])
        parts["partly"] = np.flatnonzero((counts[0] > 0) & (counts[0] < counts[1]))
    said = np.where(free.any(axis=0) | (kind == "separated"), "undetermined", "finite").reshape(-1, width).tolist()
    names = tuple(range(classes))
    return claim(kind, X, said[0] if classes == 2 else said, classes=names, **parts), X, y, rng


@pytest.mark.parametrize(("seed", "classes", "intercept"), CASES)
def test_what_the_referee_finds_is_proved(seed, classes, intercept):
    result, X, y, _ = draw(seed, classes, intercept)
    assert prove(result, X, y)
    if result.kind != "separated":  # and balances stay balances where columns are measured in other units
        units = 2.0 ** np.arange(-20, 20)[: X.shape[1]]
        assert prove(_in_units(result, units), X * units, y)


def _in_units(result, units):
    proof, entries = result.certificate, np.append(units, 1)
    weights = None if proof.weights is None else proof.weights / units
    directions = proof.directions / entries if len(proof.directions) else proof.directions
    return dataclasses.replace(result, certificate=dataclasses.replace(proof, weights=weights, directions=directions))


@pytest.mark.parametrize(("seed", "classes", "intercept"), CASES)
def test_the_certificate_of_one_table_proves_nothing_false_of_another(seed, classes, intercept):
    result, X, y, rng = draw(seed, classes, intercept)
    for _ in range(6):
        moved, labels = X.copy(), y.copy()
        if rng.random() < 0.5:
            moved[rng.integers(len(X)), rng.integers(X.shape[1])] += rng.choice([-1, 1, 5])
        else:
            labels[rng.integers(len(y))] = rng.integers(classes)
        A, triples = signed_rows(moved, labels, classes, intercept)
        ahead, _ = separate(A)
        true = "separated" if ahead.all() else "quasi-separated" if ahead.any() else "overlap"
        behind = np.unique(triples[~ahead, 0])
        if true != result.kind or not np.array_equal(np.setdiff1d(np.arange(len(X)), behind), result.rows):
            assert not prove(result, moved, labels)
