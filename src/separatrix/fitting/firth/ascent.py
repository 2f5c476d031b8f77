"""The maximum of Firth's penalised likelihood, step by step, and the intercept that makes probabilities add up."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import factor
from ..certificates.firth import Rounding, firth_bounds, quick_firth_bounds
from ..problem import At, AtRandom, Bounds, FirthEnd, Fit, NotFiniteError, Outcome, Problem, Progress
from ..risk.firth import Block, Firth, FirthPoint, FirthSlope, added, pairs_are_fewer
from .ends import balancing_shift, discriminant
from .view import FirthView, FirthWeightMap, aliased_columns, is_clear, settled, turned, view_of

LONGEST = 5.0
"""The largest first step, as the root mean square of the scores' changes."""
HALVINGS = 30
"""How often a step is halved."""
ENOUGH = 1e-4
"""What a step must bring of what the slope promises, one at the most."""
SLOW = 0.1
"""A full step that leaves more than this of the gap asks for more of the curvature."""
SCORING = 0
"""The information stands in for the curvature −∂²ℓ*."""
ROWS = 1
"""What sums over rows give of the curvature."""
WHOLE = 2
"""All of the curvature."""
MANY = 50
"""Rows a weight from which the information is nearly the curvature."""
TWIST_FROM_THE_START = 1 << 16
"""n·d³ up to which all of the curvature costs little."""
WELL_BELOW = 1e-4
"""A gap this far below the tolerance is proved as it is; else one more step, which costs little, comes first."""
LOST = 1e-12
"""The part of its square that must be a column's own, in A, for a start to be believed."""
NO_LEVERAGES = np.empty(0)
"""Where p = ½ the slope needs none; they are read when a proof is wanted there."""
HOPELESS = 1e-3
"""A gap this far below the tolerance, or below FINE if that is less, that still cannot be proved will not be."""
FINE = 1e-10
"""A gap that is fine whatever the tolerance."""
DEAR = 1 << 28
"""n·d³ from which the whole curvature is not written out for a step."""
RESIDUAL = 0.03
"""How far conjugate gradients bring a residual down."""
PRODUCTS = 30
"""The most products with the whole curvature that a step takes."""


class State(NamedTuple):
    """Where the ascent stands."""

    at: FirthPoint
    slope: FirthSlope
    direction: Floats
    decrement: float
    """U*ᵀM⁻¹U*, M the curvature that gave the direction: about twice what ℓ* is below its maximum."""
    step: float


