"""A likelihood of two classes whose Gram matrix is known: Newton's steps are steered by few rows, those that bend most.

The curvature of a likelihood comes from the rows near the boundary. Drawn with chances in proportion to their
curvature, some rows of each weight stand for the Hessian of them all well enough to steer by, at a fraction of its
price; the diagonal is that of all rows, so that a column that is rare in the sample is not taken for a flat one.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.frame import Frame
from ...data.source import Source
from ...losses.margin import MarginLoss
from ...losses.penalty import Penalty
from ...numerics.arrays import Floats
from ...numerics.linalg import Dependence, Factor, factor, shifted, steady_factor
from ...numerics.threads import Map
from ..coordinates import CLEAR, dependence_by_products, dependence_of
from ..minimise import Watch
from ..plans.margin import MarginPlan
from ..plans.plan import PLAIN, STEER, FramedPlan
from ..problem import LBFGS, Outcome, Problem, Progress
from ..risk.curved import CurvedRisk
from ..solvers.descent import descend
from ..solvers.lbfgs import PreconditionedLBFGS

# What problems over the same rows have in common: the products of the columns, and which columns vary at all.

BLOCK = 2048
"""Rows in one product."""
RUN = 8192
"""Rows that one thread takes at a time."""
KEPT = 1 << 25
"""Numbers of Gram matrices that are kept for those who share them."""

Part = NDArray[np.intp] | None
"""Rows by their places in X; None: all of them."""


@dataclass(frozen=True)
class Products:
    """Σ zᵢzᵢᵀ of some rows in a frame, and the least and the largest number of each column."""

    gram: Floats
    low: NDArray[Any]
    high: NDArray[Any]
    rows: int

    def __add__(self, other: Products) -> Products:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Products(self.gram + other.gram, low, high, self.rows + other.rows)

    def varying(self, *, lifted: bool) -> NDArray[np.intp]:
        """The columns that matter: not those that an intercept makes up for, nor those of zeros."""
        matters = self.low < self.high if lifted else (self.low != 0) | (self.high != 0)
        return np.flatnonzero(matters)


def varying_columns(X: NDArray[Any], *, lifted: bool) -> NDArray[np.intp]:
    """The columns that matter, from the rows; one that differs in two of them need not be looked at further."""
    matters = X[0] != X[-1] if lifted else X[0] != 0
    same = np.flatnonzero(~matters)
    matters[same] = (X[:, same] != (X[0, same] if lifted else 0)).any(axis=0)
    return np.flatnonzero(matters)


def common_frame(frame: Frame) -> Frame:
    """The frame without the centres that are within a deviation of zero.

    Among some of the rows a column may be all but constant. Where that constant is zero it stays so, and what little
    the column has of its own is not lost beside a centre that other rows have given it.
    """
    return replace(frame, center=np.where(np.abs(frame.center) <= frame.scale, 0.0, frame.center))


class GramLibrary:
    """The products of sets of rows, those that several problems share taken once.

    A problem's products are the sum over its parts, each added up run by run, whoever asks for it: so the bits are the
    same whether they are shared or not.
    """

    def __init__(self, X: NDArray[Any], frame: Frame) -> None:
        self.X, self.frame = X, frame
        self.kept: dict[bytes, Products] = {}

    def share(self, parts: Sequence[Part], each: Map) -> None:
        """Take the products of all parts that occur more than once, as many as there is room for."""
        named = {_name(part): part for part in parts}
        often = Counter(_name(part) for part in parts)
        room = max(1, KEPT // self.frame.width**2)
        chosen = [name for name, times in often.most_common(room) if times > 1]
        jobs = [(name, run) for name in chosen for run in self._runs(named[name])]
        for (name, _), found in zip(jobs, each(lambda job: self._products(job[1]), jobs), strict=True):
            self.kept[name] = self.kept[name] + found if name in self.kept else found

    def of(self, parts: Iterable[Part]) -> Products:
        """The products of all parts together."""
        return _sum(self.kept.get(_name(part)) or _sum(map(self._products, self._runs(part))) for part in parts)

    def _runs(self, part: Part) -> Iterator[Any]:
        count = len(self.X) if part is None else len(part)
        for lo in range(0, count, RUN):
            some = slice(lo, min(lo + RUN, count))
            yield some if part is None else part[some]

    def _products(self, rows: Any) -> Products:
        X = self.X[rows]
        gram = np.zeros((self.frame.width, self.frame.width))
        for lo in range(0, len(X), BLOCK):
            Z = self.frame.coordinates(X[lo : lo + BLOCK])
            gram += Z.T @ Z
        return Products(gram, X.min(axis=0), X.max(axis=0), len(X))


def _name(part: Part) -> bytes:
    return b"" if part is None else part.tobytes()


def _sum(found: Iterable[Products]) -> Products:
    first, *others = found
    for other in others:
        first = first + other
    return first


class Scratch:
    """Memory for the rows of one fit after the other: fresh memory costs more than what is written to it."""

    def __init__(self) -> None:
        self._own = threading.local()

    def array(self, rows: int, columns: int, dtype: Any) -> NDArray[Any]:
        """An array of this shape, good until this thread asks for the next."""
        held: NDArray[Any] | None = getattr(self._own, "held", None)
        if held is None or held.size < rows * columns or held.dtype != dtype:
            held = self._own.held = np.empty(rows * columns, dtype)
        return held[: rows * columns].reshape(rows, columns)


def chosen(X: NDArray[Any], rows: Part, columns: NDArray[np.intp], scratch: Scratch | None = None) -> NDArray[Any]:
    """Some columns of some rows: a copy in C order, in `scratch` if given, or X itself if all of it is chosen."""
    whole = columns.size == X.shape[1]
    if rows is None:
        return X if whole else np.ascontiguousarray(X[:, columns])
    if (whole and scratch is None) or not X.flags.c_contiguous:
        return np.ascontiguousarray(X[rows] if whole else X[np.ix_(rows, columns)])
    from ...data.compiled.readers import chosen_kernel

    shape = len(rows), columns.size
    found = np.empty(shape, X.dtype) if scratch is None else scratch.array(*shape, X.dtype)
    chosen_kernel(X.dtype.name)(X, np.ascontiguousarray(rows), columns, found)
    return found


def with_constants(outcome: Outcome, varying: NDArray[np.intp], columns: int, penalty: Penalty) -> Outcome:
    """The outcome with all columns: of those that do not vary the weight is zero, the curvature the penalty's."""
    if varying.size == columns:
        return outcome
    constant = np.setdiff1d(np.arange(columns), varying)
    found = outcome.bounds
    if found is not None:
        spread = _spread_out(found.spread[:-1], varying, columns, 1 / np.sqrt(penalty.strength))
        found = replace(found, spread=np.append(spread, found.spread[-1]))
    return replace(
        outcome,
        weights=_spread_out(outcome.weights, varying, columns),
        growth=_spread_out(outcome.growth, varying, columns),
        aliased=np.sort(np.append(varying[outcome.aliased], constant)) if outcome.ranked else outcome.aliased,
        bounds=found,
    )


