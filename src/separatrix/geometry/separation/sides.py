"""Which rows a rule separates and which are on its boundary, and how far from it rounding puts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...data.reading import written
from ...numerics.arrays import Floats
from ...numerics.linalg import EPS, two_product, two_sum
from .cases import Cases, Look
from .search import AT_A_TIME, HiddenSeparationError
from .units import flat, lengths_between

Indices = NDArray[np.intp]

SMALL = 25
"""Weights that are few: their sums are worked out exactly."""


def sides_of(cases: Cases, full: Floats, directions: Floats) -> tuple[Indices, Indices, float, float]:
    """The rows that are separated and those that are in part; the least distance; how far zeros are from zero."""
    rules = [full, *directions] if len(directions) > 1 else [full]  # a single direction is the rule itself
    vectors = np.array([flat(cases, each) for each in rules[:1]])
    lengths = lengths_between(full)
    all_of = np.ones(len(cases.X), bool)
    any_of, seen = np.zeros(len(cases.X), bool), np.zeros(len(cases.X), bool)
    nearest, slip = np.inf, 0.0
    for look in cases.look(vectors, sized=True):
        positive, zero = positive_and_zero(look, cases)
        own, row = cases.own[look.cases], cases.row[look.cases]
        length = np.full_like(look.margins[0], lengths[0, 1]) if cases.classes == 2 else lengths[own]
        if positive.any():
            nearest = min(nearest, float((look.margins[0][positive] / length[positive]).min()))
        all_of[row[zero.any(axis=1)]] = False
        any_of[row[positive.any(axis=1)]] = True
        seen[row] = True
        if zero.any():
            quick = len(rules) == 1 and cases.size > SMALL and bool(look.margins[0][zero].any())
            slip = max(slip, _bound(look, zero, full, cases) if quick else _slip(cases, look, zero, rules))
    separated = all_of & any_of & seen
    return np.flatnonzero(separated), np.flatnonzero(any_of & ~separated), nearest, slip


def positive_and_zero(look: Look, cases: Cases) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which signed rows are positive under the first direction, and which are zero up to rounding."""
    assert look.sizes is not None
    rounding = 16 * (cases.X.shape[1] + 4) * EPS
    m, size, real = look.margins[0], look.sizes[0], np.isfinite(look.margins[0])
    positive, zero = (m > rounding * size) & real, (np.abs(m) <= rounding * size) & real
    if (real & ~positive & ~zero).any():
        raise HiddenSeparationError
    return positive, zero


def _bound(look: Look, zero: NDArray[np.bool_], full: Floats, cases: Cases) -> float:
    """A bound on `_slip` by a plain sum and its rounding, where there are many columns and the slip is not zero."""
    assert look.sizes is not None
    level = 2 * np.abs(full[:, -1]).max()
    real = look.sizes[0][zero] - level
    if not (real > level).all():
        return _slip(cases, look, zero, [full])
    return float(((np.abs(look.margins[0][zero]) + cases.size * EPS * look.sizes[0][zero]) / real).max())


def _slip(cases: Cases, look: Look, zero: NDArray[np.bool_], vectors: list[Floats]) -> float:
    """max |aᵀu| / Σⱼ|xⱼ(u_own − u_other)ⱼ| over signed rows that should be zero: 0 if all of them are, exactly."""
    i, k = np.nonzero(zero)
    parts = 1 + len(i) * cases.X.shape[1] // AT_A_TIME
    return max(
        _slip_of(cases, look.cases.start + case, other, u) for u in vectors
        for case, other in zip(np.array_split(i, parts), np.array_split(k, parts), strict=True)
    )  # fmt: skip


def _slip_of(cases: Cases, case: Indices, other: Indices, u: Floats) -> float:
    """The slip of one rule on some signed rows that should be zero."""
    own = cases.own[case]
    other = 1 - own if cases.classes == 2 else other
    used = np.flatnonzero(u[:, :-1].any(axis=0))
    X = written(cases.X, cases.row[case], used).astype(np.float64)
    if not X.any() and not u[:, -1].any():
        return 0.0
    signed = [(u[own, -1], 1.0), (u[other, -1], -1.0)]
    terms = [sign * level for level, sign in signed]
    errors: list[Floats] = []
    for j, x in zip(used, X.T, strict=True):
        for of, sign in ((own, 1.0), (other, -1.0)):
            product, error = two_product(x, sign * u[of, j])
            terms.append(product)
            errors.append(error)
    total = np.zeros(len(case))
    for term in terms:
        total, error = two_sum(total, term)
        errors.append(error)
    value = np.abs(total + np.sum(errors, axis=0, dtype=np.longdouble))
    real = np.abs(X * (u[own][:, used] - u[other][:, used])).sum(axis=1)
    if (value[real == 0] != 0).any():
        raise HiddenSeparationError
    worst = float(np.divide(value, real, out=np.zeros_like(value), where=real > 0).max(initial=0.0))
    return worst * (1 + 1e-6)
