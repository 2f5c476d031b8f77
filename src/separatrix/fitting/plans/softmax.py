"""Many classes: where a fit starts and which way it goes."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np

from ...data import Rows
from ...data.block import Dense
from ...data.frame import Frame
from ...data.source import Source
from ...losses.penalty import NoPenalty
from ...losses.softmax import ClassLoss, softmax
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor, steady_factor
from ...numerics.threads import one_blas_thread
from ..certificates.separation import class_separates
from ..certificates.softmax import EXACT_WORK, ClassProofRows, class_bounds, local_class_bounds, witnessed
from ..problem import LBFGS, NEWTON, At, AtRandom, Bounds, NotFiniteError, Problem
from ..risk.softmax import ClassRisk
from ..solvers.descent import Direction, State, descend
from ..solvers.lbfgs import PreconditionedLBFGS
from ..solvers.newton import FixedRate, Gradient, Newton, SaddleFree
from .plan import FULL, PLAIN, STEER, FramedPlan

DENSE = 2000
"""The most weights for a Hessian as a matrix."""
NEWTON_WORK = 2e7
"""The most work in a Hessian, n·(K·d)², for Newton's method on all rows."""
WRITTEN = 1 << 20
"""The most numbers, n·K²·d, of rows that are written out once for all passes."""
LAST_RESORT = 5000
"""The most weights for a Hessian as a matrix where a witness proves nothing: rather a large matrix than no proof."""
LAST_WORK = 2e11
"""The most work in that Hessian."""
STEERING_NUMBERS = 20_000_000
"""The most numbers of a sample that steers."""
SAMPLE_PASSES = 40
"""The most passes over the sample whose minimum is the start."""
REFRESH = 6.0
"""What a new Hessian of the sample costs, in passes over all rows."""
PRIOR = 10.0
"""The precision of the prior that keeps the sample's fit from running away, in rows."""
SETTLED = 0.005
"""The decrement for each weight and row at which the fit of the sample is left."""
RESIDUAL = 0.2
"""How far conjugate gradients bring a residual down, in the norm of the factor."""
PRODUCTS = 60
"""The most products with the sample's Hessian that one step takes."""
LED_BY = 4096
"""Rows that make the factor that leads the conjugate gradients, at the least."""
BLOCK = 4096
"""Rows that are put into the frame together."""
SMALL_BLOCK = 1024
"""Rows in one product of the factor."""
RUNS = 4
"""Parts of the sample that are multiplied one beside the other."""


class BlockDiagonal:
    """One factor for every class."""

    def __init__(self, factor: Factor, classes: int) -> None:
        self.factor, self.classes = factor, classes

    def solve(self, g: Floats) -> Floats:
        """M⁻¹gₖ, class by class."""
        return self.factor.solve(g.reshape(self.classes, -1).T).T.ravel()


