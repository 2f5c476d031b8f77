"""Sums over rows for K classes: the value, gradient, Hessian and Hessian products of a mean loss of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Packed, Rows
from .risk import Ask, Frame, Jet
from .softmax import ClassLoss, Probabilities, softmax

Floats = NDArray[np.float64]
NUMBERS = 1 << 20
"""Numbers of X in one product."""
OFFSET = 4.0
"""The most deviations that a column's mean may be from zero for (x − c)ᵀw to be had as xᵀw − cᵀw."""


@dataclass(frozen=True)
class Block:
    """Some rows, their costs (or one) and the frame's part of the way to their scores."""

    X: Floats
    center: Floats
    """What is still to be subtracted from X."""
    y: NDArray[Any]
    cost: Any
    packed: Packed | None = None
    """X without its zeros; these rows are its rows `at` on."""
    at: int = 0

    def scores(self, weights: Floats, level: Floats) -> Floats:
        """s = W(x − c) + b, classes × rows."""
        here = self.at, self.at + len(self.X)
        s = weights @ self.X.T if self.packed is None else self.packed.scores(weights, *here)
        s += (level - weights @ self.center)[:, None]
        return s  # type: ignore[no-any-return]

    def pull(self, slope: Floats) -> tuple[Floats, Floats]:
        """Σᵢ slopeᵢ (xᵢ − c)ᵀ and Σᵢ slopeᵢ, the costs counted in."""
        slope = slope * self.cost
        level, here = slope.sum(axis=1), (self.at, self.at + len(self.X))
        total = slope @ self.X if self.packed is None else self.packed.pull(slope, *here)
        return total - np.outer(level, self.center), level


