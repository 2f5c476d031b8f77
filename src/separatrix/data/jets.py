"""Jets of a margin loss: value, gradient and Hessian of a sum over rows, by the pass that reads their kind fastest."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial, reduce
from operator import iadd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..losses.margin import MarginLoss
from ..numerics.arrays import Floats
from ..numerics.linalg import Root
from .block import Dense
from .categorical import TABLE
from .frame import Ask, Frame, Jet, block_rows
from .grams import FAR, CategoricalPairs, Pairs, Roots, levels_near, pairs_pay, shared, shared_jet
from .rows import Rows

CACHED = 1 << 18
"""Features that are made together where a pass needs no more of them than their scores and pulls."""


def total_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any) -> Jet:
    """The jet of all rows."""
    if ask.hessian and not ask.root and shared(rows, frame.width):
        return shared_jet(loss, frame, ask, v, rows)
    jet = compiled_jet if rows.compiled and not ask.root else margin_jet
    found: Jet = rows.fold(partial(jet, loss, frame, ask, v), blas=ask.hessian)
    return found


def margin_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z.  [000 8.8, 8.9; 002 8, 9]

    For the log-likelihood g = Zᵀ C (p − y) and H = Zᵀ C P(I − P) Z, with C the costs of the weighted likelihood.
    """
    if not isinstance(rows.block, Dense):
        return block_by_block(margin_jet, loss, frame, ask, v, rows, lo, hi)
    return written_jet(loss, ask, v, frame.coordinates(rows.dense(lo, hi)), rows.y[lo:hi], rows.cost[lo:hi])


class Written(NamedTuple):
    """Rows in a frame, as passes over few rows share them."""

    Z: Floats
    y: NDArray[Any]
    cost: Floats
    """Empty: all one."""

    @classmethod
    def of(cls, rows: Rows, frame: Frame) -> Written:
        """All of these rows."""
        return cls(frame.coordinates(rows.dense()), rows.y, rows.cost)


def written_jet(loss: MarginLoss, ask: Ask, v: Floats, Z: Floats, y: NDArray[Any], cost: Floats) -> Jet:
    """The jet of rows that are written out in the frame."""
    with np.errstate(invalid="ignore", over="ignore"):
        m = y * (Z @ v)
        value, slope, curvature = loss.jet(m)
        if cost.size:
            value, slope, curvature, m = cost * value, cost * slope, cost * curvature, m[cost > 0]
        hessian = _hessian(Z, curvature, ask) if ask.hessian else None
        gradient = (y * slope) @ Z
    return Jet(float(value.sum()), gradient, hessian, float(m.min(initial=math.inf)))


def _hessian(Z: Floats, weight: Floats, ask: Ask) -> Floats | Root:
    """Zᵀ diag(v) Z, or the root R of it."""
    return Root.of(np.sqrt(weight)[:, None] * Z) if ask.root else (Z.T * weight) @ Z


def block_by_block(jet: Any, loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The jet of CSR rows, their zeros written out some rows at a time; of features, made some rows at a time."""
    size = block_rows(frame.width)
    if rows.block.made and not ask.hessian:
        size = max(64, min(size, CACHED // frame.width))  # read once: they need not leave the cache

    def part(start: int) -> Jet:
        block = rows.take(slice(start, min(start + size, hi)))
        found: Jet = jet(loss, frame, ask, v, replace(block, block=Dense(block.dense())), 0, len(block))
        return found

    return reduce(iadd, map(part, range(lo, max(hi, lo + 1), size)))


def compiled_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The jet by the compiled pass: one read of X for the value and the gradient."""
    from .compiled.passes import pass_kernel

    block, order, d = rows.block, rows.block.layout, frame.center.size
    if order == TABLE and not ask.diagonal:
        return table_jet(loss, frame, ask, v, rows, lo, hi)
    dense = not block.skips_zeros
    pays = dense or (frame.near(FAR) and (ask.diagonal or not ask.hessian or pairs_pay(block)))
    if block.made or not order or not pays:
        return block_by_block(compiled_jet, loss, frame, ask, v, rows, lo, hi)
    run = partial(pass_kernel(loss, block.dtype.name, order), block.readable, rows.y, rows.cost)
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
    from .compiled.passes import pass_kernel

    table, d = rows.block.map, frame.center.size
    w, b = v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0
    center, c = frame.center[table.of_numbers], frame.center[table.of_levels]
    split = table.split(w)
    b -= float(c @ split[center.size : -1])
    run = partial(pass_kernel(loss, "float64", TABLE), rows.block.parts, rows.y, rows.cost)
    gradient, hessian, sums, size = np.zeros(split.size), None, [], block_rows(frame.width)
    if not ask.hessian:
        sums.append(run(lo, hi, False, center, split, b, gradient, np.empty(0)))
    else:
        work = (
            CategoricalPairs(rows, frame)
            if levels_near(rows.block, frame)
            else Roots(rows, frame, ask, min(size, hi - lo))
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


def user_parts(frame: Frame, v: Floats) -> tuple[Floats, Floats]:
    """Weights, one row, and a level: those of the user, the frame's centre taken from the rows."""
    d = frame.center.size
    return (v[:d] / frame.scale)[None], v[d:] if frame.lifted else np.zeros(1)


def bent(loss: MarginLoss, frame: Frame, v: Floats, u: Floats, rows: Any, lo: int, hi: int) -> Floats:
    """Σᵢ cᵢφ″(mᵢ)(zᵢᵀu) zᵢ; of rows without their zeros in a frame that has no centre."""
    from .compiled.passes import bend_kernel

    (w, b), (q, a) = ((weights[0], float(level[0])) for weights, level in (user_parts(frame, v), user_parts(frame, u)))
    block, order, found = rows.block, rows.block.layout, np.zeros(w.size)
    run = bend_kernel(loss, block.dtype.name, order)
    level = run(block.readable, rows.y, rows.cost, lo, hi, order in ("F", "A"), frame.center, w, b, q, a, found)
    return np.append(found / frame.scale, [level] * frame.lifted)
