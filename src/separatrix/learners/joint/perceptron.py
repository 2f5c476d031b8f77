"""The perceptron on joint features Φ(x, c)."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.maps.joint_rows import Features
from ...errors import DataError, Refusal, SettingError
from ...fitting.scan.joint_scan import JointCourse, JointScan
from ...fitting.scan.perceptron import ROOM, TIES, NotFiniteScoreError, PerceptronState, UpdateRule
from ...fitting.scan.perceptron_scan import Average, Course, PerceptronScan, Reading
from ...fitting.scan.run import Passes, Run
from ...fitting.scan.tally import Tally, tally
from ...numerics.arrays import Floats
from ...results.mistake_log import MistakeBound, leads_of, longest, mistake_bound
from ..base import Card
from ..checks.rows import check_lengths, new_columns
from ..checks.settings import checked_choice, checked_flags
from ..perceptron.training import checked_labels, checked_learning_rate, checked_passes
from ..warnings import BudgetWarning
from .base import JointModel, JointTraining, check_given, given_weights, has_intercept, is_plain, split
from .conclusion import claim_of, perceptron_verdict


class JointUpdate(NamedTuple):
    """A mistake, and the weights that it led to."""

    step: int
    """How many rows had been looked at before, over all passes."""
    row: int
    """The row of X that caused it."""
    label: Any
    """Its class."""
    rival: Any
    """The class it was taken for."""
    theta: Floats
    """After the update."""
    mistakes: int
    """So far, this one counted."""
    passes: float


class PlainCourse(Course):
    """The course of the plain perceptron, each class with weights of its own: Φ is not written out."""

    def stacked(self, W: Floats, b: Floats) -> Floats:
        """θ of W and b."""
        return (np.column_stack([W, b]) if self.update.lifted else W).ravel()

    @property
    def theta(self) -> Floats:
        """Where it starts."""
        return self.stacked(self.start.weights, self.start.intercept)

    def begin(self, *, averaged: bool) -> PlainScan:
        """The scan at the start."""
        return PlainScan(self, averaged=averaged)

    def tally(self, theta: Floats) -> Tally:
        """Mistakes and separation; the margin in units of ‖θ‖."""
        U, lifted = theta.reshape(len(self.start.weights), -1), self.update.lifted
        W, b = (U[:, :-1], U[:, -1]) if lifted else (U, np.zeros(len(U)))
        found = tally(self.X, self.target, np.ascontiguousarray(W), np.ascontiguousarray(b))
        if not found.separated:
            return found
        length = float(np.linalg.norm(U))
        return found._replace(margin=float(leads_of(self.X, self.target, U, lifted).min()) / length)

    def leads_and_reach(self, u: Floats) -> tuple[Floats, float]:
        """The least lead of each row under u, and a bound on ‖Φ(x, y) − Φ(x, c)‖."""
        U, lifted = u.reshape(len(self.start.weights), -1), self.update.lifted
        return leads_of(self.X, self.target, U, lifted), longest(self.X, lifted) * math.sqrt(2)


class PlainScan(PerceptronScan):
    """The scan of such a course, its weights read as θ."""

    course: PlainCourse

    def __init__(self, course: PlainCourse, *, averaged: bool) -> None:
        super().__init__(course, Average if averaged else Reading)

    @property
    def theta(self) -> Floats:
        """The last weights."""
        return self.course.unit * self.course.stacked(self.state.weights, self.state.intercept)

    @property
    def read(self) -> Floats:
        """The weights as they are read: the last, or the mean of all."""
        return self.course.unit * self.course.stacked(*self.reading.weights())


@dataclass(frozen=True, eq=False)
class PerceptronTraining(JointTraining):
    """The training rows, and the course over them."""

    course: JointCourse | PlainCourse


class JointPerceptron(JointModel):
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)) wherever a class ŷ is as strong as y, until a pass makes no mistake.  [004 §4.5]

    The scores are θ·Φ(x, c), with one vector θ for all classes: related classes may share weights, and classes may have
    features that others lack. ŷ is the strongest class other than y. With Φ(x, c) = x ⊗ e_c it is the plain perceptron
    of K classes.

    Parameters
    ----------
    feature_map : None, a map of `separatrix.joint`, or a function
        feature_map(X, c) gets all rows and a class, and returns rows × p numbers, the same p for every class; see
        `separatrix.joint`. None is Separate(), (x, 1) ⊗ e_c. X may be a list of objects if the map can read them.
    learning_rate : float in (0, 1]
        The length of a step, η. From weights of zero it changes the length of θ, and no mistake.
    max_passes : float
        How many passes over the rows at the most. Fractions are allowed.
    order : "cyclic", "random" or "replacement"
        How a pass takes the rows, one at a time. As they come, in a fresh random order each pass, or drawn at random.
    patience : int or None
        End after so many steps without a change.
    ties : "mistake", "positive" or "negative"
        What a tie is while learning. Equal scores are a mistake, a win of the last of the classes, or of the first.
    averaged : bool
        Whether the weights are the mean of those before each step and after the last, not the last.
    init : None or array
        Where the weights start. None is zero.
    random_state : int, RandomState or None
        The seed of random orders.
    warm_start : bool
        Start from the weights of the last fit.

    Attributes
    ----------
    theta_ : array of p weights
    feature_names_ : tuple of str
    weights_ : dict, θ by the names of the features
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    verdict_ : Verdict
    mistakes_ : array of int, mistakes in each pass
    history_ : list of (passes, mistakes, seconds), one a pass
    n_passes_, n_steps_ : passes, and rows looked at

    Examples
    --------
    >>> from separatrix.joint import Shared
    >>> X, y = [[3, 1], [3, 0], [1, 1], [1, 0]], ["poodle", "beagle", "cat", "cat"]
    >>> model = JointPerceptron(Shared({"dog": ["poodle", "beagle"]})).fit(X, y)
    >>> model.verdict_.status, model.verdict_.check(X, y), model.weights_["dog: x0"] > 0
    ('separated', True, True)
    """

    card = Card("joint-perceptron", course="")

    def __init__(
        self,
        feature_map: Any = None,
        *,
        learning_rate: float = 1.0,
        max_passes: float = 1000,
        order: str = "cyclic",
        patience: int | None = None,
        ties: str = "mistake",
        averaged: bool = False,
        init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.averaged = averaged
        self.init = init
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any) -> JointPerceptron:
        """Learn from the rows; `verdict_` says how it ended."""
        for _ in self._run(X, y, ROOM):
            pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[JointUpdate]:
        """Fit as `fit` does, and yield each update. The attributes are set even after an early stop or Ctrl-C."""
        for classes, scan, run in self._run(X, y, 1):
            log = scan.log
            if len(log):
                yield JointUpdate(
                    int(log.steps[-1]), int(log.rows[-1]), classes[log.own[-1]], classes[log.rival[-1]], scan.theta,
                    scan.mistakes, run.passes,
                )  # fmt: skip

    def bound(self, u: Any = None, *, X: Any = None, y: Any = None) -> MistakeBound:
        """((R + √T D)/γ)² + 2‖θ₀‖√(1 + √T D/R)/(ηγ): how many mistakes T passes over the rows can make at the most.

        R is the largest ‖Φ(x, y) − Φ(x, c)‖, and γ a margin of the direction u: how far u·(Φ(x, y) − Φ(x, c))/‖u‖ is
        above zero for every row and rival c. D says by how much rows fall short of it. Without u it is what was learnt.
        X and y are the training rows; right after `fit` they need not be given.
        """
        check_is_fitted(self, "theta_")
        course = self._learnt_from if X is None and y is None else self._course_of(X, y)
        if course is None:
            raise Refusal("The training rows are no longer at hand: give them, bound(X=X, y=y).")
        direction = (
            (self.theta_ if self.theta_.any() else np.ones_like(self.theta_))
            if u is None
            else given_weights("u", u, self.theta_.size)
        )
        if not direction.any():
            raise SettingError("u", u, "give a direction.", "u is zero, and points nowhere:")
        leads, R = course.leads_and_reach(direction / np.linalg.norm(direction))
        times, start = self._passes.visits(len(leads), self.n_steps_), float(np.linalg.norm(self._began))
        return mistake_bound(leads, R, times, start, self._rate, int(self.mistakes_.sum()))

    def _course_of(self, X: Any, y: Any) -> JointCourse | PlainCourse:
        """The course over rows that are given again."""
        if X is None or y is None:
            raise DataError("bound needs both X and y, or neither.")
        return self._prepare(X, y, again=True).course

    def _run(self, X: Any, y: Any, room: int) -> Iterator[tuple[NDArray[Any], JointScan | PlainScan, Run]]:
        began = time.perf_counter()
        training = self._prepare(X, y)
        scan = training.course.begin(averaged=bool(self.averaged))
        run = Run(scan, training.course.passes, room, began)
        try:
            for _ in run:
                yield training.classes, scan, run
            self._keep(training, scan, run)
        except NotFiniteScoreError:
            raise self._overflow(training.rows, training.feature_map) from None
        except (KeyboardInterrupt, GeneratorExit):
            run.ended = "interrupted"
            self._keep(training, scan, run)
            raise

    def _keep(self, training: PerceptronTraining, scan: JointScan | PlainScan, run: Run) -> None:
        course, theta = training.course, scan.read
        found = course.tally(theta)
        if not found.finite and run.ended != "interrupted":
            raise NotFiniteScoreError
        mistakes = np.array([record.mistakes for record in run.history], np.int64)
        claim = claim_of(training, theta, found.mistakes / len(course.target), l2=0.0, objective="mistakes")
        verdict = perceptron_verdict(claim, found, mistakes, run, self.ties)
        if not (verdict.ok or self.averaged or run.ended == "interrupted"):
            warnings.warn(BudgetWarning(verdict), stacklevel=4)
        self._set(
            training, theta, n_passes_=run.passes, n_steps_=scan.steps, mistakes_=mistakes, history_=run.history,
            verdict_=verdict, _began=course.theta, _passes=course.passes, _rate=float(self.learning_rate),
            _learnt_from=course,
        )  # fmt: skip

    def _prepare(self, X: Any, y: Any, *, again: bool = False) -> PerceptronTraining:
        """The course over the training rows; `again`, over those of the last fit, in the order that it had."""
        self._check_map()
        checked_flags(self, "averaged", "warm_start")
        rate, ties = checked_learning_rate(self.learning_rate), checked_choice("ties", self.ties, tuple(TIES))
        passes: Passes = self._passes if again else checked_passes(self)
        new = None if again else new_columns(type(self).__name__)
        rows = self._read(X, new)
        check_given(self, y)
        target, classes = checked_labels(self, y)
        check_lengths(len(rows), len(target))
        if again and not np.array_equal(classes, self.classes_):
            raise DataError(
                f"has the classes {classes.tolist()}; this model learnt {self.classes_.tolist()}.", array="y"
            )
        labels, feature_map = tuple(classes.tolist()), self._map if again else self.feature_map
        bound = self._bind(feature_map, labels, rows)
        if is_plain(feature_map):
            theta = self._start(len(bound.names))
            W, b = split(theta.reshape(len(labels), -1), feature_map)
            update = UpdateRule(rate, has_intercept(feature_map), ties)
            course = PlainCourse(rows.X, target, update, PerceptronState(W.copy(), b.copy()), passes)
            return PerceptronTraining(rows, classes, feature_map, bound, bound.names, new, course)
        features = Features.of(bound, labels, rows.for_maps)
        joint = JointCourse(features, target, self._start(len(features.names)), rate, ties, passes)
        return PerceptronTraining(rows, classes, feature_map, bound, features.names, new, joint)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learnt_from" in state:  # the rows are the user's, not a part of the model
            state = {**state, "_learnt_from": None}
        return state