@dataclass(frozen=True)
class ClassRisk:
    """R(V) = (1/C) Σᵢ cᵢ f(Vzᵢ; tᵢ) + ½ Σₖ vₖᵀ diag(ridge) vₖ, V having a row of weights for each of K classes.

    Its argument is V as one vector, class after class. Adding one vector to all rows of V changes no loss, and raises
    the penalty unless the rows added up to zero: that direction is the gauge, and only rows with sum zero are sought.
    """

    loss: ClassLoss
    rows: Rows
    frame: Frame
    ridge: Floats
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""
    classes: int
    careful: bool = False
    """Whether c is subtracted from every row, even where cᵀw could be taken from the scores instead."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass. A Hessian that only steers is left to the reader: v stands for it."""
        V = self.embed(v)
        dense = ask.hessian and not ask.steering
        total = self.rows.fold(partial(self._jet, V, dense), blas=True)
        weight, penalty = self.rows.weight, self.ridge * V
        hessian = self.penalised(total.hessian) if dense else v if ask.hessian else None
        value = total.value / weight + float((penalty * V).sum()) / 2
        return Jet(value, self._flat(total.gradient / weight + penalty), hessian, total.margin)

    def product(self, v: Floats, u: Floats) -> Floats:
        """H(v)u, by one pass over the rows."""
        U = self.embed(u)
        total = self.rows.fold(partial(self._product, self.embed(v), U), blas=True)
        return self._flat(total / self.rows.weight + self.ridge * U)

    def embed(self, v: Floats) -> Floats:
        """V, classes × columns, with zeros for every column that has no weight."""
        V = v.reshape(self.classes, -1)
        if V.shape[1] == self.frame.width:
            return V
        full = np.zeros((self.classes, self.frame.width))
        full[:, self.active] = V
        return full

    def penalised(self, total: Floats) -> Floats:
        """The mean Hessian with the ridge on its diagonal, and on the gauge as much curvature as elsewhere.

        For weights that add up to zero over the classes that is the Hessian; the rest is never asked for.
        """
        K, w = self.classes, self.active.size
        H = total.reshape(K, w, K, w) / self.rows.weight
        ridge, class_, column = self.ridge[self.active], np.arange(K)[:, None], np.arange(w)
        H[class_, column, class_, column] += ridge
        mean = H[class_, column, class_, column].mean(axis=0)
        gauge = np.maximum(np.abs(mean), 1e-300) / K
        H[:, column, :, column] += gauge[:, None, None]
        return H.reshape(K * w, K * w)

    def blocks(self, rows: Rows, lo: int, hi: int) -> Iterator[Block]:
        """The rows lo ≤ i < hi, some at a time."""
        d = self.frame.center.size
        near = not self.careful and bool((np.abs(self.frame.center) <= OFFSET * self.frame.scale).all())
        size = max(512, min(8192, NUMBERS // d))
        for start in range(lo, hi, size):
            part = slice(start, min(start + size, hi))
            cost = rows.cost[part] if rows.cost.size else 1.0
            X, center, packed = rows.X[part], self.frame.center, rows.packed if near else None
            if packed is None and (X.dtype != np.float64 or not near):
                X, center = np.subtract(X, center, dtype=np.float64), np.zeros(d)
            yield Block(X, center, rows.y[part], cost, packed, start)

    def levels(self, V: Floats) -> tuple[Floats, Floats]:
        """W = V/s and the level of each class: scores are W(x − c) + level."""
        d = self.frame.center.size
        level = V[:, d] if self.frame.lifted else np.zeros(len(V))
        return V[:, :d] / self.frame.scale, level

    def _jet(self, V: Floats, dense: bool, rows: Rows, lo: int, hi: int) -> Jet:
        weights, level = self.levels(V)
        value, margin, sums = 0.0, math.inf, np.zeros_like(V)
        hessian = np.zeros((self.classes, self.active.size) * 2) if dense else None
        with np.errstate(invalid="ignore", over="ignore"):
            for block in self.blocks(rows, lo, hi):
                s = block.scores(weights, level)
                at = softmax(s, block.y)
                value += float((block.cost * self.loss.value(at)).sum())
                sums += self._framed(*block.pull(self.loss.slope(at)))
                margin = min(margin, least_margin(s, block))
                if hessian is not None:
                    self.add_hessian(hessian, block, at)
        return Jet(value, sums, hessian, margin)

    def _product(self, V: Floats, U: Floats, rows: Rows, lo: int, hi: int) -> Floats:
        weights, level = self.levels(np.vstack([V, U]))
        sums = np.zeros_like(V)
        for block in self.blocks(rows, lo, hi):
            both = block.scores(weights, level)
            at = softmax(both[: self.classes], block.y)
            sums += self._framed(*block.pull(self.loss.bend(at, both[self.classes :])))
        return sums

    def _framed(self, pull: Floats, level: Floats) -> Floats:
        tail = level[:, None] if self.frame.lifted else np.empty((len(level), 0))
        return np.hstack([pull / self.frame.scale, tail])

    def add_hessian(self, H: Floats, block: Block, at: Probabilities) -> None:
        """H ← H + Σᵢ cᵢ ∂²f/∂s² ⊗ zᵢzᵢᵀ over a block."""
        Z = self.coordinates(block)
        for k in range(self.classes):
            for j in range(k + 1):
                part = (Z.T * (block.cost * self.loss.curvature(at, k, j))) @ Z
                H[k, :, j, :] += part
                if j < k:
                    H[j, :, k, :] += part

    def coordinates(self, block: Block) -> Floats:
        """The rows of a block in the frame, active columns only."""
        Z = Frame(block.center, self.frame.scale, self.frame.lifted).coordinates(block.X)
        return Z if self.active.size == Z.shape[1] else Z[:, self.active]

    def _flat(self, V: Floats) -> Floats:
        return (V if self.active.size == self.frame.width else V[:, self.active]).ravel()


def least_margin(s: Floats, block: Block) -> float:
    """min over the rows that count of s_y − max_{k≠y} sₖ; −∞ if the target of one of them is not a single class."""
    y = block.y
    counts = np.broadcast_to(np.asarray(block.cost) > 0, s.shape[1])
    if y.ndim == 2:
        if (y.max(axis=1) < 1)[counts].any():
            return -math.inf
        y = y.argmax(axis=1)
    column = np.arange(s.shape[1])
    own, others = s[y, column], s.copy()
    others[y, column] = -math.inf
    margin = own - others.max(axis=0)
    return float(margin[counts].min(initial=math.inf))
