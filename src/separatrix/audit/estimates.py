"""The check of estimates: parameters that are formulas of the rows are computed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..results.proofs import Estimates
from .discriminant import discriminant_holds
from .naive_bayes import naive_bayes_holds

if TYPE_CHECKING:
    from ..results.verdict import Verdict

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
