"""The rows as searches and programs read them: columns of about one size, the intercept a column of ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Floats
from .problem import Problem


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """z = ((x − c)/s, 1) with an intercept, x/s without; A holds the rows yz."""

    A: Floats
    centre: Floats
    scale: Floats
    lifted: bool

    @classmethod
    def of(cls, problem: Problem) -> ScaledRows:
        """Scales are deviations, centres the numbers of a column nearest to its mean: what is equal stays equal."""
        X, lifted = problem.X, problem.lifted
        count = max(1, len(X))
        centre = np.zeros(X.shape[1])
        if lifted and len(X):
            centre = np.take_along_axis(X, np.abs(X - (X / count).sum(axis=0)).argmin(axis=0)[None], axis=0)[0]
        spread = np.abs(X - centre).max(axis=0, initial=0.0)
        part = (X - centre) / np.where(spread > 0, spread, 1.0)
        deviation = spread * np.sqrt(np.square(part).sum(axis=0) / count)
        scale = np.where(deviation > 0, deviation, 1.0)
        Z = (X - centre) / scale
        Z = np.column_stack([Z, np.ones(len(X))]) if lifted else Z
        return cls(np.ascontiguousarray(Z * problem.sign[:, None]), centre, scale, lifted)

    def inside(self, weights: Floats, intercept: float) -> Floats:
        """A rule in the user's units as v, with scores zᵀv."""
        v = weights * self.scale
        return np.append(v, intercept + weights @ self.centre) if self.lifted else v

    def outside(self, v: Floats) -> tuple[Floats, float]:
        """v in the user's units."""
        weights = v[: len(self.scale)] / self.scale
        return weights, float(v[-1] - weights @ self.centre) if self.lifted else 0.0
