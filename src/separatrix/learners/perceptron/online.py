"""The online perceptron: every row once, predicted before it is learnt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...errors import DataError
from ...fitting.scan.class_stream import ClassStream
from ...fitting.scan.perceptron import NotFiniteScoreError, PerceptronState
from ...fitting.scan.perceptron_scan import Course
from ...fitting.scan.run import Passes
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.mistake_log import MistakeBound, MistakeLog
from ...results.verdict import Rank, Verdict
from ..base import Card, LinearClassifier
from ..checks.rows import check_lengths, checked_rows, names_of, not_finite, unchanged_on_failure
from ..checks.settings import checked_numbers
from ..checks.targets import checked_targets, labels_of
from . import words
from .base import Update, bound_of
from .training import Training, check_kind, checked_update, no_labels, stream_labels

VERSION = 1
"""Of the record that `to_dict` writes."""
COUNTS = ("columns", "steps", "run", "mistakes", "missed")
"""Its fields that are whole numbers."""
FIELDS = ("parameters", "names", "classes", "weights", "intercept", "unit", *COUNTS)
"""Its fields."""
PARAMETERS = ("learning_rate", "ties", "fit_intercept")
"""The learner's parameters, as it names them."""
LARGEST_COUNT = 1 << 62
"""Above this no count is believed."""


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

    card = Card("online", course="", path_unit="mistakes that were corrected")

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
            labels = stream_labels(self, y)
            rows = checked_rows(self, X, reset=new)
            check_lengths(len(rows), len(labels))
            announced = np.unique(labels_of(classes)) if classes is not None else np.empty(0)
            stream = ClassStream.begin(rows.shape[1], announced) if new else self._stream
            check_kind(labels, stream.classes)
            return self._learn(rows, labels, stream)

    def steps(self, X: Any, y: Any) -> Iterator[Update]:
        """Fit as `fit` does, and yield each update. After an early stop the learner holds what it learnt so far."""
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

        X and y are all training rows, in any order; after one `fit` they need not be given.
        """
        return bound_of(self, u, X, y)

    def to_dict(self) -> dict[str, Any]:
        """All that it takes to go on from here, as plain numbers and strings: JSON keeps them to the last bit."""
        check_is_fitted(self, "rule_")
        return _record_of(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> OnlinePerceptron:
        """The learner that `to_dict` wrote down: it goes on as if it had never stopped."""
        parameters, stream, columns, names = _read_record(record)
        model = cls(**parameters)
        model._update = checked_update(model)
        model.n_features_in_ = columns
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        model._stream, model._log, model._learnt_from = stream, MistakeLog.empty(), None
        return model._keep()

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        rows = checked_rows(self, X, reset=True)
        targets = checked_targets(self, y)
        if targets.index is None:
            raise no_labels(self)
        check_lengths(len(rows), len(targets))
        return rows, targets.classes[targets.index], targets.classes

    def _learn(self, rows: Any, labels: NDArray[Any], stream: ClassStream) -> OnlinePerceptron:
        update = checked_update(self)
        first = stream.state.steps == 0
        try:
            stream, log = stream.follow(rows, labels, update)
        except NotFiniteScoreError:
            raise not_finite(rows, names_of(self, rows.shape[1]), self) from None
        self._stream, self._log, self._update = stream, log, update
        self._learnt_from: Any = (rows, labels) if first else None
        return self._keep()

    def _judge(self, rows: Any, labels: NDArray[Any]) -> OnlinePerceptron:
        """After a pass over all rows there is something to be said of the weights."""
        course = replace(self._course(), X=rows, target=np.searchsorted(self.classes_, labels).astype(np.int64))
        training = Training(course, self.classes_, names_of(self, rows.shape[1]))
        try:
            self.verdict_ = words.conclude(training, self.rule_, self.mistakes_, 1.0, "spent", self)
        except NotFiniteScoreError:
            raise not_finite(rows, training.columns, self) from None
        return self

    resumes, watched = False, "the weights"

    def _not_separated(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = words.still_wrong(self.mistakes_, 1.0, rows, "cyclic")
        return (
            f"{stands} The weights at its end err on {mistakes} of {rows} rows.",
            words.all_vote("rules"),
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
        columns = names_of(self, state.weights.shape[1])
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
        return Course(None, np.empty(0, np.int64), self._update, start, Passes("cyclic", 0, 1.0))

    def _learnt_course(self) -> Course:
        if self._learnt_from is None:
            return self._course()
        rows, labels = self._learnt_from
        target = np.searchsorted(self.classes_, labels).astype(np.int64)
        return replace(self._course(), X=rows, target=target)

    def _logged(self, X: Any, y: Any) -> Any:
        """The log of `fit` on these rows, the start, the rate, whether there is an intercept, the classes."""
        self.fit(X, y)
        update, nothing = self._update, PerceptronState.zero(len(self.classes_), self.n_features_in_)
        start = (nothing.weights, nothing.intercept) if len(self.classes_) > 2 else (nothing.weights[0], 0.0)
        return self._log, *start, update.rate, update.lifted, self.classes_

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_learnt_from": None}  # the rows are the user's, not a part of the model


def _record_of(model: Any) -> dict[str, Any]:
    """All that it takes to go on."""
    stream, names = model._stream, getattr(model, "feature_names_in_", None)
    return {
        "kind": "OnlinePerceptron",
        "version": VERSION,
        "parameters": {
            "learning_rate": float(model.learning_rate),
            "ties": model.ties,
            "fit_intercept": bool(model.fit_intercept),
        },
        "columns": int(model.n_features_in_),
        "names": None if names is None else [str(name) for name in names],
        "classes": stream.classes.tolist(),
        "weights": stream.state.weights.tolist(),
        "intercept": stream.state.intercept.tolist(),
        "unit": float(stream.unit),
        "steps": int(stream.state.steps),
        "run": int(stream.state.run),
        "mistakes": int(stream.state.mistakes),
        "missed": int(stream.missed),
    }


def _read_record(record: Any) -> tuple[dict[str, Any], ClassStream, int, list[str] | None]:
    """Parameters, where it stood, how many columns, and their names."""
    _check(record)
    state = PerceptronState(
        checked_numbers("weights", record["weights"]), checked_numbers("intercept", record["intercept"]),
        record["steps"], record["run"], record["mistakes"],
    )  # fmt: skip
    stream = ClassStream(np.array(record["classes"]), state, record["unit"], record["missed"])
    return dict(record["parameters"]), stream, record["columns"], record["names"]


def _check(record: Any) -> None:
    if not isinstance(record, dict) or record.get("kind") != "OnlinePerceptron":
        raise DataError("This is no record of an OnlinePerceptron: give what to_dict() returned.")
    if record.get("version") != VERSION:
        raise DataError(f"The record has version {record.get('version')!r}; this program reads version {VERSION}.")
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise DataError(f"The record lacks {missing[0]!r}: give what to_dict() returned, unchanged.")
    if not isinstance(record["parameters"], dict) or sorted(record["parameters"]) != sorted(PARAMETERS):
        raise DataError(f"The record's parameters must be {', '.join(PARAMETERS)}; they are {record['parameters']!r}.")
    for name in COUNTS:
        if type(record[name]) is not int or not 0 <= record[name] < LARGEST_COUNT:
            raise DataError(f"The record's {name} is {record[name]!r}; it must be a whole number of at least 0.")
    if type(record["unit"]) is not float or not 0 < record["unit"] <= 1:
        raise DataError(f"The record's unit is {record['unit']!r}; it must lie in (0, 1].")
    _check_classes(record["classes"])
    _check_names(record["names"], record["columns"])
    K, shape = len(record["classes"]), np.shape(record["weights"])
    if shape != (K if K > 2 else 1, record["columns"]) or np.shape(record["intercept"]) != shape[:1]:
        raise DataError(f"The record has {K} classes and weights of shape {shape}: they do not fit together.")
    if record["parameters"]["fit_intercept"] is False and np.any(record["intercept"]):
        raise DataError("The record has an intercept, and its parameters say that there is none.")


def _check_classes(classes: Any) -> None:
    plain = isinstance(classes, list) and all(isinstance(label, str | int | float) for label in classes)
    if not plain or len({isinstance(label, str) for label in classes}) != 1:
        raise DataError(f"The record's classes are {classes!r}; they must be a list of names, or one of numbers.")
    if classes != np.unique(classes).tolist():
        raise DataError(f"The record's classes are {classes!r}; they must be different, and in order.")


def _check_names(names: Any, columns: int) -> None:
    if names is None:
        return
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"The record's names are {names!r}; they must be a list of words, or None.")
    if len(names) != columns or len(set(names)) < len(names):
        raise DataError(f"The record names {len(set(names))} columns and has {columns}: each needs a name of its own.")
