"""Sums over rows for K classes: the value, gradient, Hessian and Hessian products of a mean loss of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows, Sparse
from ...data.block import Block, Dense
from ...data.frame import Frame
from ...data.jets import Written
from ...data.source import Source
from ...data.sparse import ClassVectors
from ...losses.penalty import Penalty
from ...losses.softmax import ClassLoss, Probabilities, softmax
from ...numerics.arrays import Floats
from .margin import Ask, Jet

NUMBERS = 1 << 20
"""Numbers of X in one product."""
PACKED_ROWS = 2048
"""Rows in one product where zeros are left out."""


class Weights(NamedTuple):
    """W and b of scores W(x − c) + b, and W again as packed rows take it."""

    W: Floats
    level: Floats
    laid: ClassVectors | None


@dataclass(frozen=True)
class ClassBlock:
    """Some rows, their costs (or one) and the frame's part of the way to their scores."""

    rows: Block
    center: Floats
    """What is still to be subtracted from X."""
    y: NDArray[Any]
    cost: Any
    packed: Sparse | None = None
    """All rows without their zeros; these are its rows `at` on."""
    at: int = 0

    @cached_property
    def X(self) -> NDArray[Any]:
        """The rows written out."""
        return self.rows.dense()

    @property
    def here(self) -> tuple[int, int]:
        """The first and the last of these rows in `packed`."""
        return self.at, self.at + len(self.rows)

    def scores(self, weights: Weights) -> Floats:
        """s = W(x − c) + b, classes × rows."""
        W, level, laid = weights
        s = W @ self.X.T if self.packed is None else self.packed.scores(laid or W, *self.here)
        s += (level - W @ self.center)[:, None]
        return s  # type: ignore[no-any-return]


class Pull:
    """Σᵢ slopeᵢ (xᵢ − c)ᵀ and Σᵢ slopeᵢ, the costs counted in, block after block."""

    def __init__(self, classes: int, center: Floats, packed: Sparse | None) -> None:
        self.center, self.level = center, np.zeros(classes)
        self.total = np.zeros((classes, center.size) if packed is None else 0)
        self.laid = None if packed is None else packed.room(classes)

    def add(self, block: ClassBlock, slope: Floats) -> None:
        """Add a block's."""
        slope = slope * block.cost
        level = slope.sum(axis=1)
        self.level += level
        if self.laid is not None and block.packed is not None:
            block.packed.add_pull(self.laid, slope, *block.here)
        else:
            self.total += slope @ block.X
            self.total -= np.outer(level, block.center)

    def framed(self, frame: Frame) -> Floats:
        """The sums in the frame's units."""
        total, sums = self.total if self.laid is None else self.laid.table(), np.empty((len(self.level), frame.width))
        np.divide(total, frame.scale, out=sums[:, : self.center.size])
        if self.laid is not None and self.center.any():
            sums[:, : self.center.size] -= np.outer(self.level, self.center / frame.scale)
        sums[:, self.center.size :] = self.level[:, None]
        return sums


