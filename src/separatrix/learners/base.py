"""What all linear classifiers share once they have learnt, and the record of how a fit went."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp, sigmoid, softplus
from ..numerics.threads import one_blas_thread
from ..results.linear_rule import LimitRule, LinearRule
from ..results.verdict import Verdict
from .checks.rows import checked_rows, not_finite

Item = TypeVar("Item")


class Record(NamedTuple):
    """One line of `history_`."""

    passes: float
    value: float
    gradient_norm: float
    step: float
    seconds: float
    negative_curvature: bool = False
    """Whether the Hessian had a negative eigenvalue there; of the solvers only Newton's on squared error looks."""
    start: int = 0
    """Which of the starts, where there are several."""


class Step(NamedTuple):
    """Where a fit stands after a pass over the rows."""

    weights: Floats
    intercept: Any
    value: float
    gradient_norm: float
    step: float
    passes: float
    moved_by: str
    negative_curvature: bool
    start: int
    seconds: float


class MarginStep(NamedTuple):
    """Where the search for the largest margin stands after a pass over the rows."""

    weights: Floats
    intercept: float
    lower: float
    """The margin of these weights; negative while they do not separate the classes."""
    upper: float
    """No rule has a larger margin."""
    passes: float
    working: int
    """How many rows were looked at between the passes."""
    seconds: float


class MarginRecord(NamedTuple):
    """One line of `history_` of a margin."""

    passes: float
    lower: float
    upper: float
    working: int
    seconds: float


def record_of_margin(step: MarginStep) -> MarginRecord:
    """The line of `history_` for a step."""
    return MarginRecord(step.passes, step.lower, step.upper, step.working, step.seconds)


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """ŷ = classes_[1] where xᵀw + b > 0, else classes_[0]; of K classes ŷ = argmaxₖ xᵀwₖ + bₖ."""

    rule_: LinearRule
    verdict_: Verdict

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def deciding_rule(self) -> Any:
        """What decides, a `LinearRule` here: by its type a model file knows what to hold."""
        return self.rule_

    @property
    def limit_rule(self) -> LimitRule:
        """Where the weights go as they grow, after *quasi-separated*."""
        return LimitRule.of(self.verdict_)

    def decision_function(self, X: Any) -> Floats:
        """xᵀw + b for each row: the log-odds of classes_[1] where the model has a likelihood, else the score.

        Of K classes n×K, the score of each, xᵀwₖ + bₖ.
        """
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the score is > 0; of K classes the one with the largest score."""
        scores = self._scores(X)
        return self.classes_[self.rule_._winner(scores)]  # type: ignore[no-any-return]

    def distance(self, X: Any) -> Floats:
        """d = (xᵀw + b)/‖w‖: the signed distance of each row from the boundary.

        Of K classes d ≥ 0: the distance of each row from the boundary of the region of its own class.
        """
        scores = self._scores(X)
        return self.rule_._distance(scores)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "rule_")
        rows = self._readable(X)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = self.rule_.score(rows)
        if not np.isfinite(scores).all():
            raise not_finite(rows, self.rule_.columns, self)
        return scores

    def _readable(self, X: Any) -> Any:
        """X as the rule reads it."""
        return checked_rows(self, X, reset=False)


class GenerativeClassifier(LinearClassifier):
    """ŷ = argmaxₖ p(x | k) p(k): the scores are log-odds of two classes, of K log p(x | k) p(k) but for a constant."""

    def predict_proba(self, X: Any) -> Floats:
        """P(k | x) = p(x | k) p(k)/p(x): σ of the log-odds, of K classes the softmax.  [000 §8.3.2; 003 slide 8]"""
        z = self._scores(X)
        if z.ndim == 2:
            return np.exp(z - log_sum_exp(z)[:, None])  # type: ignore[no-any-return]
        return np.column_stack([sigmoid(-z), sigmoid(z)])

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(k | x), without underflow."""
        z = self._scores(X)
        if z.ndim == 2:
            return z - log_sum_exp(z)[:, None]  # type: ignore[no-any-return]
        return -np.column_stack([softplus(z), softplus(-z)])


# What the command line, reports and pages need to know of a learner beside its signature and its documentation.


@dataclass(frozen=True)
class Card:
    """Stands on the class of each learner, as `card`."""

    command: str
    """Its name after --learner, or after --reduction."""
    course: str = "steps"
    """The method that a fit is watched by; none where its steps are single mistakes or rows."""
    path_unit: str = ""
    """What is counted along the path of its weights; none where no path is shown."""
    no_path: str = ""
    """Why no path is shown, in a sentence."""
    reduces: bool = False
    """Whether it learns several classes by learners of two."""


IN_ONE_GO = "It computes its answer in one go, from counts, means or a system of equations: no path leads there."
SEVERAL_PATHS = "It is made of several learners, each of which goes its own way."


def released(run: Generator[Item, None, None]) -> Iterator[Item]:
    """The steps of a fit; between them, while their reader works, BLAS has its threads back."""
    try:
        while True:
            with one_blas_thread():
                step = next(run, None)
            if step is None:
                return
            yield step
    finally:
        run.close()
