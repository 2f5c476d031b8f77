"""The linear rule with the fewest mistakes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...data.block import Block
from ...errors import DataError, SettingError
from ...geometry.zero_one.problem import loses
from ...numerics.arrays import Floats
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.verdict import Rank, Verdict
from ...wording import learner, setting
from ..base import Card, LinearClassifier
from ..checks.rows import check_lengths, checked_costs, not_finite, rows_to_learn, set_fitted
from ..checks.settings import checked_flags, checked_number, seed_of
from ..checks.targets import checked_targets, class_costs
from .zero_one_run import Run, Training

MOST_NUMBERS = 20_000_000
"""Numbers that sparse rows may have when they are written out with their zeros."""

LARGEST = 2.0**1000
"""Numbers beyond this overflow when they are added up."""


class ZeroOneStep(NamedTuple):
    """Where the search for the fewest mistakes stands."""

    weights: Floats
    intercept: float
    lower: Any
    upper: Any
    cuts: int
    """Sets of rows found that no rule gets all right."""
    cases: int
    """Cases of the branching."""
    seconds: float


class ZeroOneRecord(NamedTuple):
    """One line of `history_`: there is one whenever a bound has moved, and one for the end."""

    lower: Any
    upper: Any
    cuts: int
    cases: int
    seconds: float


class ZeroOneClassifier(LinearClassifier):
    """argmin over w, b of Σᵢ cᵢ 1[ŷᵢ ≠ yᵢ], ŷ = classes_[1] iff xᵀw + b > 0.  [001 slide 11; 004 §4.2]

    Empirical risk minimisation itself: the linear rule that makes the fewest mistakes on the rows it learns from. For
    any number of columns that is NP-hard, so the answer is an interval: `mistakes_` is (lower, upper), where upper is
    what the rule that is kept makes and no linear rule makes fewer than lower. With one column all rules are counted
    and the two are equal; so they are with two, if the time is enough for a count that takes n² log n steps, and with
    more columns if the mistakes are few. Columns that are combinations of others do not count.

    Among rules that are right on the same rows, the one of the largest margin on these is kept: the boundary does not
    pass through a row, where rounding could move it to the other side. Columns whose largest number is beyond 2⁺²⁰⁰ or
    below 2⁻²⁰⁰ are compared in units of a power of two near it, the margin also.

    Parameters
    ----------
    time_limit : float
        How many seconds to search. The other learners of the package are asked for their rules first, whatever the
        limit, so that none of them does better; then the search goes on until the interval is closed or the time is
        over. To compile what is used for the first time is not counted.
    fit_intercept : bool
        Whether there is an intercept b.
    class_weight : None, "balanced" or dict {class: factor}
        Factors on the costs of the rows of each class.
    random_state : int, RandomState or None
        For the order in which cuts and rules are looked for; None is an order of its own, the same every time.

    A row of sample_weight 2 counts as two, one of 0 not at all. The count is in units of these costs.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
        If it is best to say the same of every row, the weights are zero.
    mistakes_ : (lower, upper)
        Whole numbers where the costs are. If the verdict is *optimal* the two are one number, what the rule costs; of
        costs that are not whole, cuts prove it up to 10⁻⁹ of the least cost of a row.
    rule_ : LinearRule
    verdict_ : Verdict
        *optimal* if the interval is closed, else *budget*. `verdict_.check(X, y)` counts again and proves both bounds.
    history_ : list of (lower, upper, cuts, cases, seconds)
    n_passes_ : float
        How many rules were counted on all rows, those of the search along lines left aside.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0]], [0, 1, 0, 1, 1]
    >>> model = ZeroOneClassifier().fit(X, y)
    >>> model.mistakes_, model.verdict_.status, model.verdict_.check(X, y)
    ((1, 1), 'optimal', True)
    >>> print(model.rule_)
    1 where 1·x0 − 3 > 0, else 0
    """

    card = Card("zero-one", path_unit="steps of the search")

    def __init__(
        self,
        *,
        time_limit: float = 60.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.time_limit = time_limit
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # the fewest mistakes at costs of 10⁷ to 1 are not what a check expects
        tags.non_deterministic = True  # what is found until the time is over depends on the machine
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ZeroOneClassifier:
        """Find the rule; `verdict_` says how it ended."""
        for _ in self.steps(X, y, sample_weight):
            pass
        return self

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[ZeroOneStep]:
        """The fit, bound by bound. Whoever stops reading, or presses Ctrl-C, finds the attributes set.

        So it is from the moment when the rows are checked and equal ones are one; before it, the model stays as it was.
        """
        run = Run(self._prepare(X, y, sample_weight), time.perf_counter())
        history: list[ZeroOneRecord] = []
        try:
            for _ in run.states():
                step = self._step(run)
                if not history or history[-1][:2] != (step.lower, step.upper):
                    history.append(ZeroOneRecord(*step[2:]))
                    yield step
            history.append(ZeroOneRecord(*self._step(run)[2:]))
            self._set(run, history, stopped=False)
        except (KeyboardInterrupt, GeneratorExit):
            self._set(run, history, stopped=True)
            raise

    def _step(self, run: Run) -> ZeroOneStep:
        search = run.search
        return ZeroOneStep(
            *run.rule, *run.interval, len(search.cover.cuts), len(search.nodes),
            time.perf_counter() - run.began,
        )  # fmt: skip

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        if self.time_limit is None or isinstance(self.time_limit, bool | np.bool_) or self.time_limit == np.inf:
            needed = (
                "it must be a finite number of seconds above 0. To search as long as it takes give a large number, 1e6."
            )
            raise SettingError("time_limit", self.time_limit, needed)
        time_limit = checked_number("time_limit", self.time_limit, least=0, strict=True)
        checked_flags(self, "fit_intercept")
        seed = seed_of(self.random_state, needed=False)
        rows, read, columns = rows_to_learn(self, X)
        targets = checked_targets(self, y)
        if targets.index is None:
            raise DataError(
                "Unknown label type: continuous. y holds probabilities; ZeroOneClassifier needs a label for each "
                f"row, of one class or the other. {learner('LogisticRegression')} learns from probabilities."
            )
        check_lengths(len(rows), len(targets))
        if len(targets.classes) > 2:
            raise DataError(
                f"Only binary classification is supported. y has {len(targets.classes)} classes: "
                f"fit two of them at a time, or hand {learner('ZeroOneClassifier')} to OneVsOne or OneVsRest."
            )
        cost = checked_costs(sample_weight, len(rows))
        factors = class_costs(self.class_weight, targets, cost)
        if any(factor != 1 for factor in factors):
            cost = (cost if cost.size else np.ones(len(rows))) * np.array(factors)[targets.index]
        return Training(
            self._written_out(rows, columns), np.asarray(targets.index) == 1, cost, targets.classes, columns, factors,
            bool(self.fit_intercept), time_limit, seed, read,
        )  # fmt: skip

    def _written_out(self, rows: Block, columns: tuple[str, ...]) -> Floats:
        """X as an array of finite numbers in double precision."""
        if rows.skips_zeros:
            numbers = rows.shape[0] * rows.shape[1]
            if numbers > MOST_NUMBERS:
                raise DataError(
                    f"X has {numbers} numbers when its zeros are written out; of sparse rows ZeroOneClassifier can "
                    f"work with at most {MOST_NUMBERS}. Choose fewer rows or columns."
                )
        if not rows.finite():
            raise not_finite(rows, columns, self)
        X: Floats = np.ascontiguousarray(rows.dense(), dtype=np.float64)
        large, far = np.argwhere(np.abs(X) > LARGEST), loses(X)
        if len(large):
            i, j = large[0].tolist()
            raise DataError(
                f"is {X[i, j]:.3g}, which is too large: sums of such numbers overflow. ZeroOneClassifier needs numbers "
                f"up to {LARGEST:.3g}; divide this column by a power of two, which loses no digit.",
                array="X", row=i, column=columns[j], value=X[i, j],
            )  # fmt: skip
        if far is not None:
            sizes = np.abs(X[X[:, far] != 0, far])
            raise DataError(
                f"holds numbers from {sizes.min():.3g} to {sizes.max():.3g}: no unit holds both with all their "
                "digits, so that rules cannot be counted exactly. Round the smallest to zero, or give ranks or "
                "logarithms.", array="X", column=columns[far],
            )  # fmt: skip
        return X

    def _set(self, run: Run, history: list[ZeroOneRecord], *, stopped: bool) -> None:
        """Set all attributes of a fit."""
        (weights, intercept), given = run.rule, run.training
        set_fitted(
            self, given.read, classes_=given.classes, mistakes_=run.interval, coef_=weights[None].copy(),
            intercept_=np.array([intercept]), rule_=LinearRule(weights, intercept, tuple(given.classes), given.columns),
            n_passes_=float(run.search.offered), verdict_=verdict_of(run, stopped), history_=history,
        )  # fmt: skip


OBJECTIVE = "zero-one"


def verdict_of(run: Run, stopped: bool) -> Verdict:
    """*optimal* if the interval is closed, else *interrupted* or *budget*."""
    given, (weights, intercept), (lower, upper) = run.training, run.rule, run.interval
    rows = len(given.X)
    total = math.fsum(given.cost.tolist()) if given.cost.size else float(rows)
    claim = Claim(
        tuple(given.classes.tolist()), given.columns, weights, intercept, given.lifted, 0.0,
        given.class_weight, upper / total, rows, OBJECTIVE,
    )  # fmt: skip
    status = "optimal" if run.closed else "interrupted" if stopped else "budget"
    cause, remedy = _said(run, status, rows, lower, upper)
    return Verdict(status, Rank(None, len(given.columns) + given.lifted, ()), run.proof(), cause, remedy, claim)


def _said(run: Run, status: str, rows: int, lower: Any, upper: Any) -> tuple[str, str]:
    whole = not isinstance(upper, float)
    does = f"makes {upper} {'mistake' if upper == 1 else 'mistakes'}" if whole else f"costs {upper:.6g}"
    if status == "optimal" and upper == 0:
        return f"The rule separates the classes: it makes no mistake on {rows} rows.", ""
    if status == "optimal":
        better = "no linear rule does better" if run.exact else "no linear rule does better by more than rounding"
        return f"The rule {does} on {rows} rows, and {better}: {_why(run)}.", ""
    least = f"makes fewer than {lower}" if whole else f"costs less than {lower:.6g}"
    proved = f"The rule {does} on {rows} rows; no linear rule {least}."
    if status == "interrupted":
        return f"Stopped by hand. {proved}", "Fit again with more time."
    if run.search.left() > 0 and run.enumerated is None and run.search.incomplete:
        return (
            f"{proved} The search came to its end before the time: cuts were looked for among the rows nearest to the "
            "boundary only, or a linear program had no answer.",
            "Fewer distinct rows, or costs that are nearer to each other, make it easier.",
        )
    if run.search.left() > 0:
        return (
            f"{proved} The search came to its end; what is between is left by rounding: the best rule passes so close "
            "to rows that weights in double precision do not reach it.",
            "Shift or scale the columns so that rows differ in fewer digits.",
        )
    if run.sweeps:
        longer = setting("time_limit", float(f"{2 * run.sweeping:.1g}"))
        known = f" takes about {run.sweeping:.2g} s here: give {longer} or more."
        return (
            f"The time limit of {run.training.time_limit:g} s was reached. {proved}",
            f"To count all lines that divide {len(run.problem)} distinct rows"
            + (known if run.sweeping else f" takes more time: give a larger {setting('time_limit')}."),
        )
    return (
        f"The time limit of {run.training.time_limit:g} s was reached. {proved}",
        f"To find the fewest is NP-hard. A larger {setting('time_limit')} may narrow the interval; fewer columns or "
        "fewer distinct "
        "rows make it easier.",
    )


def _why(run: Run) -> str:
    """What shows it."""
    if run.enumerated is not None:
        return "all ways to divide the rows were counted"
    cases = (len(run.search.nodes) + 1) // 2
    if not run.search.cover.cuts:
        return "equal rows have both classes"
    branching = f" in {cases} cases" if cases > 1 else ""
    return f"sets of rows that no rule gets all right{branching} show it"