class Ascent:
    """Newton's method on ℓ*, with the readings of the rows counted."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.passes = problem, 0.0
        self.view, zero = self._independent()
        if not self.view.width:
            return
        self.firth = self.view.likelihood() if zero is None else self._firth
        self.total = self.view.total
        self.longest = LONGEST
        self.gram = 4 * self._zero.information / self.total
        self.back = FirthWeightMap(self.view)
        self._latest: tuple[Floats | None, tuple[Floats, float]] = None, (np.empty(0), 0.0)
        self.units = self.view.units
        n, d = len(self.view.rows), self.view.width
        self.care = WHOLE if n * d**3 <= TWIST_FROM_THE_START else SCORING if MANY * d <= n else ROWS
        self.dear = n * d**3 > DEAR and not pairs_are_fewer(n, d)

    # ------------------------------------------------------------------------------------------------- coordinates

    def _independent(self) -> tuple[FirthView, FirthPoint | None]:
        """The view with independent columns, turned where they are nearly dependent; and the glance at zero."""
        view = view_of(self.problem)
        if len(view.rows) >= view.frame.width:
            zero = self._look_at_zero(view)
            if is_clear(zero):
                return view, zero
            view = settled(view, zero)
        else:
            view = settled(view, None)
        self.passes += 1
        if not view.width:
            return view, None
        zero = self._look_at_zero(view)
        if not is_clear(zero):
            view = turned(view)
            self.passes += 1
            zero = self._look_at_zero(view)
        return view, zero

    def _look_at_zero(self, view: FirthView) -> FirthPoint:
        """A quarter of the products of the columns, and where the ascent starts."""
        self.passes += 1
        self._firth = view.likelihood()
        self._zero, self._pull = self._firth.at_zero()
        return self._zero

    def _glance(self, firth: Firth, v: Floats) -> FirthPoint:
        self.passes += 1
        return firth.glance(v)

    # ----------------------------------------------------------------------------------------------------- steps

    def start(self) -> State:
        """Zero, whose first step is that of a discriminant; or what was given, halved while A is nearly singular."""
        start, at = self.problem.start, self._zero
        v = np.zeros(self.view.width)
        if isinstance(start, At):
            v = self.view.from_user(*start)
        elif isinstance(start, AtRandom):
            scale = 2 / math.sqrt(v.size)
            v = scale * np.random.default_rng(self.problem.seed).standard_normal(v.size)
        if v.any():
            at = self._glance(self.firth, v)
            while not _is_steady(at) and np.abs(at.v).max() > 1:
                at = self._glance(self.firth, at.v / 2)
            if not math.isfinite(at.value):
                at = self._zero
        if not math.isfinite(at.value):
            raise NotFiniteError
        if at is self._zero:
            towards = discriminant(self.view, at, self._pull)
            if towards is not None:
                return State(
                    at, FirthSlope(self._pull, NO_LEVERAGES, NO_LEVERAGES), towards, float(self._pull @ towards), 0.0
                )
        return self.state(at, 0.0)

    def state(self, at: FirthPoint, step: float) -> State:
        """The slope and the curvature there, and where they point."""
        slope = self.firth.slope(at)
        self.passes += 1
        if not math.isfinite(float(np.add.reduce(slope.gradient))):
            raise NotFiniteError
        u = self._newton(at, slope) if self.care > SCORING else at.solve(slope.gradient)
        return State(at, slope, u, float(slope.gradient @ u), step)

    def _newton(self, at: FirthPoint, slope: FirthSlope) -> Floats:
        """M⁻¹U*; A⁻¹U*, which points upwards too, where ℓ* is curved the wrong way."""
        if self.care == WHOLE and self.dear:
            return self._whole_newton(at, slope)
        for care in range(self.care, WHOLE + 1):
            _, u, failed = dposv(self._curvature(at, slope, care), slope.gradient)
            if not failed and float(slope.gradient @ u) >= 0:
                return u  # type: ignore[no-any-return]
        return at.solve(slope.gradient)

    def _whole_newton(self, at: FirthPoint, slope: FirthSlope) -> Floats:
        """M⁻¹U*, M all of the curvature, by conjugate gradients upon what sums over rows give of it."""
        M, g = self._curvature(at, slope, ROWS), slope.gradient
        made = factor(M)
        first = at.solve if made is None else made.solve
        u, r = np.zeros_like(g), g.copy()
        z = p = first(r)
        size = enough = float(r @ z)
        for _ in range(PRODUCTS):
            Mp = M @ p + self.firth.twist_along(at, p) / 2
            self.passes += 2
            bend = float(p @ Mp)
            if not bend > 0:
                break
            u, r = u + size / bend * p, r - size / bend * Mp
            z = first(r)
            size, before = float(r @ z), size
            if not size > RESIDUAL**2 * enough:
                break
            p = z + size / before * p
        return u if u.any() else at.solve(g)

    def _curvature(self, at: FirthPoint, slope: FirthSlope, care: int) -> Floats:
        """−∂²ℓ*, or what sums over rows give of it."""
        self.passes += 1
        M = self.firth.curvature(at, slope)
        return M + self._twist(at) / 2 if care == WHOLE else M

    def _twist(self, at: FirthPoint) -> Floats:
        self.passes += 1
        return self.firth.twist(at)

    def next(self, state: State) -> State | None:
        """The state after a step that raises ℓ*, or None where rounding allows none."""
        u, at = state.direction, state.at
        length = math.sqrt(max(float(u @ self.gram @ u), 0.0))
        step = min(1.0, self.longest / length) if length else 1.0
        bounded = step < 1
        noise = 64 * EPS * (abs(at.likelihood) + abs(at.log_determinant) + u.size)
        for _ in range(HALVINGS):
            found = self._glance(self.firth, at.v + step * u)
            if found.value >= at.value + ENOUGH * min(step * state.decrement, 1.0) - noise:
                self.longest *= 2 if bounded else 1
                return self.state(found, step)
            if state.decrement < noise or self.passes >= self.problem.max_passes:
                return None
            step, bounded = step / 2, False
            self.longest = step * length
        found = self._glance(self.firth, at.v / 2)  # far out the slope misleads, and ℓ* falls for ever
        return self.state(found, 0.5) if found.value > at.value + noise else None

    # ---------------------------------------------------------------------------------------------------- proofs

    def goal(self, state: State) -> float:
        """The gap that is to be proved: `tol` of the mean loss, which has no units."""
        return self.problem.tol * self.mean_loss(state)

    def mean_loss(self, state: State) -> float:
        """−ℓ/C."""
        return -state.at.likelihood / self.total

    def estimate(self, state: State) -> float:
        """About how far F = −ℓ*/C is above its minimum."""
        return state.decrement / (2 * self.total)

    def prove(self, state: State) -> Bounds | None:
        """The certificate; where the cheap part of the curvature does not reach the goal, from all of it."""
        found: Bounds | None = None
        if not state.slope.h.size:
            state = self.state(state.at, state.step)
        for care in (SCORING, WHOLE) if self.care == WHOLE and not self.dear else (SCORING, ROWS, WHOLE):
            found = self._bounds(state, care) or found
            if found is not None and found.gap <= self.goal(state):
                break
        return found

    def _bounds(self, state: State, care: int) -> Bounds | None:
        """What the information, or more of the curvature, proves."""
        at, slope = state.at, state.slope
        view, (weights, intercept) = self.view, self._user(state)
        level = float(np.abs(weights) @ np.abs(view.frame.center)) + abs(intercept)
        rounding = Rounding(view.reach(state.at.v), view.stray, level)
        if care == SCORING:
            return quick_firth_bounds(at, slope, view.rows.cost, self.total, self.back.spread, rounding)
        M = self._curvature(at, slope, care)
        self.passes += 1
        return firth_bounds(self.firth, at, slope, M, self.total, self.back.spread, rounding)

    # ---------------------------------------------------------------------------------------------------- reports

    def _user(self, state: State) -> tuple[Floats, float]:
        """Weights and intercept in the user's units, found once for each state."""
        if self._latest[0] is not state.at.v:
            self._latest = state.at.v, self.back.to_user(state.at.v)
        return self._latest[1]

    def value(self, state: State) -> float:
        """F = −ℓ*/C with the columns in the user's units."""
        return -(state.at.value + self.units / 2) / self.total

    def progress(self, state: State) -> Progress:
        """Where it stands, in the user's units."""
        norm = math.sqrt(float(state.slope.gradient @ state.slope.gradient)) / self.total
        moved_by = "newton" if state.step else "start"
        value, v = self.value(state), state.at.v
        return Progress(lambda: self.back.roughly(v), value, norm, state.step, self.passes, moved_by)

    def scores(self, state: State) -> Floats:
        """zᵀv of every row, by one reading."""
        found = np.empty(len(self.view.rows))

        def look(block: Block) -> tuple[int]:
            found[block.rows] = block.Z @ state.at.v
            return (0,)

        added(self.firth.read(look))
        self.passes += 1
        return found if self.view.signs is None else found * self.view.signs

    def end(self, state: State, found: Bounds | None, stalled: bool) -> Outcome:
        """How it ended."""
        weights, intercept = self._user(state)
        proved = found is not None and found.gap <= self.goal(state)
        part = FirthEnd(self.mean_loss(state), state.at.log_determinant + self.units, intercept)
        return Outcome(
            "local" if proved else "budget", weights, intercept, self.value(state), self.passes, found,
            aliased_columns(self.view), np.zeros(weights.size), stalled, proved, self.view.triangular is not None,
            firth=part,
        )  # fmt: skip


