"""K classes from any learner of two, by one coding matrix."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..coded_rule import CodedRule, duel
from ..coding import Signs, agreements, elected, totals, undecided
from ..learners.base import LinearClassifier
from ..learners.targets import checked_targets
from ..learners.together import Task
from ..learners.validation import checked_rows, not_finite, unchanged_on_failure
from ..reduction_claim import ReductionClaim
from ..rule import LinearRule
from ..verdict import Verdict
from .members import (
    check_learner,
    check_table,
    checked_weights,
    gathered_warnings,
    linear_rules,
    probability_of,
    scores_of,
    teach,
)
from .words import verdict_of_members, warning_kind

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]


def _gives_probabilities(model: Any) -> bool:
    learnt = [member for member in getattr(model, "estimators_", ()) if member is not None]
    members = learnt or [model.estimator]
    if not all(hasattr(member, "predict_proba") for member in members):
        name = type(model.estimator).__name__
        raise AttributeError(
            f"{name} has no predict_proba, so {type(model).__name__} has none: use LogisticRegression()."
        )
    return True


def _is_linear(model: Any) -> bool:
    if isinstance(getattr(model, "rule_", None), LinearRule):
        return True
    raise AttributeError(f"{type(model).__name__} has no distance here: its decision is not by one linear rule.")


class Reduction(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """ŷ from the scores s₁ … s_L of binary classifiers, each taught the classes that its column of the code names."""

    estimator: Any
    n_jobs: int | None
    verdict_: Verdict
    rule_: LinearRule | CodedRule

    @abstractmethod
    def _code(self, classes: list[Any]) -> Signs:
        """M, K × L."""

    def _votes(self, scores: Floats) -> Counts:
        return agreements(self.code_, scores)

    def _discriminants(self, scores: Floats) -> Floats:
        """A score for each class, n × K."""
        return totals(self.code_, scores)

    @abstractmethod
    def _by_votes(self) -> bool:
        """Whether votes come before scores."""

    @abstractmethod
    def _probabilities(self, r: Floats, scores: Floats) -> Floats:
        """P(k | x) from the probabilities that the classifiers give their + sides."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.estimator)
        except (AttributeError, TypeError):
            return tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.non_deterministic = inner.non_deterministic
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Reduction:
        """Teach every classifier its rows; `verdict_` says how they ended."""
        with unchanged_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        name = type(self).__name__
        check_learner(self.estimator, name)
        if y is None:
            raise ValueError(f"{name} needs y: requires y to be passed, but the target y is None.")
        checked = self._rows(X, reset=True)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        targets = checked_targets(self, y)
        if targets.index is None:
            raise ValueError(
                f"Unknown label type: y holds probabilities; {name} parts classes by their labels. Give one label a "
                "row; for overlapping labels use MultiLabel, for probabilities LogisticRegression itself."
            )
        rows = _num_samples(X)
        if rows != len(targets):
            raise ValueError(
                f"X has {rows} rows and y {len(targets)} labels: give one label for each row. "
                f"(Found input variables with inconsistent numbers of samples: [{rows}, {len(targets)}])"
            )
        cost = checked_weights(sample_weight, rows)
        classes = targets.classes.tolist()
        code = self._code(classes)
        index = targets.index.astype(np.intp)
        with gathered_warnings() as said:
            members = teach(self.estimator, X, _tasks(code, index), cost, self.n_jobs, checked, self._columns())
        self.classes_, self.code_, self.estimators_ = targets.classes, code, members
        self._taught_rows = _taught_rows(self, code, index)
        self._conclude(rows)
        if said and not self.verdict_.ok:
            warnings.warn(str(self.verdict_), warning_kind(self.verdict_), stacklevel=3)

    def _conclude(self, rows: int) -> None:
        """The rule, where the classifiers are linear; and the verdict."""
        self.__dict__.pop("rule_", None)
        columns = self._columns()
        linear = linear_rules(self.estimators_, columns)
        classes = tuple(self.classes_.tolist())
        weights = intercept = None
        if linear is not None:
            coded = CodedRule(linear[0], linear[1], self.code_, classes, columns)
            self._coded = coded
            if self._by_votes() and len(classes) > 2:
                self.rule_ = coded
            else:
                self.rule_ = self._outside(coded)
                if len(classes) > 2:
                    weights, intercept = np.array(self.rule_.weights), np.array(self.rule_.intercept)
        else:
            self.__dict__.pop("_coded", None)
        found = tuple(getattr(member, "verdict_", None) for member in self.estimators_)
        claimed = all(getattr(getattr(v, "claim", None), "weights", None) is not None for v in found)
        counted = bool(found) and all(v is not None and v.claim.objective == "mistakes" for v in found)
        claim = ReductionClaim(
            classes, self.code_, found, rows, weights if claimed else None, intercept if claimed else None,
            objective="mistakes" if counted else "members",
        )  # fmt: skip
        duels = [duel(column, classes) for column in self.code_.T]
        self.verdict_ = verdict_of_members(
            self.estimators_, duels, claim, len(columns) + 1, type(self.estimator).__name__
        )

    def _outside(self, coded: CodedRule) -> LinearRule:
        """The linear rule of the whole."""
        if len(coded.classes) == 2:
            half = (coded.code[1].astype(np.float64) - coded.code[0]) / 2
            return LinearRule(half @ coded.weights, float(half @ coded.intercept), coded.classes, coded.columns)
        return coded.discriminants()

    def _columns(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        width = getattr(self, "n_features_in_", 0)
        return tuple(map(str, names)) if names is not None else tuple(f"x{j}" for j in range(width))

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as our own linear learners read it; for any other learner None: it reads X itself."""
        if isinstance(self.estimator, LinearClassifier):
            return checked_rows(self, X, reset=reset)
        check_table(self, X, reset=reset)
        return None

    def _member_scores(self, X: Any) -> Floats:
        """sₗ, n × L."""
        check_is_fitted(self, "estimators_")
        coded: CodedRule | None = getattr(self, "_coded", None)
        rows = self._rows(X, reset=False)
        if coded is not None and rows is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                scores = coded.score(rows)
            if not np.isfinite(scores).all():
                raise not_finite(rows, coded.columns, self)
            return scores
        return np.column_stack([scores_of(*pair) for pair in self._asked(X)])

    def _asked(self, X: Any) -> list[tuple[Any, Any]]:
        """Every member and the rows as it is to be asked about them: of kernel values, those with its own rows."""
        if self._taught_rows is None:
            return [(member, X) for member in self.estimators_]
        X = np.asarray(X)
        return [(member, X[:, rows]) for member, rows in zip(self.estimators_, self._taught_rows, strict=True)]

    def votes(self, X: Any) -> Counts:
        """How many classifiers speak for each class, n × K.

        One class against the rest: whether its classifier claims the row. One against one: the duels that it wins. Of
        any other code: the classifiers that are of its mind.
        """
        scores = self._member_scores(X)
        return self._votes(scores)

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Whether the votes leave it open: no class has the most of them alone.  [003 slide 11]"""
        return undecided(self.votes(X))

    def decision_function(self, X: Any) -> Floats:
        """A score for each class, n × K, whose largest is predicted; of two classes one score a row.

        Where votes decide, the votes and a part of one by the summed scores: vₖ + Tₖ/(3(1 + |Tₖ|)), Tₖ = Σₗ Mₖₗsₗ.
        """
        scores = self._member_scores(X)
        if len(self.classes_) == 2:
            return self._of_two(scores)
        T = self._discriminants(scores)
        return self._votes(scores) + T / (3 * (1 + np.abs(T))) if self._by_votes() else T  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score; where votes decide, the one with the most, then the largest score."""
        scores = self._member_scores(X)
        if len(self.classes_) == 2:
            return self.classes_[(self._of_two(scores) > 0).astype(np.intp)]  # type: ignore[no-any-return]
        T = self._discriminants(scores)
        chosen = elected(self._votes(scores), T) if self._by_votes() else T.argmax(axis=1)
        return self.classes_[chosen]  # type: ignore[no-any-return]

    def _of_two(self, scores: Floats) -> Floats:
        """Of two classes: half of T₁ − T₀, the score of the one classifier where there is one."""
        return scores @ ((self.code_[1].astype(np.float64) - self.code_[0]) / 2)  # type: ignore[no-any-return]

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """P(k | x), n × K: never NaN, and every row adds up to one."""
        check_is_fitted(self, "estimators_")
        scores = self._member_scores(X)
        r = np.column_stack([probability_of(*pair) for pair in self._asked(X)])
        if self.code_.shape == (2, 1):
            r = r if self.code_[1, 0] > 0 else 1 - r
            return np.column_stack([1 - r, r])
        return self._probabilities(r, scores)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """log P(k | x)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[no-any-return]

    @available_if(_is_linear)  # type: ignore[untyped-decorator]
    def distance(self, X: Any) -> Floats:
        """The distance of each row from the boundary of its class's region; of two classes with its sign."""
        rule = self.rule_
        assert isinstance(rule, LinearRule)
        self._member_scores(X)  # so that a wrong X is named
        return rule.distance(checked_rows(self, X, reset=False))


def _tasks(code: Signs, index: Counts) -> list[Task]:
    """The rows of each classifier, and which are on its + side."""
    tasks = []
    for column in code.T:
        side = column[index]
        taught = np.flatnonzero(side)
        tasks.append(Task(None, side > 0) if len(taught) == len(index) else Task(taught, side[taught] > 0))
    return tasks


def _taught_rows(model: Any, code: Signs, index: Counts) -> list[Counts] | None:
    """For kernel values, where a row's columns are the rows that were taught: which these are."""
    if not get_tags(model.estimator).input_tags.pairwise:
        return None
    return [np.flatnonzero(column[index]) for column in code.T]
