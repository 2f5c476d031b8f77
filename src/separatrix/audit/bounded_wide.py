"""The proof of a penalised minimum in double precision, for any number of columns: no matrix of them is made.

With h the intercept's own curvature and c the mean of the rows by curvature, the Hessian is h on the intercept and at
least l2 on what that leaves of the weights. So (r, r₀)ᵀH⁻¹(r, r₀) ≤ ‖r − r₀c‖²/l2 + r₀²/h, of a row and of what a
witness u leaves of the slope. Of more than two classes the least probability stands for the curvature, and a row moves
two scores against each other: twice the sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..results.claims import Claim
from .bounded import Between, Proved
from .rounding import SLIGHT, TOTAL, U, gamma, modest
from .rows import Table
from .shown import Shown
from .sums import Lines, Sums, frames_of, gathered, sums_of


@dataclass(frozen=True)
class Norm:
    """√(‖r − r₀c‖²/l2 + r₀²/h); without an intercept c = 0 and r₀ = 0."""

    l2: float
    center: Any
    stray: float
    """How far c can be off."""
    level: float

    @classmethod
    def of(cls, claim: Claim, sums: Sums) -> Norm:
        """At the claim's weights; an h that may be zero makes everything infinite."""
        if not claim.fit_intercept:
            return cls(claim.l2, np.zeros(len(claim.columns)), 0.0, math.inf)
        pulled, level, off = sums.bend.weights[0], float(sums.bend.levels[0]), float(sums.bend.loss[0])
        least = level * (1 - TOTAL * U) - off
        if not least > 0:
            return cls(claim.l2, pulled, math.inf, 0.0)
        center = pulled / level
        size = float(np.linalg.norm(center))
        stray = off * (float(np.linalg.norm(sums.bend.columns)) + size) / least + TOTAL * U * size
        return cls(claim.l2, center, stray, least)

    def of_rows(self, square: float, level: float) -> float:
        """Of (r, r₀) with ‖r − r₀c‖² = square."""
        return math.sqrt(square / self.l2 + (level * level / self.level if level else 0.0))


def penalised(claim: Claim, table: Table, witness: Any) -> Proved | None:
    """ν ≤ √(uᵀHu) + ‖g − Hu‖, ρ the largest ‖(x, 1)‖ of a row, both in H⁻¹; None where nothing is known."""
    frame, _ = frames_of(claim, table)
    lines = Lines.of(table, frame)
    K, W = len(np.atleast_2d(claim.weights)), np.atleast_2d(claim.weights)
    if np.shape(witness) != (K, len(claim.columns) + 1) or not np.isfinite(witness).all() or frame.center.any():
        return None
    if not modest(frame.size, table.cost.sum()):
        return None
    sums = sums_of(claim, lines, witness, least=True)
    if sums is None or not claim.l2 > 0:
        return None
    norm = Norm.of(claim, sums)
    if not norm.level > 0:
        return sums, []
    u = witness[:, :-1]
    some, taken = (V - V.mean(axis=0) if K > 1 else V for V in (W - u, u))
    left, level = sums.pulls.weights + claim.l2 * some, sums.pulls.levels * claim.fit_intercept
    lost = sums.pulls.loss * (float(np.linalg.norm(sums.pulls.columns)) + float(np.linalg.norm(norm.center)))
    size = np.linalg.norm(sums.pulls.weights, axis=1) + claim.l2 * np.linalg.norm(np.abs(W) + np.abs(u), axis=1)
    lost = lost + (TOTAL + K) * U * (size + np.abs(sums.pulls.levels) * float(np.linalg.norm(norm.center)))
    off = np.linalg.norm(left - level[:, None] * norm.center, axis=1) + np.abs(level) * norm.stray + lost
    levels = (np.abs(level) + sums.pulls.loss) * claim.fit_intercept
    rest = norm.of_rows(float(off @ off), float(np.linalg.norm(levels)))
    own = float(np.linalg.norm(taken)) + K * U * float(np.linalg.norm(u))
    along = math.hypot(sums.along[1], math.sqrt(claim.l2) * own)
    nu = (along + rest) * SLIGHT
    far = math.sqrt(_farthest(lines, norm)) + norm.stray
    rho = math.sqrt(2 if K > 1 else 1) * norm.of_rows(far * far, float(claim.fit_intercept))
    center = float(np.linalg.norm(norm.center)) + norm.stray
    spread = np.full((K, len(claim.columns) + 1), norm.of_rows(1.0, 0.0))
    spread[:, -1] = norm.of_rows(center * center, 1.0) if claim.fit_intercept else 0.0
    return sums, [Between(Shown.by(nu, rho * SLIGHT, spread * SLIGHT), None)]


def _farthest(lines: Lines, norm: Norm) -> float:
    """The largest ‖x − c‖² = ‖x‖² − 2xᵀc + ‖c‖² of a row, what rounding may take from it included."""
    own, parts = float(norm.center @ norm.center), lines.parts()

    def work(some: Iterable[slice]) -> Any:
        most = 0.0
        for _, X in lines.read(some):
            square = np.ravel((X.multiply(X) if lines.sparse else X * X).sum(axis=1))
            far = square * (1 + lost) - 2 * (X @ norm.center) + own + lost * (square + own)
            most = np.maximum(most, far.max())  # what is no number stays so
        return most

    lost = 4 * gamma(lines.table.X.shape[1] + 8)
    return float(np.max(gathered(parts, lines.numbers, work))) * (1 + lost)
