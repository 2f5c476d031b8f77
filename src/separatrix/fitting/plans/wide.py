"""CSR rows of so many columns that no matrix of the columns is made, of two classes or many."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...data import Rows
from ...data.frame import Frame
from ...losses.margin import MarginLoss
from ...losses.softmax import ClassLoss
from ...numerics.arrays import Floats
from ..certificates.separation import class_separates, separates
from ..certificates.wide import Reach, penalised_bounds
from ..coordinates import is_wide
from ..problem import LBFGS, At, AtRandom, Bounds, Problem
from ..risk.evaluate import risk_of
from ..risk.margin import Ask
from ..risk.softmax import ClassRisk
from ..solvers.descent import Direction, State
from ..solvers.lbfgs import DiagonalLBFGS
from ..solvers.newton import FixedRate, Gradient
from .plan import PLAIN, READY, STEER, FramedPlan

FEW_NUMBERS = 4_000_000
"""Rows with no more numbers than this, zeros counted, are written out where they are fewer than the columns."""
PROVABLE = 0.1
"""The part of l2 beside max ‖x‖² that a gap must be below for a proof."""


def goes_wide(problem: Problem) -> bool:
    """Whether CSR rows are too wide for matrices of their columns and too many for one of the rows."""
    return is_wide(problem.rows.kind) and (too_large(problem) or problem.rate is not None)


def too_large(problem: Problem) -> bool:
    """Whether CSR rows are too many to be written out."""
    n, d = problem.rows.shape
    kind = problem.rows.kind
    return (kind.skips_zeros or kind.made) and n * d > FEW_NUMBERS


class WidePlan(FramedPlan):
    """L-BFGS upon the Hessian's diagonal; a proof by the penalty, hence none without one.

    Without a penalty the weights of many classes are those of the notes' pivot, the last class at zero; with one, the
    symmetric ones, whose sum over the classes is zero.
    """

    ranked = False

    def __init__(self, problem: Problem, frame: Frame) -> None:
        super().__init__(problem, frame)
        self.many = isinstance(problem.loss, ClassLoss)
        self.K = problem.classes if self.many else 1
        self.weights = self.K * frame.width
        self.method = problem.method or LBFGS
        self.risk = self._risk()
        self.start = self._begin()
        self.direction = self._direction()

    def _risk(self) -> Any:
        rows = self.problem.rows.pack(self.K) if self.many else self.problem.rows
        return risk_of(self.problem.loss.steering, rows, self.frame, self.penalty, self.K)

    def to_user(self, v: Floats) -> tuple[Floats, Any]:
        weights, level = self.risk.frame_parts(self._apart(v))
        if not self.many:
            return weights[0], float(level[0])
        if self.problem.penalty.idle:
            return weights - weights[-1], level - level[-1]
        return weights, level.copy()

    def _apart(self, v: Floats) -> Floats:
        """Weights that add up to zero over the classes, with these scores but for what all classes share."""
        if not self.many:
            return v
        V = v.reshape(self.K, -1)
        return (V - V.mean(axis=0)).ravel()  # type: ignore[no-any-return]

    def separates(self, weights: Floats, intercept: Any) -> bool:
        return (class_separates if self.many else separates)(self.problem.rows, weights, intercept)

    def estimate(self, state: State) -> float:
        if isinstance(self.direction, DiagonalLBFGS):
            return state.decrement
        bend = 0.25 + np.tile(self.ridge, self.K)  # the columns' mean squares are one
        return float(np.square(state.at.gradient) @ (1 / bend))

    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        loss = self.problem.loss
        if self.problem.penalty.idle or not loss.convex or (isinstance(loss, MarginLoss) and math.isinf(loss.twist)):
            return None, 0.0
        at = replace(state.at, gradient=self._apart(state.at.gradient))
        v, most = self._apart(state.v), self.problem.max_passes
        return penalised_bounds(self.risk, v, at, self._solve, goal, self.reach, most)

    def _solve(self, g: Floats) -> Floats:
        if isinstance(self.direction, DiagonalLBFGS):
            return self.direction.solve(g)
        return self._apart(g / (0.25 + np.tile(self.ridge, self.K)))

    @cached_property
    def reach(self) -> Reach:
        """How far the rows reach."""
        return Reach.of(self.problem.rows, self.frame.center)

    def proof_share(self) -> float:
        return 1.0

    def caution(self, share: float) -> float:
        return READY

    def provable(self) -> float:
        """ρν < 1 needs a gap below ½/ρ², and ρ² is about max ‖x‖²/l2."""
        strength = self.problem.penalty.strength
        return PROVABLE * strength / self.reach.square if strength and self.reach.square else math.inf

    def growth(self, change: Floats) -> Floats:
        return change.reshape(self.K, -1)[:, : self.frame.center.size].max(axis=0)  # type: ignore[no-any-return]

    def _direction(self) -> Direction:
        if self.problem.rate is not None:
            return FixedRate(PLAIN, self.problem.rate * self.problem.rows.weight, self._steepest)
        if not self.method.steered:
            return Gradient(PLAIN)
        if isinstance(self.risk, ClassRisk):
            return DiagonalLBFGS(PLAIN, STEER, self.risk.diagonal, self._apart)
        return DiagonalLBFGS(PLAIN, Ask(diagonal=True), np.asarray, self._apart)

    def _steepest(self, g: Floats) -> Floats:
        return np.array([self.frame.steepest(row) for row in g.reshape(self.K, -1)]).ravel()

    def _begin(self) -> Floats:
        """The start that was asked for; in place of least squares, which needs a matrix, what fits without columns."""
        start, shape = self.problem.start, (self.K, self.frame.width)
        V = np.zeros(shape)
        if isinstance(start, At):
            pairs = zip(*start, strict=True) if self.many else [start]
            V = np.array([self.frame.from_user(w, b) for w, b in pairs])
        elif isinstance(start, AtRandom):
            V = self._random(shape)
        elif self.frame.lifted and self.problem.rate is None:
            V[:, -1] = self._log_odds()
        return self._apart(V.ravel())

    def _log_odds(self) -> Floats:
        """log of each class's part of the costs; of two classes the difference."""
        rows, K = self.problem.rows, self.problem.classes

        def parts(part: Rows, lo: int, hi: int) -> Floats:
            cost, y = part.cost[lo:hi] if part.cost.size else np.ones(hi - lo), part.y[lo:hi]
            if not self.many:
                return np.array([cost[y > 0].sum()])
            return np.bincount(y, cost, K).astype(np.float64) if y.ndim == 1 else cost @ y

        costs: Floats = rows.fold(parts)
        if self.many:
            return np.asarray(np.log(np.maximum(costs, 1e-300) / rows.weight))
        positive = float(costs[0])
        return np.array([math.log(positive / (rows.weight - positive))]) if 0 < positive < rows.weight else np.zeros(1)
