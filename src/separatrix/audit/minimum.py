"""The check of a minimum: of the likelihood, and a local one of the squared error.

Adding one number to all scores of a row changes no objective. So directions are written as V ⊗ z: for two classes
V = (0, 1)ᵀ, for more an orthonormal basis of the vectors that add up to zero. On these the penalty is (l2/2)‖·‖² both
times; what the weights of all classes have in common only adds (l2/2)K‖w̄‖² to the objective, and that exactly.

The rows are first whitened by a root of Σ ωᵢzᵢzᵢᵀ + ridge that QR finds. With two classes this is the Hessian itself;
with more it leaves a matrix whose condition does not hang on that of the columns, so that sums are good enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import helmert, solve_triangular

from ..results.claims import Claim
from ..results.verdict import Verdict
from .objectives import Softmax, objective, per_class, scores
from .rows import Table, lengths
from .shown import Shown


class Look(NamedTuple):
    """Some rows as one pass sees them."""

    rows: slice
    X: Any
    Z: Any
    at: Softmax
    target: Any
    share: Any
    """cᵢ/C."""


@dataclass(frozen=True)
class Point:
    """Where the fit ended, in coordinates z: the columns that are not aliased, centred and scaled, and a one."""

    claim: Claim
    table: Table
    center: Any
    scale: Any
    keep: list[int]

    @classmethod
    def of(cls, verdict: Verdict, table: Table, keep: Any = None) -> Point:
        """The point of the claim, with these columns; else with those not aliased, with a penalty all of them."""
        aliased = set(verdict.rank.aliased) if verdict.claim.l2 == 0 else set()
        if keep is None:
            keep = [j for j, name in enumerate(verdict.claim.columns) if name not in aliased]
        return cls(verdict.claim, table, *_center_and_scale(verdict.claim, table), list(keep))

    @property
    def contrasts(self) -> Any:
        """V with VᵀV = I and Vᵀ1 = 0; for two classes (0, 1)ᵀ, since their penalty is on one vector of weights."""
        classes = len(self.claim.classes)
        return np.array([[0.0], [1.0]]) if classes == 2 else np.asarray(helmert(classes)).T

    @property
    def ridge(self) -> Any:
        """√l2/scale, and nothing for the intercept: the roots of the penalty's curvatures."""
        roots = math.sqrt(self.claim.l2) / self.scale[self.keep]
        return np.append(roots, 0 * self._intercepts(1)).astype(float)

    def coordinates(self, X: Any) -> Any:
        """z = ((x − center)/scale, 1)."""
        return np.column_stack([((X - self.center) / self.scale)[:, self.keep], self._intercepts(len(X))])

    def _intercepts(self, count: int) -> Any:
        return np.ones((count, int(self.claim.fit_intercept)))

    def penalty_slope(self, W: Any) -> Any:
        """l2 VᵀW / scale, and nothing for the intercepts."""
        slopes = self.claim.l2 * (self.contrasts.T @ W / self.scale)[:, self.keep]
        return np.column_stack([slopes, 0 * self._intercepts(len(slopes))])

    def looks(self) -> Iterator[Look]:
        """All rows, some at a time."""
        total, start = self.table.cost.sum(), 0
        for X, target, cost in self.table.chunks():
            at = Softmax(scores(self.claim.weights, self.claim.intercept, X))
            yield Look(slice(start, start + len(X)), X, self.coordinates(X), at, target, cost / total)
            start += len(X)

    @property
    def told(self) -> Any:
        """V, of each class's coefficients: without a penalty relative to the last class's; of two the second's."""
        V = self.contrasts
        return V[1:] if len(V) == 2 else V if self.claim.l2 > 0 else V - V[-1]

    def coefficients(self, way: Any) -> Any:
        """All coefficients as functions of the weights of z: wⱼ = θⱼ/scaleⱼ, b = θ₀ − Σⱼ wⱼ centerⱼ, and so on."""
        keep, d = self.keep, len(self.scale)
        units = np.zeros((len(keep) + self.claim.fit_intercept,) * 2, np.longdouble)
        units[np.arange(len(keep)), np.arange(len(keep))] = 1 / self.scale[keep]
        if self.claim.fit_intercept:
            units[-1] = np.append(-self.center[keep] / self.scale[keep], 1)
        if way is None:
            way = np.zeros((d + 1, len(units)))
            way[keep, np.arange(len(keep))] = 1
            way[d, len(keep) :] = 1
        return way @ units

    def slope(self) -> Any:
        """g = Σᵢ (cᵢ/C) Vᵀ(∂ℓᵢ/∂s) zᵢᵀ + l2 VᵀW / scale."""
        V, loss = self.contrasts, objective(self.claim)
        g = self.penalty_slope(per_class(self.claim.weights, self.claim.intercept)[0])
        for look in self.looks():
            g = g + (loss.slope(look.at, look.target) * look.share[:, None] @ V).T @ look.Z
        return g


