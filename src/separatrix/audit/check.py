"""The check of a verdict: data and weights in, yes or no out.

Plain NumPy: an optimum in double precision with bounds on all rounding (`audit.optimum`), all else in long double, and
in fractions where rounding could matter. It shares no code with the solvers, so that an error there cannot confirm
itself here. Here a claim is handed to the module that knows its kind; `audit.rows` reads the data as the claim does and
`audit.objectives` knows what was minimised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.claims import Claim, EstimateClaim, JointClaim, KernelClaim, ReductionClaim
from ..results.proofs import Estimates, Limit, Locality, Optimality, Separation
from .discriminant import discriminant_holds
from .features import FeatureSheet, unfolded
from .firth import OBJECTIVES as PENALISED
from .firth import firth_holds
from .joint import joint_holds
from .kernel import expansion_holds
from .least_squares import OBJECTIVE as LEAST_SQUARES
from .least_squares import least_squares_hold
from .limit import limit_holds
from .margin import OBJECTIVES as MARGINS
from .margin import margin_holds
from .naive_bayes import naive_bayes_holds
from .objectives import OBJECTIVES, per_class, scores
from .optimum import minimum_holds, value_holds
from .reduction import reduction_holds
from .rows import ROWS, Sheet, Table
from .zero_one import OBJECTIVE as ZERO_ONE
from .zero_one import zero_one_holds

if TYPE_CHECKING:
    from ..results.verdict import Verdict

# The check of a count: how many rows a rule gets wrong.


def mistakes_hold(claim: Claim, table: Table) -> bool:
    """Whether n·value rows are wrong: ŷ is the first of the strongest classes, of two the second iff its score is > 0.

    A row whose two strongest scores are so close that rounding decides may be counted either way.
    """
    plain = claim.l2 == 0 and all(weight == 1 for weight in claim.class_weight)
    if not plain or not (np.isfinite(claim.weights).all() and np.isfinite(claim.intercept).all()):
        return False
    surely, perhaps = 0, 0
    W, b = np.atleast_2d(np.abs(claim.weights)), np.abs(np.ravel(claim.intercept))
    for X, target, _ in table.skim():
        s = scores(claim.weights, claim.intercept, X)
        own = target.argmax(axis=1)[:, None]
        size = (abs(X) @ W.T + b).max(axis=1, keepdims=True)
        doubt = 4 * (W.shape[1] + 4) * np.finfo(float).eps * size
        rest = s.copy()
        np.put_along_axis(rest, own, -np.inf, 1)
        lead = np.take_along_axis(s, own, 1) - rest.max(axis=1, keepdims=True)
        if not np.isfinite(lead).all():
            return False
        surely += int((lead < -doubt).sum())
        perhaps += int((np.abs(lead) <= doubt).sum())
    wrong = claim.value * table.rows
    return bool(np.isfinite(wrong) and surely - 1e-6 <= wrong <= surely + perhaps + 1e-6)


def margin_is(proof: Separation, table: Table) -> bool:
    """Whether the least (s_y − sₖ)/‖w_y − wₖ‖ of a row is the distance that is claimed."""
    W, b = per_class(proof.weights, proof.intercept)
    W, least = W.astype(np.longdouble), np.inf
    apart = np.array([np.sqrt(((W - own) ** 2).sum(axis=1)) for own in W])
    for X, target, _ in table.skim():
        s, own = np.asarray(X @ W.T) + b, target.argmax(axis=1)
        lead = np.take_along_axis(s, own[:, None], 1) - s
        np.put_along_axis(lead, own[:, None], np.inf, 1)
        least = min(least, float((lead / np.where(apart[own] > 0, apart[own], 1)).min(initial=np.inf)))
    return bool(np.isclose(least, proof.margin, rtol=1e-6, atol=0))


MOST = 1e-6
"""The error from which on a claim says nothing."""
MODELS: dict[str, Callable[..., bool]] = {
    "naive Bayes": naive_bayes_holds,
    "Gaussian discriminant": discriminant_holds,
}
"""By the name of the formulas: (verdict, X, y, sample_weight) → whether the rows give these parameters."""


def estimates_hold(verdict: Verdict, X: Any, y: Any, sample_weight: Any) -> bool:
    """Whether the rows give the parameters that are claimed, to within the error that is claimed."""
    claim, proof = verdict.claim, verdict.certificate
    holds = MODELS.get(claim.model)
    if holds is None or verdict.status != "optimal" or not isinstance(proof, Estimates) or not 0 <= proof.error <= MOST:
        return False
    return bool(holds(verdict, X, y, sample_weight))


PROOFS = {"optimal": Optimality, "local": Locality, "separated": Separation, "quasi-separated": Limit}
"""What must come with these; to end in any other way claims no more than the mean loss."""
COUNTED = ("separated", "budget", "interrupted")
"""How a learner can end that only counts mistakes."""


@np.errstate(over="ignore", invalid="ignore")  # what is not a number proves nothing
def audit(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the verdict's claim holds on these rows."""
    if isinstance(verdict.claim, KernelClaim):
        return sample_weight is None and expansion_holds(verdict, X, y)
    if isinstance(verdict.claim, JointClaim):
        return joint_holds(verdict, X, y, sample_weight)
    if isinstance(verdict.claim, ReductionClaim):
        return reduction_holds(verdict, X, y, sample_weight, audit)
    if isinstance(verdict.claim, EstimateClaim):
        return estimates_hold(verdict, X, y, sample_weight)
    claim, proof, kind = verdict.claim, verdict.certificate, PROOFS.get(verdict.status)
    margin, fewest = claim.objective in MARGINS, claim.objective == ZERO_ONE
    if not _coherent(claim) or (kind and not (margin or fewest) and not isinstance(proof, kind)):
        return False
    if claim.features is not None:
        X = unfolded(claim, X)
        if X is None:
            return False
    table = Table(claim, X, y, sample_weight)
    if not table.known or table.rows != claim.rows or not table.X.shape[0]:
        return False
    if margin:
        return margin_holds(verdict, table)
    if claim.objective in PENALISED:
        return firth_holds(verdict, table)
    if fewest:
        return zero_one_holds(verdict, table)
    if claim.objective == LEAST_SQUARES:
        return least_squares_hold(verdict, table)
    counted = claim.objective == "mistakes"
    if counted and not (verdict.status in COUNTED and mistakes_hold(claim, table)):
        return False
    if kind and isinstance(proof, Separation):
        return separates(proof, table) and (not counted or margin_is(proof, table))
    if counted:
        return kind is None
    if isinstance(proof, Optimality | Locality):  # of a budget too: the gap that was reached
        return minimum_holds(verdict, table)
    if not value_holds(claim, table):
        return False
    X = X.astype(float) if isinstance(X, FeatureSheet) else X
    return kind is None or limit_holds(verdict, table, X, y, sample_weight)


