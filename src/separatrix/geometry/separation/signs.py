"""What becomes of each coefficient: finite, to infinity one way, or either way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...numerics.arrays import Floats, Indices
from ..program import farthest
from .cases import Cases, Look
from .search import Arrangement

NOTHING = 1e-11
"""A coefficient this small, relative to what it is made of, is rounding."""
OPEN = 1e-8
"""How far the other side of zero a coefficient must come, relative, to have no sign of its own."""
CLOSE = 1e-9
"""How far outside the cone, relative, rounding may bring a point of its boundary."""
STEADY = 1e-7
"""Pivots, relative, with which an inverse can be trusted."""
NEAREST = 6
"""Rows for each direction with which the tip of the cone is first looked for."""
AT_ONCE = 16
"""Points that are looked at together in one pass."""
ROUNDS = 20
"""The most rounds."""
MOST_DIRECTIONS = 300
"""Directions that are left, beyond which no signs are looked for: a thousand coefficients would take a minute."""
RAYS = 2
"""Rounds in which rays are tried first."""
BEYOND = 1.01
"""How far beyond zero, relative, a ray must lead."""
LOW = 1e-12
"""What is added to the diagonal of the rays' matrix, relative, to keep it regular."""


def coefficient_kinds(found: Arrangement) -> NDArray[np.str_]:
    """For each class but that of reference and each weight, the intercept last: what maximum likelihood makes of it."""
    cases, K = found.cases, found.cases.classes - 1
    kinds = np.full((K, cases.block.shape[1] + cases.lifted), "undetermined", dtype="<U12")
    columns = np.append(cases.keep, [cases.block.shape[1]] * cases.lifted).astype(np.intp)
    F = np.kron(np.eye(K), functionals(cases))
    kinds[:, columns] = _kinds(found, F).reshape(K, cases.width)
    return kinds


def all_finite(cases: Cases) -> NDArray[np.str_]:
    """Where the classes overlap, all that is determined is finite."""
    kinds = np.full((cases.classes - 1, cases.block.shape[1] + cases.lifted), "undetermined", dtype="<U12")
    kinds[:, np.append(cases.keep, [cases.block.shape[1]] * cases.lifted).astype(np.intp)] = "finite"
    return kinds


def functionals(cases: Cases) -> Floats:
    """The weights and the intercept in the user's units, as functions of a direction of the frame."""
    F = np.diag(np.append(1 / cases.frame.scale[cases.keep], [1.0] * cases.lifted))
    if cases.lifted:
        F[-1, :-1] = -cases.frame.center[cases.keep] / cases.frame.scale[cases.keep]
    return F


def _kinds(found: Arrangement, F: Any) -> NDArray[np.str_]:
    N = found.directions
    f = F @ N
    size = np.abs(F) @ np.abs(N)
    free = (np.abs(f) > NOTHING * size).any(axis=1)
    kinds = np.where(free, "undetermined", "finite").astype("<U12")
    if not free.any() or N.shape[1] > MOST_DIRECTIONS:
        return kinds
    beta = np.linalg.lstsq(N, found.v, rcond=None)[0]
    cone = Cone(found, beta)
    at = f @ beta
    sure = free & (np.abs(at) > NOTHING * (np.abs(f) @ np.abs(beta)))
    sign = np.sign(at)
    open_ = cone.reaches(np.flatnonzero(sure), -sign[:, None] * f)
    for j in np.flatnonzero(sure & ~open_):
        kinds[j] = "+inf" if sign[j] > 0 else "-inf"
    return kinds


