"""From what a search found to what proves it, in the user's units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linalg import EPS, two_product, two_sum
from ..separable import Combination, SeparationProof
from .balancing import balance_of, combination, crossing_of, slip_of
from .cases import Cases, Frame, Look
from .directions import SAME
from .rational import Row, combined, exact_directions, rounded
from .search import ZERO, Found, TroubleError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

UNDECIDED = 100_000
"""Rows so near that only exact arithmetic can tell their side; more than this are not looked at one by one."""
ULPS = 2.0**-50
"""The least perturbation that is worth speaking of."""
FEW_ULPS = 2.0**-46
"""A slip from zero that is no more than the rounding of numbers that went through a few steps."""
ROUGH, SMALL = (10, 20, 30), 25
"""Bits to which a direction is rounded, if it stays positive: few bits keep zeros exact."""


class Proved(NamedTuple):
    """What is proved, by rows of X."""

    kind: str
    rows: Indices
    partly: Indices
    proof: SeparationProof


def prove(found: Found) -> Proved:
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
        return Proved("overlap", none, none, proof)
    return _quasi(found, combination(found, balance), combination(found, crossing), slip)


def _allowed(slip: float) -> float:
    """The perturbation that is claimed: none, or enough for every sum that goes into the check."""
    return max(2 * slip, ULPS) if slip else 0.0


def _shape(cases: Cases) -> tuple[int, ...]:
    d = cases.X.shape[1] + 1
    return (d,) if cases.classes == 2 else (cases.classes, d)


def in_user_units(cases: Cases, vectors: Floats) -> Floats:
    """vectors × classes × (weights, then the intercept), each number rounded once."""
    by_class = cases.by_class(np.atleast_2d(vectors))
    W, b = cases.to_user(by_class)
    if cases.lifted:
        for place in np.ndindex(*b.shape):
            b[place] = _sum([by_class[(*place, -1)]], -W[place], cases.frame.center)
    return np.concatenate([W, b[..., None]], axis=-1)


def _sum(first: list[float], a: Floats, b: Floats) -> float:
    """Σ first + Σⱼ aⱼbⱼ, rounded once."""
    both = np.flatnonzero(a * b)
    products = zip(a[both].tolist(), b[both].tolist(), strict=True)
    return float(sum((Fraction(x) * Fraction(y) for x, y in products), sum(map(Fraction, first), Fraction(0))))


def raw(cases: Cases) -> Cases:
    """The same cases in the user's units."""
    d = cases.X.shape[1]
    return replace(cases, frame=Frame(np.zeros(d), np.ones(d)), keep=np.arange(d))


def split(cases: Cases, full: Floats) -> tuple[Floats, Any]:
    """Weights and intercept as they are published: of two classes one vector and one number."""
    if cases.classes == 2:
        return full[1, :-1].copy(), float(full[1, -1])
    return full[:, :-1].copy(), full[:, -1].copy()


def flat(cases: Cases, full: Floats) -> Floats:
    """classes × (weights, intercept) without the class of reference, as a direction of the raw cases."""
    rest = full[np.arange(cases.classes) != cases.reference]
    return np.asarray(rest if cases.lifted else rest[:, :-1]).ravel()


# ------------------------------------------------------------------------------------ separated


def _separated(found: Found) -> Proved:
    cases = found.cases
    full = in_user_units(cases, found.v)[0]
    nearest = _strictly_positive(raw(cases), full)
    weights, intercept = split(cases, full)
    nothing = np.empty((0, *_shape(cases)))
    proof = SeparationProof(weights, intercept, nearest, nothing, None, None, 0.0)
    return Proved("separated", cases.distinct_rows, np.empty(0, np.intp), proof)