def _spread_out(numbers: Floats, varying: NDArray[np.intp], columns: int, other: float = 0.0) -> Floats:
    full = np.full(columns, other)
    full[varying] = numbers
    return full


PLENTY = 32
"""Rows for each weight from which on a pass is dear beside a Hessian of a sample."""
FEW_ROWS = 4
"""Rows of a sample for each weight, where a pass is cheap (benchmarks/reductions.py)."""
MANY_ROWS = 6
"""Rows of a sample for each weight, where a pass is dear."""
FEWEST = 1024
"""Rows of a sample at the least."""
MOST_COLUMNS = 2000
"""The most columns."""
LEAST_ROWS = 4
"""The fewest rows for each column."""


def is_steerable(rows: int, columns: int) -> bool:
    """Whether there are rows enough for a sample to be less than all of them, and no more columns than fit a matrix."""
    return columns <= MOST_COLUMNS and rows >= LEAST_ROWS * columns


class Rank(NamedTuple):
    """Which columns are combinations of others, None if no column is; and whether that is settled."""

    dependence: Dependence | None
    settled: bool = True


def rank_told(gram: Floats) -> Rank:
    """What the mean products of the columns tell of their rank at once: that it is full, or nothing."""
    made = factor(gram)
    return Rank(None, settled=made is not None and made.weakest > CLEAR)


def rank_of(rows: Source, frame: Frame, gram: Floats, *, needed: bool) -> Rank:
    """The rank of the columns, their mean products being known.

    Where these do not tell, a QR of all rows does, at the price of a whole fit: it is made only if the fit depends on
    the rank, which with a penalty it does not.
    """
    told = rank_told(gram)
    if told.settled:
        return told
    found = dependence_of(rows, frame, gram) if needed else dependence_by_products(rows, frame, gram)
    if found is None:
        return Rank(None, settled=False)
    return Rank(found if found.aliased.size else None)


