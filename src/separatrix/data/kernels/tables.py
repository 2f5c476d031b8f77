"""Kernels: k(x, z) = φ(x)ᵀφ(z), inner products of features that are never written out.  [000 §8.2.3]

A kernel is called with two sets of rows, or of any objects, and gives a matrix: len(A) × len(B) numbers. Whatever is
called in that way will do; those here are for tables of numbers, for strings and for graphs. `Pairwise` makes one of a
function of two objects, `Counted` one of anything that can be counted in an object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ...numerics.arrays import EPS, Floats
from ..block import Block, Dense, block_of

NEAR = 1e-10
"""What rounding may do to a kernel of distances that is made from products; beyond it they are made one by one."""
WRITTEN_OUT = 10_000
"""Columns of CSR rows that are written out for that."""


class TableKernel(ABC):
    """A kernel of rows of numbers, dense or CSR, made from their products in double precision."""

    kind: ClassVar[str]

    def __call__(self, A: Any, B: Any) -> Floats:
        """k(a, b) of each row of A with each of B."""
        A, B = block_of(A), block_of(B)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # who asks looks at what is not finite
            return self._of(A.products(B), A, B)

    @abstractmethod
    def _of(self, products: Floats, A: Block, B: Block) -> Floats:
        """The kernel, from xᵀz; the products may be written over."""

    @property
    def affine(self) -> tuple[float, float] | None:
        """(g, c) where k = g·xᵀz + c: then the weights themselves are at hand."""
        return None


@dataclass(frozen=True)
class Linear(TableKernel):
    """k(x, z) = xᵀz.

    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[11.0, 2.0]]
    """

    kind = "linear"

    @property
    def affine(self) -> tuple[float, float]:
        """k is xᵀz itself."""
        return 1.0, 0.0

    def _of(self, products: Floats, A: Block, B: Block) -> Floats:
        return products


@dataclass(frozen=True)
class Polynomial(TableKernel):
    """k(x, z) = (γ xᵀz + c)^degree: its features are all products of up to so many columns.

    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[144.0]]
    """

    degree: int = 2
    gamma: float = 1.0
    constant: float = 1.0
    kind = "polynomial"

    @property
    def affine(self) -> tuple[float, float] | None:
        """Of degree one: γ and c."""
        return (self.gamma, self.constant) if self.degree == 1 else None

    def _of(self, products: Floats, A: Block, B: Block) -> Floats:
        if self.gamma != 1:
            products *= self.gamma
        if self.constant:
            products += self.constant
        return _power(products, self.degree)


@dataclass(frozen=True)
class RBF(TableKernel):
    """k(x, z) = exp(−γ‖x − z‖²).

    `center` is subtracted from dense rows first. That changes nothing but rounding: near to zero there is less of it.

    >>> RBF(gamma=0.5)(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [2.0, 1.0]])).round(4).tolist()
    [[1.0, 0.1353]]
    """

    gamma: float = 1.0
    center: Any = field(default=None, repr=False, compare=False)
    kind = "rbf"

    def __call__(self, A: Any, B: Any) -> Floats:
        """exp(−γ‖a − b‖²) of each row of A with each of B."""
        A, B = block_of(A), block_of(B)
        skip = A.skips_zeros or B.skips_zeros
        if skip and (A.shape[1] > WRITTEN_OUT or self._lost(A, B) <= NEAR):
            return super().__call__(A, B)
        X, Z = A.dense(), B.dense()
        near = (Dense(X), Dense(Z)) if self.center is None else (Dense(X - self.center), Dense(Z - self.center))
        if self._lost(*near) > NEAR:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                return np.exp(-self.gamma * cdist(X, Z, "sqeuclidean"))  # type: ignore[no-any-return]
        return super().__call__(*near)

    def _lost(self, A: Block, B: Block) -> float:
        """By what part of itself the kernel may be wrong, if distances are made from products of these rows."""
        longest = max(A.squares().max(initial=0.0), B.squares().max(initial=0.0))
        moved = 0.0 if self.center is None else float(np.linalg.norm(self.center))
        return float(2 * self.gamma * EPS * (longest + np.sqrt(longest) * moved))

    def _of(self, products: Floats, A: Block, B: Block) -> Floats:
        products *= -2
        products += A.squares()[:, None]
        products += B.squares()
        np.maximum(products, 0, out=products)
        products *= -self.gamma
        return np.exp(products, out=products)


def _power(base: Floats, degree: int) -> Floats:
    """baseᵈ by squaring, written over the base."""
    rest: Floats | None = None
    while degree > 1:
        if degree & 1:
            rest = base.copy() if rest is None else np.multiply(rest, base, out=rest)
        np.multiply(base, base, out=base)
        degree >>= 1
    if rest is not None:
        base *= rest
    return base
