"""Fewer rows than columns: the same problem through an n × n system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.block import Dense
from ..data.frame import Frame
from ..numerics.arrays import EPS, Floats
from ..numerics.linalg import dependence
from ..numerics.threads import one_blas_thread
from .certificates.separation import class_separates, separates
from .coordinates import frame_of
from .problem import NEWTON, At, Fit, NotFiniteError, Outcome, Problem, Progress, relayed


def through_rows(problem: Problem, fit: Callable[[Problem, Frame], Fit]) -> Fit:
    """w = Qu with (X − c)ᵀ = QR: the rows of Rᵀ have the same inner products as those of X, so u has the same risk.

    Scores depend on w only through its part in the span of the rows, and ‖w‖ = ‖u‖ there, so nothing is lost. Without
    a penalty the columns are first scaled, and of all weights with the final scores the shortest are returned.
    """
    rows = problem.rows.gathered()
    if rows.cost.size:
        rows = rows.take(np.flatnonzero(rows.costs > 0))
    X = rows.dense()
    rows = replace(rows, block=Dense(X))
    problem = replace(problem, rows=rows)
    frame = frame_of(rows, problem.lifted, problem.seed)
    scale = frame.scale if problem.penalty.idle else np.ones_like(frame.scale)
    if not np.isfinite(X).all():
        raise NotFiniteError
    distinct, twin = np.unique(X, axis=0, return_inverse=True)  # so that equal rows stay equal to the last bit
    with one_blas_thread():
        Q, R = np.linalg.qr(((distinct - frame.center) / scale).T)
    length = np.linalg.norm(R, axis=1)
    real = length > len(distinct) * EPS * length.max(initial=0)  # the rest is rounding: centred rows add up to zero
    Q, R = (Q[:, real], R[real]) if real.any() else (Q[:, :1], R[:1])
    reduced = replace(rows, block=Dense(np.ascontiguousarray(R.T[twin.ravel()])))
    start = problem.start
    if isinstance(start, At):
        start = At((start.weights * scale) @ Q, start.intercept + start.weights @ frame.center)
    small = replace(problem, rows=reduced, start=start, method=problem.method or NEWTON)

    def back(u: Floats, intercept: Any) -> tuple[Floats, Any]:
        w = u @ Q.T / scale
        return w, intercept - w @ frame.center

    def told(progress: Progress) -> Progress:
        return progress._replace(place=lambda: back(*progress.place()))

    outcome = yield from relayed(fit(small, frame_of(reduced, problem.lifted, problem.seed)), told)
    return _unfold(problem, frame, outcome, Q, scale, back(outcome.weights, outcome.intercept))


def _unfold(
    problem: Problem, frame: Frame, outcome: Outcome, Q: Floats, scale: Floats, ended: tuple[Floats, Any]
) -> Outcome:
    weights, intercept = ended
    if problem.penalty.idle:
        shortest = _shortest(problem, frame, weights, intercept)
        parts = class_separates if weights.ndim == 2 else separates
        if outcome.status != "separated" or parts(problem.rows, *shortest):
            weights, intercept = shortest
        elif not parts(problem.rows, weights, intercept):
            outcome = replace(outcome, status="budget", stalled=True)
    found = outcome.bounds
    if found is not None:
        reach = found.spread[..., :-1] @ np.abs(Q).T / scale
        if problem.penalty.idle:  # the shortest weights are a projection of these: no longer, but turned
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
    centred = problem.rows.gathered().dense() - frame.center
    level = intercept + weights @ frame.center
    found: Floats = np.linalg.lstsq(centred, centred @ weights.T, rcond=None)[0].T.astype(np.float64)
    return found, level - found @ frame.center


def _aliased(problem: Problem, frame: Frame) -> np.ndarray:
    """The columns that the intercept and the columns before them explain."""
    Z = frame.coordinates(problem.rows.gathered().dense())
    d = frame.center.size
    order = np.append(d, np.arange(d)) if frame.lifted else np.arange(d)
    size = np.append(np.abs(frame.center) / frame.scale + 1, [1.0] * frame.lifted)
    with one_blas_thread():
        found = dependence(Z[:, order], 64 * EPS * size[order] * np.sqrt(len(Z)))
    return order[found.aliased][order[found.aliased] < d]
