"""The check of an expansion in a kernel: its scores on all rows, from the rows and the coefficients alone.

The kernels of the library are written out here a second time, from their formulas; one of the user's own is asked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from ..results.claims import KernelClaim
from ..results.proofs import KernelSeparation
from .exact import EPS

if TYPE_CHECKING:
    from ..results.verdict import Verdict

CHUNK = 1 << 20
"""Numbers of the kernel's matrix that are looked at together."""
OURS = "separatrix.data.kernels.tables"
"""Where kernels live that are written out here."""


def expansion_holds(verdict: Verdict, X: Any, y: Any) -> bool:
    """Whether the coefficients err on as many rows as is claimed, and separate all rows where that is claimed."""
    claim, proof = verdict.claim, verdict.certificate
    rows = _Rows(claim, X)
    own = [claim.classes.index(label) if label in claim.classes else -1 for label in np.asarray(y).ravel().tolist()]
    if not _coherent(claim) or not rows.fit or len(own) != claim.rows or min(own, default=-1) < 0:
        return False
    if verdict.status not in ("separated", "budget", "interrupted"):
        return False
    scores, doubt = rows.scores()
    if not (np.isfinite(scores).all() and np.isfinite(doubt).all()):
        return False
    lead = _leads(scores, np.array(own))
    least, unsure = lead.min(axis=1), np.abs(lead).min(axis=1) <= 2 * doubt
    surely = int(((least < 0) & ~unsure).sum())
    wrong = claim.value * claim.rows
    if not surely - 1e-6 <= wrong <= surely + int(unsure.sum()) + 1e-6:
        return False
    if verdict.status != "separated":
        return proof is None
    if not isinstance(proof, KernelSeparation) or unsure.any() or not (least > 0).all():
        return False
    return _is_margin(proof, claim, rows, scores, lead, np.array(own))


def _coherent(claim: KernelClaim) -> bool:
    A, support = np.asarray(claim.coefficients), np.asarray(claim.support)
    shape = (len(support),) if len(claim.classes) == 2 else (len(claim.classes), len(support))
    return bool(
        len(claim.classes) >= 2
        and len(set(claim.classes)) == len(claim.classes)
        and A.shape == shape
        and np.isfinite(A).all()
        and len(np.unique(support)) == len(support)
        and (not len(support) or 0 <= support.min() <= support.max() < claim.rows)
        and claim.objective == "mistakes"
        and math.isfinite(claim.value)
    )


def _leads(scores: Any, own: Any) -> Any:
    """y·s of two classes; s_y − sₖ of K, infinite for y itself."""
    if scores.shape[1] == 1:
        return np.where(own == 1, 1.0, -1.0)[:, None] * scores
    lead = np.take_along_axis(scores, own[:, None], 1) - scores
    np.put_along_axis(lead, own[:, None], np.inf, 1)
    return lead


def _is_margin(proof: KernelSeparation, claim: KernelClaim, rows: _Rows, scores: Any, lead: Any, own: Any) -> bool:
    """Whether the least lead over ‖w_y − wₖ‖ is what is claimed: ⟨wₖ, wⱼ⟩ = Σᵢ αₖᵢ sⱼ(xᵢ)."""
    inner = rows.A @ scores[claim.support]
    squares = np.diagonal(inner)
    length = math.sqrt(max(0.0, float(squares.sum())))
    apart = np.full((1, 1), length)
    if len(claim.classes) > 2:
        apart = np.sqrt(np.maximum(squares + squares[:, None] - inner - inner.T, 0))
    apart = np.where(apart > 0, apart, 1.0)
    least = float((lead / (apart[own] if len(apart) > 1 else apart[0])).min())
    return math.isclose(least, proof.margin, rel_tol=1e-6) and math.isclose(length, proof.length, rel_tol=1e-6)


class _Rows:
    """X as the claim reads it, with the kernel."""

    def __init__(self, claim: KernelClaim, X: Any) -> None:
        self.claim, self.lift = claim, float(claim.fit_intercept)
        ours = type(claim.kernel).__module__ == OURS
        self.kind = "given" if claim.kernel is None else getattr(claim.kernel, "kind", None) if ours else None
        table = self.kind is not None or claim.tabular
        self.X: Any = (
            (X.tocsr().astype(float) if hasattr(X, "tocsr") else np.asarray(X, dtype=float)) if table else list(X)
        )
        self.A = np.atleast_2d(np.asarray(claim.coefficients, dtype=float))

    @property
    def fit(self) -> bool:
        """Whether there are as many as is claimed, and of given numbers as many columns."""
        return len(self) == self.claim.rows and (self.kind != "given" or self.X.shape[1:] == (self.claim.rows,))

    def __len__(self) -> int:
        return len(self.X) if isinstance(self.X, list) else int(self.X.shape[0])

    def scores(self) -> tuple[Any, Any]:
        """s of every row, rows × classes; and by how much rounding may have moved it."""
        n, support = len(self), np.asarray(self.claim.support)
        size = max(1, CHUNK // max(1, len(support)))
        found, doubt = [np.empty((0, len(self.A)))], [np.empty(0)]
        for lo in range(0, n, size):
            K, reach, terms = self._kernel(np.arange(lo, min(lo + size, n)), support)
            found.append((K + self.lift) @ self.A.T)
            most = ((reach + self.lift) @ np.abs(self.A).T).max(axis=1, initial=0.0)
            doubt.append(4 * (terms + len(support) + 8) * EPS * most)
        return np.concatenate(found), np.concatenate(doubt)

    def _kernel(self, rows: Any, support: Any) -> tuple[Any, Any, int]:
        """k of these rows and of the support, numbers that are no less, and how many operations a number took."""
        kernel = self.claim.kernel
        if self.kind == "given":
            K = self.X[np.ix_(rows, support)]
            return K, np.abs(K), 0
        A, B = self._some(rows), self._some(support)
        if self.kind is None:
            K = kernel(A, B)
            K = np.asarray(_dense(K), dtype=float)
            return K, np.abs(K), 0
        d = A.shape[1]
        if self.kind == "rbf" and not issparse(A):
            K = np.exp(-kernel.gamma * cdist(A, B, "sqeuclidean"))
            return K, np.ones_like(K), d
        one, other = _squares(A), _squares(B)
        P, reach = _dense(A @ B.T), np.outer(np.sqrt(one), np.sqrt(other))
        if self.kind == "rbf":  # from products: what they lose counts
            size = one[:, None] + other
            return np.exp(-kernel.gamma * np.maximum(size - 2 * P, 0)), 1 + 2 * kernel.gamma * size, d
        if self.kind == "linear":
            return P, reach, d
        q, g, c = kernel.degree, kernel.gamma, kernel.constant
        return (g * P + c) ** q, (g * reach + c) ** q, q * (d + 2)

    def _some(self, places: Any) -> Any:
        return [self.X[i] for i in places] if isinstance(self.X, list) else self.X[places]


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _squares(X: Any) -> Any:
    """‖x‖² of each row."""
    return np.asarray((X.multiply(X) if hasattr(X, "multiply") else np.square(X)).sum(axis=1)).ravel()
