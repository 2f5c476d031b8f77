"""Factors of symmetric matrices, and which columns depend on which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs

from .arrays import EPS, Floats

PANEL = 256
"""Columns that are looked at together."""
CLEAR = 1e-4
"""The part of a column that must be its own for products of columns to tell it from nothing."""


@dataclass(frozen=True)
class Root:
    """H = RᵀR, never multiplied out: half the digits of H are kept that forming it would lose."""

    R: Floats

    @classmethod
    def of(cls, rows: Floats) -> Root:
        """The root of rowsᵀ rows."""
        return cls(np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64))

    def __add__(self, other: Root) -> Root:
        return Root.of(np.vstack([self.R, other.R]))

    def matrix(self) -> Floats:
        """RᵀR."""
        return self.R.T @ self.R  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Factor:
    """H = D U ᵀU D with D = diag(√Hⱼⱼ): a Cholesky factor that column scales cannot hurt."""

    upper: Floats
    diagonal: Floats

    def solve(self, g: Floats) -> Floats:
        """H⁻¹g."""
        return (_solved(self.upper, self.whiten(g)).T / self.diagonal).T  # type: ignore[no-any-return]

    def whiten(self, g: Floats) -> Floats:
        """U⁻ᵀD⁻¹g, whose squared length is gᵀH⁻¹g."""
        return _solved(self.upper, (g.T / self.diagonal).T, transposed=True)

    def inverse(self) -> Floats:
        """H⁻¹."""
        inverse, failed = dpotri(self.upper)
        if failed:
            raise LinAlgError("the factor is singular")
        for lo in range(0, len(inverse), PANEL):  # in place: the matrix may be as large as all else together
            hi = lo + PANEL
            own = np.triu(inverse[lo:hi, lo:hi])
            inverse[lo:hi, lo:hi] = own + np.triu(own, 1).T
            inverse[hi:, lo:hi] = inverse[lo:hi, hi:].T
        for lo in range(0, len(inverse), PANEL):
            inverse[lo : lo + PANEL] /= np.outer(self.diagonal[lo : lo + PANEL], self.diagonal)
        return inverse  # type: ignore[no-any-return]

    def times(self, c: float) -> Factor:
        """The factor of cH."""
        return Factor(self.upper, self.diagonal * np.sqrt(c))

    @property
    def weakest(self) -> float:
        """The least part of a column's square, in units of it, that the columns before it leave over."""
        return float((self.upper.diagonal() ** 2).min())


def _solved(upper: Floats, b: Floats, *, transposed: bool = False) -> Floats:
    """U⁻¹b or U⁻ᵀb by LAPACK itself: SciPy's checks of its input take longer than a small solution."""
    if not b.size:
        return b
    if upper.flags.f_contiguous:
        x, failed = dtrtrs(upper, b, lower=0, trans=transposed)
    else:
        x, failed = dtrtrs(upper.T, b, lower=1, trans=not transposed)
    if failed:
        raise LinAlgError("the factor is singular")
    return x  # type: ignore[no-any-return]


def shifted(H: Floats, diagonal: Floats) -> Floats:
    """H + diag(diagonal)."""
    H = H.copy()
    H.flat[:: len(H) + 1] += diagonal
    return H


def factor(H: Floats | Root) -> Factor | None:
    """The Cholesky factor of H, or None where H is not positive definite to working precision."""
    if isinstance(H, Root):
        return _factor_of_root(H.R)
    diagonal = np.sqrt(np.maximum(H.diagonal(), 0))
    if not (diagonal > 0).all() or not np.isfinite(diagonal).all():
        return None
    scaled = H / diagonal
    scaled /= diagonal[:, None]
    upper, failed = dpotrf(scaled, lower=0, overwrite_a=1, clean=1)
    return Factor(upper, diagonal) if not failed and np.isfinite(upper.diagonal()).all() else None


def _factor_of_root(R: Floats) -> Factor | None:
    diagonal = np.linalg.norm(R, axis=0)
    if R.shape[0] < R.shape[1] or not (diagonal > 0).all() or not np.isfinite(diagonal).all():
        return None
    upper = R / diagonal
    upper *= np.sign(np.diag(upper))[:, None]
    return Factor(upper, diagonal) if (np.diag(upper) > len(R) * EPS).all() else None


def steady_factor(H: Floats | Root) -> Factor:
    """The factor of H + τ diag(H), with the least τ of 0, 10⁻¹², 10⁻¹⁰, … that makes one."""
    if isinstance(H, Root):
        made = _factor_of_root(H.R)
        if made is not None:
            return made
        H = H.matrix()
    made = factor(H)
    if made is not None and made.weakest > 8 * EPS:
        return made
    if not np.isfinite(H).all():
        raise LinAlgError("a matrix with NaN or infinity has no factor")
    diagonal = np.diag(H).copy()
    shift = 1e-12 if (diagonal > 0).all() else 0.0
    diagonal[~(diagonal > 0)] = max(float(diagonal.max(initial=0)), 1e-300)
    while True:
        made = factor(shifted(H, diagonal - np.diag(H) + shift * diagonal))
        if made is not None and made.weakest > 8 * EPS:
            return made
        shift = max(100 * shift, 1e-12)


def steady_solution(H: Floats | Root, g: Floats) -> Floats:
    """H⁻¹g by the steady factor."""
    return steady_factor(H).solve(g)


