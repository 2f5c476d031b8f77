"""The check of a count: how many rows a rule gets wrong."""

from __future__ import annotations

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Separation
from .objectives import per_class, scores
from .rows import Table


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
