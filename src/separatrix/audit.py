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
        self.known = bool((first | second).all())
        self.sign = np.where(second, 1.0, -1.0)
        self.cost = cost * np.where(second, claim.class_weight[1], claim.class_weight[0])
        self.X = X

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, signs and costs, some thousand rows at a time, in long double."""
        for lo in range(0, len(self.X), CHUNK):
            rows = slice(lo, lo + CHUNK)
            yield self.X[rows].astype(np.longdouble), self.sign[rows], self.cost[rows]


def audit(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the verdict's claim holds on these rows."""
    claim = verdict.claim
    table = Table(claim, X, y, sample_weight)
    if not table.known or len(table.X) != claim.rows or not table.cost.sum() > 0:
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
        X, sign, cost = table.X[rows].astype(float), table.sign[rows], table.cost[rows]
        margins = sign * (X @ proof.weights + proof.intercept)
        doubt = (X.shape[1] + 4) * np.finfo(float).eps * (np.abs(X) @ size + abs(proof.intercept))
        for i in np.flatnonzero((cost > 0) & ~(margins > doubt)):
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
    weights, total = claim.weights.astype(np.longdouble), table.cost.sum()
    ridge = np.append(np.sqrt(claim.l2) / scale[keep], np.zeros(int(claim.fit_intercept)))
    slope, R = np.zeros(ridge.size, np.longdouble), np.diag(ridge).astype(float)
    for X, sign, cost in table.chunks():
        wrong = 1 / (1 + np.exp(sign * (X @ weights + claim.intercept)))  # the probability of the other class
        Z = _coordinates(X, center, scale, keep, claim.fit_intercept)
        slope -= Z.T @ (cost * sign * wrong) / total
        rooted = np.sqrt(cost * wrong * (1 - wrong) / total)[:, None] * Z
        R = np.asarray(np.linalg.qr(np.vstack([R, rooted.astype(float)]), mode="r"))
    slope += ridge * np.append((np.sqrt(claim.l2) * weights)[keep], np.zeros(int(claim.fit_intercept)))
    bound = _gap(slope.astype(float), R, table, (center, scale, keep, claim.fit_intercept))
    return bound <= proof.gap * (1 + SLACK) + 1e-15 * abs(claim.value)


def _coordinates(X: Any, center: Any, scale: Any, keep: list[int], lifted: bool) -> Any:
    return np.column_stack([((X - center) / scale)[:, keep], np.ones((len(X), int(lifted)))])


def _gap(slope: Any, R: Any, table: Table, frame: tuple[Any, Any, list[int], bool]) -> float:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ² with H = RᵀR, infinite where ρν ≥ 1."""
    length = np.linalg.norm(R, axis=0)
    if not (np.abs(np.diag(R)) > len(R) * np.finfo(float).eps * length).all():
        return math.inf
    R, slope = R / length, slope / length
    nu, rho = float(np.linalg.norm(solve_triangular(R, slope, trans="T"))), 0.0
    for X, _, cost in table.chunks():
        Z = _coordinates(X, *frame).astype(float)[cost > 0] / length
        rho = max(rho, float(np.sqrt(np.square(solve_triangular(R, Z.T, trans="T")).sum(axis=0).max(initial=0))))
    x = rho * nu
    if x >= 1:
        return math.inf
    return nu * nu / 2 * (1 + x / 2) if x < 1e-4 else (x + (1 - x) * math.log1p(-x)) / rho**2


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
