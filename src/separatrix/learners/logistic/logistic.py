"""Logistic regression: two classes or many, by likelihood or by squared error, all rows at a time or one."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...data.mapped import MappedRows
from ...data.reading import finite
from ...errors import Refusal, SettingError
from ...fitting.coordinates import is_wide
from ...fitting.firth.ascent import penalised_maximum
from ...fitting.minimise import minimise
from ...fitting.path import TRIAL, CrossValidation, Path, choose_l2, later
from ...fitting.plans.wide import goes_wide
from ...fitting.problem import Minimum, NotFiniteError, Outcome, Problem, Progress
from ...fitting.scan.stochastic import stochastic_gradient
from ...fitting.starts import best_of
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp, sigmoid, softplus
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ...results.linear_rule import LinearRule, limit_probabilities
from ...results.verdict import Verdict
from ...wording import setting
from ..base import Card, LinearClassifier, Record, Step, record_of
from ..checks.features import Features, learn_features, mapped_rows
from ..checks.rows import check_lengths, checked_costs, checked_rows, forget, names_of, not_finite, unchanged_on_failure
from ..checks.settings import checked_choice, checked_numbers, present, seed_of
from ..checks.targets import Prior, check_folds, checked_targets, class_costs, known_targets, prior_of, rows_of
from ..geometry.separability import index_of
from ..warnings import BudgetWarning, SeparationWarning
from .conclusion import Training, interrupted_verdict, look_closer, seen_closer, verdict_of
from .influence import Influence, influence_of
from .interpretation import Interpretation
from .piecemeal import continue_online
from .settings import PENALISED, Settings, check_two_classes, checked_settings

SINGLE_THREAD_BELOW = 200_000
COMPILE_FROM = 400_000
"""Numbers in X, zeros counted, from which the compiled pass repays the 0.3 s that loading it takes."""


class LogisticRegression(Interpretation, LinearClassifier):
    """argmin over w, b of (1/C) Σᵢ cᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + (l2/2)‖w‖²,  C = Σᵢcᵢ.  [000 8.4; 002 4]

    Maximum likelihood, by default without a penalty; of K classes softmax regression, with scores sₖ = xᵀwₖ + bₖ the
    mean of log Σₖ exp(sₖ) − Σₖ tₖsₖ and (l2/2)‖W‖², the weights of the last class at zero if l2 = 0 and symmetric
    (adding up to zero) if l2 > 0. Or, with objective="squared", least squared error of the probabilities.

    Every fit ends with a verdict: *optimal*, with a bound on its distance from the optimum that `verdict_.check(X, y)`
    recomputes; *local*, with the same for a local minimum of the squared error; *separated*, with the rule that
    separates; *quasi-separated*, with the coefficients that stay finite and the limit of the deviance; or *budget*,
    with the reason. Scales and offsets of the columns do not matter; nothing need be
    standardised. The intercept is never penalised.

    Parameters
    ----------
    objective : "likelihood", "squared", "firth" or "flic"
        What is minimised. The squared error is the mean of (y − p)², for a probability t as target the expectation
        (t − p)² + t(1 − t); of K classes, the mean of ‖t − p‖². "firth" maximises the likelihood with Firth's penalty,
        ℓ + ½ log|Σᵢ cᵢpᵢ(1 − pᵢ) xᵢxᵢᵀ|, for two classes: finite weights even where classes are separated, and less
        bias where rows are few. "flic" then fits the intercept again without the penalty, so that the probabilities
        add up to the targets.
    solver : "auto", "newton", "gauss-newton", "lbfgs", "gradient" or "stochastic"
        Newton–Raphson on all rows; the same with the curvature 2JᵀJ (squared error only); L-BFGS steered by Cholesky
        factors from a sample of the rows; gradient descent; one row at a time. "auto" is Newton or L-BFGS by the size
        of X.
    l2 : float, "cv" or CrossValidation
        The penalty for each row: (l2/2)‖w‖² beside the *mean* loss, in the units of X. scikit-learn's C multiplies
        the *sum* of the losses, so l2 = 1/(C · n) for n rows (with weights, n is their sum); its default C = 1 is
        l2 = 1/n, and its C = inf our default, l2 = 0. "cv" chooses it by cross-validated log-loss; the curve is kept in
        `l2_path_`.
    fit_intercept : bool
        Whether there is an intercept b.
    class_weight : None, "balanced" or dict
        Factors on the costs of the rows of each class.
    prior : None, "data" or dict
        What shares of the classes `predict_proba` speaks of: None: those that the fit saw, class weights counted;
        "data": those of the rows, counted by sample_weight; a dict {class: share}: those of a population that is known,
        where rows were sampled by class. Only probabilities change: class weights move decisions on purpose.
    init : "least-squares", "zero", "random" or array
        Where the descent starts; an array holds the weights, then the intercept (or the weights alone), a row for each
        class if there are more than two. One row at a time, least squares means zero.
    tol : float
        The relative gap to be proved. A stochastic descent ends when a pass moves the weights by less than √tol.
    max_passes : float
        How many times X may be read, by each start where there are several. One row at a time: how many passes; the
        looks between them are not counted here.
    starts : int
        For the squared error, which may have several minima: how many descents, the first from `init`, the others from
        random weights.
    learning_rate : None, float or schedule
        None is line search, or one row at a time a rate that falls with the passes. A number η is the notes' rule
        literally, w ← w + ηXᵀ(y − p) or w ← w + ηXᵀP(I − P)(y − p), sums over all rows, in the units of X; one row at a
        time its η. A schedule such as LearningRate(0.1, power=0.5) gives η for each step.
    order : "permutation", "replacement" or "cyclic"
        How a stochastic pass takes the rows.
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
        None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for any number.

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

    verdict_: Verdict

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
        tags.classifier_tags.multi_class = self.objective not in PENALISED
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fit the weights; `verdict_` says how it ended."""
        quick = isinstance(self.objective, str) and self.objective in PENALISED
        with unchanged_on_failure(self), one_blas_thread() if quick else nullcontext():  # once, not at every step
            for _ in self.steps(X, y, sample_weight):
                pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Step]:
        """The fit, pass by pass. Whoever stops reading, or presses Ctrl-C, finds the attributes set."""
        began = time.perf_counter()
        training = self._prepare(X, y, sample_weight)
        self._remember(training, X, y, sample_weight)
        rows = training.problem.rows
        self.history_: list[Record] = []
        forget(self, "_online", "l2_path_", "minima_", "n_steps_")
        latest: Step | None = None
        threads = thread_count(self.n_threads) if rows.X.size >= SINGLE_THREAD_BELOW else 1
        try:
            with ordered_map(threads) if threads > 1 else nullcontext(map) as each:
                if each is not rows.map:
                    training = replace(training, problem=replace(training.problem, rows=replace(rows, map=each)))
                run = self._run(training)
                while True:
                    try:
                        with one_blas_thread():
                            progress: Progress = next(run)
                    except StopIteration as end:
                        outcome, l2 = end.value
                        if l2 != training.problem.l2:
                            training = replace(training, problem=replace(training.problem, l2=l2))
                        self._conclude(outcome, training)
                        return
                    latest = Step(*progress, time.perf_counter() - began)
                    self.history_.append(record_of(latest))
                    yield latest
        except NotFiniteError:
            raise not_finite(rows.X, training.columns, self) from None
        except (KeyboardInterrupt, GeneratorExit):
            self._interrupt(latest, training)
            raise

    def _run(self, training: Training) -> Generator[Progress, None, tuple[Outcome, float]]:
        """The fit that was asked for; it returns how it ended, and the penalty it ended with."""
        problem, settings = training.problem, training.settings
        if isinstance(settings.l2, CrossValidation):
            path, spent = yield from choose_l2(problem, settings.l2)
            self.l2_path_: Path = path
            outcome = yield from later(self._descent(replace(problem, l2=path.chosen), training), spent)
            return replace(outcome, passes=outcome.passes + spent), path.chosen
        outcome = yield from self._descent(problem, training)
        return outcome, problem.l2

    @staticmethod
    def _descent(problem: Problem, training: Training) -> Generator[Progress, None, Outcome]:
        settings = training.settings
        if settings.solver == "stochastic":
            return stochastic_gradient(problem, training.walk())
        if settings.objective in PENALISED:
            return penalised_maximum(problem, balanced=settings.objective == "flic")
        if settings.objective == "squared":
            return best_of(problem, 1 if settings.rate is not None else settings.starts)
        return minimise(problem)

    @available_if(lambda self: self._learns_piecemeal())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LogisticRegression:
        """Go on learning from these rows, one at a time in their order, each once; after `fit`, from its weights.

        Any chopping of the same rows gives the same weights, bit for bit. The first call needs all the classes, unless
        they all occur in its rows. It needs solver="stochastic" and a learning_rate that is a number or a schedule.
        """
        return continue_online(self, X, y, classes, sample_weight)  # type: ignore[no-any-return]

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

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the score is > 0; of K classes the one with the largest score.

        After *quasi-separated* the class that is likeliest in the limit.
        """
        check_is_fitted(self, "rule_")
        if self.verdict_.status != "quasi-separated":
            return super().predict(X)
        p = self._seen_proba(X)  # without the prior, which moves no decision
        return self.classes_[p.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """P(y | x) = σ(z)ʸ (1 − σ(z))¹⁻ʸ, z = xᵀw + b; of K classes the softmax of the scores.  [000 8.2; 002 2]

        After *separated* it is the limit of that as the weights grow: 0, 1, or an equal share at a tie. After
        *quasi-separated* too: 0 and 1 where the direction of growth tells classes apart, else what the limit leaves.
        With a prior the odds of these are multiplied by those of the shares wanted and divided by those of the shares
        seen: `predict`, `decision_function` and `rule_` stay as they are.
        """
        return np.exp(self.predict_log_proba(X)) if hasattr(self, "prior_") else self._seen_proba(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(y | x), without underflow."""
        seen = self._seen_log_proba(X)
        return self.prior_.corrected(seen) if hasattr(self, "prior_") else seen

    def _seen_proba(self, X: Any) -> Floats:
        """P(y | x) for classes as frequent as the fit saw them."""
        z = self._scores(X)
        if self.verdict_.status == "quasi-separated":
            return limit_probabilities(self.verdict_, self._readable(X))
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
        z = self._scores(X)
        if z.ndim == 2:
            return z - log_sum_exp(z)[:, None]  # type: ignore[no-any-return]
        return -np.column_stack([softplus(z), softplus(-z)])

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

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        settings = checked_settings(self)
        rows = checked_rows(self, X, reset=True)
        targets = checked_targets(self, y)
        check_two_classes(settings, len(targets.classes))
        check_lengths(rows, targets)
        cost = checked_costs(sample_weight, len(rows))
        class_weight = class_costs(self.class_weight, targets, cost)
        check_folds(settings.l2, targets, cost)
        rows = present(rows, cost)
        columns, features = names_of(self, rows.shape[1]), None
        if self.features is not None:
            named = hasattr(self, "feature_names_in_")
            features = learn_features(self.features, rows, columns, named, self, cost)
            rows, columns = mapped_rows(rows, features, self), features.names
        K = len(targets.classes)
        problem = Problem(
            rows_of(rows, targets, cost, class_weight, compiled=is_wide(rows) or math.prod(rows.shape) >= COMPILE_FROM),
            settings.loss(K),
            settings.l2 if isinstance(settings.l2, float) else 0.0, settings.fit_intercept, settings.solver,
            self._start(rows.shape[1], K), settings.tol, settings.max_passes, self._seed(settings), K,
            settings.fixed_rate,
        )  # fmt: skip
        _check_width(problem, settings)
        prior = prior_of(self.prior, targets, cost, class_weight)
        return Training(problem, settings, targets, columns, class_weight, index_of(X), features, prior)

    def _start(self, d: int, classes: int) -> str | tuple[Floats, Any]:
        shape = (classes, d) if classes > 2 else (1, d)
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape == shape:
            return self._as_weights(self.coef_.copy(), self.intercept_.copy())
        if self.init is None or isinstance(self.init, str):
            return checked_choice("init", self.init, ("least-squares", "zero", "random"))
        start = checked_numbers("init", self.init)
        if start.size not in (math.prod(shape), shape[0] * (d + bool(self.fit_intercept))):
            each = f" for each of the {classes} classes" if classes > 2 else ""
            raise SettingError(
                "init",
                self.init,
                "",
                f"init has {start.size} numbers; {d} weights are needed, then the intercept if any{each}.",
            )
        start = start.reshape(shape[0], -1)
        return self._as_weights(start[:, :d], start[:, d] if start.shape[1] > d else np.zeros(shape[0]))

    @staticmethod
    def _as_weights(weights: Floats, intercept: Floats) -> tuple[Floats, Any]:
        return (weights, intercept) if len(weights) > 1 else (weights[0], float(intercept[0]))

    def _seed(self, settings: Settings) -> int:
        chance = settings.solver == "stochastic" and settings.order != "cyclic"
        return seed_of(self.random_state, needed=chance or (isinstance(self.init, str) and self.init == "random"))

    def _conclude(self, outcome: Outcome, training: Training) -> None:
        closer = look_closer(outcome, training)
        if closer is not None:
            outcome = seen_closer(outcome, closer)
        likely = outcome.status != "separated"
        self._keep(outcome.weights, outcome.intercept, outcome.passes, training, likely)
        seen = (closer.result, closer.limit) if closer is not None else ()
        self.verdict_ = verdict_of(outcome, training, *seen)
        if training.settings.objective == "squared":
            self.minima_: tuple[Minimum, ...] = outcome.minima
        if not self.verdict_.ok:
            kind = SeparationWarning if outcome.status in ("separated", "quasi-separated") else BudgetWarning
            warnings.warn(str(self.verdict_), kind, stacklevel=4)

    def _interrupt(self, latest: Step | None, training: Training) -> None:
        init, d, K = training.problem.init, len(training.columns), training.problem.classes
        nothing: tuple[Floats, Any] = (np.zeros(d), 0.0) if K == 2 else (np.zeros((K, d)), np.zeros(K))
        weights, intercept = init if isinstance(init, tuple) else nothing
        value, passes = math.nan, 0.0
        if latest is not None:
            weights, intercept, passes = latest.weights, latest.intercept, latest.passes
            value = math.nan if latest.start == TRIAL else latest.value  # a trial saw a part of the rows
        self._keep(weights, intercept, passes, training, True)
        self.verdict_ = interrupted_verdict(weights, intercept, value, passes, training)

    def _keep(self, weights: Floats, intercept: Any, passes: float, training: Training, likely: bool) -> None:
        self.classes_ = training.targets.classes
        self.coef_, self.intercept_ = np.array(weights, ndmin=2), np.array(intercept, dtype=float, ndmin=1)
        self.n_passes_, self.l2_ = passes, training.problem.l2
        features = "" if training.features is None else str(training.features)
        self.rule_ = LinearRule(weights, intercept, tuple(self.classes_), training.columns, likely, features)
        forget(self, "features_", "prior_")
        if training.features is not None:
            self.features_: Features = training.features
        if training.prior is not None:
            self.prior_: Prior = training.prior

    def _readable(self, X: Any) -> Any:
        """The rows of X; with features rows of them, made when they are read."""
        rows = super()._readable(X)
        features = getattr(self, "features_", None)
        if features is None:
            return rows
        if not finite(rows):  # a feature of infinity may be finite
            raise not_finite(rows, features.columns, self)
        return MappedRows(rows, features.map)


def _check_width(problem: Problem, settings: Settings) -> None:
    """Newton's method needs a matrix of the columns."""
    n, d = problem.rows.X.shape
    if settings.objective in PENALISED and goes_wide(problem):
        raise SettingError(
            "objective",
            settings.objective,
            "",
            f"{setting('objective', settings.objective)} needs a {d} × {d} matrix, and X is sparse with {n} rows of "
            f"{d} columns: choose fewer columns, or use {setting('objective', 'likelihood')} with {setting('l2')} > 0.",
        )
    if settings.solver in ("newton", "gauss-newton") and goes_wide(problem):
        raise SettingError(
            "solver",
            settings.solver,
            "",
            f"{setting('solver', settings.solver)} needs a {d} × {d} matrix, and X is sparse with {n} rows of {d} "
            f"columns: use {setting('solver', 'auto')} or 'lbfgs', or choose fewer columns.",
        )
