"""Two classes: where a fit starts and which way it goes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.frame import Frame
from ...data.source import Source
from ...losses.margin import MarginLoss
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor, steady_factor, steady_solution
from ..certificates.margin import bounds, local_bounds
from ..certificates.separation import separates
from ..coordinates import has_rare_column
from ..problem import LBFGS, NEWTON, At, AtRandom, Bounds, NotFiniteError, Problem
from ..risk.margin import Ask, Risk
from ..solvers.descent import Direction, State, descend
from ..solvers.lbfgs import PreconditionedLBFGS
from ..solvers.newton import FixedRate, Gradient, Newton, SaddleFree
from .plan import FULL, PLAIN, ROOT, SINGLE, STEER, FramedPlan

# Where a descent begins.


def least_squares(squared: Any, *, lifted: bool) -> Floats:
    """w⁽⁰⁾ = (XᵀX)⁻¹Xᵀy, y ∈ {0, 1}: half the least-squares fit to ±1, and ½ more in the intercept.

    `squared` is the jet at zero of the risk of (1 − m)², whose Newton step is that fit. Its Hessian is 2XᵀX/n, and an
    eighth of that is the log-likelihood's Hessian at zero.
    """
    v = -steady_solution(squared.hessian, squared.gradient) / 2
    if lifted:
        v[-1] += 0.5
    return v


def first_step(loss: MarginLoss, v: Floats, *, lifted: bool) -> Floats:
    """Newton's first step from zero: −φ′(0)/φ″(0) times the least-squares fit to ±1.

    For the likelihood it is four times the start, less the ½ in the intercept: the logistic curve rises by ¼ at zero.
    """
    _, slope, curvature = loss.jet(np.zeros(1))
    ratio = -float(slope[0] / curvature[0])
    v = 2 * ratio * v
    if lifted:
        v[-1] -= ratio
    return v


def hessian_cost(d: int) -> float:
    """How many passes a Hessian in single precision costs beside the pass that it rides on (measured)."""
    return 1.5 + d / 42


class MarginPlan(FramedPlan):
    """A loss of the margin: one weight for each column, and an intercept."""

    def __init__(self, problem: Problem, frame: Frame) -> None:
        super().__init__(problem, frame)
        n, d = problem.rows.shape
        small = problem.rows.few or n <= 2 * self._sample_size() or n * d * d < 3e7
        self.method = problem.method or (NEWTON if small else LBFGS)
        assert isinstance(problem.loss, MarginLoss)
        if not problem.loss.smooth:
            raise TypeError(f"{problem.loss!r} has no continuous slope to descend by")
        loss = problem.loss if self.method.whole else problem.loss.steering
        self.risk = Risk(loss, problem.rows, frame, self.penalty, self.active, self.written)
        self.start, self.direction, self.gram = self._begin()

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        return self.weight_map.to_user(v)

    def separates(self, weights: Floats, intercept: float) -> bool:
        return separates(self.problem.rows, weights, intercept)

    def estimate(self, state: State) -> float:
        """About ν²: the decrement, where the direction is Newton's or nearly so."""
        if isinstance(self.direction, Gradient | FixedRate):
            return float(np.square(self.gram.whiten(state.at.gradient)).sum())
        return state.decrement

    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        v, at, spread = state.v, state.at, self.weight_map.spread
        if self.problem.loss.convex:
            latest = self.direction.latest if isinstance(self.direction, Newton) else None
            return bounds(self.risk, v, at, share, self.nearly_dependent, spread, latest), share
        return local_bounds(replace(self.risk, loss=self.problem.loss), v, at.gradient, spread), 2.0

    def cleared(self, state: State) -> State | None:
        clear = self.risk.loss.clear
        if math.isinf(clear):
            return None
        v = state.v * max(1.0, clear / state.at.margin * (1 + 1e-9))
        at = self.risk(v, PLAIN)
        return replace(state, v=v, at=at) if at.value == 0 else None

    def growth(self, change: Floats) -> Floats:
        return self.risk.embed(change)[: self.frame.center.size]  # type: ignore[no-any-return]

    def at_zero(self) -> float:
        return float(self.risk.loss.value(np.zeros(1))[0]) if self.risk.loss.convex else math.inf

    def bend(self) -> float:
        loss = self.problem.loss
        if not (isinstance(loss, MarginLoss) and loss.convex):
            return super().bend()
        return 2 / float(loss.curvature(np.zeros(1))[0])

    def _begin(self) -> tuple[Floats, Direction, Factor]:
        rows, width = self.problem.rows, self.frame.width
        many = self.problem.method is None and not rows.few and self.problem.loss.convex
        sampled = (self.method.steered or many) and not has_rare_column(rows, self.frame, self.problem.seed)
        sample = rows.sample(self._sample_size(), self.problem.seed) if sampled else rows
        at, own = self._squares(rows, sample, STEER if self.method.steered else FULL)
        self.risk = replace(self.risk, active=self.active)
        gram = steady_factor(at.hessian).times(1 / self.bend())
        given = self._given()
        v = least_squares(at, lifted=self.frame.lifted) if given is None else self._without_aliases(given)
        rooted = self.nearly_dependent
        if self.problem.rate is not None:
            return v, FixedRate(PLAIN, self.problem.rate * rows.weight, self.frame.steepest), gram
        if self.method.hessian:
            if sampled and not rooted:
                v, _ = self._on_sample(v, gram, sample, STEER if own > SINGLE else FULL, moving=given is None)
            elif given is None and self.problem.method is None and self.risk.loss.convex:
                v = first_step(self.risk.loss, v, lifted=self.frame.lifted)
            saddles = not self.risk.loss.convex and self.method.whole
            if saddles:
                return v, SaddleFree(FULL), gram
            plain = PLAIN if not rooted and self.problem.loss.convex else None
            full = ROOT if rooted else STEER if own > SINGLE and not rows.few else FULL
            return v, Newton(full, self.at_zero(), plain, self.problem.tol), gram
        if not self.method.steered:
            return v, Gradient(PLAIN), gram
        steering = gram
        del at  # as large as a Hessian: it need not wait for the sample's
        if sampled and not rooted:
            v, steering = self._on_sample(v, gram, sample, STEER if own > SINGLE else FULL, moving=given is None)
        elif given is None and self.risk.loss.convex:
            v = first_step(self.risk.loss, v, lifted=self.frame.lifted)
        steer = ROOT if rooted else STEER if own > SINGLE else FULL
        return v, PreconditionedLBFGS(steering, PLAIN, steer, hessian_cost(width)), gram

    def _given(self) -> Floats | None:
        """The start that was asked for; None for least squares."""
        start = self.problem.start
        if isinstance(start, At):
            return self.frame.from_user(*start)
        return self._random((self.frame.width,)) if isinstance(start, AtRandom) else None

    def _on_sample(self, v: Floats, gram: Factor, sample: Source, steer: Ask, *, moving: bool) -> tuple[Floats, Factor]:
        """Newton's work done on few rows: a start within their statistical error, and a factor to steer by.

        A prior of variance 30/d on each weight keeps the sample's fit from running away where columns are many or rare.
        """
        share = len(sample) / len(self.problem.rows)
        prior = max(1.0, self.frame.width / 30) / len(sample)
        risk = replace(self.risk, rows=sample, penalty=self.penalty.plus(prior), written=None)
        direction = PreconditionedLBFGS(gram, PLAIN, steer, math.inf)
        for state in descend(risk, v, direction) if moving else ():
            v = state.v
            if not math.isfinite(state.at.value):
                raise NotFiniteError
            if state.decrement <= 0.1 * v.size / len(sample) or state.passes >= 20:
                self.passes += state.passes * share
                break
        self.passes += share
        return v, steady_factor(risk(v, steer).hessian)
