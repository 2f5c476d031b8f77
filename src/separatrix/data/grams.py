"""Σ v zzᵀ over rows, in a frame: by BLAS from their roots, or from what is not zero in each of them.

Where threads take rows each of them has a sum of its own, and results wait for those before them. That is the faster
way for few columns; of 5 000 a sum has 200 MB, and five of them are more than all else together. There is then one
sum for all threads (`Gram`): rows are taken block by block, and threads share each product, not the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .block import Block
from .categorical import CategoricalRows
from .frame import Ask, Frame, Jet, block_rows
from .source import Source

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

FAR = 16.0
"""The most deviations that the mean of a column without its zeros may be from zero; a proof allows for the digits that
this costs."""
PAIRS_PAY = 1 / 20
"""The most pairs of numbers that are not zero, of all pairs, for a Hessian to be faster from these than by BLAS."""
SHARED_FROM = 512
"""Columns from which on a sum for every thread is dear."""
PANEL = 256
"""Columns of one product."""
PART = 128
"""Rows that one thread makes features of."""


def levels_near(X: Block, frame: Frame) -> bool:
    """Whether they are a table's rows, and sums of its levels lose few digits when their centres are taken out."""
    if not isinstance(X, CategoricalRows):
        return False
    levels = X.map.of_levels
    return bool((np.abs(frame.center[levels]) <= FAR * frame.scale[levels]).all())


def skipped_offset(X: Block, frame: Frame) -> float:
    """‖c/s‖ over the columns whose zeros are skipped: how far sums go before their centre is taken out."""
    if isinstance(X, CategoricalRows):  # numbers have their centre
        levels = X.map.of_levels
        return float(np.linalg.norm(frame.center[levels] / frame.scale[levels]))
    return frame.offset if X.skips_zeros and frame.near(FAR) else 0.0


