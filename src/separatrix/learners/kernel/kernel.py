"""The perceptron in the space of a kernel's features."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...data.kernels.gram import CustomKernel, Kernel, Matrix, Objects, gram
from ...errors import Refusal
from ...fitting.scan.kernel_budget import OVERFLOWS, BudgetCost, BudgetScan
from ...fitting.scan.kernel_scan import KernelCourse, KernelScan
from ...fitting.scan.perceptron import FOREVER, TIES, NotFiniteScoreError
from ...fitting.scan.run import Run
from ...numerics.arrays import EPS, Floats
from ...results.claims import KernelClaim
from ...results.expansion import ONE_VS_REST, Dual, Expansion, Record
from ...results.mistake_log import MistakeBound, mistake_bound
from ...results.proofs import KernelSeparation
from ...results.verdict import Rank, Verdict
from ...wording import setting
from ..base import Card
from ..checks.rows import check_lengths, set_fitted
from ..perceptron.words import by_a_hair, counted, on_the_boundary, rows_read, still_wrong, stopped
from ..warnings import BudgetWarning
from .settings import (
    READINGS,
    KernelTraining,
    asked_at,
    check_kernel,
    check_reading,
    checked_curve,
    checked_training,
    explained,
    read,
    winners,
)

# How a kernel perceptron's run ended, in a verdict.


class Standing(NamedTuple):
    """How the last weights do on the training rows."""

    mistakes: int
    leads: Floats
    """yᵢs(xᵢ); of K classes the least s_y − sₖ."""
    margin: float
    """The least lead in units of the weights' length."""
    length: float
    separated: bool
    longest: float
    """The largest k(x, x)."""


@np.errstate(over="ignore", invalid="ignore")
def standing(s: Floats, target: Any, support: Any, A: Floats, longest: float, terms: int) -> Standing:
    """From the scores of all rows: lengths of weights are ⟨wₖ, wⱼ⟩ = Σᵢ αₖᵢ sⱼ(xᵢ).

    `longest` is the largest k(x, x); `terms` is how many operations a score took, here and in the check, each of which
    may have moved it by rounding. A separation is claimed only where the check will find it too.
    """
    if not np.isfinite(s).all():
        raise NotFiniteScoreError
    inner = A @ s[:, support].T
    length = math.sqrt(max(0.0, float(np.trace(inner))))
    if len(s) == 1:
        leads = np.where(target == 1, s[0], -s[0])
        wrong = (s[0] > 0) != (target == 1)
        margin = float(leads.min()) / (length or 1.0)
    else:
        lead = s[target, np.arange(s.shape[1])] - s
        lead[target, np.arange(s.shape[1])] = math.inf
        squares = np.diagonal(inner)
        apart = np.sqrt(np.maximum(squares + squares[:, None] - inner - inner.T, 0))
        apart = np.where(apart > 0, apart, 1.0)
        leads, wrong = lead.min(axis=0), s.argmax(axis=0) != target
        margin = float((lead / apart[target].T).min())
    doubt = 10 * (terms + 8) * EPS * longest * float(np.abs(A).sum(axis=1).max(initial=0))
    return Standing(int(wrong.sum()), leads, margin, length, bool(leads.min() > doubt), longest)


class Ended(NamedTuple):
    """How a run ended."""

    why: str
    passes: float
    mistakes: NDArray[np.int64]
    """In each pass."""
    cost: BudgetCost | None
    reading: str


def conclude(training: KernelTraining, end: Ended, at: Standing, support: Any, A: Floats) -> Verdict:
    """*separated*, if the last weights separate the rows; else *budget* or *interrupted*."""
    course = training.course
    n, total = len(course.rows), int(end.mistakes.sum())
    read = rows_read(end.passes, n, course.passes.order)
    kernel = course.kernel
    shown = None if isinstance(kernel, Matrix) else kernel.function if isinstance(kernel, CustomKernel) else kernel
    coefficients = A[0] if len(A) == 1 else A
    claim = KernelClaim(
        tuple(training.classes.tolist()), shown, support.astype(np.intp), coefficients, course.lifted, at.mistakes / n,
        n, tabular=not isinstance(course.rows, Objects),
    )  # fmt: skip
    rank = Rank(None, len(support), ())
    if end.why == "interrupted":
        return Verdict("interrupted", rank, None, *stopped(read, total, resumes=False), claim)
    if at.separated:
        who = "The rule separates" if end.reading == "last" else "The last weights separate"
        cause = (
            f"{who} the classes: all {n} rows are on their own side in the space of the kernel, the "
            f"nearest at a distance of {at.margin:.3g}. It took {counted(total, 'mistake')} on "
            f"{counted(len(support), 'row')} in {read}.{_limited(end.cost)}"
        )
        remedy = "" if end.reading == "last" else f"Nothing is proved of the {end.reading} reading, which predicts."
        return Verdict("separated", rank, KernelSeparation(at.margin, at.length), cause, remedy, claim)
    return Verdict("budget", rank, None, *_not_separated(course, at, end), claim)


