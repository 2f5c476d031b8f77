"""Softmax regression on joint features Φ(x, c)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.maps.joint_rows import Features
from ...errors import DataError, Refusal
from ...fitting.joint import JointMinimum, JointOutcome, JointProblem, minimise_joint
from ...fitting.problem import NotFiniteError
from ...fitting.risk.joint import Sample
from ...losses.penalty import ridge
from ...losses.softmax import ClassLoss, SoftmaxLikelihood, SoftmaxSquared
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp
from ...numerics.threads import one_blas_thread
from ...results.claims import JointClaim
from ...results.linear_rule import TIE, LimitRule
from ...results.proofs import Limit
from ..base import Card, Record
from ..checks.rows import check_lengths, checked_costs, new_columns, not_finite, present, present_objects
from ..checks.settings import (
    checked_choice,
    checked_count,
    checked_flags,
    checked_number,
    seed_of,
)
from ..checks.targets import Targets, checked_targets, class_costs
from ..warnings import BudgetWarning, SeparationWarning
from .base import JointModel, JointTraining, check_given, is_plain, split
from .conclusion import after_closer_look, claim_of, interrupted_joint, joint_verdict, look_closer

LOSSES: dict[str, tuple[str, ClassLoss]] = {
    "log": ("likelihood", SoftmaxLikelihood()),
    "squared": ("squared", SoftmaxSquared()),
}
MOST_FEATURES = 4000
"""Features, beyond which their Hessian has no place."""


class JointStep(NamedTuple):
    """Where a fit stands after a pass over the rows."""

    theta: Floats
    value: float
    gradient_norm: float
    step: float
    passes: float
    negative_curvature: bool
    start: int
    seconds: float


def record_of(step: JointStep) -> Record:
    """The line of `history_` for a step."""
    return Record(
        step.passes, step.value, step.gradient_norm, step.step, step.seconds, step.negative_curvature, step.start
    )


@dataclass(frozen=True, eq=False)
class ClassifierTraining(JointTraining):
    """The training rows, and what is to be minimised over them."""

    problem: JointProblem
    objective: str
    soft: bool
    """Whether the targets are probabilities."""
    class_weight: tuple[float, ...]
    total: float
    """The cost of all rows."""


class JointClassifier(JointModel):
    """argmin over θ of (1/C) Σᵢ cᵢ ℓ(softmax(θ·Φ(xᵢ, ·)), yᵢ) + (l2/2)‖θ‖²,  C = Σᵢcᵢ.  [004 §4.5]

    Every fit ends with a verdict: *optimal* (of the squared error *local*), with a bound on its distance from the
    minimum that `verdict_.check(X, y)` recomputes; *separated* or *quasi-separated*, where maximum likelihood has no
    finite answer; or *budget*, with the reason. Scales of the features do not matter unless there is a penalty.

    Parameters
    ----------
    feature_map : None, a map of `separatrix.joint`, or a function
        feature_map(X, c) gets all rows and a class, and returns rows × p numbers, the same p for every class; see
        `separatrix.joint`. None is Separate(), (x, 1) ⊗ e_c: softmax regression with symmetric weights. X may be a
        list of objects if the map can read them. Beyond 256 MB the map is asked again on each pass.
    loss : "log" or "squared"
        What a row costs. −log p_y, of probabilities −Σ_c t_c log p_c; or ‖t − p‖².
    l2 : float
        The penalty, (l2/2)‖w‖² beside the *mean* loss. Features that the map calls free (the intercepts of our own
        maps) are left alone. Of two classes with weights of their own LogisticRegression has one vector in place of
        two, so that its l2 is half of this one.
    class_weight : None, "balanced" or dict {class: factor}
        Factors on the costs of the rows of each class.
    tol : float
        The relative gap to be proved.
    max_passes : float
        How many passes over the rows at the most. Each start has so many.
    starts : int
        How many descents, where there may be several minima. For the squared error: the first from `init`, the others
        from random weights.
    init : None or array
        Where the weights start. None is zero.
    random_state : int, RandomState or None
        The seed of random starts.
    warm_start : bool
        Start from the weights of the last fit.

    Attributes
    ----------
    theta_ : array of p weights
        Of weights with the same scores the shortest, in the features that are not free first.
    feature_names_ : tuple of str
    weights_ : dict, θ by the names of the features
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    verdict_ : Verdict
    history_ : list of (passes, value, gradient_norm, step, seconds, negative_curvature, start), one a step
    n_passes_ : float
    minima_ : tuple of (value, theta, starts)
        Of the squared error: every minimum found, lowest first.

    Examples
    --------
    >>> from separatrix.joint import rowwise
    >>> words, ends = ["cats", "dogs", "ox", "axes", "fish"], ["many", "many", "one", "many", "one"]
    >>> phi = rowwise(lambda w, c: [w.endswith("s") * (c == "many"), c == "one"], names=["-s", "one"])
    >>> model = JointClassifier(phi, l2=0.1).fit(words, ends)
    >>> model.verdict_.status, model.predict(["cows"]).tolist(), model.weights_["-s"] > 0
    ('optimal', ['many'], True)
    """

    card = Card("joint")

    def __init__(
        self,
        feature_map: Any = None,
        *,
        loss: str = "log",
        l2: float = 0.0,
        class_weight: Any = None,
        tol: float = 1e-10,
        max_passes: float = 200,
        starts: int = 10,
        init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.loss = loss
        self.l2 = l2
        self.class_weight = class_weight
        self.tol = tol
        self.max_passes = max_passes
        self.starts = starts
        self.init = init
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> JointClassifier:
        """Fit the weights; `verdict_` says how it ended."""
        for _ in self.steps(X, y, sample_weight):
            pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[JointStep]:
        """Fit, and yield after each pass. The attributes are set even after an early stop or Ctrl-C."""
        began = time.perf_counter()
        training = self._prepare(X, y, sample_weight)
        history: list[Record] = []
        latest: JointStep | None = None
        run = minimise_joint(training.problem)
        try:
            while True:
                try:
                    with one_blas_thread():
                        progress = next(run)
                except StopIteration as end:
                    self._conclude(end.value, training, history)
                    return
                latest = JointStep(*progress, time.perf_counter() - began)
                history.append(record_of(latest))
                yield latest
        except NotFiniteError:
            raise DataError("The sums over the features overflow: use larger units for the features.") from None
        except (KeyboardInterrupt, GeneratorExit):
            theta = np.zeros(len(training.names)) if latest is None else latest.theta
            value, passes = (math.nan, 0.0) if latest is None else (latest.value, latest.passes)
            verdict = interrupted_joint(self._claim(theta, value, training), passes)
            self._set(training, theta, n_passes_=passes, verdict_=verdict, history_=history, _minima=None)
            raise

    @property
    def minima_(self) -> tuple[JointMinimum, ...]:
        """Of the squared error: every minimum found, lowest first."""
        if getattr(self, "_minima", None) is None:
            raise AttributeError("minima_ is there after a finished fit with loss='squared'.")
        return self._minima  # type: ignore[no-any-return]

    @property
    def limit_rule(self) -> LimitRule:
        """Where the weights go after *quasi-separated*, where each class has weights of its own."""
        ends = (self.verdict_.separability.certificate.weights, self.verdict_.certificate.weights)  # type: ignore[union-attr]
        U, V = (split(np.asarray(each).reshape(len(self.classes_), -1), self._map) for each in ends)
        return LimitRule(*U, *V)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score, of equals the first; after *quasi-separated* the likeliest in the limit."""
        check_is_fitted(self, "theta_")
        if self.verdict_.status != "quasi-separated":
            return super().predict(X)
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """P(c | x) = exp(s_c)/Σₖ exp(sₖ), s_c = θ·Φ(x, c).  [004 §4.5]

        After *separated* it is the limit of that as the weights grow: 0, 1, or an equal share at a tie. After
        *quasi-separated* too: 0 and 1 where the direction of growth tells classes apart, else what the limit leaves.
        """
        s = self._scores(X)
        if self.verdict_.status == "quasi-separated":
            return self._limit(X)
        if self.verdict_.status == "separated":
            top = s == s.max(axis=1, keepdims=True)
            return top / top.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
        return np.exp(s - log_sum_exp(s)[:, None])  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(c | x), without underflow."""
        check_is_fitted(self, "theta_")
        if self.verdict_.status in ("separated", "quasi-separated"):
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))  # type: ignore[no-any-return]
        s = self._scores(X)
        return s - log_sum_exp(s)[:, None]  # type: ignore[no-any-return]

    def _limit(self, X: Any) -> Floats:
        """lim P(c | x) for θ = v + tu, t → ∞: the softmax of v among the classes with the largest score of u."""
        limit, u = self.verdict_.certificate, self.verdict_.separability.certificate.weights
        assert isinstance(limit, Limit)
        features, parts = self._features_of(self._read(X)), []
        for rows in features.runs():
            F = features[rows]
            lead, size = F @ u, np.abs(F) @ np.abs(u)
            tied = lead.max(axis=1, keepdims=True) - lead <= TIE * size.max(axis=1, keepdims=True)
            s = np.where(tied, F @ limit.weights, -np.inf)
            parts.append(np.where(tied, np.exp(s - log_sum_exp(s)[:, None]), 0.0))
        return np.concatenate(parts)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> ClassifierTraining:
        self._check_map()
        objective, loss = LOSSES[checked_choice("loss", self.loss, tuple(LOSSES))]
        l2, starts = checked_number("l2", self.l2, least=0), checked_count("starts", self.starts)
        checked_flags(self, "warm_start")
        tol = checked_number("tol", self.tol, least=0, strict=True)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        seed = seed_of(self.random_state, needed=False)
        new = new_columns(type(self).__name__)
        rows = self._read(X, new)
        check_given(self, y)
        targets = checked_targets(self, y)
        check_lengths(len(rows), len(targets))
        given = checked_costs(sample_weight, len(rows))
        class_weight = class_costs(self.class_weight, targets, given)
        rows = replace(rows, X=(present if rows.tabular else present_objects)(rows.X, given))
        if is_plain(self.feature_map) and not rows.X.finite():
            assert rows.columns is not None
            raise not_finite(rows.X, rows.columns, self)
        labels = tuple(targets.classes.tolist())
        bound = self._bind(self.feature_map, labels, rows)
        self._check_size(getattr(bound, "names", ()))
        features = Features.of(bound, labels, rows.for_maps)
        self._check_size(features.names)
        target, cost = target_and_cost(targets, given, class_weight)
        counts = np.flatnonzero(cost > 0)
        every = counts.size == cost.size
        sample = Sample(features if every else features.some(counts), target[counts], cost[counts] / cost.sum())
        problem = JointProblem(
            sample, loss, ridge(l2), features.free, tol, max_passes, self._start(len(features.names)), seed, starts
        )
        return ClassifierTraining(
            rows, targets.classes, self.feature_map, bound, features.names, new, problem, objective, targets.soft,
            class_weight, float(cost.sum()),
        )  # fmt: skip

    def _check_size(self, names: Any) -> None:
        if not callable(names) and len(names) > MOST_FEATURES:
            raise Refusal(
                f"There are {len(names)} features; JointClassifier makes a matrix of them, and takes {MOST_FEATURES} "
                "at the most. Use fewer; where each class has weights of its own, LogisticRegression takes any number."
            )

    def _conclude(self, outcome: JointOutcome, training: ClassifierTraining, history: list[Record]) -> None:
        with one_blas_thread():
            closer = look_closer(training.problem, outcome)
        outcome = after_closer_look(outcome, closer, training.problem)
        claim = self._claim(outcome.theta, outcome.value, training)
        verdict = joint_verdict(outcome, training.problem, claim, closer, training.total)
        if not verdict.ok:
            kind = SeparationWarning if outcome.status in ("separated", "quasi-separated") else BudgetWarning
            warnings.warn(kind(verdict), stacklevel=4)
        minima = outcome.minima if training.objective == "squared" else None
        self._set(training, outcome.theta, n_passes_=outcome.passes, verdict_=verdict, history_=history, _minima=minima)

    def _claim(self, theta: Floats, value: float, training: ClassifierTraining) -> JointClaim:
        return claim_of(
            training, theta, value, l2=training.problem.penalty.strength, objective=training.objective,
            free=training.problem.free, class_weight=training.class_weight, soft=training.soft,
        )  # fmt: skip


def target_and_cost(targets: Targets, cost: Floats, class_weight: tuple[float, ...]) -> tuple[NDArray[Any], Floats]:
    """The class of each row or its probabilities, and its cost, class weights multiplied in."""
    factors, cost = np.array(class_weight), cost if cost.size else np.ones(len(targets))
    if targets.index is not None:
        index = np.asarray(targets.index, dtype=np.intp)
        return index, cost * factors[index]
    assert targets.probability is not None
    split = targets.probability * factors * cost[:, None]
    total = split.sum(axis=1)
    share = np.where(total[:, None] > 0, split, targets.probability) / np.where(total > 0, total, 1.0)[:, None]
    return share, total