def pairs_pay(X: Any) -> bool:
    """Whether so few numbers of CSR rows are not zero that their pairs are soon added up."""
    n, d = X.shape
    counts = np.diff(X.starts[:: max(1, n // 4096)]) / max(1, n // 4096)  # means over neighbours: near enough
    return bool(np.square(counts).mean() < PAIRS_PAY * d * d) if n else True


class Roots:
    """AᵀA with A = √v∘Z, block by block in one reused buffer."""

    def __init__(self, rows: Any, frame: Frame, ask: Ask, size: int) -> None:
        out = "float32" if ask.steering else "float64"
        self.write = root_writer(rows.block, frame, out)
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


def root_writer(X: Any, frame: Frame, out: str) -> Callable[[int, int, Floats, Any], None]:
    """What writes √v∘Z of the rows lo ≤ i < hi."""
    from .compiled.passes import root_kernel, table_root_kernel

    inverse = 1 / frame.scale
    if not isinstance(X, CategoricalRows):
        kernel = root_kernel(X.dtype.name, X.layout, out)
        return lambda lo, hi, weight, A: kernel(X.readable, lo, hi, frame.center, inverse, weight, A)
    level, of_table = np.append(-frame.center * inverse, [1.0] * frame.lifted), table_root_kernel(out)
    numbers, levels = (at.astype(np.int64) for at in (X.map.of_numbers, X.map.of_levels))
    return lambda lo, hi, weight, A: of_table(X.parts, lo, hi, frame.center, inverse, level, numbers, levels, weight, A)


class Pairs:
    """Σ v zzᵀ of CSR rows from the pairs of their numbers, or its diagonal; the centre is taken out at the end."""

    def __init__(self, rows: Any, frame: Frame, ask: Ask, size: int) -> None:
        from .compiled.csr_sums import gram_diagonal_kernel, gram_kernel, pull_kernel

        d = frame.center.size
        kinds = rows.block.dtype.name, rows.block.layout
        self.kernel = (gram_diagonal_kernel if ask.diagonal else gram_kernel)(*kinds)
        self.pull, self.sum = pull_kernel(*kinds), np.zeros((d,) * (2 - ask.diagonal))
        self.parts, self.frame, self.sums, self.level = rows.block.parts, frame, np.zeros(d), 0.0

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


class CategoricalPairs:
    """Σ v zzᵀ of a table's rows from what each row has; the centres of the levels are taken out at the end."""

    def __init__(self, rows: Any, frame: Frame) -> None:
        from .compiled.categorical_sums import table_gram_kernel

        self.parts, self.table, self.frame, self.kernel = rows.block.parts, rows.block.map, frame, table_gram_kernel()
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


def shared(rows: Source, width: int) -> bool:
    """Whether a Hessian of these rows is one sum for all threads."""
    X = rows.kind
    return rows.at_hand and X.made and not X.skips_zeros and width >= SHARED_FROM


class Gram:
    """Σ AᵀA, by panels of the upper triangle: the same bits for any number of threads."""

    def __init__(self, width: int, each: Each, dtype: str = "float64") -> None:
        self.sum, self.map = np.zeros((width, width), dtype), each

    def add(self, A: Any, B: Any = None) -> None:
        """Add AᵀA; or AᵀB, which must be symmetric."""
        B = A if B is None else B

        def panel(lo: int) -> None:
            hi = lo + PANEL
            self.sum[lo:hi, lo:] += A[:, lo:hi].T @ B[:, lo:]

        list(self.map(panel, range(0, len(self.sum), PANEL)))

    def total(self) -> Floats:
        """The whole matrix: what is below the diagonal is what is above it."""
        H = self.sum
        for lo in range(0, len(H), PANEL):
            hi = lo + PANEL
            H[hi:, lo:hi] = H[lo:hi, hi:].T
            own = H[lo:hi, lo:hi]
            H[lo:hi, lo:hi] = np.triu(own) + np.triu(own, 1).T
        return H


def shared_jet(loss: Any, frame: Frame, ask: Ask, v: Floats, rows: Any) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z, with one sum for H."""
    gram, size = Gram(frame.width, rows.map), block_rows(frame.width)
    buffer = np.empty((min(size, len(rows)), frame.width), "float32" if ask.steering else "float64")
    value, gradient, margin = [], np.zeros(frame.width), math.inf
    with np.errstate(invalid="ignore", over="ignore"):
        for side in rows.sides():
            for start in range(0, len(side), size):
                stop = min(start + size, len(side))
                A, signs = buffer[: stop - start], np.ones(stop - start, buffer.dtype)
                work = Work(loss, frame, v, side, start, A, signs)
                for part, pull, least in rows.map(work, range(start, stop, PART)):
                    value.append(part)
                    gradient += pull
                    margin = min(margin, least)
                gram.add(A, None if (signs >= 0).all() else signs[:, None] * A)
    return Jet(math.fsum(value), gradient, gram.total(), margin)


class Work:
    """What one thread does of a block: features, scores, slopes; √|cφ″|∘Z is left in the buffer, the signs beside."""

    def __init__(self, loss: Any, frame: Frame, v: Floats, rows: Any, start: int, A: Any, signs: Any) -> None:
        self.loss, self.frame, self.v, self.rows = loss, frame, v, rows
        self.start, self.A, self.signs = start, A, signs

    def __call__(self, lo: int) -> tuple[float, Floats, float]:
        """The value, the gradient and the least margin of some rows."""
        rows, here = self.rows, slice(lo, min(lo + PART, self.start + len(self.A)))
        with np.errstate(invalid="ignore", over="ignore"):
            Z, y = self.frame.coordinates(rows.dense(here.start, here.stop)), rows.y[here]
            cost = rows.cost[here] if rows.cost.size else np.ones(len(Z))
            m = y * (Z @ self.v)
            pull = (cost * y * self.loss.slope(m)) @ Z
            bend = cost * self.loss.curvature(m)
            Z *= np.sqrt(np.abs(bend))[:, None]
            place = slice(lo - self.start, here.stop - self.start)
            self.A[place] = Z
            self.signs[place] = np.where(bend < 0, -1.0, 1.0)
            return float(cost @ self.loss.value(m)), pull, float(m[cost > 0].min(initial=math.inf))
