"""The rule with the largest margin."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.rows import in_threads
from ...errors import DataError
from ...fitting.problem import NotFiniteError
from ...geometry.margin.certificate import MarginCertificate
from ...geometry.margin.hull import Hull
from ...geometry.margin.maximum import Outcome, maximise
from ...geometry.separation.search import HiddenSeparationError
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.proofs import Margin, Proof
from ...results.separability import Combination, Crossing
from ...results.verdict import Rank, Verdict, listed
from ...wording import call, learner, setting
from ..base import Card, LinearClassifier, MarginRecord, MarginStep, record_of_margin
from ..checks.rows import not_finite, set_fitted
from ..checks.settings import checked_count, checked_flags, checked_number
from ..checks.targets import rows_of, training_data
from ..logistic.words import Words
from ..warnings import BudgetWarning, NotSeparableWarning
from .separability import MOST_NUMBERS, MOST_WEIGHTS, searchable, separation_of

# From the outcome of a search for the largest margin to weights and a verdict.


@dataclass(frozen=True)
class Training:
    """Checked input."""

    rows: Rows
    classes: NDArray[Any]
    columns: tuple[str, ...]
    fit_intercept: bool
    lifted: bool
    tol: float
    max_passes: float
    read: Any
    """What has the columns of X, for `set_fitted`."""

    @property
    def free(self) -> bool:
        """Whether there is an intercept that is not in the norm."""
        return self.fit_intercept and not self.lifted


class Conclusion(NamedTuple):
    """What a fit leaves behind."""

    weights: Floats
    intercept: float
    margin: float
    passes: float
    rows: NDArray[np.intp]
    duals: Floats
    """α > 0 with w = Σᵢ αᵢyᵢxᵢ."""
    verdict: Verdict


NO_ROWS = np.empty(0, dtype=np.intp)


def concluded(outcome: Outcome, training: Training) -> Conclusion:
    """What a fit that came to its end can say."""
    found, best = outcome.found, outcome.best
    if outcome.crossing is not None:
        said, proof = _crossed(outcome.crossing), Crossing(outcome.crossing)
        return _conclusion(outcome.status, proof, said, np.zeros(len(training.columns)), 0.0, 0.0, outcome, training)
    if found is not None and found.feasible:
        said = _optimal(found, training) if outcome.status == "optimal" else _budget(outcome, found, training)
        weights, intercept = found.weights, found.intercept
        return _conclusion(outcome.status, _margin(found), said, weights, intercept, found.lower, outcome, training)
    if best is None:
        weights, intercept, margin = np.zeros(len(training.columns)), 0.0, 0.0
    else:  # with least score 1, where they separate the classes
        longer = best.upper / best.lower if best.lower > 0 else 1.0
        weights, intercept, margin = best.weights * longer, best.intercept * longer, max(best.lower, 0.0)
    said = _budget(outcome, best, training)
    return _conclusion("budget", None, said, weights, intercept, margin, outcome, training)


def second_look(outcome: Outcome, training: Training) -> Outcome:
    """Where rounding kept the search from either answer: rows that cross, as the test of separability finds them."""
    parted = outcome.best is not None and outcome.best.lower > 0
    if outcome.status != "budget" or outcome.found is not None or parted:
        return outcome
    if not searchable(training.rows.block, 2, training.fit_intercept):
        return outcome
    try:
        seen, proved = separation_of(training.rows, 2, training.fit_intercept)
    except (HiddenSeparationError, NotFiniteError):
        return outcome
    found = proved.proof.crossing
    if found is None or proved.proof.perturbation or seen.aliased.size:  # only what holds exactly, of all columns
        return outcome
    shares = replace(found, multipliers=found.multipliers / found.multipliers.sum())
    return replace(outcome, status="not-separable", crossing=shares)


def interrupted(latest: MarginStep | None, training: Training) -> Conclusion:
    """What a fit that was stopped can say: where it stood, and that nothing is proved."""
    weights, intercept, passes, bounds = np.zeros(len(training.columns)), 0.0, 0.0, ""
    if latest is not None:
        weights, intercept, passes = latest.weights, latest.intercept, latest.passes
        bounds = f": these weights have the margin {latest.lower:.6g}, and none has more than {latest.upper:.6g}"
    reached = f"after {passes:.3g} passes" if passes else "before the first pass ended"
    said = Words(f"Interrupted {reached}{bounds}; nothing is proved.", "Fit again.")
    return _conclusion(
        "interrupted", None, said, weights, intercept, max(0.0, latest.lower) if latest else 0.0,
        Outcome("interrupted", passes, None), training,
    )  # fmt: skip


def _conclusion(
    status: str, proof: Proof | None, said: Words, weights: Floats, intercept: float, margin: float,
    outcome: Outcome, training: Training,
) -> Conclusion:  # fmt: skip
    norm = np.append(weights, intercept) if training.lifted else weights
    with np.errstate(over="ignore"):
        value = float(norm @ norm) / 2
    claim = Claim(
        tuple(training.classes.tolist()), training.columns, weights.copy(), intercept, training.fit_intercept, 0.0,
        (1.0, 1.0), value, len(training.rows), "lifted margin" if training.lifted else "margin",
    )  # fmt: skip
    rank = Rank(None, len(training.columns) + training.fit_intercept, ())
    rows, duals = NO_ROWS, np.empty(0)
    if isinstance(proof, Margin):
        with np.errstate(over="ignore"):
            rows, duals = proof.rows, proof.multipliers / proof.lower / proof.upper
    return Conclusion(
        weights, intercept, margin, outcome.passes, rows, duals, Verdict(status, rank, proof, *said, claim)
    )


def _margin(found: MarginCertificate) -> Margin:
    order = np.argsort(found.rows)
    gap = found.relative_gap / found.lower / found.lower / 2
    return Margin(found.lower, found.upper, found.rows[order], found.multipliers[order], gap, found.relative_gap)


def _optimal(found: MarginCertificate, training: Training) -> Words:
    kind = "lifted margin" if training.lifted else "margin"
    return Words(
        f"Optimal: this rule separates the classes with the {kind} {found.lower:.8g}, and no rule has more than "
        f"{found.upper:.8g}: ½‖w‖² is at most {found.relative_gap:.1e} of itself above its minimum ({training.tol:g} "
        f"was asked). {_these(len(found.rows))} the weights.",
        "",
    )


def _these(rows: int) -> str:
    return f"{rows} rows carry" if rows > 1 else "One row carries"


def _crossed(combination: Combination) -> Words:
    names = [str(row) for row in combination.rows.tolist()]
    why = f"rows {listed(names)}, with the signs of their classes and positive factors, add up to zero"
    if len(names) == 1:
        why = f"row {names[0]} is zero, and without an intercept its score is 0"
    return Words(
        f"Not separable: no rule puts all rows strictly on their own side, for {why}. The weights are zero.",
        f"Use {learner('LogisticRegression')}, which allows for mistakes; or ask {call('separability(X, y)')} which "
        "rows cross.",
    )


def _budget(outcome: Outcome, reached: Any, training: Training) -> Words:
    spent = f"after {outcome.passes:.3g} passes"
    bounds = "neither a separating rule nor rows that cross are found"
    if reached is not None:
        state = (
            f"separates the classes with the margin {reached.lower:.8g}" if reached.lower > 0 else "does not separate"
        )
        bounds = f"the best rule {state}, and no rule has a margin above {reached.upper:.8g}"
    if outcome.stalled:
        return Words(
            f"Not proved: {spent} {bounds}; rounding allows no better.",
            f"Loosen {setting('tol')}, or subtract offsets from the columns: the margin is small beside the numbers "
            "of X.",
        )
    return Words(f"Not finished: {spent} {bounds}.", f"Raise {setting('max_passes')} above {training.max_passes:g}.")


SINGLE_THREAD_BELOW = 200_000


class MaxMarginClassifier(LinearClassifier):
    """argmin over w, b of ‖w‖ with yᵢ(xᵢᵀw + b) ≥ 1 for all i; the margin is γ = 1/‖w‖.  [001 slide 21]

    The hard-margin classifier: of all rules that make no mistake, the one whose nearest rows are farthest away. Every
    fit ends with a verdict: *optimal*, with a bound on the margin from both sides; *not-separable*, with a few rows
    that no rule can separate; or *budget*, with the reason. `verdict_.check(X, y)` recomputes either.

    Parameters
    ----------
    tol : float
        The relative gap to be proved. It is that of ½‖w‖²; of the margin it is half of that.
    fit_intercept : bool
        Whether there is an intercept b.
    lifted : bool
        Whether the intercept is a weight as any other, of a column of ones. ‖(w, b)‖ is then minimal, and the margin is
        that of the rows (x, 1). The perceptron's mistake bound asks for this one. Otherwise b is free, and offsets of
        the columns do not matter. Without an intercept it changes nothing.
    max_passes : float
        How many passes over the rows at the most. The last round may add two.
    n_threads : int or None
        How many threads. None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for
        any number.

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
        for _ in self.steps(X, y, sample_weight):
            pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[MarginStep]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        began = time.perf_counter()
        training = self._prepare(X, y, sample_weight)
        rows = training.rows
        history: list[MarginRecord] = []
        latest: MarginStep | None = None
        try:
            with in_threads(rows, self.n_threads, SINGLE_THREAD_BELOW) as shared:
                with one_blas_thread():
                    hull = Hull.of(shared, free=training.free, lifted=training.lifted)
                run = maximise(hull, training.tol, training.max_passes)
                while True:
                    try:
                        with one_blas_thread():
                            progress = next(run)
                    except StopIteration as end:
                        self._conclude(end.value, training, history)
                        return
                    latest = MarginStep(*progress, time.perf_counter() - began)
                    history.append(record_of_margin(latest))
                    yield latest
        except (NotFiniteError, ZeroDivisionError, OverflowError):
            raise not_finite(rows.block, training.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._set(interrupted(latest, training), training, history)
            raise

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        checked_flags(self, "fit_intercept", "lifted")
        if self.n_threads is not None:
            checked_count("n_threads", self.n_threads)
        tol = checked_number("tol", self.tol, least=0, strict=True)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        rows, targets, cost, factors, read, columns = training_data(self, X, y, sample_weight)
        if targets.soft:
            raise DataError(
                "Unknown label type: continuous. y holds probabilities; MaxMarginClassifier needs a label for each "
                f"row, of one class or the other. {learner('LogisticRegression')} learns from probabilities."
            )
        if len(targets.classes) > 2:
            raise DataError(
                f"Only binary classification is supported. y has {len(targets.classes)} classes: "
                "fit two of them at a time, on the rows of these two."
            )
        if not searchable(rows, 2, bool(self.fit_intercept)) and rows.skips_zeros:
            raise DataError(
                f"X has {rows.shape[1]} columns; of sparse rows MaxMarginClassifier can work with at most "
                f"{MOST_WEIGHTS} columns, those of zeros not counted, or {MOST_NUMBERS} numbers in all, zeros counted. "
                f"Choose or combine columns; {call('separability(X, y)')} tells whether a rule that is soon found "
                "separates "
                "the classes."
            )
        return Training(
            rows_of(rows, targets, cost, factors, compiled=False).gathered(), targets.classes, columns,
            bool(self.fit_intercept), bool(self.lifted and self.fit_intercept), tol, max_passes, read,
        )  # fmt: skip

    def _conclude(self, outcome: Outcome, training: Training, history: list[MarginRecord]) -> None:
        outcome = second_look(outcome, training)
        end = concluded(outcome, training)
        if not end.verdict.ok:
            kind = NotSeparableWarning if outcome.status == "not-separable" else BudgetWarning
            warnings.warn(kind(end.verdict), stacklevel=4)
        self._set(end, training, history)

    def _set(self, end: Conclusion, training: Training, history: list[MarginRecord]) -> None:
        """Set all attributes of a fit."""
        set_fitted(
            self, training.read, classes_=training.classes, verdict_=end.verdict, coef_=end.weights[None].copy(),
            intercept_=np.array([end.intercept]), margin_=end.margin, n_passes_=end.passes, support_=end.rows,
            dual_coef_=(end.duals * training.rows.y[end.rows])[None], history_=history,
            rule_=LinearRule(end.weights, end.intercept, tuple(training.classes), training.columns),
        )  # fmt: skip
