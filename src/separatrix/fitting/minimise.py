"""The fit as a generator: it yields where it stands and returns how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from ..data.frame import Frame, written_out
from ..data.mapped import MappedRows
from ..losses.softmax import ClassLoss, softmax
from ..numerics.arrays import EPS, Floats
from ..numerics.linalg import dependence
from ..numerics.threads import one_blas_thread
from .coordinates import class_separates, frame_of, is_wide, separates
from .plans.margin import MarginPlan
from .plans.plan import FramedPlan
from .plans.softmax import ClassPlan
from .plans.wide import WidePlan, too_large
from .problem import Bounds, Fit, NotFiniteError, Outcome, Problem, Progress, relayed
from .watch import watched

# Fewer rows than columns: the same problem through an n × n system.


def through_rows(problem: Problem, fit: Callable[[Problem, Frame], Fit]) -> Fit:
    """w = Qu with (X − c)ᵀ = QR: the rows of Rᵀ have the same inner products as those of X, so u has the same risk.

    Scores depend on w only through its part in the span of the rows, and ‖w‖ = ‖u‖ there, so nothing is lost. Without
    a penalty the columns are first scaled, and of all weights with the final scores the shortest are returned.
    """
    rows = problem.rows
    if rows.cost.size:
        rows = rows.take(np.flatnonzero(rows.costs > 0))
    rows = replace(rows, X=written_out(rows.X))
    problem = replace(problem, rows=rows)
    frame = frame_of(rows, problem.lifted, problem.seed)
    scale = frame.scale if problem.l2 == 0 else np.ones_like(frame.scale)
    if not np.isfinite(rows.X).all():
        raise NotFiniteError
    distinct, twin = np.unique(rows.X, axis=0, return_inverse=True)  # so that equal rows stay equal to the last bit
    with one_blas_thread():
        Q, R = np.linalg.qr(((distinct - frame.center) / scale).T)
    length = np.linalg.norm(R, axis=1)
    real = length > len(distinct) * EPS * length.max(initial=0)  # the rest is rounding: centred rows add up to zero
    Q, R = (Q[:, real], R[real]) if real.any() else (Q[:, :1], R[:1])
    reduced = replace(rows, X=np.ascontiguousarray(R.T[twin.ravel()]))
    init = problem.init
    if isinstance(init, tuple):
        weights, intercept = init
        init = (weights * scale) @ Q, intercept + weights @ frame.center
    solver = "newton" if problem.solver == "auto" else problem.solver
    small = replace(problem, rows=reduced, init=init, solver=solver)

    def back(u: Floats, intercept: Any) -> tuple[Floats, Any]:
        w = u @ Q.T / scale
        return w, intercept - w @ frame.center

    def told(progress: Progress) -> Progress:
        weights, intercept = back(progress.weights, progress.intercept)
        return progress._replace(weights=weights, intercept=intercept)

    outcome = yield from relayed(fit(small, frame_of(reduced, problem.lifted, problem.seed)), told)
    return _unfold(problem, frame, outcome, Q, scale, back(outcome.weights, outcome.intercept))


def _unfold(
    problem: Problem, frame: Frame, outcome: Outcome, Q: Floats, scale: Floats, ended: tuple[Floats, Any]
) -> Outcome:
    weights, intercept = ended
    if problem.l2 == 0:
        shortest = _shortest(problem, frame, weights, intercept)
        parts = class_separates if weights.ndim == 2 else separates
        if outcome.status != "separated" or parts(problem.rows, *shortest):
            weights, intercept = shortest
        elif not parts(problem.rows, weights, intercept):
            outcome = replace(outcome, status="budget", stalled=True)
    found = outcome.bounds
    if found is not None:
        reach = found.spread[..., :-1] @ np.abs(Q).T / scale
        if problem.l2 == 0:  # the shortest weights are a projection of these: no longer, but turned
            reach = np.zeros_like(reach) + np.linalg.norm(reach, axis=-1, keepdims=True)
        level = (found.spread[..., -1] + reach @ np.abs(frame.center)) * problem.lifted
        found = replace(found, spread=np.append(reach, np.asarray(level)[..., None], axis=-1))
        if found.witness is not None:
            u = found.witness[:, :-1] @ Q.T / scale
            found = replace(found, witness=np.column_stack([u, found.witness[:, -1] - u @ frame.center]))
    growth = np.abs(Q) @ np.maximum(outcome.growth, 0)
    return replace(
        outcome, weights=weights, intercept=intercept, bounds=found, aliased=_aliased(problem, frame), growth=growth
    )


def _shortest(problem: Problem, frame: Frame, weights: Floats, intercept: Any) -> tuple[Floats, Any]:
    """The shortest weights in the user's units that give every row the score that these give."""
    centred = problem.rows.X - frame.center
    level = intercept + weights @ frame.center
    found: Floats = np.linalg.lstsq(centred, centred @ weights.T, rcond=None)[0].T.astype(np.float64)
    return found, level - found @ frame.center


def _aliased(problem: Problem, frame: Frame) -> np.ndarray:
    """The columns that the intercept and the columns before them explain."""
    Z = frame.coordinates(problem.rows.X)
    d = frame.center.size
    order = np.append(d, np.arange(d)) if frame.lifted else np.arange(d)
    size = np.append(np.abs(frame.center) / frame.scale + 1, [1.0] * frame.lifted)
    with one_blas_thread():
        found = dependence(Z[:, order], 64 * EPS * size[order] * np.sqrt(len(Z)))
    return order[found.aliased][order[found.aliased] < d]


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
