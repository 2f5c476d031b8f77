"""What the check of a separability reads: the rows that count, their classes, and exact signs of rules on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError
from ..results.separability import Combination, Separability
from .exact import EPS, FAINT, PASSES, TINY, distil, splits, two_product, weighed_sum
from .rows import (
    NUMBERS,
    ROWS,
    SUM_TO_ONE,
    costs_of,
    finite,
    is_csr,
    largest,
    matrix,
    names,
    pieces,
    without_empty,
    written,
)

ROUGHLY = 1000
"""How many of its last digits a column may be off from a combination of others that it is said to be."""


class Rule(NamedTuple):
    """Scores Wx + b, a row for every class."""

    W: Any
    b: Any


class Cases:
    """The rows of X that count, and the classes each is a case of: those of positive probability."""

    def __init__(self, result: Separability, X: Any, y: Any, sample_weight: Any) -> None:
        X, share = matrix(X), _shares(result.classes, y)
        cost = costs_of(sample_weight, len(share))
        width = len(result.columns)
        if X.ndim != 2 or X.shape[1] != width:
            raise DataError(f"has shape {X.shape}; the result speaks of {width} columns.", array="X")
        if not X.shape[0] == len(share) == len(cost):
            raise DataError(f"X has {X.shape[0]} rows, y {len(share)}, sample_weight {len(cost)}: they must agree.")
        self.X, self.own, self.classes = X, (share > 0) & (cost > 0)[:, None], share.shape[1]
        self.rows = np.flatnonzero(self.own.any(axis=1))
        self.known = bool((share >= 0).all() and (np.abs(share.sum(axis=1) - 1) <= SUM_TO_ONE).all())
        self.known &= bool((cost >= 0).all() and np.isfinite(cost).all())
        self.known &= all(finite(chunk) for _, chunk in self.chunks())

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """Numbers of rows that count, and these rows."""
        size = min(ROWS, max(256, 16 * ROWS // self.classes**2))  # a row may need classes² numbers
        for rows in pieces(self.X, self.rows, size):
            together = rows[-1] - rows[0] == len(rows) - 1  # a slice is not copied
            yield rows, self.at(slice(rows[0], rows[-1] + 1) if together else rows)

    def at(self, rows: Any) -> Any:
        """These rows, in double precision; sparse ones as such."""
        return self.X[rows].astype(float, copy=False)

    def pairs(self, rows: Any) -> tuple[Any, Any, Any]:
        """Places in `rows`, own classes and other classes of all signed rows."""
        i, own, other = np.nonzero(self.own[rows][:, :, None] & ~np.eye(self.classes, dtype=bool))
        return i, own, other


# ------------------------------------------------------------------------------------------------------- the labels


def _shares(classes: tuple[Any, ...], y: Any) -> Any:
    """The probability of each class; one for the class that a label names, nothing for a label that is unknown."""
    t = np.asarray(y)
    if t.ndim == 2 and t.shape[1] == len(classes) > 1:
        return _numbers(t)
    labels = t.ravel()
    if tuple(classes) == (0, 1) and labels.dtype.kind in "biufO":
        p = _numbers(labels)
        if not np.isnan(p).any():
            return np.column_stack([1 - p, p])
    if labels.dtype.kind in "biufUS":
        return np.column_stack([np.broadcast_to(labels == known, labels.shape) for known in classes]).astype(float)
    return np.array([[names(label, known) for known in classes] for label in labels.tolist()], dtype=float).reshape(
        len(labels), len(classes)
    )


def _numbers(t: Any) -> Any:
    try:
        return np.asarray(t, dtype=float)
    except (TypeError, ValueError):  # words are no probabilities, and no reason to fail
        return np.full(t.shape, np.nan)


# ---------------------------------------------------------------------------------------------- aliased columns


def explained(cases: Cases, keep: Any, intercept: bool) -> bool:
    """Whether the columns left out are combinations of the others and the intercept, up to rounding, on all rows."""
    unit = np.max([largest(X) for _, X in cases.chunks()], axis=0)
    order = np.append(keep, np.setdiff1d(np.flatnonzero(unit), keep))  # a column of zeros needs no explanation
    if len(order) == len(keep):
        return True
    unit = np.where(unit > 0, unit, 1)[order]
    most = min(ROWS, max(256, NUMBERS // len(order)))

    def chunks() -> Iterator[Any]:
        for rows in pieces(cases.X, cases.rows, most):
            yield written(cases.at(rows)[:, order]) / unit

    center = sum(X.sum(axis=0) for X in chunks()) / len(cases.rows) * intercept
    scale = np.max([np.abs(X - center).max(axis=0) for X in chunks()], axis=0)
    scale = np.where(scale > 0, scale, 1)

    def coordinates(X: Any) -> Any:
        return np.column_stack([np.ones((len(X), int(intercept))), (X - center) / scale])

    R = np.zeros((0, len(order) + intercept))
    for X in chunks():
        R = np.vstack([R, coordinates(X)])
        R = R if len(R) <= R.shape[1] else np.asarray(np.linalg.qr(R, mode="r"))
    known = len(keep) + intercept
    mix = _least_squares(R[:, :known], R[:, known:])
    size = np.append(np.ones(int(intercept)), 1 + np.abs(center / scale))
    allowed = np.minimum(ROUGHLY * EPS * (size[known:] + size[:known] @ np.abs(mix)), 1e-3)
    return all(
        bool((np.abs(Z[:, known:] - Z[:, :known] @ mix) <= allowed).all()) for Z in (coordinates(X) for X in chunks())
    )


def _least_squares(A: Any, B: Any) -> Any:
    """argmin ‖AM − B‖, the shortest, by the singular values of A that are not rounding; B may have many columns."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    good = s > max(A.shape) * EPS * s.max(initial=0)
    return Vt[good].T @ ((U[:, good].T @ B) / s[good, None])


