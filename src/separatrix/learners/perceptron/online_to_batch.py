"""Online-to-batch conversion: all the classifiers that an online learner had in hand vote."""

from __future__ import annotations

import copy
import inspect
import numbers
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...errors import DataError, SettingError, SettingTypeError
from ...numerics.arrays import Floats
from ...results.committee import Committee, CopiedCommittee, LinearCommittee, LoggedCommittee, Weights, index_of
from ...results.votes import Ballot
from ...wording import call
from ..checks.rows import check_lengths, checked_rows, names_of, not_finite, rows_to_learn, set_fitted
from ..checks.targets import Targets, checked_targets

PROBED_ROWS = 256
"""Rows on which a learner that counts as linear predicts what its weights say."""


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
        That of `learner_`, if it has one. Nothing is proved of the vote beyond the bound above.

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

    _committee: Committee

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
        tail = _checked_tail(self.tail)
        learner = _checked_learner(self.learner)
        rows, read, names = rows_to_learn(self, X)
        targets = checked_targets(self, y)
        if targets.soft:
            raise DataError(
                "Unknown label type: continuous. y holds probabilities; a vote needs a class for each row: give labels."
            )
        check_lengths(len(rows), len(targets))
        classes = targets.classes
        self._check_finite(rows, names)
        try:
            if hasattr(learner, "_logged") and len(classes) == 2:
                committee, mistakes, classes = _logged_classifiers(learner, X, y, rows, tail)
            else:
                committee, mistakes = kept_classifiers(learner, rows, targets, tail)
        except OverflowError:
            raise not_finite(rows, names, self) from None
        set_fitted(
            self, read, classes_=classes, learner_=learner, progressive_mistakes_=mistakes, votes_=committee.votes,
            n_passes_=1.0, _committee=committee,
        )  # fmt: skip
        return self

    @property
    def verdict_(self) -> Any:
        """The verdict of `learner_`, if it has one."""
        return self.learner_.verdict_

    @property
    def deciding_rule(self) -> Any:
        """A `Ballot`, or another `Committee`."""
        return getattr(self._committee, "ballot", self._committee)

    def decision_function(self, X: Any) -> Floats:
        """Σₜ f̂ₜ(x) / (number of votes), in [−1, 1], f̂ₜ(x) = ±1; of K classes n×K, the share of the votes of each."""
        rows = self._known_rows(X)
        try:
            return self._committee.tally(rows)
        except OverflowError:
            raise not_finite(rows, names_of(self, self.n_features_in_), self) from None

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
        check_lengths(len(rows), len(labels))
        try:
            return self._committee.errors(rows, index_of(labels, self.classes_))
        except OverflowError:
            raise not_finite(rows, names_of(self, self.n_features_in_), self) from None

    def _known_rows(self, X: Any) -> Any:
        check_is_fitted(self, "learner_")
        rows = checked_rows(self, X, reset=False)
        self._check_finite(rows, names_of(self, self.n_features_in_))
        return rows

    def _check_finite(self, rows: Any, names: tuple[str, ...]) -> None:
        if not rows.finite():
            raise not_finite(rows, names, self)


def _checked_tail(tail: Any) -> float:
    if not isinstance(tail, numbers.Real) or not 0 < float(tail) <= 1:
        raise SettingError(
            "tail", tail,
            "it must be a number above 0 and at most 1: the share of the classifiers that vote, for example 0.5 for "
            "the last half of them.",
        )  # fmt: skip
    return float(tail)


def _checked_learner(learner: Any) -> Any:
    """A clone of the learner, one that learns row by row."""
    name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
    if isinstance(learner, type):
        needed = f"OnlineToBatch needs a learner: OnlineToBatch({name}())."
        raise SettingTypeError("learner", learner, needed, f"learner is the class {name};")
    try:
        learner.partial_fit  # noqa: B018  it may refuse, and say why
    except AttributeError as error:
        why = f" {error.__cause__}" if error.__cause__ is not None else ""
        example = call("LogisticRegression(solver='stochastic', learning_rate=0.1)")
        raise SettingTypeError(
            "learner", learner,
            f"OnlineToBatch needs one that learns row by row, for example {example}.{why}",
            f"learner is {name}, which has no partial_fit;",
        ) from error  # fmt: skip
    return clone(learner, safe=False)


