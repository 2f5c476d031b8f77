"""What a fit remembers of its rows, and its rows given again or still in memory: whether they are the same."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ...data.block import Block
from ...errors import DataError
from ...numerics.arrays import Floats
from ...numerics.functions import log_sum_exp, positive, sigmoid
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ..checks.rows import checked_costs, present
from ..checks.targets import known_targets
from .training import OBJECTIVES, Training

# Means and deviations of the columns of X, by weight.

AT_ONCE = 1 << 18
"""Numbers in X up to which one product makes the means."""
LARGE = 1 << 22
"""Numbers in X from which several threads read it."""
CACHED = 1 << 18
"""Numbers of a block, which stays in the cache."""
NEAR = 0.25
"""The part of the mean square about a point near the mean that its distance may make up."""


def means_of(X: Block, cost: Floats) -> Floats:
    """x̄ = Σ cᵢxᵢ/Σ cᵢ."""
    weight = _shares(cost, len(X))
    with np.errstate(all="ignore"), one_blas_thread():  # of rows that are not finite the fit will tell
        if X.skips_zeros or X.size <= AT_ONCE:
            return X.pull(weight)
        return _summed(X, weight, lambda block, weight: weight @ block, np.zeros(X.shape[1]))


def moments_of(X: Block, cost: Floats, near: Floats) -> tuple[Floats, Floats]:
    """x̄ and s; of dense rows in one pass, by what is `near` the means: s² = Σ cᵢ(xᵢ − a)²/Σ cᵢ − (x̄ − a)².

    Where a is too far away for that, as many digits being lost as it is deviations away, s is had from x̄ itself.
    """
    if X.skips_zeros or not np.isfinite(near).all():
        means = means_of(X, cost)
        return means, deviations_of(X, cost, means)
    weight, width = _shares(cost, len(X)), X.shape[1]

    def sums(block: Floats, weight: Floats) -> Floats:
        away = block - near
        return np.concatenate([weight @ away, weight @ np.square(away, out=away)])

    with one_blas_thread():
        total = _summed(X, weight, sums, np.zeros(2 * width))
    away, squares = total[:width], total[width:]
    means = near + away
    if not (np.square(away) <= NEAR * squares).all():
        return means, deviations_of(X, cost, means)
    return means, np.sqrt(squares - np.square(away))


def deviations_of(X: Block, cost: Floats, means: Floats) -> Floats:
    """s = √(Σ cᵢ(xᵢ − x̄)²/Σ cᵢ): the divisor is the weight of all rows, not one less."""
    weight = _shares(cost, len(X))
    with one_blas_thread():
        if X.skips_zeros:
            return np.sqrt(X.scatter(weight, means))
        total = np.zeros(X.shape[1])
        return np.sqrt(_summed(X, weight, lambda block, weight: weight @ np.square(block - means), total))


def _shares(cost: Floats, rows: int) -> Floats:
    return cost / cost.sum() if cost.size else np.full(rows, 1 / rows)


def _summed(X: Block, weight: Floats, of: Callable[[Floats, Floats], Floats], total: Floats) -> Floats:
    """Σ f(block, weights), block by block in their order, whatever the number of threads."""
    size = max(16, CACHED // max(1, X.shape[1]))

    def part(lo: int) -> Floats:
        rows = slice(lo, min(lo + size, len(X)))
        with np.errstate(all="ignore"):
            return np.asarray(of(X[rows].dense(), weight[rows]))

    with ordered_map(thread_count() if X.size >= LARGE else 1) as each:
        for found in each(part, range(0, len(X), size)):
            total += found
    return total


NUMBERS = 1 << 18
"""Numbers of X that a fit reads for the means of its columns: all of X would make it a tenth longer."""
MOST_ROWS = 1 << 15
"""The most rows that it reads for them."""
LEAST_ROWS = 256
"""The least."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Small facts about the rows of a fit."""

    rows: int
    weighted: bool
    """Whether there was a sample_weight."""
    totals: Floats
    """The weight of each class, class weights left out."""
    entropy: float
    """Σ cᵢ H(tᵢ) of targets that are probabilities, class weights counted; of labels zero."""
    means: Floats
    """Of the columns, by weight."""
    sampled: bool
    """Whether the means are those of a sample of the rows."""
    deviations: Floats | None = None
    """Of the columns, by weight, where somebody wanted to know them."""


