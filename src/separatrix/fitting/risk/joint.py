"""The mean loss of softmax scores θ·Φ(x, c), with its derivatives, in coordinates that suit the features.

Only differences of scores matter, so a row is read as E_c = Φ(x, c) − Φ(x, y), y being its own class (of probabilities
the likeliest): a difference of two numbers keeps all its digits, whatever the classes have in common. The coordinates
are v = Rθ with RᵀR = Σᵢ (cᵢ/C) EᵢᵀEᵢ + l2 by QR, for the features that are not combinations of others: then no Hessian
hangs on the scales or the correlations of the features.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...data.frame import Ask, Jet
from ...data.maps.joint_rows import HELD, Features
from ...losses.softmax import ClassLoss, Probabilities, softmax
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import dependence, triangle
from ..problem import NotFiniteError

# Directions of θ that change no difference of scores, and what a penalty makes of them.
#
# Along such directions only the penalty is left, so its minimum has no part there: θ is orthogonal to them in the
# features that are not free. What is free beside them has no penalty either; of these weights the shortest are taken.

GONE = 1e-10
"""A part of a direction that is this small, in units of the features' lengths, is rounding."""
NEAR = 1e-6
"""How near a combination must be to one of whole numbers, or of halves or thirds, to be tried as such."""
MULTIPLES = (1, 2, 3)
"""Whole numbers, halves, thirds."""
ROOM = 16.0
"""Of directions found another way, as the check does, rounding may make that much more."""
SLOPE = 4.0
"""No loss of ours changes by more than this times the largest change of a score."""


@dataclass(frozen=True, eq=False)
class Null:
    """The directions, apart by what holds θ in them."""

    held: Floats
    """p × a, orthonormal in the penalised features: here the penalty decides."""
    idle: Floats
    """p × b, without penalised features: here nothing does."""
    penalised: NDArray[np.intp]
    leak: float
    """The most that the scores of a row do change for a unit of `held`: zero, or the rounding of the features."""

    @classmethod
    def of(cls, directions: Floats, seen: Floats, size: Floats, penalised: NDArray[np.intp]) -> Null:
        """`seen` is how much each direction changes a score of some row at the most; `size` the features' lengths.

        Whether a direction is without penalised features is asked in units of these lengths.
        """
        p, count = directions.shape
        if not count:
            return cls(np.zeros((p, 0)), np.zeros((p, 0)), penalised, 0.0)
        size = np.where(size > 0, size, 1.0)[:, None]
        length = np.linalg.norm(directions * size, axis=0)
        N, seen = directions / length, seen / length
        N, turn, held = _reduced(N, size, penalised)
        idle = N[:, ~held]
        idle[penalised] = 0.0
        idle /= np.maximum(np.linalg.norm(idle, axis=0), 1e-300)
        back = np.linalg.inv(np.linalg.qr(N[:, held][penalised], mode="r"))
        leak = ROOM * float(seen @ np.linalg.norm(turn[:, held] @ back, axis=1))
        return cls(_without(N[:, held] @ back, idle), idle, penalised, leak)

    def without(self, theta: Floats) -> Floats:
        """θ with the same scores, the shortest in the penalised features, and of these the shortest in the others."""
        for _ in range(2):  # the second time removes what rounding left of the first
            theta = theta - self.held @ (self.held[self.penalised].T @ theta[self.penalised])
            theta = _without(theta, self.idle)
        return theta

    def drift(self, strength: float) -> float:
        """How far along `held` the minimum can be, because the scores do change there by the rounding of features."""
        return SLOPE * self.leak / strength if strength and self.leak else 0.0


def _without(theta: Floats, idle: Floats) -> Floats:
    if not idle.shape[1]:
        return theta
    there = idle.any(axis=1)  # other rows may be in units that would drown these
    return theta - idle @ np.linalg.lstsq(idle[there], theta[there], rcond=None)[0]


