"""K classes from any learner of two, by one coding matrix."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...errors import DataError
from ...numerics.arrays import Floats, Indices
from ...results.claims import ReductionClaim
from ...results.coding import CodedRule, Signs, agreements, duel, elected, totals, undecided
from ...results.linear_rule import LinearRule
from ...results.proofs import Members
from ...results.verdict import Rank, Verdict, listed, worst_status
from ..checks.rows import checked_rows, names_of, new_columns, row_count, set_fitted
from ..checks.targets import Targets, checked_targets
from ..logistic.side_by_side import Task
from ..warnings import BudgetWarning, NotSeparableWarning, SeparationWarning
from .members import (
    MetaLearner,
    StoppedError,
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

ONE = ((-1,), (1,))
"""The code of two classes and one classifier, whose score is all."""


def _is_linear(model: Any) -> bool:
    if isinstance(getattr(model, "rule_", None), LinearRule):
        return True
    raise AttributeError(f"{type(model).__name__} has no distance here: its decision is not by one linear rule.")


class Reduction(MetaLearner, ABC):
    """ŷ from the scores s₁ … s_L of binary classifiers, each taught the classes that its column of the code names."""

    rule_: LinearRule | CodedRule
    _by_votes: bool
    """Whether votes come before scores, as it was at fit."""
    _coded: CodedRule | None
    """The classifiers, where all of them are linear."""
    _coupled: bool
    """Whether probabilities are coupled, as it was at fit."""
    summed = True
    """Whether the score of class k is Σₗ Mₖₗsₗ, not that of its own classifier."""

    @abstractmethod
    def _code(self, classes: list[Any]) -> Signs:
        """M, K × L; the settings are looked at on the way."""

    def _votes(self, scores: Floats) -> Indices:
        return agreements(self.code_, scores)

    def _discriminants(self, scores: Floats) -> Floats:
        """A score for each class, n × K."""
        return totals(self.code_, scores)

    def _chosen(self, scores: Floats) -> Indices:
        """The places of the classes that are predicted."""
        T = self._discriminants(scores)
        return elected(self._votes(scores), T) if self._by_votes else T.argmax(axis=1)

    @abstractmethod
    def _probabilities(self, r: Floats, scores: Floats) -> Floats:
        """P(k | x) from the probabilities that the classifiers give their + sides."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Reduction:
        """Teach every classifier its rows; `verdict_` says how they ended. After Ctrl-C all have begun."""
        check_learner(self.estimator, type(self).__name__)
        check_jobs(self.n_jobs)
        if y is None:
            raise DataError(f"{type(self).__name__} needs y: requires y to be passed, but the target y is None.")
        read = new_columns(type(self).__name__)
        checked = self._rows(read, X, reset=True)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        rows = row_count(X)
        targets, index = self._labels(y, rows)
        cost = checked_weights(sample_weight, rows)
        _check_mass(targets, cost)
        code = self._code(targets.classes.tolist())
        columns, stopped = names_of(read, getattr(read, "n_features_in_", 0)), False
        with gathered_warnings() as said:
            try:
                members = teach(
                    self.estimator, X, _tasks(code, index), cost, self.n_jobs, checked, columns, stoppable=True
                )
            except StoppedError as stop:
                members, stopped = stop.members, True
        found = self._found(columns, targets.classes, code, members, rows)
        verdict = found["verdict_"]
        if said and not verdict.ok and not stopped:
            warnings.warn(warning_kind(verdict)(verdict), stacklevel=2)
        set_fitted(self, read, **found, _taught_rows=_taught_rows(self, code, index))
        if stopped:
            raise KeyboardInterrupt
        return self

    def _labels(self, y: Any, rows: int) -> tuple[Targets, Indices]:
        targets = checked_targets(self, y)
        if targets.index is None:
            raise DataError(
                f"Unknown label type: y holds probabilities; {type(self).__name__} parts classes by their labels. Give "
                "one label a row; for overlapping labels use MultiLabel, for probabilities LogisticRegression itself."
            )
        if rows != len(targets):
            raise DataError(
                f"X has {rows} rows and y {len(targets)} labels: give one label for each row. "
                f"(Found input variables with inconsistent numbers of samples: [{rows}, {len(targets)}])"
            )
        return targets, targets.index.astype(np.intp)

    def _found(
        self, columns: tuple[str, ...], classes: NDArray[Any], code: Signs, members: list[Any], rows: int
    ) -> dict[str, Any]:
        """The classifiers, their rule where they are linear, and the verdict, by the names of the attributes."""
        labels, verdicts = tuple(classes.tolist()), tuple(getattr(member, "verdict_", None) for member in members)
        linear, by_votes = linear_rules(members, columns), getattr(self, "decide", "scores") == "votes"
        coded = weights = intercept = None
        found: dict[str, Any] = {}
        if linear is not None:
            coded, voted = CodedRule(linear[0], linear[1], code, labels, columns), by_votes and not _is_one(code)
            found["rule_"] = coded if voted else self._outside(coded)
            if not voted and len(labels) > 2 and all(hasattr(getattr(v, "claim", None), "weights") for v in verdicts):
                weights, intercept = self._made(coded)
        counted = bool(verdicts) and all(v is not None and v.claim.objective == "mistakes" for v in verdicts)
        claim = ReductionClaim(
            labels, code, verdicts, rows, weights, intercept, self.summed, (), "mistakes" if counted else "members"
        )
        duels, learner = _duels(code, classes), type(self.estimator).__name__
        return {
            **found, "classes_": classes, "code_": code, "estimators_": members, "_coded": coded,
            "verdict_": verdict_of_members(members, duels, claim, len(columns) + 1, learner), "_by_votes": by_votes,
            "_coupled": getattr(self, "probabilities", "coupling") == "coupling",
        }  # fmt: skip

    def _made(self, coded: CodedRule) -> tuple[Floats, Floats]:
        """Weights and intercepts of the K discriminants."""
        M = coded.code.astype(np.float64)
        return M @ coded.weights, M @ coded.intercept

    def _outside(self, coded: CodedRule) -> LinearRule:
        """The linear rule of the whole."""
        if len(coded.classes) == 2:
            half = (coded.code[1].astype(np.float64) - coded.code[0]) / 2
            return LinearRule(half @ coded.weights, float(half @ coded.intercept), coded.classes, coded.columns)
        return LinearRule(*self._made(coded), coded.classes, coded.columns)

    def _member_scores(self, X: Any) -> Floats:
        """sₗ, n × L."""
        check_is_fitted(self, "estimators_")
        rows = self._rows(self, X, reset=False)
        if rows is not None and self._coded is not None:
            return self._scored(self._coded, rows)
        return np.column_stack([scores_of(*asked) for asked in self._asked(X)])

    def _asked(self, X: Any) -> list[tuple[Any, Any, str]]:
        """Every member, the rows it is asked about (of kernel values, those with its own rows), and its name."""
        duels = _duels(self.code_, self.classes_)
        if self._taught_rows is None:
            return [(member, X, said) for member, said in zip(self.estimators_, duels, strict=True)]
        X = np.asarray(X)
        trios = zip(self.estimators_, self._taught_rows, duels, strict=True)
        return [(member, X[:, rows], said) for member, rows, said in trios]

    def votes(self, X: Any) -> Indices:
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
        """A score for each class, n × K, whose largest is predicted; of two classes one score a row, the difference.

        Where votes decide, the votes and a part of one by the summed scores, vₖ + sign Tₖ · u/(3(1 + u)) with
        u = log(1 + |Tₖ|), Tₖ = Σₗ Mₖₗsₗ.
        """
        scores = self._member_scores(X)
        if _is_one(self.code_):
            return scores[:, 0]
        found = self._discriminants(scores)
        if self._by_votes:
            u = np.log1p(np.abs(found))
            found = self._votes(scores) + np.sign(found) * u / (3 * (1 + u))
        return (found[:, 1] - found[:, 0]) / 2 if len(self.classes_) == 2 else found  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score; where votes decide, the one with the most, then the largest score."""
        scores = self._member_scores(X)
        chosen = (scores[:, 0] > 0).astype(np.intp) if _is_one(self.code_) else self._chosen(scores)
        return self.classes_[chosen]  # type: ignore[no-any-return]

    @available_if(gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """P(k | x), n × K: never NaN, and every row adds up to one."""
        scores = self._member_scores(X)
        r = np.column_stack([probability_of(*asked) for asked in self._asked(X)])
        return np.column_stack([1 - r, r]) if _is_one(self.code_) else self._probabilities(r, scores)

    @available_if(gives_probabilities)  # type: ignore[untyped-decorator]
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


def _is_one(code: Signs) -> bool:
    return tuple(map(tuple, code.tolist())) == ONE


def _duels(code: Signs, classes: NDArray[Any]) -> list[str]:
    """What each classifier parts, in words."""
    return [duel(column, classes.tolist()) for column in code.T]


def _check_mass(targets: Targets, cost: Floats | None) -> None:
    """Rows that count, of every class."""
    if cost is None:
        return
    for label, total in zip(targets.classes.tolist(), targets.totals(cost), strict=True):
        if total == 0:
            raise DataError(
                f"Every sample of class {label!r} has sample_weight zero: leave them out; one class only is too few."
            )


def _tasks(code: Signs, index: Indices) -> list[Task]:
    """The rows of each classifier, and which are on its + side."""
    tasks = []
    for column in code.T:
        side = column[index]
        taught = np.flatnonzero(side)
        tasks.append(Task(None, side > 0) if len(taught) == len(index) else Task(taught, side[taught] > 0))
    return tasks


def _taught_rows(model: Any, code: Signs, index: Indices) -> list[Indices] | None:
    """For kernel values, where a row's columns are the rows that were taught: which these are."""
    if not get_tags(model.estimator).input_tags.pairwise:
        return None
    return [np.flatnonzero(column[index]) for column in code.T]


