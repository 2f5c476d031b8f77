"""Gaussian discriminants from moments: covariances, shrinkage, and the scores of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from ...data import Rows
from ...data.source import Source
from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.linalg import Factor, factor
from .least_squares import CONSTANT, basis, rank_of, without
from .moments import Moments

BLOCK_NUMBERS = 1 << 18
"""Numbers of X that the second pass takes at once."""
SPREAD = 1e-10
"""The part of its square that must be a column's own, within the classes: 10⁻⁵ of its spread."""
SAME = 1e-9
"""The part of its spread by which class means may differ in a direction that has no spread within the classes."""


class SingularError(Exception):
    """A covariance without an inverse: of which class (None: of all), and which columns are why."""

    def __init__(self, kind: int | None, columns: Indices) -> None:
        super().__init__()
        self.kind, self.columns = kind, columns


def covariance(moments: Moments, *, shared: bool) -> Floats:
    """Σ = Σₖ Sₖ/n, or Σₖ = Sₖ/nₖ: the maximum of the likelihood. A column constant but for rounding has none."""
    size = np.abs(moments.mean)
    if shared:
        found = moments.within() / moments.weight.sum()
        return _settled(found, size.max(axis=0))
    return np.stack([_settled(S / n, each) for S, n, each in zip(moments.scatter, moments.weight, size, strict=True)])


def _settled(found: Floats, size: Floats) -> Floats:
    flat = np.diag(found) <= (CONSTANT * size) ** 2
    found = np.where(flat[:, None] | flat, 0.0, found)
    return found


def shrunk(sigma: Floats, amount: Any) -> Floats:
    """(1 − s)Σ + s (tr Σ/d) I, for one matrix or for each."""
    d = sigma.shape[-1]
    s = np.asarray(amount, dtype=float)[..., None, None]
    middle = np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] / d
    found: Floats = (1 - s) * sigma + s * middle * np.eye(d)
    return found


def ledoit_wolf(sigma: Floats, fourth: float, n: float) -> float:
    """s = min(β, δ)/δ, β = (Σᵢ cᵢ‖tᵢ‖⁴/n − ‖Σ‖²)/(nd), δ = ‖Σ − (tr Σ/d) I‖²/d, t the rows from their class means.

    The shrinkage of least expected squared error, n → ∞ (Ledoit and Wolf 2004, with ‖·‖² as a sum of squares).
    """
    d = len(sigma)
    middle = float(np.trace(sigma)) / d
    delta = float(((sigma - middle * np.eye(d)) ** 2).sum()) / d
    beta = min((fourth / n - float((sigma**2).sum())) / (n * d), delta)
    return max(beta / delta, 0.0) if delta > 0 else 0.0