class Root:
    """RᵀR = Σᵢ ωᵢ zᵢzᵢᵀ + diag(ridge²), by QR."""

    def __init__(self, point: Point, weight: Any) -> None:
        R, start = np.diag(point.ridge), 0
        for X, _, _ in point.table.chunks():
            rooted = np.sqrt(weight[start : start + len(X)])[:, None] * point.coordinates(X)
            R, start = np.asarray(np.linalg.qr(np.vstack([R, rooted.astype(float)]), mode="r")), start + len(X)
        self.length = np.linalg.norm(R, axis=0)
        self.steady = bool((np.abs(np.diag(R)) > len(R) * np.finfo(float).eps * self.length).all())
        self.R = R / np.where(self.length > 0, self.length, 1)

    def whiten(self, columns: Any) -> Any:
        """R⁻ᵀ times the columns; what is not finite stays so, and proves nothing."""
        return solve_triangular(self.R, columns.astype(float) / self.length[:, None], trans="T", check_finite=False)


def _center_and_scale(claim: Claim, table: Table) -> tuple[Any, Any]:
    """Means and deviations of the columns; without an intercept, zero and the root mean square."""
    n, d = table.X.shape
    center, square = np.zeros(d, np.longdouble), np.zeros(d, np.longdouble)
    if claim.fit_intercept:
        center = sum((X.sum(axis=0) for X, _, _ in table.chunks()), center) / n
    square = sum((((X - center) ** 2).sum(axis=0) for X, _, _ in table.chunks()), square) / n
    return center, np.where(square > 0, np.sqrt(square), 1)


TOO_SURE = 1e-10
"""Rows with less curvature than this prove nothing."""
ATTEMPTS = 8
"""How often the farthest rows are left out."""
FLAT = 1e-13
"""A curvature, relative, that is the rounding of a sum of positive terms."""
BENT = 1e-12
"""A curvature, beside Σ zzᵀ, that is the rounding of terms of both signs."""
DIP = 0.1203
"""φ″ ≥ −0.1203 for φ = σ(−m)²."""
TWIST_OF_TWO = 0.2021
"""|φ‴| ≤ 0.2021 for φ = σ(−m)²."""
TWIST = 1.1
"""|(‖t − p‖²)‴| ≤ 1.1 range³ of the scores' slopes."""
Ways = tuple[Any, ...]
"""To all coefficients from those that are sought, as `Columns` has them."""
Gap = tuple[float, Any]
"""A bound on how far the minimum is below, infinite if nothing is proved; and the leverage of every row."""


def without_the_far(proof: Callable[[Any], Gap], chosen: Any, sure: Any, enough: float) -> float:
    """The best bound, as rows that weaken the proof are left out: first the sure, then the farthest by halves."""
    best = math.inf
    for _ in range(ATTEMPTS):
        bound, leverages = proof(chosen)
        best = min(best, bound)
        out = sure if (chosen & sure).any() else leverages > 0.5 * leverages[chosen].max(initial=0)
        if best <= enough or not (chosen & out).any():
            break
        chosen = chosen & ~out
    return best


# ------------------------------------------------------------------------------------ the likelihood: one minimum


def likelihood_shown(point: Point, witness: Any, ways: Ways, chosen: Any) -> Iterator[Shown]:
    """By the Hessian of the chosen rows, or by a witness of all, of those that are not too sure."""
    shape, slope = (len(point.claim.classes), len(point.claim.columns) + 1), point.slope()
    doubt = np.concatenate([doubt_of(look.at) for look in point.looks()])
    if witness is None:
        yield from _exactly(point, slope, doubt * ((doubt >= TOO_SURE) & chosen), ways)
    elif np.shape(witness) == shape and np.isfinite(witness).all():
        yield from _witnessed(point, slope, witness, doubt >= TOO_SURE, ways)


