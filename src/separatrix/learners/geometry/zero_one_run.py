"""The ladder: the other learners' rules, then what the number of columns allows, then a wide margin."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.zero_one.dimension import basis
from ...geometry.zero_one.fan import fan
from ...geometry.zero_one.problem import CountedRule, Problem, counted, inside, merged
from ...geometry.zero_one.rules import firm, rule_for
from ...geometry.zero_one.search import Search
from ...geometry.zero_one.sweep import fits, loaded, sweep
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ...results.proofs import Covering, Enumeration, Proof
from ..closed.discriminant import GaussianDiscriminant
from ..closed.least_squares import LeastSquaresClassifier
from ..closed.naive_bayes import BernoulliNaiveBayes, GaussianNaiveBayes, PoissonNaiveBayes
from ..logistic.logistic import LogisticRegression
from ..perceptron.online import OnlinePerceptron
from ..perceptron.perceptrons import AveragedPerceptron, Perceptron, Pocket, VotedPerceptron
from .margin import MaxMarginClassifier

MOST_STEPS = 3e7
"""Numbers that a perceptron may read in all its passes."""
AT_LEAST = 0.5
"""Seconds that the search for a wide margin has at the least."""

QUICK: tuple[Any, ...] = (
    LogisticRegression, LeastSquaresClassifier, GaussianDiscriminant, GaussianNaiveBayes, BernoulliNaiveBayes,
    PoissonNaiveBayes, OnlinePerceptron, MaxMarginClassifier,
)  # fmt: skip
SLOW: tuple[Any, ...] = (AveragedPerceptron, VotedPerceptron, Perceptron, Pocket)
"""Those with many passes."""
SHARED: dict[Any, dict[str, Any]] = {GaussianNaiveBayes: {"variance": "shared"}}
"""What makes a learner's rule linear in X."""


def rules_of(
    learners: tuple[Any, ...], X: Floats, second: NDArray[np.bool_], cost: Floats, lifted: bool, seed: int
) -> Iterator[tuple[Floats, float]]:
    """Weights and intercept of each learner that has a linear rule for these rows."""
    y = second.astype(np.int64)
    for learner in learners:
        known, takes = inspect.signature(learner).parameters, inspect.signature(learner.fit).parameters
        if not lifted and "fit_intercept" not in known:
            continue
        given: dict[str, Any] = dict(SHARED.get(learner, {}))
        given |= {"fit_intercept": lifted} if "fit_intercept" in known else {}
        given |= {"random_state": seed} if "random_state" in known else {}
        if "max_passes" in known and learner in SLOW:
            given["max_passes"] = min(float(known["max_passes"].default), max(1.0, MOST_STEPS / X.size))
        costs = {"sample_weight": cost} if cost.size and "sample_weight" in takes else {}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                rule = learner(**given).fit(X, y, **costs).rule_
            except (ValueError, ArithmeticError, AttributeError, np.linalg.LinAlgError):
                continue  # a learner that is not for such rows has no rule to offer
        if isinstance(rule, LinearRule) and rule.weights.shape == (X.shape[1],):
            yield rule.weights, float(rule.intercept)


def constants(problem: Problem) -> Iterator[tuple[Floats, float]]:
    """The rules that say the same of every row; without an intercept only the first class can be said."""
    nothing = np.zeros(problem.X.shape[1])
    yield nothing, -1.0 if problem.lifted else 0.0
    if problem.lifted:
        yield nothing, 1.0


def widest(problem: Problem, right: NDArray[np.bool_], seconds: float) -> CountedRule | None:
    """The rule of the largest margin on these rows, as far as it is found in time; None if there is none."""
    until = time.perf_counter() + seconds
    y = problem.sign[right]
    if (y == 1).all() or (y == -1).all():
        options = (counted(problem, *rule) for rule in constants(problem))
        return min((kept for kept in options if kept is not None), key=lambda kept: kept.cost, default=None)
    model = MaxMarginClassifier(fit_intercept=problem.lifted)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            for _ in model.steps(problem.X[right], y):
                if time.perf_counter() > until:
                    break
        except (ValueError, ArithmeticError):
            return None
    return counted(problem, model.coef_[0], float(model.intercept_[0])) if hasattr(model, "coef_") else None


