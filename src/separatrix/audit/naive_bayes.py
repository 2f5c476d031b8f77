"""The check of naive Bayes: every parameter again from the rows, in long double, and the rule from these.

Formulas of its own for every family that the library has. A family of the user's is asked for its own θ and a(θ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .rows import Sheet, costs_of, read

if TYPE_CHECKING:
    from ..results.claims import EstimateClaim
    from ..results.verdict import Verdict

SUMS = 1e-15
"""What a mean in double precision may be off by, in units of the largest number."""
TERMS = 4
"""Units of the error that a weight may be off by: it is a difference of numbers that are."""


@dataclass(frozen=True)
class Score:
    """log p(x | k) = constant + linear·x + square·x² + what all classes share; `doubt` is how far each may be off."""

    constant: Any
    linear: Any
    square: Any
    doubt: tuple[Any, Any, Any]


@dataclass(frozen=True)
class Column:
    """The numbers of a column that are there, with the classes and costs of their rows."""

    x: Any
    own: Any
    cost: Any
    classes: int

    def sums(self, values: Any) -> Any:
        """Σ c·value of each class."""
        return np.array([(self.cost * values)[self.own == k].sum() for k in range(self.classes)], np.longdouble)


@np.errstate(all="ignore")  # what is not a number agrees with nothing
def naive_bayes_holds(verdict: Verdict, X: Any, y: Any, sample_weight: Any) -> bool:
    """Whether the rows give these parameters, and these the rule."""
    claim, error = verdict.claim, verdict.certificate.error  # type: ignore[union-attr]
    table = _read(claim, X, y, sample_weight)
    if table is None:
        return False
    X, own, cost = table
    shares = np.array([cost[own == k].sum() for k in range(len(claim.classes))])
    if len(claim.settings["families"]) != len(claim.columns) or not (shares > 0).all():
        return False
    prior = _prior(claim, shares)
    if prior is None or not _near(claim.parameters["prior"], prior, prior, error):
        return False
    found = [_column(claim, j, _numbers(X, own, cost, j, claim), error) for j in range(len(claim.columns))]
    return all(each is not None for each in found) and _rule_holds(claim, prior, found, error)


def _read(claim: EstimateClaim, X: Any, y: Any, sample_weight: Any) -> Any:
    """Rows, the numbers of their classes, their costs; None where they are not those that the claim speaks of."""
    X = read(X)
    X = X if X.dtype.kind in "biuf" else X.astype(float)
    labels = np.asarray(y).ravel()
    cost = costs_of(sample_weight, len(labels))
    if len(X.shape) != 2 or X.shape[1] != len(claim.columns):
        raise DataError(f"has shape {X.shape}; the verdict speaks of {len(claim.columns)} columns.", array="X")
    if not X.shape[0] == len(labels) == len(cost):
        raise DataError(f"X has {X.shape[0]} rows, y {len(labels)}, sample_weight {len(cost)}: they must agree.")
    own = np.full(len(labels), -1)
    for k, label in enumerate(claim.classes):
        own[np.asarray(labels == label)] = k
    counts = cost > 0
    if X.shape[0] != claim.rows or (cost < 0).any() or (own[counts] < 0).any():
        return None
    return X[counts], own[counts], cost[counts].astype(np.longdouble)


def _prior(claim: EstimateClaim, shares: Any) -> Any:
    chosen = claim.settings["priors"]
    if chosen == "learnt":
        return shares / shares.sum()
    if chosen == "equal":
        return np.full(len(shares), np.longdouble(1) / len(shares))
    given = np.asarray(chosen, np.longdouble)
    return given if given.shape == shares.shape else None


def _numbers(X: Any, own: Any, cost: Any, j: int, claim: EstimateClaim) -> Column:
    x = X.rows[:, [j]].toarray()[:, 0] if isinstance(X, Sheet) else X[:, j]
    there = ~np.isnan(x)
    x, threshold = x[there].astype(np.longdouble), claim.settings["threshold"]
    if threshold is not None and claim.settings["families"][j] == "Bernoulli":
        x = (x > threshold).astype(np.longdouble)
    return Column(x, own[there], cost[there], len(claim.classes))


def _column(claim: EstimateClaim, j: int, column: Column, error: float) -> Any:
    """What the column adds to the scores, if the claim's estimates are its own; else None."""
    family, alpha = claim.settings["families"][j], np.longdouble(claim.settings["smoothing"])
    mean, variance = (np.asarray(claim.parameters[name])[:, j] for name in ("mean", "variance"))
    if not np.isfinite(column.x).all():
        return None
    if family == "categorical":
        return _categorical(claim, j, column, alpha, error) if np.isnan([mean, variance]).all() else None
    if isinstance(family, str) and family.startswith("Gaussian"):
        return _gaussian(column, alpha, mean, variance, error, shared=family == "Gaussian, shared variance")
    return _one_parameter(family, column, alpha, mean, error) if np.isnan(variance).all() else None


