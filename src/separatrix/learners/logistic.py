"""Logistic regression of two classes."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data import Rows
from ..data.threads import one_blas_thread, ordered_map, thread_count
from ..fitting.minimise import minimise
from ..fitting.problem import NotFiniteError, Outcome, Problem, Progress
from ..losses import LogLikelihood
from ..numerics import sigmoid, softplus
from ..rule import LinearRule
from ..verdict import Verdict
from .base import LinearClassifier
from .conclusion import Prepared, interrupted_verdict, verdict_of
from .influence import Influence, influence_of
from .validation import (
    check_lengths,
    checked_choice,
    checked_costs,
    checked_labels,
    checked_number,
    checked_numbers,
    checked_rows,
    class_costs,
    known_labels,
    not_finite,
)
from .warnings import BudgetWarning, SeparationWarning

Floats = NDArray[np.float64]
SINGLE_THREAD_BELOW = 200_000
COMPILE_FROM = 400_000
"""Numbers in X from which the compiled pass repays the 0.3 s that loading it takes."""


class Step(NamedTuple):
    """Where a fit stands after a pass over the rows."""

    weights: Floats
    intercept: float
    value: float
    gradient_norm: float
    step: float
    passes: float
    moved_by: str
    seconds: float


class Record(NamedTuple):
    """One line of `history_`."""

    passes: float
    value: float
    gradient_norm: float
    step: float
    seconds: float


class LogisticRegression(LinearClassifier):
    """argmin over w, b of (1/C) Σᵢ cᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + (l2/2)‖w‖²,  C = Σᵢcᵢ.  [000 8.4; 002 4]

    Maximum likelihood for two classes, by default without a penalty. Every fit ends with a verdict: *optimal*, with a
    bound on its distance from the optimum that `verdict_.check(X, y)` recomputes; *separated*, with the rule that
    separates; or *budget*, with the reason. Scales and offsets of the columns do not matter; nothing need be
    standardised. The intercept is never penalised.

    Parameters
    ----------
    objective : "likelihood"
        What is minimised.
    solver : "auto", "newton", "lbfgs" or "gradient"
        Newton–Raphson on all rows; L-BFGS steered by a Cholesky factor from a sample of the rows; gradient descent
        with line search; "auto" picks one of the first two by the size of X.
    l2 : float
        The penalty for each row: (l2/2)‖w‖² beside the *mean* loss, in the units of X. scikit-learn's C multiplies
        the *sum* of the losses, so l2 = 1/(C · n) for n rows (with weights, n is their sum); its default C = 1 is
        l2 = 1/n, and its C = inf our default, l2 = 0.
    fit_intercept : bool
        Whether there is an intercept b.
    class_weight : None, "balanced" or dict
        Factors on the costs of the rows of each class.
    init : "least-squares", "zero", "random" or array
        Where the descent starts; an array holds the weights, then the intercept (or the weights alone).
    tol : float
        The relative gap to be proved.
    max_passes : float
        How many times X may be read.
    random_state : int, RandomState or None
        The seed of a random start and of the sample that steers.
    warm_start : bool
        Start from the weights of the last fit.
    n_threads : int or None
        None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for any number.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    rule_ : LinearRule
    verdict_ : Verdict
    history_ : list of (passes, value, gradient_norm, step, seconds), one a step
    n_passes_ : float
        How many times X was read, samples and proofs counted by their share of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression().fit(X[["mean radius", "mean texture", "mean smoothness"]], y)
    >>> model.verdict_.status, model.verdict_.check(X[list(model.feature_names_in_)], y)
    ('optimal', True)
    """

    verdict_: Verdict

    def __init__(
        self,
        *,
        objective: str = "likelihood",
        solver: str = "auto",
        l2: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        init: Any = "least-squares",
        tol: float = 1e-10,
        max_passes: float = 200,
        random_state: Any = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.objective = objective
        self.solver = solver
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.init = init
        self.tol = tol
        self.max_passes = max_passes
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fit the weights; `verdict_` says how it ended."""
        for _ in self.steps(X, y, sample_weight):
            pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Step]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        began = time.perf_counter()
        prepared = self._prepare(X, y, sample_weight)
        rows = prepared.problem.rows
        self.history_: list[Record] = []
        latest: Step | None = None
        threads = thread_count(self.n_threads) if rows.X.size >= SINGLE_THREAD_BELOW else 1
        try:
            with ordered_map(threads) as each:
                run = minimise(replace(prepared.problem, rows=replace(rows, map=each)))
                while True:
                    try:
                        with one_blas_thread():
                            progress: Progress = next(run)
                    except StopIteration as end:
                        self._conclude(end.value, prepared)
                        return
                    latest = Step(*progress, time.perf_counter() - began)
                    self.history_.append(
                        Record(latest.passes, latest.value, latest.gradient_norm, latest.step, latest.seconds)
                    )
                    yield latest
        except NotFiniteError:
            raise not_finite(rows.X, prepared.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._interrupt(latest, prepared)
            raise

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) = σ(z)ʸ (1 − σ(z))¹⁻ʸ, z = xᵀw + b.  [000 8.2; 002 2]

        After *separated* it is the limit of that as the weights grow: 0, 1, or ½ at z = 0.
        """
        z = self._scores(X)
        if self.verdict_.status == "separated":
            p = (np.sign(z) + 1) / 2
            return np.column_stack([1 - p, p])
        return np.column_stack([sigmoid(-z), sigmoid(z)])

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x), without underflow."""
        check_is_fitted(self, "rule_")
        if self.verdict_.status == "separated":
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))  # type: ignore[no-any-return]
        z = self._scores(X)
        return -np.column_stack([softplus(z), softplus(-z)])

    def influence(self, X: Any, y: Any, sample_weight: Any = None) -> Influence:
        """e p(1 − p) and its kin: how hard each row pulls at the weights, and how much it holds them.  [000 §8.1.3]

        At the maximum of the likelihood the pulls e·x of all rows balance. Leverage and shift are those of the
        weighted least-squares problem that Newton's last step solves.
        """
        z = self._scores(X)
        rows = np.asarray(checked_rows(self, X, reset=False), dtype=np.float64)
        positive = known_labels(y, self.classes_, len(z)) == self.classes_[1]
        cost = checked_costs(sample_weight, len(z))
        factors = np.where(positive, *reversed(self.verdict_.claim.class_weight))
        return influence_of(rows, z, positive, cost * factors if cost.size else factors, self.l2, self.fit_intercept)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        checked_choice("objective", self.objective, ("likelihood",))
        solver = checked_choice("solver", self.solver, ("auto", "newton", "lbfgs", "gradient"))
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept is {self.fit_intercept!r}; it must be True or False.")
        l2 = checked_number("l2", self.l2, least=0)
        tol = checked_number("tol", self.tol, least=0, strict=True)
        max_passes = checked_number("max_passes", self.max_passes, least=0, strict=True)
        if self.n_threads is not None and checked_number("n_threads", self.n_threads, least=1) % 1:
            raise ValueError(f"n_threads is {self.n_threads!r}; it must be a whole number.")
        rows = checked_rows(self, X, reset=True) if y is not None else checked_rows(self, X, None, reset=True)
        labels = checked_labels(self, y)
        check_lengths(rows, labels.signs)
        cost = checked_costs(sample_weight, len(rows))
        class_weight = class_costs(self.class_weight, labels, cost)
        if class_weight != (1.0, 1.0):
            cost = (cost if cost.size else np.ones(len(rows))) * np.where(labels.signs > 0, *reversed(class_weight))
        names = getattr(self, "feature_names_in_", None)
        columns = tuple(f"x{j}" for j in range(rows.shape[1])) if names is None else tuple(map(str, names))
        problem = Problem(
            Rows(rows, labels.signs, cost, compiled=rows.size >= COMPILE_FROM), LogLikelihood(), l2,
            bool(self.fit_intercept), solver, self._start(rows.shape[1]), tol, max_passes, self._seed(),
        )  # fmt: skip
        return Prepared(problem, labels, columns, class_weight)

    def _start(self, d: int) -> str | tuple[Floats, float]:
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape == (1, d):
            return self.coef_[0].copy(), float(self.intercept_[0])
        if self.init is None or isinstance(self.init, str):
            return checked_choice("init", self.init, ("least-squares", "zero", "random"))
        start = checked_numbers("init", self.init).ravel()
        if start.size not in (d, d + bool(self.fit_intercept)):
            raise ValueError(f"init has {start.size} numbers; {d} weights are needed, then the intercept if any.")
        return start[:d], float(start[d]) if start.size > d else 0.0

    def _seed(self) -> int:
        if self.random_state is None and not (isinstance(self.init, str) and self.init == "random"):
            return 0
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            raise ValueError(f"random_state is {self.random_state!r}; give an integer or None. ({error})") from None

    def _conclude(self, outcome: Outcome, prepared: Prepared) -> None:
        self._keep(outcome.weights, outcome.intercept, outcome.passes, prepared, outcome.status != "separated")
        self.verdict_ = verdict_of(outcome, prepared)
        if outcome.status != "optimal":
            kind = SeparationWarning if outcome.status == "separated" else BudgetWarning
            warnings.warn(str(self.verdict_), kind, stacklevel=4)

    def _interrupt(self, latest: Step | None, prepared: Prepared) -> None:
        init = prepared.problem.init
        weights, intercept = init if isinstance(init, tuple) else (np.zeros(len(prepared.columns)), 0.0)
        value, passes = math.nan, 0.0
        if latest is not None:
            weights, intercept, value, passes = latest.weights, latest.intercept, latest.value, latest.passes
        self._keep(weights, intercept, passes, prepared, True)
        self.verdict_ = interrupted_verdict(weights, intercept, value, passes, prepared)

    def _keep(self, weights: Floats, intercept: float, passes: float, prepared: Prepared, likely: bool) -> None:
        self.classes_ = prepared.labels.classes
        self.coef_, self.intercept_ = weights[None, :].copy(), np.array([intercept])
        self.n_passes_ = passes
        self.rule_ = LinearRule(weights, intercept, tuple(self.classes_), prepared.columns, probabilistic=likely)
