"""Sums over rows: the value, gradient and Hessian of an empirical risk, and the frame in which the rows are seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .linalg import Root
from .losses import MarginLoss

Floats = NDArray[np.float64]
BLOCK = 8192
"""At most so many rows in one Hessian product."""


def block_rows(width: int) -> int:
    """Rows of one Hessian product: many enough that calls do not count, few enough that memory does not."""
    return max(2048, min(BLOCK, (1 << 19) // width))


class Frame(NamedTuple):
    """z = ((x − c)/s, 1): the coordinates in which the solvers see a row."""

    center: Floats
    scale: Floats
    lifted: bool

    @property
    def width(self) -> int:
        """How many weights there are."""
        return self.center.size + self.lifted

    def coordinates(self, X: Any) -> Floats:
        """The rows in this frame."""
        Z = np.empty((len(X), self.width))
        Z[:, : self.center.size] = (X - self.center) / self.scale
        Z[:, self.center.size :] = 1
        return Z

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        """w = v/s and b = v₀ − cᵀw: weights and intercept in the user's units."""
        w = v[: self.center.size] / self.scale
        return w, math.fsum([v[-1], *(-self.center * w)]) if self.lifted else 0.0

    def steepest(self, gradient: Floats) -> Floats:
        """The gradient of the user's weights as a direction in the frame: JJᵀg, J = ∂v/∂(w, b)."""
        d = self.center.size
        pull = self.scale * gradient[:d]
        if not self.lifted:
            return pull * self.scale
        pull += self.center * gradient[-1]
        return np.append(pull * self.scale, gradient[-1] + self.center @ pull)

    def from_user(self, weights: Floats, intercept: float) -> Floats:
        """v = s∘w and v₀ = b + cᵀw."""
        v = weights * self.scale
        return np.append(v, math.fsum([intercept, *(self.center * weights)])) if self.lifted else v


@dataclass(frozen=True)
class Jet:
    """A sum over rows to second order; the jet of two blocks is the sum of their jets."""

    value: float
    gradient: Floats
    hessian: Any
    """H as a matrix, or where it was asked for so, a `Root`."""
    margin: float
    """The least margin of a row that counts."""

    def __add__(self, other: Jet) -> Jet:
        return replace(self, gradient=self.gradient.copy(), hessian=copy(self.hessian)).__iadd__(other)

    def __iadd__(self, other: Jet) -> Jet:
        gradient, hessian = self.gradient, self.hessian
        gradient += other.gradient
        if hessian is not None:
            hessian += other.hessian
        return Jet(self.value + other.value, gradient, hessian, min(self.margin, other.margin))


class Ask(NamedTuple):
    """What a pass over the rows is to bring back, besides the value and the gradient."""

    hessian: bool = False
    steering: bool = False
    """The Hessian only steers: single precision will do."""
    root: bool = False
    """The Hessian as RᵀR by QR: for columns that are nearly combinations of others."""


