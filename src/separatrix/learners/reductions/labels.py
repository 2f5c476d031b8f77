"""Overlapping classes: a binary classifier for each label, asked by itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...errors import DataError
from ...numerics.arrays import Floats
from ...results.claims import ReductionClaim
from ...results.linear_rule import LinearRule
from ...results.verdict import Verdict, listed
from ..checks.rows import names_of, new_columns, row_count, set_fitted
from ..logistic.side_by_side import Task
from .members import (
    MetaLearner,
    check_jobs,
    check_learner,
    checked_weights,
    gathered_warnings,
    gives_probabilities,
    linear_rules,
    probability_of,
    scores_of,
    teach,
)
from .reduction import verdict_of_members, warning_kind

Labels = Any
TOGETHER = 64
"""Labels whose columns are written out at a time."""


class MultiLabel(MetaLearner):
    """ŷₗ = 1[sₗ(x) > 0] for each label l by itself, so that a row may have several, or none.  [000 §8.4]

    Parameters
    ----------
    estimator : learner
        Any learner of two classes with decision_function or predict_proba: ours, or scikit-learn's.
    n_jobs : int or None
        Classifiers that are taught at the same time, in threads. The result has the same bits for any number.

    y is a matrix of 0 and 1 with a column for each label, dense or sparse, or a data frame whose columns are the
    labels. A sparse y is never written out as a whole, and `predict` answers in kind. Of a label that no row has, or
    every row, there is nothing to learn: it is always predicted as it was, which a warning says.

    Attributes
    ----------
    classes_ : array
        The labels: the names of the columns of y, or their places.
    estimators_ : list
        A classifier for each label; None where there was nothing to learn.
    rules_ : tuple of LinearRule
        Where the classifiers are linear, one for each label.
    verdict_ : Verdict
        How the classifiers ended: `check(X, Y)` checks each.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression, MultiLabel
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Y = (X @ [[1, 0, 1], [0, 1, 1], [0, 0, 1]] + np.random.default_rng(1).normal(size=(200, 3)) > 0).astype(int)
    >>> model = MultiLabel(LogisticRegression()).fit(X, Y)
    >>> model.predict(X[:2]).tolist(), model.verdict_.check(X, Y)
    ([[1, 0, 1], [1, 0, 0]], True)
    """

    _always: NDArray[np.bool_]
    """Of labels of which there was nothing to learn: whether every row had them."""
    _linear: tuple[Floats, Floats] | None
    """Weights and intercepts, where all classifiers are linear."""

    def __init__(self, estimator: Any, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Labels, sample_weight: Any = None) -> MultiLabel:
        """Teach a classifier for each label; `verdict_` says how they ended."""
        check_learner(self.estimator, type(self).__name__)
        check_jobs(self.n_jobs)
        read = new_columns(type(self).__name__)
        checked = self._rows(read, X, reset=True)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        rows = row_count(X)
        Y, names = checked_labels(y, rows)
        cost = checked_weights(sample_weight, rows)
        on = counted(Y, cost)
        whole = float(rows if cost is None else (cost > 0).sum())
        constant = np.flatnonzero((on == 0) | (on == whole))
        members: list[Any] = [None] * Y.shape[1]
        columns = names_of(read, getattr(read, "n_features_in_", 0))
        with gathered_warnings() as said:
            for places in _in_parts(np.setdiff1d(np.arange(Y.shape[1]), constant)):
                tasks = [Task(None, column(Y, place)) for place in places]
                for place, member in zip(
                    places, teach(self.estimator, X, tasks, cost, self.n_jobs, checked, columns), strict=True
                ):
                    members[place] = member
        always = on == whole
        constants = tuple((int(place), bool(always[place])) for place in constant)
        verdict = self._verdict(names, members, constants, rows, len(columns))
        if constant.size:
            warnings.warn(_nothing_to_learn(names[constant].tolist(), always[constant]), stacklevel=2)
        if said and not verdict.ok:
            warnings.warn(warning_kind(verdict)(verdict), stacklevel=2)
        linear = None if constant.size else linear_rules(members, columns)
        found = {} if linear is None else {"rules_": _rules(linear, members, columns)}
        set_fitted(
            self, read, **found, classes_=names, estimators_=members, verdict_=verdict, _always=always,
            _sparse=is_sparse(Y), _linear=linear,
        )  # fmt: skip
        return self

    def _verdict(
        self, names: NDArray[Any], members: list[Any], constants: tuple[tuple[int, bool], ...], rows: int, columns: int
    ) -> Verdict:
        learnt = [member for member in members if member is not None]
        labels = [label for label, member in zip(names.tolist(), members, strict=True) if member is not None]
        found = tuple(getattr(member, "verdict_", None) for member in learnt)
        counted_only = bool(found) and all(v is not None and v.claim.objective == "mistakes" for v in found)
        objective = "mistakes" if counted_only else "members"
        claim = ReductionClaim(tuple(names.tolist()), None, found, rows, constants=constants, objective=objective)
        duels = [f"label {label}" for label in labels]
        return verdict_of_members(learnt, duels, claim, columns + 1, type(self.estimator).__name__)

    def _scores(self, X: Any) -> Iterator[tuple[Any, Floats]]:
        """The scores of some labels at a time: their places, and n × that many."""
        check_is_fitted(self, "estimators_")
        rows = self._rows(self, X, reset=False)
        linear = self._linear if rows is not None else None
        for places in _in_parts(np.arange(len(self.estimators_))):
            if linear is not None:
                yield places, self._linear_scores(rows, linear[0][places], linear[1][places])
            else:
                yield places, np.column_stack([self._score(place, X) for place in places])

    def _linear_scores(self, rows: Any, weights: Floats, intercept: Floats) -> Floats:
        if len(weights) == 1:
            rule = LinearRule(weights[0], float(intercept[0]))
        else:
            rule = LinearRule(weights, intercept, tuple(range(len(weights))))
        return self._scored(rule, rows).reshape(-1, len(weights))

    def _score(self, place: int, X: Any) -> Floats:
        member = self.estimators_[place]
        if member is None:
            return np.full(row_count(X), np.inf if self._always[place] else -np.inf)
        return scores_of(member, X, f"label {self.classes_[place]}")

    def decision_function(self, X: Any) -> Floats:
        """sₗ, n × L: positive where the label is predicted; infinite where there was nothing to learn."""
        return np.hstack([scores for _, scores in self._scores(X)])

    def predict(self, X: Any) -> Labels:
        """1[sₗ > 0], n × L; sparse if y was."""
        if not getattr(self, "_sparse", False):
            return (self.decision_function(X) > 0).astype(np.int64)
        rows, labels = [], []
        for places, scores in self._scores(X):
            at = np.nonzero(scores > 0)
            rows.append(at[0])
            labels.append(places[at[1]])
        i, j = np.concatenate(rows), np.concatenate(labels)
        return csr_array((np.ones(len(i), np.int64), (i, j)), shape=(row_count(X), len(self.classes_)))

    @available_if(gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """P(label l | x), n × L; the rows do not add up to one, since a row may have several labels or none."""
        check_is_fitted(self, "estimators_")
        self._rows(self, X, reset=False)
        return np.column_stack([self._probability(place, X) for place in range(len(self.estimators_))])

    def _probability(self, place: int, X: Any) -> Floats:
        member = self.estimators_[place]
        if member is None:
            return np.full(row_count(X), float(self._always[place]))
        return probability_of(member, X, f"label {self.classes_[place]}")


def _rules(linear: tuple[Floats, Floats], members: list[Any], columns: tuple[str, ...]) -> tuple[LinearRule, ...]:
    return tuple(
        LinearRule(w, float(b), (0, 1), columns, probabilistic=_likely(member))
        for w, b, member in zip(*linear, members, strict=True)
    )


def is_sparse(Y: Any) -> bool:
    """Whether zeros are left out."""
    return bool(issparse(Y))


def _likely(member: Any) -> bool:
    return bool(getattr(getattr(member, "rule_", None), "probabilistic", False))


def _in_parts(places: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    return (places[lo : lo + TOGETHER] for lo in range(0, len(places), TOGETHER))


def _nothing_to_learn(labels: list[Any], always: NDArray[np.bool_]) -> str:
    said = [f"{label!r} ({'every' if on else 'no'} row has it)" for label, on in zip(labels, always, strict=True)]
    return f"Nothing can be learnt of {listed(said)}: it is always predicted as it was. Leave such labels out."


def checked_labels(y: Any, rows: int) -> tuple[Any, NDArray[Any]]:
    """y as a matrix of 0 and 1, sparse by columns if it was sparse, and the names of the labels."""
    if y is None:
        raise DataError("MultiLabel needs y: requires y to be passed, but the target y is None.")
    names = getattr(y, "columns", None)
    try:
        Y: Any = csc_array(y) if is_sparse(y) else np.asarray(y)
    except ValueError:  # rows of different lengths
        Y = np.empty(len(y))
    if Y.ndim != 2 or Y.shape[1] < 1:
        raise DataError(
            f"y has shape {Y.shape}; MultiLabel needs a column of 0 and 1 for each label. Lists of labels become one "
            "by scikit-learn's MultiLabelBinarizer; a single label a row is for OneVsRest."
        )
    if Y.shape[0] != rows:
        raise DataError(
            f"X has {rows} rows and y {Y.shape[0]}: give a row of labels for each. "
            f"(Found input variables with inconsistent numbers of samples: [{rows}, {Y.shape[0]}])"
        )
    if Y.dtype.kind not in "biuf":
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError("holds words; MultiLabel needs 0 and 1, a column for each label.", array="y") from None
    if is_sparse(Y):
        Y.sum_duplicates()
    entries = Y.data if is_sparse(Y) else Y
    wrong = ~((entries == 0) | (entries == 1))
    if wrong.any():
        raise _wrong_entry(Y, entries, wrong)
    return Y, np.arange(Y.shape[1]) if names is None else np.asarray(names)


def _wrong_entry(Y: Any, entries: Any, wrong: Any) -> DataError:
    if is_sparse(Y):
        at = int(np.flatnonzero(wrong)[0])
        i, j, value = int(Y.indices[at]), int(np.searchsorted(Y.indptr, at, side="right")) - 1, entries[at]
    else:
        i, j = (int(place) for place in np.argwhere(wrong)[0])
        value = Y[i, j]
    said = "NaN" if value != value else f"{value}"
    problem = f"is {said}; a row has a label, 1, or not, 0. (Unknown label type: continuous or many-valued.)"
    return DataError(problem, array="y", row=i, column=j, value=value)


def column(Y: Any, place: int) -> NDArray[np.bool_]:
    """Which rows have a label."""
    if not is_sparse(Y):
        return np.asarray(Y[:, place] != 0)
    there = np.zeros(Y.shape[0], np.bool_)
    part = slice(Y.indptr[place], Y.indptr[place + 1])
    there[Y.indices[part][Y.data[part] != 0]] = True
    return there


def counted(Y: Any, cost: Floats | None) -> Floats:
    """How many rows that count have each label."""
    counts = np.ones(Y.shape[0]) if cost is None else (cost > 0).astype(np.float64)
    return np.asarray(counts @ (Y != 0)).ravel().astype(np.float64)
