"""Moments: how many rows each class has, where their mean is, how they scatter about it. One read of X, mergeable.

Least squares, naive Bayes and Gaussian discriminants need no more of the rows. Rows are seen from the mean that their
class has so far, and two parts are merged by nₐ, n_b and δ = μ_b − μₐ: S = Sₐ + S_b + δδᵀnₐn_b/n (Chan, Golub, LeVeque
1983); E[x²] − E[x]² is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from ...data import Rows
from ...data.block import Block
from ...data.rows import in_threads
from ...data.source import Source
from ...numerics.arrays import Floats, Integers

SCATTERS = ("diagonal", "pooled", "own")
"""Which squares and products are summed: of each column, of all pairs over all classes, of all pairs in each class."""
BLOCK = 512
"""Rows between two merges of a compiled pass."""
SOFT_BLOCK = 1 << 18
"""Numbers of X that are taken at once where rows belong to several classes."""
COPIED = 1 << 20
"""Numbers of X that are written out at once where a compiled pass does not read them as they lie."""


@dataclass(frozen=True, eq=False)
class Moments:
    """nₖ = Σᵢ cᵢ, μₖ = Σᵢ cᵢxᵢ/nₖ, Sₖ = Σᵢ cᵢ(xᵢ − μₖ)(xᵢ − μₖ)ᵀ over the rows i of class k."""

    rows: Integers
    """How many rows of each class count."""
    weight: Floats
    """nₖ: their costs."""
    mean: Floats
    """K × d."""
    rest: Floats
    """What of the means is lost in rounding them: K × d. The mean is mean + rest."""
    scatter: Floats
    """diagonal: K × d; pooled: d × d, the sum over the classes; own: K × d × d."""
    kind: str
    present: Floats | None = None
    """With missing numbers: the weight of those that are there, K × d."""

    @classmethod
    def none(cls, classes: int, d: int, kind: str, *, gaps: bool = False) -> Moments:
        """Of no rows."""
        shape = {"diagonal": (classes, d), "pooled": (d, d), "own": (classes, d, d)}[kind]
        table = np.zeros((classes, d))
        return cls(
            np.zeros(classes, np.int64), np.zeros(classes), table, table.copy(), np.zeros(shape), kind,
            table.copy() if gaps else None,
        )  # fmt: skip

    @classmethod
    def of(
        cls, X: Any, target: Integers, classes: int, cost: Any = None, *, kind: str = "diagonal", gaps: bool = False,
        n_threads: int | None = None,
    ) -> Moments:  # fmt: skip
        """The moments of the rows of X, `target` being the class of each by its number."""
        rows = labelled(X, target, classes, np.empty(0) if cost is None else cost)
        with in_threads(rows, n_threads) as rows:
            return cls.of_rows(rows, classes, kind, gaps=gaps)

    @classmethod
    def of_rows(cls, rows: Source, classes: int, kind: str, *, gaps: bool = False) -> Moments:
        """The moments of rows whose targets are the numbers of their classes.

        With `gaps`, NaN is a number that is missing. Else a NaN or infinity in X makes a mean that is not finite:
        `finite` tells.
        """
        if kind not in SCATTERS:
            raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(map(repr, SCATTERS))}.")
        if gaps and kind != "diagonal":
            raise ValueError("gaps=True skips missing numbers column by column: kind must be 'diagonal'.")
        nothing = Moments.none(classes, rows.shape[1], kind, gaps=gaps)
        return reduce(Moments.merge, rows.each(partial(moments_of_run, classes, kind, gaps), blas=True), nothing)

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.scatter).all())

    @property
    def sums(self) -> Floats:
        """Σᵢ cᵢxᵢ of each class."""
        weight = self.weight[:, None] if self.present is None else self.present
        return weight * self.mean + weight * self.rest

    def merge(self, other: Moments) -> Moments:
        """Those of both sets of rows together."""
        self._check_alike(other)
        return self._with(other, 1.0)

    def subtract(self, other: Moments) -> Moments:
        """Those of the rows that are left when the others, which must be among them, are taken out."""
        self._check_alike(other)
        if (other.rows > self.rows).any():
            k = int(np.argmax(other.rows > self.rows))
            raise ValueError(f"class {k} has {self.rows[k]} rows, and {other.rows[k]} are to be taken out of them.")
        return self._with(other, -1.0)

    def _check_alike(self, other: Moments) -> None:
        if self.kind != other.kind or self.mean.shape != other.mean.shape:
            raise ValueError(
                f"moments of kind {self.kind!r} and shape {self.mean.shape} do not go with those of kind "
                f"{other.kind!r} and shape {other.mean.shape}."
            )

    __add__ = merge
    __sub__ = subtract

    def _with(self, other: Moments, sign: float) -> Moments:
        """S ± S_b ± δδᵀ n n_b/(n ± n_b), μ ± δ n_b/(n ± n_b)."""
        mine = self.weight[:, None] if self.present is None else self.present
        theirs = other.weight[:, None] if other.present is None else other.present
        gaps = self.present is not None or other.present is not None
        rows = self.rows + (1 if sign > 0 else -1) * other.rows
        weight = np.where(rows > 0, self.weight + sign * other.weight, 0.0)
        total = mine + sign * theirs
        total = np.where((rows > 0)[:, None] & (total > 0), total, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(total > 0, sign * theirs / total, 0.0)
        delta = (other.mean - self.mean) + (other.rest - self.rest)
        empty = (mine == 0) & (total > 0)
        move = np.where(empty, 0.0, np.where(theirs > 0, part * delta, 0.0))
        start = np.where(empty, other.mean, self.mean)
        low = np.where(empty, other.rest, self.rest) + move
        mean = start + low
        rest = low - (mean - start)
        there = total > 0
        mean, rest = np.where(there, mean, 0.0), np.where(there, rest, 0.0)
        factor = np.where(empty | (theirs == 0), 0.0, mine * part)
        scatter = self.scatter + sign * other.scatter + _outer(delta, factor, self.kind)
        if self.kind != "pooled":
            alive = (rows > 0).reshape(-1, *[1] * (scatter.ndim - 1))
            scatter = np.where(alive, scatter, 0.0)
        scatter = _no_less_than_zero(scatter, self.kind)
        full = np.broadcast_to(total, mean.shape).copy() if gaps else None
        return replace(self, rows=rows, weight=weight, mean=mean, rest=rest, scatter=scatter, present=full)

    def grown(self, classes: Integers, count: int) -> Moments:
        """With room for more classes: class k becomes classes[k] of `count`."""
        made = Moments.none(count, self.mean.shape[1], self.kind, gaps=self.present is not None)
        for mine, its in ((made.rows, self.rows), (made.weight, self.weight), (made.mean, self.mean),
                          (made.rest, self.rest)):  # fmt: skip
            mine[classes] = its
        if self.present is not None and made.present is not None:
            made.present[classes] = self.present
        if self.kind == "pooled":
            return replace(made, scatter=self.scatter.copy())
        made.scatter[classes] = self.scatter
        return made

    def within(self) -> Floats:
        """Σₖ Sₖ: the scatter about the classes' own means, d × d or of each column."""
        return self.scatter if self.kind == "pooled" else self.scatter.sum(axis=0)

    def total(self) -> tuple[float, Floats, Floats]:
        """The weight, mean and scatter of all rows, whatever their class: Σₖ Sₖ + Σₖ nₖ(μₖ − μ)(μₖ − μ)ᵀ."""
        n = float(self.weight.sum())
        base = self.mean[int(np.argmax(self.weight))]
        apart = (self.mean - base) + self.rest
        shift = self.weight @ apart / n
        apart = apart - shift
        between = _outer(apart, self.weight[:, None], "pooled" if self.kind != "diagonal" else "diagonal")
        if self.kind == "diagonal":
            between = between.sum(axis=0)
        return n, base + shift, self.within() + between


