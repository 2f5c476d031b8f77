"""Online-to-batch conversion: all the classifiers that an online learner had in hand vote."""

from __future__ import annotations

import copy
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...data import Sparse
from ...numerics.arrays import Floats
from ...results.committee import Committee, LoggedCommittee, index_of
from ...results.votes import Ballot
from ..checks.rows import check_lengths, checked_rows, not_finite, unchanged_on_failure
from ..checks.targets import checked_targets
from .onlooker import watched

LOOKED_AT = 4096
"""Rows that are looked at at once for NaN."""


class OnlineToBatch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """f̂(x) = +1 if Σₜ f̂ₜ(x) > 0, else −1, over the classifiers f̂₁, …, f̂ₙ₊₁ of an online learner.  [001 slide 27]

    The learner sees the rows one at a time, each once, in their order (shuffle them first if it means something). f̂ₜ is
    the classifier in hand before row t, f̂ₙ₊₁ the one after the last; f̂₁ has seen nothing and predicts the first class.
    The majority of them errs at most twice as often as they do on average, on whatever rows. Of K classes the one with
    the most votes is predicted; ties go to the first class.

    Parameters
    ----------
    learner : estimator with `partial_fit`
        Any online classifier, of this library, of scikit-learn or your own. It is cloned, never changed. Linear ones
        (with `coef_` and `intercept_`) are kept as weights, others as copies.
    tail : float
        Only the last ⌊tail · (n + 1)⌋ of the classifiers vote, one at the least.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    learner_ : estimator
        The learner after the last row.
    progressive_mistakes_ : int
        How often f̂ₜ was wrong on row t, before it learnt from it; of `OnlinePerceptron` and two classes, what it calls
        a mistake, a score of zero included.
    votes_ : array of int
        How many of the classifiers each distinct one stands for: neighbours that are equal are kept once.
    verdict_ : Verdict
        That of `learner_`, if it has one. Of the vote nothing is proved but what is said above.

    Examples
    --------
    >>> from sklearn.linear_model import Perceptron
    >>> X, y = [[1.0], [1.0], [-3.0], [2.0]], [1, 1, 0, 1]
    >>> model = OnlineToBatch(Perceptron()).fit(X, y)
    >>> model.votes_.tolist(), model.progressive_mistakes_
    ([1, 4], 1)
    >>> model.decision_function([[1.0], [-1.0]]).tolist()
    [0.6, -1.0]
    """

    def __init__(self, learner: Any, tail: float = 1.0) -> None:
        self.learner = learner
        self.tail = tail

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.learner, "__sklearn_tags__"):
            its = get_tags(self.learner)
            tags.input_tags.sparse, tags.non_deterministic = its.input_tags.sparse, its.non_deterministic
            if its.classifier_tags is not None:
                tags.classifier_tags = copy.deepcopy(its.classifier_tags)
        return tags

    def fit(self, X: Any, y: Any) -> OnlineToBatch:
        """Let the learner see the rows one by one, and keep the classifiers."""
        with unchanged_on_failure(self):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> OnlineToBatch:
        tail = _checked_tail(self.tail)
        learner = _checked_learner(self.learner)
        rows = checked_rows(self, X, reset=True) if y is not None else checked_rows(self, X, None, reset=True)
        targets = checked_targets(self, y)
        if targets.soft:
            raise ValueError(
                "Unknown label type: continuous. y holds probabilities; a vote needs a class for each row: give labels."
            )
        check_lengths(rows, targets)
        self._check_finite(rows)
        self.classes_ = targets.classes
        self._committee: Committee
        try:
            if hasattr(learner, "_logged") and len(targets.classes) == 2:
                self._committee, self.progressive_mistakes_ = self._log(learner, X, y, rows, tail)
            else:
                self._committee, self.progressive_mistakes_ = watched(learner, rows, targets, tail)
        except OverflowError:
            raise not_finite(rows, self._columns(), self) from None
        self.learner_, self.votes_, self.n_passes_ = learner, self._committee.votes, 1.0
        self.__dict__.pop("verdict_", None)
        if hasattr(learner, "verdict_"):
            self.verdict_ = learner.verdict_
        return self

    def decision_function(self, X: Any) -> Floats:
        """Σₜ f̂ₜ(x) / (number of votes), in [−1, 1], f̂ₜ(x) = ±1; of K classes n×K, the share of the votes of each."""
        rows = self._known_rows(X)
        try:
            return self._committee.tally(rows)
        except OverflowError:
            raise not_finite(rows, self._columns(), self) from None

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes; of equals the first."""
        tally = self.decision_function(X)
        winner = tally.argmax(axis=1) if tally.ndim == 2 else (tally > 0).astype(np.intp)
        return self.classes_[winner]  # type: ignore[no-any-return]

    def errors(self, X: Any, y: Any) -> Floats:
        """err(f̂ₜ): the share of these rows that each classifier gets wrong, in the order of `votes_`.

        Their mean is np.average(errors, weights=votes_), and that of the vote is at most twice as large.
        """
        rows = self._known_rows(X)
        labels = column_or_1d(np.asarray(y))
        check_lengths(rows, labels)
        try:
            return self._committee.errors(rows, index_of(labels, self.classes_))
        except OverflowError:
            raise not_finite(rows, self._columns(), self) from None

    def _log(self, learner: Any, X: Any, y: Any, rows: Any, tail: float) -> tuple[Committee, int]:
        """A learner that keeps a mistake log hands it over: its classifiers are sums over the log.

        `learner._logged(X, y)` sees the rows once, in their order, and returns the log, the weights and the intercept
        before the first row, the rate, whether mistakes move the intercept, and the classes.
        """
        log, start, intercept, rate, lifted, self.classes_ = learner._logged(X, y)
        ballot = Ballot.of(log, rows, start, intercept, rate, lifted, len(self.classes_), tail)
        return LoggedCommittee(ballot), int(getattr(learner, "progressive_mistakes_", len(log)))

    def _known_rows(self, X: Any) -> Any:
        check_is_fitted(self, "learner_")
        rows = checked_rows(self, X, reset=False)
        self._check_finite(rows)
        return rows

    def _columns(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(map(str, names))

    def _check_finite(self, rows: Any) -> None:
        sparse = isinstance(rows, Sparse)
        parts = (rows[lo : lo + LOOKED_AT] for lo in range(0, len(rows), LOOKED_AT))
        if not all(part.finite() if sparse else np.isfinite(part).all() for part in parts):
            raise not_finite(rows, self._columns(), self)


def _checked_tail(tail: Any) -> float:
    if not isinstance(tail, numbers.Real) or not 0 < float(tail) <= 1:
        raise ValueError(
            f"tail is {tail!r}; it must be a number above 0 and at most 1: the share of the classifiers that vote, "
            "for example 0.5 for the last half of them."
        )
    return float(tail)


def _checked_learner(learner: Any) -> Any:
    """A clone of the learner, one that learns row by row."""
    name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
    if isinstance(learner, type):
        raise TypeError(f"learner is the class {name}; OnlineToBatch needs a learner: OnlineToBatch({name}()).")
    try:
        learner.partial_fit  # noqa: B018  it may refuse, and say why
    except AttributeError as error:
        why = f" {error.__cause__}" if error.__cause__ is not None else ""
        raise TypeError(
            f"learner is {name}, which has no partial_fit; OnlineToBatch needs one that learns row by row, for example "
            f"LogisticRegression(solver='stochastic', learning_rate=0.1).{why}"
        ) from error
    return clone(learner, safe=False)