def _strictly_positive(cases: Cases, full: Floats) -> float:
    """The least distance of a row, all of them proved to be positive."""
    lengths = np.linalg.norm(full[:, None, :-1] - full[None, :, :-1], axis=2)
    nearest, undecided = np.inf, 0
    for look in cases.look(flat(cases, full), sized=True):
        assert look.sizes is not None
        m, own = look.margins[0], cases.own[look.cases]
        length = lengths[0, 1] if cases.classes == 2 else lengths[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = min(nearest, float(np.nanmin(np.where(np.isfinite(m), m / length, np.inf))))
        doubt = ~(m > (cases.X.shape[1] + 4) * EPS * look.sizes[0])
        undecided += int(doubt.sum())
        if undecided > UNDECIDED:
            raise TroubleError
        for i, k in np.argwhere(doubt):
            case = look.cases.start + i
            other = 1 - cases.own[case] if cases.classes == 2 else k
            if _exactly(cases, full, case, other) <= 0:
                raise TroubleError
    return nearest


def _exactly(cases: Cases, full: Floats, case: Any, other: Any) -> Fraction:
    """(w_own − w_other)ᵀx + b_own − b_other, in fractions."""
    mine, its = full[cases.own[case]].tolist(), full[other].tolist()
    x = [*cases.X[cases.row[case]].tolist(), 1.0]
    return sum((Fraction(v) * (Fraction(a) - Fraction(b)) for v, a, b in zip(x, mine, its, strict=True)), Fraction(0))


# ------------------------------------------------------------------------------------ quasi-separated


def _quasi(found: Found, balance: Combination, crossing: Combination, imbalance: float) -> Proved:
    cases = found.cases
    best: tuple[Any, ...] | None = None
    for v, N in _candidates(found):
        full, directions = in_user_units(cases, v)[0], in_user_units(cases, N.T)
        try:
            sides = _sides(raw(cases), full, directions)
        except TroubleError:  # in few bits, or rounded, it errs on a row: perhaps the next does not
            continue
        good = best is not None and best[2][-1] <= FEW_ULPS
        if not good or not sides[-1]:  # between few units in the last place and none at all there is nothing to gain
            best = (full, directions, sides) if best is None or sides[-1] < best[2][-1] else best
        if sides[-1] <= FEW_ULPS and (not sides[-1] or cases.size > SMALL):
            break
    if best is None:
        raise TroubleError
    full, directions, (rows, partly, nearest, slip) = best
    weights, intercept = split(cases, full)
    published = directions[:, 1] if cases.classes == 2 else directions
    proof = SeparationProof(
        weights, intercept, nearest, published, balance, crossing, _allowed(max(slip, imbalance))
    )  # fmt: skip
    return Proved("quasi-separated", rows, partly, proof)


def _candidates(found: Found) -> Iterator[tuple[Floats, Floats]]:
    """Directions that may do: as they were found, in few bits; then the same worked out in fractions."""
    for v in _rough(found, found.directions, None):
        yield v, found.directions
    exact = exact_directions(found.working.A[found.boundary], found.directions)
    if exact is not None:
        N = rounded(exact)
        N[np.abs(N) < SAME * np.abs(N).max(axis=0)] = 0.0
        for v in _rough(found, N, exact):
            yield v, N


def _rough(found: Found, N: Floats, exact: list[Row] | None) -> Iterator[Floats]:
    """The direction in few bits, as long as it stays positive on the same working rows; and as it is."""
    beta = np.linalg.lstsq(N, found.v, rcond=None)[0]
    beta /= np.abs(beta).max()
    A = found.working.A
    positive = A @ found.v > ZERO * (np.abs(A) @ np.abs(found.v))
    for bits in ROUGH:
        whole = np.round(beta * 2.0**bits)
        v = np.array([_sum([], each, whole) for each in N]) if exact is None else combined(exact, whole)
        if (A[positive] @ v > 2.0**-20 * (np.abs(A[positive]) @ np.abs(v))).all():
            yield v
    yield N @ (beta * 2.0**30)


def _sides(cases: Cases, full: Floats, directions: Floats) -> tuple[Indices, Indices, float, float]:
    """The rows that are separated and those that are in part; the least distance; how far zeros are from zero."""
    rules = [full, *directions] if len(directions) > 1 else [full]  # a single direction is the rule itself
    vectors = np.array([flat(cases, each) for each in rules[:1]])
    lengths = np.linalg.norm(full[:, None, :-1] - full[None, :, :-1], axis=2)
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
        raise TroubleError
    return positive, zero


def _bound(look: Look, zero: NDArray[np.bool_], full: Floats, cases: Cases) -> float:
    """The same as `_slip` to within the rounding of a plain sum, where there are many columns and it is not zero."""
    assert look.sizes is not None
    level = 2 * np.abs(full[:, -1]).max()
    real = look.sizes[0][zero] - level
    if not (real > level).all():
        return _slip(cases, look, zero, [full])
    return float(((np.abs(look.margins[0][zero]) + cases.size * EPS * look.sizes[0][zero]) / real).max())


def _slip(cases: Cases, look: Look, zero: NDArray[np.bool_], vectors: list[Floats]) -> float:
    """max |aᵀu| / Σⱼ|xⱼ(u_own − u_other)ⱼ| over signed rows that should be zero: 0 if all of them are, exactly."""
    i, k = np.nonzero(zero)
    case = look.cases.start + i
    own = cases.own[case]
    other = 1 - own if cases.classes == 2 else k
    worst = 0.0
    for u in vectors:
        used = np.flatnonzero(u[:, :-1].any(axis=0))
        X = cases.X[cases.row[case]][:, used].astype(np.float64)
        if not X.any() and not u[:, -1].any():
            continue
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
            raise TroubleError
        worst = max(worst, float(np.divide(value, real, out=np.zeros_like(value), where=real > 0).max(initial=0.0)))
    return worst * (1 + 1e-6)
