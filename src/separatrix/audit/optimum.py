"""The check of a claimed minimum: the mean loss, the rank, and every bound of the certificate.

First in double precision, with bounds on all rounding; where these do not decide, in long double and by QR.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Locality, Optimality
from ..results.verdict import Verdict
from .bounded import Proved, proved
from .bounded_wide import penalised
from .columns import Columns, columns_of
from .minimum import Point, likelihood_shown, penalised_shown, squared_shown
from .objectives import OfMargin, Softmax, objective, scores
from .of_margin import margin_loss_shown
from .rows import Table
from .shown import Shown, coherent, covers
from .sums import Sums, exact_in_double, is_sparse

MOST_COLUMNS = 6000
"""Columns of CSR rows up to which a matrix of the columns proves a minimum."""
WITNESSED = 2000
"""Columns of CSR rows beyond which a witness says that no such matrix was made."""
VALUE = 1e-11
"""How far the mean loss may be from what is claimed, relatively, beside the rounding of scores."""


def minimum_holds(verdict: Verdict, table: Table) -> bool:
    """Whether the rows prove the mean loss, the rank and all bounds that were claimed."""
    claim, proof = verdict.claim, verdict.certificate
    if not isinstance(proof, Optimality | Locality) or not coherent(proof, claim):
        return False
    if not (np.isfinite(claim.weights).all() and np.isfinite(claim.intercept).all()):
        return False
    if not claim.fit_intercept and not table.X.any():
        return not np.any(claim.weights) and not verdict.rank.rank and value_holds(claim, table)
    if claim.objective != "squared" and not isinstance(proof, Optimality):
        return False
    chosen = chosen_rows(proof, table)
    if chosen is None or not table.finite():
        return False
    wide = claim.objective == "likelihood" and isinstance(proof, Optimality) and _is_wide(claim, proof, table)
    columns = columns_of(verdict, table, wide=wide)
    if columns is None:
        return False
    proof = replace(proof, coefficients=proof.coefficients - columns.outside)
    sums, found = _quickly(claim, proof, table, columns, chosen) or (None, [])
    if sums is not None and any(covers(proof, claim, each.most) for each in found) and _value_is(claim, sums):
        return True
    if found and not any(each.least is None or covers(proof, claim, each.least) for each in found):
        return False
    shown = _thoroughly(verdict, table, columns, chosen)
    return value_holds(claim, table) and any(covers(proof, claim, each) for each in shown)


def chosen_rows(proof: Optimality | Locality, table: Table) -> Any:
    """Which of the rows that count the certificate names; None where it names none that there are, or not so many."""
    if isinstance(proof, Locality):
        return np.ones(len(table.places), bool)
    if proof.sample is None or proof.witness is not None:
        return np.ones(len(table.places), bool) if proof.sample is None and proof.share == 1 else None
    sample = np.asarray(proof.sample)
    if sample.ndim != 2 or sample.shape[1] != 2 or sample.dtype.kind not in "iu" or not len(sample):
        return None
    ends = sample.ravel()
    if ends[0] < 0 or ends[-1] > table.rows or (np.diff(ends) < 0).any():
        return None
    chosen = np.zeros(table.rows, bool)
    for start, stop in sample.tolist():
        chosen[start:stop] = True
    part = np.count_nonzero(chosen) / table.rows
    return chosen[table.places] if abs(part - proof.share) <= len(sample) / table.rows else None


def _quickly(claim: Claim, proof: Optimality | Locality, table: Table, columns: Columns, chosen: Any) -> Proved | None:
    """In double precision; None where that is no way."""
    if claim.objective != "likelihood" or not isinstance(proof, Optimality) or not exact_in_double(table):
        return None
    if _is_wide(claim, proof, table):
        return penalised(claim, table, proof.witness)
    return proved(claim, table, proof.witness, columns, chosen) if _has_room(claim, table) else None


def _thoroughly(verdict: Verdict, table: Table, columns: Columns, chosen: Any) -> Iterator[Shown]:
    """In long double, by QR."""
    claim, proof = verdict.claim, verdict.certificate
    if isinstance(proof, Optimality) and claim.objective == "likelihood" and _is_wide(claim, proof, table):
        yield from penalised_shown(claim, table, proof.witness)
    elif _has_room(claim, table):
        point = Point.of(verdict, table, columns.keep)
        if claim.objective == "squared":
            yield from squared_shown(point, columns.ways, convex=verdict.status == "optimal")
        elif isinstance(objective(claim), OfMargin):
            yield from margin_loss_shown(point, columns.ways, chosen)
        elif isinstance(proof, Optimality):
            yield from likelihood_shown(point, proof.witness, columns.ways, chosen)


def _is_wide(claim: Claim, proof: Optimality, table: Table) -> bool:
    """Whether the penalty is the proof, and no matrix of the columns."""
    many = len(claim.classes) > 2
    return proof.witness is not None and not (many and (len(claim.columns) <= WITNESSED or not is_sparse(table)))


def _has_room(claim: Claim, table: Table) -> bool:
    """Whether a matrix of the columns can be made."""
    return not is_sparse(table) or len(claim.columns) <= MOST_COLUMNS


def _value_is(claim: Claim, sums: Sums) -> bool:
    """Whether the mean loss is what is claimed, whatever rounding has done to it."""
    penalty = claim.l2 / 2 * float(np.square(claim.weights).sum())
    off = sums.value_off + 1e-15 * (sums.value + penalty * np.size(claim.weights))
    return bool(abs(sums.value + penalty - claim.value) + off <= VALUE * abs(claim.value))


def mean_loss(claim: Claim, table: Table) -> float:
    """(1/C) Σᵢ cᵢ ℓ(Wxᵢ + b, tᵢ) + (l2/2)‖W‖²."""
    total, loss = np.longdouble(0), objective(claim)
    for X, target, cost in table.skim():
        total += (cost * loss.loss(Softmax(scores(claim.weights, claim.intercept, X)), target)).sum()
    return float(total / table.cost.sum()) + claim.l2 / 2 * float(np.square(claim.weights).sum())


def value_holds(claim: Claim, table: Table) -> bool:
    """Whether the mean loss is what is claimed."""
    allowed = 1e-15 + _rounding(claim, table)
    return math.isclose(mean_loss(claim, table), claim.value, rel_tol=VALUE, abs_tol=allowed)


def _rounding(claim: Claim, table: Table) -> float:
    """How far a score can move because the weights are rounded to 53 bits, two scores against each other where there
    are more than two classes: it bounds how far the mean loss can.
    """
    size = np.abs(np.atleast_2d(claim.weights)).T.astype(np.longdouble)
    reach = (abs(X) @ size + np.abs(np.ravel(claim.intercept)) for X, _, _ in table.skim())
    largest = max(float(each.max(initial=0)) for each in reach)
    return float(min(2, size.shape[1]) * (len(size) + 2) * np.finfo(float).eps * largest)