class ClassPlan(FramedPlan):
    """A loss of K scores: one weight for each column and class.

    Without a penalty the weights reported are those of the notes' pivot, the last class at zero; with one, the
    symmetric ones, whose sum over the classes is zero.
    """

    def __init__(self, problem: Problem, frame: Frame) -> None:
        super().__init__(problem, frame)
        self.K = problem.classes
        self.weights = self.K * frame.width
        n = len(problem.rows)
        newton = self.K * frame.width <= DENSE and n * (self.K * frame.width) ** 2 <= NEWTON_WORK
        self.method = problem.method or (NEWTON if newton else LBFGS)
        assert isinstance(problem.loss, ClassLoss)
        loss = problem.loss if self.method.whole else problem.loss.steering
        rows = problem.rows if self.method.hessian else problem.rows.pack(self.K)
        few = self.method.hessian and self.written is not None and n * self.K * self.weights <= WRITTEN
        written = self.written if few else None
        self.risk = ClassRisk(loss, rows, frame, self.penalty, self.active, self.K, written=written)
        self.start, self.direction, self.gram = self._begin()

    def to_user(self, v: Floats) -> tuple[Floats, Floats]:
        V = self._zero_sum(v).reshape(self.K, -1)
        V = V - V[-1] if self.problem.penalty.idle else V
        pairs = [self.weight_map.to_user(row) for row in V]
        return np.array([w for w, _ in pairs]), np.array([b for _, b in pairs])

    def _zero_sum(self, v: Floats) -> Floats:
        """Weights that add up to zero over the classes: scores but for what all share, and no penalty is lower."""
        V = v.reshape(self.K, -1)
        return (V - V.mean(axis=0)).ravel()  # type: ignore[no-any-return]

    def separates(self, weights: Floats, intercept: Floats) -> bool:
        return class_separates(self.problem.rows, weights, intercept)

    def estimate(self, state: State) -> float:
        if isinstance(self.direction, Gradient | FixedRate):
            return float(state.at.gradient @ BlockDiagonal(self.gram, self.K).solve(state.at.gradient))
        return state.decrement

    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        risk = replace(self.risk, loss=self.problem.loss, careful=True)
        v, spread, pivot = self._zero_sum(state.v), self.weight_map.spread, self.problem.penalty.idle
        at, dense = risk(v), v.size <= DENSE
        at = replace(at, gradient=self._zero_sum(at.gradient))
        latest = self.direction.latest if isinstance(self.direction, Newton) else None
        if not self.problem.loss.convex:
            return (local_class_bounds(risk, v, at.gradient, spread, pivot) if dense else None), 3.0
        if dense:
            return class_bounds(risk, v, at.gradient, share, spread, pivot, at.value, latest), 1 + share
        found, products = witnessed(risk, v, at.gradient, self._solve, spread, pivot, goal, at.value, self.farthest)
        if found is None and v.size <= LAST_RESORT and len(risk.rows) * v.size**2 <= LAST_WORK:
            return class_bounds(risk, v, at.gradient, 1.0, spread, pivot, at.value), 2 + 1.5 * products
        if found is not None and found.witness is not None:
            rows = self.risk.embed(found.witness)
            found = replace(found, witness=np.array([np.append(*self.frame.to_user(row)) for row in rows]))
        return found, 2 + 1.5 * products

    def _solve(self, g: Floats) -> Floats:
        by = self.direction if isinstance(self.direction, PreconditionedLBFGS) else BlockDiagonal(self.gram, self.K)
        return self._zero_sum(by.solve(g))

    @cached_property
    def farthest(self) -> float:
        """The largest ‖x − c‖² of a row."""
        return ClassProofRows(self.risk, self.start, 1.0).farthest()

    def proof_share(self) -> float:
        return super().proof_share() if self.K * self.active.size <= DENSE else 1.0

    def provable(self) -> float:
        """ρν < 1 needs a gap below ½/ρ², and with a witness ρ² is at least 2·‖x − c‖²/l2."""
        n, w = len(self.problem.rows), self.active.size
        convex = self.problem.loss.convex
        if self.K * w <= DENSE or self.problem.penalty.idle or not convex or n * w * w <= EXACT_WORK:
            return math.inf
        return 0.1 * self.problem.penalty.strength / self.farthest

    def growth(self, change: Floats) -> Floats:
        return self.risk.embed(change)[:, : self.frame.center.size].max(axis=0)  # type: ignore[no-any-return]

    def _begin(self) -> tuple[Floats, Direction, Factor]:
        rows = self.problem.rows
        alike = rows.alike()
        few: Source = alike.sample(self._sample_size(), self.problem.seed) if self.method.steered else alike
        at, _ = self._squares(alike, few, STEER if self.method.steered else FULL)
        self.risk = replace(self.risk, active=self.active)
        gram = steady_factor(at.hessian).times(1 / 4)  # half the Gram matrix and the ridge: Böhning's bound on H
        del at
        given = self._given()
        v = self._least_squares(gram) if given is None else self._without_aliases(given).ravel()
        if self.problem.rate is not None:
            return v, FixedRate(PLAIN, self.problem.rate * rows.weight, self._steepest), gram
        if self.method.hessian:
            if not self.risk.loss.convex and self.method.whole:
                return v, SaddleFree(FULL), gram
            plain = PLAIN if self.risk.written is not None and self.problem.loss.convex else None
            return v, Newton(FULL, self.at_zero(), plain, self.problem.tol), gram
        if not self.method.steered:
            return v, Gradient(PLAIN), gram
        v = v * self.K if given is None else v
        if self.nearly_dependent:  # single precision would lose them
            return v, PreconditionedLBFGS(BlockDiagonal(gram, self.K), PLAIN, PLAIN, math.inf), gram
        self.sample = self._sample()
        v = self._on_sample(v, gram, moving=given is None)
        return v, PreconditionedLBFGS(self._steer(v), PLAIN, STEER, REFRESH, self._steer), gram

    def _steepest(self, g: Floats) -> Floats:
        return np.array([self.frame.steepest(row) for row in g.reshape(self.K, -1)]).ravel()

    def _least_squares(self, gram: Factor) -> Floats:
        """W = (XᵀX)⁻¹XᵀY, less what is the same for all classes, from the likelihood's gradient at zero."""
        at = replace(self.risk, penalty=NoPenalty())(np.zeros(self.K * self.active.size), PLAIN)
        self.passes += 1
        if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
            raise NotFiniteError
        slope = 0.5 if self.problem.loss.convex else 0.5 * self.K / 2
        return -slope * BlockDiagonal(gram, self.K).solve(at.gradient)  # type: ignore[no-any-return]

    def _given(self) -> Floats | None:
        """The start that was asked for, without a part along the gauge; None for least squares."""
        start = self.problem.start
        if isinstance(start, At):
            V = np.array([self.frame.from_user(w, b) for w, b in zip(*start, strict=True)])
        elif isinstance(start, AtRandom):
            V = self._random((self.K, self.frame.width))
        else:
            return None
        return V - V.mean(axis=0)  # type: ignore[no-any-return]

    def _sample(self) -> Rows:
        n, w = len(self.problem.rows), self.active.size
        size = int(min(n, max(self._sample_size(), 8192, 3 * self.K * w), max(STEERING_NUMBERS // w, 2 * w)))
        self.sampled = self.problem.rows.sample(max(size // 3, min(size, 8192)), self.problem.seed).pack(self.K)
        return in_single_precision(self.risk, self.problem.rows.sample(size, self.problem.seed + 1))

    def _steer(self, v: Any) -> SampleHessian:
        return SampleHessian(self.risk, self.sample, v)

    def _on_sample(self, v: Floats, gram: Factor, *, moving: bool) -> Floats:
        """The fit of the sample, to within its own statistical error."""
        if not moving or len(self.sampled) == len(self.problem.rows):
            return v
        prior = PRIOR * max(1.0, self.active.size / 30) / len(self.sampled)
        risk = replace(self.risk, rows=self.sampled, penalty=self.penalty.plus(prior))
        direction = PreconditionedLBFGS(BlockDiagonal(gram, self.K), PLAIN, PLAIN, math.inf)
        share = len(self.sampled) / len(self.problem.rows)
        for state in descend(risk, v, direction):
            v = state.v
            if not math.isfinite(state.at.value):
                raise NotFiniteError
            if (
                state.decrement <= SETTLED * v.size / len(self.sampled)
                or state.passes >= SAMPLE_PASSES
                or state.stalled
            ):
                self.passes += state.passes * share
                break
        return v


def in_single_precision(risk: ClassRisk, sample: Rows) -> Rows:
    """The sample in single precision: packed if that pays, else as the frame sees it, active columns only."""
    packed = sample.pack(risk.classes, "float32")
    if packed.packed is not None:
        return packed
    Z = np.empty((len(sample), risk.active.size), np.float32)
    for lo in range(0, len(sample), BLOCK):
        Z[lo : lo + BLOCK] = risk.frame.coordinates(sample.dense(lo, lo + BLOCK))[:, risk.active]
    return replace(sample, block=Dense(Z))


class SampleHessian:
    """Solves H d = g for the Hessian of a sample at one point. It only steers, so roughly and in single precision.

    All classes share one matrix, the inverse of Σ cᵢ wᵢ zᵢzᵢᵀ with wᵢ the mean curvature of the row's scores: it leads
    the conjugate gradients nearly as well as one for each class, and costs a K-th.
    """

    def __init__(self, risk: ClassRisk, sample: Rows, v: Floats) -> None:
        self.K, self.loss, self.risk, self.sample = risk.classes, risk.loss, risk, sample
        self.weight = float(len(sample))
        self.ridge = risk.penalty.curvature(np.zeros(risk.frame.width))[risk.active]
        self.cost = (sample.cost * (len(sample) / sample.weight)).astype(
            np.float32
        )  # one on average: it fits any precision
        s = np.hstack(list(sample.each(partial(self._scores, v.reshape(self.K, -1)), blas=True)))
        at = softmax(s, sample.y)
        self.at = at._replace(p=at.p.astype(np.float32), error=at.error.astype(np.float32))
        self.inverse = self._shared()
        cuts = np.linspace(0, len(sample), RUNS + 1).astype(int).tolist()
        self.runs = [(lo, hi) for lo, hi in pairwise(cuts) if lo < hi]

    def _scores(self, U: Floats, rows: Rows, lo: int, hi: int) -> Any:
        """U zᵢ, classes × rows."""
        if rows.packed is None:
            return U.astype(np.float32) @ rows.dense(lo, hi).T
        weights, level = self.risk.levels(self.risk.embed(U))
        s = rows.packed.scores(weights, lo, hi)
        s += (level - weights @ self.risk.frame.center)[:, None].astype(np.float32)
        return s

    def _pull(self, slope: Any, rows: Rows, lo: int, hi: int) -> Any:
        """Σᵢ slopeᵢ zᵢᵀ, classes × active columns."""
        if rows.packed is None:
            return slope @ rows.dense(lo, hi)
        frame, level = self.risk.frame, slope.sum(axis=1)
        pull = (rows.packed.class_pull(slope, lo, hi) - np.outer(level, frame.center)) / frame.scale
        whole = np.column_stack([pull, level]) if frame.lifted else pull
        return whole[:, self.risk.active]

    def _dense(self, rows: Rows, lo: int, hi: int) -> Any:
        if rows.packed is None:
            return rows.dense(lo, hi)
        return self.risk.frame.coordinates(rows.dense(lo, hi))[:, self.risk.active].astype(np.float32)

    def _shared(self) -> Any:
        """The inverse of one matrix for all classes, from the first part of the sample."""
        p, last = self.at.p, min(len(self.sample), max(LED_BY, 4 * self.ridge.size))
        mean = np.maximum((p * (1 - p)).sum(axis=0) / (self.K - 1), 1e-12)
        if self.cost.size:
            mean = mean * self.cost

        def gram(lo: int) -> Any:
            hi = min(lo + SMALL_BLOCK, last)
            A = self._dense(self.sample, lo, hi) * np.sqrt(mean[lo:hi, None]).astype(np.float32)
            return A.T @ A

        with one_blas_thread():
            total: Any = reduce(iadd, self.sample.map(gram, range(0, last, SMALL_BLOCK))).astype(np.float64)
        total /= last
        total[np.diag_indices_from(total)] += self.ridge
        made = steady_factor(total)
        del total  # as large as its inverse, which is to come
        return made.inverse().astype(np.float32)

    def multiply(self, u: Floats) -> Floats:
        """Hu on the sample."""
        U = u.reshape(self.K, -1)
        with one_blas_thread():
            total: Any = sum(self.sample.map(lambda run: self._part(U, self.sample, *run), self.runs))
        return (total.astype(np.float64) / self.weight + self.ridge * U).ravel()  # type: ignore[no-any-return]

    def _part(self, U: Floats, rows: Rows, lo: int, hi: int) -> Any:
        at = self.at._replace(p=self.at.p[:, lo:hi], error=self.at.error[:, lo:hi])
        bent = self.loss.bend(at, self._scores(U, rows, lo, hi))
        if self.cost.size:
            bent = bent * self.cost[lo:hi]
        return self._pull(bent, rows, lo, hi)

    def precondition(self, r: Floats) -> Floats:
        """The shared solution, class by class."""
        return (r.reshape(self.K, -1).astype(np.float32) @ self.inverse).ravel().astype(np.float64)  # type: ignore[no-any-return]

    def solve(self, g: Floats) -> Floats:
        """d with Hd ≈ g."""
        d, r = np.zeros_like(g), g.copy()
        z = self.precondition(r)
        p, size = z.copy(), float(r @ z)
        goal = RESIDUAL**2 * size
        for _ in range(PRODUCTS):
            Hp = self.multiply(p)
            bend = float(p @ Hp)
            if not bend > 0:
                break
            d += size / bend * p
            r -= size / bend * Hp
            z = self.precondition(r)
            size, before = float(r @ z), size
            if not size > goal:
                break
            p = z + size / before * p
        D = (d if d.any() else self.precondition(g)).reshape(self.K, -1)
        D = D - D.mean(axis=0)  # single precision leaves a part that all classes share, which only costs
        return D.ravel()  # type: ignore[no-any-return]