def _one_parameter(family: Any, column: Column, alpha: Any, claimed: Any, error: float) -> Any:
    weight, total = column.sums(np.ones_like(column.x)), column.sums(column.x)
    overall = total.sum() / weight.sum()
    silent = not np.isfinite(_natural(family, total.sum(), weight.sum())[0])
    if family == "Bernoulli":
        total, weight = total + alpha, weight + 2 * alpha
    elif isinstance(family, str):
        total, weight = total + alpha * overall, weight + alpha
    else:
        total, weight = family.smoothed(total, weight, float(alpha), overall)
    theta, partition = _natural(family, total, weight)
    nothing = np.zeros(column.classes, np.longdouble)
    if silent and not np.isfinite(theta).any():
        same = np.isnan(claimed).all() if np.isnan(overall) else (claimed == float(overall)).all()
        return Score(nothing, nothing, nothing, (nothing, nothing, nothing)) if same else None
    mean = total / weight
    rounding = SUMS * np.abs(column.x).max(initial=0)
    if not _near(claimed, mean, np.abs(mean) + rounding / error, error):
        return None
    moved = [_natural(family, total + sign * weight * rounding, weight) for sign in (1, -1)]
    doubts = [
        np.nanmax(np.abs([each[i] - claimed for each in moved]), axis=0, initial=0) + error * (1 + np.abs(claimed))
        for i, claimed in ((1, partition), (0, theta))
    ]
    return Score(-partition, theta, nothing, (doubts[0], doubts[1], nothing))


