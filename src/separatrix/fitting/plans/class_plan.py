"""Many classes: where a fit starts and which way it goes."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...data import Rows
from ...losses.softmax import ClassLoss, SoftmaxGaussNewton, SoftmaxSquared
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor, steady_factor
from ..certificates.class_certificate import EXACT_WORK, class_bounds, local_class_bounds, witnessed
from ..certificates.class_evidence import ClassEvidence
from ..certificates.margin import Bounds
from ..coordinates import class_separates
from ..problem import NotFiniteError, Problem
from ..risk.margin import Frame
from ..risk.softmax import ClassRisk
from ..solvers.descent import Direction, State, descend
from ..solvers.gradient import FixedRate, Gradient
from ..solvers.newton import Newton, SaddleFree
from ..solvers.preconditioned import Preconditioned
from .plan import FULL, PLAIN, STEER, Plan
from .steering import Steering, in_single_precision

DENSE, NEWTON_WORK = 2000, 2e9
"""The most weights for a Hessian as a matrix; the most work in one, n·(K·d)², for Newton's method on all rows."""
LAST_RESORT, LAST_WORK = 5000, 2e11
"""The same where a witness proves nothing: rather a large matrix than no proof."""
STEERING_NUMBERS = 20_000_000
SAMPLE_PASSES, REFRESH, PRIOR, SETTLED = 40, 6.0, 10.0, 0.005


class Shared:
    """One factor for every class."""

    def __init__(self, factor: Factor, classes: int) -> None:
        self.factor, self.classes = factor, classes

    def solve(self, g: Floats) -> Floats:
        """M⁻¹gₖ, class by class."""
        return self.factor.solve(g.reshape(self.classes, -1).T).T.ravel()


