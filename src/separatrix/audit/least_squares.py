"""The check of least squares: value, gradient, gap, rank and the shortest weights, from the rows in long double."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Optimality
from .minimum import Point, Root
from .rows import Table

if TYPE_CHECKING:
    from ..results.verdict import Verdict

OBJECTIVE = "least squares"
SLACK = 1e-6
EXPLAINED = 1e-12
"""The part of its spread that an aliased column may have left over."""
NOTHING = 1e-9
"""The share of a column in another, in units of their spreads, that is none."""
SHORTEST = 1e-6
"""The cosine with a direction that changes no score that the shortest weights may have."""


def least_squares_hold(verdict: Verdict, table: Table) -> bool:
    """Whether the value is right, and where a minimum is claimed, the gap, the rank and the length of the weights."""
    claim, proof = verdict.claim, verdict.certificate
    if not (table.finite() and np.isfinite(claim.weights).all() and np.isfinite(claim.intercept).all()):
        return False
    value = mean_square(claim, table)
    if not math.isclose(value, claim.value, rel_tol=1e-9, abs_tol=1e-12 + _rounding(claim, table)):
        return False
    if verdict.status != "optimal":
        return verdict.status == "budget"
    if not isinstance(proof, Optimality) or not _rank_fits(verdict):
        return False
    point = Point.of(verdict, table)
    if len(point.keep) < len(claim.columns) and not shortest(point, claimed=verdict.rank.rank is not None):
        return False
    bound = gap_of(point)
    return math.isfinite(bound) and bound <= proof.gap * (1 + SLACK) + 1e-14 * max(claim.value, table_square(table))


def targets_of(t: Any) -> Any:
    """2t − 1 of two classes, one column; else the shares as they are."""
    return t[:, 1:] - t[:, :1] if t.shape[1] == 2 else t


def errors(claim: Claim, X: Any, t: Any) -> Any:
    """Wx + b − t."""
    return X @ np.atleast_2d(claim.weights).T.astype(np.longdouble) + np.ravel(claim.intercept) - targets_of(t)


def mean_square(claim: Claim, table: Table) -> float:
    """(1/C) Σᵢ cᵢ‖Wxᵢ + b − tᵢ‖² + (l2/2)‖W‖²."""
    total = np.longdouble(0)
    for X, t, cost in table.chunks():
        total += cost @ (errors(claim, X, t) ** 2).sum(axis=1)
    W = np.asarray(claim.weights).astype(np.longdouble)
    return float(total / table.cost.sum() + claim.l2 / 2 * (W**2).sum())


def table_square(table: Table) -> float:
    """(1/C) Σᵢ cᵢ‖tᵢ‖²: the unit in which rounding is measured."""
    return float(table.cost @ (targets_of(table.target) ** 2).sum(axis=1) / table.cost.sum())


def gap_of(point: Point) -> float:
    """½ Σₖ gₖᵀH⁻¹gₖ, H = (2/C) Σᵢ cᵢzᵢzᵢᵀ + l2/scale²: of a quadratic the whole way down."""
    claim, table = point.claim, point.table
    W = np.atleast_2d(claim.weights).astype(np.longdouble)
    slopes = claim.l2 * (W / point.scale)[:, point.keep]
    g = np.column_stack([slopes, np.zeros((len(W), int(claim.fit_intercept)), np.longdouble)])
    share = 2 * table.cost / table.cost.sum()
    start = 0
    for X, t, _ in table.chunks():
        part = share[start : start + len(X)]
        g = g + (part[:, None] * errors(claim, X, t)).T @ point.coordinates(X)
        start += len(X)
    if not g.shape[1]:
        return 0.0
    root = Root(point, share)
    return float((root.whiten(g.T) ** 2).sum() / 2) if root.steady else math.inf


def shortest(point: Point, *, claimed: bool) -> bool:
    """Whether aliased columns are combinations of others, and, if claimed, W orthogonal to what changes no score."""
    claim, d = point.claim, len(point.claim.columns)
    gone = [j for j in range(d) if j not in set(point.keep)]
    R = _triangle(point)
    kept, rest = R[:, [*point.keep, *range(d, R.shape[1])]], R[:, gone]
    combination = np.linalg.lstsq(kept, rest, rcond=None)[0]
    combination[np.abs(combination) < NOTHING] = 0
    left = np.linalg.norm(rest - kept @ combination, axis=0)
    rounding = np.finfo(float).eps * (1 + np.abs(point.center / point.scale).astype(float).max(initial=0))
    if (left > EXPLAINED + 1e3 * rounding).any():
        return False
    if not claimed:
        return True
    scale = point.scale.astype(float)
    null = np.zeros((d, len(gone)))
    null[gone, np.arange(len(gone))] = 1 / scale[gone]
    null[point.keep] = -combination[: len(point.keep)] / scale[point.keep, None]
    null /= np.linalg.norm(null, axis=0)
    W = np.atleast_2d(claim.weights)
    return bool((np.abs(W @ null) <= SHORTEST * (np.linalg.norm(W) + np.finfo(float).tiny)).all())


def _triangle(point: Point) -> Any:
    """R of all columns, centred and scaled, and the intercept's ones; each row at the root of its share of the cost."""
    table, start = point.table, 0
    everything = Point(point.claim, table, point.center, point.scale, list(range(len(point.claim.columns))))
    R = np.zeros((0, len(point.claim.columns) + int(point.claim.fit_intercept)))
    root = np.sqrt(table.cost / table.cost.sum())
    for X, _, _ in table.chunks():
        Z = (root[start : start + len(X), None] * everything.coordinates(X)).astype(float)
        R, start = np.asarray(np.linalg.qr(np.vstack([R, Z]), mode="r")), start + len(X)
    return R


def _rank_fits(verdict: Verdict) -> bool:
    rank, claim = verdict.rank, verdict.claim
    of = len(claim.columns) + int(claim.fit_intercept)
    if claim.l2 > 0:
        return rank.rank is None and rank.of == of and not rank.aliased
    known = set(rank.aliased) <= set(claim.columns) and len(set(rank.aliased)) == len(rank.aliased)
    return known and rank.of == of and rank.rank in (None, of - len(rank.aliased))


def _rounding(claim: Claim, table: Table) -> float:
    """How far the value can move because weights and intercepts are rounded to 53 bits."""
    size, most = np.abs(np.atleast_2d(claim.weights)).T.astype(np.longdouble), 0.0
    for X, _, _ in table.skim():
        most = max(most, float((abs(X) @ size + np.abs(np.ravel(claim.intercept))).max(initial=0)))
    off: float = float((len(size) + 2) * np.finfo(float).eps * most)
    return float(off * (2 * math.sqrt(max(claim.value, 0.0)) + off) * size.shape[1])
