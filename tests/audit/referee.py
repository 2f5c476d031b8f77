"""A referee for certificates of logistic regression: what is true about a verdict, in long double.

It moves from the verdict's own weights, W(δ) = W + Tδ, so that what lies between them and the minimum keeps its digits:
T has a column for each class but the last, of two classes one for the second, and with a penalty an orthonormal one.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import helmert, null_space
from scipy.optimize import linprog

TOO_SURE = 1e-10


@dataclasses.dataclass
class Rows:
    """What a verdict is about. `split[i, k]` is the cost of row i as a row of class k."""

    X: Any
    split: Any
    l2: float = 0.0
    fit_intercept: bool = True
    squared: bool = False
    places: Any = None
    """Which columns of the data these are, all others being zero; None: all of them."""


class Truth:
    """F around a verdict's weights, on the columns that are not aliased."""

    def __init__(self, rows: Rows, weights: Any, intercept: Any, aliased: Any = ()) -> None:
        counts = rows.split.sum(axis=1) > 0
        X, split = rows.X[counts].astype(np.longdouble), rows.split[counts].astype(np.longdouble)
        self.rows, self.K, self.columns = rows, split.shape[1], X.shape[1]
        self.l2, self.squared = np.longdouble(rows.l2), rows.squared
        self.kept = [j for j in range(X.shape[1]) if rows.l2 > 0 or j not in set(aliased)]
        ones = np.ones((len(X), int(rows.fit_intercept)))
        self.X, self.Z = X, np.column_stack([X[:, self.kept], ones])
        self.cost = split.sum(axis=1) / split.sum()
        self.target = split / split.sum(axis=1, keepdims=True)
        W = np.atleast_2d(weights).astype(np.longdouble)
        s = X @ W.T + np.ravel(intercept)
        self.start = s if self.K > 2 else np.column_stack([0 * s, s])
        self.W = W
        free = self.K - 1
        if self.K == 2:
            self.T = np.array([[0.0], [1.0]])
        elif rows.l2 > 0:
            self.T = helmert(self.K).T
        else:
            self.T = np.vstack([np.eye(free), np.zeros(free)])
        self.shape = free, self.Z.shape[1]
        own = W if self.K == 2 else self.T.T @ W if rows.l2 > 0 else np.zeros((free, W.shape[1]))
        self.own = np.column_stack([own[:, self.kept], np.zeros(free)])[:, : self.shape[1]]
        self.ridge = np.append(np.full(len(self.kept), self.l2), np.zeros(int(rows.fit_intercept)))

    @property
    def common(self) -> float:
        """(l2/2) K ‖w̄‖²."""
        return self.l2 / 2 * self.K * (self.W.mean(axis=0) ** 2).sum() if self.K > 2 else np.longdouble(0)

    def _at(self, delta: Any) -> tuple[Any, Any]:
        s = self.start + self.Z @ delta.T @ self.T.T
        s = s - s.max(axis=1, keepdims=True)
        e = np.exp(s)
        return e / e.sum(axis=1, keepdims=True), s - np.log(e.sum(axis=1, keepdims=True))

    def value(self, delta: Any = None) -> Any:
        """F at W + Tδ."""
        delta = np.zeros(self.shape, np.longdouble) if delta is None else delta
        p, logs = self._at(delta)
        t = self.target
        if not self.squared:
            losses = -(t * logs).sum(axis=1)
        elif self.K == 2:
            losses = t[:, 1] * p[:, 0] ** 2 + t[:, 0] * p[:, 1] ** 2
        else:
            losses = ((t - p) ** 2).sum(axis=1)
        return self.cost @ losses + (self.ridge * (self.own + delta) ** 2).sum() / 2 + self.common

    def derivatives(self, delta: Any, chosen: Any = None) -> tuple[Any, Any]:
        """g in long double, H in double; H of the chosen rows alone."""
        p, t, K = self._at(delta)[0], self.target, self.K
        A = np.einsum("ik,kl->ikl", p, np.eye(K)) - p[:, :, None] * p[:, None, :]
        if not self.squared:
            slope, bend = p - t, A
        else:
            unit = np.eye(K)[None] - p[:, None, :]  # eₖ − p
            bends = p[:, :, None, None] * (unit[:, :, :, None] * unit[:, :, None, :] - A[:, None])
            if K == 2:
                outer = np.column_stack([t[:, 1] * p[:, 0], t[:, 0] * p[:, 1]])
                slope = 2 * (outer[:, :1] * A[:, 0] + outer[:, 1:] * A[:, 1])
                bend = 2 * sum(
                    t[:, 1 - k, None, None] * A[:, k, :, None] * A[:, k, None, :]
                    + outer[:, k, None, None] * bends[:, k]
                    for k in range(2)
                )
            else:
                slope = 2 * np.einsum("ikl,il->ik", A, p - t)
                bend = 2 * np.einsum("ikl,ilm->ikm", A, A) + 2 * np.einsum("ik,iklm->ilm", p - t, bends)
        g = (slope * self.cost[:, None] @ self.T).T @ self.Z + self.ridge * (self.own + delta)
        bend = (self.T.T @ bend.astype(float) @ self.T) * self.cost.astype(float)[:, None, None]
        Z = self.Z.astype(float)
        if chosen is not None:
            bend, Z = bend[chosen], Z[chosen]
        H = np.einsum("iab,ij,ik->ajbk", bend, Z, Z, optimize=True).reshape(math.prod(self.shape), -1)
        return g, H + np.diag(np.tile(self.ridge.astype(float), self.shape[0]))

    @cached_property
    def step(self) -> Any:
        """δ⋆ of the nearest minimum, by Newton's method; None where it finds none."""
        delta = np.zeros(self.shape, np.longdouble)
        for _ in range(40):
            g, H = self.derivatives(delta)
            if not np.isfinite(H).all() or (np.linalg.eigvalsh(H)[0] <= 0):
                return None
            step = np.linalg.solve(H, g.astype(float).ravel()).reshape(self.shape)
            delta = delta - step
            if np.abs(step).max(initial=0) <= 1e-17 * (1e-6 + np.abs(delta).max(initial=0)):
                break
        return delta if np.abs(step).max(initial=0) < 1e-9 * (1e-3 + np.abs(delta).max(initial=0)) else None

    @property
    def fall(self) -> float:
        """F − F⋆, all that the weights have in common included."""
        return math.inf if self.step is None else float(self.value() - (self.value(self.step) - self.common))

    def unsure(self) -> Any:
        """Which rows have a curvature that counts."""
        top = self._at(np.zeros(self.shape, np.longdouble))[0].max(axis=1)
        return top * (1 - top) >= TOO_SURE

    def nu_and_rho(self, chosen: Any = None) -> tuple[float, float]:
        """By the curvature of all rows, or of those that are chosen."""
        g, H = self.derivatives(np.zeros(self.shape, np.longdouble), chosen)
        inverse, g = np.linalg.inv(H), g.astype(float).ravel()
        Z = self.Z.astype(float) if chosen is None else self.Z.astype(float)[chosen]
        pairs = [self.T[k] - self.T[j] for k in range(self.K) for j in range(k)]
        blocks = inverse.reshape(*self.shape, *self.shape)
        forms = [np.einsum("a,ajbk,b->jk", pair, blocks, pair) for pair in pairs]
        rho = max((float(np.einsum("ij,jk,ik->i", Z, form, Z).max(initial=0)) for form in forms), default=0.0)
        return math.sqrt(max(g @ inverse @ g, 0.0)), math.sqrt(rho)

    def distance(self, chosen: Any = None) -> float:
        """‖δ⋆‖ in the norm of the Hessian, of all rows or of those that are chosen."""
        H = self.derivatives(np.zeros(self.shape, np.longdouble), chosen)[1]
        step = self.step.astype(float).ravel()
        return math.sqrt(max(step @ H @ step, 0.0))

    def errors(self) -> Any:
        """How far each coefficient is from that of the minimum, classes × (weights, intercept): W − W⋆."""
        full = np.zeros((self.K, self.columns + 1))
        moved = (self.T @ self.step).astype(float)
        full[:, self.kept] = moved[:, : len(self.kept)]
        full[:, -1] = moved[:, -1] if self.rows.fit_intercept else 0
        return full[1:] if self.K == 2 else full

    def scale_of(self, bounds: Any) -> float:
        """The least factor on the bounds of the coefficients with which some minimum is within them."""
        free = self._changing_nothing()
        worst = 0.0
        for row, most in zip(self.errors(), np.atleast_2d(bounds), strict=True):
            fixed = most <= 0  # these may not be off at all
            start, *_ = np.linalg.lstsq(free[:, fixed].T, -row[fixed], rcond=1e-9)
            moves = null_space(free[:, fixed].T, rcond=1e-9) if len(free) and fixed.any() else np.eye(len(free))
            row, along = row + start @ free, moves.T @ free
            if (np.abs(row[fixed]) > 1e-6 * np.abs(row).max(initial=0)).any():
                return math.inf
            off, along = row[~fixed] / most[~fixed], (along[:, ~fixed] / most[~fixed]).T
            if not along.size:
                worst = max(worst, float(np.abs(off).max(initial=0)))
                continue
            less = -np.ones((len(off), 1))  # the factor λ: ±(off + along·t) ≤ λ
            found = linprog(
                np.append(np.zeros(along.shape[1]), 1.0), np.block([[along, less], [-along, less]]),
                np.append(-off, off), bounds=[(None, None)] * along.shape[1] + [(0, None)],
            )  # fmt: skip
            worst = max(worst, float(found.fun))
        return worst

    def _changing_nothing(self) -> Any:
        """Directions of (weights, intercept) that change no score, where no penalty tells them apart."""
        if self.rows.l2 > 0 or len(self.kept) == self.columns:
            return np.zeros((0, self.columns + 1))
        size = np.abs(self.X).max(axis=0).astype(float)
        ones = np.ones((len(self.X), int(self.rows.fit_intercept)))
        found = null_space(np.column_stack([self.X.astype(float) / size, ones]), rcond=1e-10).T
        found = np.column_stack([found, np.zeros((len(found), self.columns + 1 - found.shape[1]))])
        found[:, : self.columns] /= size
        found[np.abs(found) < 1e-12 * np.abs(found).max(initial=0)] = 0
        return found