class ClassPlan(Plan):
    """A loss of K scores: one weight for each column and class.

    Without a penalty the weights reported are those of the notes' pivot, the last class at zero; with one, the
    symmetric ones, whose sum over the classes is zero.
    """

    def __init__(self, problem: Problem, frame: Frame) -> None:
        super().__init__(problem, frame)
        self.K = problem.classes
        n = len(problem.rows)
        newton = self.K * frame.width <= DENSE and n * (self.K * frame.width) ** 2 <= NEWTON_WORK
        self.solver = problem.solver if problem.solver != "auto" else "newton" if newton else "lbfgs"
        steered = isinstance(problem.loss, SoftmaxSquared) and self.solver != "newton"
        assert isinstance(problem.loss, ClassLoss)
        loss = SoftmaxGaussNewton() if steered else problem.loss
        rows = problem.rows.pack(self.K) if self.solver in ("lbfgs", "gradient") else problem.rows
        self.risk = ClassRisk(loss, rows, frame, self.ridge, self.active, self.K)
        self.start, self.direction, self.gram = self._begin()

    @property
    def weights(self) -> int:
        return self.K * self.frame.width

    def to_user(self, v: Floats) -> tuple[Floats, Floats]:
        V = self._zero_sum(v).reshape(self.K, -1)
        V = V - V[-1] if self.problem.l2 == 0 else V
        pairs = [self.chart.to_user(row) for row in V]
        return np.array([w for w, _ in pairs]), np.array([b for _, b in pairs])

    def _zero_sum(self, v: Floats) -> Floats:
        """The same scores, but for what all classes share, with weights that add up to zero: no penalty is lower."""
        V = v.reshape(self.K, -1)
        return (V - V.mean(axis=0)).ravel()  # type: ignore[no-any-return]

    def separates(self, weights: Floats, intercept: Floats) -> bool:
        return class_separates(self.problem.rows, weights, intercept)

    def estimate(self, state: State) -> float:
        if isinstance(self.direction, Gradient | FixedRate):
            return float(state.at.gradient @ Shared(self.gram, self.K).solve(state.at.gradient))
        return state.decrement

    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        risk = replace(self.risk, loss=self.problem.loss, careful=True)
        v, spread, pivot = self._zero_sum(state.v), self.chart.spread, self.problem.l2 == 0
        at, dense = risk(v), v.size <= DENSE
        at = replace(at, gradient=self._zero_sum(at.gradient))
        if not self.problem.loss.convex:
            return (local_class_bounds(risk, v, at.gradient, spread, pivot) if dense else None), 3.0
        if dense:
            return class_bounds(risk, v, at.gradient, share, spread, pivot, at.value), 1 + share
        found, products = witnessed(risk, v, at.gradient, self._solve, spread, pivot, goal, at.value, self.farthest)
        if found is None and v.size <= LAST_RESORT and len(risk.rows) * v.size**2 <= LAST_WORK:
            return class_bounds(risk, v, at.gradient, 1.0, spread, pivot, at.value), 2 + 1.5 * products
        if found is not None and found.witness is not None:
            rows = self.risk.embed(found.witness)
            found = replace(found, witness=np.array([np.append(*self.frame.to_user(row)) for row in rows]))
        return found, 2 + 1.5 * products

    def _solve(self, g: Floats) -> Floats:
        by = self.direction if isinstance(self.direction, Preconditioned) else Shared(self.gram, self.K)
        return self._zero_sum(by.solve(g))

    @cached_property
    def farthest(self) -> float:
        """The largest ‖x − c‖² of a row."""
        return ClassEvidence(self.risk, self.start, 1.0).farthest()

    def proof_share(self) -> float:
        return super().proof_share() if self.K * self.active.size <= DENSE else 1.0

    def provable(self) -> float:
        """ρν < 1 needs a gap below ½/ρ², and with a witness ρ² is at least 2·‖x − c‖²/l2."""
        n, w = len(self.problem.rows), self.active.size
        convex = self.problem.loss.convex
        if self.K * w <= DENSE or self.problem.l2 == 0 or not convex or n * w * w <= EXACT_WORK:
            return math.inf
        return 0.1 * self.problem.l2 / self.farthest

    def growth(self, change: Floats) -> Floats:
        return self.risk.embed(change)[:, : self.frame.center.size].max(axis=0)  # type: ignore[no-any-return]

    def _begin(self) -> tuple[Floats, Direction, Factor]:
        rows = self.problem.rows
        alike = replace(rows, y=np.ones(len(rows), np.int8))
        few = alike.sample(self._sample_size(), self.problem.seed) if self.solver == "lbfgs" else alike
        at, _ = self._squares(alike, few, STEER if self.solver == "lbfgs" else FULL)
        self.risk = replace(self.risk, active=self.active)
        gram = steady_factor(at.hessian).times(1 / 4)  # half the Gram matrix and the ridge: Böhning's bound on H
        del at
        given = self._given()
        v = self._least_squares(gram) if given is None else self._without_aliases(given).ravel()
        if self.problem.rate is not None:
            return v, FixedRate(PLAIN, self.problem.rate * rows.weight, self._steepest), gram
        if self.solver in ("newton", "gauss-newton"):
            saddles = not self.risk.loss.convex and self.solver == "newton"
            return v, SaddleFree(FULL) if saddles else Newton(FULL, self.at_zero()), gram
        if self.solver == "gradient":
            return v, Gradient(PLAIN), gram
        self.sample = self._sample()
        v = self._on_sample(v * self.K if given is None else v, gram, moving=given is None)
        return v, Preconditioned(self._steer(v), PLAIN, STEER, REFRESH, self._steer), gram

    def _steepest(self, g: Floats) -> Floats:
        return np.array([self.frame.steepest(row) for row in g.reshape(self.K, -1)]).ravel()

    def _least_squares(self, gram: Factor) -> Floats:
        """W = (XᵀX)⁻¹XᵀY, less what is the same for all classes, from the likelihood's gradient at zero."""
        at = replace(self.risk, ridge=0 * self.ridge)(np.zeros(self.K * self.active.size), PLAIN)
        self.passes += 1
        if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
            raise NotFiniteError
        slope = 0.5 if self.problem.loss.convex else 0.5 * self.K / 2
        return -slope * Shared(gram, self.K).solve(at.gradient)  # type: ignore[no-any-return]

    def _given(self) -> Floats | None:
        """The start that was asked for, without a part along the gauge; None for least squares."""
        init, shape = self.problem.init, (self.K, self.frame.width)
        if isinstance(init, tuple):
            V = np.array([self.frame.from_user(w, b) for w, b in zip(*init, strict=True)])
        elif init == "random":
            V = self._random(shape)
        elif init == "zero":
            return np.zeros(shape)
        else:
            return None
        return V - V.mean(axis=0)  # type: ignore[no-any-return]

    def _sample(self) -> Rows:
        n, w = len(self.problem.rows), self.active.size
        size = int(min(n, max(self._sample_size(), 8192, 3 * self.K * w), max(STEERING_NUMBERS // w, 2 * w)))
        self.sampled = self.problem.rows.sample(max(size // 3, min(size, 8192)), self.problem.seed).pack(self.K)
        return in_single_precision(self.risk, self.problem.rows.sample(size, self.problem.seed + 1))

    def _steer(self, v: Any) -> Steering:
        return Steering(self.risk, self.sample, v)

    def _on_sample(self, v: Floats, gram: Factor, *, moving: bool) -> Floats:
        """The fit of the sample, to within its own statistical error."""
        if not moving or len(self.sampled) == len(self.problem.rows):
            return v
        prior = PRIOR * max(1.0, self.active.size / 30) / len(self.sampled)
        risk = replace(self.risk, rows=self.sampled, ridge=self.ridge + prior)
        direction = Preconditioned(Shared(gram, self.K), PLAIN, PLAIN, math.inf)
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
