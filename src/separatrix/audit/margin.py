"""The check of a margin: rows and weights in, yes or no out.

The margin of the weights is recomputed over all rows, in fractions wherever long double leaves a doubt; its bound from
above is the length of the combination that is claimed; rows that are said to balance must do so exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Margin
from ..results.separability import Combination, Crossing
from .balance import crosses
from .cases import SignedRows
from .rows import ROWS, Table, finite, numbers_of, pieces, without_empty

if TYPE_CHECKING:
    from ..results.verdict import Verdict

OBJECTIVES = ("margin", "lifted margin")
SLACK = 1e-12
"""Relative: what rounding may make of a bound."""
BALANCED = 16
"""How many of the last digits of its terms the multipliers may leave over; others nearby leave nothing."""
LAST = np.finfo(np.longdouble).eps


def margin_holds(verdict: Verdict, table: Table) -> bool:
    """Whether a verdict on the largest margin holds on these rows."""
    claim, proof, status = verdict.claim, verdict.certificate, verdict.status
    if not _coherent(claim) or not finite(table.matrix):
        return False
    if status == "not-separable":
        return isinstance(proof, Crossing) and not np.any(_weights(claim)) and balances(claim, proof.combination, table)
    if status == "optimal" and not isinstance(proof, Margin):
        return False
    if isinstance(proof, Margin):
        return status in ("optimal", "budget") and is_largest(claim, proof, table)
    return status in ("budget", "interrupted") and proof is None


def _coherent(claim: Claim) -> bool:
    """Whether nothing is claimed that a margin does not have."""
    half = math.fsum(np.square(_weights(claim))) / 2
    return bool(
        claim.l2 == 0
        and not claim.soft
        and all(weight == 1 for weight in claim.class_weight)
        and (claim.fit_intercept or claim.objective == "margin")
        and np.isfinite(_weights(claim)).all()
        and math.isfinite(float(claim.intercept))
        and math.isclose(half, claim.value, rel_tol=1e-9)
    )


def _free(claim: Claim) -> bool:
    return claim.fit_intercept and claim.objective == "margin"


def _weights(claim: Claim) -> Any:
    """The weights whose length counts."""
    return np.append(claim.weights, claim.intercept) if claim.objective == "lifted margin" else claim.weights


def is_largest(claim: Claim, proof: Margin, table: Table) -> bool:
    """Whether y(xᵀw + b) ≥ 1 on all rows, w has the margin claimed, no rule can have more, and the gap is theirs."""
    signs, b = _signs(table), Fraction(float(claim.intercept))
    first, second = (least_score(claim.weights, table.matrix[signs == sign], sign) for sign in (-1, 1))
    if min(first - b, second + b) < 1:
        return False
    width = (first + second) / 2 if _free(claim) else min(first - b, second + b)
    length = sum((Fraction(value) ** 2 for value in _weights(claim).tolist()), Fraction(0))
    lower, upper = proof.lower, proof.upper
    if not (0 < lower <= upper * (1 + SLACK) and math.isfinite(upper)):
        return False
    if (Fraction(lower) * (1 - Fraction(SLACK))) ** 2 * length > width**2:
        return False
    distance, relative = squared_distance(claim, proof, table), 1 - (lower / upper) ** 2
    return (
        distance is not None
        and distance <= (Fraction(upper) * (1 + Fraction(SLACK))) ** 2
        and math.isclose(proof.gap, relative / lower / lower / 2, rel_tol=1e-6, abs_tol=SLACK / lower / lower)
        and math.isclose(proof.relative_gap, relative, rel_tol=1e-6, abs_tol=SLACK)
    )


def _signs(table: Table) -> Any:
    return np.where(table.target[:, 1] > 0, 1, -1)


def _every(table: Table) -> Any:
    """All columns."""
    return np.ones(table.matrix.shape[1], bool)


def least_score(weights: Any, X: Any, sign: int) -> Fraction:
    """min ±xᵀw over rows: long double finds the rows that may have it, fractions decide."""
    w, low, doubtful = np.asarray(weights, dtype=np.longdouble), math.inf, []
    for at in pieces(X, np.arange(X.shape[0]), ROWS):
        used, rows = without_empty(X[at[0] : at[-1] + 1], np.ones(len(w), bool))
        rows, v = rows.astype(np.longdouble), w[used]
        score, doubt = sign * (rows @ v), (rows.shape[1] + 4) * LAST * (np.abs(rows) @ np.abs(v))
        low = min(low, (score + doubt).min())
        near = np.flatnonzero(score - doubt <= low)
        doubtful.append((score[near] - doubt[near], at[near]))
    places = np.concatenate([at[least <= low] for least, at in doubtful]).tolist()
    exact = np.asarray(weights, dtype=float)
    distinct = {(columns.tobytes(), x.tobytes()): (columns, x) for columns, x in (numbers_of(X, i) for i in places)}
    return min(sign * _dot(x, exact[columns]) for columns, x in distinct.values())


def _dot(a: Any, b: Any) -> Fraction:
    """Σᵢ aᵢbᵢ, exactly."""
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)), Fraction(0))


def squared_distance(claim: Claim, proof: Margin, table: Table) -> Fraction | None:
    """‖Σᵢ λᵢyᵢxᵢ‖², or a quarter of that between two combinations, exactly; None if they are none."""
    share, at = np.asarray(proof.multipliers, dtype=float), _found(proof.rows, table)
    if at is None or share.shape != at.shape or not (share > 0).all() or not math.isclose(share.sum(), 1, rel_tol=1e-9):
        return None
    X, positive = without_empty(table.matrix[at], _every(table))[1], _signs(table)[at] > 0
    if not _free(claim):
        X = np.column_stack([X, np.ones(len(X))]) if claim.fit_intercept else X
        z = _mean(np.where(positive[:, None], X, -X), share)
        return sum((each * each for each in z), Fraction(0))
    if not math.isclose(share[positive].sum(), share[~positive].sum(), rel_tol=1e-9):
        return None
    ends = _mean(X[positive], share[positive]), _mean(X[~positive], share[~positive])
    return sum(((one - other) ** 2 for one, other in zip(*ends, strict=True)), Fraction(0)) / 4


def _mean(X: Any, share: Any) -> list[Fraction]:
    """Σᵢ λᵢxᵢ / Σᵢ λᵢ, exactly."""
    total = sum((Fraction(each) for each in share.tolist()), Fraction(0))
    return [_dot(column[column != 0], share[column != 0]) / total for column in X.T]


def _found(rows: Any, table: Table) -> Any:
    """Where rows of X stand among those that count; None if one does not, or comes twice."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu" or len(np.unique(rows)) < len(rows):
        return None
    at = np.searchsorted(table.places, rows)
    known = (at < len(table.places)) & (table.places[np.minimum(at, len(table.places) - 1)] == rows)
    return at if known.all() else None


