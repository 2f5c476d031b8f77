"""Moments: how many rows each class has, where their mean is, how they scatter about it. One read of X, mergeable.

Least squares, naive Bayes and Gaussian discriminants need no more of the rows. Rows are seen from the mean that their
class has so far, and two parts are merged by nₐ, n_b and δ = μ_b − μₐ: S = Sₐ + S_b + δδᵀnₐn_b/n (Chan, Golub, LeVeque
1983); E[x²] − E[x]² is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from ...data import Sparse
from ...numerics.arrays import Floats, Integers

SCATTERS = ("diagonal", "pooled", "own")
BLOCK = 512
"""Rows between two merges."""
RUNS, SMALL = 16, 1 << 18
"""Parts of X, whatever the number of threads; numbers below which there is one."""


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
        """The moments of rows, `target` being the class of each by its number.

        With `gaps`, NaN is a number that is missing. Else a NaN or infinity in X makes a mean that is not finite:
        `finite` tells.
        """
        if kind not in SCATTERS:
            raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(map(repr, SCATTERS))}.")
        if gaps and (kind != "diagonal" or isinstance(X, Sparse) or hasattr(X, "tocsr")):
            raise ValueError("gaps=True skips missing numbers of dense rows column by column: kind must be 'diagonal'.")
        X = Sparse.of(X.tocsr()) if hasattr(X, "tocsr") else X
        target = np.ascontiguousarray(target, np.int64)
        cost = np.empty(0) if cost is None else np.ascontiguousarray(cost, np.float64)
        if target.shape != (len(X),) or (cost.size and cost.shape != target.shape):
            raise ValueError(f"X has {len(X)} rows, but {len(target)} classes and {len(cost)} costs are given.")
        if len(X) and not 0 <= target.min() <= target.max() < classes:
            raise ValueError(f"the classes go from {target.min()} to {target.max()}; there are {classes}.")
        taken = import_module(".moments_pass", __package__).moments_of  # it makes moments, and so stands above them
        found: Moments = taken(X, target, classes, cost, kind, gaps, n_threads)
        return found

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
        """The same with room for more classes: class k becomes classes[k] of `count`."""
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
