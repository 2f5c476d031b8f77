"""Directions that are zero on given rows, and directions in the user's units and back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy.linalg import qr

from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.exact import exact_dot
from .cases import Cases, ExactFrame

RANK = 1e-10
"""Singular values, relative to the largest, that count as zero."""
SAME = 1e-13
"""Numbers that differ by this part of themselves differ by rounding."""
MOST = 1000
"""The largest denominator that is small."""
POOR = 1e-5
"""Singular values, relative, below which coordinates are changed."""


def conditioner(A: Floats) -> Floats | None:
    """C that makes the columns of AC orthogonal and of one length, where those of A are nearly dependent."""
    length = np.linalg.norm(A, axis=1)
    _, s, Vt = np.linalg.svd(A / length[:, None], full_matrices=False)
    if len(s) < A.shape[1] or s[-1] > POOR * s[0] or s[-1] <= RANK * s[0]:
        return None
    return np.asarray(Vt.T * (s[0] / s))


def null_space(A: Floats) -> Floats:
    """N with AN = 0, in the simplest numbers that can be had: one for each of its own weights, whole where possible."""
    length = np.linalg.norm(A, axis=1)
    A = A[length > 0] / length[length > 0, None]
    if not len(A):
        return np.eye(A.shape[1])
    _, s, Vt = np.linalg.svd(A, full_matrices=len(A) < A.shape[1])
    N = Vt[int((s > RANK * s[0]).sum()) :].T
    if not N.size:
        return N
    own = np.sort(qr(N.T, mode="r", pivoting=True)[1][: N.shape[1]])
    return np.column_stack(
        [_neat(A, column, j, own) for j, column in zip(own, np.linalg.solve(N[own].T, N.T), strict=True)]
    )


def _neat(A: Floats, column: Floats, j: int, own: Indices) -> Floats:
    """The direction with exactly one at its own weight, zero at those of the others, and as simple as it may be.

    Of columns that are nearly dependent it holds a share that is rounding: what is small goes, if it is no worse so.
    """
    column = column.copy()
    column[own] = 0.0
    column[j] = 1.0
    left = max(float(np.abs(A @ column).max()), EPS)
    for same in (1e-8, 1e-10, 1e-12, SAME):
        cleared = np.where(np.abs(column) > same * np.abs(column).max(), column, 0.0)
        for neat in (simple(cleared), cleared):
            if np.abs(A @ neat).max() <= 4 * left * np.abs(neat).max():
                return neat
    return column


def simple(column: Floats) -> Floats:
    """The column times the number that makes it whole, if denominators are small up to rounding; else as it is."""
    largest = float(np.abs(column).max())
    fractions = [Fraction(x).limit_denominator(MOST) for x in (column / largest).tolist()]
    if any(abs(float(f) - x) > SAME for f, x in zip(fractions, (column / largest).tolist(), strict=True)):
        return np.where(np.abs(column) > SAME * largest, column, 0.0)
    common = lcm(*(f.denominator for f in fractions))
    return np.array([float(f * common) for f in fractions]) if common <= MOST**3 else column


# Directions in the user's units and back.


def in_user_units(cases: Cases, vectors: Floats) -> Floats:
    """vectors × classes × (weights, then the intercept), each number rounded once."""
    by_class = cases.by_class(np.atleast_2d(vectors))
    W, b = cases.to_user(by_class)
    if cases.lifted:
        for place in np.ndindex(*b.shape):
            b[place] = rounded_sum([by_class[(*place, -1)]], -W[place], cases.frame.center)
    return np.concatenate([W, b[..., None]], axis=-1)


def rounded_sum(first: list[float], a: Floats, b: Floats) -> float:
    """Σ first + Σⱼ aⱼbⱼ, rounded once."""
    both = np.flatnonzero(a * b)
    return float(exact_dot(a[both], b[both]) + sum(map(Fraction, first)))


def raw(cases: Cases) -> Cases:
    """The cases in the user's units."""
    d = cases.block.shape[1]
    return replace(cases, frame=ExactFrame(np.zeros(d), np.ones(d)), keep=np.arange(d))


def split(cases: Cases, full: Floats) -> tuple[Floats, Any]:
    """Weights and intercept as they are published: of two classes one vector and one number."""
    if cases.classes == 2:
        return full[1, :-1].copy(), float(full[1, -1])
    return full[:, :-1].copy(), full[:, -1].copy()


def lengths_between(full: Floats) -> Floats:
    """‖w_k − w_j‖ for every two classes, without overflow or underflow."""
    return np.array([_lengths(full[:, :-1] - own[:-1]) for own in full])


def _lengths(vectors: Floats) -> Floats:
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(np.linalg.norm(vectors / unit, axis=1) * unit[:, 0])


def flat(cases: Cases, full: Floats) -> Floats:
    """classes × (weights, intercept) without the class of reference, as a direction of the raw cases."""
    rest = full[np.arange(cases.classes) != cases.reference]
    return np.asarray(rest if cases.lifted else rest[:, :-1]).ravel()
