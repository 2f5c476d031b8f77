"""How hard each row pulls at the weights, and how much it holds them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics import sigmoid

Floats = NDArray[np.float64]


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


def influence_of(X: Floats, z: Floats, positive: Floats, cost: Floats, l2: float, fit_intercept: bool) -> Influence:
    """h = c p(1 − p) zᵀH⁻¹z and its kin, at the scores z of a fit."""
    p = sigmoid(z)
    e = positive - p
    weight = cost * p * (1 - p)
    Z = np.column_stack([X - X.mean(axis=0), np.ones(len(z))]) if fit_intercept else X
    scale = np.sqrt(np.square(Z).mean(axis=0))
    scale[scale == 0] = 1
    penalty = np.zeros(Z.shape[1])
    penalty[: X.shape[1]] = l2 * cost.sum() / scale[: X.shape[1]] ** 2
    Z = Z / scale
    inverse = np.linalg.pinv((Z.T * weight) @ Z + np.diag(penalty), hermitian=True)
    reach = np.einsum("ij,jk,ik->i", Z, inverse, Z, optimize=True)
    leverage = weight * reach
    shift = -cost * e * reach / np.maximum(1 - leverage, np.finfo(float).tiny)
    return Influence(e, np.abs(e) * p * (1 - p), leverage, shift)
