"""The check of a Gaussian discriminant: priors, means, covariances and weights, from the rows in long double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.claims import Claim, EstimateClaim
from .rows import Table

if TYPE_CHECKING:
    from ..results.verdict import Verdict

MOST = 1e-6
"""The largest error that can still be called none."""
SOLVED = 1e-9
"""How well Σw = μₖ − μ must hold, as a part of the sizes that enter it."""
SAME = 1e-6
"""The part of a vector that is called none."""
EMPTY = 1e-9
"""The variance, in units of the columns' own, that a direction without spread may have, and the share of a column."""


def discriminant_holds(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether each parameter is the formula of the rows, to within the error that is claimed."""
    claim, error = verdict.claim, verdict.certificate.error  # type: ignore[union-attr]
    if not 0 <= error <= MOST or not _coherent(claim):
        return False
    zeros = np.zeros((len(claim.classes), len(claim.columns)))
    reader = Claim(
        claim.classes, claim.columns, zeros, 0.0, True, 0.0, (1.0,) * len(claim.classes), float("nan"), claim.rows
    )
    table = Table(reader, X, y, sample_weight)
    if not table.known or table.rows != claim.rows or not table.X.shape[0] or not table.finite():
        return False
    found = Estimates(table)
    shared = claim.settings["covariance"] == "shared"
    return (
        bool((found.weight > 0).all())
        and _priors_hold(claim, found, error)
        and _near(claim.parameters["means"], found.mean, error * (np.abs(found.mean) + found.spread()))
        and _covariance_holds(claim, found, shared, error)
        and (not shared or _weights_hold(claim, len(verdict.rank.aliased)))
    )


class Estimates:
    """nₖ, μₖ, Sₖ/nₖ and Σ cᵢ‖xᵢ − μₖ‖⁴ of each class, two passes in long double."""

    def __init__(self, table: Table) -> None:
        self.weight = sum(_costs(t, c).sum(axis=0) for _, t, c in table.chunks())
        sums = sum(_costs(t, c).T @ X for X, t, c in table.chunks())
        self.mean = sums / self.weight[:, None]
        K, d = self.mean.shape
        self.covariance, self.fourth = np.zeros((K, d, d), np.longdouble), np.zeros(K, np.longdouble)
        for X, t, c in table.chunks():
            costs = _costs(t, c)
            for k in range(K):
                rows = costs[:, k] > 0
                T = X[rows] - self.mean[k]
                weighted = costs[rows, k][:, None] * T
                self.covariance[k] += weighted.T @ T
                self.fourth[k] += costs[rows, k] @ (T**2).sum(axis=1) ** 2
        self.covariance /= self.weight[:, None, None]

    def spread(self) -> Any:
        """The deviations of the columns within the classes."""
        return np.sqrt(np.einsum("kjj->kj", self.covariance)).max(axis=0)

    def pooled(self) -> Any:
        """Σₖ nₖΣₖ/n."""
        return np.einsum("k,kij->ij", self.weight, self.covariance) / self.weight.sum()


def _costs(target: Any, cost: Any) -> Any:
    return target * np.asarray(cost)[:, None]


def _coherent(claim: EstimateClaim) -> bool:
    """Whether everything that the formulas make is there, in its shape, finite."""
    K, d, shared = len(claim.classes), len(claim.columns), claim.settings.get("covariance") == "shared"
    lines = 1 if K == 2 else K
    shapes = {"priors": (K,), "means": (K, d), "covariance": (d, d) if shared else (K, d, d)}
    shapes["shrinkage"] = () if shared else (K,)
    if shared:
        shapes |= {"weights": (lines, d), "intercept": (lines,)}
    held = claim.parameters
    return (
        K >= 2
        and claim.settings.get("covariance") in ("shared", "own")
        and set(held) == set(shapes)
        and all(np.shape(held[name]) == shape and np.isfinite(held[name]).all() for name, shape in shapes.items())
    )


def _priors_hold(claim: EstimateClaim, found: Estimates, error: float) -> bool:
    wish = claim.settings.get("priors")
    K = len(claim.classes)
    if wish is None:
        share = found.weight / found.weight.sum()
    elif isinstance(wish, str):
        share = np.full(K, 1 / K)
    else:
        share = np.asarray(wish, dtype=float) / np.sum(np.asarray(wish, dtype=float))
    return _near(claim.parameters["priors"], share, error)


def _covariance_holds(claim: EstimateClaim, found: Estimates, shared: bool, error: float) -> bool:
    plain = found.pooled()[None] if shared else found.covariance
    amounts, given = np.atleast_1d(claim.parameters["shrinkage"]), np.asarray(claim.parameters["covariance"])
    given = given[None] if shared else given
    fourth = found.fourth.sum(keepdims=True) if shared else found.fourth
    n = found.weight.sum(keepdims=True) if shared else found.weight
    level = np.abs(found.mean).max(axis=0)
    for k, sigma in enumerate(plain):
        if abs(amounts[k] - _amount(claim.settings.get("shrinkage"), sigma, fourth[k], n[k])) > 1e3 * error:
            return False
        d, size = len(sigma), np.sqrt(np.diag(sigma))
        middle = np.trace(sigma) / d
        wanted = (1 - amounts[k]) * sigma + amounts[k] * middle * np.eye(d)
        constant = 16 * np.finfo(float).eps * level
        allowed = error * np.outer(size, size) + np.outer(constant, constant) + error * amounts[k] * middle * np.eye(d)
        if not _near(given[k], wanted, allowed):
            return False
    return True


def _amount(wish: Any, sigma: Any, fourth: Any, n: Any) -> float:
    if wish is None:
        return 0.0
    if not isinstance(wish, str):
        return float(wish)
    d = len(sigma)
    delta = ((sigma - np.trace(sigma) / d * np.eye(d)) ** 2).sum() / d
    beta = (fourth / n - (sigma**2).sum()) / (n * d)
    return float(max(min(beta, delta) / delta, 0)) if delta > 0 else 0.0


def _weights_hold(claim: EstimateClaim, null: int) -> bool:
    """Σ(wₖ − wⱼ) = μₖ − μⱼ and bₖ − bⱼ = −½(μₖ + μⱼ)ᵀ(wₖ − wⱼ) + log(πₖ/πⱼ), j the first class.

    Where Σ has no inverse, μₖ − μⱼ is projected on what it reaches, in units of the columns' spreads.
    """
    held = {name: np.asarray(value).astype(np.longdouble) for name, value in claim.parameters.items()}
    W, b, mu, sigma = held["weights"], held["intercept"], held["means"], held["covariance"]
    if len(W) > 1:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    delta, middle, logs = mu[1:] - mu[:1], (mu[1:] + mu[:1]) / 2, np.log(held["priors"])
    eps = np.finfo(float).eps
    inside = _reached(sigma, delta, W, null)
    if inside is None:
        return False
    delta = inside
    size = np.abs(W) @ np.abs(sigma) + np.abs(delta)
    own = np.where(np.diag(sigma) > 0, np.sqrt(np.diag(sigma)), 1)
    reach = own * np.abs((mu[1:] - mu[:1]) / own).max(axis=1, keepdims=True)
    off = (SOLVED if null == 0 else SAME) * (size + reach) + 16 * eps * np.abs(middle)
    level = -(W * middle).sum(axis=1) + logs[1:] - logs[0]
    slack = SOLVED * (1 + np.abs(level)) + 64 * len(sigma) * eps * (np.abs(W) * np.abs(middle)).sum(axis=1)
    slack = slack + 64 * len(sigma) * eps * np.abs(held["weights"]).max(axis=0) @ np.abs(mu).max(axis=0)
    return _near(W @ sigma, delta, off) and _near(b, level, slack)


def _reached(sigma: Any, delta: Any, W: Any, null: int) -> Any:
    """The part of δ that Σw can be; None if Σ has not as many empty directions as was said, or W goes there."""
    own = np.sqrt(np.diag(sigma))
    own = np.where(own > 0, own, 1).astype(float)
    values, vectors = np.linalg.eigh((sigma / np.outer(own, own)).astype(float))
    if (values[:null] > EMPTY).any() or not (values[null:] > 0).all():
        return None
    gone = np.where(np.abs(vectors[:, :null]) < EMPTY, 0, vectors[:, :null])
    beside = (delta / own) @ gone @ gone.T
    if (np.abs((W * own) @ gone) > SAME * np.linalg.norm((W * own).astype(float), axis=1, keepdims=True)).any():
        return None
    return delta - beside * own


def _near(given: Any, wanted: Any, allowed: Any) -> bool:
    return bool((np.abs(np.asarray(given) - wanted) <= allowed).all())
