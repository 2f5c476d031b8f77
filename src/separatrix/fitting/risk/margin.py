"""Sums over rows: the value, gradient and Hessian of an empirical risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import iadd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.categorical import CategoricalRows
from ...data.frame import BLOCK as BLOCK
from ...data.frame import Ask as Ask
from ...data.frame import Frame, written_out
from ...data.frame import Jet as Jet
from ...data.frame import block_rows as block_rows
from ...data.grams import FAR, CategoricalPairs, Pairs, Roots, levels_near, pairs_pay, shared, shared_jet
from ...data.mapped import MappedRows
from ...losses.margin import MarginLoss
from ...numerics.arrays import Floats
from ...numerics.linalg import Root

CACHED = 1 << 18
"""Features that are made together where a pass needs no more of them than their scores and pulls."""


def margin_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z.  [000 8.8, 8.9; 002 8, 9]

    For the log-likelihood g = Zᵀ C (p − y) and H = Zᵀ C P(I − P) Z, with C the costs of the weighted likelihood.
    """
    if not isinstance(rows.X, np.ndarray):
        return block_by_block(margin_jet, loss, frame, ask, v, rows, lo, hi)
    cost = rows.cost[lo:hi] if rows.cost.size else np.ones(hi - lo)
    return _jet_of(loss, ask, v, frame.coordinates(rows.X[lo:hi]), rows.y[lo:hi], cost)


def _jet_of(loss: MarginLoss, ask: Ask, v: Floats, Z: Floats, y: NDArray[Any], cost: Floats) -> Jet:
    """The jet of rows that are written out in the frame."""
    with np.errstate(invalid="ignore", over="ignore"):
        m = y * (Z @ v)
        value, slope, curvature = loss.jet(m)
        hessian = _hessian(Z, cost * curvature, ask) if ask.hessian else None
        gradient = (cost * y * slope) @ Z
    return Jet(float(cost @ value), gradient, hessian, float(m[cost > 0].min(initial=math.inf)))


def _hessian(Z: Floats, weight: Floats, ask: Ask) -> Floats | Root:
    """Zᵀ diag(v) Z, or the root R of it."""
    return Root.of(np.sqrt(weight)[:, None] * Z) if ask.root else (Z.T * weight) @ Z


