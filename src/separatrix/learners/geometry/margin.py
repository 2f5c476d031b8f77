"""The rule with the largest margin."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...data import Sparse
from ...errors import DataError
from ...fitting.problem import NotFiniteError
from ...geometry.margin.hull import Hull
from ...geometry.margin.maximum import Outcome, maximise
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ...results.linear_rule import LinearRule
from ...results.verdict import Verdict
from ...wording import call, learner
from ..base import LinearClassifier, MarginRecord, MarginStep, record_of_margin
from ..card import Card
from ..checks.absent import present
from ..checks.rows import check_lengths, checked_costs, checked_rows, not_finite, unchanged_on_failure
from ..checks.settings import checked_count, checked_flags, checked_number
from ..checks.targets import checked_targets, class_costs, rows_of
from ..warnings import BudgetWarning, NotSeparableWarning
from .margin_conclusion import Conclusion, Training, concluded, interrupted, second_look
from .separability import MOST_NUMBERS, MOST_WEIGHTS, searchable

SINGLE_THREAD_BELOW = 200_000


class MaxMarginClassifier(LinearClassifier):
    """argmin over w, b of ‖w‖ with yᵢ(xᵢᵀw + b) ≥ 1 for all i; the margin is γ = 1/‖w‖.  [001 slide 21]

    The hard-margin classifier: of all rules that make no mistake, the one whose nearest rows are farthest away. Every
    fit ends with a verdict: *optimal*, with a bound on the margin from both sides; *not-separable*, with a few rows
    that no rule can separate; or *budget*, with the reason. `verdict_.check(X, y)` recomputes either.

    Parameters
    ----------
    tol : float
        The gap to be proved, of ½‖w‖² in units of itself; in units of the margin it is half of that.
    fit_intercept : bool
        Whether there is an intercept b.
    lifted : bool
        Whether the intercept is a weight as any other, of a column of ones: ‖(w, b)‖ is minimal, and the margin is that
        of the rows (x, 1). The perceptron's mistake bound asks for this one. Otherwise b is free, and offsets of the
        columns do not matter. Without an intercept it changes nothing.
    max_passes : float
        How many times X may be read, about.
    n_threads : int or None
        None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for any number.

    Rows with sample_weight zero do not count; other weights make no difference.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
        Zero if the classes cannot be separated.
    margin_ : float
        γ, rounded down: the distance of the nearest rows from the boundary, with the best intercept; lifted, of the
        rows (x, 1). 0 if the classes cannot be separated.
    support_ : array of row numbers
        Rows with a positive multiplier: they alone give the same rule. At most (weights + 1), the intercept counted.
    dual_coef_ : array, 1 × rows of support_
        yᵢαᵢ: w = Σᵢ yᵢαᵢxᵢ.
    rule_ : LinearRule
    verdict_ : Verdict
    history_ : list of (passes, lower, upper, working, seconds), one a pass that looked for rows
    n_passes_ : float

    Examples
    --------
    >>> model = MaxMarginClassifier().fit([[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]], ["a", "b", "b"])
    >>> model.margin_, model.support_.tolist()
    (1.0, [0, 1])
    >>> print(model.rule_)
    b where 1·x0 − 1 > 0, else a
    >>> model.verdict_.check([[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]], ["a", "b", "b"])
    True
    """

    card = Card("margin", path_unit="passes over the rows")

    verdict_: Verdict

    def __init__(
        self,
        *,
        tol: float = 1e-10,
        fit_intercept: bool = True,
        lifted: bool = False,
        max_passes: float = 1000,
        n_threads: int | None = None,
    ) -> None:
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.lifted = lifted
        self.max_passes = max_passes
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # classes that overlap have no rule without mistakes, and get none
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MaxMarginClassifier:
        """Fit the weights; `verdict_` says how it ended."""
        with unchanged_on_failure(self):
            for _ in self.steps(X, y, sample_weight):
                pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[MarginStep]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        began = time.perf_counter()
        training = self._prepare(X, y, sample_weight)
        rows = training.rows
        self.history_: list[MarginRecord] = []
        latest: MarginStep | None = None
        threads = thread_count(self.n_threads) if rows.X.size >= SINGLE_THREAD_BELOW else 1
        try:
            with ordered_map(threads) as each:
                with one_blas_thread():
                    hull = Hull.of(replace(rows, map=each), free=training.free, lifted=training.lifted)
                run = maximise(hull, training.tol, training.max_passes)
                while True:
                    try:
                        with one_blas_thread():
                            progress = next(run)
                    except StopIteration as end:
                        self._conclude(end.value, training)
                        return
                    latest = MarginStep(*progress, time.perf_counter() - began)
                    self.history_.append(record_of_margin(latest))
                    yield latest
        except (NotFiniteError, ZeroDivisionError, OverflowError):
            raise not_finite(rows.X, training.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._keep(interrupted(latest, training), training)
            raise

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        checked_flags(self, "fit_intercept", "lifted")
        if self.n_threads is not None:
            checked_count("n_threads", self.n_threads)
        tol = checked_number("tol", self.tol, least=0, strict=True)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        rows = checked_rows(self, X, reset=True)
        targets = checked_targets(self, y)
        if targets.soft:
            raise DataError(
                "Unknown label type: continuous. y holds probabilities; MaxMarginClassifier needs a label for each "
                f"row, of one class or the other. {learner('LogisticRegression')} learns from probabilities."
            )
        check_lengths(rows, targets)
        if len(targets.classes) > 2:
            raise DataError(
                f"Only binary classification is supported. y has {len(targets.classes)} classes: "
                "fit two of them at a time, on the rows of these two."
            )
        if not searchable(rows, 2, bool(self.fit_intercept)) and isinstance(rows, Sparse):
            raise DataError(
                f"X has {rows.shape[1]} columns; of sparse rows MaxMarginClassifier can work with at most "
                f"{MOST_WEIGHTS} columns, those of zeros not counted, or {MOST_NUMBERS} numbers in all, zeros counted. "
                f"Choose or combine columns; {call('separability(X, y)')} tells whether a rule that is soon found "
                "separates "
                "the classes."
            )
        cost = checked_costs(sample_weight, len(rows))
        factors = class_costs(None, targets, cost)
        rows = present(rows, cost)
        names = getattr(self, "feature_names_in_", None)
        columns = tuple(f"x{j}" for j in range(rows.shape[1])) if names is None else tuple(map(str, names))
        return Training(
            rows_of(rows, targets, cost, factors, compiled=False), targets.classes, columns,
            bool(self.fit_intercept), bool(self.lifted and self.fit_intercept), tol, max_passes,
        )  # fmt: skip

    def _conclude(self, outcome: Outcome, training: Training) -> None:
        outcome = second_look(outcome, training)
        self._keep(concluded(outcome, training), training)
        if not self.verdict_.ok:
            kind = NotSeparableWarning if outcome.status == "not-separable" else BudgetWarning
            warnings.warn(str(self.verdict_), kind, stacklevel=4)

    def _keep(self, end: Conclusion, training: Training) -> None:
        self.classes_, self.verdict_ = training.classes, end.verdict
        self.coef_, self.intercept_ = end.weights[None].copy(), np.array([end.intercept])
        self.margin_, self.n_passes_ = end.margin, end.passes
        self.support_, self.dual_coef_ = end.rows, (end.duals * training.rows.y[end.rows])[None]
        self.rule_ = LinearRule(end.weights, end.intercept, tuple(self.classes_), training.columns)
