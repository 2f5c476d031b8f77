"""The perceptron on joint features Φ(x, c)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.maps.joint_rows import Features
from ...fitting.scan.joint_run import JointCourse
from ...fitting.scan.perceptron import Manner, NotFiniteScoreError, PerceptronState
from ...fitting.scan.run import ORDERS, Course, visits
from ...numerics.arrays import Floats
from ...results.mistake_bound import MistakeBound, mistake_bound
from ..checks.rows import check_lengths, checked_choice, checked_number, not_finite, unchanged_on_failure
from ..logistic.settings import seed_of
from ..perceptron.base import ROOM, PassRecord, checked_labels, checked_patience
from ..warnings import BudgetWarning
from .base import MISSING, JointModel, JointRows, given_weights, has_intercept, is_plain, split
from .joint_turns import Turn, joint_turns, leads_and_reach, plain_turns, start_of, tally_of
from .joint_words import claim_of, perceptron_verdict


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


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was given, checked."""

    rows: JointRows
    target: NDArray[np.int64]
    classes: NDArray[Any]
    feature_map: Any
    bound: Any
    names: tuple[str, ...]
    course: JointCourse | Course


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
        η. From weights of zero it changes the length of θ, and no mistake.
    max_passes : float
        How many passes over the rows at the most; fractions are allowed.
    order : "cyclic", "random" or "replacement"
        The rows as they come, in a fresh random order each pass, or drawn at random.
    patience : int or None
        End when θ has not changed for so many steps.
    ties : "mistake", "positive" or "negative"
        What equal scores are while learning: a mistake, a win of the last of the classes, or of the first.
    averaged : bool
        Whether the weights are the mean of those before each step and after the last, not the last.
    init : None or array
        Where θ starts; None is zero.
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
        with unchanged_on_failure(self):
            for _ in self._turns(X, y, ROOM):
                pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[JointUpdate]:
        """The same fit, update by update. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        with unchanged_on_failure(self):
            for turn, classes in self._turns(X, y, 1):
                if len(turn.log):
                    yield JointUpdate(
                        int(turn.log.steps[-1]), int(turn.log.rows[-1]), classes[turn.log.own[-1]],
                        classes[turn.log.rival[-1]], turn.theta, turn.mistakes, turn.passes,
                    )  # fmt: skip

    def bound(self, u: Any = None, *, X: Any = None, y: Any = None) -> MistakeBound:
        """((R + √T D)/γ)² + 2‖θ₀‖√(1 + √T D/R)/(ηγ): how many mistakes T passes over the rows can make at the most.

        R is the largest ‖Φ(x, y) − Φ(x, c)‖, and γ a margin of the direction u: how far u·(Φ(x, y) − Φ(x, c))/‖u‖ is
        above zero for every row and rival c. D says by how much rows fall short of it. Without u it is what was learnt.
        X and y are the rows that were learnt from; they need not be given right after `fit`.
        """
        check_is_fitted(self, "theta_")
        course = self._learnt_from if X is None and y is None else self._course_of(X, y)
        if course is None:
            raise ValueError("The rows that were learnt from are no longer at hand: give them, bound(X=X, y=y).")
        direction = (
            (self.theta_ if self.theta_.any() else np.ones_like(self.theta_))
            if u is None
            else given_weights("u", u, self.theta_.size)
        )
        if not direction.any():
            raise ValueError("u is zero, and points nowhere: give a direction.")
        leads, R = leads_and_reach(course, direction / np.linalg.norm(direction))
        start = float(np.linalg.norm(self._began))
        times = visits(course.order, course.seed, len(leads), self.n_steps_)
        return mistake_bound(leads, R, times, start, self._rate, int(self.mistakes_.sum()))

    def _course_of(self, X: Any, y: Any) -> JointCourse | Course:
        """The course over rows that are given again, in the order of the fit."""
        if X is None or y is None:
            raise ValueError("bound needs both X and y, or neither.")
        return replace(self._prepare(X, y, again=True).course, seed=self._seed, order=self._order)

    # ------------------------------------------------------------------------------------------------------- the run

    def _turns(self, X: Any, y: Any, room: int) -> Iterator[tuple[Turn, NDArray[Any]]]:
        began = time.perf_counter()
        prepared = self._prepare(X, y)
        self.history_: list[PassRecord] = []
        turns = plain_turns(prepared.course, self.averaged, room) if isinstance(prepared.course, Course) else (
            joint_turns(prepared.course, self.averaged, room)
        )  # fmt: skip
        last = None
        try:
            while True:
                try:
                    last = next(turns)
                except StopIteration as end:
                    ended = end.value
                    break
                record = PassRecord(last.passes, last.in_pass, time.perf_counter() - began)
                self.history_[last.pass_number - 1 :] = [record]
                yield last, prepared.classes
            self._keep(prepared, last, ended)
        except NotFiniteScoreError:
            raise self._overflow(prepared) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._keep(prepared, last, "interrupted")
            raise
        if not self.verdict_.ok and not self.averaged:
            warnings.warn(str(self.verdict_), BudgetWarning, stacklevel=3)

    def _overflow(self, prepared: Prepared) -> ValueError:
        if prepared.rows.tabular and is_plain(prepared.feature_map):
            assert prepared.rows.columns is not None
            return not_finite(prepared.rows.X, prepared.rows.columns, self)
        return ValueError("The scores θ·Φ(x, c) overflow: use larger units for the features.")

    def _keep(self, prepared: Prepared, last: Turn | None, ended: str) -> None:
        start = start_of(prepared.course)
        theta = start if last is None else last.read
        found = tally_of(prepared.course, theta)
        if not found.finite and ended != "interrupted":
            raise NotFiniteScoreError
        self.classes_, self.theta_, self.feature_names_ = prepared.classes, theta.copy(), prepared.names
        self.n_passes_, self.n_steps_ = (last.passes, last.steps) if last is not None else (0.0, 0)
        self.mistakes_: NDArray[np.int64] = np.array([record.mistakes for record in self.history_], np.int64)
        claim = claim_of(
            self, prepared.classes, prepared.bound, theta, found.mistakes / len(prepared.target), prepared.rows,
            l2=0.0, objective="mistakes",
        )  # fmt: skip
        self.verdict_ = perceptron_verdict(
            claim,
            found,
            self.mistakes_,
            self.n_passes_,
            ended,
            self.ties,
            prepared.course.order,
            prepared.course.patience,
        )
        self._map, self._bound, self._rate = prepared.feature_map, prepared.bound, float(self.learning_rate)
        self._began, self._seed, self._order = start, prepared.course.seed, prepared.course.order
        self._learnt_from: JointCourse | Course | None = prepared.course

    # -------------------------------------------------------------------------------------------------- what was given

    def _prepare(self, X: Any, y: Any, *, again: bool = False) -> Prepared:
        self._check_settings()
        rows = self._read(X, reset=not again)
        if y is None:
            raise ValueError(MISSING.format(type(self).__name__))
        target, classes = checked_labels(self, y)
        check_lengths(rows, target)
        if again and not np.array_equal(classes, self.classes_):
            raise ValueError(f"y has the classes {classes.tolist()}; this model learnt {self.classes_.tolist()}.")
        labels = tuple(classes.tolist())
        feature_map = self._map if again else self.feature_map
        bound = self._bind(feature_map, labels, rows)
        how = (
            self.order, seed_of(self.random_state, needed=self.order != "cyclic" and not again),
            checked_number("max_passes", self.max_passes, least=0, strict=True), checked_patience(self.patience),
        )  # fmt: skip
        if is_plain(feature_map):
            theta = self._start(len(bound.names))
            W, b = split(theta.reshape(len(labels), -1), feature_map)
            manner, state = (
                Manner(float(self.learning_rate), has_intercept(feature_map), self.ties),
                PerceptronState(W.copy(), b.copy()),
            )
            course = Course(rows.X, target, manner, state, *how)
            return Prepared(rows, target, classes, feature_map, bound, bound.names, course)
        features = Features.of(bound, labels, rows.for_maps)
        theta = self._start(len(features.names))
        joint = JointCourse(features, target, theta, float(self.learning_rate), self.ties, *how)
        return Prepared(rows, target, classes, feature_map, bound, features.names, joint)

    def _check_settings(self) -> None:
        self._check_map()
        for name in ("averaged", "warm_start"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be True or False.")
        rate = checked_number("learning_rate", self.learning_rate, least=0, strict=True)
        if rate > 1:
            raise ValueError(f"learning_rate is {rate!r}; it must lie in (0, 1].")
        checked_choice("order", self.order, tuple(ORDERS))
        checked_choice("ties", self.ties, ("mistake", "positive", "negative"))

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learnt_from" in state:  # the rows are the user's, not a part of the model
            state = {**state, "_learnt_from": None}
        return state
