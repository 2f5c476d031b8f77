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

from .frame import BLOCK as BLOCK
from .frame import Ask as Ask
from .frame import Frame as Frame
from .frame import Jet as Jet
from .frame import block_rows as block_rows
from .frame import written_out
from .linalg import Root
from .losses import MarginLoss
from .mapped import Mapped
from .table_rows import TableRows
from .tiles import shared, shared_jet

Floats = NDArray[np.float64]
FAR = 16.0
"""The most deviations that a CSR column's mean may be from zero; a proof allows for the digits that this costs."""
CACHED = 1 << 18
"""Features that are made together where a pass needs no more of them than their scores and pulls."""
PAIRS_PAY = 1 / 20
"""The most pairs of numbers that are not zero, of all pairs, for a Hessian to be faster from these than by BLAS."""


def margin_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z.  [000 8.8, 8.9; 002 8, 9]

    For the log-likelihood g = Zᵀ C (p − y) and H = Zᵀ C P(I − P) Z, with C the costs of the weighted likelihood.
    """
    if not isinstance(rows.X, np.ndarray):
        return block_by_block(margin_jet, loss, frame, ask, v, rows, lo, hi)
    Z, y = frame.coordinates(rows.X[lo:hi]), rows.y[lo:hi]
    cost = rows.cost[lo:hi] if rows.cost.size else np.ones(hi - lo)
    with np.errstate(invalid="ignore", over="ignore"):
        m = y * (Z @ v)
        value = float(cost @ loss.value(m))
        gradient = (cost * y * loss.slope(m)) @ Z
        hessian = _hessian(Z, cost * loss.curvature(m), ask) if ask.hessian else None
    return Jet(value, gradient, hessian, float(m[cost > 0].min(initial=math.inf)))


def _hessian(Z: Floats, weight: Floats, ask: Ask) -> Floats | Root:
    """Zᵀ diag(v) Z, or the root R of it."""
    return Root.of(np.sqrt(weight)[:, None] * Z) if ask.root else (Z.T * weight) @ Z


def block_by_block(
    jet: Callable[..., Jet], loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int
) -> Jet:
    """The jet of CSR rows, their zeros written out some rows at a time; of features, made some rows at a time."""
    size = block_rows(frame.width)
    if isinstance(rows.X, Mapped) and not ask.hessian:
        size = max(64, min(size, CACHED // frame.width))  # read once: they need not leave the cache

    def part(start: int) -> Jet:
        block = rows.take(slice(start, min(start + size, hi)))
        return jet(loss, frame, ask, v, replace(block, X=written_out(block.X)), 0, len(block))

    return reduce(iadd, map(part, range(lo, max(hi, lo + 1), size)))


def compiled_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The same sums by the compiled pass: one read of X for the value and the gradient."""
    from .compiled import layout, pass_kernel, readable

    if isinstance(rows.X, TableRows) and not ask.diagonal:
        return table_jet(loss, frame, ask, v, rows, lo, hi)
    dense = isinstance(rows.X, np.ndarray)
    made = isinstance(rows.X, Mapped)
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
    """The same of a table's rows: what the levels that a row has not would add is the same for every row."""
    from .compiled import TABLE, pass_kernel

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
        work = TablePairs(rows, frame) if levels_near(rows.X, frame) else Roots(rows, frame, ask, min(size, hi - lo))
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


def levels_near(X: TableRows, frame: Frame) -> bool:
    """Whether sums of a table's levels lose few digits when their centres are taken out."""
    levels = X.map.of_levels
    return bool((np.abs(frame.center[levels]) <= FAR * frame.scale[levels]).all())


