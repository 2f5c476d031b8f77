"""What a kernel perceptron is given: rows or any objects, and a kernel by name or of the user's own."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...data import Sparse
from ...data.kernels.gram import NEARLY, Asked, Kernel, KernelError, Matrix, Objects, Places, careful
from ...data.kernels.tables import RBF, Counted, Linear, Pairwise, Polynomial, TableKernel
from ..checks.rows import checked_number, checked_rows, not_finite
from ..perceptron.base import column_names

KERNELS = ("linear", "polynomial", "rbf", "precomputed")
TILE = 1024
"""Rows and columns of a matrix that are looked at together."""
WITNESSES = 64
"""Rows whose matrix is searched for a negative eigenvalue."""


def read(model: Any, X: Any, *, reset: bool) -> Any:
    """The rows as the kernel takes them: numbers, `Objects`, or `Places` in a matrix."""
    kernel = model.kernel if reset else model._learnt_by  # parameters may have been set since
    if isinstance(kernel, str) and kernel == "precomputed":
        return Places(np.arange(len(_matrix(model, X, reset=reset))))
    table = isinstance(kernel, TableKernel) or (isinstance(kernel, str) and kernel in KERNELS)
    if table:
        _check_no_objects(kernel, X)
    if table or (_is_table(kernel, X) if reset else not model._of_objects):
        rows = checked_rows(model, X, reset=reset)
        if not (rows.finite() if isinstance(rows, Sparse) else np.isfinite(rows).all()):
            raise not_finite(rows, column_names(model, rows.shape[1]), model)
        return rows
    if reset:  # objects have no columns, whatever was learnt before
        for name in ("n_features_in_", "feature_names_in_"):
            vars(model).pop(name, None)
    return _objects(X)


def kernel_of(model: Any, X: Any, rows: Any) -> Kernel:
    """k(A, B), with the numbers that were left to us."""
    kernel = model.kernel
    if isinstance(kernel, type):
        raise ValueError(f"kernel is the class {kernel.__name__}; make a kernel of it: {kernel.__name__}().")
    if callable(kernel):
        return careful(kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        names, given = ", ".join(map(repr, KERNELS)), repr(kernel)
        if hasattr(kernel, "shape"):
            given = (
                f"an array of shape {kernel.shape} (with kernel='precomputed' the matrix of the kernel is given as X)"
            )
        raise ValueError(f"kernel is {given}; it must be one of {names}, or a function k(A, B) of two sets of rows.")
    if kernel == "precomputed":
        return Matrix(_matrix(model, X, reset=False))
    if kernel == "linear":
        return Linear()
    gamma = model.gamma if model.gamma is None else checked_number("gamma", model.gamma, least=0, strict=True)
    if kernel == "rbf":
        return _rbf(rows, gamma)
    degree = model.degree
    if type(degree) is bool or not isinstance(degree, numbers.Integral) or degree < 1:
        raise ValueError(f"degree is {degree!r}; it must be a whole number, one or more.")
    constant = checked_number("constant", model.constant, least=0)
    return Polynomial(int(degree), 1.0 if gamma is None else gamma, constant)


@np.errstate(over="ignore", invalid="ignore")
def _rbf(rows: Any, gamma: float | None) -> RBF:
    """Without a γ it is 1/(columns × the variance of all numbers of X)."""
    cells = max(1, len(rows) * rows.shape[1])
    center = None if isinstance(rows, Sparse) else rows.mean(axis=0, dtype=np.float64)
    if gamma is None:
        numbers_of = rows.numbers if isinstance(rows, Sparse) else rows
        mean = numbers_of.sum(dtype=np.float64) / cells
        near = np.square(numbers_of - mean).sum() + (cells - numbers_of.size) * np.square(mean)
        spread = float(near) / cells * rows.shape[1]
        if not math.isfinite(spread):
            raise OverflowError
        gamma = 1 / spread if spread > 0 else 1.0
    return RBF(gamma, center)


def asked_at(model: Any, X: Any) -> Kernel:
    """The kernel for a prediction: the same, but where its numbers are given, with those of the new rows."""
    kernel: Kernel = model._record.kernel
    return Matrix(_matrix(model, X, reset=False)) if isinstance(kernel, Matrix) else kernel


def _is_table(kernel: Any, X: Any) -> bool:
    """Whether X is rows of numbers, not a list of objects: a list, given to a kernel of objects, is one of these."""
    if issparse(X) or hasattr(X, "columns"):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "biuf"
    if isinstance(kernel, Counted | Pairwise):
        return False
    if not isinstance(X, list | tuple) or not X or isinstance(X[0], str | bytes | Mapping):
        return False
    try:
        made = np.asarray(X)
    except ValueError:  # rows of unequal lengths
        return False
    return made.ndim == 2 and made.dtype.kind in "biuf"


def _check_no_objects(kernel: Any, X: Any) -> None:
    """A kernel of rows of numbers is given rows of numbers."""
    if isinstance(X, str | bytes | Mapping) and not issparse(X):  # a sparse matrix may be a dictionary too
        raise _no_list(X)
    listed = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 1)
    if listed and len(X) and isinstance(X[0], str | bytes | Mapping):
        raise ValueError(
            f"X[0] is a {type(X[0]).__name__}, and kernel={kernel!r} compares rows of numbers: give a kernel for such "
            "objects. separatrix.kernels.Spectrum compares strings, WeisfeilerLehman graphs, Pairwise(function) any."
        )


def _no_list(X: Any) -> ValueError:
    return ValueError(
        f"X is a {type(X).__name__}; a list of rows, or of the objects that the kernel compares, is needed."
    )


def _objects(X: Any) -> Objects:
    if isinstance(X, str | bytes | Mapping) or not hasattr(X, "__len__") or not hasattr(X, "__iter__"):
        raise _no_list(X)
    items = list(X)
    if not items:
        raise ValueError("Found array with 0 sample(s): X is empty, and nothing can be learnt from it or said of it.")
    return Objects(items)


def _matrix(model: Any, X: Any, *, reset: bool) -> Any:
    """The matrix of a precomputed kernel: square at fit, then with a column for each row that was learnt from."""
    if issparse(X):
        raise TypeError("X is sparse; the matrix of a precomputed kernel is needed as an array: X.toarray().")
    given, learnt = X if hasattr(X, "shape") else np.asarray(X), getattr(model, "n_features_in_", None)
    shape = given.shape
    if not reset and len(shape) == 2 and shape[1] != learnt:
        _check_numbers(given)
        raise ValueError(
            f"X has {shape[1]} columns; kernel='precomputed' needs one for each of the {learnt} rows that were learnt "
            f"from, k(new row, row learnt from). (X has {shape[1]} features, but "
            f"{type(model).__name__} is expecting {learnt} features as input)"
        )
    matrix = checked_rows(model, X, reset=reset)
    if not np.isfinite(matrix).all():
        raise not_finite(matrix, column_names(model, matrix.shape[1]), model)
    if reset and matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"X has shape {matrix.shape}; kernel='precomputed' needs the square matrix k(xᵢ, xⱼ) of the rows to learn "
            "from, a row and a column for each."
        )
    return matrix


def _check_numbers(X: Any) -> None:
    """NaN is said before a wrong shape is."""
    numbers_of = np.asarray(X)
    if numbers_of.dtype.kind == "f" and not np.isfinite(numbers_of).all():
        raise ValueError("Input X contains NaN or infinity; a kernel's numbers are finite.")


def check_kernel(kernel: Kernel, rows: Any) -> None:
    """A kernel of the user's own: symmetric, and an inner product as far as some rows can tell."""
    if not isinstance(kernel, Asked | Matrix):
        return
    nearly = NEARLY
    if isinstance(kernel, Matrix):
        nearly = kernel.nearly
        _check_matrix(kernel.numbers, nearly)
    picked = np.unique(np.linspace(0, len(rows) - 1, WITNESSES).astype(np.int64))
    some, half = rows[picked], len(picked) // 2
    K = kernel(some, some)
    if not np.isfinite(K).all():
        return  # the scan names the rows
    if isinstance(kernel, Asked):
        _check_halves(kernel, some[:half], some[half:], picked)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    if values[0] < -nearly * max(float(np.abs(values).max()), np.finfo(float).tiny):
        warnings.warn(
            f"The kernel is no inner product: of {len(some)} rows its matrix has the eigenvalue {values[0]:.3g}. "
            "The perceptron runs all the same, but no bound on its mistakes holds, and it may never end.",
            stacklevel=4,
        )


