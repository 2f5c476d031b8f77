"""The plain map, weights of its own for each class, as the audit reads it: scores are XWᵀ + b, and no Φ is written out.

Other maps are looked at in the same way, as rows × classes × p numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...data.maps.joint import Blocks
from .rows import CHUNK, JointTable


class Scores(NamedTuple):
    """The scores of some rows."""

    part: slice
    s: Any
    """Rows × classes."""
    size: Any
    """Σⱼ |θⱼΦⱼ| of each row, the largest of its classes: a score is off by so many roundings at the most."""
    terms: int
    """How many numbers enter a score."""
    exact: Callable[[int, int, int], bool]
    """Whether in row i class k is ahead of class j, in fractions."""


def scores_of(table: JointTable, theta: Any) -> Iterator[Scores]:
    """The scores of all rows, some rows at a time."""
    intercept = plain_intercept(table)
    return _joint(table, theta) if intercept is None else _plain(table, theta, intercept)


def plain_intercept(table: JointTable) -> bool | None:
    """Whether the map is (x, 1) ⊗ e_c, True, or x ⊗ e_c, False; None: neither."""
    claim, given = table.claim, table.claim.feature_map
    if type(given) is not Blocks or not table.claim.tabular or len(given.blocks) != len(claim.classes):
        return None
    d, intercept = table.X.shape[1], bool(given.blocks[0].intercept)
    every = tuple(range(d))
    for c, block in zip(claim.classes, given.blocks, strict=True):
        if block.members != (c,) or block.columns != every or bool(block.intercept) != intercept:
            return None
    whole = claim.weights.size == len(claim.classes) * (d + intercept) == len(given.names)
    return intercept if whole else None


def _plain(table: JointTable, theta: Any, intercept: bool) -> Iterator[Scores]:
    U = np.reshape(theta, (len(table.claim.classes), -1))
    W, b = (U[:, :-1], U[:, -1]) if intercept else (U, np.zeros(len(U)))
    step = max(1, CHUNK // max(U.shape))
    for lo in range(0, len(table), step):
        X = table.X[lo : lo + step].astype(float)
        if not np.isfinite(X.data if hasattr(X, "tocsr") else X).all():
            raise ValueError("X has NaN or infinity")

        def exact(i: int, k: int, j: int, X: Any = X) -> bool:
            x = X[[i]].toarray().ravel() if hasattr(X, "tocsr") else X[i]
            some = np.flatnonzero(x)
            terms = zip(x[some].tolist(), W[k, some].tolist(), W[j, some].tolist(), strict=True)
            total = sum((Fraction(a) * (Fraction(u) - Fraction(v)) for a, u, v in terms), Fraction(0))
            return total + Fraction(float(b[k])) - Fraction(float(b[j])) > 0

        size = (abs(X) @ np.abs(W).T + np.abs(b)).max(axis=1)
        yield Scores(slice(lo, lo + X.shape[0]), X @ W.T + b, size, U.shape[1], exact)


def _joint(table: JointTable, theta: Any) -> Iterator[Scores]:
    weights = [Fraction(w) for w in np.asarray(theta, dtype=float).tolist()]
    for part, F in table.features():

        def exact(i: int, k: int, j: int, F: Any = F) -> bool:
            pairs = zip(F[i, k].tolist(), F[i, j].tolist(), weights, strict=True)
            return sum(((Fraction(a) - Fraction(b)) * w for a, b, w in pairs), Fraction(0)) > 0

        yield Scores(part, F @ theta, (np.abs(F) @ np.abs(theta)).max(axis=1), theta.size, exact)
