"""The numbers k(xᵢ, xⱼ), block by block, each found to be a number; and sets of what they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from ...errors import DataError
from ...numerics.arrays import Floats, Integers
from ...numerics.threads import one_blas_thread, ordered_map, thread_count
from ..block import block_of
from .tables import TableKernel

CHUNK = 512
"""Rows in one product: whatever the number of threads, the same products."""
THREADS_FROM = 1 << 24
"""Multiplications in a block of the matrix from which a second thread pays."""
NEARLY = 1e-8
"""How far k(a, b) and k(b, a) may lie apart, in units of √(k(a, a) k(b, b)) or of themselves."""


class KernelError(DataError):
    """A kernel gave something that it cannot be."""


class Objects:
    """A list of any objects that is read as rows are: by slices and by places."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, places: Any) -> Objects:
        if isinstance(places, slice):
            return Objects(self.items[places])
        return Objects([self.items[i] for i in np.asarray(places).tolist()])


class Places:
    """Rows of a matrix of numbers k(xᵢ, xⱼ) that is at hand: their places in it are all there is of them."""

    def __init__(self, at: Integers) -> None:
        self.at = at

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, places: Any) -> Places:
        return Places(self.at[places])


class Matrix:
    """k(zᵢ, xⱼ) from a matrix that was given: a row for each that is asked of, a column for each learnt from."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __call__(self, A: Places, B: Places) -> Floats:
        """k of A, rows learnt from, with B, rows that are asked of."""
        return np.ascontiguousarray(self.numbers[np.ix_(B.at, A.at)].T, dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle does not carry the rows: new ones bring their own numbers."""
        return {"numbers": np.empty((0, 0))}

    @property
    def nearly(self) -> float:
        """How far it may be from symmetric: by the rounding of its numbers, where they are in single precision."""
        return max(NEARLY, 8 * float(np.finfo(self.numbers.dtype).eps))


class CustomKernel:
    """The user's own kernel: what it gives is looked at before it is believed."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, A: Any, B: Any) -> Floats:
        """The function's matrix, found to have a row for each of A and a column for each of B."""
        given = self.function(_plain(A), _plain(B))
        try:
            found = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
        except ValueError:  # rows of unequal lengths
            found = np.empty(0, object)
        if found.dtype.kind not in "biuf":
            raise KernelError(
                f"The kernel returned {_described(given)}; it must return a matrix of real numbers, k(A, B)."
            )
        if found.shape != (len(A), len(B)):
            raise KernelError(
                f"The kernel returned numbers of shape {found.shape} for {len(A)} and {len(B)} objects; shape "
                f"({len(A)}, {len(B)}) is needed, a row for each of the first and a column for each of the second. A "
                "function of two objects becomes such a kernel by separatrix.kernels.Pairwise(function)."
            )
        return np.ascontiguousarray(found, dtype=np.float64)


def _plain(rows: Any) -> Any:
    """Rows as a user knows them, in double precision: k(a, b) and k(b, a) are not to be told apart by rounding."""
    if isinstance(rows, Objects):
        return rows.items
    return block_of(rows).astype(np.float64).plain()


def _described(given: Any) -> str:
    kind = getattr(given, "dtype", None)
    return f"{type(given).__name__} of {kind}" if kind is not None else f"a {type(given).__name__}"


Kernel = Callable[[Any, Any], Floats]
Block = Callable[[Any, Any], Floats]


def careful(kernel: Any) -> Kernel:
    """The kernel, or if it is the user's own, one that looks at what it gives."""
    return kernel if isinstance(kernel, TableKernel | Matrix | CustomKernel) else CustomKernel(kernel)


@contextmanager
def gram(kernel: Kernel, n_threads: int | None = None) -> Iterator[Block]:
    """A function k(A, B) over our own threads; the user's own kernel is never called from two at once."""
    threads = thread_count(n_threads) if isinstance(kernel, TableKernel) else 1

    with ordered_map(threads) as each, one_blas_thread() if isinstance(kernel, TableKernel) else nullcontext():

        def block(A: Any, B: Any) -> Floats:
            found = np.empty((len(A), len(B)))

            def fill(lo: int) -> None:
                found[lo : lo + CHUNK] = kernel(A[lo : lo + CHUNK], B)

            work = len(A) * len(B) * (1 if isinstance(A, Objects | Places) else A.size / max(1, len(A)) + 16)
            for _ in (each if work >= THREADS_FROM else map)(fill, range(0, len(A), CHUNK)):
                pass
            return found

        yield block


def whole_matrix(kernel: Kernel, rows: Any, size: int) -> Floats:
    """k(xᵢ, xⱼ) of all rows, each block asked for once: the others are its mirror images."""
    n = len(rows)
    found = np.empty((n, n))
    for lo in range(0, n, size):
        one = slice(lo, min(lo + size, n))
        for at in range(lo, n, size):
            other = slice(at, min(at + size, n))
            K = kernel(rows[one], rows[other])
            check_finite(K, np.arange(one.start, one.stop), np.arange(other.start, other.stop))
            found[one, other] = K
            if at > lo:
                found[other, one] = K.T
    return found


def check_finite(found: Floats, names: Any, others: Any) -> None:
    """Whether k of the rows of these names with the others is neither NaN nor infinite."""
    if np.isfinite(found).all():
        return
    i, j = (int(each) for each in np.argwhere(~np.isfinite(found))[0])
    raise KernelError(
        f"The kernel of rows {int(names[i])} and {int(others[j])} is {found[i, j]}; it must be finite, not NaN or "
        "infinity.",
        row=int(names[i]),
        value=float(found[i, j]),
    )


def check_symmetric(found: Floats, names: Any, nearly: float = NEARLY) -> None:
    """Whether k(a, b) = k(b, a) and k(a, a) ≥ 0 in a square block of rows of these names, as in an inner product."""
    check_finite(found, names, names)
    diagonal = np.diagonal(found)
    if (diagonal < 0).any():
        i = int(np.argmax(diagonal < 0))
        raise KernelError(
            f"The kernel of row {int(names[i])} with itself is {diagonal[i]:.6g}: an inner product with itself is "
            "never negative, so this is no kernel.",
            row=int(names[i]),
            value=float(diagonal[i]),
        )
    root = np.sqrt(diagonal)
    wrong = np.abs(found - found.T) > nearly * np.maximum(np.outer(root, root), np.abs(found))
    if wrong.any():
        i, j = (int(each) for each in np.argwhere(wrong)[0])
        raise KernelError(
            f"The kernel is not symmetric: of rows {int(names[i])} and {int(names[j])} it is {found[i, j]:.6g}, and of "
            f"{int(names[j])} and {int(names[i])} {found[j, i]:.6g}. An inner product is symmetric; (K + Kᵀ)/2 would "
            "be, if that is what is meant.",
            row=int(names[i]),
            value=float(found[i, j]),
        )
