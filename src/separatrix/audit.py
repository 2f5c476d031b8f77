"""The check of a verdict: data and weights in, yes or no out.

Written for reading, not for speed: plain NumPy in long double, and fractions where rounding could matter. It shares
no code with the solvers, so that an error there cannot confirm itself here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from .verdict import Claim, Optimality, Separation

if TYPE_CHECKING:
    from .verdict import Verdict

CHUNK = 4096
TOO_SURE, ATTEMPTS = 1e-10, 8
"""Rows with less curvature than this prove nothing; how often the farthest rows are left out."""
Frame = tuple[Any, Any, list[int], bool]
"""Centre, scale, the columns that are not aliased, whether there is an intercept."""
SLACK = 1e-6
"""Relative: what the certificate's own rounding may make of a bound that is recomputed."""


class Table:
    """The rows that count, their signs and costs, as the verdict's claim reads them."""

    def __init__(self, claim: Claim, X: Any, y: Any, sample_weight: Any) -> None:
        X, y = np.asarray(X), np.asarray(y).ravel()
        cost = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float).ravel()
        if X.ndim != 2 or X.shape[1] != len(claim.weights):
            raise ValueError(f"X has shape {X.shape}; the verdict speaks of {len(claim.weights)} columns.")
        if not len(X) == len(y) == len(cost):
            raise ValueError(f"X has {len(X)} rows, y {len(y)}, sample_weight {len(cost)}: they must agree.")
        first, second = (np.array([label == known for label in y.tolist()]) for known in claim.classes)
        counts = cost > 0
        self.rows, self.known = len(X), bool((first | second).all())
        self.sign = np.where(second, 1.0, -1.0)[counts]
        self.cost = (cost * np.where(second, claim.class_weight[1], claim.class_weight[0]))[counts]
        self.X = X if counts.all() else X[counts]

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, signs and costs, some thousand rows at a time, in long double."""
        for lo in range(0, len(self.X), CHUNK):
            rows = slice(lo, lo + CHUNK)
            yield self.X[rows].astype(np.longdouble), self.sign[rows], self.cost[rows]


def audit(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the verdict's claim holds on these rows."""
    claim = verdict.claim
    table = Table(claim, X, y, sample_weight)
    if not table.known or table.rows != claim.rows or not len(table.X):
        return False
    if isinstance(verdict.certificate, Separation):
        return separates(verdict.certificate, table)
    if not math.isclose(mean_loss(claim, table), claim.value, rel_tol=1e-9, abs_tol=1e-12 + _rounding(claim, table)):
        return False
    if verdict.status == "optimal":
        return isinstance(verdict.certificate, Optimality) and is_optimal(verdict.certificate, verdict, table)
    return True


def separates(proof: Separation, table: Table) -> bool:
    """Whether yᵢ(xᵢᵀw + b) > 0 in exact arithmetic for every row that counts."""
    size = np.abs(proof.weights)
    for lo in range(0, len(table.X), CHUNK):
        rows = slice(lo, lo + CHUNK)
        X, sign = table.X[rows].astype(float), table.sign[rows]
        margins = sign * (X @ proof.weights + proof.intercept)
        doubt = (X.shape[1] + 4) * np.finfo(float).eps * (np.abs(X) @ size + abs(proof.intercept))
        for i in np.flatnonzero(~(margins > doubt)):
            score = sum((Fraction(x) * Fraction(w) for x, w in zip(X[i].tolist(), proof.weights.tolist(), strict=True)),
                        Fraction(proof.intercept))  # fmt: skip
            if not int(sign[i]) * score > 0:
                return False
    return True


def mean_loss(claim: Claim, table: Table) -> float:
    """(1/C) Σᵢ cᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + (l2/2)‖w‖²."""
    total, weights = np.longdouble(0), claim.weights.astype(np.longdouble)
    for X, sign, cost in table.chunks():
        m = sign * (X @ weights + claim.intercept)
        total += (cost * (np.maximum(-m, 0) + np.log1p(np.exp(-np.abs(m))))).sum()
    return float(total / table.cost.sum()) + claim.l2 / 2 * float(claim.weights @ claim.weights)


def is_optimal(proof: Optimality, verdict: Verdict, table: Table) -> bool:
    """Whether the whole Hessian and the exact leverages prove the gap that was claimed."""
    claim = verdict.claim
    center, scale = _center_and_scale(claim, table)
    aliased = set(verdict.rank.aliased) if claim.l2 == 0 else set()
    keep = [j for j, name in enumerate(claim.columns) if name not in aliased]
    if aliased and not _explained(table, center, scale, keep):
        return False
    frame = (center, scale, keep, claim.fit_intercept)
    if not table.X.any() and not claim.fit_intercept:
        return not claim.weights.any()
    slope, curvature = _slope_and_curvature(claim, table, frame)
    chosen = curvature > 0
    for _ in range(ATTEMPTS):
        bound, leverages = _gap(slope, claim, table, frame, np.where(chosen, curvature, 0.0))
        if bound <= proof.gap * (1 + SLACK) + 1e-15 * abs(claim.value):
            return True
        chosen &= leverages <= 0.5 * leverages[chosen].max(initial=0)  # rows far out weaken a proof: try without
    return False


