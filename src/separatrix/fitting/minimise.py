"""The fit as a generator: it yields where it stands and returns how it ended."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ..data.mapped import MappedRows
from ..losses.softmax import ClassLoss, softmax
from .coordinates import frame_of, is_wide
from .few_rows import through_rows
from .plans.margin import MarginPlan
from .plans.plan import FramedPlan
from .plans.softmax import ClassPlan
from .plans.wide import WidePlan, too_large
from .problem import Bounds, Fit, Outcome, Problem
from .risk.margin import Frame
from .watch import watched


def minimise(problem: Problem) -> Fit:
    """The minimum of the mean loss, or what stands in its way.

    Losses whose curvature changes at a bounded rate: the log-likelihoods, |φ‴| ≤ φ″, and the squared errors, |φ‴| ≤ κ.
    """
    n, d = problem.rows.X.shape
    counting = np.count_nonzero(problem.rows.costs) if problem.rows.cost.size else n
    made = isinstance(problem.rows.X, MappedRows)  # so few rows of features are fewer numbers than a Hessian has
    if counting < d + problem.lifted and problem.rate is None and (made or not too_large(problem)):
        return (yield from through_rows(problem, in_frame))
    rows, lifted, seed = problem.rows, problem.lifted, problem.seed
    try:
        return (yield from in_frame(problem, frame_of(rows, lifted, seed)))
    except LinAlgError:  # a Hessian overflowed: a row so far out that the scales of a sample are useless
        return (yield from in_frame(problem, frame_of(rows, lifted, seed, size=len(rows))))


def in_frame(problem: Problem, frame: Frame) -> Fit:
    """Minimise with the rows seen in a frame."""
    if not frame.lifted and not problem.rows.X.any():
        return _nothing(problem)
    return (yield from watched(plan_of(problem, frame)))


def plan_of(problem: Problem, frame: Frame) -> FramedPlan:
    """Where it starts and which way it goes."""
    if is_wide(problem.rows.X):
        return WidePlan(problem, frame)
    return (ClassPlan if isinstance(problem.loss, ClassLoss) else MarginPlan)(problem, frame)


def _nothing(problem: Problem) -> Outcome:
    """A table of zeros without an intercept: every score is zero whatever the weights, and the shortest are zero."""
    d, many = problem.rows.X.shape[1], (problem.classes,) * isinstance(problem.loss, ClassLoss)
    proof = Bounds(nu=0.0, rho=0.0, gap=0.0, distance=0.0, spread=np.zeros((*many, d + 1)), share=1.0)
    weights, level = np.zeros((*many, d)), np.zeros(many) if many else 0.0
    value = _value_of_nothing(problem)
    return Outcome("optimal", weights, level, value, 1.0, proof, np.arange(d), np.zeros(d), False, True, False)


def _value_of_nothing(problem: Problem) -> float:
    """The mean loss where every score is zero."""
    rows, loss = problem.rows, problem.loss
    if not isinstance(loss, ClassLoss):
        return float(loss.value(np.zeros(1))[0])
    value = loss.value(softmax(np.zeros((problem.classes, len(rows))), rows.y))
    return float(np.average(value, weights=rows.costs if rows.cost.size else None))
