"""What the check of a separability reads: the rows that count, their classes, and exact signs of rules on them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError
from ..results.separability import Separability
from .exact import EPS, FAINT, PASSES, TINY, distil, splits, two_product
from .matrix import NUMBERS, ROWS, finite, largest, matrix, pieces, without_empty, written
from .rows import SUM_TO_ONE, costs_of, names

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
