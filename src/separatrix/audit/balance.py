"""The check of signed rows that balance: that positive multipliers near the given ones do, exactly, and what they span.

Σᵢ λᵢaᵢ = 0 either holds as it stands, or r rows take up what is left over: with a regular r × r part M of them,
Mᵀδ = −Σᵢ λᵢaᵢ on its columns has a solution that an approximate inverse bounds, or that elimination in integers finds.
Columns outside M follow, because all rows lie in a space of r dimensions, or are looked at one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import qr

from .cases import NEAR, SignedRows
from .exact import EPS, FAINT, TINY, independent, solve, weighed_sum

EXACT = 80
"""The largest system for elimination in integers."""
SAMPLE = 4000
"""Rows of a long balance that are tried as a basis first."""
CHUNK = 8192
"""Rows of a long balance that are looked at together."""
SHALLOW = 1e-6
"""A row less far than this from those before it is no good part of a basis."""
FEW = 4_000_000
"""How many numbers are added up exactly before anything else is tried."""


# ----------------------------------------------------------------------------------------------- what is to be shown


def spans(signed: SignedRows, rank: int, slack: float) -> bool:
    """Whether the rows balance and have this rank, given that they lie in a space of this dimension."""
    width = len(signed.blocks)
    if width < rank or len(signed) < rank:
        return False
    few = len(signed) * width <= FEW
    if not slack and few and signed.vanishes():
        return len(independent(signed.matrix(slice(None)), rank)[0]) == rank
    order = _order(signed, rank)
    basis = Basis.of(signed, order, rank)
    if basis is not None and basis.absorbs(slack):
        return True
    if slack:
        return basis is not None and basis.gap(slack) < 1 and signed.nearly_vanishes(slack)
    if not few and signed.vanishes():
        return len(independent(signed.matrix(order), rank)[0]) == rank
    return rank <= EXACT and _completes(signed, order, rank, every=False)


def crosses(signed: SignedRows, rank: int, slack: float) -> bool:
    """Whether the rows balance, given that they lie in a space of `rank` dimensions."""
    if not len(signed):
        return False
    if signed.vanishes() or signed.nearly_vanishes(slack):
        return True
    width = int(signed.matrix(slice(None)).any(axis=0).sum())
    rank, order = min(rank, width), np.argsort(-signed.multipliers, kind="stable")
    if len(signed) > rank:
        basis = Basis.of(signed, _order(signed, rank), rank)
        if basis is not None and basis.absorbs(slack):
            return True
    return len(signed) <= EXACT + 1 and _completes(signed, order, width, every=True)


# ---------------------------------------------------------------------------------------------- rows that take it up


def _order(signed: SignedRows, rank: int) -> Any:
    """Rows, the first as independent as may be when weighed by λ: all, or a sample and the best of each chunk."""
    everything = np.arange(len(signed))
    if len(signed) <= SAMPLE:
        return _pivoted(signed, everything)[0]
    parts = [everything[lo : lo + CHUNK] for lo in range(0, len(signed), CHUNK)]
    largest = [part[np.abs(_weighed(signed, part)).argmax(axis=0)] for part in parts]
    some = np.unique(np.concatenate([*largest, everything[:: len(signed) // SAMPLE]]))
    order, depth = _pivoted(signed, some)
    if len(depth) >= rank and depth[rank - 1] > SHALLOW:
        return order
    best = [_pivoted(signed, part)[0][: 2 * len(signed.blocks)] for part in parts]
    return _pivoted(signed, np.concatenate(best))[0]


def _weighed(signed: SignedRows, some: Any) -> Any:
    return signed.matrix(some) * signed.multipliers[some, None]


def _pivoted(signed: SignedRows, some: Any) -> tuple[Any, Any]:
    """The rows in the order of QR with pivots, and how far each is from those before it, beside the first."""
    A = _weighed(signed, some)
    scale = np.abs(A).max(axis=0)
    R, order = qr((A / np.where(scale > 0, scale, 1)).T, mode="r", pivoting=True, check_finite=False)
    depth = np.abs(np.diag(R))
    return some[order], depth / max(depth.max(initial=0), TINY)


@dataclass(frozen=True)
class Basis:
    """B = C Mᵀ L, L the multipliers of r rows and C the inverse sizes of r columns, both to powers of two; R ≈ B⁻¹."""

    signed: SignedRows
    rows: Any
    columns: list[int]
    up: Any
    """The exponents of C."""
    B: Any
    R: Any

    @classmethod
    def of(cls, signed: SignedRows, order: Any, rank: int) -> Basis | None:
        """The basis of the first rows; None if it has no inverse or is out of the range of floats."""
        rows = order[:rank]
        A, lift = signed.matrix(rows), np.frexp(signed.multipliers[rows])[1]
        weighed = np.ldexp(A, lift[:, None])
        up = -np.frexp(np.abs(weighed).max(axis=0, initial=0))[1]
        scaled = np.ldexp(A, lift[:, None] + up)
        if not np.isfinite(weighed).all() or (np.abs(scaled[A != 0]) < FAINT).any():
            return None
        columns = qr(scaled, mode="r", pivoting=True, check_finite=False)[1][:rank]
        B = scaled[:, columns].T
        try:
            R = np.linalg.inv(B)
        except np.linalg.LinAlgError:
            return None
        return cls(signed, rows, list(columns), up[columns], B, R)

    def gap(self, slack: float) -> float:
        """θ ≥ ‖I − RB‖∞, whatever the numbers of X within the slack: below 1, B is regular."""
        r = len(self.B)
        rounding = ((r + 8) * EPS + slack) * (np.abs(self.R) @ np.abs(self.B))
        return float((np.abs(np.eye(r) - self.R @ self.B) + rounding).sum(axis=1).max(initial=0)) * (1 + 4 * r * EPS)

    def absorbs(self, slack: float) -> bool:
        """‖L⁻¹Δλ‖∞ ≤ ‖|R| |C Σᵢ λᵢaᵢ|‖∞ / (1 − θ): whether such changes of the basis' multipliers are small."""
        theta = self.gap(slack)
        if not theta < 1:
            return False
        swift = len(self.signed) * len(self.B) > FEW
        return any(
            self._change(slack, exact) / (1 - theta) <= NEAR / 2 for exact in ([False, True] if swift else [True])
        )

    def _change(self, slack: float, exact: bool) -> float:
        left = np.array([_residual(self.signed, j, slack, exact) for j in self.columns])
        change = np.abs(self.R) @ np.ldexp(left, self.up)
        return float(change.max(initial=0)) * (1 + 4 * (len(left) + 8) * EPS)