def doubt_of(at: Softmax) -> Any:
    """p(1 − p) of the likeliest class."""
    top = at.p.argmax(axis=1)[:, None]
    return (np.take_along_axis(at.p, top, 1) * np.take_along_axis(at.rest, top, 1)).ravel().astype(float)


def _exactly(point: Point, slope: Any, doubt: Any, ways: Ways) -> Iterator[Shown]:
    """ν² = gᵀM⁻¹g, ρ² = maxᵢ of the leverages, M the Hessian of the rows in doubt."""
    root = Root(point, doubt * point.table.cost / point.table.cost.sum())
    L = _factor(_hessian(point, root, doubt > 0)) if root.steady else None
    if L is None:
        return
    rho = math.sqrt(_leverages(point, root, L)[doubt > 0].max(initial=0))
    for way in ways:
        yield Shown.by(_length(root, L, slope), rho, spread_of(point, root, L, way))


def _witnessed(point: Point, slope: Any, u: Any, chosen: Any, ways: Ways) -> Iterator[Shown]:
    """ν ≤ √(uᵀHu) + ‖g − Hu‖_{(I⊗B)⁻¹}, ρ² ≤ 2 maxᵢ zᵢᵀB⁻¹zᵢ, H ⪰ I⊗B = I ⊗ (Σᵢ (cᵢ/C) minₖpᵢₖ zᵢzᵢᵀ + ridge).

    √(uᵀHu) bounds √((Hu)ᵀH⁻¹(Hu)) whatever the scores of u, so that u may have weights on aliased columns too.
    """
    least = np.concatenate([look.at.p.min(axis=1) for look in point.looks()]).astype(float)
    root = Root(point, least * chosen * point.table.cost / point.table.cost.sum())
    if not root.steady:
        return
    Hu, size = _along(point, np.asarray(u, dtype=float), chosen)
    nu = math.sqrt(size) + float(np.linalg.norm(root.whiten((slope - Hu).T)))
    leverages = 2 * np.concatenate([np.square(root.whiten(look.Z.T)).sum(axis=0) for look in point.looks()])
    rho = math.sqrt(leverages[chosen].max(initial=0))
    for way in ways:
        own = np.linalg.norm(root.whiten(point.coefficients(way).T), axis=0)
        yield Shown.by(nu, rho, np.outer(np.linalg.norm(point.told, axis=1), own))


def _along(point: Point, u: Any, chosen: Any) -> tuple[Any, float]:
    """Hu and uᵀHu, H u = Σᵢ (cᵢ/C) Vᵀ(diag(p) − ppᵀ)qᵢ zᵢᵀ + l2 Vᵀu / scale, with the scores qᵢ = u(xᵢ, 1)."""
    V, W = point.contrasts, u[:, :-1]
    Hu, size = point.penalty_slope(W), point.claim.l2 * np.square(V.T @ W).sum()
    for look in point.looks():
        p, share = look.at.p, (look.share * chosen[look.rows])[:, None]
        q = scores(W, u[:, -1] * point.claim.fit_intercept, look.X)
        q = q - (p * q).sum(axis=1, keepdims=True)
        Hu, size = Hu + (share * p * q @ V).T @ look.Z, size + (share * p * q * q).sum()
    return Hu, float(size)


# ------------------------------------------------------------------------------ the squared error: a local minimum


def squared_shown(point: Point, ways: Ways, *, convex: bool) -> Iterator[Shown]:
    """νt − t²/2 + qt³/6, t = (1 − √(1 − 2qν))/q, q = κρλ: |f‴| ≤ κ Σᵢ (cᵢ/C) range³ ≤ κρλ along a unit direction of M.

    λ is the largest uᵀGu / uᵀMu, G = γ Σᵢ (cᵢ/C) I⊗zᵢzᵢᵀ with range(Vα)² ≤ γ‖α‖²: γ = 1 for two classes, for more
    (a − b)² ≤ 2(a² + b²). With `convex`, nothing unless ridge − 0.1203 G is positive definite.
    """
    many = len(point.claim.classes) > 2
    share = point.table.cost / point.table.cost.sum()
    root = Root(point, share)
    if not root.steady:
        return
    ridge = root.whiten(np.diag(point.ridge))
    gram = np.eye(len(ridge)) - ridge @ ridge.T  # the whitened Σᵢ (cᵢ/C) zᵢzᵢᵀ
    if convex and (many or not _definite(ridge @ ridge.T - DIP * gram)):
        return
    M = _hessian(point, root, share > 0)
    L = _factor(M) if _definite(M) else None
    if L is None:
        return
    rho = math.sqrt(_leverages(point, root, L).max(initial=0))
    half = solve_triangular(L, np.kron(np.eye(point.contrasts.shape[1]), (2 if many else 1) * gram), lower=True)
    steepest = float(np.linalg.eigvalsh(solve_triangular(L, half.T, lower=True))[-1])
    q, nu = (TWIST if many else TWIST_OF_TWO) * rho * steepest, _length(root, L, point.slope())
    t = slow_way(nu, q)
    for way in ways if math.isfinite(t) else ():
        yield Shown(nu, rho, slow_fall(nu, q), t, spread_of(point, root, L, way) * t)


