"""From what a search found to what proves it, in the user's units."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.reading import numbers_of
from ...numerics.arrays import Floats
from ...numerics.exact import Row, combined, exact_directions, exact_dot, rounded
from ...numerics.linalg import EPS
from ...results.separability import Combination, SeparationProof
from .balancing import balance_of, combination, crossing_of, slip_of
from .cases import Cases
from .directions import SAME
from .search import ZERO, Arrangement, HiddenSeparationError
from .sides import SMALL, sides_of
from .units import flat, in_user_units, lengths_between, raw, rounded_sum, split

Indices = NDArray[np.intp]

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
    d = cases.X.shape[1] + 1
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
        doubt = ~(m > (cases.X.shape[1] + 4) * EPS * look.sizes[0])
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
    columns, numbers = numbers_of(cases.X, int(cases.row[case]))
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
