"""The rows of a proof for K classes: their Hessian, the bound below it that all classes share, how far they reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Rows
from ...data.frame import written_out
from ...data.tiles import Gram, shared
from ...losses.softmax import ClassLoss, Probabilities, softmax
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor
from ...numerics.threads import one_blas_thread
from ..risk.softmax import Block, ClassRisk
from .margin import TOO_SURE


@dataclass(frozen=True)
class ClassEvidence:
    """The rows S of a proof: the first part of every run, less those that are too sure to matter."""

    risk: ClassRisk
    v: Floats
    share: float
    all_rows: bool = False

    def hessian(self) -> tuple[Floats, float]:
        """(1/C) Σ_{i∈S} cᵢ ∂²f/∂s² ⊗ zᵢzᵢᵀ + diag(ridge) + gauge, and the largest ‖zᵢ‖² in S."""
        risk = self.risk

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total, radius = np.zeros((risk.classes, risk.active.size) * 2), 0.0
            for block, at in self._blocks(rows, lo, hi):
                radius = max(radius, radius_of(risk.coordinates(block)))
                risk.add_hessian(total, block, at)
            return total, radius

        return self._sum(run, risk.penalised)

    def least(self) -> tuple[Floats, float]:
        """B = (1/C) Σ cᵢ minₖpᵢₖ zᵢzᵢᵀ + diag(ridge), and the largest ‖zᵢ‖²."""
        risk = self.risk

        def run(rows: Rows, lo: int, hi: int) -> tuple[Any, float]:
            total, radius = np.zeros((risk.active.size,) * 2), 0.0
            for block, at in self._blocks(rows, lo, hi):
                Z = risk.coordinates(block)
                radius = max(radius, radius_of(Z))
                Z *= np.sqrt(block.cost * at.p.min(axis=0))[:, None]
                total += Z.T @ Z
            return total, radius

        def penalised(B: Floats) -> Floats:
            B /= risk.rows.weight
            B[np.diag_indices_from(B)] += risk.ridge[risk.active]
            return B

        if shared(risk.rows.X, risk.active.size):
            total, radius = self._shared_least()
            return penalised(total), radius
        return self._sum(run, penalised)

    def _shared_least(self) -> tuple[Floats, float]:
        """The sum of `least` and the largest ‖zᵢ‖², with one sum for all threads."""
        risk, radius = self.risk, 0.0
        gram = Gram(risk.active.size, risk.rows.map)
        with one_blas_thread():
            for lo, hi in risk.rows.runs():
                for block, at in self._blocks(risk.rows, lo, hi):
                    Z = risk.coordinates(block)
                    radius = max(radius, radius_of(Z))
                    Z *= np.sqrt(block.cost * at.p.min(axis=0))[:, None]
                    gram.add(Z)
        return gram.total(), radius

    def leverage(self, made: Factor) -> float:
        """The largest ((eₖ − eⱼ)⊗z)ᵀM⁻¹((eₖ − eⱼ)⊗z) over S and all pairs of classes."""
        K, w = self.risk.classes, self.risk.active.size
        inverse = made.inverse().reshape(K, w, K, w)
        pairs = [
            inverse[k, :, k, :] + inverse[j, :, j, :] - inverse[k, :, j, :] - inverse[j, :, k, :]
            for k in range(K) for j in range(k)
        ]  # fmt: skip
        return self._largest(lambda Z: max(float(np.einsum("ij,ij->i", Z @ pair, Z).max()) for pair in pairs))

    def farthest(self) -> float:
        """The largest ‖x − c‖² of a row that counts, in the user's units."""

        def run(rows: Rows, lo: int, hi: int) -> float:
            largest = 0.0
            for block in self.risk.blocks(rows, lo, hi):
                X = (written_out(block.X) - block.center)[np.broadcast_to(np.asarray(block.cost) > 0, len(block.X))]
                largest = max(largest, radius_of(X))
            return largest

        return max(self.risk.rows.each(run)) * (1 + 1e-10)  # type: ignore[no-any-return]

    def reach(self, made: Factor) -> float:
        """The largest zᵀB⁻¹z."""
        return self._largest(lambda Z: float(np.square(made.whiten(Z.T)).sum(axis=0).max()))

    def _largest(self, size: Callable[[Floats], float]) -> float:
        def run(rows: Rows, lo: int, hi: int) -> float:
            sizes = (size(Z) for Z in (self.risk.coordinates(b) for b, _ in self._blocks(rows, lo, hi)) if len(Z))
            return max(sizes, default=0.0)

        return max(self.risk.rows.each(run, blas=True)) * (1 + 1e-10)  # type: ignore[no-any-return]

    def _sum(self, run: Callable[..., tuple[Any, float]], penalised: Callable[[Any], Floats]) -> tuple[Floats, float]:
        total, radius = None, 0.0
        for part, largest in self.risk.rows.each(run, blas=True):
            if total is None:
                total = part
            else:
                total += part
            radius = max(radius, largest)
        return penalised(total), radius

    def _blocks(self, rows: Rows, lo: int, hi: int) -> Any:
        """Blocks of S and the probabilities there."""
        weights = self.risk.read(self.risk.embed(self.v))
        for block in self.risk.blocks(rows, lo, lo + math.ceil((hi - lo) * self.share)):
            at = softmax(block.scores(weights), block.y)
            counts = np.broadcast_to(np.asarray(block.cost) > 0, at.loss.size)
            if not self.all_rows:
                counts = counts & (at.p.max(axis=0) < 1 - TOO_SURE)
            if counts.all():
                yield block, at
            else:
                cost = block.cost[counts] if np.ndim(block.cost) else block.cost
                yield (
                    Block(block.X[counts], block.center, block.y[counts], cost),
                    Probabilities(at.p[:, counts], at.error[:, counts], at.loss[counts]),
                )


@dataclass(frozen=True)
class Unit(ClassLoss):
    """f = ½‖s‖²: its Hessian over the rows is I ⊗ their Gram matrix."""

    def value(self, at: Probabilities) -> Floats:
        return 0 * at.loss

    def slope(self, at: Probabilities) -> Floats:
        return 0 * at.p  # type: ignore[no-any-return]

    def bend(self, at: Probabilities, q: Any) -> Any:
        return q

    def curvature(self, at: Probabilities, k: int, j: int) -> Floats:
        return np.full(at.loss.size, float(k == j))


def radius_of(Z: Floats) -> float:
    """The largest ‖z‖²."""
    return float(np.einsum("ij,ij->i", Z, Z).max(initial=0))
