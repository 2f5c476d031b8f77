"""H⁻¹g for many classes, nearly: conjugate gradients on a sample of the rows, in single precision."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np

from ...data import Rows
from ...losses.softmax import softmax
from ...numerics.arrays import Floats
from ...numerics.linalg import steady_factor
from ...numerics.threads import one_blas_thread
from ..risk.softmax import ClassRisk

TOLERANCE, MOST = 0.2, 60
"""How far a residual is brought down, in the norm of the factor; how many products that may take."""
LED_BY, BLOCK, SMALL_BLOCK, RUNS = 4096, 4096, 1024, 4


def in_single_precision(risk: ClassRisk, sample: Rows) -> Rows:
    """The sample in single precision: packed if that pays, else as the frame sees it, active columns only."""
    packed = sample.pack(risk.classes, "float32")
    if packed.packed is not None:
        return packed
    Z = np.empty((len(sample), risk.active.size), np.float32)
    for lo in range(0, len(sample), BLOCK):
        Z[lo : lo + BLOCK] = risk.frame.coordinates(sample.X[lo : lo + BLOCK])[:, risk.active]
    return replace(sample, X=Z)


class Steering:
    """Solves H d = g for the Hessian of a sample at one point. It only steers, so roughly and in single precision.

    All classes share one matrix, the inverse of Σ cᵢ wᵢ zᵢzᵢᵀ with wᵢ the mean curvature of the row's scores: it leads
    the conjugate gradients nearly as well as one for each class, and costs a K-th.
    """

    def __init__(self, risk: ClassRisk, sample: Rows, v: Floats) -> None:
        self.K, self.loss, self.risk, self.sample = risk.classes, risk.loss, risk, sample
        self.ridge, self.weight = risk.ridge[risk.active], float(len(sample))
        self.cost = (sample.cost * (len(sample) / sample.weight)).astype(
            np.float32
        )  # one on average: it fits any precision
        s = np.hstack(list(sample.each(partial(self._scores, v.reshape(self.K, -1)), blas=True)))
        at = softmax(s, sample.y)
        self.at = at._replace(p=at.p.astype(np.float32), error=at.error.astype(np.float32))
        self.inverse = self._shared()
        cuts = np.linspace(0, len(sample), RUNS + 1).astype(int).tolist()
        self.runs = [(lo, hi) for lo, hi in pairwise(cuts) if lo < hi]

    def _scores(self, U: Floats, rows: Rows, lo: int, hi: int) -> Any:
        """U zᵢ, classes × rows."""
        if rows.packed is None:
            return U.astype(np.float32) @ rows.X[lo:hi].T
        weights, level = self.risk.levels(self.risk.embed(U))
        s = rows.packed.scores(weights, lo, hi)
        s += (level - weights @ self.risk.frame.center)[:, None].astype(np.float32)
        return s

    def _pull(self, slope: Any, rows: Rows, lo: int, hi: int) -> Any:
        """Σᵢ slopeᵢ zᵢᵀ, classes × active columns."""
        if rows.packed is None:
            return slope @ rows.X[lo:hi]
        frame, level = self.risk.frame, slope.sum(axis=1)
        pull = (rows.packed.pull(slope, lo, hi) - np.outer(level, frame.center)) / frame.scale
        whole = np.column_stack([pull, level]) if frame.lifted else pull
        return whole[:, self.risk.active]

    def _dense(self, rows: Rows, lo: int, hi: int) -> Any:
        if rows.packed is None:
            return rows.X[lo:hi]
        return self.risk.frame.coordinates(rows.X[lo:hi])[:, self.risk.active].astype(np.float32)

    def _shared(self) -> Any:
        """The inverse of one matrix for all classes, from the first part of the sample."""
        p, last = self.at.p, min(len(self.sample), max(LED_BY, 4 * self.ridge.size))
        mean = np.maximum((p * (1 - p)).sum(axis=0) / (self.K - 1), 1e-12)
        if self.cost.size:
            mean = mean * self.cost

        def gram(lo: int) -> Any:
            hi = min(lo + SMALL_BLOCK, last)
            A = self._dense(self.sample, lo, hi) * np.sqrt(mean[lo:hi, None]).astype(np.float32)
            return A.T @ A

        with one_blas_thread():
            total: Any = reduce(iadd, self.sample.map(gram, range(0, last, SMALL_BLOCK))).astype(np.float64)
        total /= last
        total[np.diag_indices_from(total)] += self.ridge
        made = steady_factor(total)
        del total  # as large as its inverse, which is to come
        return made.inverse().astype(np.float32)

    def multiply(self, u: Floats) -> Floats:
        """Hu on the sample."""
        U = u.reshape(self.K, -1)
        with one_blas_thread():
            total: Any = sum(self.sample.map(lambda run: self._part(U, self.sample, *run), self.runs))
        return (total.astype(np.float64) / self.weight + self.ridge * U).ravel()  # type: ignore[no-any-return]

    def _part(self, U: Floats, rows: Rows, lo: int, hi: int) -> Any:
        at = self.at._replace(p=self.at.p[:, lo:hi], error=self.at.error[:, lo:hi])
        bent = self.loss.bend(at, self._scores(U, rows, lo, hi))
        if self.cost.size:
            bent = bent * self.cost[lo:hi]
        return self._pull(bent, rows, lo, hi)

    def precondition(self, r: Floats) -> Floats:
        """The shared solution, class by class."""
        return (r.reshape(self.K, -1).astype(np.float32) @ self.inverse).ravel().astype(np.float64)  # type: ignore[no-any-return]

    def solve(self, g: Floats) -> Floats:
        """d with Hd ≈ g."""
        d, r = np.zeros_like(g), g.copy()
        z = self.precondition(r)
        p, size = z.copy(), float(r @ z)
        goal = TOLERANCE**2 * size
        for _ in range(MOST):
            Hp = self.multiply(p)
            bend = float(p @ Hp)
            if not bend > 0:
                break
            d += size / bend * p
            r -= size / bend * Hp
            z = self.precondition(r)
            size, before = float(r @ z), size
            if not size > goal:
                break
            p = z + size / before * p
        D = (d if d.any() else self.precondition(g)).reshape(self.K, -1)
        D = D - D.mean(axis=0)  # single precision leaves a part that all classes share, which only costs
        return D.ravel()  # type: ignore[no-any-return]