class Keeper:
    """Weak references to X, y and sample_weight: they keep nothing in memory, and are lost with a copy."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._X, self._y = weakref.ref(X), weakref.ref(y)
        self._cost = None if sample_weight is None else weakref.ref(sample_weight)

    def __call__(self) -> tuple[Any, Any, Any] | None:
        """X, y and sample_weight, if all of them are still there."""
        X, y = self._X(), self._y()
        cost = None if self._cost is None else self._cost()
        gone = X is None or y is None or (self._cost is not None and cost is None)
        return None if gone else (X, y, cost)


def remembered(training: Training, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """What a fitted model keeps of its rows."""
    try:
        kept = Keeper(X, y, sample_weight)
    except TypeError:  # a list cannot be referred to weakly
        kept = None
    return {"_facts": facts_of(training), "_kept_rows": kept}


def facts_of(training: Training) -> Facts:
    """The facts of a fit, at little cost beside it."""
    X, targets, cost = training.rows.block, training.targets, training.cost
    n, d = X.shape
    size = max(LEAST_ROWS, min(MOST_ROWS, NUMBERS // max(1, d)))
    some, weight, sampled = X, cost, size < n
    if sampled:
        step = -(-n // size)
        chosen: Any = slice(None, None, step)
        some, weight = X[chosen], cost[chosen] if cost.size else cost
        if weight.size and not weight.any():
            chosen = np.flatnonzero(cost)[:size]
            some, weight = X[chosen], cost[chosen]
    entropy = 0.0 if targets.probability is None else entropy_of(targets.probability, cost, training.class_weight)
    return Facts(n, bool(cost.size), targets.totals(cost), entropy, means_of(some, weight), sampled)


def facts_among(training: Training, varying: NDArray[np.intp], first: NDArray[Any]) -> Facts:
    """Facts of a fit that was made in the columns that vary; the others are what they are in the first row."""
    facts = facts_of(training)
    if len(varying) == len(first):
        return facts
    means = np.array(first, dtype=np.float64)
    means[varying] = facts.means
    return replace(facts, means=means)


def entropy_of(T: Floats, cost: Floats, class_weight: tuple[float, ...]) -> float:
    """Σᵢ cᵢ H(tᵢ), H(t) = −Σₖ tₖ log tₖ."""
    split = split_by_class(T, cost, class_weight)
    return float(xlogy(split.sum(axis=1), split.sum(axis=1)).sum() - xlogy(split, split).sum())


def split_by_class(T: Floats, cost: Floats, class_weight: tuple[float, ...]) -> Floats:
    """cᵢ fₖ tᵢₖ: what each row counts as one of each class."""
    if not cost.size and set(class_weight) == {1.0}:
        return T
    return T * np.array(class_weight) * (cost[:, None] if cost.size else 1.0)  # type: ignore[no-any-return]


FEW = 1 << 16
"""Rows that are looked at together."""
AGREES = 1e-9
"""Relative: how far the mean loss of rows may be from the one that the verdict claims."""
GONE = "the training rows are no longer in memory; call summary(X, y)."
PIECEMEAL = "partial_fit remembers no rows; call summary(X, y) with all that were learnt from."
UNSURE = "the fit was stopped before it knew its loss, which would tell its rows; call summary(X, y)."
CHANGED = "the training rows have changed since the fit; call summary(X, y) with the rows as they were."


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows as they were given, and as they are read."""

    X: Any
    y: Any
    sample_weight: Any
    rows: Any
    targets: Floats
    """The probability of each class."""
    cost: Floats
    """The weights of the rows; none: all one."""
    _known: dict[str, Any] = field(default_factory=dict)

    def once(self, what: str, work: Callable[[], Any]) -> Any:
        """What is asked for several times of the same rows and the same model, worked out the first time."""
        if what not in self._known:
            self._known[what] = work()
        return self._known[what]

    def scores(self, model: Any) -> Floats:
        """z of each row."""
        return np.asarray(self.once("scores", lambda: self._scores(model.rule_)))

    def _scores(self, rule: Any) -> Floats:
        if len(self.rows) < FEW:
            return np.asarray(rule.score(self.rows))
        return np.concatenate(self.by_blocks(lambda here: rule.score(self.rows[here])))

    def by_blocks(self, f: Callable[[slice], Any]) -> list[Any]:
        """f of some rows after the others, in their order; many rows by several threads."""
        blocks = [slice(lo, min(lo + FEW, len(self.rows))) for lo in range(0, len(self.rows), FEW)]
        with one_blas_thread(), ordered_map(min(thread_count(), len(blocks))) as each:
            return list(each(f, blocks))


