"""Softmax regression on joint features Φ(x, c)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.maps.joint_rows import Features
from ...data.reading import finite
from ...fitting.joint import JointMinimum, JointOutcome, JointProblem, minimise_joint
from ...fitting.problem import NotFiniteError
from ...fitting.risk.joint import Sample
from ...losses.softmax import ClassLoss, SoftmaxLikelihood, SoftmaxSquared
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp
from ...numerics.threads import one_blas_thread
from ...results.claims import JointClaim
from ...results.limits import TIE
from ...results.proofs import Limit
from ..checks.absent import present, present_objects
from ..checks.rows import (
    check_lengths,
    checked_choice,
    checked_costs,
    checked_number,
    not_finite,
    unchanged_on_failure,
)
from ..checks.targets import Targets, checked_targets, class_costs
from ..history import Record
from ..logistic.settings import seed_of
from ..warnings import BudgetWarning, SeparationWarning
from .base import MISSING, JointModel, JointRows, is_plain
from .joint_closer import look_closer
from .joint_conclusion import interrupted_joint, joint_verdict, seen_closer
from .joint_record import JointStep, record_of, target_and_cost
from .joint_words import claim_of

LOSSES: dict[str, tuple[str, ClassLoss]] = {
    "log": ("likelihood", SoftmaxLikelihood()),
    "squared": ("squared", SoftmaxSquared()),
}
MOST_FEATURES = 4000
"""Features, beyond which their Hessian has no place."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was given, checked."""

    rows: JointRows
    targets: Targets
    feature_map: Any
    bound: Any
    features: Features
    problem: JointProblem
    class_weight: tuple[float, ...]
    objective: str
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
        −log p_y, of probabilities −Σ_c t_c log p_c; or ‖t − p‖².
    l2 : float
        The penalty for each row, beside the *mean* loss. Features that the map calls free (the intercepts of our own
        maps) are left alone. Of two classes with weights of their own LogisticRegression has one vector in place of
        two, so that its l2 is half of this one.
    class_weight : None, "balanced" or dict
        Factors on the costs of the rows of each class.
    tol : float
        The relative gap to be proved.
    max_passes : float
        How many times Φ may be read, by each start.
    starts : int
        For the squared error, which may have several minima: how many descents, the first from `init`, the others from
        random weights.
    init : None or array
        Where θ starts; None is zero.
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
        with unchanged_on_failure(self):
            for _ in self.steps(X, y, sample_weight):
                pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[JointStep]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        began = time.perf_counter()
        prepared = self._prepare(X, y, sample_weight)
        self.history_: list[Record] = []
        self.__dict__.pop("minima_", None)
        latest: JointStep | None = None
        run = minimise_joint(prepared.problem)
        try:
            while True:
                try:
                    with one_blas_thread():
                        progress = next(run)
                except StopIteration as end:
                    self._conclude(end.value, prepared)
                    return
                latest = JointStep(*progress, time.perf_counter() - began)
                self.history_.append(record_of(latest))
                yield latest
        except NotFiniteError:
            raise ValueError("The sums over the features overflow: use larger units for the features.") from None
        except (KeyboardInterrupt, GeneratorExit):
            theta = np.zeros(len(prepared.features.names)) if latest is None else latest.theta
            value, passes = (math.nan, 0.0) if latest is None else (latest.value, latest.passes)
            self._keep(theta, passes, prepared)
            self.verdict_ = interrupted_joint(self._claim(theta, value, prepared), passes)
            raise

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
        features, parts = self._features_of(self._read(X, reset=False)), []
        for rows in features.runs():
            F = features[rows]
            lead, size = F @ u, np.abs(F) @ np.abs(u)
            tied = lead.max(axis=1, keepdims=True) - lead <= TIE * size.max(axis=1, keepdims=True)
            s = np.where(tied, F @ limit.weights, -np.inf)
            parts.append(np.where(tied, np.exp(s - log_sum_exp(s)[:, None]), 0.0))
        return np.concatenate(parts)

    # --------------------------------------------------------------------------------- what was given, what is kept

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        self._check_map()
        objective, loss = LOSSES[checked_choice("loss", self.loss, tuple(LOSSES))]
        l2 = checked_number("l2", self.l2, least=0)
        if checked_number("starts", self.starts, least=1) % 1:
            raise ValueError(f"starts is {self.starts!r}; it must be a whole number.")
        if not isinstance(self.warm_start, bool | np.bool_):
            raise ValueError(f"warm_start is {self.warm_start!r}; it must be True or False.")
        tol = checked_number("tol", self.tol, least=0, strict=True)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        seed = seed_of(self.random_state, needed=False)
        rows = self._read(X, reset=True)
        if y is None:
            raise ValueError(MISSING.format(type(self).__name__))
        targets = checked_targets(self, y)
        check_lengths(rows, targets)
        given = checked_costs(sample_weight, len(rows))
        class_weight = class_costs(self.class_weight, targets, given)
        rows = replace(rows, X=(present if rows.tabular else present_objects)(rows.X, given))
        if is_plain(self.feature_map) and not finite(rows.X):
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
            sample, loss, l2, features.free, tol, max_passes, self._start(len(features.names)), seed, int(self.starts)
        )
        return Prepared(
            rows, targets, self.feature_map, bound, features, problem, class_weight, objective, float(cost.sum())
        )

    def _check_size(self, names: Any) -> None:
        if not callable(names) and len(names) > MOST_FEATURES:
            raise ValueError(
                f"There are {len(names)} features; JointClassifier makes a matrix of them, and takes {MOST_FEATURES} "
                "at the most. Use fewer; where each class has weights of its own, LogisticRegression takes any number."
            )

    def _conclude(self, outcome: JointOutcome, prepared: Prepared) -> None:
        with one_blas_thread():
            closer = look_closer(prepared.problem, outcome)
        outcome = seen_closer(outcome, closer, prepared.problem)
        self._keep(outcome.theta, outcome.passes, prepared)
        claim = self._claim(outcome.theta, outcome.value, prepared)
        self.verdict_ = joint_verdict(outcome, prepared.problem, claim, closer, prepared.total)
        if prepared.objective == "squared":
            self.minima_: tuple[JointMinimum, ...] = outcome.minima
        if not self.verdict_.ok:
            kind = SeparationWarning if outcome.status in ("separated", "quasi-separated") else BudgetWarning
            warnings.warn(str(self.verdict_), kind, stacklevel=4)

    def _keep(self, theta: Floats, passes: float, prepared: Prepared) -> None:
        self.classes_, self.theta_, self.n_passes_ = prepared.targets.classes, theta.copy(), passes
        self.feature_names_, self._bound = prepared.features.names, prepared.bound
        self._map = prepared.feature_map

    def _claim(self, theta: Floats, value: float, prepared: Prepared) -> JointClaim:
        return claim_of(
            self, prepared.targets.classes, prepared.bound, theta, value, prepared.rows, l2=prepared.problem.l2,
            objective=prepared.objective, free=prepared.features.free, class_weight=prepared.class_weight,
            soft=prepared.targets.soft,
        )  # fmt: skip
