"""Least squares from moments: centred normal equations, the rank of the columns, the shortest solution and its bound.

No row is looked at again. The residual of the normal equations is computed in long double, so what is left is the
rounding of the moments themselves, and the bound allows for that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.linalg import Factor, factor, independent
from .moments import Moments

OWN = 2e-14
"""The part of its square that must be a column's own: products of columns do not tell less from nothing."""
COARSEST = 1e-8
"""What that part is raised to at most, until no more columns are left than the rows can tell apart."""
NOTHING = 1e-9
"""The part of a column's spread below which another column has no share in it: rounding, which units would magnify."""
CONSTANT = 8 * EPS
"""A spread below this part of the mean is the rounding of a constant."""
ROUNDING = 64 * EPS
"""What the products of the moments may be off by, as a part of the products of the columns' lengths."""
PANEL = 256
"""Columns that are put into long double at a time."""
SWEEPS = 3
"""How often the residual of the normal equations is solved for again."""


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """(1/n) Σᵢ cᵢ‖tᵢ − Wxᵢ − b‖² + (l2/2)‖W‖² as a function of W, b: all that it needs to know of the rows."""

    weight: float
    """n = Σ c."""
    center: Any
    """The means of the columns in long double; zero without an intercept."""
    target: Floats
    """The means of the targets; zero without an intercept."""
    gram: Floats
    """Σ c(x − center)(x − center)ᵀ/n."""
    cross: Floats
    """Σ c(t − target)(x − center)ᵀ/n, a row for each target."""
    square: float
    """Σ c‖t − target‖²/n."""
    l2: float
    lifted: bool
    most: int
    """The largest rank that so many rows can have."""

    @property
    def spread(self) -> Floats:
        """The root mean squares of the columns about their centre."""
        found: Floats = np.sqrt(np.diag(self.gram))
        return found

    def products(self, wide: Any) -> Any:
        """W gram in long double, of which a matrix is made some columns at a time."""
        parts = (self.gram[:, lo : lo + PANEL].astype(np.longdouble) for lo in range(0, len(self.gram), PANEL))
        return np.hstack([wide @ part for part in parts]) if len(self.gram) else wide

    def slope(self, W: Floats) -> Any:
        """∂/∂W = 2(W gram − cross) + l2 W, in long double."""
        wide = W.astype(np.longdouble)
        return 2 * (self.products(wide) - self.cross) + self.l2 * wide

    def hessian(self) -> Floats:
        """2 gram + l2."""
        H: Floats = 2 * self.gram
        H.flat[:: len(H) + 1] += self.l2
        return H

    def level(self, W: Floats, b: Floats) -> Any:
        """b − (target − W center): how far the intercepts are from where they are best."""
        return b - (self.target - W.astype(np.longdouble) @ self.center) if self.lifted else 0 * b

    def value(self, W: Floats, b: Floats) -> float:
        """square − 2⟨W, cross⟩ + ⟨W, W gram⟩ + ‖level‖² + (l2/2)‖W‖²."""
        wide = W.astype(np.longdouble)
        error = self.square + (wide * (self.products(wide) - 2 * self.cross)).sum()
        penalty = self.l2 / 2 * (wide**2).sum()
        return float(max(error, 0.0) + (self.level(W, b) ** 2).sum() + penalty)


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimum, the shortest where there are many, and how far from it the numbers can be."""

    weights: Floats
    intercept: Floats
    value: float
    gap: float
    distance: float
    coefficients: Floats
    """Bound on the error of each: targets × (weights, then the intercept if any)."""
    aliased: Indices
    sure: bool
    """Whether the penalty, if any, is above the rounding of the columns' products."""
    vague: bool
    """Whether the products leave the value fewer than ten digits, because large weights cancel each other, or might."""


def contrasts(classes: int) -> Floats:
    """What is fitted of the shares t of the classes: t₁ − t₀ = ±1 for two, else each share."""
    return np.array([[-1.0, 1.0]]) if classes == 2 else np.eye(classes)


def normal_equations(moments: Moments, squares: float, rows: int, l2: float, lifted: bool) -> NormalEquations:
    """gram = S/n, cross = V diag(n₁, …)(μₖ − μ)/n: of the class means and the scatter of all rows.

    `squares` is Σ c‖t‖², which is n for labels, `rows` how many there are. Without an intercept
    the moments are taken about zero.
    """
    n, _, scatter = moments.total()
    V, share = contrasts(len(moments.weight)), moments.weight / n
    base = moments.mean[int(np.argmax(moments.weight))]
    apart = (moments.mean - base) + moments.rest
    shift = share @ apart
    gram, cross, target = scatter / n, V @ (share[:, None] * (apart - shift)), V @ share
    square = squares / n if len(V) > 1 else 2 * squares / n - 1
    center = base.astype(np.longdouble) + shift
    flat = np.diag(gram) <= (CONSTANT * np.abs(center.astype(float))) ** 2
    gram[flat], gram[:, flat], cross[:, flat] = 0.0, 0.0, 0.0
    most = min(rows, int(moments.rows.sum()))
    if lifted:
        return NormalEquations(n, center, target, gram, cross, square - float(target @ target), l2, True, most - 1)
    mean = center.astype(float)
    gram, cross = gram + np.outer(mean, mean), cross + np.outer(target, mean)
    return NormalEquations(n, 0 * center, 0 * target, gram, cross, square, l2, False, most)