def _outer(delta: Floats, factor: Floats, kind: str) -> Floats:
    """Σ factor δδᵀ, or its parts."""
    if kind == "diagonal":
        return factor * delta**2
    factor = np.broadcast_to(factor, delta.shape)[:, :1]
    if kind == "pooled":
        return (factor * delta).T @ delta  # type: ignore[no-any-return]
    return factor[:, :, None] * delta[:, :, None] * delta[:, None, :]


def _no_less_than_zero(scatter: Floats, kind: str) -> Floats:
    """Squares are not negative, whatever rounding makes of a difference."""
    if kind == "diagonal":
        return np.maximum(scatter, 0.0)
    diagonal = np.einsum("...jj->...j", scatter)
    np.maximum(diagonal, 0.0, out=diagonal)
    return scatter


def labelled(X: Any, target: Any, classes: int, cost: Any) -> Rows:
    """Rows with the numbers of their classes, fit for compiled code."""
    target, cost = np.ascontiguousarray(target, np.int64), np.ascontiguousarray(cost, np.float64)
    rows = Rows.of(X, target, cost)
    if target.shape != rows.shape[:1] or (cost.size and cost.shape != target.shape):
        raise ValueError(f"X has {rows.shape[0]} rows, but {len(target)} classes and {len(cost)} costs are given.")
    if len(target) and not 0 <= target.min() <= target.max() < classes:
        raise ValueError(f"the classes go from {target.min()} to {target.max()}; there are {classes}.")
    return rows


