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
from ...fitting.scan.perceptron import NotFiniteScoreError, PerceptronState, UpdateRule
from ...fitting.scan.perceptron_scan import Course
from ...fitting.scan.run import Passes
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.mistake_log import MistakeBound, MistakeLog
from ...results.verdict import Rank, Verdict
from ..base import Card, LinearClassifier
from ..checks.rows import check_lengths, names_of, new_columns, not_finite, rows_to_learn, set_fitted
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
        rows, labels, stream, read, columns = self._begun(X, y)
        found = self._learnt(rows, labels, stream, columns)
        set_fitted(self, read, **found | {"verdict_": self._judged(found, rows, labels)})
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlinePerceptron:
        """Go on with these rows, in order; after `fit`, from where it ended. Classes never seen before may come.

        They need not be announced. If exactly two are, in the first call, both are there from the start, whichever
        comes first; more than two come into being one by one, with their first rows.
        """
        new = not hasattr(self, "_stream")
        labels = stream_labels(self, y)
        rows, read, columns = rows_to_learn(self, X, new=new)
        check_lengths(len(rows), len(labels))
        announced = np.unique(labels_of(classes)) if classes is not None else np.empty(0)
        stream = ClassStream.begin(rows.shape[1], announced) if new else self._stream
        check_kind(labels, stream.classes)
        set_fitted(self, read, **self._learnt(rows, labels, stream, columns))
        return self

    def steps(self, X: Any, y: Any) -> Iterator[Update]:
        """Fit as `fit` does, and yield each update. After an early stop the learner holds what it learnt so far."""
        rows, labels, stream, read, columns = self._begun(X, y)
        found: dict[str, Any] = {}
        try:
            for i in range(len(rows)):
                before = stream.state.mistakes
                found = self._learnt(rows[i : i + 1], labels[i : i + 1], stream, columns)
                stream, rule, rivals = found["_stream"], found["rule_"], found["_log"].rival
                if stream.state.mistakes > before:
                    rival = stream.classes[rivals[-1]] if len(stream.classes) > 1 else None
                    W, b = np.array(rule.weights), np.array(rule.intercept)[()]
                    yield Update(i, i, labels[i], rival, W, b, stream.state.mistakes, (i + 1) / len(rows))
        except (KeyboardInterrupt, GeneratorExit):
            if found:
                set_fitted(self, read, **found)
            raise
        set_fitted(self, read, **found)

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
        read = new_columns(cls.__name__)
        read.n_features_in_ = columns
        if names is not None:
            read.feature_names_in_ = np.array(names, dtype=object)
        found = model._reached(stream, names_of(read, columns))
        set_fitted(model, read, **found, _log=MistakeLog.empty(), _update=checked_update(model), _learnt_from=None)
        return model

    def _begun(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], ClassStream, Any, tuple[str, ...]]:
        """The rows, their labels, the stream before the first; and the columns, for `set_fitted` and by name."""
        rows, read, columns = rows_to_learn(self, X)
        targets = checked_targets(self, y)
        if targets.index is None:
            raise no_labels(self)
        check_lengths(len(rows), len(targets))
        stream = ClassStream.begin(rows.shape[1], targets.classes)
        return rows, targets.classes[targets.index], stream, read, columns

    def _learnt(self, rows: Any, labels: NDArray[Any], stream: ClassStream, columns: tuple[str, ...]) -> dict[str, Any]:
        """The attributes after these rows. A scan copies the weights, which is cheap beside what a call costs."""
        update = checked_update(self)
        try:
            after, log = stream.follow(rows, labels, update)
        except NotFiniteScoreError:
            raise not_finite(rows, columns, self) from None
        learnt_from = (rows, labels) if stream.state.steps == 0 else None
        return {**self._reached(after, columns), "_log": log, "_update": update, "_learnt_from": learnt_from}

    def _reached(self, stream: ClassStream, columns: tuple[str, ...]) -> dict[str, Any]:
        """The attributes that the stream alone decides."""
        classes, steps = stream.classes, stream.state.steps
        W, b = stream.weights()
        weights, intercept = (W[0], float(b[0])) if len(W) == 1 else (W, b)
        rule = LinearRule(weights, intercept, tuple(classes) * (2 if len(classes) == 1 else 1), columns)
        said = words.learning(steps, stream.mistakes)
        claim = Claim(
            tuple(classes.tolist()), columns, weights, intercept, bool(self.fit_intercept), 0.0, (1.0,) * len(classes),
            math.nan, steps, "mistakes",
        )  # fmt: skip
        rank = Rank(None, len(columns) + bool(self.fit_intercept), ())
        return {
            "classes_": classes, "coef_": W, "intercept_": b, "rule_": rule, "n_steps_": steps, "n_passes_": 1.0,
            "progressive_mistakes_": stream.mistakes, "mistakes_": np.array([stream.state.mistakes]), "history_": [],
            "verdict_": Verdict("interrupted", rank, None, *said, claim), "_stream": stream,
        }  # fmt: skip

    def _judged(self, found: dict[str, Any], rows: Any, labels: NDArray[Any]) -> Verdict:
        """After a pass over all rows there is something to be said of the weights."""
        rule, classes = found["rule_"], found["classes_"]
        training = Training(_course(classes, found["_update"], rows, labels), classes, rule.columns, None)
        try:
            return words.conclude(training, rule, found["mistakes_"], 1.0, "spent", self)
        except NotFiniteScoreError:
            raise not_finite(rows, rule.columns, self) from None

    resumes, watched = False, "the weights"

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        return f"{stands} The weights at its end err {errs}.", words.all_vote("rules")

    def _learnt_course(self) -> Course:
        if self._learnt_from is None:
            return replace(_course(self.classes_, self._update, self.coef_[:0], self.classes_[:0]), X=None)
        return _course(self.classes_, self._update, *self._learnt_from)

    def _logged(self, X: Any, y: Any) -> Any:
        """The log of `fit` on these rows, the start, the rate, whether there is an intercept, the classes."""
        self.fit(X, y)
        update, nothing = self._update, PerceptronState.zero(len(self.classes_), self.n_features_in_)
        start = (nothing.weights, nothing.intercept) if len(self.classes_) > 2 else (nothing.weights[0], 0.0)
        return self._log, *start, update.rate, update.lifted, self.classes_

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_learnt_from": None}  # the rows are the user's, not a part of the model


def _course(classes: NDArray[Any], update: UpdateRule, rows: Any, labels: NDArray[Any]) -> Course:
    """One pass from zero."""
    target, start = np.searchsorted(classes, labels).astype(np.int64), PerceptronState.zero(len(classes), rows.shape[1])
    return Course(rows, target, update, start, Passes("cyclic", 0, 1.0))


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
