"""The fit as a generator: it yields where it stands and returns how it ended."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from scipy.linalg import LinAlgError

from ..risk import Frame
from ..solvers.descent import descend
from .few_rows import through_rows
from .geometry import frame_of
from .plan import Plan
from .problem import NotFiniteError, Outcome, Problem, Progress
from .watch import Watch

Fit = Generator[Progress, None, Outcome]


def minimise(problem: Problem) -> Fit:
    """The minimum of the mean loss, or what stands in its way.

    A convex margin loss whose curvature changes at a bounded rate, |φ‴| ≤ φ″: the log-likelihood.
    """
    n, d = problem.rows.X.shape
    counting = np.count_nonzero(problem.rows.cost) if problem.rows.cost.size else n
    if counting < d + problem.lifted:
        return (yield from through_rows(problem, in_frame))
    rows, lifted, seed = problem.rows, problem.lifted, problem.seed
    try:
        return (yield from in_frame(problem, frame_of(rows, lifted, seed)))
    except LinAlgError:  # a Hessian overflowed: a row so far out that the scales of a sample are useless
        return (yield from in_frame(problem, frame_of(rows, lifted, seed, size=len(rows))))


def in_frame(problem: Problem, frame: Frame) -> Fit:
    """Minimise with the rows seen in a frame."""
    plan = Plan(problem, frame)
    watch = Watch(plan)
    for state in descend(plan.risk, plan.start, plan.direction, passes=plan.passes):
        if not (math.isfinite(state.at.value) and np.isfinite(state.at.gradient).all()):
            raise NotFiniteError
        yield watch.progress(state)
        outcome = watch.judge(state)
        if outcome is not None:
            return outcome
    raise AssertionError("a descent ends with a stalled state, and that is always an outcome")
