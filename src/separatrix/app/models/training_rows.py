"""The rows of a fit, given or still in memory, as a model file remembers them: their spread, and a hash of them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ...errors import DataError
from ...learners.checks.rows import checked_costs
from .from_learner import model_of
from .model import Model

BLOCK = 1 << 16
"""Rows that are hashed together."""


def model_with_rows(estimator: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> Model:
    """The model of a fitted learner, with what its rows tell; where none are given, those that are still in memory."""
    if (X is None) != (y is None):
        raise DataError("is missing: give both X and y of the fit, or neither.", array="X" if X is None else "y")
    if X is None and sample_weight is not None:
        raise DataError("is given without X and y: give all three, or none.", array="sample_weight")
    if X is None:
        X, y, sample_weight = _still_here(estimator)
    if X is None:
        return model_of(estimator)
    rows = _numbers(X, estimator)
    mark = rows_fingerprint(rows, y, sample_weight)
    return model_of(estimator, X=rows, sample_weight=sample_weight, training={"fingerprint": mark})


def _still_here(estimator: Any) -> tuple[Any, Any, Any]:
    """The rows that a logistic regression learnt from, if nobody has let go of them or changed them."""
    claim = getattr(getattr(estimator, "verdict_", None), "claim", None)
    kept = getattr(estimator, "_kept_rows", None)
    if kept is None or claim is None or claim.objective not in ("likelihood", "squared"):
        return None, None, None
    if estimator.verdict_.status in ("separated", "quasi-separated"):  # to tell whether they changed would take long
        return None, None, None
    from ...learners.logistic.rows_of_fit import rows_of_fit

    given, _ = rows_of_fit(estimator, (None, None, None))
    return (None, None, None) if given is None else (given.X, given.y, given.sample_weight)


def _numbers(X: Any, estimator: Any) -> Any:
    """The rows as an array or CSR, as many columns as the learner knows."""
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != estimator.n_features_in_ or rows.dtype.kind not in "buif":
        raise DataError(
            f"has shape {rows.shape} and holds {rows.dtype}; it must be the rows of the fit, numbers in "
            f"{estimator.n_features_in_} columns.",
            array="X",
        )
    claimed = getattr(getattr(getattr(estimator, "verdict_", None), "claim", None), "rows", None)
    if isinstance(claimed, int | np.integer) and rows.shape[0] != claimed:
        raise DataError(
            f"has {rows.shape[0]} rows; the learner was fitted to {claimed}: give it the same rows.", array="X"
        )
    return rows


def rows_fingerprint(rows: Any, y: Any, sample_weight: Any = None) -> str:
    """SHA-256 of the rows as doubles, in their order, then of the labels as text, then of the weights.

    Zeros that are left out count as zeros: CSR rows have the hash of their matrix.
    """
    found = hashlib.sha256(repr(rows.shape).encode())
    for lo in range(0, rows.shape[0], BLOCK):
        block = rows[lo : lo + BLOCK]
        dense = block.toarray() if hasattr(block, "toarray") else block
        found.update((np.ascontiguousarray(dense, np.float64) + 0.0).data)  # so that −0 is 0
    labels = np.asarray(y)
    found.update(repr(labels.shape).encode())
    for lo in range(0, len(labels), BLOCK):
        found.update("\0".join(map(str, labels[lo : lo + BLOCK].ravel().tolist())).encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    if sample_weight is not None:
        found.update(np.ascontiguousarray(checked_costs(sample_weight, rows.shape[0]), np.float64).data)
    return found.hexdigest()