def _not_separated(course: KernelCourse, at: Standing, end: Ended) -> tuple[str, str]:
    if end.why == "clean":
        return by_a_hair() if all(TIES[course.ties]) else on_the_boundary(course.ties, at.mistakes)
    stands = still_wrong(end.mistakes, end.passes, len(course.rows), course.passes.order)
    cause = f"{stands} The last weights err on {at.mistakes} of {len(course.rows)} rows.{_limited(end.cost)}"
    if end.why == "patience":
        cause += f" It ended because the weights had not changed for {counted(course.passes.patience, 'step')}."
    if end.cost is not None:
        return cause, "More passes or a larger budget may help."
    if end.reading != "last":
        return cause, f"Nothing is proved of the {end.reading} reading; more passes may help."
    return cause, (
        f"More passes may help, unless equal rows have different labels; {setting('reading', 'averaged')} is steadier "
        "where the classes overlap."
    )


def _limited(cost: BudgetCost | None) -> str:
    if cost is None or not cost.times:
        return ""
    full = f" The budget of {cost.budget} rows was full: {cost.times}"
    if cost.overflow == "remove":
        return f"{full} rows were removed again."
    part = f"{cost.lost / cost.made:.0%} of the length of all that was learnt" if cost.made else "nothing"
    return f"{full} mistakes were projected upon the rows kept, which left out {part}."


def expansion_of(kernel: Kernel, record: Record, budgeted: dict[str, Floats] | None, reading: str) -> Expansion:
    """The terms of the sum, for a reading; with a budget, of the rows that it kept."""
    if budgeted is None:
        made = record.expansion(reading)
        return Expansion(kernel, made.support, made.coefficients, made.intercept)
    A = budgeted[reading]
    return Expansion(kernel, record.support, A, A.sum(axis=1) * record.lifted)


class KernelUpdate(NamedTuple):
    """A mistake."""

    step: int
    """How many rows had been looked at before, over all passes."""
    row: int
    """The row of X that caused it."""
    label: Any
    """Its class; one against the rest, the class that rises, None if one falls."""
    rival: Any
    """The class that it was taken for, and that falls; None if none does."""
    mistakes: int
    """So far, this one counted."""
    passes: float


class CurvePoint(NamedTuple):
    """Errors on some rows after so many passes, by reading."""

    passes: float
    mistakes: int
    """While learning, up to there."""
    support: int
    """Rows that were ever mistaken, up to there."""
    last: float
    averaged: float
    voted: float


class KernelPerceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """xᵀw = Σᵢ αᵢ yᵢ k(xᵢ, x), αᵢ counting mistakes: the perceptron in the space of k's features.  [000 8.17]

    With the linear kernel it is `Perceptron`. With another it learns what no plane can: XOR, parity, strings, graphs.
    All its weights are sums over one log of mistakes, so that every reading is there after one fit.

    Parameters
    ----------
    kernel : "linear", "polynomial", "rbf", "precomputed" or a function
        How alike two rows are, k(x, z). xᵀz; (γxᵀz + c)^degree; exp(−γ‖x − z‖²); X is the matrix k(xᵢ, xⱼ) itself; or a
        function k(A, B) that gives len(A) × len(B) numbers for two sets of rows. If X is a list of objects, the
        function is given lists of them. `separatrix.kernels` has some for strings and graphs.
    degree : int
        The degree of a polynomial kernel.
    gamma : float or None
        γ of a polynomial or rbf kernel. None: 1 in a polynomial, and in rbf 1/(columns × the variance of X).
    constant : float
        The constant c of a polynomial kernel.
    reading : "last", "averaged" or "voted"
        Which weights predict: the last, the mean of all, or all of them by a vote. `predict` may be asked for another.
    budget : int or None
        How many rows may be kept. When there are more, `overflow` says what is done; readings are then the last, and
        with "project" also the averaged.
    overflow : "remove" or "project"
        What is done about a row over the budget. A row drawn at random makes room; or what a mistake adds is replaced
        by the nearest combination of the rows that are kept. `budget_` says what that cost.
    multiclass : "joint" or "one-vs-rest"
        How more than two classes are learnt. The weights of a row's own class rise and those of the strongest other
        fall, as in `Perceptron`; or each class has a machine of its own that learns it against the rest.
    max_passes, order, patience, ties, fit_intercept, random_state : as in `Perceptron`
        With an intercept, k is k + 1.
    n_threads : int or None
        How many threads. They make the kernel's matrix; a function of the user's own is never called from two.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    expansion_ : Expansion
        The terms of the sum, for the reading that was chosen; of a vote, those of the last weights.
    support_ : array of int
        The rows that have a term: those that were ever mistaken, or that the budget kept.
    dual_coef_, intercept_ : arrays
        The coefficients of the expansion, and the intercept.
    log_ : MistakeLog
        One against the rest, own and rival are −1 where only one line of weights moved.
    verdict_ : Verdict
        Of the last weights on the training rows.
    budget_ : BudgetCost or None
    mistakes_, history_, n_passes_, n_steps_ : as in `Perceptron`; one against the rest, mistakes of all machines

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> model = KernelPerceptron(kernel="polynomial", degree=2).fit(X, y)
    >>> model.predict(X).tolist(), model.verdict_.status, model.verdict_.check(X, y)
    (['same', 'other', 'other', 'same'], 'separated', True)
    """

    card = Card(
        "kernel", course="",
        no_path="It has a coefficient for each row that it learnt from, and no weights of columns.",
    )  # fmt: skip

    verdict_: Verdict
    _budgeted: dict[str, Floats] | None
    """By reading, the coefficients of the rows that the budget kept, if there is one."""
    _standing: Standing
    """How the last weights do on the training rows."""
    _record: Record
    """The kernel, the rows that were ever mistaken, and the mistakes."""

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        degree: int = 2,
        gamma: float | None = None,
        constant: float = 1.0,
        reading: str = "last",
        budget: int | None = None,
        overflow: str = "remove",
        multiclass: str = "joint",
        max_passes: float = 30,
        order: str = "cyclic",
        patience: int | None = None,
        ties: str = "mistake",
        fit_intercept: bool = True,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.constant = constant
        self.reading = reading
        self.budget = budget
        self.overflow = overflow
        self.multiclass = multiclass
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse, tags.input_tags.pairwise = not given, given
        return tags

    @property
    def deciding_rule(self) -> Any:
        """An `Expansion`, or of a vote the `Record` of all mistakes."""
        return self._record if self.reading == "voted" else self._expansion(self.reading)

    def fit(self, X: Any, y: Any) -> KernelPerceptron:
        """Learn from the rows; `verdict_` says how it ended."""
        for _ in self._run(X, y, FOREVER):
            pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[KernelUpdate]:
        """Fit as `fit` does, and yield each mistake. The attributes are set even after an early stop or Ctrl-C."""
        told = 0
        for scan, run, classes in self._run(X, y, 1):
            log = scan.since(told)
            for k in range(len(log)):
                own, rival = (None if at < 0 else classes[at] for at in (log.own[k], log.rival[k]))
                yield KernelUpdate(int(log.steps[k]), int(log.rows[k]), own, rival, told + k + 1, run.passes)
            told += len(log)

    def decision_function(self, X: Any, reading: str | None = None) -> Floats:
        """Σⱼ αⱼ k(xⱼ, x) + b for each row, of K classes n × K; of a vote the mean vote, or the share of each class."""
        check_is_fitted(self, "verdict_")
        reading = self.reading if reading is None else reading
        cost = self.budget_
        check_reading(reading, *((None, "") if cost is None else (cost.budget, cost.overflow)))
        rows = read(self, X)
        with explained(self):
            if reading == "voted":
                found: Floats = self._at(X).votes(rows, self.n_threads)
            else:
                found = self._expansion(reading, X).score(rows, self.n_threads)
            if not np.isfinite(found).all():
                raise OverflowError
        return found

    def predict(self, X: Any, reading: str | None = None) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the score is > 0; of K classes the first of the strongest."""
        scores = self.decision_function(X, reading)
        return self.classes_[winners(scores)]  # type: ignore[no-any-return]

    def curve(self, X: Any, y: Any, passes: Any = None) -> list[CurvePoint]:
        """Errors on these rows after each of these numbers of passes, by every reading, from one run down the log.

        Without `passes`, after each whole pass that was made; nothing changes after the last.
        """
        check_is_fitted(self, "verdict_")
        if self.budget_ is not None:
            raise Refusal("With a budget only the last state is kept: there is no curve to be drawn from it.")
        rows, log = read(self, X), self.log_
        truth = column_or_1d(y)
        check_lengths(len(rows), len(truth))
        ends = np.arange(1, int(self.n_passes_) + 1) if passes is None else checked_curve(passes)
        ends = np.minimum(ends, self.n_passes_)
        seen = np.round(ends * len(self._standing.leads)).astype(np.int64)
        with explained(self):
            found = self._at(X).curves(rows, seen, READINGS, self.n_threads)
            if not all(np.isfinite(scores).all() for scores in found.values()):
                raise OverflowError
        wrong = {
            name: [float((self.classes_[winners(s)] != truth).mean()) for s in scores] for name, scores in found.items()
        }
        return [
            CurvePoint(float(ends[e]), int(np.searchsorted(log.steps, end)), self._record.dual.supported(int(end)),
                       *(wrong[name][e] for name in READINGS))
            for e, end in enumerate(seen)
        ]  # fmt: skip

    def bound(self) -> MistakeBound:
        """((R + √T D)/γ)²: how many mistakes T passes over the rows can make at the most, in the space of the kernel.

        R² is the largest k(x, x), of K classes twice that; the direction is that of the last weights.  [001 slide 25]
        """
        check_is_fitted(self, "verdict_")
        if self.budget_ is not None or self._record.apart:
            raise Refusal("The bound holds for a perceptron without a budget whose classes compete, and for no other.")
        at = self._standing
        if not at.length > 0:
            raise Refusal("The last weights are zero, and point nowhere: there is no bound along them.")
        times = self._passes.visits(len(at.leads), self.n_steps_)
        R = float(np.sqrt(at.longest * (1 if len(self.classes_) == 2 else 2)))
        return mistake_bound(at.leads / at.length, R, times, 0.0, 1.0, int(self.mistakes_.sum()))

    def _run(self, X: Any, y: Any, room: int) -> Iterator[tuple[KernelScan, Run, NDArray[Any]]]:
        began = time.perf_counter()
        training = checked_training(self, X, y)
        course, classes, budget = training[:3]
        with explained(self), gram(course.kernel, self.n_threads) as block:
            check_kernel(course.kernel, course.rows)
            scan = KernelScan(course, block) if budget is None else OVERFLOWS[self.overflow](course, block, budget)
            run = Run(scan, course.passes, room, began)
            try:
                for _ in run:
                    yield scan, run, classes
                self._keep(training, scan, run)
            except (KeyboardInterrupt, GeneratorExit):
                scan.settle()
                run.ended = "interrupted"
                self._keep(training, scan, run)
                raise

    def _keep(self, training: KernelTraining, scan: Any, run: Run) -> None:
        course, log, n = scan.course, scan.log, len(scan.course.rows)
        mistakes = np.bincount(log.steps // n, minlength=-(-scan.steps // n)).astype(np.int64)
        dual, cost, budgeted = Dual.of(log, course.lines), None, None
        if isinstance(scan, BudgetScan):
            cost, (support, A) = scan.cost, scan.coefficients("last")
            budgeted = {"last": A, "averaged": scan.coefficients("averaged")[1]}
        else:
            support, A = dual.support, dual.last()
        record = Record(course.kernel, course.rows[support], dual, course.lifted, course.way == ONE_VS_REST)
        width = (course.rows.shape[1] + 2) * getattr(course.kernel, "degree", 1) if hasattr(course.rows, "shape") else 0
        terms = max(len(log) // 2, len(support)) + width
        at = standing(scan.all_scores(), course.target, support, A, scan.longest, terms)
        verdict = conclude(training, Ended(run.ended, scan.steps / n, mistakes, cost, self.reading), at, support, A)
        made = expansion_of(record.kernel, record, budgeted, "last" if self.reading == "voted" else self.reading)
        if self.reading == "last" and run.ended != "interrupted" and not verdict.ok:
            warnings.warn(BudgetWarning(verdict), stacklevel=4)
        set_fitted(
            self, training.read, classes_=training.classes, log_=log, n_steps_=scan.steps, n_passes_=scan.steps / n,
            mistakes_=mistakes, history_=run.history, budget_=cost, support_=support, expansion_=made,
            dual_coef_=made.coefficients, intercept_=made.intercept, verdict_=verdict, _budgeted=budgeted,
            _record=record, _standing=at, _passes=course.passes, _fitted_kernel=training.kernel,
            _objects=isinstance(course.rows, Objects),
        )  # fmt: skip

    def _expansion(self, reading: str, X: Any = None) -> Expansion:
        kernel = self._record.kernel if X is None else asked_at(self, X)
        return expansion_of(kernel, self._record, self._budgeted, reading)

    def _at(self, X: Any) -> Record:
        record = self._record
        return Record(asked_at(self, X), record.support, record.dual, record.lifted, record.apart)