def clearance(problem: Problem, kept: CountedRule) -> float:
    """minᵢ |xᵢᵀw + b|/‖w‖ over the rows that are right; infinite where the rule says the same of all."""
    size = float(np.abs(kept.weights).max(initial=0.0))
    if size == 0:
        return np.inf
    scores = problem.X[~kept.wrong] @ kept.weights + kept.intercept
    return float(np.abs(scores).min(initial=np.inf)) / size / float(np.linalg.norm(kept.weights / size))


SWEEPING = 0.7
"""The part of the time that a sweep may take; the rest is for cuts, if it does not come to its end."""
PATIENCE = 1.5
"""A sweep that would take so many times its time is given up at once, not when the time is over."""
EARLY = 20_000
"""Numbers in X up to which the slow learners are asked last, if the interval is still open; else before the search."""
SOON = 500
"""Rows whose sweep is over in a moment, so that it is never broken off."""
FEW = 5
"""Rounds along lines before cuts are looked for."""
WIDENING = 0.1
"""The part of the time that is left which the search for a wide margin may take."""


@dataclass(frozen=True)
class Training:
    """Checked input."""

    X: Floats
    second: NDArray[np.bool_]
    cost: Floats
    """Of every row, class weights multiplied in; none: all one."""
    classes: NDArray[Any]
    columns: tuple[str, ...]
    class_weight: tuple[float, ...]
    lifted: bool
    time_limit: float
    seed: int
    read: Any
    """What has the columns of X, for `set_fitted`."""