def readable(model: Any, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
    """Rows, checked."""
    rows = model._readable(X)
    targets = known_targets(y, model.classes_, len(rows))
    cost = checked_costs(sample_weight, len(rows))
    return TrainingRows(X, y, sample_weight, present(rows, cost), targets, cost)


def rows_of_fit(model: Any, rows: tuple[Any, Any, Any]) -> tuple[TrainingRows | None, str]:
    """The rows of the fit: as given now, or those still in memory; or None, and why."""
    if rows[0] is not None or rows[1] is not None:
        return _given_now(model, rows), ""
    if rows[2] is not None:
        raise DataError("sample_weight is given without X and y: give all three, or none.")
    if model._online is not None:
        return None, PIECEMEAL
    found = None if model._kept_rows is None else model._kept_rows()
    if found is None:
        return None, GONE
    if not math.isfinite(model.verdict_.claim.value):
        return None, UNSURE
    try:
        given = readable(model, *found)
        return (None, CHANGED) if same_rows(model, given) else (given, "")
    except (TypeError, ValueError):  # a column was added to the frame, a label put into y: whatever, they have changed
        return None, CHANGED


def _given_now(model: Any, rows: tuple[Any, Any, Any]) -> TrainingRows:
    X, y, _ = rows
    if X is None or y is None:
        raise DataError(f"{'X' if X is None else 'y'} is missing: give both X and y, or neither.")
    given = readable(model, *rows)
    differs = same_rows(model, given)
    if differs:
        raise DataError(
            f"These are not the rows that the model was fitted to: {differs}. Give the same X, y and sample_weight."
        )
    return given


def known_facts(model: Any, given: TrainingRows | None) -> Facts | None:
    """Facts of the fit's rows: from the rows, else as remembered; after `partial_fit` there are none."""
    if given is not None:
        claim = model.verdict_.claim
        return facts_of_given(given, claim.class_weight, claim.soft)
    return None if model._online is not None else model._facts


def facts_of_given(
    given: TrainingRows, class_weight: tuple[float, ...], soft: bool, near: Floats | None = None
) -> Facts:
    """Facts from rows that are looked at now, all of them; deviations too where a point near the means is known."""
    totals = given.cost @ given.targets if given.cost.size else given.targets.sum(axis=0)
    entropy = entropy_of(given.targets, given.cost, class_weight) if soft else 0.0
    if near is None:
        means, deviations = means_of(given.rows, given.cost), None
    else:
        means, deviations = moments_of(given.rows, given.cost, near)
    return Facts(len(given.rows), bool(given.cost.size), totals, entropy, means, False, deviations)


def mean_loss(model: Any, given: TrainingRows) -> float:
    """What was minimised, at the weights of the model; after *quasi-separated* in the limit."""
    claim = model.verdict_.claim
    losses = {"likelihood": _log_loss, "squared": _squared_loss}
    total = losses.get(claim.objective, _margin_loss)(model, given)
    return float(total / _split(model, given).sum() + claim.l2 / 2 * np.square(model.coef_).sum())


def log_likelihood(model: Any, given: TrainingRows) -> float:
    """ℓ = Σᵢ cᵢ Σₖ tᵢₖ log P(k | xᵢ), class weights counted."""
    return -_log_loss(model, given)


def second_probability(model: Any, given: TrainingRows) -> Floats:
    """P(1 | x) of two classes, as the fit saw them; after *separated* and *quasi-separated* its limit."""
    if model.verdict_.status == "quasi-separated":
        return model.limit_rule.probabilities(given.rows)[:, 1]  # type: ignore[no-any-return]
    z = given.scores(model)
    if model.verdict_.status == "separated":
        return (np.sign(z) + 1) / 2  # type: ignore[no-any-return]
    return np.concatenate(given.by_blocks(lambda here: sigmoid(z[here])))


def _split(model: Any, given: TrainingRows) -> Floats:
    """What each row counts as one of each class."""
    return split_by_class(given.targets, given.cost, model.verdict_.claim.class_weight)


def _log_loss(model: Any, given: TrainingRows) -> float:
    return float(given.once("log loss", lambda: _log_loss_of(model, given)))


def _log_loss_of(model: Any, given: TrainingRows) -> float:
    split = _split(model, given)
    if model.verdict_.status == "quasi-separated":
        return -float(xlogy(split, model.limit_rule.probabilities(given.rows)).sum())

    def of(here: slice) -> tuple[Floats, float]:
        z = np.asarray(model.rule_.score(given.rows[here]))
        return z, (_two_class_loss if z.ndim == 1 else _class_loss)(z, split[here])

    scores, losses = zip(*given.by_blocks(of), strict=True)
    given.once("scores", lambda: np.concatenate(scores))
    return float(sum(losses))


def _two_class_loss(z: Floats, split: Floats) -> float:
    rest = np.log1p(np.exp(-np.abs(z)))  # log(1 + eᶻ) = [z]₊ + log(1 + e^−|z|), and so for −z
    return float(split[:, 0] @ (positive(z) + rest) + split[:, 1] @ (positive(-z) + rest))


def _class_loss(z: Floats, split: Floats) -> float:
    return float(np.sum(split * (log_sum_exp(z)[:, None] - z)))


def _margin_loss(model: Any, given: TrainingRows) -> float:
    loss, split, z = OBJECTIVES[model.verdict_.claim.objective][0], _split(model, given), given.scores(model)
    return float(split[:, 0] @ loss.value(-z) + split[:, 1] @ loss.value(z))


def _squared_loss(model: Any, given: TrainingRows) -> float:
    split, z = _split(model, given), given.scores(model)
    if z.ndim == 1:
        return float(split[:, 0] @ np.square(sigmoid(z)) + split[:, 1] @ np.square(sigmoid(-z)))
    weight = split.sum(axis=1)
    share = split / np.where(weight > 0, weight, 1.0)[:, None]
    return float(weight @ np.square(share - np.exp(z - log_sum_exp(z)[:, None])).sum(axis=1))


def _proved(model: Any, given: TrainingRows) -> bool:
    """Whether the verdict's proof holds of these rows."""
    return bool(model.verdict_.check(given.X, given.y, given.sample_weight))


def same_rows(model: Any, given: TrainingRows) -> str:
    """Nothing if these are the rows of the fit: their mean loss is the one that it claims; else what differs."""
    claim = model.verdict_.claim
    if len(given.rows) != claim.rows:
        return f"there are {len(given.rows)} rows here and were {claim.rows} there"
    if claim.of_likelihood and claim.objective != "likelihood":
        return "" if _proved(model, given) else "the verdict's proof does not hold here"
    value = mean_loss(model, given)
    if not math.isfinite(claim.value) or abs(value - claim.value) <= AGREES * max(abs(claim.value), AGREES):
        return ""
    if model.verdict_.status == "separated" and _proved(model, given):
        return ""  # the rule that separates may not be the one whose loss was known
    return f"the mean loss is {value:.9g} here and was {claim.value:.9g} there"