def _residual(signed: SignedRows, j: int, slack: float, exact: bool) -> float:
    """|Σᵢ λᵢaᵢⱼ| + slack Σᵢ λᵢ|aᵢⱼ| or a little more."""
    column = signed.column(*signed.blocks[j])
    if exact:
        reach = slack and slack * float(signed.multipliers @ np.abs(column))
        return float(abs(weighed_sum(signed.multipliers, column))) * (1 + EPS) + reach * (1 + 2 * len(column) * EPS)
    side = math.isqrt(len(column)) + 1  # no number is added more than 2·side times, in whatever order
    terms = np.zeros(side * side)
    terms[: len(column)] = signed.multipliers * column
    reach = float(np.abs(terms).reshape(side, side).sum(axis=1).sum())
    return abs(float(terms.reshape(side, side).sum(axis=1).sum())) + (2 * (side + 4) * EPS + slack) * reach + FAINT


def _completes(signed: SignedRows, order: Any, rank: int, every: bool) -> bool:
    """Whether exact multipliers of a basis, near the given, balance; with `every`, in every column as it is."""
    A = signed.matrix(order)
    rows, columns = independent(A, rank)
    if len(rows) < (1 if every else rank):
        return False
    basis, others = order[rows], np.ones(len(signed), bool)
    others[basis] = False
    looked = range(len(signed.blocks)) if every else columns
    left = {j: weighed_sum(signed.multipliers[others], signed.column(*signed.blocks[j])[others]) for j in looked}
    solution = solve(A[np.ix_(rows, columns)].T, [-left[j] for j in columns])
    if solution is None:
        return False
    exact = [Fraction(n, solution[1]) for n in solution[0]]
    given = [Fraction(each) for each in signed.multipliers[basis].tolist()]
    if any(abs(new - old) > Fraction(NEAR) * old for new, old in zip(exact, given, strict=True)):
        return False
    others_too = [j for j in looked if j not in columns]
    return all(_dot(exact, A[rows, j]) + left[j] == 0 for j in others_too)


def _dot(exact: list[Fraction], column: Any) -> Fraction:
    return sum((x * Fraction(a) for x, a in zip(exact, column.tolist(), strict=True)), Fraction(0))
