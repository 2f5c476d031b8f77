"""Factors of a penalised Hessian in single precision, by its columns or by its rows: they only steer.

Of n rows and d columns the smaller of an n × n and a d × d matrix is made. By the rows, with D the curvatures, K = ZZᵀ
of the rows without the one and ρ the penalty's curvature, the same for all weights, S = D⁻¹ + K/ρ:
A⁻¹ = (ZᵀDZ + ρI)⁻¹ = (I − ZᵀS⁻¹Z/ρ)/ρ and A⁻¹ZᵀD1 = ZᵀS⁻¹1/ρ, and the intercept's own curvature, less what the
weights take of it, is 1ᵀS⁻¹1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import spotrf, spotrs

from ...data.frame import Frame, block_rows
from ...data.grams import Gram, root_writer
from ...numerics.arrays import Floats
from ...numerics.threads import one_blas_thread

SHIFT = 1e-5
"""What is added to a diagonal of ones, so that rounding in single precision leaves a factor."""
MOST_SHIFT = 1.0
PANEL = 1 << 21
"""Numbers of some columns of all rows that are put into the frame together."""
PART = 256
"""Rows that one thread puts into the frame at a time."""


@dataclass(frozen=True)
class SingleFactor:
    """H + shift·diag(H) = D LLᵀ D in single precision."""

    lower: Any
    diagonal: Floats

    @classmethod
    def of(cls, H: Any, shift: float) -> SingleFactor | None:
        """The factor of a matrix of which the upper triangle is read; what is given is overwritten."""
        diagonal = np.sqrt(H.diagonal().astype(np.float64))
        if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            raise LinAlgError("a matrix with NaN or infinity has no factor")
        inverse = (1 / diagonal).astype(np.float32)
        H *= inverse
        H *= inverse[:, None]
        H[np.diag_indices_from(H)] = 1 + shift
        lower, failed = spotrf(H.T, lower=1, clean=0, overwrite_a=1)
        return None if failed else cls(lower, diagonal)

    def solve(self, g: Floats) -> Floats:
        """H⁻¹g, nearly."""
        scaled = g / self.diagonal
        size = float(np.abs(scaled).max(initial=0))
        if not size > 0:
            return np.zeros_like(g)
        x, _ = spotrs(self.lower, (scaled / size).astype(np.float32), lower=1)
        return x.astype(np.float64) * (size / self.diagonal)  # type: ignore[no-any-return]


class ColumnFactors:
    """H = Σ cᵢφ″ zᵢzᵢᵀ/C + diag(ridge) as a matrix of the columns, for curvatures that are given."""

    def __init__(self, rows: Any, frame: Frame, ridge: Floats) -> None:
        self.rows, self.frame, self.ridge = rows, frame, ridge

    def __call__(self, curvature: Floats) -> SingleFactor:
        shift = SHIFT
        while True:
            made = SingleFactor.of(self._hessian(curvature / self.rows.weight), shift)
            if made is not None:
                return made
            if shift >= MOST_SHIFT:
                raise LinAlgError("no factor in single precision")
            shift *= 100

    def _hessian(self, weight: Floats) -> Any:
        rows, width, size = self.rows, self.frame.width, block_rows(self.frame.width)
        write = root_writer(rows.block, self.frame, "float32")
        gram, buffer = Gram(width, rows.map, "float32"), np.empty((min(size, len(rows)), width), np.float32)

        def part(lo: int) -> None:
            hi = min(lo + PART, stop)
            write(lo, hi, weight[lo:hi], buffer[lo - start : hi - start])

        with one_blas_thread():
            for start in range(0, len(rows), size):
                stop = min(start + size, len(rows))
                list(rows.map(part, range(start, stop, PART)))
                gram.add(buffer[: stop - start])
        gram.sum[np.diag_indices(width)] += self.ridge
        return gram.sum


class RowFactors:
    """H as a matrix of the rows, for curvatures that are given; the ridge is the same for all columns."""

    def __init__(self, rows: Any, frame: Frame, ridge: Floats) -> None:
        self.rows, self.frame, self.ridge = replace(rows, other=rows.other[:0]), frame, float(ridge[0])
        self.products: Any = None

    def __call__(self, curvature: Floats) -> RowFactor:
        if self.products is None:
            self.products = self._products()
        root = np.sqrt(curvature / (self.rows.weight * self.ridge))
        single, shift = root.astype(np.float32), SHIFT
        while True:
            B = self.products * single
            B *= single[:, None]
            B[np.diag_indices_from(B)] += 1
            made = SingleFactor.of(B, shift)
            if made is not None:
                return RowFactor(self, made, root * math.sqrt(self.ridge))
            if shift >= MOST_SHIFT:
                raise LinAlgError("no factor in single precision")
            shift *= 100

    def _products(self) -> Any:
        """ZZᵀ, columns taken some at a time."""
        rows, frame, d = self.rows, self.frame, self.frame.center.size
        gram, size = Gram(len(rows), rows.map, "float32"), max(1, PANEL // len(rows))
        buffer = np.empty((len(rows), min(size, d)), np.float32)

        def part(some: Any, lo: int, hi: int) -> None:
            np.subtract(some.dense(lo, hi)[:, here], frame.center[here], out=panel[lo:hi], casting="same_kind")
            panel[lo:hi] /= frame.scale[0]

        with one_blas_thread():
            for start in range(0, d, size):
                here = slice(start, min(start + size, d))
                panel = buffer[:, : here.stop - start]
                list(rows.each(part))
                gram.add(panel.T)
        return gram.sum  # its upper triangle

    def scores(self, w: Floats) -> Floats:
        """Zw."""
        w = w / self.frame.scale
        parts = self.rows.each(lambda part, lo, hi: part.block[lo:hi] @ w, blas=True)
        return np.concatenate(list(parts)) - float(self.frame.center @ w)

    def pull(self, a: Floats) -> Floats:
        """Zᵀa."""
        total = self.rows.fold(lambda part, lo, hi: part.block[lo:hi].pull(a[lo:hi]), blas=True)
        return (total - float(a.sum()) * self.frame.center) / self.frame.scale  # type: ignore[no-any-return]


class RowFactor:
    """Solves with H by S⁻¹ = √D (I + √D K √D/ρ)⁻¹ √D."""

    def __init__(self, of: RowFactors, made: SingleFactor, root: Floats) -> None:
        self.of, self.made, self.root = of, made, root
        self.ones = self._inner(np.ones(root.size))

    def _inner(self, q: Floats) -> Floats:
        """S⁻¹q."""
        return self.root * self.made.solve(self.root * q)  # type: ignore[no-any-return]

    def solve(self, g: Floats) -> Floats:
        """H⁻¹g, nearly."""
        of, d = self.of, self.of.frame.center.size
        pull = self._inner(of.scores(g[:d]) / of.ridge)
        if not of.frame.lifted:
            return (g - of.pull(pull)) / of.ridge  # type: ignore[no-any-return]
        level = (g[d] - float(pull.sum())) / float(self.ones.sum())
        return np.append((g[:d] - of.pull(pull + level * self.ones)) / of.ridge, level)
