"""Log-likelihoods as sums over rows: values and slopes at many points at a time, the information at one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import iadd
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data import Rows
from ..data.block import block_of
from ..data.frame import Frame
from ..fitting.risk.firth import Block as Seen
from ..fitting.risk.firth import Firth
from ..fitting.risk.margin import Ask, Risk
from ..losses.margin import LogLikelihood
from ..losses.penalty import NoPenalty
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp, sigmoid, softplus
from ..numerics.linalg import Root
from ..numerics.threads import one_blas_thread, ordered_map

BLOCK = 8192
"""Rows in a block, at the most."""
NUMBERS = 1 << 21
"""Numbers that may be made of a block."""
COMPILE_FROM = 400_000
"""Numbers in X from which the compiled pass repays the time that loading it takes."""


class Block(NamedTuple):
    """Some rows: coordinates z, targets t, and how much each counts."""

    Z: Floats
    target: Floats
    """The probability of the second class; of K classes a column for each."""
    cost: Floats


@dataclass(frozen=True)
class Sample:
    """Rows X, their targets, their weights (none: all one), and the frame in which they are seen."""

    X: Any
    target: Floats
    cost: Floats
    frame: Frame
    threads: int = 1

    def __len__(self) -> int:
        return len(self.X)

    @property
    def width(self) -> int:
        """Weights of one class, the intercept's counted."""
        return self.frame.width

    @property
    def total(self) -> float:
        """Σᵢcᵢ."""
        return float(self.cost.sum()) if self.cost.size else float(len(self))

    def blocks(self, made: int = 1) -> Iterator[slice]:
        """A division of the rows by their number alone, so that sums have the same bits for any number of threads.

        `made` says how many numbers are made of each row.
        """
        size = max(256, min(BLOCK, NUMBERS // max(made, self.width)))
        return (slice(lo, min(lo + size, len(self))) for lo in range(0, len(self), size))

    def block(self, rows: slice) -> Block:
        """These rows in the frame."""
        cost = self.cost[rows] if self.cost.size else np.ones(rows.stop - rows.start)
        return Block(self.frame.coordinates(block_of(self.X)[rows].dense()), self.target[rows], cost)

    def fold(self, f: Callable[[Block], Any], made: int = 1) -> Any:
        """f(block) + f(block) + …, in order; the first result is added to in place."""
        slices = list(self.blocks(made))
        with one_blas_thread(), ordered_map(min(self.threads, len(slices))) as each:
            return reduce(iadd, each(lambda rows: f(self.block(rows)), slices))

    def reach(self, step: Floats) -> float:
        """The most by which a step moves a score."""
        each = step.reshape(-1, self.width)
        return float(max(np.abs(self.block(rows).Z @ each.T).max(initial=0.0) for rows in self.blocks(len(each))))


class Jets(NamedTuple):
    """Values and gradients at m points."""

    values: Floats
    gradients: Floats
    """m × parameters."""


class Whole(NamedTuple):
    """The value and the information at one point."""

    value: float
    information: Floats


class _Sum:
    """Arrays that are added up together."""

    def __init__(self, *parts: Floats) -> None:
        self.parts = parts

    def __iadd__(self, other: _Sum) -> _Sum:
        for mine, its in zip(self.parts, other.parts, strict=True):
            mine += its
        return self


class Likelihood(ABC):
    """ℓ(v) of rows, v being the weights in the sample's frame."""

    sample: Sample
    concave: ClassVar[bool] = True

    @property
    @abstractmethod
    def size(self) -> int:
        """How many parameters there are."""

    @abstractmethod
    def jets(self, points: Floats) -> Jets:
        """ℓ and ∇ℓ at each row of `points`."""

    @abstractmethod
    def information(self, v: Floats) -> Floats:
        """−∇²ℓ, or what stands for it: positive where the columns are independent."""

    def bends(self, v: Floats) -> Iterator[Floats]:
        """−∂²ℓ at v, and after it what may stand for it where it is not positive."""
        yield self.information(v)

    def whole(self, v: Floats) -> Whole:
        """ℓ and the information at v."""
        return Whole(float(self.jets(v[None]).values[0]), self.information(v))

    def root(self, v: Floats) -> Root:
        """R with RᵀR the information, never multiplied out: for columns that are nearly combinations of others."""

        def part(block: Block) -> Root:
            return Root.of(self._roots(block, v))

        found: Root = self.sample.fold(part, self.size)
        return found

    @abstractmethod
    def _roots(self, block: Block, v: Floats) -> Floats:
        """A with AᵀA the information of a block."""

    @abstractmethod
    def scatter(self, v: Floats, weight: Floats) -> Floats:
        """Σᵢ weightᵢ uᵢuᵢᵀ, uᵢ = ∇ℓᵢ/cᵢ the score of a row."""


@dataclass(frozen=True)
class Binary(Likelihood):
    """ℓ(v) = Σᵢ cᵢ [tᵢηᵢ − log(1 + e^ηᵢ)],  η = Zv."""

    sample: Sample

    @property
    def size(self) -> int:
        return self.sample.width

    def jets(self, points: Floats) -> Jets:
        def part(block: Block) -> _Sum:
            scores = block.Z @ points.T
            t, c = block.target[:, None], block.cost
            return _Sum(c @ (t * scores - softplus(scores)), ((t - sigmoid(scores)) * c[:, None]).T @ block.Z)

        return Jets(*self.sample.fold(part, 4 * len(points)).parts)

    def information(self, v: Floats) -> Floats:
        def part(block: Block) -> Floats:
            A = self._roots(block, v)
            return A.T @ A  # type: ignore[no-any-return]

        return np.asarray(self.sample.fold(part))

    def _roots(self, block: Block, v: Floats) -> Floats:
        p, Z = sigmoid(block.Z @ v), block.Z
        Z *= np.sqrt(block.cost * p * (1 - p))[:, None]
        return Z

    def whole(self, v: Floats) -> Whole:
        """By the compiled pass where there are many rows: it reads them once."""
        sample = self.sample
        if sample.X.size < COMPILE_FROM:
            return super().whole(v)
        certain = (sample.target == 0) | (sample.target == 1)
        if certain.all() or (sample.cost.size and not sample.cost[~certain].any()):
            signs = np.where(sample.target > 0, np.int8(1), np.int8(-1))
            rows = Rows.of(sample.X, signs, sample.cost, compiled=True)
        else:
            first, second = 1 - sample.target, sample.target
            if sample.cost.size:
                first, second = sample.cost * first, sample.cost * second
            rows = Rows.of(sample.X, np.ones(len(sample), np.int8), second, compiled=True, other=first)
        with one_blas_thread(), ordered_map(sample.threads) as each:
            risk = Risk(LogLikelihood(), replace(rows, map=each), sample.frame, NoPenalty(), np.arange(v.size))
            at = risk(v, Ask(hessian=True))
        return Whole(-at.value * sample.total, at.hessian * sample.total)

    def scatter(self, v: Floats, weight: Floats) -> Floats:
        def part(block: Block) -> Floats:
            Z = block.Z
            Z *= (np.sqrt(block.cost) * (block.target - sigmoid(Z @ v)))[:, None]
            return Z.T @ Z  # type: ignore[no-any-return]

        return np.asarray(replace(self.sample, cost=weight).fold(part))


@dataclass(frozen=True)
class Softmax(Likelihood):
    """ℓ(v) = Σᵢ cᵢ [Σₖ tᵢₖηᵢₖ − log Σₖ e^ηᵢₖ], the scores of the last class zero; v is class by class."""

    sample: Sample

    @property
    def size(self) -> int:
        return self.free * self.sample.width

    @property
    def free(self) -> int:
        """K − 1: the classes with weights of their own."""
        return int(self.sample.target.shape[1]) - 1

    def jets(self, points: Floats) -> Jets:
        m, K = len(points), self.free + 1
        each = points.reshape(m * self.free, self.sample.width)

        def part(block: Block) -> _Sum:
            n = len(block.Z)
            scores = np.zeros((n, m, K))
            scores[:, :, :-1] = (block.Z @ each.T).reshape(n, m, -1)
            total = log_sum_exp(scores)
            own = np.einsum("nk,nmk->nm", block.target, scores) - total
            p = np.exp(scores[:, :, :-1] - total[:, :, None])
            pull = (block.target[:, None, :-1] - p) * block.cost[:, None, None]
            return _Sum(block.cost @ own, (pull.reshape(n, -1).T @ block.Z).reshape(m, -1))

        return Jets(*self.sample.fold(part, 4 * m * K).parts)

    def information(self, v: Floats) -> Floats:
        def part(block: Block) -> Floats:
            p = self._probabilities(block, v)
            return self._blocks(block.Z, lambda k, j: block.cost * p[:, k] * ((k == j) - p[:, j]))

        return np.asarray(self.sample.fold(part, self.size))

    def scatter(self, v: Floats, weight: Floats) -> Floats:
        def part(block: Block) -> Floats:
            e = block.target[:, :-1] - self._probabilities(block, v)
            return self._blocks(block.Z, lambda k, j: block.cost * e[:, k] * e[:, j])

        return np.asarray(replace(self.sample, cost=weight).fold(part, self.size))

    def _roots(self, block: Block, v: Floats) -> Floats:
        """√(c pₖ) (eₖ − p) ⊗ z for every class k: diag(p) − ppᵀ is the covariance of the class that is drawn."""
        p = self._probabilities(block, v)
        each = np.hstack([p, 1 - p.sum(axis=1, keepdims=True)])
        apart = np.vstack([np.eye(self.free), np.zeros(self.free)]) - p[:, None, :]
        apart *= np.sqrt(np.maximum(each, 0) * block.cost[:, None])[:, :, None]
        return (apart[:, :, :, None] * block.Z[:, None, None, :]).reshape(-1, self.size)  # type: ignore[no-any-return]

    def _probabilities(self, block: Block, v: Floats) -> Floats:
        scores = np.zeros((len(block.Z), self.free + 1))
        scores[:, :-1] = block.Z @ v.reshape(self.free, -1).T
        return np.exp(scores - log_sum_exp(scores)[:, None])[:, :-1]  # type: ignore[no-any-return]

    def _blocks(self, Z: Floats, weight: object) -> Floats:
        """Σ w_kj z zᵀ for every pair of classes, in its place."""
        p, whole = Z.shape[1], np.empty((self.size, self.size))
        for k in range(self.free):
            for j in range(k + 1):
                made = (Z.T * weight(k, j)) @ Z  # type: ignore[operator]
                whole[k * p : (k + 1) * p, j * p : (j + 1) * p] = made
                whole[j * p : (j + 1) * p, k * p : (k + 1) * p] = made
        return whole


TWISTED = 1 << 25
"""n·d³ up to which all of the curvature is worked out."""


@dataclass(frozen=True)
class Jeffreys(Likelihood):
    """ℓ*(v) = ℓ(v) + ½ log|A(v)|, A the information; of two classes."""

    sample: Sample
    concave: ClassVar[bool] = False
    """Not known to be: under a constraint there may be more than one maximum."""

    @property
    def size(self) -> int:
        return self.sample.width

    @cached_property
    def _firth(self) -> Firth:
        return Firth(self._read, len(self.sample))

    def _read(self, look: Callable[[Seen], tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        for rows in self.sample.blocks():
            block = self.sample.block(rows)
            yield look(Seen(rows, block.Z, block.target, block.cost))

    def jets(self, points: Floats) -> Jets:
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            found = [self._firth(v) for v in points]
        return Jets(np.array([each.value for each in found]), np.array([each.gradient for each in found]))

    def information(self, v: Floats) -> Floats:
        """A: what stands for −∂²ℓ*, which need not be positive."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            return self._firth.glance(v).information

    def bends(self, v: Floats) -> Iterator[Floats]:
        """−∂²ℓ* itself, where that is not too dear; else without the part that is never negative; then A."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            at = self._firth.glance(v)
            if at.inverse.size:
                bend = self._firth.curvature(at, self._firth.slope(at))
                if len(self.sample) * self.size**3 <= TWISTED:
                    bend = bend + self._firth.twist(at) / 2
                yield bend
            yield at.information

    def _roots(self, block: Block, v: Floats) -> Floats:
        return Binary(self.sample)._roots(block, v)

    def scatter(self, v: Floats, weight: Floats) -> Floats:
        raise NotImplementedError("Firth's penalty believes the likelihood: there is no sandwich")
