"""One pass over the rows in double precision: the mean loss and its slope, with bounds on all that rounding may do.

With y = x − c a score is yᵀw + (b + cᵀw), off by no more than e = γ(‖y/σ‖‖σw‖ + |b + cᵀw|), σ the sizes of the columns.
That moves a probability by 2e p(1 − p) at the most, so a row's slope by δᵢ = 2e p(1 − p) + ε|p − t|; and by Cauchy and
Schwarz a sum Σᵢ cᵢrᵢyᵢⱼ is off by no more than (√Σcᵢδᵢ² + γ√Σcᵢrᵢ²)√Σcᵢyᵢⱼ².
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from operator import add
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from ..results.claims import Claim
from .exact import weighed_sum
from .features import FeatureSheet
from .objectives import Softmax
from .rounding import ELEMENTARY, TOTAL, U, gamma
from .rows import Sheet, Table

Part = TypeVar("Part")
Result = TypeVar("Result")
NUMBERS = 1 << 17
"""Numbers of dense rows that are looked at together: a cache holds them."""
CSR_ROWS = 16384
"""CSR rows that are looked at together."""
FEW = 1 << 20
"""Numbers of X up to which one thread is enough."""
FEW_ROWS = 4096
"""Rows from which centres and sizes of the columns are taken, at the most."""
FAR = 8.0
"""The most deviations that zero may be from a column's mean for the column to be read as it is."""
STRIP = 512
"""Rows whose slopes are added up before they are added to the others."""
TERMS = 64
"""Terms of a score that are added up before they are added to the others: so it meets fewer roundings."""
TOO_SURE = 1e-10
"""Rows with less curvature than this prove nothing."""
WIDEST = 0.01
"""The largest error of a score for which the bounds on its consequences hold."""


# ------------------------------------------------------------------------------------------------- rows, some at a time


class OneThread:
    """BLAS on one thread while any check runs; the last to leave restores what the first one found."""

    lock, inside, held = Lock(), 0, None

    def __enter__(self) -> None:
        with OneThread.lock:
            if not OneThread.inside:
                OneThread.held = _blas().limit(limits=1, user_api="blas")
            OneThread.inside += 1

    def __exit__(self, *_: object) -> None:
        with OneThread.lock:
            OneThread.inside -= 1
            if not OneThread.inside:
                OneThread.held.restore_original_limits()  # type: ignore[attr-defined]


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def threads() -> int:
    """OMP_NUM_THREADS if it is set, as in the workers of a pool; else the CPUs of this process."""
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wish.isdigit() and int(wish) > 0:
        return int(wish)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gathered(parts: list[Part], numbers: int, work: Callable[[Iterable[Part]], Result]) -> list[Result]:
    """What `work` makes of the parts, divided among threads, BLAS on one thread in each."""
    crowd = 1 if numbers <= FEW else max(1, min(threads(), len(parts)))

    def quietly(own: list[Part]) -> Result:
        with np.errstate(all="ignore"):  # what is not a number proves nothing
            return work(own)

    with OneThread():
        if crowd == 1:
            return [quietly(parts)]
        with ThreadPoolExecutor(crowd) as pool:
            return list(pool.map(quietly, [parts[k::crowd] for k in range(crowd)]))


class Frame(NamedTuple):
    """The centre c of the columns, and their sizes σ about it."""

    center: Any
    size: Any


