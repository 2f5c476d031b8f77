"""The online perceptron: every row once, predicted before it is learnt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...fitting.scan.class_stream import ClassStream
from ...fitting.scan.perceptron import NotFiniteScoreError, PerceptronState
from ...fitting.scan.run import Course
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.mistake_bound import MistakeBound
from ...results.mistake_log import MistakeLog
from ...results.verdict import Rank, Verdict
from ..base import LinearClassifier
from ..checks.rows import check_lengths, checked_rows, not_finite, unchanged_on_failure
from ..checks.targets import checked_targets, labels_of
from . import words as words
from .base import Prepared, Update, checked_manner, column_names
from .bound import bound_of
from .online_record import read_record, record_of


class OnlinePerceptron(LinearClassifier):
    """Each row once: predict ŷ; where it is wrong, w ← w + ηyx, b ← b + ηy.  [001 slide 24]

    `fit` makes one pass; `partial_fit` goes on with more rows; any chopping of the same rows gives the same weights,
    bit for bit. A class competes from its first row on, whenever that comes, so nothing need be known beforehand. Of
    K classes the weights of a row's own class rise by ηx, and those of the strongest other class fall.  [004 §4.5]

    Parameters
    ----------
    learning_rate, ties, fit_intercept : as in `Perceptron`
        While only one class was seen, and two were not announced, a score of zero is a mistake whatever `ties` says.

    Attributes
    ----------
    classes_, coef_, intercept_, rule_, verdict_, n_features_in_, feature_names_in_ : as elsewhere
    progressive_mistakes_ : int
        Rows that were wrong when they came: predicted first, learnt then. A score of zero counts as `ties` says; the
        first row of a third or later class counts, that of the second only if it was taken for the first.
    n_steps_ : int
        Rows seen.

    Examples
    --------
    >>> model = OnlinePerceptron()
    >>> _ = model.partial_fit([[0.0, 1.0], [1.0, 0.0]], ["left", "right"])
    >>> _ = model.partial_fit([[2.0, 0.0], [-1.0, -1.0]], ["right", "below"])
    >>> model.classes_.tolist(), model.progressive_mistakes_, model.n_steps_
    (['below', 'left', 'right'], 3, 4)
    >>> again = OnlinePerceptron.from_dict(model.to_dict())
    >>> bool((again.coef_ == model.coef_).all())
    True
    """

    verdict_: Verdict

    def __init__(self, *, learning_rate: float = 1.0, ties: str = "mistake", fit_intercept: bool = True) -> None:
        self.learning_rate = learning_rate
        self.ties = ties
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> OnlinePerceptron:
        """Forget everything, and learn from each row once, in order."""
        with unchanged_on_failure(self):
            rows, labels, classes = self._checked(X, y)
            self._learn(rows, labels, ClassStream.begin(rows.shape[1], classes))
            return self._judge(rows, labels)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlinePerceptron:
        """Go on with these rows, in order; after `fit`, from where it ended. Classes never seen before may come.

        They need not be announced. If exactly two are, in the first call, both are there from the start, whichever
        comes first; more than two come into being one by one, with their first rows.
        """
        new = not hasattr(self, "_stream")
        with unchanged_on_failure(self):
            labels = _labels(y)
            rows = checked_rows(self, X, reset=new)
            check_lengths(rows, labels)
            announced = np.unique(labels_of(classes)) if classes is not None else np.empty(0)
            stream = ClassStream.begin(rows.shape[1], announced) if new else self._stream
            check_kind(labels, stream.classes)
            return self._learn(rows, labels, stream)

    def steps(self, X: Any, y: Any) -> Iterator[Update]:
        """The same as `fit`, update by update. Whoever stops reading finds what was learnt so far."""
        with unchanged_on_failure(self):
            rows, labels, classes = self._checked(X, y)
        stream = ClassStream.begin(rows.shape[1], classes)
        for i in range(len(rows)):
            before = stream.state.mistakes
            self._learn(rows[i : i + 1], labels[i : i + 1], stream)
            stream, log = self._stream, self._log
            if stream.state.mistakes > before:
                W, b = self.rule_.weights, self.rule_.intercept
                rival = self.classes_[log.rival[-1]] if len(self.classes_) > 1 else None
                yield Update(
                    i, i, labels[i], rival, np.array(W), np.array(b)[()], stream.state.mistakes, (i + 1) / len(rows)
                )

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: of two, classes_[1] iff the score is > 0; of K the one with the largest score."""
        if hasattr(self, "classes_") and len(self.classes_) == 1:
            return np.repeat(self.classes_, len(self._scores(X)))  # type: ignore[no-any-return]
        return super().predict(X)

    def bound(self, u: Any = None, *, X: Any = None, y: Any = None) -> MistakeBound:
        """((R + D)/γ)²: how many mistakes one pass over the rows can make at the most. See `Perceptron.bound`.

        X and y are all rows that were learnt from, in any order; after one `fit` they need not be given.
        """
        return bound_of(self, u, X, y)

    def to_dict(self) -> dict[str, Any]:
        """All that it takes to go on from here, as plain numbers and strings: JSON keeps them to the last bit."""
        check_is_fitted(self, "rule_")
        return record_of(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> OnlinePerceptron:
        """The learner that `to_dict` wrote down: it goes on as if it had never stopped."""
        parameters, stream, columns, names = read_record(record)
        model = cls(**parameters)
        model._manner = checked_manner(model)
        model.n_features_in_ = columns
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        model._stream, model._log, model._learnt_from = stream, MistakeLog.empty(), None
        return model._keep()

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        rows = checked_rows(self, X, reset=True) if y is not None else checked_rows(self, X, None, reset=True)
        targets = checked_targets(self, y)
        if targets.index is None:
            raise _no_labels()
        check_lengths(rows, targets)
        return rows, targets.classes[targets.index], targets.classes

    def _learn(self, rows: Any, labels: NDArray[Any], stream: ClassStream) -> OnlinePerceptron:
        manner = checked_manner(self)
        first = stream.state.steps == 0
        try:
            stream, log = stream.follow(rows, labels, manner)
        except NotFiniteScoreError:
            raise not_finite(rows, column_names(self, rows.shape[1]), self) from None
        self._stream, self._log, self._manner = stream, log, manner
        self._learnt_from: Any = (rows, labels) if first else None
        return self._keep()

    def _judge(self, rows: Any, labels: NDArray[Any]) -> OnlinePerceptron:
        """After a pass over all rows there is something to be said of the weights."""
        course = replace(self._course(), X=rows, target=np.searchsorted(self.classes_, labels).astype(np.int64))
        prepared = Prepared(course, self.classes_, column_names(self, rows.shape[1]))
        try:
            self.verdict_ = words.conclude(prepared, self.rule_, self.mistakes_, 1.0, "spent", self)
        except NotFiniteScoreError:
            raise not_finite(rows, prepared.columns, self) from None
        return self

    resumes, watched = False, "the weights"

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = words.still_wrong(self.mistakes_, 1.0, rows, "cyclic")
        return (
            f"{stands} The weights at its end err on {mistakes} of {rows} rows.",
            "Perceptron() goes on until a pass makes no mistake; OnlineToBatch(OnlinePerceptron()) lets all vote.",
        )

    def _keep(self) -> OnlinePerceptron:
        stream, state = self._stream, self._stream.state
        self.classes_ = stream.classes
        self.coef_, self.intercept_ = stream.weights()
        self.progressive_mistakes_, self.n_steps_, self.n_passes_ = stream.mistakes, state.steps, 1.0
        self.mistakes_ = np.array([state.mistakes])
        two = len(self.coef_) == 1
        weights = self.coef_[0] if two else self.coef_
        intercept = float(self.intercept_[0]) if two else self.intercept_
        columns = column_names(self, state.weights.shape[1])
        names = tuple(self.classes_) * (2 if len(self.classes_) == 1 else 1)
        self.rule_ = LinearRule(weights, intercept, names, columns)
        said = words.learning(state.steps, stream.mistakes)
        claim = Claim(
            tuple(self.classes_.tolist()), columns, weights, intercept, bool(self.fit_intercept), 0.0,
            (1.0,) * len(self.classes_), math.nan, state.steps, "mistakes",
        )  # fmt: skip
        rank = Rank(None, len(columns) + bool(self.fit_intercept), ())
        self.verdict_ = Verdict("interrupted", rank, None, *said, claim)
        if not hasattr(self, "history_"):
            self.history_: list[Any] = []
        return self

    def _course(self) -> Course:
        """One pass from zero, over rows still to be given."""
        start = PerceptronState.zero(len(self.classes_), self.n_features_in_)
        return Course(None, np.empty(0, np.int64), self._manner, start, "cyclic", 0, 1.0)

    def _learnt_course(self) -> Course:
        if self._learnt_from is None:
            return self._course()
        rows, labels = self._learnt_from
        target = np.searchsorted(self.classes_, labels).astype(np.int64)
        return replace(self._course(), X=rows, target=target)

    def _logged(self, X: Any, y: Any) -> Any:
        """The log of `fit` on these rows, the start, the rate, whether there is an intercept, the classes."""
        self.fit(X, y)
        manner, nothing = self._manner, PerceptronState.zero(len(self.classes_), self.n_features_in_)
        start = (nothing.weights, nothing.intercept) if len(self.classes_) > 2 else (nothing.weights[0], 0.0)
        return self._log, *start, manner.rate, manner.lifted, self.classes_

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_learnt_from": None}  # the rows are the user's, not a part of the model


def _labels(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "OnlinePerceptron requires y to be passed, but the target y is None: give a label for each row."
        )
    if np.ndim(y) > 1 and np.shape(y)[1] != 1:
        raise _no_labels()
    labels = labels_of(y)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise _no_labels()
    return labels


def _no_labels() -> ValueError:
    return ValueError(
        "Unknown label type: continuous. y holds probabilities; OnlinePerceptron needs a label for each row. "
        "LogisticRegression(solver='stochastic') learns from probabilities row by row."
    )


def check_kind(labels: NDArray[Any], known: NDArray[Any]) -> None:
    """Names stay names, and numbers numbers."""
    words_now, words_before = labels.dtype.kind in "OUS", known.dtype.kind in "OUS"
    if known.size and words_now != words_before:
        raise ValueError(
            f"y holds {'names' if words_now else 'numbers'}, such as {labels.tolist()[0]!r}; so far the classes were "
            f"{known.tolist()}: give all labels in one form."
        )