def margin_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z.  [000 8.8, 8.9; 002 8, 9]

    For the log-likelihood g = Zᵀ C (p − y) and H = Zᵀ C P(I − P) Z, with C the costs of the weighted likelihood.
    """
    Z, y = frame.coordinates(rows.X[lo:hi]), rows.y[lo:hi]
    cost = rows.cost[lo:hi] if rows.cost.size else np.ones(hi - lo)
    with np.errstate(invalid="ignore", over="ignore"):
        m = y * (Z @ v)
        value = float(cost @ loss.value(m))
        gradient = (cost * y * loss.slope(m)) @ Z
        hessian = _hessian(Z, cost * loss.curvature(m), ask) if ask.hessian else None
    return Jet(value, gradient, hessian, float(m[cost > 0].min(initial=math.inf)))


def _hessian(Z: Floats, weight: Floats, ask: Ask) -> Floats | Root:
    """Zᵀ diag(v) Z, or the root R of it."""
    return Root.of(np.sqrt(weight)[:, None] * Z) if ask.root else (Z.T * weight) @ Z


def compiled_jet(loss: MarginLoss, frame: Frame, ask: Ask, v: Floats, rows: Any, lo: int, hi: int) -> Jet:
    """The same sums by the compiled pass: one read of X for the value and the gradient."""
    from .compiled import layout, pass_kernel

    order, d = layout(rows.X), frame.center.size
    run = partial(pass_kernel(loss, rows.X.dtype.name, order), rows.X, rows.y, rows.cost)
    gather, w, b = order != "C", v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0
    gradient, hessian, sums, size = np.zeros(d), None, [], block_rows(frame.width)
    if not ask.hessian:
        sums.append(run(lo, hi, gather, frame.center, w, b, gradient, np.empty(0)))
    else:
        hessian, work = np.zeros((frame.width, frame.width)), Roots(rows, frame, ask, min(size, hi - lo))
        for start in range(lo, hi, size):
            stop = min(start + size, hi)
            weight = np.empty(stop - start)
            sums.append(run(start, stop, gather, frame.center, w, b, gradient, weight))
            hessian += work.product(weight, start, stop)
    value, pulls, margins = zip(*sums, strict=True)
    tail = [math.fsum(pulls)] if frame.lifted else []
    return Jet(math.fsum(value), np.append(gradient / frame.scale, tail), hessian, min(margins))


class Roots:
    """AᵀA with A = √v∘Z, block by block in one reused buffer."""

    def __init__(self, rows: Any, frame: Frame, ask: Ask, size: int) -> None:
        from .compiled import layout, root_kernel

        out = "float32" if ask.steering else "float64"
        self.rows, self.frame, self.inverse_scale = rows, frame, 1 / frame.scale
        self.kernel = root_kernel(rows.X.dtype.name, layout(rows.X), out)
        self.buffer = np.empty((size, frame.width), out)

    def product(self, weight: Floats, lo: int, hi: int) -> NDArray[Any]:
        """Zᵀ diag(v) Z over the rows lo ≤ i < hi."""
        A = self.buffer[: hi - lo]
        with np.errstate(over="ignore", invalid="ignore"):
            return self._product(weight, lo, hi, A)

    def _product(self, weight: Floats, lo: int, hi: int, A: NDArray[Any]) -> NDArray[Any]:
        self.kernel(self.rows.X, lo, hi, self.frame.center, self.inverse_scale, weight, A)
        if (weight >= 0).all():
            return A.T @ A  # type: ignore[no-any-return]
        return (A.T * np.sign(weight).astype(A.dtype)) @ A  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Risk:
    """R(v) = (1/C) Σᵢ cᵢφ(yᵢzᵢᵀv) + ½ vᵀ diag(ridge) v,  C = Σᵢcᵢ."""

    loss: MarginLoss
    rows: Any
    frame: Frame
    ridge: Floats
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        full = self.embed(v)
        total = self.rows.fold(partial(self._jet(ask), self.loss, self.frame, ask, full), blas=ask.hessian)
        weight = self.rows.weight
        hessian = None if total.hessian is None else self.penalised(total.hessian)
        penalty = self.ridge * full
        return Jet(
            total.value / weight + float(penalty @ full) / 2,
            (total.gradient / weight + penalty)[self.active],
            hessian,
            total.margin,
        )

    def _jet(self, ask: Ask) -> Callable[..., Jet]:
        return compiled_jet if self.rows.compiled and not ask.root else margin_jet

    def penalised(self, total: Any) -> Any:
        """The mean Hessian with the ridge on its diagonal, from a sum over rows for all columns or the active ones."""
        ridge = self.ridge[self.active]
        if isinstance(total, Root):
            R = (total.R if total.R.shape[1] == ridge.size else total.R[:, self.active]) / math.sqrt(self.rows.weight)
            return Root.of(np.vstack([R, np.diag(np.sqrt(ridge))[ridge > 0]]))
        hessian = (total if len(total) == ridge.size else total[np.ix_(self.active, self.active)]) / self.rows.weight
        hessian[np.diag_indices_from(hessian)] += ridge
        return hessian

    def embed(self, v: Floats) -> Floats:
        """v with a zero for every column that has no weight."""
        if v.size == self.frame.width:
            return v
        full = np.zeros(self.frame.width)
        full[self.active] = v
        return full