def block_by_block(
    jet: Callable[..., Jet], loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int
) -> Jet:
    """The jet of CSR rows, their zeros written out some rows at a time; of features, made some rows at a time."""
    size = block_rows(frame.width)
    if isinstance(rows.X, MappedRows) and not ask.hessian:
        size = max(64, min(size, CACHED // frame.width))  # read once: they need not leave the cache

    def part(start: int) -> Jet:
        block = rows.take(slice(start, min(start + size, hi)))
        return jet(loss, frame, ask, v, replace(block, X=written_out(block.X)), 0, len(block))

    return reduce(iadd, map(part, range(lo, max(hi, lo + 1), size)))


def compiled_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The jet by the compiled pass: one read of X for the value and the gradient."""
    from ...data.compiled.passes import pass_kernel
    from ...data.compiled.readers import layout, readable

    if isinstance(rows.X, CategoricalRows) and not ask.diagonal:
        return table_jet(loss, frame, ask, v, rows, lo, hi)
    dense = isinstance(rows.X, np.ndarray)
    made = isinstance(rows.X, MappedRows)
    if made or (not dense and not (frame.near(FAR) and (ask.diagonal or not ask.hessian or pairs_pay(rows.X)))):
        return block_by_block(compiled_jet, loss, frame, ask, v, rows, lo, hi)
    order, d = layout(rows.X), frame.center.size
    run = partial(pass_kernel(loss, rows.X.dtype.name, order), readable(rows.X), rows.y, rows.cost)
    gather, w, b = order in ("F", "A"), v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0
    if not dense:
        b -= float(frame.center @ w)
    gradient, hessian, sums, size = np.zeros(d), None, [], block_rows(frame.width)
    if not (ask.hessian or ask.diagonal):
        sums.append(run(lo, hi, gather, frame.center, w, b, gradient, np.empty(0)))
    else:
        work = (Roots if dense else Pairs)(rows, frame, ask, min(size, hi - lo))
        for start in range(lo, hi, size):
            stop = min(start + size, hi)
            weight = np.empty(stop - start)
            sums.append(run(start, stop, gather, frame.center, w, b, gradient, weight))
            work.add(weight, start, stop)
        hessian = work.total()
    value, pulls, margins = zip(*sums, strict=True)
    level = math.fsum(pulls)
    if not dense:
        gradient -= level * frame.center
    tail = [level] if frame.lifted else []
    return Jet(math.fsum(value), np.append(gradient / frame.scale, tail), hessian, min(margins))


def table_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The jet of a table's rows: what the levels that a row has not would add is one number for all rows."""
    from ...data.compiled.passes import pass_kernel
    from ...data.compiled.readers import TABLE

    table, d = rows.X.map, frame.center.size
    w, b = v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0
    center, c = frame.center[table.of_numbers], frame.center[table.of_levels]
    split = table.split(w)
    b -= float(c @ split[center.size : -1])
    run = partial(pass_kernel(loss, "float64", TABLE), rows.X.parts, rows.y, rows.cost)
    gradient, hessian, sums, size = np.zeros(split.size), None, [], block_rows(frame.width)
    if not ask.hessian:
        sums.append(run(lo, hi, False, center, split, b, gradient, np.empty(0)))
    else:
        work = (
            CategoricalPairs(rows, frame) if levels_near(rows.X, frame) else Roots(rows, frame, ask, min(size, hi - lo))
        )
        for start in range(lo, hi, size):
            stop = min(start + size, hi)
            weight = np.empty(stop - start)
            sums.append(run(start, stop, False, center, split, b, gradient, weight))
            work.add(weight, start, stop)
        hessian = work.total()
    value, pulls, margins = zip(*sums, strict=True)
    level = math.fsum(pulls)
    pull = table.joined(gradient[: center.size], gradient[center.size : -1] - level * c)
    return Jet(math.fsum(value), np.append(pull / frame.scale, [level] * frame.lifted), hessian, min(margins))


@dataclass(frozen=True)
class Risk:
    """R(v) = (1/C) Σᵢ cᵢφ(yᵢzᵢᵀv) + ½ vᵀ diag(ridge) v,  C = Σᵢcᵢ."""

    loss: MarginLoss
    rows: Any
    frame: Frame
    ridge: Floats
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""
    Z: Floats | None = None
    """The rows in the frame, where they are so few that they were written out once for all passes."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        full = self.embed(v)
        if self.Z is not None:
            cost = self.rows.cost if self.rows.cost.size else np.ones(len(self.Z))
            total = _jet_of(self.loss, ask, full, self.Z, self.rows.y, cost)
        else:
            total = self._total(full, ask)
        weight = self.rows.weight
        hessian = None if total.hessian is None else self.penalised(total.hessian)
        penalty = self.ridge * full
        return Jet(
            total.value / weight + float(penalty @ full) / 2,
            total.gradient / weight + penalty if v is full else (total.gradient / weight + penalty)[self.active],
            hessian,
            total.margin,
        )

    def _total(self, full: Floats, ask: Ask) -> Jet:
        if ask.hessian and not ask.root and shared(self.rows.X, self.frame.width):
            return shared_jet(self.loss, self.frame, ask, full, self.rows)
        found: Jet = self.rows.fold(partial(self._jet(ask), self.loss, self.frame, ask, full), blas=ask.hessian)
        return found

    def product(self, v: Floats, u: Floats) -> Floats:
        """H(v)u of CSR rows whose frame has no centre, by one pass over them."""
        total = self.rows.fold(partial(self._product, v, u))
        return total / self.rows.weight + self.ridge * u  # type: ignore[no-any-return]

    def _product(self, v: Floats, u: Floats, rows: Any, lo: int, hi: int) -> Floats:
        from ...data.compiled.passes import bend_kernel
        from ...data.compiled.readers import layout, readable

        (w, b), (q, a) = ((weights[0], float(level[0])) for weights, level in map(self.frame_parts, (v, u)))
        kernel, found = bend_kernel(self.loss, rows.X.dtype.name, layout(rows.X)), np.zeros(w.size)
        level = kernel(readable(rows.X), rows.y, rows.cost, lo, hi, w, b, q, a, found)
        return np.append(found / self.frame.scale, [level] * self.frame.lifted)

    def frame_parts(self, v: Floats) -> tuple[Floats, Floats]:
        """Weights, one row, and a level: those of the user, where the frame has no centre."""
        d = self.frame.center.size
        return (v[:d] / self.frame.scale)[None], v[d:] if self.frame.lifted else np.zeros(1)

    def _jet(self, ask: Ask) -> Callable[..., Jet]:
        return compiled_jet if self.rows.compiled and not ask.root else margin_jet

    def penalised(self, total: Any) -> Any:
        """The mean Hessian with the ridge on its diagonal, from a sum over rows for all columns or the active ones.

        A sum for as many columns as have a weight is changed in place: it may be large, and nobody needs it again.
        """
        ridge = self.ridge[self.active]
        if not isinstance(total, Root) and total.ndim == 1:
            return total[self.active] / self.rows.weight + ridge
        if isinstance(total, Root):
            R = (total.R if total.R.shape[1] == ridge.size else total.R[:, self.active]) / math.sqrt(self.rows.weight)
            return Root.of(np.vstack([R, np.diag(np.sqrt(ridge))[ridge > 0]]))
        hessian = total if len(total) == ridge.size else total[np.ix_(self.active, self.active)]
        hessian /= self.rows.weight
        hessian[np.diag_indices_from(hessian)] += ridge
        return hessian

    def embed(self, v: Floats) -> Floats:
        """v with a zero for every column that has no weight."""
        if v.size == self.ridge.size:
            return v
        full = np.zeros(self.frame.width)
        full[self.active] = v
        return full
