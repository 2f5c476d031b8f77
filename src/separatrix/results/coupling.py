"""Probabilities of K classes from those of L classifiers.

Classifier l says that, of the classes it was taught, those on its + side have the probability rₗ. `coupled` finds the
probabilities of the classes that agree with all of them as well as possible; `shared` and `odds_of` normalise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..numerics.arrays import Floats

Signs = NDArray[np.int8]
SURE = 1e-7
"""A classifier is never quite sure: rₗ is held in [SURE, 1 − SURE], so that two that contradict each other leave an
answer."""
BLOCK = 1 << 21
STEADY = 1e-13


def coupled(r: Floats, M: Signs) -> Floats:
    """argmin over p ≥ 0, Σₖpₖ = 1 of Σₗ (rₗ P₋ₗ − (1 − rₗ) P₊ₗ)², P±ₗ = Σ{pₖ : Mₖₗ = ±1}.

    Every term is zero where P₊ₗ/(P₊ₗ + P₋ₗ) = rₗ. With a classifier for every pair this is the second method of Wu, Lin
    and Weng (2004), whose answer is never negative; with one for every class it is the point of the simplex that is
    nearest to r.
    """
    K, L = M.shape
    r = np.clip(r, SURE, 1 - SURE)
    step = max(1, BLOCK // (K * max(K, L)))
    p = np.empty((len(r), K))
    for lo in range(0, len(r), step):
        p[lo : lo + step] = _coupled(r[lo : lo + step], M)
    return p


def _coupled(r: Floats, M: Signs) -> Floats:
    A = np.where(M.T[None] < 0, r[:, :, None], 0.0) - np.where(M.T[None] > 0, 1 - r[:, :, None], 0.0)
    K = M.shape[0]
    system, right = np.zeros((len(r), K + 1, K + 1)), np.zeros((len(r), K + 1, 1))
    system[:, :K, :K] = A.transpose(0, 2, 1) @ A
    size = np.einsum("ikk->i", system[:, :K, :K]) / K
    system[:, np.arange(K), np.arange(K)] += STEADY * size[:, None]  # where a code leaves classes undetermined: equal
    system[:, K, :K], system[:, :K, K], right[:, K] = size[:, None], size[:, None], size[:, None]
    p = np.linalg.solve(system, right)[:, :K, 0]
    for i in np.flatnonzero(p.min(axis=1) < 0):
        p[i] = nnls(np.vstack([A[i], np.ones(K)]), np.append(np.zeros(len(A[i])), 1.0))[0]
    return p / p.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def shared(r: Floats, scores: Floats) -> Floats:
    """pₖ = rₖ/Σⱼrⱼ; where every classifier is sure of the rest, the classes with the largest score have equal parts."""
    total = r.sum(axis=1, keepdims=True)
    top = (scores == scores.max(axis=1, keepdims=True)).astype(np.float64)
    return np.where(total > 0, r, top) / np.where(total > 0, total, top.sum(axis=1, keepdims=True))  # type: ignore[no-any-return]


def odds_of(r: Floats) -> Floats:
    """pₖ ∝ rₖ/(1 − rₖ) for k < K and p_K ∝ 1: given that at most one of K − 1 independent claims is true.

    Claims that are sure share the whole.
    """
    sure = (r == 1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.column_stack([np.where(sure > 0, 0.0, r / (1 - r)), np.ones(len(r))])
    some = sure.any(axis=1, keepdims=True)
    whole = np.where(some, np.column_stack([sure, np.zeros(len(r))]), odds)
    return whole / whole.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def averaged(r: Floats, M: Signs) -> Floats:
    """pₖ = 2/(K(K − 1)) Σ_{j≠k} rₖⱼ: the mean of what the duels of class k give it, of all pairs."""
    plus, minus = (M > 0).astype(np.float64), (M < 0).astype(np.float64)
    won = r @ plus.T + (1 - r) @ minus.T
    return won / won.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
