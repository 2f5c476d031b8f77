"""Least squares on the classes, in closed form from one pass, or by the delta rule."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from ...data import Rows
from ...errors import SettingError
from ...fitting.closed.least_squares import NormalEquations, Solution, contrasts, normal_equations, solve
from ...fitting.scan.online import OnlineState
from ...numerics.arrays import EPS
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.proofs import Optimality
from ...results.verdict import Rank, Verdict
from ...wording import setting
from ..base import IN_ONE_GO, Card, LinearClassifier
from ..checks.rows import set_fitted
from ..checks.settings import NOT_NEGATIVE, POSITIVE, checked_flag, checked_parameters, checked_threads, seed_of
from ..logistic.training import ORDERS, checked_rate
from ..logistic.words import Words
from . import words
from .batches import Batch, OnePassFit, Statistics, next_batch, whole_batch
from .delta_rule import DeltaRuleEnd, continued_delta_rule, run_delta_rule

MOST_COLUMNS_CHECKED = 1000
"""Columns, up to which the rows themselves are asked whether a column is a combination of others."""
BLOCK_ROWS = 1 << 14
"""Rows whose errors are summed at once."""


class LeastSquaresClassifier(OnePassFit, LinearClassifier):
    """W̃ = (X̃ᵀX̃)⁻¹X̃ᵀT: argmin over W, b of (1/C) Σᵢ cᵢ‖tᵢ − Wxᵢ − b‖² + (l2/2)‖W‖², C = Σᵢcᵢ.  [003 slides 14, 15]

    T is 1-of-K, or probabilities. Of two classes one row of weights is fitted to −1 and +1 (to 2t − 1), and its sign
    decides: that is the difference of the two rows that 1-of-K targets give, with a penalty or without. xᵀW estimates
    E[Y | x], but nothing keeps it between 0 and 1, and it has no `predict_proba`. Squares punish rows that are right by
    a large margin: far rows turn the boundary, and a class between two others may never be predicted.

    One pass over X gives counts, means and scatter, about the means: offsets and scales of the columns do not matter.
    If columns are combinations of others (all but a ten-millionth of their spread is explained), the weights are the
    shortest of all that minimise, in the units of X, the intercept not counted; the verdict names the columns.

    Parameters
    ----------
    l2 : float
        The penalty, (l2/2)‖w‖² beside the *mean* loss. scikit-learn's RidgeClassifier(alpha) is l2 = 2 alpha/n.
    fit_intercept : bool
        Whether there is an intercept b. It is never penalised.
    solver : "closed" or "stochastic"
        How the minimum is found. By the normal equations, or the delta rule: w ← w + η(y − xᵀw)x, one row at a time.
        [003 slide 31; 004 §4.2]
    learning_rate, order, averaging, max_passes, tol, random_state : as in LogisticRegression(solver="stochastic")
        How the delta rule goes: it ends when its value is within tol of the least, which is known beforehand, or when
        the passes are spent. The default rate is a quarter of 1/mean‖(x, 1)‖², and falls with the passes.
    n_threads : int or None
        How many threads. None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for
        any number.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    rule_ : LinearRule
    verdict_ : Verdict
        The gap is ½gᵀH⁺g with g the residual of the normal equations in long double, and an allowance for the rounding
        of the moments; `verdict_.check(X, y)` computes all of it from the rows.
    n_passes_ : float
    history_ : list of (passes, rows, seconds), one for each call

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.verdict_.status, model.verdict_.check(X, y)
    ('optimal', True)
    """

    card = Card("least-squares", no_path=IN_ONE_GO)

    _statistics: Statistics | None = None
    """Of all rows so far, where the normal equations are solved."""
    _online: OnlineState | None = None
    """Where the delta rule stands."""

    def __init__(
        self,
        *,
        l2: float = 0.0,
        fit_intercept: bool = True,
        solver: str = "closed",
        learning_rate: Any = None,
        order: str = "permutation",
        averaging: bool = False,
        max_passes: float = 100,
        tol: float = 1e-6,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.learning_rate = learning_rate
        self.order = order
        self.averaging = averaging
        self.max_passes = max_passes
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LeastSquaresClassifier:
        """Fit the weights; `verdict_` says how far from the minimum they can be."""
        began = time.perf_counter()
        self._check()
        batch = whole_batch(self, X, y, sample_weight, "pooled", soft=True)
        if self.solver == "closed":
            found = self._solved(batch)
        else:
            seed = seed_of(self.random_state, needed=self.order != "cyclic")
            found = self._stepped(run_delta_rule(self, batch, self._equations(batch.total), seed), batch)
        set_fitted(self, batch.read, **found, history_=self._recorded(batch.total.rows, began, anew=True))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LeastSquaresClassifier:
        """Learn these rows too: as if all rows so far had been given to one `fit`. Classes may appear later.

        With solver="stochastic" it is the delta rule instead, each row once in its order; that needs a learning_rate,
        and with the first rows all classes.
        """
        began = time.perf_counter()
        self._check()
        if self.solver == "stochastic":
            read, found = continued_delta_rule(self, X, y, classes, sample_weight)
            history = self._recorded(found["verdict_"].claim.rows, began, anew=False)
            set_fitted(self, read, **found, history_=history)
            return self
        before = self._statistics
        batch = next_batch(self, X, y, classes, sample_weight, "pooled", before, soft=True)
        alone = len(batch.total.classes) == 1  # rows of one class wait for another
        found = {"_statistics": batch.total, "_online": None} if alone else self._solved(batch)
        set_fitted(self, batch.read, **found, history_=self._recorded(batch.total.rows, began, anew=before is None))
        return self

    def _check(self) -> None:
        checked_parameters(
            self, l2=NOT_NEGATIVE, fit_intercept=checked_flag, averaging=checked_flag, solver=("closed", "stochastic"),
            order=ORDERS, max_passes=POSITIVE, tol=POSITIVE, n_threads=checked_threads, learning_rate=checked_rate,
        )  # fmt: skip
        if self.solver == "closed" and self.learning_rate is not None:
            raise SettingError(
                "learning_rate", self.learning_rate, f"use {setting('solver', 'stochastic')}, or None.",
                f"{setting('solver', 'closed')} and {setting('learning_rate', self.learning_rate)} do not go together: "
                "the closed form takes no steps;",
            )  # fmt: skip

    def _equations(self, found: Statistics) -> NormalEquations:
        return normal_equations(found.moments, found.squares, found.rows, float(self.l2), bool(self.fit_intercept))

    def _solved(self, batch: Batch) -> dict[str, Any]:
        normal = self._equations(batch.total)
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solve(normal)
        if solution.vague and batch.alone is batch.total:
            solution = replace(solution, value=_value(batch, solution, normal.l2))
        aliased = tuple(batch.columns[j] for j in solution.aliased)
        proved = solution.sure and words.is_proved(solution, normal)
        said = words.solved(solution, normal, aliased) if proved else words.unsure(solution, normal)
        left = left_over(batch, solution.aliased, lifted=normal.lifted) if proved and aliased else 0.0
        if left:
            proved, said = False, words.nearly(solution, aliased, left)
        found = self._found(solution, normal, batch, said, 1.0, proved, aliased)
        return {**found, "_statistics": batch.total, "_online": None}

    def _stepped(self, ended: DeltaRuleEnd, batch: Batch) -> dict[str, Any]:
        normal = self._equations(batch.total)
        proved = not ended.diverged and words.is_proved(ended.solution, normal, self.tol)
        said = (
            words.diverged(ended.passes)
            if ended.diverged
            else words.stepped(ended.solution, normal, ended.passes, self.tol)
        )
        aliased = tuple(batch.columns[j] for j in ended.solution.aliased)
        found = self._found(ended.solution, normal, batch, said, ended.passes, proved, aliased)
        return {**found, "_statistics": None, "_online": ended.state}

    def _found(
        self, solution: Solution, normal: NormalEquations, batch: Batch, said: Words, passes: float, proved: bool,
        aliased: tuple[str, ...],
    ) -> dict[str, Any]:  # fmt: skip
        """What a fit found, by the names of the attributes."""
        many, found = len(batch.total.classes) > 2, batch.total
        weights = solution.weights if many else solution.weights[0]
        intercept: Any = solution.intercept if many else float(solution.intercept[0])
        claim = Claim(
            tuple(found.classes.tolist()), batch.columns, weights.copy(), intercept, normal.lifted, normal.l2,
            (1.0,) * len(found.classes), solution.value, found.rows, "least squares", found.soft,
        )  # fmt: skip
        of = len(batch.columns) + normal.lifted
        shortest = of - len(aliased) if self.solver == "closed" else None  # the delta rule does not seek them
        rank = Rank(shortest, of, aliased) if normal.l2 == 0 else Rank(None, of, ())
        relative = solution.gap / solution.value if solution.value > 0 else 0.0
        errors = solution.coefficients if many else solution.coefficients[0]
        proof = Optimality(solution.distance, 0.0, solution.gap, relative, solution.distance, errors, 1.0)
        return {
            "classes_": found.classes, "n_passes_": passes, "coef_": solution.weights.copy(),
            "intercept_": solution.intercept.copy(),
            "rule_": LinearRule(weights, intercept, tuple(found.classes), batch.columns),
            "verdict_": Verdict("optimal" if proved else "budget", rank, proof, *said, claim),
        }  # fmt: skip


def left_over(batch: Batch, aliased: Any, *, lifted: bool) -> float:
    """The part of its spread that a column which was left out has of its own, if more than rounding; else zero.

    From some of the rows, where they are at hand: products of columns do not tell parts below 10⁻⁷.
    """
    d = len(batch.columns)
    counts = np.flatnonzero(batch.cost > 0) if batch.cost.size else np.arange(len(batch.rows))
    if batch.alone is not batch.total or d > MOST_COLUMNS_CHECKED or len(counts) <= d + 1:
        return 0.0
    some = batch.rows.take(counts[np.linspace(0, len(counts) - 1, min(len(counts), 4 * d + 64)).astype(int)])
    Z = np.array(some.dense(), dtype=np.float64)
    size = np.abs(Z).max(axis=0)
    if lifted:
        Z -= Z.mean(axis=0)
    spread = np.linalg.norm(Z, axis=0) / math.sqrt(len(Z))
    moving = spread > 64 * EPS * size
    gone = np.array([j for j in aliased if moving[j]], dtype=int)
    kept = np.setdiff1d(np.flatnonzero(moving), aliased)
    if not gone.size or not kept.size:
        return 0.0
    Z = Z / np.where(moving, spread, 1.0)
    Q = np.linalg.qr(Z[:, kept])[0]
    rest = Z[:, gone] - Q @ (Q.T @ Z[:, gone])
    left = np.linalg.norm(rest - Q @ (Q.T @ rest), axis=0) / math.sqrt(len(Z))
    rounding = 1e3 * EPS * (1 + float((size[moving] / spread[moving]).max()))
    return float(left.max()) if left.max() > rounding else 0.0


def _value(batch: Batch, solution: Solution, l2: float) -> float:
    """(1/C) Σ c‖t − Wx − b‖² + (l2/2)‖W‖² from the rows: large weights that cancel leave the moments few digits."""
    shares = contrasts(len(batch.targets.classes)).T

    def of(rows: Rows, lo: int, hi: int) -> float:
        total = 0.0
        for start in range(lo, hi, BLOCK_ROWS):
            part = slice(start, min(start + BLOCK_ROWS, hi))
            own, cost = rows.y[part], rows.cost[part]
            T = shares[own] if own.ndim == 1 else own @ shares
            squares = np.square(rows.block[part] @ solution.weights.T + solution.intercept - T).sum(axis=1)
            total += float(cost @ squares) if cost.size else float(squares.sum())
        return total

    return float(batch.rows.fold(of)) / batch.rows.weight + l2 / 2 * float((solution.weights**2).sum())
