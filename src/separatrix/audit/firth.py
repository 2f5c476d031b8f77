"""The audit of Firth's penalised likelihood: its value, and the proof that a maximum is near, rebuilt from the rows.

F = −ℓ*/C with ℓ* = ℓ + ½ log|A|, A = Σᵢ cᵢwᵢ zᵢzᵢᵀ, C = Σᵢcᵢ. The rows are whitened by a root of A/C that QR finds, so
that zᵢ becomes yᵢ with Σᵢ (cᵢwᵢ/C) yᵢyᵢᵀ = I and hᵢ = (cᵢwᵢ/C)‖yᵢ‖². Derivatives of wᵢ along u are at most wᵢ|zᵢᵀu|ᵏ,
k = 1, 2, 3; hence |F‴| ≤ maxᵢ|zᵢᵀu| · (1/C) Σᵢ (cᵢwᵢ + 3hᵢ)(zᵢᵀu)², and what stands there grows by no more than e^2ρt
within t of the point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..results.proofs import PenalisedLocality
from .columns import columns_of, explained
from .minimum import Look, Point, Root, Ways, slow_fall, slow_way, spread_of
from .objectives import Softmax, scores
from .rows import Table
from .shown import Shown, coherent, covers

if TYPE_CHECKING:
    from ..results.verdict import Verdict

OBJECTIVES = ("firth", "flic")
VALUE = 1e-11
"""How far the numbers of a claim may be from those of the rows, relatively, beside the rounding of scores."""
DEPENDENT = 1e-10
"""The part of its length that must be a column's own to be no combination of those before it."""
FLAT = 1e-12
"""Curvature, in units of the information's, that is rounding."""
PAIRS = 1 << 21
"""Products of coordinates that are held at a time."""


def firth_holds(verdict: Verdict, table: Table) -> bool:
    """Whether value, intercept and gap are those of these rows; a verdict without proof claims the value alone."""
    claim, proof = verdict.claim, verdict.certificate
    if not (table.finite() and np.isfinite(claim.weights).all() and np.isfinite(claim.intercept)):
        return False
    if proof is not None and not isinstance(proof, PenalisedLocality):
        return False
    if not claim.fit_intercept and not table.X.any():
        return not np.any(claim.weights) and math.isclose(claim.value, math.log(2), rel_tol=1e-12)
    level = claim.intercept if proof is None else proof.intercept
    point, ways = Point.of(replace(verdict, claim=replace(claim, intercept=level)), table), (None,)
    if verdict.rank.rank is None:  # a fit that was stopped names no column
        point = _independent(point)
        if len(point.keep) < len(claim.columns) and not explained(claim, table, point.keep):
            return False
    else:
        columns = columns_of(verdict, table)
        if columns is None:
            return False
        ways = columns.ways
    doubt = _rounding(point)
    white = Whitened.of(point)
    if white is None or not _value_holds(verdict, point, white, doubt):
        return False
    if proof is None:
        return verdict.status != "local"
    if claim.objective == "firth" and claim.intercept != proof.intercept:
        return False
    if claim.objective == "flic" and not _balanced(verdict, table, doubt):
        return False
    there = replace(claim, value=proof.mean_loss)
    return coherent(proof, there) and any(covers(proof, there, each) for each in _shown(white, table, ways))


class Rows(NamedTuple):
    """Some rows, whitened: y, one a column; z; cw/C, w and h; the pull c(t − p) + h(½ − p) over C; (1 − 2p)."""

    y: Any
    z: Any
    own: Any
    w: Any
    h: Any
    pull: Any
    slant: Any


