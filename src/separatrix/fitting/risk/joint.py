"""The mean loss of softmax scores θ·Φ(x, c), with its derivatives, in coordinates that suit the features.

Only differences of scores matter, so a row is read as E_c = Φ(x, c) − Φ(x, y), y being its own class (of probabilities
the likeliest): a difference of two numbers keeps all its digits, whatever the classes have in common. The coordinates
are v = Rθ with RᵀR = Σᵢ (cᵢ/C) EᵢᵀEᵢ + l2 by QR, for the features that are not combinations of others: then no Hessian
hangs on the scales or the correlations of the features.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...data.frame import Ask, Jet
from ...data.maps.joint_rows import HELD, Features
from ...losses.softmax import ClassLoss, Probabilities, softmax
from ...numerics.arrays import Floats
from ...numerics.linalg import EPS, dependence, triangle
from ..problem import NotFiniteError
from .joint_null import Null, settled

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
    def of(cls, sample: Sample, l2: float, free: tuple[int, ...]) -> JointBasis:
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
        root = math.sqrt(l2) * null.without(embedded)[penalised]
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
            null.drift(l2),
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
    def of(cls, loss: ClassLoss, sample: Sample, basis: JointBasis, l2: float, free: tuple[int, ...]) -> JointRisk:
        """The risk in the coordinates of the basis."""
        penalised = np.setdiff1d(np.arange(len(basis.back)), free)
        return cls(loss, sample, basis, math.sqrt(l2) * basis.back[penalised])

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
