"""How hard each row pulls at the weights, and how much it holds them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...data.block import Block
from ...data.frame import Frame
from ...errors import DataError
from ...numerics.arrays import Floats
from ...numerics.functions import sigmoid

MOST_COLUMNS = 10_000
"""The most columns for a matrix of them."""
NUMBERS = 1 << 22
"""Numbers of X that are looked at together."""


class Influence(NamedTuple):
    """How hard each row pulls at the weights, and how much it holds them."""

    error: Floats
    """e = y − p: the row's factor in the gradient Xᵀ(y − p) of the likelihood."""
    squared_error_pull: Floats
    """|e| p(1 − p): its factor in the gradient of the squared error; at most 4/27, at margin −log 2."""
    leverage: Floats
    """h = c p(1 − p) zᵀH⁻¹z, the row's share of the weights; they add up to the number of weights."""
    shift: Floats
    """About how far the score of the row itself would move if the row were left out."""


def influence_of(X: Block, z: Floats, positive: Floats, cost: Floats, l2: float, fit_intercept: bool) -> Influence:
    """h = c p(1 − p) zᵀH⁻¹z and its kin, at the scores z of a fit, some rows at a time."""
    if X.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"X has {X.shape[1]} columns, and influence needs a matrix of them: choose {MOST_COLUMNS} columns or fewer."
        )
    p = sigmoid(z)
    e = positive - p
    weight = cost * p * (1 - p)
    n, d = X.shape
    size = max(1, NUMBERS // d)
    blocks = [slice(lo, min(lo + size, n)) for lo in range(0, n, size)]
    share = cost / cost.max() / float((cost / cost.max()).sum())
    center: Any = sum(share[rows] @ X[rows].dense() for rows in blocks) * fit_intercept
    frame = Frame(center, np.ones(d), fit_intercept)
    scale = np.sqrt(sum(share[rows] @ np.square(frame.coordinates(X[rows].dense())) for rows in blocks))
    scale[scale == 0] = 1
    frame = Frame(center, scale[:d], fit_intercept)
    hessian = np.diag(np.append(l2 * cost.sum() / frame.scale**2, [0.0] * fit_intercept))
    for rows in blocks:
        Z = frame.coordinates(X[rows].dense())
        hessian += (Z.T * weight[rows]) @ Z
    inverse = np.linalg.pinv(hessian, hermitian=True)
    reach = np.concatenate([_forms(frame.coordinates(X[rows].dense()), inverse) for rows in blocks])
    leverage = weight * reach
    shift = -cost * e * reach / np.maximum(1 - leverage, np.finfo(float).tiny)
    return Influence(e, np.abs(e) * p * (1 - p), leverage, shift)


def _forms(Z: Floats, inverse: Floats) -> Floats:
    """zᵀH⁻¹z of each row."""
    return np.einsum("ij,ij->i", Z @ inverse, Z)  # type: ignore[no-any-return]