def _coherent(claim: Claim) -> bool:
    """Whether the parts of the claim fit together, so that no number is left that nothing reads."""
    classes, columns = len(claim.classes), len(claim.columns)
    shape = (columns,) if classes == 2 else (classes, columns)
    return bool(
        classes >= 2
        and len(set(claim.classes)) == classes
        and np.shape(claim.weights) == shape
        and np.size(claim.intercept) == math.prod(shape[:-1])
        and (claim.fit_intercept or not np.any(claim.intercept))
        and len(claim.class_weight) == classes
        and all(weight > 0 for weight in claim.class_weight)
        and claim.l2 >= 0
        and (
            (claim.objective, classes > 2) in OBJECTIVES
            or (claim.objective in MARGINS and classes == 2)
            or (claim.objective in PENALISED and classes == 2 and claim.l2 == 0)
            or claim.objective in ("mistakes", LEAST_SQUARES, ZERO_ONE)
        )
    )


def separates(proof: Separation, table: Table) -> bool:
    """Whether sᵧ > maxₖ≠ᵧ sₖ, s = Wx + b, in exact arithmetic for every row that counts."""
    W, b = per_class(proof.weights, proof.intercept)
    if W.shape != (table.target.shape[1], table.X.shape[1]) or len(b) != len(W) or not _finite(W, b):
        return False
    if (np.count_nonzero(table.target, axis=1) > 1).any() or not table.finite():
        return False  # a row of two classes is on both sides
    eps, tiny = np.finfo(float).eps, np.finfo(float).tiny
    for rows, X in _in_double(table.X):
        own = table.target[rows].argmax(axis=1)[:, None]
        s, doubt = X @ W.T + b, (X.shape[1] + 4) * (eps * (abs(X) @ np.abs(W).T + np.abs(b)) + tiny)
        sure = np.take_along_axis(s, own, 1) - s > np.take_along_axis(doubt, own, 1) + doubt
        np.put_along_axis(sure, own, True, 1)
        if not all(_leads(X[[i]], W, b, own[i, 0], k) for i, k in np.argwhere(~sure)):
            return False
    return True


def _in_double(X: Any) -> Iterator[tuple[slice, Any]]:
    """The rows in double precision, some at a time; CSR rows stay so."""
    if isinstance(X, Sheet):
        yield from X.parts(float)
        return
    for lo in range(0, len(X), ROWS):
        yield slice(lo, lo + ROWS), X[lo : lo + ROWS].astype(float)


def _leads(row: Any, W: Any, b: Any, own: int, other: int) -> bool:
    """Whether xᵀ(wᵧ − wₖ) + bᵧ − bₖ > 0, in fractions."""
    lead, (_, at) = Fraction(b[own]) - Fraction(b[other]), row.nonzero()
    values = (row if isinstance(row, np.ndarray) else row.toarray())[0]
    for value, mine, its in zip(values[at].tolist(), W[own, at].tolist(), W[other, at].tolist(), strict=True):
        lead += Fraction(value) * (Fraction(mine) - Fraction(its))
    return lead > 0


def _finite(*numbers: Any) -> bool:
    return all(bool(np.isfinite(each).all()) for each in numbers)