def _reduced(N: Floats, size: Floats, penalised: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """N·turn with an identity in some penalised rows, turn, and which columns have it: the others have no such rows.

    By Gauss and Jordan with complete pivoting, so that no units drown others: the largest weights come first.
    """
    N, turn, held = N.copy(), np.eye(N.shape[1]), np.zeros(N.shape[1], bool)
    open_ = np.zeros(len(N), bool)
    open_[penalised] = True
    for _ in range(N.shape[1]):
        clear = (np.abs(N) * size > GONE) & open_[:, None] & ~held
        if not clear.any():
            break
        i, j = np.unravel_index(np.where(clear, np.abs(N), 0.0).argmax(), N.shape)
        others = np.arange(N.shape[1]) != j
        turn[:, j] /= N[i, j]
        N[:, j] /= N[i, j]
        factor = np.where(others, N[i], 0.0)
        N -= np.outer(N[:, j], factor)
        turn -= np.outer(turn[:, j], factor)
        N[i, others] = 0.0
        held[j], open_[i] = True, False
    return N, turn, held


def settled(directions: Floats, size: Floats, blocks: Iterable[Floats]) -> tuple[Floats, Floats]:
    """The directions in whole numbers where these suit the rows as well, and how much each changes any score.

    For the features of our own maps the combinations are whole, and then the scores do not change at all. `size` is the
    length of each feature.
    """
    trial, factor, plain = directions.copy(), np.ones(directions.shape[1]), np.zeros(directions.shape[1], bool)
    for j, n in enumerate(directions.T):
        for m in MULTIPLES:
            if (np.abs(m * n - np.round(m * n)) * size <= NEAR * m * (np.abs(n) * size).max()).all():
                trial[:, j], factor[j], plain[j] = np.round(m * n), m, True
                break
    raw, whole, largest = np.zeros(len(factor)), np.zeros(len(factor)), np.zeros(len(directions))
    for E in blocks:
        flat = E.reshape(-1, len(directions))
        largest = np.maximum(largest, np.abs(flat).max(axis=0, initial=0.0))
        raw = np.maximum(raw, np.abs(flat @ directions).max(axis=0, initial=0.0))
        whole = np.maximum(whole, np.abs(flat @ trial).max(axis=0, initial=0.0))
    better = plain & (whole <= factor * raw)
    raw += 2 * EPS * (np.abs(directions) * largest[:, None]).max(axis=0)  # the rounding of the direction itself
    return np.where(better, trial, directions), np.where(better, whole, raw)


ROUNDING = 1e-10
"""A part of a combination that is this small, in units of the features' lengths, is rounding: it would be taken for a
way to shorten weights of features in small units by those of features in large ones."""
FAR = 0.1
"""A feature of which no more than this is its own, beside columns of ones, is far from zero."""
OUT = -1e300
"""The score of a class that a row is separated from."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, what they should be, and what they cost."""

    features: Features
    target: NDArray[Any]
    """The class of each row by its number; or rows × K probabilities."""
    share: Floats
    """cᵢ/C."""
    among: NDArray[np.bool_] | None = None
    """The classes that each row is not separated from, where the likelihood in a limit is meant; None: all."""

    @property
    def own(self) -> NDArray[np.intp]:
        """The class of each row; of probabilities the likeliest."""
        return np.asarray(self.target if self.target.ndim == 1 else self.target.argmax(axis=1), dtype=np.intp)

    def differences(self, rows: slice) -> Floats:
        """E_c = Φ(x, c) − Φ(x, y), rows × classes × p; zero for classes that are out of the running."""
        F = self.features[rows]
        E = F - np.take_along_axis(F, self.own[rows][:, None, None], 1)
        if self.among is not None:
            E[~self.among[rows]] = 0
        return E  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class JointBasis:
    """The way from coordinates v to θ and back."""

    kept: NDArray[np.intp]
    shift: Floats
    """Of the kept features E_j − Σₖ E_k shiftₖⱼ is read: less what columns of ones, such as intercepts, have of it."""
    aliased: NDArray[np.intp]
    combination: Floats
    """The differences of the aliased features are those of the kept times this."""
    upper: Floats
    """R of the kept features."""
    back: Floats
    """θ = back·v, p × r: of all θ with the same scores the shortest, first in the features that are not free."""
    null: Null
    """The directions that change no score."""
    seen: Floats
    """How much a unit of each aliased feature, less its combination, changes a score after all, by rounding."""
    drift: float
    """How far along these the minimum may be."""
    passes: float
    """How often the rows were read for all this."""

    @classmethod
    def of(cls, sample: Sample, strength: float, free: tuple[int, ...]) -> JointBasis:
        """From two to four passes over the rows. What changes no score is left out: there the penalty alone decides."""
        p = sample.features.shape[2]
        R = triangle(_weighted(sample))
        R = R if len(R) else np.zeros((1, p))
        penalised = np.setdiff1d(np.arange(p), free)
        with np.errstate(over="ignore"):
            size = np.linalg.norm(R, axis=0)
        if not np.isfinite(size).all():
            raise NotFiniteError
        found = dependence(R, 64 * EPS * size)
        kept, aliased, combination = found.kept, found.aliased, found.combination
        combination[np.abs(combination) * size[kept, None] <= ROUNDING * size[aliased]] = 0.0
        directions = np.zeros((p, aliased.size))
        directions[kept], directions[aliased] = -combination, np.eye(aliased.size)
        seen = np.zeros(aliased.size)
        if aliased.size:
            directions, seen = settled(directions, size, (sample.differences(rows) for rows in sample.features.runs()))
        null = Null.of(directions, seen, size, penalised)
        shift = _shift(R[:, kept], _marks(sample)[kept])
        R = triangle(_weighted(sample, kept, shift)) if shift.any() else R[:, kept]
        embedded = np.eye(p)[:, kept] @ (np.eye(kept.size) - shift)
        root = math.sqrt(strength) * null.without(embedded)[penalised]
        upper = np.asarray(np.linalg.qr(np.vstack([R, root]), mode="r"))
        raw = embedded @ solve_triangular(upper, np.eye(kept.size)) if kept.size else embedded
        whole = directions[aliased].sum(axis=0)
        combination = -directions[kept] / whole
        return cls(
            kept,
            shift,
            aliased,
            combination,
            upper,
            null.without(raw),
            null,
            seen / np.abs(whole),
            null.drift(strength),
            2.0 + bool(aliased.size) + bool(shift.any()),
        )

    def theta(self, v: Floats) -> Floats:
        """θ of the coordinates."""
        return self.back @ v  # type: ignore[no-any-return]

    def moved(self, theta: Floats) -> Floats:
        """The weights of the features that are read, with the scores of θ."""
        long = theta.astype(np.longdouble)
        kept = long[self.kept] + self.combination @ long[self.aliased]
        return (kept + self.shift @ kept).astype(np.float64)  # type: ignore[no-any-return]

    def coordinates(self, theta: Floats) -> Floats:
        """v with the scores of θ."""
        return self.upper @ self.moved(theta)  # type: ignore[no-any-return]

    def read(self, E: Floats) -> Floats:
        """The kept features less their shifts, rows × r."""
        return _less(E[..., self.kept].reshape(-1, self.kept.size), self.shift)

    def whiten(self, E: Floats) -> Floats:
        """E R⁻¹ of the kept features."""
        if not self.kept.size:
            return np.zeros((*E.shape[:-1], 0))
        return solve_triangular(self.upper, self.read(E).T, trans="T").T.reshape(*E.shape[:-1], -1)  # type: ignore[no-any-return]


def _less(E: Floats, shift: Floats) -> Floats:
    ones = shift.any(axis=1)
    return E - E[:, ones] @ shift[ones] if ones.any() else E


def _weighted(sample: Sample, kept: NDArray[np.intp] | None = None, shift: Floats | None = None) -> Iterator[Floats]:
    p = sample.features.shape[2]
    for rows in sample.features.runs():
        E = (np.sqrt(sample.share[rows])[:, None, None] * sample.differences(rows)).reshape(-1, p)
        yield E if kept is None or shift is None else _less(E[:, kept], shift)


def _marks(sample: Sample) -> NDArray[np.bool_]:
    """The features that differ between classes by −1, 0 or 1 only, as intercepts do."""
    found = np.ones(sample.features.shape[2], bool)
    for rows in sample.features.runs():
        E = np.abs(sample.differences(rows)[..., found])
        found[found] = ((E == 0) | (E == 1)).all(axis=(0, 1))
    return found


def _shift(R: Floats, marks: NDArray[np.bool_]) -> Floats:
    """What columns of ones have of the other columns, of those that are little beside it: columns far from zero."""
    shift = np.zeros((R.shape[1], R.shape[1]))
    if marks.any() and not marks.all():
        part = np.linalg.lstsq(R[:, marks], R[:, ~marks], rcond=None)[0]
        far = np.linalg.norm(R[:, ~marks] - R[:, marks] @ part, axis=0) < FAR * np.linalg.norm(R[:, ~marks], axis=0)
        part[:, ~far] = 0.0
        part[np.abs(part) <= ROUNDING * np.abs(part).max(axis=0, initial=0.0)] = 0.0
        shift[np.ix_(marks, ~marks)] = part
    return shift


@dataclass(eq=False)
class JointRisk:
    """R(v) = Σᵢ (cᵢ/C) f(Eᵢθ; tᵢ) + (l2/2)‖θ‖², θ = back·v; what is free has no penalty."""

    loss: ClassLoss
    sample: Sample
    basis: JointBasis
    root: Floats
    """S with (l2/2)‖θ‖² = ½‖Sv‖²."""
    _held: list[Floats] | None = None

    @classmethod
    def of(
        cls, loss: ClassLoss, sample: Sample, basis: JointBasis, strength: float, free: tuple[int, ...]
    ) -> JointRisk:
        """The risk in the coordinates of the basis."""
        penalised = np.setdiff1d(np.arange(len(basis.back)), free)
        return cls(loss, sample, basis, math.sqrt(strength) * basis.back[penalised])

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Rows, and Q = ER⁻¹ of them, rows × classes × r; kept where there is room."""
        runs = list(self.sample.features.runs())
        if self._held is not None:
            yield from zip(runs, self._held, strict=True)
            return
        n, K, p = self.sample.features.shape
        held = []
        for rows in runs:
            Q = self.basis.whiten(self.sample.differences(rows))
            if n * K * p <= HELD:
                held.append(Q)
            yield rows, Q
        if n * K * p <= HELD:
            self._held = held

    def probabilities(self, rows: slice, Q: Floats, v: Floats) -> tuple[Floats, Probabilities]:
        """The scores and the softmax of some rows, classes first."""
        s = (Q @ v).T
        if self.sample.among is not None:
            s = np.where(self.sample.among[rows].T, s, OUT)
        return s, softmax(s, self.sample.target[rows])

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass."""
        value, g, margin = 0.0, np.zeros(v.size), math.inf
        H = np.zeros((v.size, v.size)) if ask.hessian else None
        for rows, Q in self.blocks():
            share = self.sample.share[rows]
            with np.errstate(over="ignore", invalid="ignore"):
                s, at = self.probabilities(rows, Q, v)
                value += float(share @ self.loss.value(at))
                g += np.tensordot((self.loss.slope(at) * share).T, Q, 2)
                if H is not None:
                    H += curvature(self.loss, at, Q, share)
            margin = min(margin, self._margin(rows, s))
        pulled = self.root @ v
        if H is not None:
            H = (H + H.T) / 2 + self.root.T @ self.root
        return Jet(value + float(pulled @ pulled) / 2, g + self.root.T @ pulled, H, margin)

    def _margin(self, rows: slice, s: Floats) -> float:
        """The least lead of a row's own class; none if a row may be of several."""
        target = self.sample.target[rows]
        if target.ndim == 2 and (np.count_nonzero(target, axis=1) > 1).any():
            return -math.inf
        rest = s.copy()
        rest[self.sample.own[rows], np.arange(s.shape[1])] = -math.inf
        return float(-rest.max(initial=-math.inf))


def curvature(loss: ClassLoss, at: Probabilities, Q: Floats, share: Floats) -> Floats:
    """Σᵢ (cᵢ/C) Qᵢᵀ (∂²f/∂s²) Qᵢ; of the likelihood Σᵢ (cᵢ/C) Qᵢᵀ(diag p − ppᵀ)Qᵢ."""
    by_class, r = Q.transpose(1, 0, 2), Q.shape[2]
    bent = loss.bend(Probabilities(at.p[..., None], at.error[..., None], at.loss), by_class) * share[:, None]
    return by_class.reshape(-1, r).T @ bent.reshape(-1, r)  # type: ignore[no-any-return]