KINDS: dict[str, type[Warning]] = {
    "separated": SeparationWarning,
    "quasi-separated": SeparationWarning,
    "not-separable": NotSeparableWarning,
}
FEW = 3


def verdict_of_members(
    members: Sequence[Any], duels: Sequence[str], claim: ReductionClaim, columns: int, learner: str
) -> Verdict:
    """The verdict of the whole: as much as the least of its members can say."""
    rank = Rank(None, columns, ())
    if not members:
        return Verdict("optimal", rank, Members(()), "There was nothing to learn.", "", claim)
    found = claim.members
    if any(verdict is None for verdict in found):
        cause = f"{learner} gives no verdict, so nothing is proved of the {_number(len(members), 'classifier')}."
        return Verdict("budget", rank, None, cause, "Use a learner of Separatrix for one that can be checked.", claim)
    statuses = tuple(verdict.status for verdict in found)
    failed = [(duel, verdict) for duel, verdict in zip(duels, found, strict=True) if not verdict.ok]
    cause = _success(statuses, found) if not failed else _failure(failed, len(found))
    return Verdict(worst_status(statuses), rank, Members(statuses), cause, failed[0][1].remedy if failed else "", claim)


def _success(statuses: tuple[str, ...], found: Sequence[Any]) -> str:
    kinds = sorted(set(statuses))
    each = f"All {len(found)} classifiers are" if len(found) > 1 else "The one classifier is"
    gaps = [getattr(verdict.certificate, "relative_gap", np.nan) for verdict in found]
    proved = f", each proved to within {max(gaps):.1e} of its minimum" if np.isfinite(gaps).all() else ""
    return f"{each} {' or '.join(kinds)}{proved}."


def _failure(failed: list[tuple[str, Any]], of: int) -> str:
    names = [f"{duel} ({verdict.status})" for duel, verdict in failed]
    verb = "did not reach its minimum" if len(failed) == 1 else "did not reach their minimum"
    which = f"{len(failed)} of {of} classifiers" if of > 1 else "The classifier"
    return f"{which} {verb}: {listed(names, FEW)}. {failed[0][1].cause}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def warning_kind(verdict: Verdict) -> type[Warning]:
    """Which warning a verdict that is not ok deserves."""
    return KINDS.get(verdict.status, BudgetWarning)
