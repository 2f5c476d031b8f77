"""Where a fit starts and which way it goes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..data import Rows
from ..linalg import Dependence, Factor, Root, factor, shifted, steady_factor
from ..losses import Squared
from ..risk import Ask, Frame, Jet, Risk
from ..solvers.descent import Direction, descend
from ..solvers.gradient import Gradient
from ..solvers.newton import Newton
from ..solvers.preconditioned import Preconditioned
from ..solvers.start import least_squares, log_odds_scale
from .geometry import has_rare_column, ranked
from .problem import Floats, NotFiniteError, Problem

SAMPLE, SAMPLE_NUMBERS = 8192, 4_000_000
STEER, FULL, PLAIN = Ask(hessian=True, steering=True), Ask(hessian=True), Ask()
ROOT = Ask(hessian=True, root=True)
CLEAR, SINGLE = 1e-8, 1e-3
"""The part of its square that must be a column's own: to be no combination of others; for single precision to do."""


def hessian_cost(d: int) -> float:
    """How many passes a Hessian in single precision costs beside the pass that it rides on (measured)."""
    return 1.5 + d / 42


class Plan:
    """The risk over the columns that have a weight, the start, the direction, and the passes they took to find."""

    def __init__(self, problem: Problem, frame: Frame) -> None:
        self.problem, self.frame, self.passes = problem, frame, 0.0
        self.ridge = np.zeros(frame.width)
        self.ridge[: frame.center.size] = problem.l2 / frame.scale**2
        self.risk = Risk(problem.loss, problem.rows, frame, self.ridge, np.arange(frame.width))
        self.dependence: Dependence | None = None
        self.nearly_dependent = False
        self.solver = self._choose() if problem.solver == "auto" else problem.solver
        self.start, self.direction, self.gram = self._begin()

    def _choose(self) -> str:
        n, d = self.problem.rows.X.shape
        return "newton" if n <= 2 * self._sample_size() or n * d * d < 3e7 else "lbfgs"

    def _sample_size(self) -> int:
        n, d = self.problem.rows.X.shape
        room = SAMPLE_NUMBERS // d + 10 * d  # so that the copy stays within 32 MB + 80 d² bytes
        return int(max(8 * d, min(max(SAMPLE - 2 * d, n // 10), 200 * d + SAMPLE, room)))

    def _begin(self) -> tuple[Floats, Direction, Factor]:
        rows, width = self.problem.rows, self.frame.width
        sampled = self.solver == "lbfgs" and not has_rare_column(rows, self.frame, self.problem.seed)
        sample = rows.sample(self._sample_size(), self.problem.seed) if sampled else rows
        ask = STEER if self.solver == "lbfgs" else FULL
        squares = replace(self.risk, loss=Squared(), rows=sample, ridge=8 * self.ridge)
        at = squares(np.zeros(width), ask)
        self.passes += len(sample) / len(rows)
        if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
            raise NotFiniteError
        own = _own_part(shifted(at.hessian, -squares.ridge))
        if ask.steering and own < SINGLE:
            at = squares(np.zeros(width), FULL)
            own = _own_part(shifted(at.hessian, -squares.ridge))
        if not np.isfinite(at.hessian).all():
            raise NotFiniteError
        if own < CLEAR:
            at = self._settle_rank(squares)
        gram = steady_factor(at.hessian).times(1 / 8)
        self.nearly_dependent = rooted = isinstance(at.hessian, Root)
        given = self._given()
        v = least_squares(at, lifted=self.frame.lifted) if given is None else self._without_aliases(given)
        if self.solver == "newton":
            return v, Newton(ROOT if rooted else FULL), gram
        if self.solver == "gradient":
            return v, Gradient(PLAIN), gram
        steering = gram
        del at  # as large as a Hessian: it need not wait for the sample's
        if sampled and not rooted:
            v, steering = self._on_sample(v, gram, sample, STEER if own > SINGLE else FULL, moving=given is None)
        elif given is None:
            v = log_odds_scale(v, lifted=self.frame.lifted)
        steer = ROOT if rooted else STEER if own > SINGLE else FULL
        return v, Preconditioned(steering, PLAIN, steer, hessian_cost(width)), gram

    def _given(self) -> Floats | None:
        """The start that was asked for; None for least squares."""
        init = self.problem.init
        if isinstance(init, tuple):
            return self.frame.from_user(*init)
        if init == "random":
            return np.random.default_rng(self.problem.seed).standard_normal(self.frame.width)
        return np.zeros(self.frame.width) if init == "zero" else None

    def _without_aliases(self, v: Floats) -> Floats:
        """The same scores with no weight on a column that is a combination of others."""
        if self.risk.active.size == v.size or self.dependence is None:
            return v
        return v[self.dependence.kept] + self.dependence.combination @ v[self.dependence.aliased]

    def _settle_rank(self, squares: Risk) -> Jet:
        """Find the columns that are combinations of others; without a penalty they get no weight of their own.

        Returns the jet of the squared risk on all rows at zero, its Hessian as a root if the columns that remain are
        still nearly dependent.
        """
        rows = self.problem.rows
        squares = replace(squares, rows=rows)
        at = squares(np.zeros(self.frame.width), FULL)
        self.passes += 1
        if _own_part(shifted(at.hessian, -squares.ridge)) > CLEAR:
            return at
        found = ranked(rows, self.frame)
        self.passes += 1
        if found.aliased.size:
            self.dependence = found
            if self.problem.l2 == 0:
                self.risk = replace(self.risk, active=found.kept)
                squares = replace(squares, active=found.kept)
                at = squares(np.zeros(found.kept.size), FULL)
                self.passes += 1
        if _own_part(at.hessian) > CLEAR:
            return at
        self.passes += 1
        return squares(np.zeros(at.gradient.size), ROOT)

    def _on_sample(self, v: Floats, gram: Factor, sample: Rows, steer: Ask, *, moving: bool) -> tuple[Floats, Factor]:
        """Newton's work done on few rows: a start within their statistical error, and a factor to steer by.

        A prior of variance 30/d on each weight keeps the sample's fit from running away where columns are many or rare.
        """
        share = len(sample) / len(self.problem.rows)
        prior = max(1.0, self.frame.width / 30) / len(sample)
        risk = replace(self.risk, rows=sample, ridge=self.ridge + prior)
        direction = Preconditioned(gram, PLAIN, steer, math.inf)
        for state in descend(risk, v, direction) if moving else ():
            v = state.v
            if not math.isfinite(state.at.value):
                raise NotFiniteError
            if state.decrement <= 0.1 * v.size / len(sample) or state.passes >= 20:
                self.passes += state.passes * share
                break
        self.passes += share
        return v, steady_factor(risk(v, steer).hessian)


def _own_part(hessian: Floats) -> float:
    """The least part of a column's square that no columns before it explain; zero if H is singular."""
    made = factor(hessian)
    return 0.0 if made is None else made.weakest