def _logged_classifiers(learner: Any, X: Any, y: Any, rows: Any, tail: float) -> tuple[Committee, int, NDArray[Any]]:
    """A learner that keeps a mistake log hands it over: its classifiers are sums over the log.

    `learner._logged(X, y)` sees the rows once, in their order, and returns the log, the weights and the intercept
    before the first row, the rate, whether mistakes move the intercept, and the classes.
    """
    log, start, intercept, rate, lifted, classes = learner._logged(X, y)
    ballot = Ballot.of(log, rows, start, intercept, rate, lifted, len(classes), tail)
    return LoggedCommittee(ballot), int(getattr(learner, "progressive_mistakes_", len(log))), classes


def kept_classifiers(learner: Any, rows: Any, targets: Targets, tail: float) -> tuple[Committee, int]:
    """f̂₁, …, f̂ₙ₊₁, or the last of them, and how often f̂ₜ was wrong on row t."""
    n, labels, index = len(rows), targets.classes, targets.index
    assert index is not None
    first = n + 1 - max(1, int(tail * (n + 1)))
    once = {"classes": labels} if _takes_classes(learner) else {}
    learner.partial_fit(rows[:1].plain(), labels[index[:1]], **once)
    linear = bool(once) and _is_linear(learner, rows, labels)
    keeper: Keeper = (
        _WeightKeeper(learner, first, labels, rows.shape[1]) if linear else _CopyKeeper(learner, first, labels)
    )
    mistakes = int(index[0] != 0)
    for t in range(1, n):
        keeper.take(t)
        mistakes += keeper.say(rows[t : t + 1]) != index[t]
        learner.partial_fit(rows[t : t + 1].plain(), labels[index[t : t + 1]])
    keeper.take(n)
    return keeper.committee(), int(mistakes)


class Keeper(Protocol):
    """Keeps the classifiers of a learner, from the one in hand before row `first` on, rows counted from zero."""

    def take(self, t: int) -> None:
        """Look at the classifier in hand before row t > 0, and keep it if it votes."""

    def say(self, row: Any) -> int:
        """What that classifier says of a row."""

    def committee(self) -> Committee:
        """All that were kept."""


class _WeightKeeper:
    """Keeps weights, equal neighbours once."""

    def __init__(self, learner: Any, first: int, labels: NDArray[Any], columns: int) -> None:
        self.learner, self.first, self.classes = learner, first, len(labels)
        self.kept = [Weights.nothing(len(labels), columns)] if first == 0 else []
        self.votes = [1] * len(self.kept)

    def take(self, t: int) -> None:
        self.now = Weights.of(self.learner)
        if t < self.first:
            return
        if self.kept and self.now.same(self.kept[-1]):
            self.votes[-1] += 1
            return
        self.kept.append(self.now)
        self.votes.append(1)

    def say(self, row: Any) -> int:
        return int(self.now.say(row)[0])

    def committee(self) -> Committee:
        return LinearCommittee(self.kept, self.votes, self.classes)


class _CopyKeeper:
    """Keeps copies of the learner."""

    def __init__(self, learner: Any, first: int, labels: NDArray[Any]) -> None:
        self.learner, self.first, self.labels = learner, first, labels
        self.kept: list[Any] = [None] if first == 0 else []

    def take(self, t: int) -> None:
        if t >= self.first:
            self.kept.append(copy.deepcopy(self.learner))

    def say(self, row: Any) -> int:
        return int(index_of(self.learner.predict(row.plain()), self.labels)[0])

    def committee(self) -> Committee:
        return CopiedCommittee(self.kept, self.labels)


def _takes_classes(learner: Any) -> bool:
    given = inspect.signature(learner.partial_fit).parameters.values()
    return any(each.name == "classes" or each.kind is each.VAR_KEYWORD for each in given)


def _is_linear(learner: Any, rows: Any, labels: NDArray[Any]) -> bool:
    """Whether it has weights, and predicts what they say: if in doubt not, for a copy serves any learner."""
    if not (hasattr(learner, "coef_") and hasattr(learner, "intercept_")):
        return False
    weights, nothing = Weights.of(learner), Weights.nothing(len(labels), rows.shape[1])
    if weights.W.shape != nothing.W.shape or weights.b.shape != nothing.b.shape:
        return False
    some = rows[:PROBED_ROWS]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array_equal(labels[weights.say(some)], learner.predict(some.plain()))