def solve(normal: NormalEquations) -> Solution:
    """W = argmin ‖W‖ over the W with W(2 gram + l2) = 2 cross; b = target − W center."""
    d = len(normal.gram)
    H = normal.hessian()
    factored = factor(H) if normal.l2 > 0 else None
    sure = normal.l2 == 0 or (factored is not None and factored.weakest > OWN)
    if factored is None or not sure:
        kept, null = _split(normal)
        factored = factor(H[np.ix_(kept, kept)]) if kept.size else None
    else:
        kept, null = np.arange(d), np.zeros((d, 0))
    W = np.zeros(normal.cross.shape)
    for _ in range(SWEEPS if factored is not None else 0):
        assert factored is not None
        W[:, kept] += factored.solve(-normal.slope(W).astype(float)[:, kept].T).T
    value = normal.value(W, _level(normal, W))  # before the weights are spread over columns that cancel each other
    value -= normal.l2 / 2 * float((W**2).sum())
    W = without(W, null)
    value += normal.l2 / 2 * float((W**2).sum())
    return replace(at(normal, W, _level(normal, W), kept, null, factored, sure), value=value)


def _level(normal: NormalEquations, W: Floats) -> Floats:
    """b = target − W center."""
    found: Floats = (normal.target - W.astype(np.longdouble) @ normal.center).astype(float)
    return found


def at(
    normal: NormalEquations,
    W: Floats,
    b: Floats,
    kept: Indices,
    null: Floats,
    factored: Factor | None,
    sure: bool = True,
) -> Solution:
    """gap ≤ ½ Σₖ gₖᵀH⁺gₖ + ‖level‖²: the objective is quadratic, so this is how far above its least it is."""
    d = W.shape[1]
    level = np.abs(normal.level(W, b)).astype(float) + ROUNDING * np.abs(W) @ normal.spread * normal.lifted
    nu, inverse = 0.0, np.zeros((kept.size, kept.size))
    if factored is not None:
        slope = normal.slope(W).astype(float)[:, kept]
        size = (2 * (np.abs(W) @ np.abs(normal.gram) + np.abs(normal.cross)) + normal.l2 * np.abs(W))[:, kept]
        inverse = factored.inverse()
        largest = np.sqrt((inverse.diagonal() * factored.diagonal**2).sum())
        doubt = ROUNDING * largest * np.linalg.norm(size / factored.diagonal)
        nu = float(np.linalg.norm(factored.whiten(slope.T)) + doubt)
    gap = nu**2 / 2 + float(level @ level)
    distance = float(np.sqrt(2 * gap))
    center = normal.center.astype(float)
    if null.shape[1]:
        P = without(np.eye(d), null)[:, kept]
        squares, back = np.einsum("ij,jk,ik->i", P, inverse, P, optimize=True), P.T @ center
    else:
        squares, back = inverse.diagonal() if kept.size else np.zeros(d), center
    reach = np.sqrt(np.maximum(squares, 0))
    if normal.lifted:
        reach = np.append(reach, np.sqrt(max(0.0, float(back @ inverse @ back)) + 0.5))
    aliased = np.setdiff1d(np.arange(d), kept)
    errors = np.tile(reach * distance, (len(W), 1))
    value, cancelled = normal.value(W, b), float(np.square(np.abs(W) @ normal.spread).sum())
    vague = bool(aliased.size) or ROUNDING * cancelled > 1e-10 * value + 1e-13
    sure = sure and (factored is not None or not kept.size)
    return Solution(W, b, value, gap, distance, errors, aliased, sure, vague)


def judge(normal: NormalEquations, W: Floats, b: Floats) -> Solution:
    """How far these weights, whatever they come from, are from the minimum."""
    d = len(normal.gram)
    if normal.l2 > 0:
        made = factor(normal.hessian())
        if made is not None and made.weakest > OWN:
            return at(normal, W, b, np.arange(d), np.zeros((d, 0)), made)
    kept, null = _split(normal)
    H = normal.hessian()[np.ix_(kept, kept)]
    return at(normal, W, b, kept, null, factor(H) if kept.size else None, normal.l2 == 0)


def _split(normal: NormalEquations) -> tuple[Indices, Floats]:
    kept, null = rank_of(normal.gram, normal.most)
    return kept, basis(null)


def rank_of(gram: Floats, most: int, own: float = OWN) -> tuple[Indices, Floats]:
    """The columns that are kept, in order, and the weights that change no score, a column for each that is not kept.

    At most `most` columns are kept: the rows cannot tell more apart, whatever rounding leaves over.
    """
    scale = np.sqrt(np.maximum(np.diag(gram), 0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = gram / np.outer(scale, scale)
    kept, gone, made = _independent(scaled, most, own)
    null = np.zeros((len(gram), gone.size))
    null[gone, np.arange(gone.size)] = 1 / scale[gone]
    if made is not None and gone.size:
        combination = made.solve(scaled[np.ix_(kept, gone)])
        combination[np.abs(combination) < NOTHING] = 0.0
        null[kept] = -combination / scale[kept, None]
    return kept, null


def _independent(scaled: Floats, most: int, own: float) -> tuple[Indices, Indices, Factor | None]:
    while True:
        told = independent(scaled, own, own)
        assert told is not None  # with one limit there is nothing between
        kept, gone = (np.array(each, dtype=np.intp) for each in told)
        made = factor(scaled[np.ix_(kept, kept)]) if kept.size else None
        if own > COARSEST or not kept.size or (kept.size <= most and made is not None and made.weakest > own / 4):
            return kept, gone, made
        own *= 10


def basis(null: Floats) -> Floats:
    """Orthonormal columns that span the same space."""
    if not null.shape[1]:
        return null
    return np.asarray(np.linalg.qr(null / np.linalg.norm(null, axis=0))[0], dtype=np.float64)


def without(W: Floats, null: Floats) -> Floats:
    """W less its part along the null space: the shortest weights with the same scores."""
    return W - (W @ null) @ null.T if null.shape[1] else W  # type: ignore[no-any-return]
