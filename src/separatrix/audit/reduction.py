"""The check of a model made of binary classifiers: every one of them, on the rows and signs that the code gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..errors import DataError
from ..results.claims import KernelClaim, ReductionClaim
from ..results.proofs import Members
from ..results.verdict import worst_status

if TYPE_CHECKING:
    from ..results.verdict import Verdict

Audit = Callable[..., bool]


def reduction_holds(verdict: Verdict, X: Any, y: Any, sample_weight: Any, audit: Audit) -> bool:
    """Whether every member's verdict holds, and the whole says no more than they do."""
    claim, proof = verdict.claim, verdict.certificate
    if any(member is None for member in claim.members):
        return False
    statuses = tuple(member.status for member in claim.members)
    if not isinstance(proof, Members) or proof.statuses != statuses or verdict.status != worst_status(statuses):
        return False
    counted = bool(claim.members) and all(member.claim.objective == "mistakes" for member in claim.members)
    if counted != (claim.objective == "mistakes") or _length(X) != claim.rows:
        return False
    cost = _costs(sample_weight, claim.rows)
    if claim.code is None:
        return _labels_hold(claim, X, y, cost, audit)
    return bool(claim.members) and _code_holds(claim, X, y, cost, audit) and _made_of_members(claim)


def _costs(sample_weight: Any, rows: int) -> Any:
    if sample_weight is None:
        return None
    cost = np.asarray(sample_weight, dtype=float)
    if cost.shape not in ((), (1,), (rows,)):
        raise DataError(f"X has {rows} rows, sample_weight {cost.size}: they must agree.")
    return np.broadcast_to(cost, (rows,))


def _code_holds(claim: ReductionClaim, X: Any, y: Any, cost: Any, audit: Audit) -> bool:
    M = np.asarray(claim.code)
    place = _places(claim.classes, y)
    if M.shape != (len(claim.classes), len(claim.members)) or place is None or len(place) != claim.rows:
        return False
    if not _tells_apart(M):
        return False
    for column, member in zip(M.T, claim.members, strict=True):
        side = column[place]
        taught = np.flatnonzero(side)
        weights = None if cost is None else cost[taught]
        if not audit(member, _rows(X, taught, member, claim.rows), (side[taught] > 0).astype(int), weights):
            return False
    return True


def _labels_hold(claim: ReductionClaim, X: Any, y: Any, cost: Any, audit: Audit) -> bool:
    Y: Any = y.tocsc() if _is_sparse(y) else np.asarray(y)
    if Y.shape != (claim.rows, len(claim.classes)):
        return False
    constant = dict(claim.constants)
    learnt = [place for place in range(len(claim.classes)) if place not in constant]
    if len(learnt) != len(claim.members) or len(constant) != len(claim.constants):
        return False
    counts = slice(None) if cost is None else cost > 0
    for place, always in constant.items():
        if (_column(Y, place)[counts] != always).any():
            return False
    pairs = zip(learnt, claim.members, strict=True)
    return all(audit(member, X, _column(Y, place).astype(int), cost) for place, member in pairs)


def _column(Y: Any, place: int) -> Any:
    return np.asarray(Y[:, [place]].toarray() if _is_sparse(Y) else Y[:, place]).ravel()


def _places(classes: tuple[Any, ...], y: Any) -> Any:
    """Where each label stands among the classes; None if one is unknown."""
    known = {label: place for place, label in enumerate(classes)}
    found = [known.get(label) for label in np.asarray(y).ravel().tolist()]
    return None if None in found else np.array(found)


def _tells_apart(M: Any) -> bool:
    """Whether the entries are signs, and every two classes are opposed in a column."""
    pairs = ((a, b) for a in range(len(M)) for b in range(a))
    return bool(np.isin(M, (-1, 0, 1)).all()) and all(bool((M[a] * M[b] == -1).any()) for a, b in pairs)


def _made_of_members(claim: ReductionClaim) -> bool:
    """Whether the K discriminants are the members' own, or the sums of them that the code names."""
    if claim.weights is None or claim.intercept is None:
        return claim.weights is None and claim.intercept is None
    M = np.asarray(claim.code, float)
    V = np.array([np.append(member.claim.weights, member.claim.intercept) for member in claim.members])
    said = np.column_stack([claim.weights, claim.intercept])
    if not claim.summed:
        own = _own_classifier(M)
        return own is not None and np.array_equal(said, np.vstack([V, np.zeros_like(V[:1])])[own])
    size = np.abs(M) @ np.abs(V)
    return said.shape == size.shape and bool((np.abs(said - M @ V) <= 4 * np.finfo(float).eps * len(V) * size).all())


def _own_classifier(M: Any) -> Any:
    """The column that has each class alone on its + side, −1 where there is none; None if the code is no such one."""
    if not ((M != 0).all() and ((M > 0).sum(axis=0) == 1).all() and ((M > 0).sum(axis=1) <= 1).all()):
        return None
    return np.where((M > 0).any(axis=1), (M > 0).argmax(axis=1), -1)


def _rows(X: Any, taught: Any, member: Any, rows: int) -> Any:
    """Some rows of X; of a matrix of kernel values their columns too."""
    if len(taught) == rows:
        return X
    if isinstance(member.claim, KernelClaim) and member.claim.kernel is None:
        return np.asarray(X)[np.ix_(taught, taught)]
    if hasattr(X, "iloc"):
        return X.iloc[taught]
    if _is_sparse(X):
        return X.tocsr()[taught]
    if isinstance(X, list | tuple) and not (len(X) and np.ndim(X[0]) == 1):
        return [X[i] for i in taught]
    return X[taught] if hasattr(X, "dtype") else np.asarray(X)[taught]


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _is_sparse(X: Any) -> bool:
    return bool(issparse(X))
