"""The parts of a separability's certificate, in one shape for any number of classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..results.separability import KINDS, Combination, Separability, SeparationProof

MOST = 2.0**-30
"""The largest relative change of the numbers of X that can still be called one of their last places."""


class Claim(NamedTuple):
    """The certificate with an entry for every class, column and the intercept; of two classes, the first's are zero."""

    weights: Any
    """K × (columns, then the intercept), or None."""
    directions: Any
    keep: Any
    """The columns that are not aliased."""
    slack: float


def read(result: Separability) -> Claim | None:
    """The parts of the certificate, if they fit together."""
    try:
        return _read(result)
    except (TypeError, ValueError, AttributeError):  # what is no number or no list of them proves nothing
        return None


def _read(result: Separability) -> Claim | None:
    proof: Any = result.certificate
    d, rank = len(result.columns), result.rank
    if not isinstance(proof, SeparationProof) or len(result.classes) < 2 or result.kind not in KINDS:
        return None
    aliased = set(rank.aliased)
    if len(aliased) < len(rank.aliased) or not aliased <= set(result.columns) or not 0 <= proof.perturbation <= MOST:
        return None
    unknown = rank.rank is None and result.kind == "separated" and not aliased  # a rule of all columns needs no rank
    if rank.of != d + result.fit_intercept or not (unknown or rank.rank == rank.of - len(aliased)):
        return None
    keep = np.array([j for j, name in enumerate(result.columns) if name not in aliased], dtype=np.intp)
    weights, directions = _weights(result, proof), _directions(result, proof)
    parts = result.kind != "overlap", result.kind == "quasi-separated", result.kind != "separated"
    if directions is None or (parts[0] != (weights is not None)) or parts[1] != bool(len(directions)):
        return None
    if any(isinstance(each, Combination) != parts[2] for each in (proof.balance, proof.crossing)):
        return None
    if not _rows_fit(result) or not np.isfinite(proof.margin) or (proof.margin > 0) != parts[0]:
        return None
    out = np.setdiff1d(np.arange(d + 1), keep)[: -1 if result.fit_intercept else None]
    entries = [directions] if weights is None else [directions, weights[None]]
    if any(each[:, :, out].any() or not np.isfinite(each).all() for each in entries):
        return None
    return Claim(weights, directions, keep, float(proof.perturbation))


def _weights(result: Separability, proof: SeparationProof) -> Any:
    """K × (columns, then the intercept), or None if they are missing or of another shape."""
    classes, d = len(result.classes), len(result.columns)
    if proof.weights is None:
        return None
    w, b = np.asarray(proof.weights, dtype=float), np.asarray(proof.intercept, dtype=float).ravel()
    if w.shape != ((d,) if classes == 2 else (classes, d)) or len(b) != len(w.reshape(-1, d)):
        return None
    W = np.column_stack([w.reshape(-1, d), b])
    return np.vstack([np.zeros_like(W), W]) if classes == 2 else W


def _directions(result: Separability, proof: SeparationProof) -> Any:
    """q × K × (columns, then the intercept), or None if they are of another shape; without an intercept it may lack."""
    classes, d = len(result.classes), len(result.columns)
    U = np.asarray(proof.directions, dtype=float)
    q, blocks = (len(U), () if classes == 2 else (classes,)) if U.ndim else (0, (0,))
    if not U.size:
        return np.zeros((0, classes, d + 1))
    if not result.fit_intercept and U.shape == (q, *blocks, d):
        U = np.concatenate([U, np.zeros((*U.shape[:-1], 1))], axis=-1)
    if U.shape != (q, *blocks, d + 1):
        return None
    return np.stack([np.zeros_like(U), U], axis=1) if classes == 2 else U


def _rows_fit(result: Separability) -> bool:
    """Whether the rows are numbers in order, each once, with as many names."""
    for rows in (result.rows, result.partly):
        rows = np.asarray(rows)
        if rows.ndim != 1 or (rows.size and (rows.dtype.kind not in "iu" or (np.diff(rows) <= 0).any())):
            return False
    return len(result.row_names) == len(result.rows)