def _coordinates(X: Any, center: Any, scale: Any, keep: list[int], lifted: bool) -> Any:
    return np.column_stack([((X - center) / scale)[:, keep], np.ones((len(X), int(lifted)))])


def _ridge(claim: Claim, frame: Frame) -> Any:
    """The roots of the penalty's curvatures."""
    _, scale, keep, lifted = frame
    return np.append(np.sqrt(claim.l2) / scale[keep], np.zeros(int(lifted)))


def _slope_and_curvature(claim: Claim, table: Table, frame: Frame) -> tuple[Any, Any]:
    """The gradient, and each row's share cᵢp(1 − p)/C of the Hessian."""
    weights, total, bends = claim.weights.astype(np.longdouble), table.cost.sum(), []
    slope = _ridge(claim, frame) * np.append((np.sqrt(claim.l2) * weights)[frame[2]], np.zeros(int(frame[3])))
    for X, sign, cost in table.chunks():
        m = sign * (X @ weights + claim.intercept)
        e = np.exp(-np.abs(m))
        wrong = np.where(m > 0, e, 1) / (1 + e)  # the probability of the other class
        slope -= _coordinates(X, *frame).T @ (cost * sign * wrong) / total
        bends.append((e / (1 + e) ** 2).astype(float))
    curvature = np.concatenate(bends)
    return slope.astype(float), np.where(curvature >= TOO_SURE, curvature * table.cost / total, 0.0)


def _gap(slope: Any, claim: Claim, table: Table, frame: Frame, curvature: Any) -> tuple[float, Any]:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ², H = RᵀR of the chosen rows, infinite if ρν ≥ 1; and zᵀH⁻¹z of every row."""
    R, start = np.diag(_ridge(claim, frame)).astype(float), 0
    for X, _, _ in table.chunks():
        rooted = np.sqrt(curvature[start : start + len(X)])[:, None] * _coordinates(X, *frame)
        R, start = np.asarray(np.linalg.qr(np.vstack([R, rooted.astype(float)]), mode="r")), start + len(X)
    length = np.linalg.norm(R, axis=0)
    if not (np.abs(np.diag(R)) > len(R) * np.finfo(float).eps * length).all():
        return math.inf, np.zeros(len(curvature))
    nu = float(np.linalg.norm(solve_triangular(R / length, slope / length, trans="T")))
    halves = (
        solve_triangular(R / length, (_coordinates(X, *frame).astype(float) / length).T, trans="T")
        for X, _, _ in table.chunks()
    )
    leverages = np.concatenate([np.square(half).sum(axis=0) for half in halves])
    rho = math.sqrt(leverages[curvature > 0].max(initial=0))
    x = rho * nu
    if x >= 1:
        return math.inf, leverages
    bound = nu * nu / 2 * (1 + x / 2) if x < 1e-4 else (x + (1 - x) * math.log1p(-x)) / rho**2
    return bound, leverages


def _center_and_scale(claim: Claim, table: Table) -> tuple[Any, Any]:
    """Means and deviations of the columns; without an intercept, zero and the root mean square."""
    n, d = len(table.X), len(claim.weights)
    center, square = np.zeros(d, np.longdouble), np.zeros(d, np.longdouble)
    if claim.fit_intercept:
        center = sum((X.sum(axis=0) for X, _, _ in table.chunks()), center) / n
    square = sum((((X - center) ** 2).sum(axis=0) for X, _, _ in table.chunks()), square) / n
    return center, np.where(square > 0, np.sqrt(square), 1)


def _explained(table: Table, center: Any, scale: Any, keep: list[int]) -> bool:
    """Whether the columns left out are combinations of the kept ones and a constant, on a thousand rows at least."""
    X = table.X[:: max(1, len(table.X) // (1000 + 20 * table.X.shape[1]))].astype(np.longdouble)
    Z = ((X - center) / scale).astype(float)
    design = np.column_stack([Z[:, keep], np.ones(len(Z))])
    left = Z - design @ np.linalg.lstsq(design, Z, rcond=None)[0]
    rounding = np.finfo(float).eps * (1 + np.abs(center / scale).astype(float).max(initial=0))
    return bool(np.abs(left).max(initial=0) <= 1e-6 + 1e6 * rounding)


def _rounding(claim: Claim, table: Table) -> float:
    """How far a score can move because the weights are rounded to 53 bits: it bounds how far the mean loss can."""
    size = np.abs(claim.weights).astype(np.longdouble)
    largest = max(float((np.abs(X) @ size).max(initial=0)) for X, _, _ in table.chunks())
    return (len(size) + 2) * float(np.finfo(float).eps) * (largest + abs(claim.intercept))