def _check_halves(kernel: Kernel, A: Any, B: Any, names: Any) -> None:
    """k(A, B) = k(B, A)ᵀ, of different rows."""
    if not len(A):
        return
    one, other = kernel(A, B), kernel(B, A).T
    apart = np.abs(one - other) > NEARLY * np.maximum(np.maximum(np.abs(one), np.abs(other)), np.abs(one).max())
    if apart.any():
        i, j = (int(each) for each in np.argwhere(apart)[0])
        raise KernelError(
            f"the kernel is not symmetric: of rows {names[i]} and {names[len(A) + j]} it is {one[i, j]:.6g}, and of "
            f"{names[len(A) + j]} and {names[i]} {other[i, j]:.6g}. An inner product is symmetric."
        )


def _check_matrix(M: Any, nearly: float) -> None:
    n = len(M)
    for lo in range(0, n, TILE):
        for at in range(lo, n, TILE):
            one, other = M[lo : lo + TILE, at : at + TILE], M[at : at + TILE, lo : lo + TILE].T
            apart = np.abs(one - other) > nearly * np.maximum(np.abs(one), np.abs(other)).max(initial=0)
            if apart.any():
                i, j = (int(each) for each in np.argwhere(apart)[0])
                raise KernelError(
                    f"X is not symmetric: X[{lo + i}, {at + j}] is {one[i, j]:.10g} and X[{at + j}, {lo + i}] "
                    f"{other[i, j]:.10g}. A precomputed kernel is the symmetric matrix k(xᵢ, xⱼ) of the rows to learn "
                    "from; to predict, give k(new row, row learnt from)."
                )