@dataclass(frozen=True)
class Lines:
    """The rows that count, in double precision and less a centre, some at a time."""

    table: Table
    frame: Frame
    sparse: bool
    """Whether the rows stay CSR."""

    @classmethod
    def of(cls, table: Table, frame: Frame, *, written: bool = False) -> Lines:
        """CSR rows stay so where they have no centre, unless they are to be written out."""
        return cls(table, frame, is_sparse(table) and not (written or frame.center.any()))

    @property
    def numbers(self) -> int:
        """How many there are in X, zeros of CSR rows not counted."""
        X = self.table.X
        return int(X.rows.nnz) if self.sparse else int(X.shape[0] * X.shape[1])

    @property
    def longest(self) -> int:
        """How many roundings a term of a score meets, at the most."""
        if self.sparse:
            return int(np.diff(self.table.X.rows.indptr).max(initial=0))
        d = int(self.table.X.shape[1])
        return min(TERMS, d) + d // TERMS

    def parts(self, chosen: Any = None) -> list[slice]:
        """All rows, or those from the first that is chosen to the last without a gap, some at a time."""
        n, d = self.table.X.shape
        size = CSR_ROWS if self.sparse else max(64, min(8192, NUMBERS // max(1, d)))
        runs = [(0, n)] if chosen is None else _runs(chosen)
        return [slice(lo, min(lo + size, stop)) for start, stop in runs for lo in range(start, stop, size)]

    def read(self, parts: Iterable[slice]) -> Iterator[tuple[slice, Any]]:
        """These rows, less the centre; they may be in the place of those before them."""
        X, center = self.table.X, self.frame.center
        if self.sparse:
            yield from ((rows, _csr_part(X.rows, rows)) for rows in parts)
            return
        room = np.empty((0, X.shape[1]))
        for rows in parts:
            block = X[rows] if isinstance(X, np.ndarray) else X[rows].astype(float)
            if not center.any():
                yield rows, block.astype(float, copy=False)
                continue
            if len(block) > len(room):
                room = np.empty(block.shape)
            yield rows, np.subtract(block, center, out=room[: len(block)])


def is_sparse(table: Table) -> bool:
    """Whether the rows are CSR, and not features that are made when read."""
    return isinstance(table.X, Sheet) and not isinstance(table.X, FeatureSheet)


def _runs(chosen: Any) -> list[tuple[int, int]]:
    """From where to where a mask is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return [(int(lo), int(hi)) for lo, hi in zip(edges[::2], edges[1::2], strict=True)]


def _csr_part(X: Any, rows: slice) -> Any:
    """Some rows without a copy."""
    starts = X.indptr[rows.start : rows.stop + 1]
    some = slice(starts[0], starts[-1])
    shape = (len(starts) - 1, X.shape[1])
    data = X.data[some].astype(float, copy=False)
    return sparse.csr_array((data, X.indices[some], starts - starts[0]), shape=shape, copy=False)


def exact_in_double(table: Table) -> bool:
    """Whether all numbers of X are floats of double precision."""
    X, kind = table.X, table.X.dtype
    if kind.kind == "f":
        return bool(kind.itemsize <= 8)
    numbers = X.rows.data if is_sparse(table) else X
    most = 1 << 53
    return kind.itemsize < 8 or bool((numbers <= most).all() and (numbers >= (0 if kind.kind == "u" else -most)).all())


def frames_of(claim: Claim, table: Table) -> tuple[Frame, Frame]:
    """From some rows: a frame with centres only where zero is far off, for sums; and one with all of them, for proofs.

    A column that is constant among these rows has that number for its centre, exactly.
    """
    n, d = table.X.shape
    most = max(256, min(FEW_ROWS, FEW // max(1, d)))
    some = table.X[:: max(1, -(-n // most))]
    if is_sparse(table) and d > most:
        own = some.rows.astype(float)
        size = np.sqrt(np.bincount(own.indices, np.square(own.data), minlength=d) / len(some))
        wide = Frame(np.zeros(d), np.where(size > 0, size, math.sqrt(np.square(size).mean()) or 1.0))
        return wide, wide
    few = some.astype(float)
    mean = few[0] + (few - few[0]).mean(axis=0) if claim.fit_intercept else np.zeros(d)
    spread = np.sqrt(np.square(few - mean).mean(axis=0))
    center = np.where(np.abs(mean) <= FAR * spread * (n * d > FEW), 0.0, mean)
    size = np.sqrt(np.square(few - center).mean(axis=0))
    return Frame(center, np.where(size > 0, size, 1.0)), Frame(mean, np.where(spread > 0, spread, 1.0))


# ------------------------------------------------------------------------------------- scores, and how far they are off


@dataclass(frozen=True)
class Scores:
    """yᵀwₖ + (bₖ + cᵀwₖ) of one score or K, and how far they are off at the most: γ(‖y/σ‖‖σwₖ‖ + |bₖ + cᵀwₖ|).

    Of CSR rows, of which each has few of the columns, γ(Σⱼ|yⱼwⱼ| + |b + cᵀw|).
    """

    weights: Any
    level: Any
    most: Any
    """maxₖ|wₖⱼ|."""
    reach: float
    offset: float
    loss: float
    """γ."""

    @classmethod
    def of(cls, weights: Any, intercept: Any, lines: Lines) -> Scores:
        """In the frame of the lines; the levels are correctly rounded."""
        W, b = np.atleast_2d(np.asarray(weights, float)), np.ravel(intercept).astype(float)
        c = lines.frame.center
        if c.any():
            b = np.array([_rounded(Fraction(b[k]) + weighed_sum(c, w)) for k, w in enumerate(W)])
        reach = float(np.sqrt(np.square(W * lines.frame.size).sum(axis=1)).max())
        most = np.abs(W).max(axis=0)
        return cls(W, b, most, reach * (1 + 1e-9), float(np.abs(b).max()), gamma(lines.longest + 8))

    def at(self, Y: Any) -> Any:
        """The scores of some rows."""
        d, W = Y.shape[1], self.weights.T
        if d <= TERMS or not isinstance(Y, np.ndarray):
            return Y @ W + self.level
        return sum(Y[:, j : j + TERMS] @ W[j : j + TERMS] for j in range(0, d, TERMS)) + self.level

    def off(self, Y: Any, length: Any) -> Any:
        """How far those of some rows can be off, ‖y/σ‖ being their lengths."""
        size = length * self.reach if isinstance(Y, np.ndarray) else abs(Y) @ self.most
        return self.loss * (1.01 * size + self.offset)


def _rounded(exact: Fraction) -> float:
    """The nearest float."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf


class Place(NamedTuple):
    """Rows at their scores."""

    loss: Any
    slope: Any
    """p − t; of two classes that of the second alone."""
    bend: Any
    """p(1 − p)."""
    p: Any
    """Of all classes."""

    @classmethod
    def of(cls, s: Any, t: Any) -> Place:
        """Of the likelihood, at one score or K; every number is off by a few roundings of its own size."""
        if s.shape[1] > 1:
            at = Softmax(s)
            return cls((t * at.surprise).sum(axis=1), at.error(t), at.p * at.rest, at.p)
        s, other, t = s[:, 0], t[:, 0], t[:, 1]
        tail = np.exp(-np.abs(s))
        less = tail / (1 + tail)  # the probability of the class that is less likely
        up = s > 0
        loss = np.log1p(tail) + np.where(up, other * s, -t * s)
        slope = np.where(up, other - less, less - t)
        bend = less / (1 + tail)
        more = 1 / (1 + tail)
        p = np.column_stack([np.where(up, less, more), np.where(up, more, less)])
        return cls(loss, slope[:, None], bend[:, None], p)


def sure_of(at: Place) -> Any:
    """p(1 − p) of the likeliest class."""
    return np.take_along_axis(at.bend, at.p.argmax(axis=1)[:, None], 1)[:, 0]


# ----------------------------------------------------------------------------------------------------------- the sums


class Pulls(NamedTuple):
    """Σᵢ (cᵢ/C) fᵢₖ(yᵢ, 1) for some functions f of a row, and how far these sums can be off."""

    weights: Any
    levels: Any
    loss: Any
    """√Σᵢ(cᵢ/C)δᵢₖ² + γ√Σᵢ(cᵢ/C)fᵢₖ²: how far the levels can be off."""
    columns: Any
    """√(Σᵢcᵢyᵢⱼ²/C): times `loss`, how far the weights can be off."""


@dataclass(frozen=True)
class Sums:
    """What one pass brings back."""

    value: float
    """The mean loss, without the penalty."""
    value_off: float
    pulls: Pulls
    """The slope of each score, less what a witness explains of it."""
    along: tuple[float, float]
    """√Σᵢ(cᵢ/C) var qᵢ, q the scores of a witness under p: at the least and at the most."""
    bend: Pulls
    """Of the rows' least curvature; of nothing, if it was not asked for."""
    unsure: Any
    """Of which rows the witness explains the slope."""


@dataclass(frozen=True)
class Tally:
    """Sums over some rows."""

    pulls: Any
    levels: Any
    squares: Any
    """Σᵢ cᵢfᵢ²."""
    lost: Any
    """Σᵢ cᵢδᵢ²."""
    columns: Any
    """Σᵢ cᵢyᵢⱼ²."""
    value: Any
    off: Any
    """Σᵢ cᵢeᵢ(Σₖ|∂ℓᵢ/∂sₖ| + eᵢ): how far the losses can be off."""
    along: Any
    slips: Any
    worst: Any
    """The largest eᵢ."""

    def __add__(self, other: Tally) -> Tally:
        """Of all these rows."""
        mine, its = vars(self), vars(other)
        sums = {name: mine[name] + its[name] for name in mine}
        return Tally(**{**sums, "worst": np.maximum(self.worst, other.worst)})


@dataclass(frozen=True)
class Reader:
    """What is summed over the rows: the slopes at the claim's weights, less what a witness explains of them."""

    claim: Claim
    lines: Lines
    scores: Scores
    witness: Scores | None
    least: bool
    """Whether the rows' least curvature is summed too: p(1 − p), of more classes minₖ pₖ."""
    unsure: Any
    """Of which rows the witness explains the slope: without `least` of those that are not too sure."""

    @property
    def rounding(self) -> float:
        """How far a function of the scores is off, relatively."""
        return relative_rounding(len(self.claim.classes))

    def tally(self, rows: slice, Y: Any) -> Tally:
        """Of some rows."""
        cost, t, K = self.lines.table.cost[rows], self.lines.table.target[rows], len(self.scores.level)
        squared = Y.multiply(Y) if self.lines.sparse else Y * Y
        length = np.sqrt(squared @ (1 / np.square(self.lines.frame.size)))
        off, at = self.scores.off(Y, length), Place.of(self.scores.at(Y), t)
        f, steep = at.slope, np.abs(at.slope)
        lost, slip_of_loss = 2.1 * off[:, None] * at.bend + self.rounding * steep, off * (steep.sum(axis=1) + off)
        if self.claim.soft:  # what is left of a target that is no label is rounded too
            lost = lost + self.rounding * np.minimum(t, 1 - t)[:, -K:] + 8 * U
        along = slips = 0.0
        if self.witness is not None:
            q, slip = self.witness.at(Y), self.witness.off(Y, length)
            q = q if K > 1 else np.column_stack([0 * q, q])
            far = np.abs(q).max(axis=1)
            if not self.least:
                self.unsure[rows] = sure_of(at) >= TOO_SURE
            p = at.p * self.unsure[rows, None]
            q = q - (at.p * q).sum(axis=1, keepdims=True)
            f = f - (p * q)[:, -K:]
            bent = 4.4 * off * np.abs(q).max(axis=1) + 2 * self.rounding * far + 2.2 * slip
            lost = lost + p[:, -K:] * bent[:, None]
            along, slips = cost @ (p * q * q).sum(axis=1), cost @ np.square(slip)
        if self.least:
            b = at.bend if K == 1 else at.p.min(axis=1)[:, None]
            f, lost = np.hstack([f, b]), np.hstack([lost, b * (2.1 * off + self.rounding)[:, None]])
        pull = cost[:, None] * f
        return Tally(
            *in_strips(pull, Y), cost @ (f * f), cost @ (lost * lost),
            np.ravel(cost @ squared), cost @ at.loss, cost @ slip_of_loss, along, slips, np.max(off, initial=0),
        )  # fmt: skip


def in_strips(f: Any, Y: Any) -> tuple[Any, Any]:
    """Σᵢ fᵢₖyᵢ and Σᵢ fᵢₖ; of dense rows so that a term meets few roundings."""
    if not isinstance(Y, np.ndarray):
        return (Y.T @ f).T, f.sum(axis=0)
    strips = [slice(lo, lo + STRIP) for lo in range(0, len(f), STRIP)]
    return sum(f[rows].T @ Y[rows] for rows in strips), sum(f[rows].sum(axis=0) for rows in strips)


def sums_of(claim: Claim, lines: Lines, witness: Any = None, *, least: bool = False) -> Sums | None:
    """One pass; None where a score is off by so much that nothing is known of its consequences."""
    parts, K = lines.parts(), len(np.atleast_2d(claim.weights))
    u = None if witness is None else Scores.of(witness[:, :-1], witness[:, -1] * claim.fit_intercept, lines)
    unsure = np.ones(len(lines.table.cost), bool)
    reader = Reader(claim, lines, Scores.of(claim.weights, claim.intercept, lines), u, least, unsure)

    def work(own: Iterable[slice]) -> Tally:
        return reduce(add, (reader.tally(rows, Y) for rows, Y in lines.read(own)))

    found, C = reduce(add, gathered(parts, lines.numbers, work)), float(lines.table.cost.sum())
    if not found.worst <= WIDEST:
        return None
    gone, strips = gamma(longest(parts)), gamma(longest(parts, None if lines.sparse else STRIP))
    loss = 1.01 * (np.sqrt(found.lost) + strips * np.sqrt(found.squares)) / math.sqrt(C)
    columns = 1.01 * np.sqrt(found.columns / C)
    pulls, bend = (Pulls(found.pulls[k] / C, found.levels[k] / C, loss[k], columns) for k in (slice(K), slice(K, None)))
    rounding = gone + reader.rounding
    along, slip, loose = math.sqrt(found.along / C), 2.2 * math.sqrt(found.slips / C), 1 + 2.2 * found.worst + rounding
    off = 1.05 * found.off + (rounding + TOTAL * U) * found.value
    return Sums(found.value / C, off / C, pulls, (max(along / loose - slip, 0), (along + slip) * loose), bend, unsure)


def relative_rounding(classes: int) -> float:
    """How far p, 1 − p or a loss is off, relatively, at scores that are exact."""
    return (2 * classes + ELEMENTARY) * U


def longest(parts: list[slice], strip: int | None = None) -> int:
    """How many roundings a term of a sum over the rows meets, at the most, and a few more."""
    most = max((part.stop - part.start for part in parts), default=0)
    return (most if strip is None else min(most, strip) + most // strip) + len(parts) + 20