def _natural(family: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """θ and a(θ) at the mean s/n."""
    if family == "Bernoulli":
        return np.log(s / (n - s)), np.log(n / (n - s))
    if family == "Poisson":
        return np.log(s / n), s / n
    if family == "exponential":
        return -n / s, np.log(s / n)
    if family == "geometric":
        return np.log(s / (n + s)), np.log((n + s) / n)
    if isinstance(family, str):
        return np.nan * s, np.nan * s
    theta = family.natural(s, n)
    return theta, family.log_partition(theta)


def _gaussian(column: Column, alpha: Any, mean: Any, variance: Any, error: float, *, shared: bool) -> Any:
    """The weights are claimed of (x, x²), or with a shared variance of x, seen from the column's mean."""
    base = column.x[0] if len(column.x) else np.longdouble(np.nan)
    z = column.x - base  # so that no digit of the means' differences is lost far from zero
    weight, total = column.sums(np.ones_like(z)), column.sums(z)
    middle = total.sum() / weight.sum()
    centre, spread = base + middle, (column.cost * (z - middle) ** 2).sum() / weight.sum()
    nothing = np.zeros(column.classes, np.longdouble)
    if not spread > (4 * np.finfo(float).eps * centre) ** 2:
        same = np.isnan(mean).all() if np.isnan(centre) else _near(mean, centre + nothing, np.abs(centre), error)
        return Score(nothing, nothing, nothing, (nothing, nothing, nothing)) if same and not np.any(variance) else None
    offset = np.where(weight > 0, total / weight, middle)
    mu, delta = base + offset, offset - middle
    scatter = column.sums((z - offset[column.own]) ** 2)
    floor = weight * (4 * np.finfo(float).eps * mu) ** 2
    scatter = np.where(scatter > floor, scatter, 0)
    each = (scatter + alpha * spread) / (weight + alpha)
    sigma = (scatter.sum() + alpha * spread) / (weight.sum() + alpha) + nothing if shared else each
    size = np.abs(mu) + np.sqrt(sigma)
    # a mean that is rounded makes the variance less certain where the spread is near rounding
    loose = error + (np.finfo(float).eps * size) ** 2 / sigma * weight
    if not (_near(mean, mu, size, error) and _near(variance, sigma, sigma, loose)):
        return None
    reach = (np.abs(delta) + np.sqrt(sigma)) / sigma
    if shared:
        constant = -(delta**2) / (2 * sigma) - delta * centre / sigma
        slope = loose * reach + error / np.sqrt(sigma)
        doubt = (loose * (1 + delta**2 / sigma + reach * np.abs(centre)), slope, nothing)
        return Score(constant, delta / sigma, nothing, doubt)
    constant = -(mu**2) / (2 * sigma) - np.log(2 * np.pi * sigma) / 2
    doubt = (loose * (1 + size**2 / sigma), loose * size / sigma, loose / sigma)
    return Score(constant, mu / sigma, -1 / (2 * sigma), doubt)


def _categorical(claim: EstimateClaim, j: int, column: Column, alpha: Any, error: float) -> Any:
    name = claim.columns[j]
    values, counted = (np.asarray(claim.parameters[each].get(name)) for each in ("levels", "probabilities"))
    if not np.array_equal(values, np.unique(column.x).astype(float)):
        return None
    counts = np.array([column.sums(column.x == value) for value in values], np.longdouble)
    counts = counts.reshape(len(values), column.classes).T
    total = counts.sum(axis=1, keepdims=True)
    p = (counts + alpha) / (total + alpha * len(values))
    if counted.shape != p.shape or not _near(counted, p, p, error):
        return None
    unseen = alpha / (total + alpha * (len(values) + 1)) if alpha > 0 else p[:, :0]
    return np.log(np.hstack([p, unseen]))


def _rule_holds(claim: EstimateClaim, prior: Any, found: list[Any], error: float) -> bool:
    """Whether the weights and intercepts are those of the scores, class by class against the first.

    What they have in common changes neither an odds nor a decision.
    """
    plain = [each for each in found if isinstance(each, Score)]
    quadratic = [each for each in plain if np.any(each.square)]
    tables = [each for each in found if not isinstance(each, Score)]
    K, log_prior = len(prior), np.log(prior)
    W = np.hstack(
        [np.zeros((K, 0)), *(each.linear[:, None] for each in plain), *(each.square[:, None] for each in quadratic),
         *tables]
    )  # fmt: skip
    doubt = np.hstack(
        [np.zeros((K, 0)), *(each.doubt[1][:, None] for each in plain), *(each.doubt[2][:, None] for each in quadratic),
         *(error * (1 + np.abs(each)) for each in tables)]
    )  # fmt: skip
    doubt = TERMS * (doubt + error * np.abs(W))
    b = log_prior + sum((each.constant for each in plain), np.zeros(K, np.longdouble))
    slack = error * (1 + np.abs(log_prior)) + sum((each.doubt[0] for each in plain), np.zeros(K, np.longdouble))
    slack = TERMS * slack
    weights, intercept = np.asarray(claim.parameters["weights"]), np.asarray(claim.parameters["intercept"])
    if K == 2:
        weights, intercept = np.stack([0 * weights, weights]), np.append(0 * intercept, intercept)
    if weights.shape != W.shape or intercept.shape != b.shape:
        return False
    apart, doubt = (weights - weights[0]) - (W - W[0]), doubt + doubt[0]
    apart_b, slack = (intercept - intercept[0]) - (b - b[0]), slack + slack[0]
    return bool((np.abs(apart) <= doubt).all() and (np.abs(apart_b) <= slack).all())


def _near(claimed: Any, found: Any, size: Any, error: Any) -> bool:
    """|claimed − found| ≤ error·size, everywhere."""
    claimed = np.asarray(claimed)
    return claimed.shape == np.shape(found) and bool((np.abs(claimed - found) <= error * np.abs(size)).all())