@dataclass(frozen=True, eq=False)
class HigherMoments:
    """Σᵢ cᵢ‖xᵢ − μₖ‖⁴ and Σᵢ cᵢ‖xᵢ − μₖ‖²(xᵢ − μₖ) over the rows of each class."""

    fourth: Floats
    third: Floats

    @classmethod
    def of(cls, rows: Source, moments: Moments) -> HigherMoments:
        """A second pass, about the means that the first one found."""
        found: HigherMoments = rows.fold(partial(cls._of_run, moments), blas=True)
        return found

    @classmethod
    def _of_run(cls, moments: Moments, rows: Rows, lo: int, hi: int) -> HigherMoments:
        classes, d = moments.mean.shape
        found = cls(np.zeros(classes), np.zeros((classes, d)))
        size = max(64, BLOCK_NUMBERS // max(1, d))
        for start in range(lo, hi, size):
            part = slice(start, min(start + size, hi))
            own, cost = rows.y[part], rows.cost[part]
            here = np.asarray(rows.dense(part.start, part.stop), dtype=np.float64)
            T = (here - moments.mean[own]) - moments.rest[own]
            if cost.size:
                T[cost == 0] = 0.0  # whatever such a row holds, it does not count
            square = np.einsum("ij,ij->i", T, T)
            weighted = square * cost if cost.size else square
            np.add.at(found.fourth, own, weighted * square)
            one = np.zeros((classes, len(own)))
            one[own, np.arange(len(own))] = weighted
            found.third[:] += one @ T
        return found

    def __add__(self, other: HigherMoments) -> HigherMoments:
        return HigherMoments(self.fourth + other.fourth, self.third + other.third)

    def about(self, moments: Moments, other: Moments) -> HigherMoments:
        """About other means: those of t + δ for t = x − μₖ, δ = μₖ − μ′ₖ, by S, the third moments and n."""
        delta = (moments.mean - other.mean) + (moments.rest - other.rest)
        delta[moments.weight == 0] = 0.0
        n, D = moments.weight, (delta**2).sum(axis=1)
        S_delta = np.einsum("kij,kj->ki", moments.scatter, delta)
        trace = np.einsum("kii->k", moments.scatter)
        bent = (delta * (4 * S_delta + 4 * self.third)).sum(axis=1)
        fourth = self.fourth + bent + n * D**2 + 2 * D * trace
        third = self.third + 2 * S_delta + (trace + n * D)[:, None] * delta
        return HigherMoments(fourth, third)

    def grown(self, classes: Any, count: int) -> HigherMoments:
        """With room for more classes."""
        made = HigherMoments(np.zeros(count), np.zeros((count, self.third.shape[1])))
        made.fourth[classes], made.third[classes] = self.fourth, self.third
        return made


def joined_moments(
    one: tuple[HigherMoments, Moments], other: tuple[HigherMoments, Moments], both: Moments
) -> HigherMoments:
    """Those of both sets of rows, about the means of all; the moments must be each class's own, in the same order."""
    a, b = (fourth.about(moments, both) for fourth, moments in (one, other))
    return a + b


@dataclass(frozen=True, eq=False)
class Linear:
    """sₖ(x) = xᵀΣ⁻¹(μₖ − μ) − ½(μₖ + μ)ᵀΣ⁻¹(μₖ − μ) + log πₖ; of two classes the difference of theirs."""

    weights: Floats
    intercept: Floats
    aliased: Indices
    """The columns that are, within the classes, combinations of others or constant."""
    certain: Indices
    """Those of them where class means differ all the same."""


def linear(moments: Moments, sigma: Floats, priors: Floats, most: int) -> Linear:
    """W = (μₖ − μ)ᵀΣ⁺, by a Cholesky factor.

    A direction without spread within the classes is left out: Σ⁺ is the pseudo-inverse in units of the columns' spread.
    `most` is the largest rank that so many rows can have.
    """
    delta, middle = _differences(moments)
    kept, null = rank_of(sigma, most, SPREAD)
    aliased = np.setdiff1d(np.arange(len(sigma)), kept)
    certain = aliased[_disagree(moments, null)]
    made = factor(sigma[np.ix_(kept, kept)]) if kept.size else None
    if made is None:
        raise SingularError(None, np.arange(len(sigma)))
    own = np.sqrt(np.diag(sigma))
    own = np.where(own > 0, own, 1.0)
    flat = basis(null * own[:, None])
    delta = without(delta / own, flat) * own
    W, wide = np.zeros_like(delta), sigma.astype(np.longdouble)
    for _ in range(2):  # the second sweep takes up what rounding left of the first
        left = (delta - W.astype(np.longdouble) @ wide).astype(float)
        step = np.zeros_like(W)
        step[:, kept] = made.solve(left[:, kept].T).T
        W = W + without(step * own, flat) / own
    level = -(W.astype(np.longdouble) * middle).sum(axis=1)
    logs = np.log(priors)
    b = level + (logs[1:] - logs[:1] if len(priors) == 2 else logs)
    return Linear(W, b.astype(float), aliased, certain)


def _differences(moments: Moments) -> tuple[Floats, Any]:
    """Of two classes μ₁ − μ₀ and their middle; else μₖ − μ and (μₖ + μ)/2. The middles in long double."""
    base = moments.mean[int(np.argmax(moments.weight))]
    apart = (moments.mean - base) + moments.rest
    wide = base.astype(np.longdouble)
    if len(apart) == 2:
        return apart[1:] - apart[:1], wide + (apart[1:] + apart[:1]) / 2
    center = moments.weight @ apart / moments.weight.sum()
    return apart - center, wide + (apart + center) / 2


def _disagree(moments: Moments, null: Floats) -> NDArray[np.bool_]:
    """Whether class means differ along each direction that has no spread within the classes."""
    delta = _differences(moments)[0]
    n, mean, total = moments.total()
    spread = np.sqrt(np.maximum(np.diag(total), 0) / n)
    size = np.abs(null)
    allowed = SAME * size.T @ spread + 64 * EPS * size.T @ np.abs(mean)
    return np.asarray((np.abs(delta @ null) > allowed).any(axis=0))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """sₖ(x) = −½(x − μₖ)ᵀΣₖ⁻¹(x − μₖ) − ½ log|Σₖ| + log πₖ."""

    mean: Floats
    rest: Floats
    factors: tuple[Factor, ...]
    level: Floats
    """log πₖ − ½ log|Σₖ|."""

    @classmethod
    def of(cls, moments: Moments, sigmas: Floats, priors: Floats) -> Quadratic:
        """A Cholesky factor for each class."""
        factors = []
        for k, sigma in enumerate(sigmas):
            made = factor(sigma)
            if made is None or not made.weakest > SPREAD:
                kept = rank_of(sigma, max(int(moments.rows[k]) - 1, 1), SPREAD)[0]
                raise SingularError(k, np.setdiff1d(np.arange(len(sigma)), kept))
            factors.append(made)
        halves = [np.log(np.diag(made.upper)).sum() + np.log(made.diagonal).sum() for made in factors]
        return cls(moments.mean, moments.rest, tuple(factors), np.log(priors) - np.array(halves))

    def scores(self, X: Floats) -> Floats:
        """n × K."""
        found = np.empty((len(X), len(self.level)))
        for k, made in enumerate(self.factors):
            T = (X - self.mean[k]) - self.rest[k]
            try:
                found[:, k] = self.level[k] - np.square(made.whiten(T.T)).sum(axis=0) / 2
            except LinAlgError:  # NaN or infinity in X, which is found in the scores
                found[:, k] = np.nan
        return found
