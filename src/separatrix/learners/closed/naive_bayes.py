"""Naive Bayes: within a class the columns are independent, each of a family that is chosen, or all of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data import Rows
from ...data.rows import COMPILE_FROM, in_threads
from ...errors import DataError, Refusal
from ...fitting.closed.column_statistics import ColumnFamilies, ColumnStatistics, InfiniteError
from ...fitting.closed.naive_bayes import EstimateError, Parameters, estimate
from ...fitting.closed.naive_bayes_scores import Scorer
from ...fitting.closed.support import Support
from ...losses.families import Family
from ...numerics.arrays import Floats
from ..base import IN_ONE_GO, Card, GenerativeClassifier
from ..checks.rows import check_lengths, checked_costs, checked_rows, names_of, not_finite, rows_to_learn, set_fitted
from ..checks.targets import class_rows
from ..perceptron.training import check_kind, checked_labels, stream_labels
from .batches import EstimateRecord
from .naive_bayes_input import (
    check_priors,
    check_same,
    check_values,
    checked_families,
    checked_smoothing,
    family_of,
    infinite,
    joined_statistics,
    log_priors,
    statistics_of,
    support_of,
)
from .naive_bayes_words import verdict_of


class NaiveBayes(GenerativeClassifier):
    """ŷ = argmaxₖ log p(k) + Σⱼ log p(xⱼ | k): a linear rule, whatever the families.  [000 §8.3]

    Every family p(x | θ) = exp(θx − a(θ) + b(x)) makes log-odds that are linear in x, because b(x) is the same in all
    classes: wⱼ = θⱼ₁ − θⱼ₀, b = log(p(1)/p(0)) − Σⱼ (a(θⱼ₁) − a(θⱼ₀)). A Gaussian with a variance of each class's own
    is linear in (x, x²), categories in the indicators of their levels; `rule_.features` then says so, and `features(X)`
    are what the rule is applied to.

    Nothing is searched for: the rows are read once, counted and averaged. NaN is a missing number: it is skipped in
    learning, and adds nothing to the score of its row.

    Parameters
    ----------
    families : "gaussian", "bernoulli", "poisson", "categorical", "exponential", "geometric" or dict {column: family}
        How the columns are distributed within a class. One family for all, also a `Family` of your own, see
        `separatrix.families`; or one by column name or number, the key ... standing for all others.
    variance : "own" or "shared"
        Whether each class has variances of its own in Gaussian columns, or all share them.
    smoothing : float
        How many rows a prior guess is worth, α. Bernoulli: α ones and α zeros more in each class; categorical: α rows
        more at each level; other families of one parameter: α rows more at the column's mean over all classes;
        Gaussian: α rows more that scatter as the whole column does, σ² = (S + αv)/(n + α). 0 is maximum likelihood, and
        an error where that makes infinite log-odds.
    priors : None, "equal" or array
        The probabilities of the classes, p(k). None: their shares in the rows; all equal; or a number for each, in the
        order of `classes_`.
    threshold : None or float
        Which numbers count as 1 in Bernoulli columns: those above it. None: 0 and 1 are the only numbers allowed.

    A column whose numbers are all equal, and leave nothing to learn (zeros of counts; any constant of a Gaussian), has
    weight zero, and the verdict names it. A level that no row had is given the probability α/(n + α(L + 1)), as if it
    had been known as one of L + 1 levels; without smoothing it is an error.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn; coef_ is that of `rule_`
    rule_ : LinearRule
        Its score is the log-odds of two classes; of K classes log p(k) + log p(x | k) less what all classes share.
    domain_ : Support
        The numbers that each column may hold: `lowest`, `highest`, and whether they are `whole`.
    parameters_ : Parameters
        log_prior; mean and variance, classes × columns; tables of the categorical columns; silent, the columns that
        have no weight.
    verdict_ : Verdict
    history_ : list of (passes, rows, seconds), one for each call
    n_passes_ : float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = NaiveBayes(variance="shared").fit(X, y)
    >>> model.verdict_.status, model.verdict_.check(X, y), model.coef_.shape, round(model.score(X, y), 2)
    ('optimal', True, (3, 4), 0.96)
    >>> NaiveBayes().fit(X, y).rule_.features
    '(x, x²)'
    """

    card = Card("naive-bayes", no_path=IN_ONE_GO)

    parameters_: Parameters
    _scorer: Any
    """A `Scorer`, or None while the rows do not determine a rule."""
    families: Any = "gaussian"
    variance: Any = "own"
    threshold: Any = None

    def __init__(
        self,
        *,
        families: Any = "gaussian",
        variance: str = "own",
        smoothing: float = 1.0,
        priors: Any = None,
        threshold: float | None = None,
    ) -> None:
        self.families = families
        self.variance = variance
        self.smoothing = smoothing
        self.priors = priors
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        try:
            family = family_of(self.families)
        except ValueError:
            family = None
        tags.input_tags.positive_only = isinstance(family, Family) and family.lowest >= 0 and self.threshold is None
        return tags

    @property
    def deciding_rule(self) -> Any:
        """A `Scorer`."""
        return self._scorer

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from these rows alone; `verdict_` says what was learnt."""
        for _ in self.steps(X, y, sample_weight):
            pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[EstimateRecord]:
        """Fit as `fit` does, in one step: the rows are read once."""
        began = time.perf_counter()
        rows, read, names = rows_to_learn(self, X)
        target, classes = checked_labels(self, y)
        check_lengths(len(rows), len(target))
        cost = checked_costs(sample_weight, len(rows))
        families = self._column_families(names)
        statistics = statistics_of(self, class_rows(rows, target, cost), len(classes), families, names)
        for label, weight in zip(classes.tolist(), statistics.moments.weight, strict=True):
            if weight == 0:
                raise DataError(f"Every sample of class {label!r} has sample_weight zero: leave that class out.")
        found = self._concluded(statistics, classes, families, names)
        self._set(read, statistics, classes, families, [], began, **found)
        yield self.history_[-1]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from these rows too: the same, whatever the pieces, as one `fit` of them all.

        Classes may come later, and need not be announced; one that has no rows yet does not compete. While there is
        one class only, it is predicted. While the rows do not determine a rule (without smoothing, a class of one row),
        what they say is kept, and `predict` says what is missing.
        """
        began, new = time.perf_counter(), not hasattr(self, "_statistics")
        labels = stream_labels(self, y)
        rows, read, names = rows_to_learn(self, X, new=new)
        check_lengths(len(rows), len(labels))
        cost = checked_costs(sample_weight, len(rows), some=False)
        families = self._column_families(names)
        if new:
            before, known, history = ColumnStatistics.none(0, families), labels[:0], []
        else:
            before, known, history = self._statistics, self.classes_, self.history_
            check_same(families, self._learnt_families)
        check_kind(labels, known)
        statistics, classes = joined_statistics(self, (before, known), rows, labels, cost, families, names)
        try:
            found = self._concluded(statistics, classes, families, names)
        except EstimateError as error:
            found = {"_scorer": None, "_lacking": str(error)}
        self._set(read, statistics, classes, families, history, began, **found)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: of two, classes_[1] iff the log-odds are > 0; of K the one with the largest score."""
        if self._single():
            return np.repeat(self.classes_, len(self._scores(X)))  # type: ignore[no-any-return]
        return super().predict(X)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log p(k) + Σⱼ log p(xⱼ | k), n × K: with all that the scores leave out because the classes share it."""
        return self._scored(X, self._joint)

    def features(self, X: Any) -> Any:
        """What `rule_` is linear in, a row for each of X: X itself unless `rule_.features` says otherwise."""
        rows = self._checked(X)
        try:
            return self._scorer.features(rows)
        except InfiniteError:
            raise infinite(rows, self._names(), self) from None

    def distance(self, X: Any) -> Floats:
        """d = (φᵀw + b)/‖w‖ for φ = features(X): the signed distance from the boundary, among the features.

        Of K classes d ≥ 0: the distance from the boundary of the region of the row's own class.
        """
        scores, rows = self._scores(X), self._checked(X)
        if not rows.finite():
            raise not_finite(rows, self._names(), self)  # a row that is not known in full is at no known place
        return self.rule_._distance(scores)

    def _scores(self, X: Any) -> Floats:
        return self._scored(X, lambda rows: self._scorer.scores(rows))

    def _joint(self, rows: Any) -> Floats:
        each = replace(self._scorer, apart=False).scores(rows)
        return each + self._scorer.log_base(rows)[:, None]  # type: ignore[no-any-return]

    def _scored(self, X: Any, scores_of: Callable[[Any], Floats]) -> Floats:
        if self._single():
            return np.zeros((len(checked_rows(self, X, reset=False)), 1))
        rows = self._checked(X)
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                scores = scores_of(rows)
        except InfiniteError:
            raise infinite(rows, self._names(), self) from None
        if not np.isfinite(scores).all():
            raise infinite(rows, self._names(), self)
        return scores

    def _single(self) -> bool:
        """Whether pieces have brought one class only: then it is certain, and there is no rule."""
        return hasattr(self, "_statistics") and len(self.classes_) == 1

    def _checked(self, X: Any) -> Any:
        if hasattr(self, "_statistics") and not hasattr(self, "rule_"):
            raise Refusal(f"There is no rule yet, after {self._statistics.rows} rows: {self._lacking}")
        check_is_fitted(self, "rule_")
        rows = checked_rows(self, X, reset=False)
        families = self._scorer.families
        if families.threshold is not None or not self.domain_.free:
            with in_threads(Rows.of(rows, compiled=rows.size >= COMPILE_FROM)) as source:
                check_values(source, families, self._names())
        return rows

    def _names(self) -> tuple[str, ...]:
        return names_of(self, self.n_features_in_)

    @property
    def domain_(self) -> Support:
        """The numbers that each column may hold: counts from 0 on, shares from 0 to 1, as their families know them."""
        return support_of(self._scorer.families)

    def _column_families(self, names: tuple[str, ...]) -> ColumnFamilies:
        checked_smoothing(self.smoothing)
        check_priors(self.priors)
        return checked_families(self, names)

    def _set(
        self, read: Any, statistics: ColumnStatistics, classes: NDArray[Any], families: ColumnFamilies,
        history: list[EstimateRecord], began: float, **found: Any,
    ) -> None:  # fmt: skip
        """Set all attributes."""
        record = EstimateRecord(len(history) + 1.0, statistics.rows, time.perf_counter() - began)
        set_fitted(
            self, read, classes_=classes, history_=[*history, record], n_passes_=1.0, _statistics=statistics,
            _learnt_families=families, **found,
        )  # fmt: skip

    def _concluded(
        self, statistics: ColumnStatistics, classes: NDArray[Any], families: ColumnFamilies, names: tuple[str, ...]
    ) -> dict[str, Any]:
        """The rule and what is said of it, by the names of the attributes."""
        if len(classes) < 2:
            seen = f"all are of class {classes.tolist()[0]!r}" if len(classes) else "none of them counts"
            raise EstimateError(f"{seen}, and a rule tells two classes or more apart.")

        def name(k: int, j: int) -> str:
            return f"Column {names[j]!r} of class {classes.tolist()[k]!r}"

        log_prior = log_priors(self.priors, statistics.moments.weight, classes)
        parameters = estimate(statistics, families, float(self.smoothing), log_prior, name)
        scorer = Scorer(parameters, families, names)
        rule = scorer.rule(tuple(classes))
        return {
            "parameters_": parameters, "_scorer": scorer, "rule_": rule, "coef_": np.atleast_2d(rule.weights).copy(),
            "intercept_": np.atleast_1d(np.asarray(rule.intercept, float)).copy(),
            "verdict_": verdict_of(self, statistics, classes, scorer, rule), "_lacking": "",
        }  # fmt: skip


class BernoulliNaiveBayes(NaiveBayes):
    """wⱼ = log(pⱼ₁(1 − pⱼ₀)/((1 − pⱼ₁)pⱼ₀)), b = log(p₁/p₀) + Σⱼ log((1 − pⱼ₁)/(1 − pⱼ₀)), x ∈ {0, 1}.  [000 §8.3.1]"""

    card = Card("bernoulli-naive-bayes", no_path=IN_ONE_GO)

    families = "bernoulli"

    def __init__(self, *, smoothing: float = 1.0, priors: Any = None, threshold: float | None = None) -> None:
        self.smoothing, self.priors, self.threshold = smoothing, priors, threshold


class PoissonNaiveBayes(NaiveBayes):
    """wⱼ = log(λⱼ₁/λⱼ₀), b = log(p(1)/p(0)) + Σⱼ (λⱼ₀ − λⱼ₁), x a count.  [000 §8.3.2]"""

    card = Card("poisson-naive-bayes", no_path=IN_ONE_GO)

    families = "poisson"

    def __init__(self, *, smoothing: float = 1.0, priors: Any = None) -> None:
        self.smoothing, self.priors = smoothing, priors


class GaussianNaiveBayes(NaiveBayes):
    """γⱼ = −(x − μ₁)²/(2σ₁²) + (x − μ₀)²/(2σ₀²) + log(σ₀/σ₁); linear in x if σ is shared.  [000 §8.3.2]"""

    card = Card("gaussian-naive-bayes", no_path=IN_ONE_GO)

    families = "gaussian"

    def __init__(self, *, variance: str = "own", smoothing: float = 1.0, priors: Any = None) -> None:
        self.variance, self.smoothing, self.priors = variance, smoothing, priors