class Cone:
    """{β : Gβ ≥ 0}, G the signed rows that are separated, in coordinates of the directions that are left."""

    def __init__(self, found: Arrangement, beta: Any) -> None:
        self.found, self.beta = found, beta
        self.looks = 0
        self._read()

    def _read(self) -> None:
        A, N = self.found.working.A, self.found.directions
        G = A @ N
        live = np.abs(G).max(axis=1, initial=0.0) > 2.0**-36 * np.abs(A).max(axis=1, initial=0.0)
        self.G = G[live] / np.linalg.norm(G[live], axis=1)[:, None]
        self.near = np.argsort(self.G @ self.beta)

    def reaches(self, which: Indices, f: Floats) -> NDArray[np.bool_]:
        """Whether fⱼβ > 0 somewhere in the cone, for rows fⱼ that are negative at its middle."""
        open_ = np.zeros(len(f), bool)
        if self.beta.size == 1:
            return open_
        left = which[~self._shut(f[which])]
        for turn in range(ROUNDS):
            if not left.size:
                break
            rays = self._rays(f[left]) if turn < RAYS else [None] * left.size
            tips = [self._tip(f[j]) if ray is None else ray for j, ray in zip(left, rays, strict=True)]
            left, tips = left[[t is not None for t in tips]], [t for t in tips if t is not None]
            good = self._inside(np.array(tips)) if tips else np.zeros(0, bool)
            open_[left[good]] = True
            left = left[~good]
        open_[left] = True
        return open_

    def _shut(self, f: Floats) -> NDArray[np.bool_]:
        """Those that are negative on every edge of the cone of a few of the nearest rows, one for each weight."""
        q = self.beta.size
        near = self.near
        for count in (q, 2 * q, 4 * q):
            rows = self.G[near[:count]]
            if len(rows) < q:
                break
            R, pivots = qr(rows.T, mode="r", pivoting=True)
            if abs(R[q - 1, q - 1]) < STEADY * abs(R[0, 0]):
                continue
            edges = np.linalg.inv(rows[pivots[:q]])
            on_edges = f @ edges
            shut = np.all(on_edges <= 1e-10 * np.abs(f) @ np.abs(edges), axis=1)
            if shut.any():
                return np.asarray(shut)
        return np.zeros(len(f), bool)

    def _rays(self, f: Floats) -> list[Floats | None]:
        """β + tH⁻¹f, H = Σ ggᵀ/(gβ)²: points of the cone with fβ > 0, where the ray meets any; a linear program less.

        The ellipsoid of H about β lies in the cone, and H⁻¹f leads to where f is largest on it.
        """
        margins = self.G @ self.beta
        if not margins.size or margins.min() <= 0:
            return [None] * len(f)
        f, inward = f / np.abs(f).max(axis=1, keepdims=True), self.G / margins[:, None]
        H = inward.T @ inward
        D = np.linalg.solve(H + LOW * np.trace(H) * np.eye(len(H)), f.T)
        D /= np.abs(D).max(axis=0)
        gain, falls = (f.T * D).sum(axis=0), (-inward @ D).max(axis=0)
        lost = -(f @ self.beta)
        good = (gain > 0) & (gain > BEYOND * falls * lost)  # f is zero at t = lost/gain, the first row at 1/falls
        return [self.beta + _between(lost[k] / gain[k], falls[k]) * D[:, k] if good[k] else None for k in range(len(f))]

    def _tip(self, f: Floats) -> Floats | None:
        """A point of the cone with fβ > 0, not farther out than need be; None if there is none."""
        f = f / np.abs(f).max()
        chosen = self.near[: NEAREST * self.beta.size]
        while True:
            far = _farthest(self.G[chosen], f)
            if far is None:
                return None
            slack = self.G @ far
            wrong = np.setdiff1d(np.flatnonzero(slack < -CLOSE * np.linalg.norm(far)), chosen)
            if not wrong.size:
                break
            chosen = np.append(chosen, wrong[np.argsort(slack[wrong])[: 2 * self.beta.size]])
        here, there = f @ self.beta, f @ far
        t = here / (here - there)
        t += 0.25 * (1 - t)
        return np.asarray(self.beta + t * (far - self.beta))

    def _inside(self, tips: Floats) -> NDArray[np.bool_]:
        """Which of these are in the cone of all rows; some of the rows that they are on the wrong side of are added."""
        cases, good = self.found.cases, np.zeros(len(tips), bool)
        for lo in range(0, len(tips), AT_ONCE):
            part = tips[lo : lo + AT_ONCE] @ self.found.directions.T
            self.looks += 1
            wrong = [_below(look) for look in cases.look(part, sized=True)]
            bad = np.any([each[0] for each in wrong], axis=0)
            good[lo : lo + AT_ONCE] = ~bad
            case, other = (np.concatenate([each[k] for each in wrong]) for k in (1, 2))
            if cases.classes == 2:
                other = 1 - cases.own[case]
            self.found.working.add(case, other)
        self._read()
        return good


def _between(zero: float, falls: float) -> float:
    """A quarter of the way from where f is zero to where the cone ends, or where it would be twice as far beyond."""
    end = min(3 * zero, 1 / falls) if falls > 0 else 3 * zero
    return zero + 0.25 * (end - zero)


def _farthest(G: Floats, f: Floats) -> Floats | None:
    """A point of {β : Gβ ≥ 0} with fβ > 0; None if there is none.

    −f = Gᵀμ with μ ≥ 0 shows that there is none; and where least squares finds no such μ, what it leaves over is a
    point of the cone. Either is checked here: SciPy's solver has been seen to report a residual of zero for neither.
    """
    from scipy.optimize import nnls  # 0.1 s to load, and few fits need it

    mu, _ = nnls(G.T, -f)
    far = f + mu @ G
    length = float(np.linalg.norm(far))
    if length <= OPEN * np.linalg.norm(f):
        return None
    if (G @ far >= -CLOSE * length).all() and f @ far > 0:
        return np.asarray(far)
    found = farthest(G, f)
    return found if found is not None and f @ found > OPEN else None


def _below(look: Look) -> tuple[NDArray[np.bool_], Indices, Indices]:
    """Which directions are negative on some signed row, and a few such rows of each."""
    assert look.sizes is not None
    below = look.margins < -(2.0**-36) * look.sizes
    bad = np.asarray(below.any(axis=(1, 2)))
    case, other = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for v in np.flatnonzero(bad):
        m = np.where(below[v], look.margins[v], 0.0)
        i = np.unique(np.argsort(m.min(axis=1))[:8])
        i = i[below[v][i].any(axis=1)]
        case.append(look.cases.start + i)
        other.append(m[i].argmin(axis=1))
    return bad, np.concatenate(case), np.concatenate(other)
