"""The check of a verdict: data and weights in, yes or no out.

Written for reading, not for speed: plain NumPy in long double, and fractions where rounding could matter. It shares
no code with the solvers, so that an error there cannot confirm itself here. `audit_rows` reads the data as the claim
does, `audit_point` finds coordinates for them, `audit_proofs` rebuilds the proofs; `audit_margin` those of a margin,
`audit_limit` those of a limit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .audit_limit import limit_holds
from .audit_margin import OBJECTIVES as MARGINS
from .audit_margin import margin_holds
from .audit_point import Point, explained
from .audit_proofs import likelihood_gap, squared_gap
from .audit_rows import CHUNK, OBJECTIVES, Softmax, Table, objective, per_class, scores
from .verdict import Claim, Limit, Locality, Optimality, Separation

if TYPE_CHECKING:
    from .verdict import Verdict

SLACK = 1e-6
"""Relative: what the certificate's own rounding may make of a bound that is recomputed."""
PROOFS = {"optimal": Optimality, "local": Locality, "separated": Separation, "quasi-separated": Limit}
"""What must come with these; to end in any other way claims no more than the mean loss."""


@np.errstate(over="ignore", invalid="ignore")  # what is not a number proves nothing
def audit(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the verdict's claim holds on these rows."""
    claim, proof, kind = verdict.claim, verdict.certificate, PROOFS.get(verdict.status)
    margin = claim.objective in MARGINS
    if not _coherent(claim) or (kind and not margin and not isinstance(proof, kind)):
        return False
    table = Table(claim, X, y, sample_weight)
    if not table.known or table.rows != claim.rows or not len(table.X):
        return False
    if margin:
        return margin_holds(verdict, table)
    if kind and isinstance(proof, Separation):
        return separates(proof, table)
    if not math.isclose(mean_loss(claim, table), claim.value, rel_tol=1e-9, abs_tol=1e-12 + _rounding(claim, table)):
        return False
    if kind is Limit:
        return limit_holds(verdict, table, X, y, sample_weight)
    return kind is None or is_minimum(verdict, table)


def _coherent(claim: Claim) -> bool:
    """Whether the parts of the claim fit together, so that no number is left that nothing reads."""
    classes, columns = len(claim.classes), len(claim.columns)
    shape = (columns,) if classes == 2 else (classes, columns)
    return bool(
        classes >= 2
        and np.shape(claim.weights) == shape
        and np.size(claim.intercept) == math.prod(shape[:-1])
        and (claim.fit_intercept or not np.any(claim.intercept))
        and len(claim.class_weight) == classes
        and all(weight > 0 for weight in claim.class_weight)
        and claim.l2 >= 0
        and ((claim.objective, classes > 2) in OBJECTIVES or (claim.objective in MARGINS and classes == 2))
    )


def separates(proof: Separation, table: Table) -> bool:
    """Whether sᵧ > maxₖ≠ᵧ sₖ, s = Wx + b, in exact arithmetic for every row that counts."""
    W, b = per_class(proof.weights, proof.intercept)
    if W.shape != (table.target.shape[1], table.X.shape[1]) or len(b) != len(W) or not _finite(W, b):
        return False
    if (np.count_nonzero(table.target, axis=1) > 1).any():
        return False  # a row of two classes is on both sides
    eps, tiny = np.finfo(float).eps, np.finfo(float).tiny
    for lo in range(0, len(table.X), CHUNK):
        X, own = table.X[lo : lo + CHUNK].astype(float), table.target[lo : lo + CHUNK].argmax(axis=1)[:, None]
        if not _finite(X):
            return False
        s, doubt = X @ W.T + b, (X.shape[1] + 4) * (eps * (np.abs(X) @ np.abs(W).T + np.abs(b)) + tiny)
        sure = np.take_along_axis(s, own, 1) - s > np.take_along_axis(doubt, own, 1) + doubt
        np.put_along_axis(sure, own, True, 1)
        if not all(_leads(X[i], W, b, own[i, 0], k) for i, k in np.argwhere(~sure)):
            return False
    return True


def _leads(x: Any, W: Any, b: Any, own: int, other: int) -> bool:
    """Whether xᵀ(wᵧ − wₖ) + bᵧ − bₖ > 0, in fractions."""
    lead = Fraction(b[own]) - Fraction(b[other])
    for value, mine, its in zip(x.tolist(), W[own].tolist(), W[other].tolist(), strict=True):
        lead += Fraction(value) * (Fraction(mine) - Fraction(its))
    return lead > 0


def mean_loss(claim: Claim, table: Table) -> float:
    """(1/C) Σᵢ cᵢ ℓ(Wxᵢ + b, tᵢ) + (l2/2)‖W‖²."""
    total, loss = np.longdouble(0), objective(claim)
    for X, target, cost in table.chunks():
        total += (cost * loss.loss(Softmax(scores(claim.weights, claim.intercept, X)), target)).sum()
    return float(total / table.cost.sum()) + claim.l2 / 2 * float(np.square(claim.weights).sum())


def is_minimum(verdict: Verdict, table: Table) -> bool:
    """Whether the rows prove the gap that was claimed."""
    claim, proof = verdict.claim, verdict.certificate
    if not _finite(table.X, claim.weights, claim.intercept) or not isinstance(proof, Optimality | Locality):
        return False
    if not table.X.any() and not claim.fit_intercept:
        return not np.any(claim.weights)
    point = Point.of(verdict, table)
    if len(point.keep) < len(claim.columns) and not explained(point):
        return False
    enough = proof.gap * (1 + SLACK) + 1e-15 * abs(claim.value) - point.excess
    if claim.objective == "squared":
        bound = squared_gap(point, convex=verdict.status == "optimal")
    else:
        bound = likelihood_gap(point, proof.witness, enough) if isinstance(proof, Optimality) else math.inf
    return math.isfinite(bound) and bound <= enough


def _finite(*numbers: Any) -> bool:
    return all(bool(np.isfinite(each).all()) for each in numbers)


def _rounding(claim: Claim, table: Table) -> float:
    """How far a score can move because the weights are rounded to 53 bits, two scores against each other where there
    are more than two classes: it bounds how far the mean loss can.
    """
    size = np.abs(np.atleast_2d(claim.weights)).T.astype(np.longdouble)
    reach = (np.abs(X) @ size + np.abs(np.ravel(claim.intercept)) for X, _, _ in table.chunks())
    largest = max(float(each.max(initial=0)) for each in reach)
    return float(min(2, size.shape[1]) * (len(size) + 2) * np.finfo(float).eps * largest)
