"""From what a search found to what proves it, in the user's units."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.exact import Row, combined, exact_directions, exact_dot, rounded
from ...numerics.linalg import two_product, two_sum
from ...results.separability import Combination, SeparationProof
from .balancing import balance_of, combination, crossing_of, slip_of
from .cases import Cases, Look
from .search import AT_A_TIME, ZERO, Arrangement, HiddenSeparationError
from .units import SAME, flat, in_user_units, lengths_between, raw, rounded_sum, split

# Which rows a rule separates and which are on its boundary, and how far from it rounding puts them.

SMALL = 25
"""Weights that are few: their sums are worked out exactly."""


def sides_of(cases: Cases, full: Floats, directions: Floats) -> tuple[Indices, Indices, float, float]:
    """The rows that are separated and those that are in part; the least distance; how far zeros are from zero."""
    rules = [full, *directions] if len(directions) > 1 else [full]  # a single direction is the rule itself
    vectors = np.array([flat(cases, each) for each in rules[:1]])
    lengths = lengths_between(full)
    all_of = np.ones(len(cases.block), bool)
    any_of, seen = np.zeros(len(cases.block), bool), np.zeros(len(cases.block), bool)
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
    rounding = 16 * (cases.block.shape[1] + 4) * EPS
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
    parts = 1 + len(i) * cases.block.shape[1] // AT_A_TIME
    return max(
        _slip_of(cases, look.cases.start + case, other, u) for u in vectors
        for case, other in zip(np.array_split(i, parts), np.array_split(k, parts), strict=True)
    )  # fmt: skip


def _slip_of(cases: Cases, case: Indices, other: Indices, u: Floats) -> float:
    """The slip of one rule on some signed rows that should be zero."""
    own = cases.own[case]
    other = 1 - own if cases.classes == 2 else other
    used = np.flatnonzero(u[:, :-1].any(axis=0))
    X = cases.block.written(cases.row[case], used).astype(np.float64)
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


UNDECIDED = 100_000
"""Rows so near that only exact arithmetic can tell their side; more than this are not looked at one by one."""
ULPS = 2.0**-50
"""The least perturbation that is worth speaking of."""
MOST = 2.0**-32
"""A slip that is no rounding any more."""
FEW_ULPS = 2.0**-46
"""A slip from zero that is no more than the rounding of numbers that went through a few steps."""
ROUGH = (10, 20, 30)
"""Bits to which a direction is rounded, if it stays positive: few bits keep zeros exact."""


class SeparationAnswer(NamedTuple):
    """What is proved, by rows of X."""

    kind: str
    rows: Indices
    partly: Indices
    proof: SeparationProof


def prove(found: Arrangement) -> SeparationAnswer:
    """The certificate of what was found."""
    if found.kind == "separated":
        return _separated(found)
    balance = balance_of(found)
    crossing = crossing_of(found, balance)
    slip = slip_of(found, crossing, balance.rank)
    if found.kind == "overlap":
        none = np.empty(0, np.intp)
        proof = SeparationProof(
            None, None, 0.0, np.empty((0, *_shape(found.cases))), combination(found, balance),
            combination(found, crossing), _allowed(slip),
        )  # fmt: skip
        return SeparationAnswer("overlap", none, none, proof)
    return _quasi(found, combination(found, balance), combination(found, crossing), slip)


def _allowed(slip: float) -> float:
    """The perturbation that is claimed: none, or enough for every sum that goes into the check."""
    return max(2 * slip, ULPS) if slip else 0.0


def _shape(cases: Cases) -> tuple[int, ...]:
    d = cases.block.shape[1] + 1
    return (d,) if cases.classes == 2 else (cases.classes, d)


# ------------------------------------------------------------------------------------ separated


def _separated(found: Arrangement) -> SeparationAnswer:
    return separated_by(found.cases, in_user_units(found.cases, found.v)[0])


def separated_by(cases: Cases, full: Floats) -> SeparationAnswer:
    """What a rule, classes × (weights, intercept), proves that is positive on every signed row."""
    nearest = _strictly_positive(raw(cases), full)
    weights, intercept = split(cases, full)
    nothing = np.empty((0, *_shape(cases)))
    proof = SeparationProof(weights, intercept, nearest, nothing, None, None, 0.0)
    return SeparationAnswer("separated", cases.distinct_rows, np.empty(0, np.intp), proof)


def _strictly_positive(cases: Cases, full: Floats) -> float:
    """The least distance of a row, all of them proved to be positive."""
    lengths = lengths_between(full)
    nearest, undecided = np.inf, 0
    for look in cases.look(flat(cases, full), sized=True):
        assert look.sizes is not None
        m, own = look.margins[0], cases.own[look.cases]
        length = lengths[0, 1] if cases.classes == 2 else lengths[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = min(nearest, float(np.nanmin(np.where(np.isfinite(m), m / length, np.inf))))
        doubt = ~(m > (cases.block.shape[1] + 4) * EPS * look.sizes[0])
        undecided += int(doubt.sum())
        if undecided > UNDECIDED:
            raise HiddenSeparationError
        for i, k in np.argwhere(doubt):
            case = look.cases.start + i
            other = 1 - cases.own[case] if cases.classes == 2 else k
            if _exactly(cases, full, case, other) <= 0:
                raise HiddenSeparationError
    return nearest


def _exactly(cases: Cases, full: Floats, case: Any, other: Any) -> Fraction:
    """(w_own − w_other)ᵀx + b_own − b_other, in fractions."""
    columns, numbers = cases.block.numbers_of(int(cases.row[case]))
    at, x = np.append(columns, -1), np.append(numbers, 1.0)
    return exact_dot(x, full[cases.own[case], at]) - exact_dot(x, full[other, at])


# ------------------------------------------------------------------------------------ quasi-separated


def _quasi(found: Arrangement, balance: Combination, crossing: Combination, imbalance: float) -> SeparationAnswer:
    cases = found.cases
    best: tuple[Any, ...] | None = None
    for v, N in _candidates(found):
        full, directions = in_user_units(cases, v)[0], in_user_units(cases, N.T)
        try:
            sides = sides_of(raw(cases), full, directions)
        except HiddenSeparationError:  # in few bits, or rounded, it errs on a row: perhaps the next does not
            continue
        good = best is not None and best[2][-1] <= FEW_ULPS
        if not good or not sides[-1]:  # between few units in the last place and none at all there is nothing to gain
            best = (full, directions, sides) if best is None or sides[-1] < best[2][-1] else best
        if sides[-1] <= FEW_ULPS and (not sides[-1] or cases.size > SMALL):
            break
    if best is None or best[2][-1] > MOST:
        raise HiddenSeparationError
    full, directions, (rows, partly, nearest, slip) = best
    weights, intercept = split(cases, full)
    published = directions[:, 1] if cases.classes == 2 else directions
    proof = SeparationProof(
        weights, intercept, nearest, published, balance, crossing, _allowed(max(slip, imbalance))
    )  # fmt: skip
    return SeparationAnswer("quasi-separated", rows, partly, proof)


def _candidates(found: Arrangement) -> Iterator[tuple[Floats, Floats]]:
    """Directions that may do: as they were found, in few bits; then the same worked out in fractions."""
    for v in _rough(found, found.directions, None):
        yield v, found.directions
    exact = exact_directions(found.working.A[found.boundary], found.directions)
    if exact is not None:
        N = rounded(exact)
        N[np.abs(N) < SAME * np.abs(N).max(axis=0)] = 0.0
        for v in _rough(found, N, exact):
            yield v, N


def _rough(found: Arrangement, N: Floats, exact: list[Row] | None) -> Iterator[Floats]:
    """The direction in few bits, as long as it stays positive on the same working rows; and as it is."""
    beta = np.linalg.lstsq(N, found.v, rcond=None)[0]
    beta /= np.abs(beta).max()
    A = found.working.A
    positive = A @ found.v > ZERO * (np.abs(A) @ np.abs(found.v))
    for bits in ROUGH:
        whole = np.round(beta * 2.0**bits)
        v = np.array([rounded_sum([], each, whole) for each in N]) if exact is None else combined(exact, whole)
        if (A[positive] @ v > 2.0**-20 * (np.abs(A[positive]) @ np.abs(v))).all():
            yield v
    yield N @ (beta * 2.0**30)
