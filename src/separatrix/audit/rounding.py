"""What rounding can do to sums, products and inverses in double precision, as upper bounds.

They hold for any order of a sum and with or without fused multiplication, so whatever BLAS does, and for numbers that
neither overflow nor underflow: sizes of columns and costs beyond `MODEST` are left to long double, and a product that
underflows beside such numbers is less than 10⁻⁵⁰ of the bounds. Of exp and log1p it is assumed that they are right to
four units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

U = 2.0**-53
"""The largest relative error of one rounding."""
ELEMENTARY = 40
"""Roundings that an exponential or a logarithm, and the few operations around it, can be off."""
SLIGHT = 1 + 1e-9
"""More than what the rounding of a sum of some million terms of one sign can do to it."""
MODEST = 1e-100, 1e100
"""Sizes of columns and costs for which no product that matters overflows or underflows."""
TOTAL = 64
"""Roundings that a sum of costs can be off, as NumPy adds in pairs, and the few operations around it."""


def gamma(n: float) -> float:
    """γₙ = nu/(1 − nu): the most, relative to Σ|aᵢbᵢ|, that a sum of n products is off."""
    return n * U / (1 - n * U)


def modest(*numbers: Any) -> bool:
    """Whether all numbers are of a size for which these bounds hold."""
    least, most = MODEST
    return all(bool(((least <= each) & (each <= most)).all()) for each in map(np.asarray, numbers))


class Root:
    """R with ‖Rb‖²/(1 + ε) ≤ bᵀM⁻¹b ≤ ‖Rb‖²/(1 − ε), where RMRᵀ = I + Δ, ‖Δ‖ ≤ ε < 1: so M is positive definite.

    For then (1 − ε)(RᵀR)⁻¹ ⪯ M ⪯ (1 + ε)(RᵀR)⁻¹. R comes from a Cholesky factor and need not be exact: ε is how far
    RMRᵀ is from I as computed, what the rounding of that may hide, at most γ‖|R||M||R|ᵀ‖, and what errors of M do to
    it, η‖|R|√diag M‖² if |δMⱼₖ| ≤ η√(MⱼⱼMₖₖ). Besides, all of M may be off by a factor f: then by f(1 + ε) more.
    """

    def __init__(self, R: Any, lost: float) -> None:
        self.R, self.size, self.shortest, self.longest = R, np.abs(R), math.sqrt(1 - lost), math.sqrt(1 + lost)

    @classmethod
    def of(cls, M: Any, eta: float, factor: float = 0.0) -> Root | None:
        """Of a matrix with such errors, `factor` how far all of it is off; None where nothing is proved."""
        own, n = np.diag(M), len(M)
        if not (own > 0).all() or not np.isfinite(M).all() or not modest(length := np.sqrt(own)):
            return None
        try:
            L = np.linalg.cholesky(M / np.outer(length, length))
        except np.linalg.LinAlgError:
            return None
        R = solve_triangular(L, np.eye(n), lower=True, check_finite=False) / length
        size, off = np.abs(R), R @ M @ R.T
        off[np.diag_indices(n)] -= 1
        rounding = gamma(2 * n + 4) * float((size @ (np.abs(M) @ size.sum(axis=0))).max(initial=0))
        lost = float(np.linalg.norm(off)) * (1 + gamma(n * n)) + rounding + eta * float(np.square(size @ length).sum())
        lost = (lost + factor * (1 + lost)) * SLIGHT
        return cls(R, lost) if lost < 0.5 else None

    def lengths(self, columns: Any, errors: Any = 0.0) -> tuple[Any, Any]:
        """√(bᵀM⁻¹b) of each column b, which may be off by `errors`: at the least and at the most."""
        own, terms = self.R @ columns, self.size @ (np.abs(columns) * gamma(len(self.R) + 2) + errors)
        return self.between(np.linalg.norm(own, axis=0), np.linalg.norm(terms, axis=0))

    def between(self, length: Any, off: Any) -> tuple[Any, Any]:
        """A length in M⁻¹ at the least and at the most, from that of its image, which may be off besides."""
        return (
            np.maximum(length / SLIGHT - off * SLIGHT, 0) / (self.longest * SLIGHT),
            (length + off) * SLIGHT / self.shortest,
        )