def _definite(M: Any) -> bool:
    """Whether uᵀMu > 0 for all u ≠ 0, beyond rounding."""
    return bool(np.isfinite(M).all() and np.linalg.eigvalsh(M)[0] > BENT)


def slow_way(nu: float, q: float) -> float:
    """t = (1 − √(1 − 2qν))/q, infinite if 2qν ≥ 1."""
    return 2 * nu / (1 + math.sqrt(1 - 2 * q * nu)) if 2 * q * nu < 1 else math.inf


def slow_fall(nu: float, q: float) -> float:
    """νt − t²/2 + qt³/6, infinite if 2qν ≥ 1."""
    t = slow_way(nu, q)
    return nu * t - t * t / 2 + q * t**3 / 6 if math.isfinite(t) else math.inf


# ---------------------------------------------------------------------------------------------------- what both use


def _hessian(point: Point, root: Root, chosen: Any) -> Any:
    """M = Σᵢ (cᵢ/C) Vᵀ(∂²ℓᵢ/∂s∂sᵀ)V ⊗ zᵢzᵢᵀ + I ⊗ diag(ridge²) of the chosen rows, whitened."""
    V, loss, ridge = point.contrasts, objective(point.claim), root.whiten(np.diag(point.ridge))
    free, width = V.shape[1], len(ridge)
    M = np.kron(np.eye(free), ridge @ ridge.T).reshape(free, width, free, width)
    for look in point.looks():
        Z, share = root.whiten(look.Z.T), (look.share * chosen[look.rows]).astype(float)
        bend = V.T @ loss.curvature(look.at, look.target) @ V
        for a in range(free):
            for b in range(free):
                M[a, :, b] += (Z * (share * bend[:, a, b])) @ Z.T
    return M.reshape(free * width, free * width)


def _factor(M: Any) -> Any:
    """L with LLᵀ = M, by Cholesky on the unit diagonal; None where M is not positive definite beyond rounding."""
    size = np.sqrt(np.maximum(np.diag(M), 0))
    if not (size > 0).all():
        return None
    try:
        L = np.linalg.cholesky(M / np.outer(size, size))
    except np.linalg.LinAlgError:
        return None
    return size[:, None] * L if (np.diag(L) ** 2 > FLAT).all() else None


def _length(root: Root, L: Any, slope: Any) -> float:
    """ν = √(gᵀM⁻¹g)."""
    return float(np.linalg.norm(solve_triangular(L, root.whiten(slope.T).T.ravel(), lower=True, check_finite=False)))


def _leverages(point: Point, root: Root, L: Any) -> Any:
    """max over pairs of classes of ((vₖ − vⱼ) ⊗ zᵢ)ᵀM⁻¹((vₖ − vⱼ) ⊗ zᵢ): the largest range of scores, squared."""
    V, unit = point.contrasts, np.eye(len(root.R))
    pairs = [V[k] - V[j] for k in range(len(V)) for j in range(k)]
    halves = [solve_triangular(L, np.kron(pair[:, None], unit), lower=True) for pair in pairs]
    forms, largest = [half.T @ half for half in halves], []
    for look in point.looks():
        Z = root.whiten(look.Z.T)
        largest.append(np.max([(Z * (form @ Z)).sum(axis=0) for form in forms], axis=0))
    return np.concatenate(largest)


def spread_of(point: Point, root: Root, L: Any, way: Any) -> Any:
    """√(M⁻¹)ⱼⱼ of each coefficient that is told."""
    units = root.whiten(point.coefficients(way).T)
    return np.array(
        [np.linalg.norm(solve_triangular(L, np.kron(row[:, None], units), lower=True), axis=0) for row in point.told]
    )


