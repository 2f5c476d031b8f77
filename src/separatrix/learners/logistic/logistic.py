"""Logistic regression: two classes or many, by likelihood or by squared error, all rows at a time or one."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...data.mapped import MappedRows
from ...data.rows import SMALL
from ...errors import Refusal
from ...fitting.firth.ascent import penalised_maximum
from ...fitting.minimise import minimise
from ...fitting.path import TRIAL, CrossValidation, choose_l2, later
from ...fitting.problem import At, NotFiniteError, Outcome, Problem, Progress
from ...fitting.scan.online import OnlineState
from ...fitting.scan.stochastic import stochastic_gradient
from ...fitting.starts import best_of
from ...losses.penalty import ridge
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp, sigmoid, softplus
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ...results.linear_rule import LinearRule
from ...results.verdict import Verdict
from ...wording import setting
from ..base import Card, LinearClassifier, Record, Step, released
from ..checks.rows import checked_costs, not_finite, present, set_fitted
from ..checks.targets import known_targets
from ..warnings import BudgetWarning, SeparationWarning
from .conclusion import concluded, interrupted_verdict
from .influence import Influence, influence_of
from .interpretation import Interpretation
from .piecemeal import continue_online
from .rows_of_fit import remembered
from .training import OBJECTIVES, PENALISED, Training, prepare


class LogisticRegression(Interpretation, LinearClassifier):
    """argmin over w, b of (1/C) Σᵢ cᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + (l2/2)‖w‖²,  C = Σᵢcᵢ.  [000 8.4; 002 4]

    Maximum likelihood, by default without a penalty; of K classes softmax regression, with scores sₖ = xᵀwₖ + bₖ the
    mean of log Σₖ exp(sₖ) − Σₖ tₖsₖ and (l2/2)‖W‖², the weights of the last class at zero if l2 = 0 and symmetric
    (adding up to zero) if l2 > 0. Or, with objective="squared", least squared error of the probabilities; or the least
    mean of another loss of the margin.

    Every fit ends with a verdict: *optimal*, with a bound on its distance from the optimum that `verdict_.check(X, y)`
    recomputes; *local*, with the same for a local minimum of the squared error; *separated*, with the rule that
    separates; *quasi-separated*, with the coefficients that stay finite and the limit of the deviance; or *budget*,
    with the reason. Scales and offsets of the columns do not matter; nothing need be
    standardised. The intercept is never penalised.

    Parameters
    ----------
    objective : "likelihood", "squared", "exponential", "squared-hinge", "firth" or "flic"
        What is minimised. The squared error is the mean of (y − p)², for a probability t as target the expectation
        (t − p)² + t(1 − t); of K classes, the mean of ‖t − p‖². For two classes "exponential" is the mean of e⁻ᵐ and
        "squared-hinge" that of [1 − m]₊², of the margins m = y(xᵀw + b), y = ±1: no likelihoods, so there is no
        inference. The score is half the log-odds for the exponential loss, P(1 | x) = σ(2(xᵀw + b)); for the squared
        hinge it tells no probabilities. "firth" maximises the likelihood with Firth's penalty,
        ℓ + ½ log|Σᵢ cᵢpᵢ(1 − pᵢ) xᵢxᵢᵀ|, for two classes: finite weights even where classes are separated, and less
        bias where rows are few. "flic" then fits the intercept again without the penalty, so that the probabilities
        add up to the targets.
    solver : "auto", "newton", "gauss-newton", "lbfgs", "gradient" or "stochastic"
        How the minimum is found. Newton–Raphson on all rows; the same with the curvature 2JᵀJ (squared error only);
        L-BFGS steered by Cholesky factors from a sample of the rows; gradient descent; one row at a time. "auto" is
        Newton or L-BFGS by the size of X.
    l2 : float, "cv" or CrossValidation
        The penalty, (l2/2)‖w‖² beside the *mean* loss. It is in the units of X. scikit-learn's C multiplies the *sum*
        of the losses, so l2 = 1/(C · n) for n rows (with weights, n is their sum); its default C = 1 is l2 = 1/n, and
        its C = inf our default, l2 = 0. "cv" chooses it by cross-validated log-loss; the curve is kept in `l2_path_`.
    fit_intercept : bool
        Whether there is an intercept b.
    class_weight : None, "balanced" or dict {class: factor}
        Factors on the costs of the rows of each class.
    prior : None, "data" or dict {class: share}
        The shares of the classes that probabilities speak of. None: those that the fit saw, class weights counted;
        "data": those of the rows, counted by sample_weight; a dict: those of a population that is known, where rows
        were sampled by class. Only probabilities change: class weights move decisions on purpose.
    init : "least-squares", "zero", "random" or array
        Where the weights start. An array holds the weights, then the intercept (or the weights alone), a row for each
        class if there are more than two. One row at a time, least squares means zero.
    tol : float
        The relative gap to be proved. A stochastic descent ends when a pass moves the weights by less than √tol.
    max_passes : float
        How many passes over the rows at the most. Where there are several starts, each has so many; one row at a time,
        the looks between passes are not counted here.
    starts : int
        How many descents, where there may be several minima. For the squared error: the first from `init`, the others
        from random weights.
    learning_rate : None, float or schedule
        The length of a step, η. None is line search, or one row at a time a rate that falls with the passes. A number
        is the notes' rule literally, w ← w + ηXᵀ(y − p) or w ← w + ηXᵀP(I − P)(y − p), sums over all rows, in the units
        of X; one row at a time its η. A schedule such as LearningRate(0.1, power=0.5) gives η for each step.
    order : "permutation", "replacement" or "cyclic"
        How a pass takes the rows, one at a time.
    averaging : bool
        Whether a stochastic descent ends with the mean of its weights over all steps.
    random_state : int, RandomState or None
        The seed of random starts and orders, of folds, and of the sample that steers.
    warm_start : bool
        Start from the weights of the last fit.
    features : None, transformer or list of transformers
        What the model is linear in, if not in X itself: maps of `separatrix.features`, such as Polynomial(2), or
        several in their order. They are learnt from X and applied block by block inside the fit, so that the table of
        features is never made; X, here and in `predict`, is that of the raw columns.
    n_threads : int or None
        How many threads. None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for
        any number.

    X may be a sparse matrix. With more than 2000 sparse columns no matrix of them is made: "auto" is then L-BFGS upon
    the Hessian's diagonal, and a minimum can be proved if l2 > 0.

    y may be labels of any kind; fractions between 0 and 1, the probabilities of the second of the classes 0 and 1; or a
    matrix with a column of probabilities for each class (a data frame's column names are the classes).

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    rule_ : LinearRule
    verdict_ : Verdict
    history_ : list of (passes, value, gradient_norm, step, seconds, negative_curvature, start), one a step
    n_passes_ : float
        How many times X was read, samples and proofs counted by their share of the rows.
    l2_ : float
        The penalty used; `l2_path_` holds the curve if it was chosen.
    features_ : Features
        With features: `map`, `names`, and `transform(X)`, which makes them all at once. `coef_` and `rule_` have a
        weight for each feature; `verdict_.check(X, y)` takes the raw X.
    prior_ : Prior
        With a prior: the shares of the classes that were `seen` and those that are `wanted`, in the order of classes_.
    minima_ : tuple of (value, weights, intercept, starts)
        Of the squared error: every minimum found, lowest first, with the number of starts that led there.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer, load_wine
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression().fit(X[["mean radius", "mean texture", "mean smoothness"]], y)
    >>> model.verdict_.status, model.verdict_.check(X[list(model.feature_names_in_)], y)
    ('optimal', True)
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression(l2=0.01).fit(X, y)
    >>> model.coef_.shape, model.verdict_.status
    ((3, 13), 'optimal')
    """

    card = Card("logistic", path_unit="passes over the rows")

    _online: OnlineState | None = None
    """Where `partial_fit` stands; None after `fit`."""

    def __init__(
        self,
        *,
        objective: str = "likelihood",
        solver: str = "auto",
        l2: Any = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        prior: Any = None,
        init: Any = "least-squares",
        tol: float = 1e-10,
        max_passes: float = 200,
        starts: int = 10,
        learning_rate: Any = None,
        order: str = "permutation",
        averaging: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        features: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.objective = objective
        self.solver = solver
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.prior = prior
        self.init = init
        self.tol = tol
        self.max_passes = max_passes
        self.starts = starts
        self.learning_rate = learning_rate
        self.order = order
        self.averaging = averaging
        self.random_state = random_state
        self.warm_start = warm_start
        self.features = features
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = OBJECTIVES.get(self.objective, (None, True))[1] is not None
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fit the weights; `verdict_` says how it ended."""
        with one_blas_thread():  # once, not at every step
            for _ in self._learn(X, y, sample_weight):
                pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Step]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        return released(self._told(X, y, sample_weight))

    def _told(self, X: Any, y: Any, sample_weight: Any) -> Generator[Step, None, None]:
        """The fit with the weights after each pass."""
        with closing(self._learn(X, y, sample_weight)) as run:
            for progress, seconds in run:
                place, value, norm, length, passes, moved_by, negative, start = progress
                weights, intercept = place()
                yield Step(weights, intercept, value, norm, length, passes, moved_by, negative, start, seconds)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Generator[tuple[Progress, float], None, None]:
        """Nothing is set before the fit has ended, or is stopped: a fit that fails leaves the model as it was."""
        began = time.perf_counter()
        training = prepare(self, X, y, sample_weight)
        rows = training.problem.rows
        history: list[Record] = []
        found: dict[str, Any] = {"history_": history, **remembered(training, X, y, sample_weight)}
        latest: Progress | None = None
        threads = thread_count(self.n_threads) if rows.size >= SMALL else 1
        try:
            with ordered_map(threads) if threads > 1 else nullcontext(map) as each:
                if threads > 1:
                    training = replace(training, problem=replace(training.problem, rows=rows.passed_by(each)))
                run = _run(training, found)
                while True:
                    try:
                        latest = next(run)
                    except StopIteration as end:
                        outcome, problem = end.value
                        self._conclude(outcome, replace(training, problem=problem), found)
                        return
                    _, value, norm, length, passes, _, negative, start = latest
                    seconds = time.perf_counter() - began
                    history.append(Record(passes, value, norm, length, seconds, negative, start))
                    yield latest, seconds
        except NotFiniteError:
            raise not_finite(training.rows.block, training.columns, training.read) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._interrupt(latest, training, found)
            raise

    @available_if(lambda self: self._learns_piecemeal())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LogisticRegression:
        """Go on learning from these rows, one at a time in their order, each once; after `fit`, from its weights.

        Any chopping of the same rows gives the same weights, bit for bit. The first call needs all the classes, unless
        they all occur in its rows. It needs solver="stochastic" and a learning_rate that is a number or a schedule.
        """
        continue_online(self, X, y, classes, sample_weight)
        return self

    def _learns_piecemeal(self) -> bool:
        if self.objective in PENALISED:
            raise AttributeError(
                f"partial_fit learns one row at a time; {setting('objective', self.objective)} needs all rows: use "
                f"{setting('objective', 'likelihood')} with {setting('solver', 'stochastic')}."
            )
        if self.solver != "stochastic":
            raise AttributeError(
                f"partial_fit learns one row at a time; {setting('solver', self.solver)} needs all rows: set "
                f"{setting('solver', 'stochastic')}."
            )
        return True

    @property
    def reads_levels(self) -> bool:
        """Whether the rows of a table may come without their zeros (`CategoricalRows`), if there are two classes."""
        fits = self.objective in OBJECTIVES and self.objective not in PENALISED
        convex = fits and OBJECTIVES[self.objective][0].convex
        return self.features is None and convex and self.solver in ("auto", "newton")

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the score is > 0; of K classes the one with the largest score.

        After *quasi-separated* the class that is likeliest in the limit.
        """
        check_is_fitted(self, "rule_")
        if self.verdict_.status != "quasi-separated":
            return super().predict(X)
        p = self._seen_proba(X)  # without the prior, which moves no decision
        return self.classes_[p.argmax(axis=1)]  # type: ignore[no-any-return]

    def _tells_log_odds(self) -> bool:
        if self._scale_of_log_odds != 1:
            raise AttributeError(
                f"{setting('objective', self.objective)} has scores that are no log-odds, so weights are no logarithms "
                f"of odds ratios: use coef_, or {setting('objective', 'likelihood')}."
            )
        return True

    @property
    def _scale_of_log_odds(self) -> float | None:
        """What a score is to be multiplied by to be log-odds."""
        objective = self.verdict_.claim.objective if hasattr(self, "verdict_") else self.objective
        return OBJECTIVES[objective][0].log_odds if objective in OBJECTIVES else 1.0

    def _tells_probabilities(self) -> bool:
        if self._scale_of_log_odds is None:
            raise AttributeError(
                f"{setting('objective', self.objective)} has no probabilities: its scores are no function of them. Use "
                f"decision_function, or {setting('objective', 'likelihood')}."
            )
        return True

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) = σ(z)ʸ (1 − σ(z))¹⁻ʸ, z = xᵀw + b; of K classes the softmax of the scores.  [000 8.2; 002 2]

        After *separated* it is the limit of that as the weights grow: 0, 1, or an equal share at a tie. After
        *quasi-separated* too: 0 and 1 where the direction of growth tells classes apart, else what the limit leaves.
        With a prior the odds of these are multiplied by those of the shares wanted and divided by those of the shares
        seen: `predict`, `decision_function` and `rule_` stay as they are.
        """
        return np.exp(self.predict_log_proba(X)) if hasattr(self, "prior_") else self._seen_proba(X)

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x), without underflow."""
        seen = self._seen_log_proba(X)
        return self.prior_.corrected(seen) if hasattr(self, "prior_") else seen

    def _seen_proba(self, X: Any) -> Floats:
        """P(y | x) for classes as frequent as the fit saw them."""
        z = self._log_odds(X)
        if self.verdict_.status == "quasi-separated":
            return self.limit_rule.probabilities(self._readable(X))
        if self.verdict_.status == "separated":
            top = (z == z.max(axis=1, keepdims=True)) if z.ndim == 2 else np.column_stack([z <= 0, z >= 0])
            return top / top.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
        if z.ndim == 2:
            return np.exp(z - log_sum_exp(z)[:, None])  # type: ignore[no-any-return]
        return np.column_stack([sigmoid(-z), sigmoid(z)])

    def _seen_log_proba(self, X: Any) -> Floats:
        """The logarithm of that, without underflow."""
        check_is_fitted(self, "rule_")
        if self.verdict_.status in ("separated", "quasi-separated"):
            with np.errstate(divide="ignore"):
                return np.log(self._seen_proba(X))  # type: ignore[no-any-return]
        z = self._log_odds(X)
        if z.ndim == 2:
            return z - log_sum_exp(z)[:, None]  # type: ignore[no-any-return]
        return -np.column_stack([softplus(z), softplus(-z)])

    def _log_odds(self, X: Any) -> Floats:
        """log P(1 | x)/P(0 | x); of K classes the logarithms of their odds, but for a constant."""
        z, times = self._scores(X), self._scale_of_log_odds
        return z if times is None or times == 1 else times * z

    @available_if(lambda self: self._tells_log_odds())  # type: ignore[untyped-decorator]
    def influence(self, X: Any, y: Any, sample_weight: Any = None) -> Influence:
        """e p(1 − p) and its kin: how hard each row pulls at the weights, and how much it holds them.  [000 §8.1.3]

        At the maximum of the likelihood the pulls e·x of all rows balance. Leverage and shift are those of the
        weighted least-squares problem that Newton's last step solves. Two classes only.
        """
        z = self._scores(X)
        if z.ndim == 2:
            raise Refusal(f"influence is for two classes; this model has {len(self.classes_)}: fit two of them.")
        target = known_targets(y, self.classes_, len(z))
        cost = checked_costs(sample_weight, len(z))
        rows = present(self._readable(X), cost)
        factors = target @ np.array(self.verdict_.claim.class_weight)
        return influence_of(
            rows, z, target[:, 1], cost * factors if cost.size else factors, self.l2_, self.fit_intercept
        )

    def _conclude(self, outcome: Outcome, training: Training, found: dict[str, Any]) -> None:
        outcome, verdict = concluded(outcome, training)
        if training.settings.objective == "squared":
            found["minima_"] = outcome.minima
        if not verdict.ok:
            kind = SeparationWarning if outcome.status in ("separated", "quasi-separated") else BudgetWarning
            warnings.warn(kind(verdict), stacklevel=4)
        self._set(outcome.weights, outcome.intercept, outcome.passes, verdict, training, found)

    def _interrupt(self, latest: Progress | None, training: Training, found: dict[str, Any]) -> None:
        start, d, K = training.problem.start, len(training.columns), training.problem.classes
        nothing: tuple[Floats, Any] = (np.zeros(d), 0.0) if K == 2 else (np.zeros((K, d)), np.zeros(K))
        weights, intercept = start if isinstance(start, At) else nothing
        value, passes = math.nan, 0.0
        if latest is not None:
            (weights, intercept), passes = latest.place(), latest.passes
            value = math.nan if latest.start == TRIAL else latest.value  # a trial saw a part of the rows
        verdict = interrupted_verdict(weights, intercept, value, passes, training)
        self._set(weights, intercept, passes, verdict, training, found)

    def _set(
        self, weights: Floats, intercept: Any, passes: float, verdict: Verdict, training: Training,
        found: dict[str, Any],
    ) -> None:  # fmt: skip
        """Set all attributes of a fit."""
        classes, features = training.targets.classes, training.features
        if features is not None:
            found["features_"] = features
        if training.prior is not None:
            found["prior_"] = training.prior
        told = OBJECTIVES[training.settings.objective][0].log_odds == 1  # what σ makes of a score is a probability
        likely, made_of = told and verdict.status != "separated", "" if features is None else str(features)
        set_fitted(
            self, training.read, classes_=classes, coef_=np.array(weights, ndmin=2),
            intercept_=np.array(intercept, dtype=float, ndmin=1), n_passes_=passes,
            l2_=training.problem.penalty.strength,
            rule_=LinearRule(weights, intercept, tuple(classes), training.columns, likely, made_of),
            verdict_=verdict, _online=None, **found,
        )  # fmt: skip

    def _readable(self, X: Any) -> Any:
        """The rows of X; with features rows of them, made when they are read."""
        rows = super()._readable(X)
        features = getattr(self, "features_", None)
        if features is None:
            return rows
        if not rows.finite():  # a feature of infinity may be finite
            raise not_finite(rows, features.columns, self)
        return MappedRows(rows, features.map)


def _run(training: Training, found: dict[str, Any]) -> Generator[Progress, None, tuple[Outcome, Problem]]:
    """The fit that was asked for; it returns how it ended, and the problem with the penalty it ended with."""
    problem, plan = training.problem, training.settings.l2
    if not isinstance(plan, CrossValidation):
        return (yield from _descent(problem, training)), problem
    path, spent = yield from choose_l2(problem, plan)
    found["l2_path_"] = path
    problem = replace(problem, penalty=ridge(path.chosen))
    outcome = yield from later(_descent(problem, training), spent)
    return replace(outcome, passes=outcome.passes + spent), problem


def _descent(problem: Problem, training: Training) -> Generator[Progress, None, Outcome]:
    settings = training.settings
    if settings.solver == "stochastic":
        return stochastic_gradient(problem, training.walk())
    if settings.objective in PENALISED:
        return penalised_maximum(problem, balanced=settings.objective == "flic")
    if settings.objective == "squared":
        return best_of(problem, 1 if settings.rate is not None else settings.starts)
    return minimise(problem)
