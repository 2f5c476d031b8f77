"""Whether probabilities are what they say: of rows with p = 0.8, eight in ten should be positive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...fitting.solvers.descent import Point, State, minimum
from ...fitting.solvers.newton import OwnStep
from ...numerics.arrays import Floats
from .confusion import one_class
from .intervals import Better, Measure, clustered_square, proportion, quantile
from .predictions import Predictions

STEPS = 100
"""The most Newton steps of a logistic fit."""
SETTLED = 1e-10
"""The step, relative to the weights, where they end."""


@dataclass(frozen=True)
class Bin:
    """Rows whose probability lies in [low, high): the mean probability, and the share that was positive."""

    low: float
    high: float
    rows: int
    predicted: float
    observed: Measure

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"from": self.low, "to": self.high, "rows": self.rows, "predicted": self.predicted,
                "observed": self.observed.value, "low": self.observed.low, "high": self.observed.high}  # fmt: skip


def calibration_table(given: Predictions, level: float = 0.95, bins: int = 10) -> tuple[Bin, ...]:
    """Bins of about as many rows each, with Wilson's interval of the share that was positive.

    Of K classes it is the class that was chosen: its probability, and how often it was right.
    """
    if given.probabilities is None or not given.rows:
        return ()
    two = len(given.classes) == 2
    p = given.probabilities[:, given.positive] if two else given.probabilities[np.arange(given.rows), given.chosen]
    true = (given.truth == given.positive).astype(float) if two else given.hit
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)))
    which = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, max(len(edges) - 2, 0))
    found = []
    for k in range(max(len(edges) - 1, 1)):
        rows = (which == k) & (given.w > 0)
        if not rows.any():
            continue
        w, clusters = given.w[rows], None if given.clusters is None else given.clusters[rows]
        low, high, method, why = proportion(true[rows], w, level, clusters, given.weights is not None)
        share = Measure("observed", float(w @ true[rows] / w.sum()), low, high, level, method, why=why)
        found.append(Bin(float(edges[k]), float(edges[min(k + 1, len(edges) - 1)]), int(rows.sum()),
                         float(w @ p[rows] / w.sum()), share))  # fmt: skip
    return tuple(found)


class LogitFit(NamedTuple):
    """A coefficient of a logistic fit, and each row's part in its error: the error is Σψᵢ, to first order."""

    value: float
    parts: Floats


def calibration_intercept(given: Predictions, level: float) -> Measure:
    """a of logit P(y) = a + logit p: above zero, positive rows are more frequent than the probabilities say."""
    return _measure("calibration_intercept", given, fitted_intercept(given), level, "nearer 0")


def calibration_slope(given: Predictions, level: float) -> Measure:
    """b of logit P(y) = a + b logit p: below one, the probabilities are too extreme, as after overfitting."""
    return _measure("calibration_slope", given, fitted_slope(given), level, "nearer 1")


def fitted_intercept(given: Predictions) -> LogitFit | str:
    """a with the slope held at one; or why there is none."""
    logits = log_odds(given)
    return logits if isinstance(logits, str) else _fitted(given, np.ones((given.rows, 1)), logits)


def fitted_slope(given: Predictions) -> LogitFit | str:
    """b, the intercept fitted with it; or why there is none."""
    logits = log_odds(given)
    if isinstance(logits, str):
        return logits
    used = given.w > 0
    yes, no = (logits[used & side] for side in (given.truth == given.positive, given.truth != given.positive))
    if np.ptp(logits[used]) == 0:
        return "all rows have the same probability"
    if yes.min() >= no.max() or yes.max() <= no.min():
        return "the probabilities separate the classes in these rows, so that the slope has no finite value"
    return _fitted(given, np.column_stack([logits, np.ones(given.rows)]), 0 * logits)


def log_odds(given: Predictions) -> Floats | str:
    """log P(positive)/(1 − P(positive)) of each row; or why there are none."""
    if len(given.classes) != 2:
        return "it is of two classes"
    logs = given.log_probabilities
    if logs is None:
        return "there are no probabilities"
    if len(given.present) < 2:
        return one_class(given)
    if not np.isfinite(logs[given.w > 0]).all():
        return "a probability is exactly 0 or 1, whose log-odds are infinite"
    return np.where(np.isfinite(logs).all(axis=1), np.diff(logs[:, [1 - given.positive, given.positive]])[:, 0], 0.0)


def _measure(name: str, given: Predictions, found: LogitFit | str, level: float, better: Better) -> Measure:
    """θ̂ ± z√V, V = Σψᵢ², which is the sandwich H⁻¹MH⁻¹; over clusters the sums of their rows are squared."""
    if isinstance(found, str):
        return Measure(name, None, level=level, better=better, why=found)
    used = given.w > 0
    variance = clustered_square(found.parts, None if given.clusters is None else given.clusters[used], used)
    if not math.isfinite(variance):
        return Measure(name, found.value, level=level, better=better, why="one group alone gives no interval")
    half = quantile(level) * math.sqrt(variance)
    how = "normal interval of the logistic fit, sandwich variance" + " by groups" * (given.clusters is not None)
    return Measure(name, found.value, found.value - half, found.value + half, level, how, better)


def _fitted(given: Predictions, A: Floats, offset: Floats) -> LogitFit | str:
    """The first of θ̂ in logit P(y) = o + aᵀθ by Newton's steps, halved until the loss falls; ψᵢ = −H⁻¹∇ᵢ."""
    y, w = (given.truth == given.positive).astype(float), given.w / given.w.sum()

    def loss(theta: Floats, _: Any) -> Point:
        z = offset + A @ theta
        p = _expit(z)
        H = (A * (w * p * (1 - p))[:, None]).T @ A
        return Point(float(w @ (np.logaddexp(0, z) - y * z)), (w * (p - y)) @ A, H)

    def step(theta: Floats, at: Point) -> Floats:
        return -np.linalg.lstsq(at.hessian, at.gradient, rcond=None)[0]  # type: ignore[no-any-return]

    def settled(state: State) -> bool:
        size = np.abs(step(state.v, state.at)).max()
        return bool(size <= SETTLED * (1 + np.abs(state.v).max()))

    found = minimum(loss, np.zeros(A.shape[1]), OwnStep(step), settled, STEPS)
    if not found.settled:
        return f"its fit has not settled after {STEPS} steps"
    theta, p = found.state.v, _expit(offset + A @ found.state.v)
    slopes = A * (w * (p - y))[:, None]
    return LogitFit(float(theta[0]), -(slopes @ np.linalg.pinv(found.state.at.hessian))[:, 0])


def _expit(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))