def balances(claim: Claim, combination: Combination, table: Table) -> bool:
    """Whether Σᵢ λᵢyᵢ(xᵢ, 1) = 0 for some λ > 0 near the given, exactly, Σλ = 1, of few enough rows."""
    at, weights = _found(combination.rows, table), np.asarray(combination.multipliers, dtype=float)
    if at is None or weights.shape != at.shape or len(at) > len(claim.columns) + claim.fit_intercept + 1:
        return False
    signs = _signs(table)[at]
    own = (signs > 0).astype(int)
    if not (np.array_equal(combination.own, own) and np.array_equal(combination.other, 1 - own)):
        return False
    if not (weights > 0).all() or not math.isclose(float(weights.sum()), 1, rel_tol=1e-9):
        return False
    rows, keep = (
        SimpleNamespace(X=table.matrix, classes=2),
        np.flatnonzero(without_empty(table.matrix[at], _every(table))[0]),
    )
    signed = SignedRows(rows, keep, claim.fit_intercept, at, own, 1 - own, weights)  # type: ignore[arg-type]
    A = signed.matrix(slice(None)).astype(np.longdouble)
    off, size = np.abs(weights @ A), weights @ np.abs(A)
    return bool((off <= BALANCED * np.finfo(float).eps * size).all()) and crosses(signed, A.shape[1], 0.0)
