"""The fit as a generator: it yields where it stands and returns how it ended."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError

from ..data import Rows
from ..data.frame import Frame
from ..losses.softmax import ClassLoss, softmax
from ..numerics.arrays import Floats
from .coordinates import frame_of, is_wide
from .few_rows import through_rows
from .plans.dense_wide import DenseWidePlan, goes_by_passes
from .plans.margin import MarginPlan
from .plans.plan import FramedPlan, Plan, proof_cost
from .plans.softmax import ClassPlan
from .plans.wide import WidePlan, too_large
from .problem import (
    At,
    Bounds,
    Fit,
    NotFiniteError,
    Oscillation,
    OscillationWatch,
    Outcome,
    Problem,
    Progress,
    relayed,
)
from .solvers.descent import State, descend
from .solvers.lbfgs import PreconditionedLBFGS

NOTHING = 1e-10
"""A mean loss that is as good as none: the gap is measured by this where the minimum itself is zero."""
HOPELESS = 1e-3
"""A gap this far below the tolerance that still cannot be proved will not be."""
CLEAR_MARGIN = 0.01
"""A separating rule whose nearest row has less than this log-odds is given a few more steps to part the classes."""
HAIRLINE_STEPS = 3
"""How many."""
FIRST_PART = 0.75
"""The part of the passes allowed that many columns may take before a matrix of them is made after all."""
LOOK_BACK = 4
"""Passes over which the growth of the weights is told."""


def minimise(problem: Problem) -> Fit:
    """The minimum of the mean loss, or what stands in its way.

    Any smooth loss whose traits bound its curvature nearby: convex ones with |φ‴| ≤ kφ″ (the log-likelihoods, the
    exponential loss) or a `nearby` of their own (the squared hinge), and the squared errors, |φ‴| ≤ κ.
    """
    found = (yield from by_passes(problem)) if goes_by_passes(problem) else None
    if found is None:
        return (yield from by_factors(problem))
    if found.status == "optimal":
        return found
    start, left = At(found.weights, found.intercept), problem.max_passes - found.passes
    run = by_factors(replace(problem, start=start, max_passes=left))
    outcome = yield from relayed(run, lambda told: told._replace(passes=told.passes + found.passes))
    return replace(outcome, passes=outcome.passes + found.passes)


def by_passes(problem: Problem) -> Generator[Progress, None, Outcome | None]:
    """Minimise dense rows of many columns by passes over them; None where these cannot prove anything."""
    plan = DenseWidePlan(replace(problem, max_passes=FIRST_PART * problem.max_passes))
    try:
        return (yield from watched(plan)) if plan.provable_at_all else None
    except LinAlgError:  # numbers so far apart that a factor overflowed
        return None


def by_factors(problem: Problem) -> Fit:
    """Minimise with matrices of the columns, or of the rows where these are fewer."""
    d = problem.rows.shape[1]
    made = problem.rows.kind.made  # so few rows of features are fewer numbers than a Hessian has
    if problem.rows.counting < d + problem.lifted and problem.rate is None and (made or not too_large(problem)):
        return (yield from through_rows(problem, in_frame))
    rows, lifted, seed = problem.rows, problem.lifted, problem.seed
    try:
        return (yield from in_frame(problem, frame_of(rows, lifted, seed)))
    except LinAlgError:  # a Hessian overflowed: a row so far out that the scales of a sample are useless
        return (yield from in_frame(problem, frame_of(rows, lifted, seed, size=len(rows))))


def in_frame(problem: Problem, frame: Frame) -> Fit:
    """Minimise with the rows seen in a frame."""
    if not frame.lifted and not problem.rows.any():
        return _nothing(problem)
    return (yield from watched(plan_of(problem, frame)))


def plan_of(problem: Problem, frame: Frame) -> FramedPlan:
    """Where it starts and which way it goes."""
    if is_wide(problem.rows.kind):
        return WidePlan(problem, frame)
    return (ClassPlan if isinstance(problem.loss, ClassLoss) else MarginPlan)(problem, frame)


def _nothing(problem: Problem) -> Outcome:
    """A table of zeros without an intercept: every score is zero whatever the weights, and the shortest are zero."""
    d, many = problem.rows.shape[1], (problem.classes,) * isinstance(problem.loss, ClassLoss)
    proof = Bounds(nu=0.0, rho=0.0, gap=0.0, distance=0.0, spread=np.zeros((*many, d + 1)), share=1.0)
    weights, level = np.zeros((*many, d)), np.zeros(many) if many else 0.0
    value = _value_of_nothing(problem)
    return Outcome("optimal", weights, level, value, 1.0, proof, np.arange(d), np.zeros(d), False, True, False)


def _nothing_to_gain(columns: int) -> Bounds:
    """The loss of every row is zero: no weights can do better, though others may do as well."""
    return Bounds(nu=0.0, rho=0.0, gap=0.0, distance=0.0, spread=np.zeros(columns + 1), share=1.0)


def _value_of_nothing(problem: Problem) -> float:
    """The mean loss where every score is zero."""
    rows, loss = problem.rows, problem.loss
    if not isinstance(loss, ClassLoss):
        return float(loss.value(np.zeros(1))[0])

    def values(part: Rows, lo: int, hi: int) -> float:
        value = loss.value(softmax(np.zeros((problem.classes, hi - lo)), part.y[lo:hi]))
        return float(part.cost[lo:hi] @ value if part.cost.size else value.sum())

    return float(rows.fold(values) / rows.weight)


def watched(plan: Plan) -> Fit:
    """A descent by a plan, until it is over."""
    at = plan.risk(plan.start, plan.direction.ask)
    if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
        raise NotFiniteError
    watch = Watch(plan)
    for state in descend(plan.risk, plan.start, plan.direction, passes=plan.passes + 1, at=at):
        yield watch.progress(state)
        outcome = watch.judge(state)
        if outcome is not None:
            return outcome
    raise AssertionError("a descent ends with a stalled state, and that is always an outcome")


class Watch:
    """Reads the states of a descent."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.problem = plan, plan.problem
        self.share = plan.proof_share()
        self.proofs = 0.0
        self.attempt_below = math.inf
        self.hairline = 0
        self.trail: list[Floats] = []
        self.wobble = None if self.problem.rate is None else OscillationWatch(plan.start)

    def progress(self, state: State) -> Progress:
        """Where the fit stands, for its readers."""
        norm = float(np.linalg.norm(state.at.gradient))
        moved_by, passes = self.plan.method.name if state.step else "start", state.passes + self.proofs
        value, to_user = state.at.value, self.plan.to_user
        return Progress(lambda: to_user(state.v), value, norm, state.step, passes, moved_by, state.negative)

    def judge(self, state: State) -> Outcome | None:
        """The outcome, if this state is one."""
        self.trail = [*self.trail[-LOOK_BACK:], state.v]
        over = state.stalled or state.passes + self.proofs >= self.problem.max_passes
        if self.problem.penalty.idle and state.at.margin > 0 and self._separates(state):
            self.hairline += 1
            cleared = self.plan.cleared(state)
            if cleared is not None:
                return self.end("optimal", cleared, _nothing_to_gain(self.problem.rows.shape[1]))
            if state.at.margin >= CLEAR_MARGIN or self.hairline > HAIRLINE_STEPS or over:
                return self.end("separated", state, None)
            return None
        if state.overflowed:
            beyond = Oscillation(math.inf, state.at.value, math.inf)
            return replace(self.end("budget", state, None), oscillation=beyond)
        if self.wobble is not None and len(self.trail) > 1:
            rings = self.wobble.add(state.at.value, state.v)
            if rings is not None:
                return replace(self.end("budget", state, None), oscillation=rings)
        goal, estimate = self.problem.tol * max(abs(state.at.value), NOTHING), self.plan.estimate(state)
        direction = self.plan.direction
        steered = isinstance(direction, PreconditionedLBFGS)
        if not (over or steered) and estimate / 2 > min(goal, self.attempt_below):
            return None
        enough = min(goal, self.plan.provable())
        if isinstance(direction, PreconditionedLBFGS):
            direction.target = 2 * enough * self.share
        share = self._share(estimate / 2 / goal if goal else math.inf)
        if not over and estimate / 2 > min(enough * self.plan.caution(share), self.attempt_below):
            return None
        found = self._prove(state, share, goal)
        if found is not None and found.gap <= goal:
            return self.end("optimal" if found.only else "local", state, found.rounded_up(goal))
        hopeless = self.problem.loss.convex and estimate / 2 < HOPELESS * goal
        if over or hopeless:
            stalled = state.stalled or hopeless
            return self.end("budget", replace(state, stalled=stalled), found, settled=estimate / 2 <= goal)
        self.attempt_below = estimate / 8 if found is None else estimate / 4 * goal / found.gap
        return None

    def _separates(self, state: State) -> bool:
        return self.plan.separates(*self.plan.to_user(state.v))

    def _share(self, gap: float) -> float:
        """The part of the rows for a proof of a gap in units of the goal: more of them, if cheaper than a pass."""
        more = 1.5 * gap
        return more if self.share < more <= min(1, self.share + 1 / proof_cost(self.plan.weights)) else self.share

    def _prove(self, state: State, first: float, goal: float) -> Bounds | None:
        """The certificate from a part of the rows; from all of them where that proves nothing."""
        for share in (first, 1.0)[first == 1.0 :]:
            found, passes = self.plan.prove(state, share, goal)
            self.proofs += passes
            if found is not None:
                return found
        return None

    def end(self, status: str, state: State, found: Bounds | None, *, settled: bool = True) -> Outcome:
        """Where it ended."""
        weights, intercept = self.plan.to_user(state.v)
        growth = self.plan.growth(np.abs(state.v) - np.abs(self.trail[0] if self.trail else state.v))
        aliased = self.plan.aliased(weights.shape[-1])
        passes = state.passes + self.proofs
        return Outcome(
            status, weights, intercept, state.at.value, passes, found, aliased, growth, state.stalled,
            settled, self.plan.nearly_dependent, ranked=self.plan.ranked,
        )  # fmt: skip
