"""Which columns a proof is about: their rank, which are combinations of others, and what all coefficients hang on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..results.claims import Claim
from ..results.verdict import Verdict
from .rounding import TOTAL, Root, gamma
from .rows import Table
from .sums import Frame, Lines, frames_of, gathered, is_sparse, longest

EPS = float(np.finfo(float).eps)
EXPLAINED = 1e-11
"""The part of its spread that a combination of other columns may leave of a column, rounding apart."""
NOTHING = 1e-9
"""The share of a column in another, in units of their spreads, that is none."""
SAMPLE = 1000
"""Rows of a sample that may tell that columns are independent, beside eight for each column."""
CORRECTIONS = 2
"""How often a combination is corrected by what it leaves."""


class Columns(NamedTuple):
    """Those whose weights are sought, and ways to the coefficients of all of them."""

    keep: Any
    ways: tuple[Any, ...]
    """From the weights that are sought and the intercept to all weights and the intercept: of each one minimum that
    they lead to is meant. None: the others are zero."""
    outside: Any = 0.0
    """How far each coefficient of the claim is off already because it lies where no way leads."""


def columns_of(verdict: Verdict, table: Table, *, wide: bool = False) -> Columns | None:
    """None where the rank is not what the verdict says; of wide rows it says nothing."""
    claim, rank = verdict.claim, verdict.rank
    d, places = len(claim.columns), {name: j for j, name in enumerate(claim.columns)}
    gone = np.array(sorted({places[name] for name in rank.aliased if name in places}), int)
    told = rank.rank is not None
    if len(gone) != len(rank.aliased) or rank.of != d + claim.fit_intercept:
        return None
    if told and rank.rank != rank.of - len(gone):
        return None
    if wide:
        return None if told or len(gone) else Columns(np.arange(d), (None,))
    others = np.setdiff1d(np.arange(d), gone)
    design = Design.of(claim, table, others)
    made = design.combinations(gone) if len(gone) else None
    if len(gone) and made is None:
        return None
    if claim.l2 == 0:
        return Columns(others, (None,) if made is None else (None, _shortest(claim, others, gone, made)))
    if told and not design.independent():
        return None
    keep = np.setdiff1d(np.arange(d), idle(claim, table))
    if table.X.shape[0] >= len(keep) + claim.fit_intercept:
        return Columns(keep, (None,))
    design = Design.of(claim, table, keep)
    way, W = design.in_span(), np.atleast_2d(claim.weights)
    W = (W if len(W) == 1 else W - W.mean(axis=0))[:, keep]
    off = W - W @ way[keep, : len(keep)]  # the minimum has nothing of this
    outside = np.zeros((len(W), d + 1))
    outside[:, keep], outside[:, d] = np.abs(off), np.abs(off @ design.frame.center[keep])
    outside = np.where(outside > 16 * d * EPS * np.abs(W).max(initial=0), outside, 0)
    return Columns(keep, (way,), outside.reshape((*np.shape(claim.weights)[:-1], d + 1)))


def explained(claim: Claim, table: Table, keep: Any) -> bool:
    """Whether all other columns are combinations of these and the intercept."""
    gone = np.setdiff1d(np.arange(len(claim.columns)), keep)
    return Design.of(claim, table, np.asarray(keep)).combinations(gone) is not None


def idle(claim: Claim, table: Table) -> Any:
    """Columns without a weight that do not vary: with a penalty their weight at the minimum is zero too."""
    empty = np.flatnonzero(~np.atleast_2d(claim.weights).any(axis=0))
    if not len(empty):
        return empty
    if is_sparse(table):
        some = table.X.rows[:, empty]
        low, high = (getattr(some, most)(axis=0).toarray().ravel() for most in ("min", "max"))
    else:
        lows, highs = zip(*(_extremes(table, lo, empty) for lo in range(0, table.X.shape[0], 8192)), strict=True)
        low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    return empty[low == high if claim.fit_intercept else (low == 0) & (high == 0)]


def _extremes(table: Table, lo: int, columns: Any) -> tuple[Any, Any]:
    """The least and the largest number of the columns in some rows."""
    X = table.X[lo : lo + 8192]
    X = (X if isinstance(X, np.ndarray) else X.astype(float))[:, columns]
    return X.min(axis=0), X.max(axis=0)


def _shortest(claim: Claim, keep: Any, gone: Any, made: Any) -> Any:
    """From weights of the columns that are kept, and the intercept, to the shortest weights with the same scores."""
    d, weights = len(claim.columns), made[: len(keep)]
    null, embedded = np.zeros((d, len(gone))), np.zeros((d, len(keep)))
    null[gone, np.arange(len(gone))], null[keep] = -1, weights
    embedded[keep, np.arange(len(keep))] = 1
    along = np.linalg.lstsq(null, embedded, rcond=None)[0]
    way = np.zeros((d + 1, len(keep) + claim.fit_intercept))
    way[:d, : len(keep)] = embedded - null @ along
    if claim.fit_intercept:
        way[d] = np.append(-made[-1] @ along, 1.0)
    return way


@dataclass(frozen=True)
class Design:
    """Some columns of all rows, centred, and a one for the intercept."""

    claim: Claim
    table: Table
    keep: Any
    frame: Frame

    @classmethod
    def of(cls, claim: Claim, table: Table, keep: Any) -> Design:
        """These columns of the table."""
        return cls(claim, table, keep, frames_of(claim, table)[1])

    @property
    def lines(self) -> Lines:
        """The rows, written out."""
        return Lines.of(self.table, self.frame, written=True)

    def matrix(self, Y: Any) -> Any:
        """The design of some rows of the lines."""
        own = Y if len(self.keep) == Y.shape[1] else Y[:, self.keep]
        return np.column_stack([own, np.ones(len(Y))]) if self.claim.fit_intercept else own

    # ------------------------------------------------------------------------------- columns that are made of these

    def combinations(self, gone: Any) -> Any:
        """aₖⱼ and aⱼ with xⱼ = Σₖ aₖⱼxₖ + aⱼ for each column that is gone, on every row; None: there are none such.

        By the products of the columns, corrected by what is left on the rows; if these do not do, by QR.
        """
        root, products = self._root, self._products(gone, 0.0)
        if root is not None:
            made = root.R.T @ (root.R @ products)
            for _ in range(CORRECTIONS):
                made = made + root.R.T @ (root.R @ self._products(gone, made))
            if self._explains(gone, made):
                return self._in_units(gone, made)
        made = self._by_qr(gone)
        return self._in_units(gone, made) if made is not None and self._explains(gone, made) else None

    def _products(self, gone: Any, made: Any) -> Any:
        """Σᵢ zᵢ(yᵢⱼ − zᵢᵀaⱼ)."""

        def work(own: Iterable[slice]) -> Any:
            total = np.zeros((len(self.keep) + self.claim.fit_intercept, len(gone)))
            for _, Y in self.lines.read(own):
                Z = self.matrix(Y)
                total += Z.T @ (Y[:, gone] - Z @ made if np.ndim(made) else Y[:, gone])
            return total

        return sum(gathered(self.lines.parts(), self.lines.numbers, work))

    def _by_qr(self, gone: Any) -> Any:
        """Least squares; None where one of these columns is a combination of the others but for rounding."""
        w = len(self.keep) + self.claim.fit_intercept
        R: Any = np.zeros((0, w + len(gone)))
        for _, Y in self.lines.read(self.lines.parts()):
            block = np.column_stack([self.matrix(Y), Y[:, gone]])
            R = np.linalg.qr(np.vstack([R, block]), mode="r")
        own, far = np.abs(np.diag(R))[:w], np.zeros(w)
        far[: len(self.keep)] = np.abs(self.frame.center / self.frame.size)[self.keep]
        if len(own) < w or not (own > (w + 4 * far) * EPS * np.linalg.norm(R[:w, :w], axis=0)).all():
            return None
        return solve_triangular(R[:w, :w], R[:w, w:], check_finite=False)

    def _explains(self, gone: Any, made: Any) -> bool:
        """Whether nothing is left of the columns that are gone, on any row, but rounding."""
        if not np.isfinite(made).all():
            return False
        spread, size = self.frame.size[gone], np.abs(made)
        far = np.abs(self.matrix(np.abs(self.frame.center)[None]))

        def work(own: Iterable[slice]) -> bool:
            for _, Y in self.lines.read(own):
                Z, own_ = self.matrix(Y), Y[:, gone]
                left = np.abs(own_ - Z @ made)
                terms = (np.abs(Z) + far) @ size + np.abs(own_) + np.abs(self.frame.center[gone])
                if not (left <= EXPLAINED * spread + 1e3 * EPS * terms).all():
                    return False
            return True

        return all(gathered(self.lines.parts(), self.lines.numbers, work))

    def _in_units(self, gone: Any, made: Any) -> Any:
        """The combinations of the columns as they are, without shares that are nothing."""
        center, size = self.frame.center, self.frame.size
        weights = made[: len(self.keep)]
        weights = np.where(np.abs(weights) * size[self.keep][:, None] > NOTHING * size[gone], weights, 0.0)
        if not self.claim.fit_intercept:
            return weights
        return np.vstack([weights, made[-1] + center[gone] - center[self.keep] @ weights])

    # -------------------------------------------------------------------------------------------- columns that are not

    def independent(self) -> bool:
        """Whether no column is a combination of the others and the intercept: by some rows, by all, or by QR."""
        n, w = self.table.X.shape[0], len(self.keep) + self.claim.fit_intercept
        step = n // (SAMPLE + 8 * w)
        if w > n:
            return False
        known = "_root" in self.__dict__  # from all rows
        some = not known and step > 1 and self._root_of(step)
        return bool(some or self._root or self._by_qr(np.arange(0)) is not None)

    @cached_property
    def _root(self) -> Root | None:
        """Of all rows."""
        return self._root_of(1)

    def _root_of(self, step: int) -> Root | None:
        """Of Σ zᵢzᵢᵀ over one block of rows in so many; None where that is not surely positive definite."""
        w, parts = len(self.keep) + self.claim.fit_intercept, self.lines.parts()[::step]

        def work(own: Iterable[slice]) -> Any:
            M = np.zeros((w, w))
            for _, Y in self.lines.read(own):
                Z = self.matrix(Y)
                M += Z.T @ Z
            return M

        M = sum(gathered(parts, self.lines.numbers, work))
        return Root.of(M, gamma(longest(parts) + TOTAL))

    def in_span(self) -> Any:
        """From weights to their part in the span of the centred rows: a penalty leaves none outside."""
        d, k = len(self.claim.columns), len(self.keep)
        _, size, V = np.linalg.svd((self.table.X.astype(float) - self.frame.center)[:, self.keep], full_matrices=False)
        V = V[size > d * EPS * size.max(initial=0)]
        way = np.zeros((d + 1, k + self.claim.fit_intercept))
        way[self.keep, :k] = V.T @ V
        if self.claim.fit_intercept:  # what is left out does not change the scores at the centre
            center = self.frame.center[self.keep]
            way[d] = np.append(center - (center @ V.T) @ V, 1.0)
        return way