@dataclass(frozen=True)
class ClassRisk:
    """R(V) = (1/C) Σᵢ cᵢ f(Vzᵢ; tᵢ) + g(V), V having a row of weights for each of K classes.

    Its argument is V as one vector, class after class. Adding one vector to all rows of V changes no loss, and raises
    the penalty unless the rows added up to zero: that direction is the gauge, and only rows with sum zero are sought.
    """

    loss: ClassLoss
    rows: Source
    frame: Frame
    penalty: Penalty
    """g, in the frame, of each class."""
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""
    classes: int
    careful: bool = False
    """Whether c is subtracted from every row, even where cᵀw could be taken from the scores instead."""
    written: Written | None = None
    """The rows in the frame, where they are so few that they were written out once for all passes."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass. A Hessian that only steers is left to the reader: v stands for it."""
        V = self.embed(v)
        dense = ask.hessian and not ask.steering
        if self.written is not None:
            total = self._written_jet(V, dense, *self.written)
        else:
            total = self.rows.fold(partial(self._jet, self.read(V), dense), blas=True)
        weight = self.rows.weight
        hessian = self.penalised(total.hessian, V) if dense else v if ask.hessian else None
        value, slope = total.value / weight + self.penalty.value(V), self.penalty.gradient(V)
        return Jet(value, self._flat(total.gradient / weight + slope), hessian, total.margin)

    def product(self, v: Floats, u: Floats) -> Floats:
        """H(v)u, by one pass over the rows."""
        U, V = self.embed(u), self.embed(v)
        total = self.rows.fold(partial(self._product, self.read(np.vstack([V, U]))), blas=True)
        return self._flat(total / self.rows.weight + self.penalty.curvature(V) * U)

    def embed(self, v: Floats) -> Floats:
        """V, classes × columns, with zeros for every column that has no weight."""
        V = v.reshape(self.classes, -1)
        if V.shape[1] == self.frame.width:
            return V
        full = np.zeros((self.classes, self.frame.width))
        full[:, self.active] = V
        return full

    def penalised(self, total: Floats, V: Floats) -> Floats:
        """The mean Hessian and the penalty's, and on the gauge as much curvature as elsewhere.

        For weights that add up to zero over the classes that is the Hessian; the rest is never asked for.
        """
        K, w = self.classes, self.active.size
        H = total.reshape(K, w, K, w) / self.rows.weight
        diagonal = np.einsum("kiki->ki", H)
        diagonal += self.penalty.curvature(V)[:, self.active]
        gauge = np.maximum(np.abs(diagonal.mean(axis=0)), 1e-300) / K
        among = np.einsum("kiji->kji", H)
        among += gauge
        return H.reshape(K * w, K * w)

    def packed(self, rows: Source) -> Sparse | None:
        """The rows without their zeros, where these need not be written out to have the scores to the last digits."""
        return rows.packed if not self.careful and self.frame.near() else None

    def blocks(self, rows: Rows, lo: int, hi: int) -> Iterator[ClassBlock]:
        """The rows lo ≤ i < hi, some at a time."""
        d, near, packed = self.frame.center.size, not self.careful and self.frame.near(), self.packed(rows)
        size = max(512, min(8192, NUMBERS // d)) if packed is None else PACKED_ROWS
        for start in range(lo, hi, size):
            part = slice(start, min(start + size, hi))
            cost = rows.cost[part] if rows.cost.size else 1.0
            here, center = rows.block[part], self.frame.center
            if packed is None:
                X = here.dense()
                far = X.dtype != np.float64 or not near
                here = Dense(np.subtract(X, center, dtype=np.float64) if far else X)
                center = np.zeros(d) if far else center
            yield ClassBlock(here, center, rows.y[part], cost, packed, start)

    def levels(self, V: Floats) -> tuple[Floats, Floats]:
        """W = V/s and the level of each class: scores are W(x − c) + level."""
        d = self.frame.center.size
        level = V[:, d] if self.frame.lifted else np.zeros(len(V))
        return V[:, :d] / self.frame.scale, level

    def diagonal(self, v: Floats) -> Floats:
        """Hⱼⱼ of packed rows whose frame has no centre, by one pass over them."""
        V = self.embed(v)
        total = self.rows.fold(partial(self._diagonal, self.read(V)), blas=True)
        return (total / self.rows.weight + self.penalty.curvature(V)).ravel()  # type: ignore[no-any-return]

    def _diagonal(self, weights: Weights, rows: Rows, lo: int, hi: int) -> Floats:
        packed, tail = self.packed(rows), np.zeros(self.classes)
        assert packed is not None
        sums = packed.room(self.classes)
        for block in self.blocks(rows, lo, hi):
            at = softmax(block.scores(weights), block.y)
            bend = np.array([self.loss.curvature(at, k, k) for k in range(self.classes)]) * block.cost
            packed[slice(*block.here)].squared().add_pull(sums, bend, 0, bend.shape[1])
            tail += bend.sum(axis=1)
        return np.column_stack([sums.table() / self.frame.scale**2, *[tail] * self.frame.lifted])

    def frame_parts(self, v: Floats) -> tuple[Floats, Floats]:
        """Weights, classes × columns, and levels: those of the user, where the frame has no centre."""
        return self.levels(self.embed(v))

    def read(self, V: Floats) -> Weights:
        """V as the rows take it: once for all runs of a pass."""
        weights, level = self.levels(V)
        packed = self.packed(self.rows)
        return Weights(weights, level, None if packed is None else packed.lay(weights))

    def _jet(self, weights: Weights, dense: bool, rows: Rows, lo: int, hi: int) -> Jet:
        value, margin, sums = 0.0, math.inf, Pull(self.classes, self.frame.center, self.packed(rows))
        hessian = np.zeros((self.classes, self.active.size) * 2) if dense else None
        with np.errstate(invalid="ignore", over="ignore"):
            for block in self.blocks(rows, lo, hi):
                s = block.scores(weights)
                at = softmax(s, block.y)
                value += float((block.cost * self.loss.value(at)).sum())
                sums.add(block, self.loss.slope(at))
                margin = min(margin, least_margin(s, block.y, block.cost))
                if hessian is not None:
                    self.add_hessian(hessian, block, at)
            return Jet(value, sums.framed(self.frame), hessian, margin)

    def _written_jet(self, V: Floats, dense: bool, Z: Floats, y: NDArray[Any], cost: Floats) -> Jet:
        """The jet of rows that are written out in the frame."""
        with np.errstate(invalid="ignore", over="ignore"):
            s = V @ Z.T
            at = softmax(s, y)
            value, slope = self.loss.value(at), self.loss.slope(at)
            if cost.size:
                value, slope = cost * value, cost * slope
            hessian = None
            if dense:
                bend, part = self.loss.curvatures(at), Z if self.active.size == V.shape[1] else Z[:, self.active]
                if cost.size:
                    bend *= cost
                hessian = np.matmul(part.T, bend[..., None] * part).transpose(0, 2, 1, 3)
            margin = least_margin(s, y, cost) if self.penalty.idle else -math.inf
            return Jet(float(value.sum()), slope @ Z, hessian, margin)

    def _product(self, weights: Weights, rows: Rows, lo: int, hi: int) -> Floats:
        sums = Pull(self.classes, self.frame.center, self.packed(rows))
        for block in self.blocks(rows, lo, hi):
            both = block.scores(weights)
            at = softmax(both[: self.classes], block.y)
            sums.add(block, self.loss.bend(at, both[self.classes :]))
        return sums.framed(self.frame)

    def add_hessian(self, H: Floats, block: ClassBlock, at: Probabilities) -> None:
        """H ← H + Σᵢ cᵢ ∂²f/∂s² ⊗ zᵢzᵢᵀ over a block."""
        Z = self.coordinates(block)
        for k in range(self.classes):
            for j in range(k + 1):
                part = (Z.T * (block.cost * self.loss.curvature(at, k, j))) @ Z
                H[k, :, j, :] += part
                if j < k:
                    H[j, :, k, :] += part

    def coordinates(self, block: ClassBlock) -> Floats:
        """The rows of a block in the frame, active columns only."""
        Z = Frame(block.center, self.frame.scale, self.frame.lifted).coordinates(block.X)
        return Z if self.active.size == Z.shape[1] else Z[:, self.active]

    def _flat(self, V: Floats) -> Floats:
        return (V if self.active.size == self.frame.width else V[:, self.active]).ravel()


def least_margin(s: Floats, y: NDArray[Any], cost: Any) -> float:
    """min over the rows that count of s_y − max_{k≠y} sₖ; −∞ if the target of one of them is not a single class."""
    counts = np.broadcast_to(np.asarray(cost) > 0 if np.size(cost) else True, s.shape[1])
    if y.ndim == 2:
        if (y.max(axis=1) < 1)[counts].any():
            return -math.inf
        y = y.argmax(axis=1)
    column = np.arange(s.shape[1])
    own, others = s[y, column], s.copy()
    others[y, column] = -math.inf
    margin = own - others.max(axis=0)
    return float(margin[counts].min(initial=math.inf))