class Whitened:
    """The rows as their information whitens them."""

    def __init__(self, point: Point, root: Root) -> None:
        self.point, self.root = point, root

    @classmethod
    def of(cls, point: Point) -> Whitened | None:
        """None where the information is singular."""
        weight = np.concatenate([_bend(look) * look.share for look in point.looks()]).astype(float)
        root = Root(point, weight)
        return cls(point, root) if root.steady else None

    def log_determinant(self) -> float:
        """log|A| with the kept columns as the user has them."""
        total, d = float(self.point.table.cost.sum()), len(self.root.R)
        root = np.log(np.abs(np.diag(self.root.R)) * self.root.length).sum()
        return float(d * math.log(total) + 2 * root + 2 * np.log(self.point.scale[self.point.keep]).sum())

    def rows(self) -> Iterator[Rows]:
        """All rows, some at a time."""
        total = self.point.table.cost.sum()
        for look in self.point.looks():
            y, w = self.root.whiten(look.Z.T), _bend(look)
            own = (w * look.share).astype(float)
            h = own * np.square(y).sum(axis=0)
            half = np.longdouble(0.5) - look.at.p[:, 1]
            pull = -look.at.error(look.target)[:, 1] * look.share + h * half / total
            yield Rows(y, look.Z, own, w.astype(float), h, pull, (2 * half).astype(float))

    def twist(self) -> Any:
        """T with uᵀTu = tr(B₁²) = Σᵢⱼ sᵢsⱼ(yᵢᵀyⱼ)² uᵀyᵢ yⱼᵀu, B₁ = Σᵢ sᵢ(yᵢᵀu) yᵢyᵢᵀ, sᵢ = (cᵢwᵢ/C)(1 − 2pᵢ).

        By pairs of rows, or by pairs of columns where these are fewer.
        """
        d, n = len(self.root.R), len(self.point.table.X)
        if n < d * d:
            found = [(rows.y, rows.own * rows.slant) for rows in self.rows()]
            y, slope = np.hstack([one for one, _ in found]), np.concatenate([one for _, one in found])
            total, some = np.zeros((d, d)), max(1, PAIRS // n)
            for lo in range(0, n, some):
                part = y[:, lo : lo + some]
                total += (part * slope[lo : lo + some]) @ np.square(part.T @ y) @ (y * slope).T
            return total
        total, some = np.zeros((d, d * d)), max(1, PAIRS // d**2)
        for rows in self.rows():
            for lo in range(0, rows.y.shape[1], some):
                y, slope = rows.y[:, lo : lo + some], (rows.own * rows.slant)[lo : lo + some]
                total += (y * slope) @ (y[:, None, :] * y[None, :, :]).reshape(d * d, -1).T
        return total @ total.T


def _independent(point: Point) -> Point:
    """The point without the columns that those before them explain, which add nothing to A."""
    share = point.table.cost / point.table.cost.sum()
    while point.keep:
        own = np.abs(np.diag(Root(point, share).R))[: len(point.keep)]
        if (own > DEPENDENT).all():
            break
        first = int(np.argmin(own > DEPENDENT))
        point = replace(point, keep=[*point.keep[:first], *point.keep[first + 1 :]])
    return point


def _bend(look: Look) -> Any:
    """w = p(1 − p)."""
    return look.at.p[:, 1] * look.at.rest[:, 1]


def _value_holds(verdict: Verdict, point: Point, white: Whitened, doubt: float) -> bool:
    """Whether −ℓ/C and log|A| add up to the value that is claimed, and are those of the certificate if there is one."""
    total, loss = float(point.table.cost.sum()), 0.0
    for look in point.looks():
        loss += float((look.share * (look.target * look.at.surprise).sum(axis=1)).sum())
    size, proof = white.log_determinant(), verdict.certificate
    near = 1e-15 + doubt * (1 + len(white.root.R) / total)
    value = loss - size / (2 * total)
    room = VALUE * max(loss, abs(size) / total) + near
    if not abs(value - verdict.claim.value) <= room:
        return False
    if not isinstance(proof, PenalisedLocality):
        return True
    return abs(proof.mean_loss - loss) <= room and abs(proof.log_determinant - size) <= 2 * total * room


def _balanced(verdict: Verdict, table: Table, doubt: float) -> bool:
    """Whether Σᵢ cᵢpᵢ = Σᵢ cᵢtᵢ at the claim's own intercept."""
    left, claim = np.longdouble(0), verdict.claim
    for X, target, cost in table.skim():
        left += (cost * Softmax(scores(claim.weights, claim.intercept, X)).error(target)[:, 1]).sum()
    return bool(abs(left) <= (1e-12 + doubt) * table.cost.sum())


def _rounding(point: Point) -> float:
    """How far a score can move because weights are rounded to 53 bits."""
    claim, largest = point.claim, 0.0
    size = np.abs(claim.weights).astype(np.longdouble)
    for X, _, _ in point.table.skim():
        largest = max(largest, float((abs(X) @ size).max(initial=0)))
    return float((len(size) + 2) * np.finfo(float).eps * (largest + abs(claim.intercept)))


def _shown(white: Whitened, table: Table, ways: Ways) -> Iterator[Shown]:
    """Of a minimum of F nearby: with the part of the curvature that sums over rows give, then with all of it."""
    total, d = float(table.cost.sum()), len(white.root.R)
    M, K, slope = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d, np.longdouble)
    for rows in white.rows():
        M += (rows.y * (rows.own - rows.h * (0.5 - 3 * rows.w) / total)) @ rows.y.T
        K += (rows.y * (rows.own + 3 * rows.h / total)) @ rows.y.T
        slope = slope - rows.z.T @ rows.pull
    g = white.root.whiten(slope[:, None])[:, 0]
    yield from _proved(white, M, K, g, ways)
    yield from _proved(white, M + white.twist() / (2 * total), K, g, ways)


def _proved(white: Whitened, M: Any, K: Any, g: Any, ways: Ways) -> Iterator[Shown]:
    """νt − t²/2 + qt³/6, t = (1 − √(1 − 2qν))/q, q = e^4ρν ρλ; nothing unless M is positive definite and 2qν < 1."""
    if not (np.isfinite(M).all() and np.linalg.eigvalsh(M)[0] > FLAT):
        return
    L = np.linalg.cholesky(M)
    far = max(float(np.square(solve_triangular(L, rows.y, lower=True)).sum(axis=0).max()) for rows in white.rows())
    half = solve_triangular(L, K, lower=True)
    steepest = float(np.linalg.eigvalsh(solve_triangular(L, half.T, lower=True))[-1])
    nu, rho = float(np.linalg.norm(solve_triangular(L, g, lower=True))), math.sqrt(far)
    if rho * nu < 1:
        q = math.exp(4 * rho * nu) * rho * steepest
        t = slow_way(nu, q)
        for way in ways if math.isfinite(t) else ():
            yield Shown(nu, rho, slow_fall(nu, q), t, spread_of(white.point, white.root, L, way) * t)