def steered_minimum(
    problem: Problem, frame: Frame, gram: Floats, rank: Rank
) -> tuple[Outcome, list[tuple[Progress, float]]] | None:
    """The outcome, and each step with its seconds; None where columns are so nearly dependent that this is no way."""
    began = time.perf_counter()
    plan = SampledPlan(problem, frame, gram, rank.dependence)
    plan.ranked = rank.settled
    bent = factor(shifted(2 * gram, 8 * plan.ridge))
    if bent is None or not bent.weakest > CLEAR:
        return None
    watch, steps = Watch(plan), []
    at = plan.risk(plan.start, PLAIN)
    for state in descend(plan.risk, plan.start, plan.direction, passes=plan.passes + 1, at=at):
        steps.append((watch.progress(state), time.perf_counter() - began))
        outcome = watch.judge(state)
        if outcome is not None:
            return outcome, steps
    raise AssertionError("a descent ends with a stalled state, and that is always an outcome")


def drawn(curvature: Floats, size: int) -> tuple[Any, Floats]:
    """About `size` rows with chances in proportion to their curvature, spread evenly; one over the chance of each."""
    chance = np.minimum(1.0, curvature * (size / max(float(curvature.sum()), 1e-300)))
    steps = np.floor(np.cumsum(chance) + 0.5)
    rows = np.flatnonzero(np.diff(steps, prepend=0.0) > 0)
    return rows, 1 / chance[rows]


class SampledPlan(MarginPlan):
    """L-BFGS from zero upon the Gram matrix first, then upon the Hessians of samples."""

    def __init__(self, problem: Problem, frame: Frame, gram: Floats, dependence: Dependence | None) -> None:
        FramedPlan.__init__(self, problem, frame)
        assert isinstance(problem.loss, MarginLoss)
        self.method, self.dependence = LBFGS, dependence
        self.risk = CurvedRisk(problem.loss, problem.rows, frame, self.penalty, self.active)
        self.start = np.zeros(frame.width)
        at_zero = gram / 4
        at_zero[np.diag_indices_from(at_zero)] += self.ridge
        self.gram = steady_factor(at_zero)
        each = MANY_ROWS if len(problem.rows) >= PLENTY * frame.width else FEW_ROWS
        size = max(FEWEST, each * frame.width)
        cost = size / len(problem.rows) * frame.width / 15
        self.size = size
        self.direction = PreconditionedLBFGS(self.gram, PLAIN, STEER, cost, self._factorised)

    def proof_share(self) -> float:
        """One row for each weight will do where a penalty bends what they leave flat."""
        few = min(1.0, self.weights / len(self.problem.rows))
        return super().proof_share() if self.problem.penalty.idle else few

    def caution(self, share: float) -> float:
        """A proof is dear beside a pass: better be sure."""
        return super().caution(share) if self.problem.penalty.idle else max(share, 0.03) / 4

    def _factorised(self, curvature: Floats) -> Factor:
        """The factor of the Hessian of a sample, its diagonal that of all rows."""
        from ...data.compiled.passes import root_kernel

        rows, frame = self.problem.rows.gathered(), self.frame
        picked, inverse = drawn(curvature, self.size)
        weight, total = curvature[picked] / rows.weight * inverse, np.zeros((frame.width, frame.width))
        X, A = np.empty((BLOCK, rows.shape[1]), rows.block.dtype), np.empty((BLOCK, frame.width), np.float32)
        kernel = root_kernel(X.dtype.name, "C", "float32")
        for lo in range(0, len(picked), BLOCK):
            hi = min(lo + BLOCK, len(picked))
            block = A[: hi - lo]
            rows.block.write(picked[lo:hi], X[: hi - lo])
            kernel(X, 0, hi - lo, frame.center, 1 / frame.scale, weight[lo:hi], block)
            total += block.T @ block
        diagonal = np.diag_indices_from(total)
        total[diagonal] = np.maximum(total[diagonal], self._diagonal(curvature)) + self.ridge
        return steady_factor(total)

    def _diagonal(self, curvature: Floats) -> Floats:
        """Hⱼⱼ of all rows, without the penalty."""
        from ...data.compiled.readers import squares_kernel

        rows, frame, d = self.problem.rows, self.frame, self.frame.center.size

        def run(part: Any, lo: int, hi: int) -> Floats:
            sums = np.zeros(d)
            squares_kernel(part.block.dtype.name)(part.block.readable, lo, hi, frame.center, curvature, sums)
            return sums

        own = rows.fold(run) / frame.scale**2
        return np.append(own, [curvature.sum()] * frame.lifted) / rows.weight