# -------------------------------------------------------------------------------------------------- signs of a rule


def signs(X: Any, i: Any, own: Any, other: Any, rule: Rule, slack: float) -> Any:
    """sign(aᵀu) where |aᵀu| > slack Σⱼ|xᵢⱼ||uⱼ|, else 0, of a = (e_own − e_other)⊗(xᵢ, 1), as in exact arithmetic."""
    used, X = without_empty(X, rule.W.any(axis=0))
    W, b = rule.W[:, used], rule.b
    size = np.abs(X) @ np.abs(W).T
    s, doubt = X @ W.T + b, (X.shape[1] + 4) * (EPS * (size + np.abs(b)) + TINY)
    v, bar = s[i, own] - s[i, other], doubt[i, own] + doubt[i, other]
    if slack:
        bar += slack * (1 + 1e-6) * (size[i, own] + size[i, other])
    sure = np.abs(v) > bar
    found = np.where(sure, np.sign(v), 0).astype(np.int8)
    left = np.flatnonzero(~sure)
    for lo in range(0, len(left), ROWS):
        some = left[lo : lo + ROWS]
        found[some] = _exact_signs(
            X[i[some]], Rule(W[own[some]], b[own[some]]), Rule(W[other[some]], b[other[some]]), slack
        )
    return found


def _exact_signs(x: Any, mine: Rule, its: Rule, slack: float) -> Any:
    """The signs row by row, of errorless products; where floats do not settle it after some passes, by fractions."""
    delta = (x.shape[1] + 8) * 4 * EPS
    reach = slack * (np.abs(x) * np.abs(mine.W - its.W)).sum(axis=1)
    faint = reach <= FAINT
    least, most = np.where(faint, 0, reach), reach + FAINT * (faint if slack else 0)
    fits = (splits(x, mine.W) & splits(x, its.W)).all(axis=1)
    found, left = np.zeros(len(x), np.int8), np.flatnonzero(fits)
    terms = _terms(x, mine, its)[:, left]
    for _ in range(PASSES):
        distil(terms)
        lead, rest = np.abs(terms[-1]), np.abs(terms[:-1]).sum(axis=0)
        sure = lead * (1 - delta) > (rest + most[left]) * (1 + delta)
        none = (lead + rest) * (1 + delta) <= least[left] * (1 - delta)
        found[left[sure]] = np.sign(terms[-1, sure])
        still = ~(sure | none)
        left, terms = left[still], terms[:, still]
        if not len(left):
            break
    for r in (*np.flatnonzero(~fits), *left):
        found[r] = _sign(x[r], Rule(mine.W[r], mine.b[r]), Rule(its.W[r], its.b[r]), slack)
    return found


def _terms(x: Any, mine: Rule, its: Rule) -> Any:
    """Numbers that add up to xᵀ(w − w′) + b − b′ without error, down the columns; rows of zeros left out."""
    parts = [*two_product(x.T, mine.W.T), *two_product(-x.T, its.W.T), mine.b[None], -its.b[None]]
    terms = np.concatenate(parts)
    some = terms.any(axis=1)
    return terms[some] if some.any() else terms[:1]