def triangle(blocks: Any) -> Floats:
    """R of the QR decomposition of blocks of rows stacked on one another, one block at a time."""
    R: Floats | None = None
    for block in blocks:
        R = np.asarray(np.linalg.qr(block if R is None else np.vstack([R, block]), mode="r"))
    assert R is not None
    return R


def independent(A: Floats, clear: float, gone: float, panel: int = 64) -> tuple[list[int], list[int]] | None:
    """The columns in order, kept or explained by those kept before them, from their products A = XᵀX.

    A column is kept if more than `clear` of its square is its own, explained if less than `gone` is; None if some
    column is between the two, where the products do not tell.
    """
    d = len(A)
    size = np.sqrt(np.maximum(np.diag(A), 0))
    size = np.where(size > 0, size, 1.0)
    A = A / np.outer(size, size)
    R = np.zeros((d, d))
    kept: list[int] = []
    explained: list[int] = []
    for start in range(0, d, panel):
        stop, k = min(start + panel, d), len(kept)
        S = A[start:stop, start:] - R[:k, start:stop].T @ R[:k, start:]
        for i in range(stop - start):
            own = S[i, i]
            if own <= gone:
                explained.append(start + i)
                continue
            if not own > clear:
                return None
            row = S[i] / np.sqrt(own)
            row[:i] = 0
            S[i + 1 :] -= np.outer(row[i + 1 : stop - start], row)
            R[len(kept), start:] = row
            kept.append(start + i)
    return kept, explained


@dataclass(frozen=True)
class Dependence:
    """Which columns are kept, and each other column as a combination of them: aliased = kept · combination."""

    kept: NDArray[np.intp]
    aliased: NDArray[np.intp]
    combination: Floats

    def null_space(self) -> Floats:
        """A basis of the weights that change no score, one a column."""
        N = np.zeros((self.kept.size + self.aliased.size, self.aliased.size))
        N[self.kept], N[self.aliased] = -self.combination, np.eye(self.aliased.size)
        return N


def dependence(R: Floats, noise: Floats) -> Dependence:
    """The columns of R in order, each kept unless the kept ones before it explain it but for its rounding.

    `noise` is the rounding of each column of the data, in the units of R; a column that is explained to within the
    rounding of all that enters its combination is aliased.
    """
    if _clearly_independent(R, noise):
        d = R.shape[1]
        return Dependence(np.arange(d), np.empty(0, np.intp), np.zeros((d, 0)))
    m, d = R.shape
    basis = np.empty((m, min(m, d)))
    inside = np.zeros((min(m, d), min(m, d)))  # the kept columns in the basis: upper triangular
    kept: list[int] = []
    shares: dict[int, Floats] = {}  # the aliased columns in the basis
    for j in range(d):
        k = len(kept)
        if d > m and j % PANEL == 0:  # many must be aliased: those that are already, all at once
            ahead = np.arange(j, min(j + PANEL, d))
            part, lengths = _projected(basis[:, :k], R[:, ahead])
            allowed = noise[ahead] + noise[kept] @ np.abs(solve_triangular(inside[:k, :k], part)) if k else noise[ahead]
            near = lengths < 1e-6 * np.linalg.norm(R[:, ahead], axis=0)
            gone = (k == m) | (lengths <= np.where(near, allowed, noise[ahead]))
            shares.update(zip(ahead[gone].tolist(), part.T[gone], strict=True))
        if j in shares:
            continue
        left, share = R[:, j].copy(), np.zeros(k)
        for _ in range(2):  # the second sweep removes what rounding left of the first
            part = basis[:, :k].T @ left
            left -= basis[:, :k] @ part
            share += part
        length = float(np.linalg.norm(left))
        allowed = noise[j]
        if length < 1e-6 * np.linalg.norm(R[:, j]):
            allowed += float(np.abs(solve_triangular(inside[:k, :k], share)) @ noise[kept]) if k else 0.0
        if k == m or length <= allowed:
            shares[j] = share
        else:
            basis[:, k], inside[:k, k], inside[k, k] = left / length, share, length
            kept.append(j)
    k, aliased = len(kept), sorted(shares)
    table = np.zeros((k, len(aliased)))
    for column, j in enumerate(aliased):
        table[: shares[j].size, column] = shares[j]
    if k and aliased:
        table = solve_triangular(inside[:k, :k], table)
    return Dependence(np.array(kept, dtype=np.intp), np.array(aliased, dtype=np.intp), table)


def _clearly_independent(R: Floats, noise: Floats) -> bool:
    """Whether products of the columns, which know half the digits, tell that each has much of its own."""
    if R.shape[0] < R.shape[1] or R.shape[1] < PANEL:
        return False
    made = factor(R.T @ R)
    return made is not None and bool((made.upper.diagonal() > np.maximum(CLEAR, noise / made.diagonal)).all())


def _projected(basis: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """The columns in the basis, and the lengths of what is left of them; the second sweep as in `dependence`."""
    share, left = np.zeros((basis.shape[1], columns.shape[1])), columns.copy()
    for _ in range(2):
        part = basis.T @ left
        left -= basis @ part
        share += part
    return share, np.linalg.norm(left, axis=0)


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """s + e = a + b exactly, s the rounded sum."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """p + e = ab exactly, p the rounded product, barring overflow and underflow."""
    p = a * b
    (a1, a0), (b1, b0) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """a = high + low, each of 26 bits."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high