def penalised_maximum(problem: Problem, *, balanced: bool) -> Fit:
    """The maximum of ℓ*; `balanced` asks for FLIC's intercept: Σᵢ cᵢpᵢ = Σᵢ cᵢtᵢ with Firth's weights."""
    ascent = Ascent(problem)
    if not ascent.view.width:
        return _nothing(problem)
    state = ascent.start()
    outcome: Outcome | None = None
    while outcome is None:
        yield ascent.progress(state)
        before = state
        outcome, state = _judged(ascent, state)
    if state is not before:
        yield ascent.progress(state)
    if balanced and outcome.bounds is not None:  # without a maximum nearby there is nothing to be balanced
        cost = ascent.view.rows.cost
        level = outcome.intercept + balancing_shift(ascent.scores(state), ascent.view.rows.y, cost)
        outcome = replace(outcome, intercept=level, passes=ascent.passes)
    return outcome


def _judged(ascent: Ascent, state: State) -> tuple[Outcome | None, State]:
    """The outcome where this state, or the next, is one; and the state that comes next."""
    goal, estimate = ascent.goal(state), ascent.estimate(state)
    over, there = ascent.passes >= ascent.problem.max_passes, estimate <= goal
    enough = estimate <= WELL_BELOW * goal
    later = None if over or enough else ascent.next(state)
    if later is not None and not there:
        ascent.care = min(WHOLE, ascent.care + _is_slow(state, later))
        return None, later
    last = state if later is None else later
    found = ascent.prove(last)
    if found is not None and found.gap <= goal:
        return ascent.end(last, found, stalled=False), last
    hopeless = ascent.estimate(last) < HOPELESS * min(goal, FINE * ascent.mean_loss(last))
    if enough and not over and not hopeless:  # near enough, but a proof must be nearer still
        later = ascent.next(state)
        if later is not None:
            return None, later
    stalled = hopeless or (later is None and not over)
    if stalled or ascent.passes >= ascent.problem.max_passes:
        return ascent.end(last, found, stalled), last
    return None, last


def _is_steady(at: FirthPoint) -> bool:
    """Whether A has a determinant that is more than rounding: far out a few rows have all the weight."""
    return math.isfinite(at.value) and float((at.information.diagonal() * at.inverse.diagonal()).max()) < 1 / LOST


def _is_slow(state: State, later: State) -> bool:
    """Whether, near the maximum, a step had to be shortened or left much of the gap."""
    return state.decrement < 1 and (later.step < 1 or later.decrement > SLOW * state.decrement)


def _nothing(problem: Problem) -> Outcome:
    """A table of zeros without an intercept: every score is zero whatever the weights, and there is no penalty."""
    d = problem.rows.shape[1]
    proof = Bounds(nu=0.0, rho=0.0, gap=0.0, distance=0.0, spread=np.zeros(d + 1), share=1.0, only=False)
    value = math.log(2)
    return Outcome(
        "local", np.zeros(d), 0.0, value, 1.0, proof, np.arange(d), np.zeros(d), False, True, False,
        firth=FirthEnd(value, 0.0, 0.0),
    )  # fmt: skip