# The proof that the audit rebuilds for any number of columns, from the penalty: no matrix of them is made.
#
# With h the intercept's own curvature and c the mean of the rows by curvature, the Hessian is h on the intercept and
# at least l2 on what that leaves of the weights. So (r, r₀)ᵀH⁻¹(r, r₀) ≤ ‖r − r₀c‖²/l2 + r₀²/h, of a row and of what
# a witness u leaves of the slope. Of more than two classes the least probability stands for the curvature, and a row
# moves two scores against each other: twice the sum.


def penalised_shown(claim: Claim, table: Table, witness: Any) -> Iterator[Shown]:
    """ν ≤ √(uᵀHu) + ‖g − Hu‖, ρ the largest ‖(x, 1)‖ of a row, both in H⁻¹."""
    W, u = np.atleast_2d(claim.weights).astype(np.longdouble), np.asarray(witness)
    if u.shape != (len(W), W.shape[1] + 1) or not np.isfinite(u).all() or not claim.l2 > 0:
        return
    u = apart(u.astype(np.longdouble))
    left, level, size = _rest(claim, table, apart(W), u)
    norm = Norm(claim, table)
    if norm.level > 0:
        nu, rho = math.sqrt(size) + norm.of(left, level), norm.largest(table) * math.sqrt(min(2, len(W)))
        yield Shown.by(nu, rho, np.tile(norm.spread(), (len(W), 1)))


def apart(W: Any) -> Any:
    """What the classes do not share; of two classes the weights are their difference already."""
    return W - W.mean(axis=0) if len(W) > 1 else W


def _rest(claim: Claim, table: Table, W: Any, u: Any) -> tuple[Any, Any, float]:
    """g − Hu, of the weights and of the intercepts, and uᵀHu."""
    U, a = u[:, :-1], u[:, -1] * claim.fit_intercept
    left, level, size, total = claim.l2 * (W - U), 0 * a, claim.l2 * (U * U).sum(), table.cost.sum()
    for X, target, cost in table.skim():
        at = Softmax(scores(claim.weights, claim.intercept, X))
        q = scores(U, a, X)
        bent = at.p * (q - (at.p * q).sum(axis=1, keepdims=True))
        share = (cost / total)[:, None]
        pull = (share * (at.error(target) - bent))[:, -len(W) :]
        left = left + (X.T @ pull).T
        level = level + pull.sum(axis=0)
        size = size + (share * bent * q).sum()
    return apart(left), apart(level[:, None]).ravel() * claim.fit_intercept, max(float(size), 0.0)


class Norm:
    """√(‖r − r₀c‖²/l2 + r₀²/h): no less than that of H⁻¹; without an intercept c = 0 and r₀ = 0."""

    def __init__(self, claim: Claim, table: Table) -> None:
        self.claim, self.center, self.level = claim, np.zeros(len(claim.columns), np.longdouble), np.longdouble(1)
        if not claim.fit_intercept:
            return
        total, mean = np.longdouble(0), self.center
        for X, _, cost in table.skim():
            at = Softmax(scores(claim.weights, claim.intercept, X))
            bend = cost * (at.p.min(axis=1) if at.p.shape[1] > 2 else at.p[:, 0] * at.p[:, 1])
            total, mean = total + bend.sum(), mean + X.T @ bend
        self.level = total / table.cost.sum()
        self.center = mean / total if total > 0 else mean

    def of(self, rest: Any, level: Any) -> float:
        """The norm of (r, r₀), all classes together."""
        left = rest - level[:, None] * self.center
        return math.sqrt(float((left * left).sum() / self.claim.l2 + (level * level).sum() / self.level))

    def largest(self, table: Table) -> float:
        """The largest norm of a row (x, 1)."""
        own = (self.center * self.center).sum()
        squares = (lengths(X) - 2 * (X @ self.center) + own for X, *_ in table.skim())
        farthest = max(float(each.max(initial=0)) for each in squares) * (1 + 1e-12)
        return math.sqrt(max(farthest, 0.0) / self.claim.l2 + float(self.claim.fit_intercept / self.level))

    def spread(self) -> Any:
        """Of each coefficient: 1/√l2 for the weights, √(‖c‖²/l2 + 1/h) for the intercept."""
        found = np.full(len(self.center) + 1, 1 / math.sqrt(self.claim.l2))
        level = float((self.center * self.center).sum() / self.claim.l2 + 1 / self.level)
        found[-1] = math.sqrt(level) if self.claim.fit_intercept else 0.0
        return found