def pairs_pay(X: Any) -> bool:
    """Whether so few numbers of CSR rows are not zero that their pairs are soon added up."""
    n, d = X.shape
    counts = np.diff(X.starts[:: max(1, n // 4096)]) / max(1, n // 4096)  # means over neighbours: near enough
    return bool(np.square(counts).mean() < PAIRS_PAY * d * d) if n else True


class Roots:
    """AᵀA with A = √v∘Z, block by block in one reused buffer."""

    def __init__(self, rows: Any, frame: Frame, ask: Ask, size: int) -> None:
        out = "float32" if ask.steering else "float64"
        self.write = _root_writer(rows.X, frame, out)
        self.buffer = np.empty((size, frame.width), out)
        self.sum = np.zeros((frame.width, frame.width))

    def add(self, weight: Floats, lo: int, hi: int) -> None:
        """Zᵀ diag(v) Z over the rows lo ≤ i < hi."""
        A = self.buffer[: hi - lo]
        with np.errstate(over="ignore", invalid="ignore"):
            self.write(lo, hi, weight, A)
            self.sum += A.T @ A if (weight >= 0).all() else (A.T * np.sign(weight).astype(A.dtype)) @ A

    def total(self) -> Floats:
        """The sum of all blocks."""
        return self.sum


def _root_writer(X: Any, frame: Frame, out: str) -> Callable[[int, int, Floats, Any], None]:
    """What writes √v∘Z of the rows lo ≤ i < hi."""
    from .compiled import layout, root_kernel, table_root_kernel

    inverse = 1 / frame.scale
    if not isinstance(X, TableRows):
        kernel = root_kernel(X.dtype.name, layout(X), out)
        return lambda lo, hi, weight, A: kernel(X, lo, hi, frame.center, inverse, weight, A)
    level, of_table = np.append(-frame.center * inverse, [1.0] * frame.lifted), table_root_kernel(out)
    numbers, levels = (at.astype(np.int64) for at in (X.map.of_numbers, X.map.of_levels))
    return lambda lo, hi, weight, A: of_table(X.parts, lo, hi, frame.center, inverse, level, numbers, levels, weight, A)


class Pairs:
    """Σ v zzᵀ of CSR rows from the pairs of their numbers, or its diagonal; the centre is taken out at the end."""

    def __init__(self, rows: Any, frame: Frame, ask: Ask, size: int) -> None:
        from .compiled_gram import gram_kernels

        d = frame.center.size
        matrix, diagonal, self.pull = gram_kernels(rows.X.dtype.name, rows.X.columns.dtype.name)
        self.kernel, self.sum = (diagonal if ask.diagonal else matrix), np.zeros((d,) * (2 - ask.diagonal))
        self.parts, self.frame, self.sums, self.level = rows.X.parts, frame, np.zeros(d), 0.0

    def add(self, weight: Floats, lo: int, hi: int) -> None:
        """Σᵢ vᵢ xᵢxᵢᵀ, Σᵢ vᵢ xᵢ and Σᵢ vᵢ over the rows lo ≤ i < hi."""
        self.kernel(self.parts, lo, hi, weight, self.sum)
        self.pull(self.parts, lo, hi, weight, self.sums)
        self.level += float(weight.sum())

    def total(self) -> Floats:
        """Σ v (x − c)(x − c)ᵀ = Σ v xxᵀ − cpᵀ − pcᵀ + Vccᵀ with p = Σ v x and V = Σ v, in the frame's units."""
        c, s, p, V = self.frame.center, self.frame.scale, self.sums, self.level
        if self.sum.ndim == 1:
            own = (self.sum - 2 * c * p + V * c * c) / s**2
            return np.append(own, [V] * self.frame.lifted)
        d, H = c.size, np.empty((self.frame.width,) * 2)
        G = np.triu(self.sum) + np.triu(self.sum, 1).T
        crossed = np.outer(c, p - V / 2 * c)
        H[:d, :d] = (G - crossed - crossed.T) / np.outer(s, s)
        H[d:, :d], H[:d, d:], H[d:, d:] = (p - V * c) / s, ((p - V * c) / s)[:, None], V
        return H


class TablePairs:
    """Σ v zzᵀ of a table's rows from what each row has; the centres of the levels are taken out at the end."""

    def __init__(self, rows: Any, frame: Frame) -> None:
        from .compiled_table import table_gram_kernel

        self.parts, self.table, self.frame, self.kernel = rows.X.parts, rows.X.map, frame, table_gram_kernel()
        numbers, levels = self.table.of_numbers, self.table.of_levels.size + 1  # the last is none
        self.center, self.inverse_scale = frame.center[numbers], 1 / frame.scale[numbers]
        self.numbers = np.zeros((numbers.size + 1,) * 2)
        self.crossed, self.levels = np.zeros((levels, numbers.size + 1)), np.zeros((levels, levels))

    def add(self, weight: Floats, lo: int, hi: int) -> None:
        """The rows lo ≤ i < hi."""
        sums = self.numbers, self.crossed, self.levels
        self.kernel(self.parts, lo, hi, self.center, self.inverse_scale, weight, *sums)

    def total(self) -> Floats:
        """Σ v (e − c)zᵀ and Σ v (e − c)(e − c)ᵀ = Σ v eeᵀ − cqᵀ − qcᵀ + Vccᵀ, q = Σ v e, V = Σ v, in its units."""
        at, of_levels, H = self.table.of_numbers, self.table.of_levels, np.empty((self.frame.width,) * 2)
        c, s = self.frame.center[of_levels], self.frame.scale[of_levels]
        crossed, V = self.crossed[:-1], self.numbers[-1, -1]
        q = crossed[:, -1]
        pairs = self.levels[:-1, :-1] + self.levels[:-1, :-1].T
        pairs[np.diag_indices_from(pairs)] += q
        both = np.outer(c, q - V / 2 * c)
        H[np.ix_(of_levels, of_levels)] = (pairs - both - both.T) / np.outer(s, s)
        across = (crossed - np.outer(c, self.numbers[-1])) / s[:, None]
        at = np.append(at, self.frame.width - 1) if self.frame.lifted else at
        H[np.ix_(at, at)] = self.numbers[: at.size, : at.size]
        H[np.ix_(of_levels, at)], H[np.ix_(at, of_levels)] = across[:, : at.size], across[:, : at.size].T
        return H


@dataclass(frozen=True)
class Risk:
    """R(v) = (1/C) Σᵢ cᵢφ(yᵢzᵢᵀv) + ½ vᵀ diag(ridge) v,  C = Σᵢcᵢ."""

    loss: MarginLoss
    rows: Any
    frame: Frame
    ridge: Floats
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        full = self.embed(v)
        total = self._total(full, ask)
        weight = self.rows.weight
        hessian = None if total.hessian is None else self.penalised(total.hessian)
        penalty = self.ridge * full
        return Jet(
            total.value / weight + float(penalty @ full) / 2,
            (total.gradient / weight + penalty)[self.active],
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
        from .compiled import bend_kernel, layout, readable

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
        if v.size == self.frame.width:
            return v
        full = np.zeros(self.frame.width)
        full[self.active] = v
        return full