def _sign(x: Any, mine: Rule, its: Rule, slack: float) -> int:
    """The sign of one signed row, in fractions."""
    value, reach = Fraction(float(mine.b)) - Fraction(float(its.b)), Fraction(0)
    for each, w, other in zip(x.tolist(), mine.W.tolist(), its.W.tolist(), strict=True):
        step = Fraction(each) * (Fraction(w) - Fraction(other))
        value, reach = value + step, reach + abs(step)
    return 0 if abs(value) <= Fraction(slack) * reach else (1 if value > 0 else -1)


# Signed rows of the data with multipliers, and the exact sums of their columns.

NEAR = 2.0**-10
"""How far, relatively, an exact multiplier may be from the given one."""


@dataclass(frozen=True)
class SignedRows:
    """Rows (e_own − e_other)⊗z, z of the columns that are not aliased and a one, with their multipliers.

    The blocks of all classes that occur add up to nothing, so that the last of them is left out.
    """

    cases: Cases
    keep: Any
    intercept: bool
    rows: Any
    own: Any
    other: Any
    multipliers: Any

    @classmethod
    def of(cls, cases: Cases, keep: Any, intercept: bool, given: Combination | None) -> SignedRows | None:
        """The rows, or None where they are not signed rows of the data with positive multipliers."""
        if not isinstance(given, Combination):
            return None
        try:
            numbers = [np.asarray(each) for each in (given.rows, given.own, given.other)]
            multipliers = np.asarray(given.multipliers, dtype=float)
        except (TypeError, ValueError):
            return None
        if any(each.shape != multipliers.shape or each.ndim != 1 or each.dtype.kind not in "iu" for each in numbers):
            return None
        rows, own, other = numbers
        inside = (rows >= 0) & (rows < cases.X.shape[0])
        for each in (own, other):
            inside &= (each >= 0) & (each < cases.classes)
        if not inside.all() or not cases.own[rows, own].all() or (own == other).any():
            return None
        if not (np.isfinite(multipliers) & (multipliers > 0)).all():
            return None
        return cls(cases, keep, intercept, rows, own, other, multipliers)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def present(self) -> list[int]:
        """The classes that have a block: all that occur but the last."""
        return [int(k) for k in np.union1d(self.own, self.other)[:-1]]

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """(class, column) of every coordinate; the intercept's column is −1."""
        return [(k, j) for k in self.present for j in [*self.keep, *([-1] * self.intercept)]]

    @cached_property
    def _columns(self) -> Any:
        """These rows of X, sparse ones column by column."""
        X = self.cases.X[self.rows]
        return X.tocsc() if is_csr(X) else X

    def column(self, k: int, j: int) -> Any:
        """One coordinate of all rows."""
        sign = (self.own == k).astype(float) - (self.other == k)
        return sign if j < 0 else sign * written(self._columns[:, [j]]).ravel()

    def matrix(self, some: Any) -> Any:
        """Some of the rows, in all coordinates."""
        Z = written(self.cases.X[self.rows[some]][:, self.keep])
        Z = np.column_stack([Z, np.ones((len(Z), int(self.intercept)))])
        own, other = self.own[some], self.other[some]
        parts = [((own == k).astype(float) - (other == k))[:, None] * Z for k in self.present]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(Z), 0))

    def vanishes(self) -> bool:
        """Whether Σᵢ λᵢaᵢ = 0 as it stands."""
        return all(not weighed_sum(self.multipliers, self.column(k, j)) for k, j in self.blocks)

    def nearly_vanishes(self, slack: float) -> bool:
        """|Σᵢ λᵢaᵢⱼ| ≤ slack Σᵢ λᵢ|aᵢⱼ| in every column, nothing in the intercept's.

        What is left over there is small against the flow λ from any class to any other: scaling the flows along a
        tree of classes by 1 ± ε removes it, ε at most all that is left over the least flow.
        """
        if not slack:
            return False
        flow = np.zeros((self.cases.classes, self.cases.classes))
        np.add.at(flow, (self.own, self.other), self.multipliers)
        left = sum(abs(weighed_sum(self.multipliers, self.column(k, j))) for k, j in self.blocks if j < 0)
        change = float(2 * left) * 1.001 / float(flow[flow > 0].min())
        least = (slack * (1 - change) - change) * (1 - 2 * (len(self) + 8) * EPS)
        if change > NEAR or least < 0:
            return False
        columns = (self.column(k, j) for k, j in self.blocks if j >= 0)
        return all(
            abs(weighed_sum(self.multipliers, column)) <= Fraction(float(least * (self.multipliers @ np.abs(column))))
            for column in columns
        )