@np.errstate(invalid="ignore", over="ignore")
def moments_of_run(classes: int, kind: str, gaps: bool, rows: Rows, lo: int, hi: int) -> Moments:
    """The moments of the rows lo ≤ i < hi."""
    if kind != "diagonal":
        return _full_run(rows, classes, kind, lo, hi)
    if rows.block.by_numbers and not gaps:
        return _sparse_run(rows, classes, lo, hi)
    return _diagonal_run(rows, classes, lo, hi, gaps=gaps)


def _readable(X: Block, lo: int, hi: int) -> tuple[Any, int, int]:
    """Rows as compiled code takes them, in C order: those of X where it is, else a copy of these."""
    if _as_it_lies(X):
        return X.readable, lo, hi
    here = np.empty((hi - lo, X.shape[1]), X.dtype.newbyteorder("="))
    here[:] = X[lo:hi].dense()
    return here, 0, hi - lo


def _as_it_lies(X: Block) -> bool:
    return X.at_hand and X.in_place


def _diagonal_run(given: Rows, classes: int, lo: int, hi: int, *, gaps: bool) -> Moments:
    from .moment_kernels import diagonal_kernel, gaps_kernel

    X, target, cost = given.block, given.y, given.cost
    found = Moments.none(classes, X.shape[1], "diagonal", gaps=gaps)
    size = hi - lo if _as_it_lies(X) else max(256, COPIED // max(1, X.shape[1]))
    for start in range(lo, hi, size):
        end = min(start + size, hi)
        rows, first, last = _readable(X, start, end)
        here = (rows, target, cost) if first == start else (rows, target[start:end], cost[start:end])
        counts = found.rows, found.weight, *(() if found.present is None else (found.present,))
        sums = found.mean, found.rest, found.scatter
        if gaps:
            gaps_kernel(rows.dtype.name)(*here, first, last, *counts, *sums)
        else:
            diagonal_kernel(rows.dtype.name)(*here, first, last, BLOCK, *counts, *sums)
    return found


def _full_run(given: Rows, classes: int, kind: str, lo: int, hi: int) -> Moments:
    """Blocks of rows seen from the means so far, their products by BLAS, and the means moved."""
    from .moment_kernels import centred_kernel

    X, target, cost = given.block, given.y, given.cost
    d = X.shape[1]
    found, size = Moments.none(classes, d, kind), max(256, min(4096, (1 << 17) // max(1, d)))
    Z = np.empty((min(size, max(1, hi - lo)), d))
    for start in range(lo, hi, size):
        end = min(start + size, hi)
        rows, first, last = _readable(X, start, end)
        here = (rows, target, cost) if first == start else (rows, target[start:end], cost[start:end])
        fresh, sums = np.zeros(classes), np.zeros((classes, d))
        centred_kernel(rows.dtype.name)(*here, first, last, found.rows, found.mean, fresh, sums, Z)
        _join(found, Z[: end - start], target[start:end], fresh, sums)
    return found


def _join(found: Moments, Z: Floats, own: Integers, fresh: Floats, sums: Floats) -> None:
    """A block joins: S gains ZᵀZ less what belongs to the means, which have `rest` below their last digit."""
    weight, rest, f = found.weight, found.rest, fresh[:, None]
    moved = sums - f * rest
    delta = np.divide(moved, weight[:, None] + f, out=np.zeros_like(moved), where=(weight[:, None] + f) > 0)
    if found.kind == "pooled":
        cross = sums.T @ rest
        found.scatter[:] += Z.T @ Z - (cross + cross.T - (f * rest).T @ rest) - delta.T @ moved
    else:
        for k in np.flatnonzero(fresh > 0):
            part, cross = Z[own == k], np.outer(sums[k], rest[k])
            off = cross + cross.T - fresh[k] * np.outer(rest[k], rest[k])
            found.scatter[k] += part.T @ part - off - np.outer(delta[k], moved[k])
    low = rest + delta
    mean = found.mean + low
    found.rest[:] = low - (mean - found.mean)
    found.mean[:] = mean
    found.weight[:] += fresh


def _sparse_run(given: Rows, classes: int, lo: int, hi: int) -> Moments:
    """Twice over the numbers that are there: their means, then their squares about these. Zeros are counted."""
    from .moment_kernels import sparse_squares_kernel, sparse_sums_kernel

    X, target, cost = given.block, given.y, given.cost
    found, d = Moments.none(classes, X.shape[1], "diagonal"), X.shape[1]
    there, sums, parts = np.zeros((classes, d)), np.zeros((classes, d)), X.readable
    kinds = X.dtype.name, X.layout
    sparse_sums_kernel(*kinds)(*parts, target, cost, lo, hi, found.rows, found.weight, there, sums)
    n = found.weight[:, None]
    mean = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    off, squares = np.zeros_like(sums), np.zeros_like(sums)
    sparse_squares_kernel(*kinds)(*parts, target, cost, lo, hi, mean, off, squares)
    off -= (n - there) * mean
    rest = np.divide(off, n, out=np.zeros_like(off), where=n > 0)
    found.mean[:], found.rest[:] = mean, rest
    found.scatter[:] = np.maximum(squares + (n - there) * mean**2 - off * rest, 0.0)
    return found


def soft_moments(rows: Source) -> Moments:
    """nₖ = Σᵢ cᵢtᵢₖ, μₖ = Σᵢ cᵢtᵢₖxᵢ/nₖ: the pooled moments, a row counting cᵢtᵢₖ in class k.

    It takes one product more than for labels, in the same pass.
    The scatter within the classes is that of all rows less what is between them; `total` puts that back.
    """
    found: Moments = rows.fold(_soft_run, blas=True)
    return found


@np.errstate(invalid="ignore", over="ignore")
def _soft_run(rows: Rows, lo: int, hi: int) -> Moments:
    found, size = Moments.none(rows.y.shape[1], rows.shape[1], "pooled"), max(64, SOFT_BLOCK // max(1, rows.shape[1]))
    for start in range(lo, hi, size):
        part = slice(start, min(start + size, hi))
        here = np.asarray(rows.dense(part.start, part.stop), dtype=np.float64)
        found = found.merge(_soft_block(here, rows.y[part], rows.cost[part] if rows.cost.size else None))
    return found


def _soft_block(X: Floats, share: Floats, cost: Floats | None) -> Moments:
    weights = share if cost is None else share * cost[:, None]
    counts = weights.sum(axis=1) > 0
    if not counts.all():
        X, weights = X[counts], weights[counts]
    classes, d = weights.shape[1], X.shape[1]
    if not len(X):
        return Moments.none(classes, d, "pooled")
    base = X[0] + (X - X[0]).mean(axis=0)
    Z, n = X - base, weights.sum(axis=0)
    sums = weights.T @ Z
    off = np.divide(sums, n[:, None], out=np.zeros_like(sums), where=n[:, None] > 0)
    mean = np.where(n[:, None] > 0, base + off, 0.0)
    rest = np.where(n[:, None] > 0, off - (mean - base), 0.0)
    rooted = np.sqrt(weights.sum(axis=1))[:, None] * Z
    scatter = rooted.T @ rooted - sums.T @ off
    return Moments((weights > 0).sum(axis=0), n, mean, rest, scatter, "pooled")