@dataclass(eq=False)
class Run:
    """One fit: the best rule so far, and what is proved."""

    training: Training
    began: float
    problem: Problem = field(init=False)
    search: Search = field(init=False)
    enumerated: tuple[int, tuple[int, ...]] | None = None
    """The least cost in units, and the columns whose rules were all counted."""
    ties: list[NDArray[np.bool_]] = field(default_factory=list)
    """What other lines of the least cost get wrong."""
    columns: tuple[int, ...] | None = None
    """The columns that count, if they are few."""
    sweeping: float = 0.0
    """Seconds that a sweep of two columns takes, as far as it has told."""

    def __post_init__(self) -> None:
        given = self.training
        self.problem = merged(given.X, given.second, given.cost, given.lifted)
        rules = [kept for rule in constants(self.problem) if (kept := counted(self.problem, *rule)) is not None]
        best = min(rules, key=lambda kept: kept.cost)
        self.search = Search(self.problem, best, self.began + given.time_limit, given.seed)

    @property
    def best(self) -> CountedRule:
        """The rule with the fewest mistakes so far."""
        return self.search.best

    @property
    def rule(self) -> tuple[Floats, float]:
        """Its weights and intercept for the rows as they were given."""
        found = self.problem.outside(self.best.weights, self.best.intercept)
        assert found is not None, "a rule that cannot be written down is not kept"
        return found

    @property
    def lower(self) -> int:
        """No rule costs less, in units."""
        return self.search.lower if self.enumerated is None else self.enumerated[0]

    @property
    def interval(self) -> tuple[Any, Any]:
        """The two bounds as numbers."""
        upper = self.problem.number(self.best.cost)
        return (upper if self.closed else self.problem.floor(self.lower)), upper

    @property
    def closed(self) -> bool:
        """Whether the bounds are one number; of costs that are not whole, up to rounding where cuts prove it."""
        return self.exact if self.enumerated is not None else self.problem.meet(self.lower, self.best.cost)

    @property
    def exact(self) -> bool:
        """Whether nothing at all is left between the bounds."""
        return self.lower >= self.best.cost

    def states(self) -> Iterator[None]:
        """Whenever something may be new."""
        late = self.training.X.size <= EARLY
        stages = (self._counted, self._asked(QUICK), self._asked(() if late else SLOW), self._searched,
                  self._asked(SLOW if late else ()))  # fmt: skip
        for stage in stages:
            if not (self.exact if stage == self._counted else self.closed):
                yield from stage()
        self._widen()
        yield

    def _asked(self, others: tuple[Any, ...]) -> Callable[[], Iterator[None]]:
        """The other learners, one after the other."""

        def stage() -> Iterator[None]:
            given = self.training
            for theirs in rules_of(others, given.X, given.second, given.cost, given.lifted, given.seed):
                rule = inside(self.problem.power, *theirs)
                seconds = max(AT_LEAST, self.search.left())
                self.search.offer(firm(self.problem, self.search.scaled, *rule, self.best.cost, seconds))
                yield
                if self.closed:
                    return

        return stage

    def _counted(self) -> Iterator[None]:
        """One column with an intercept, or two without; two with one, where the rows are few."""
        problem = self.problem
        self.columns = basis(problem.X, problem.lifted)
        if self.columns and len(self.columns) <= 2 - problem.lifted:
            cost, weights, intercept = fan(problem, self.columns)
            self.enumerated = cost, self.columns
            self.search.offer(counted(problem, weights, intercept))
            yield
        elif len(problem) <= SOON and self.sweeps:
            yield from self._swept()

    def _searched(self) -> Iterator[None]:
        search = self.search
        if self.enumerated is not None:
            return
        yield from search.descend(FEW)
        if self.sweeps:
            yield from self._swept()
        if self.enumerated is None:
            for stage in (search.gather, search.descend, search.branch):
                if not self.closed:
                    yield from stage()

    @property
    def sweeps(self) -> bool:
        """Whether all lines of a plane can be counted."""
        columns = self.columns
        return bool(columns and len(columns) == 2 and self.problem.lifted and fits(self.problem, columns))

    def _swept(self) -> Iterator[None]:
        problem, search, columns = self.problem, self.search, self.columns or ()
        began = time.perf_counter()
        loaded()
        search.deadline += time.perf_counter() - began  # to compile is no part of the search
        began, allowed, turns = time.perf_counter(), SWEEPING * search.left(), sweep(problem, columns)
        while len(problem) <= SOON or (time.perf_counter() - began < allowed and self.sweeping < PATIENCE * allowed):
            try:
                self.sweeping = (time.perf_counter() - began) / max(next(turns), 1e-9)
            except StopIteration as end:
                found = end.value
                self.enumerated, self.ties = (found.cost, columns), [found.wrong, *found.others]
                if found.cost < search.best.cost:
                    search.offer(widest(problem, ~found.wrong, max(AT_LEAST, search.left())))
                if found.cost < search.best.cost:
                    search.offer(rule_for(problem, search.scaled, ~found.wrong, 1 + max(0.0, search.left())))
                return
            if self.sweeping < PATIENCE * allowed:
                yield

    def _widen(self) -> None:
        """Of the rules that are right on the same rows, the one that is farthest from them; of these the farthest."""
        until, widest_ = time.perf_counter() + max(AT_LEAST, WIDENING * self.search.left()), 0.0
        masks = {wrong.tobytes(): wrong for wrong in (self.best.wrong, *self.ties)}
        for wrong in masks.values():
            kept = widest(self.problem, ~wrong, until - time.perf_counter())
            if kept is not None and (kept.cost, -clearance(self.problem, kept)) < (self.best.cost, -widest_):
                self.search.best, widest_ = kept, clearance(self.problem, kept)
            if time.perf_counter() > until:
                break

    def proof(self) -> Proof:
        """What proves the interval."""
        if self.enumerated is not None:
            return Enumeration(*self.interval, self.enumerated[1])
        _, cuts, nodes = self.search.proof()
        return Covering(*self.interval, cuts, nodes)
