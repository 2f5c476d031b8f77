"""What a kernel perceptron is given: parameters, a kernel by name or of the user's own, and rows or any objects."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ...data.kernels.gram import NEARLY, CustomKernel, Kernel, KernelError, Matrix, Objects, Places, careful
from ...data.kernels.objects import ObjectKernel
from ...data.kernels.tables import RBF, Linear, Polynomial, TableKernel
from ...errors import DataError, DataTypeError, SettingError
from ...fitting.scan.kernel_budget import OVERFLOWS
from ...fitting.scan.kernel_scan import KernelCourse
from ...fitting.scan.perceptron import TIES, NotFiniteScoreError
from ...numerics.arrays import Floats
from ...results.expansion import JOINT, ONE_VS_REST, TWO
from ...wording import setting
from ..checks.rows import check_lengths, checked_rows, names_of, new_columns, not_finite
from ..checks.settings import checked_choice, checked_count, checked_flags, checked_number, checked_numbers
from ..perceptron.training import checked_labels, checked_passes

KERNELS = ("linear", "polynomial", "rbf", "precomputed")
"""Kernels by name."""
TILE_ROWS = 1024
"""Rows and columns of a matrix that are looked at together."""
WITNESSES = 64
"""Rows whose matrix is searched for a negative eigenvalue."""
READINGS = ("last", "averaged", "voted")
"""Which weights predict."""
WAYS = {"joint": JOINT, "one-vs-rest": ONE_VS_REST}
"""Of K classes."""


class KernelTraining(NamedTuple):
    """The course over the training rows, the classes, and how many rows may be kept."""

    course: KernelCourse
    classes: NDArray[Any]
    budget: int | None
    kernel: Any
    """As it was given."""
    read: Any
    """What has the columns of X, for `set_fitted`."""


def checked_training(model: Any, X: Any, y: Any) -> KernelTraining:
    """Parameters, rows and labels, found to make sense."""
    budget, overflow = checked_budget(model.budget), checked_choice("overflow", model.overflow, tuple(OVERFLOWS))
    check_reading(model.reading, budget, overflow)
    if model.n_threads is not None:
        checked_count("n_threads", model.n_threads, needed="it must be a whole number, or None.")
    way = WAYS[checked_choice("multiclass", model.multiclass, tuple(WAYS))]
    checked_flags(model, "fit_intercept")
    passes = checked_passes(model, chance=budget is not None and overflow == "remove")
    ties = checked_choice("ties", model.ties, tuple(TIES))
    if y is None:
        raise DataError(
            "KernelPerceptron requires y to be passed, but the target y is None: give a label for each row."
        )
    columns = new_columns(type(model).__name__)
    rows = read(model, X, columns)
    with explained(model):
        kernel = kernel_of(model, X, rows, columns)
    target, classes = checked_labels(model, y)
    check_lengths(len(rows), len(target))
    way, lines = (TWO, 1) if len(classes) == 2 else (way, len(classes))
    course = KernelCourse(rows, target, kernel, bool(model.fit_intercept), way, lines, ties, passes)
    return KernelTraining(course, classes, budget, model.kernel, columns)


@contextmanager
def explained(model: Any) -> Iterator[None]:
    """What goes wrong with a kernel's numbers, in a sentence."""
    try:
        yield
    except (NotFiniteScoreError, OverflowError) as error:
        named = isinstance(model.kernel, str | TableKernel)
        smaller = f"or a smaller {setting('gamma')} or {setting('degree')}"
        remedy = f"Use larger units for the columns, {smaller}." if named else "Scale it down."
        raise DataError(
            f"The kernel {model.kernel!r} is not finite on these rows, NaN or infinity: its numbers, or sums of "
            f"them, overflow. {remedy}"
        ) from (None if named else error)


def winners(scores: Floats) -> NDArray[np.intp]:
    """The second of two classes iff its score is > 0, of K the first of the strongest."""
    found: NDArray[np.intp] = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return found


def check_reading(reading: Any, budget: int | None, overflow: str) -> None:
    """A reading that needs no row that a budget has removed."""
    checked_choice("reading", reading, READINGS)
    if budget is None or reading == "last" or (reading == "averaged" and overflow == "project"):
        return
    why = "the votes of all weights need all rows that were ever mistaken"
    if reading == "averaged":
        why = "the mean of all weights needs the rows that were removed"
    raise SettingError(
        "reading", reading, f"{setting('reading', 'last')} does, and with {setting('overflow', 'project')} also "
        f"{setting('reading', 'averaged')}.",
        f"{setting('reading', reading)} does not go with {setting('budget', budget)} and "
        f"{setting('overflow', overflow)}: {why}.",
    )  # fmt: skip


def checked_curve(passes: Any) -> Floats:
    """Numbers of passes, one or more of them."""
    found = np.atleast_1d(checked_numbers("passes", passes))
    if found.ndim > 1 or (found < 0).any():
        raise SettingError("passes", passes, "it must be a list of numbers of passes, zero or more.")
    return found


def checked_budget(budget: Any) -> int | None:
    """A whole number of rows; None is no limit."""
    if budget is None:
        return None
    if not isinstance(budget, numbers.Integral) or budget is True or budget < 1:
        raise SettingError("budget", budget, "it must be a whole number of rows, one or more, or None for no limit.")
    return int(budget)


def read(model: Any, X: Any, new: Any = None) -> Any:
    """The rows as the kernel takes them: numbers, `Objects`, or `Places` in a matrix; at a fit, their `new` columns."""
    reset = new is not None
    kernel, columns = (model.kernel, new) if reset else (model._fitted_kernel, model)  # parameters may have been set
    if isinstance(kernel, str) and kernel == "precomputed":
        return Places(np.arange(len(_matrix(columns, X, reset=reset))))
    table = isinstance(kernel, TableKernel) or (isinstance(kernel, str) and kernel in KERNELS)
    if table:
        _check_no_objects(kernel, X)
    if table or (_is_table(kernel, X) if reset else not model._objects):
        rows = checked_rows(columns, X, reset=reset)
        if not rows.finite():
            raise not_finite(rows, names_of(columns, rows.shape[1]), model)
        return rows
    return _objects(X)


def kernel_of(model: Any, X: Any, rows: Any, columns: Any) -> Kernel:
    """k(A, B), with the numbers that were left to us."""
    kernel = model.kernel
    if isinstance(kernel, type):
        name = kernel.__name__
        raise SettingError("kernel", kernel, f"make a kernel of it: {name}().", f"kernel is the class {name};")
    if callable(kernel):
        return careful(kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        names, given = ", ".join(map(repr, KERNELS)), repr(kernel)
        if hasattr(kernel, "shape"):
            matrix = f"with {setting('kernel', 'precomputed')} the matrix of the kernel is given as X"
            given = f"an array of shape {kernel.shape} ({matrix})"
        needed = f"it must be one of {names}, or a function k(A, B) of two sets of rows."
        raise SettingError("kernel", kernel, needed, f"kernel is {given};")
    if kernel == "precomputed":
        return Matrix(_matrix(columns, X, reset=False))
    if kernel == "linear":
        return Linear()
    gamma = model.gamma if model.gamma is None else checked_number("gamma", model.gamma, least=0, strict=True)
    if kernel == "rbf":
        return _rbf(rows, gamma)
    degree = model.degree
    if type(degree) is bool or not isinstance(degree, numbers.Integral) or degree < 1:
        raise SettingError("degree", degree, "it must be a whole number, one or more.")
    constant = checked_number("constant", model.constant, least=0)
    return Polynomial(int(degree), 1.0 if gamma is None else gamma, constant)


@np.errstate(over="ignore", invalid="ignore")
def _rbf(rows: Any, gamma: float | None) -> RBF:
    """Without a γ it is 1/(columns × the variance of all numbers of X)."""
    cells = max(1, len(rows) * rows.shape[1])
    ones = np.ones(len(rows))
    center = None if rows.skips_zeros else rows.pull(ones) / len(rows)
    if gamma is None:
        mean = np.full(rows.shape[1], rows.sum() / cells)
        spread = float(rows.scatter(ones, mean).sum()) / cells * rows.shape[1]
        if not math.isfinite(spread):
            raise OverflowError
        gamma = 1 / spread if spread > 0 else 1.0
    return RBF(gamma, center)


def asked_at(model: Any, X: Any) -> Kernel:
    """The kernel for a prediction: that of the fit; where its numbers are given, those of the new rows."""
    kernel: Kernel = model._record.kernel
    return Matrix(_matrix(model, X, reset=False)) if isinstance(kernel, Matrix) else kernel


def _is_table(kernel: Any, X: Any) -> bool:
    """Whether X is rows of numbers, not a list of objects: a list, given to a kernel of objects, is one of these."""
    if issparse(X) or hasattr(X, "columns"):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "biuf"
    if isinstance(kernel, ObjectKernel):
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
        raise DataError(
            f"is a {type(X[0]).__name__}, and {setting('kernel', kernel)} compares rows of numbers: give a kernel for "
            "such objects. separatrix.kernels.Spectrum compares strings, WeisfeilerLehman graphs, Pairwise(function) "
            "any.",
            array="X", row=0, value=X[0],
        )  # fmt: skip


def _no_list(X: Any) -> DataError:
    return DataError(
        f"X is a {type(X).__name__}; a list of rows, or of the objects that the kernel compares, is needed."
    )


def _objects(X: Any) -> Objects:
    if isinstance(X, str | bytes | Mapping) or not hasattr(X, "__len__") or not hasattr(X, "__iter__"):
        raise _no_list(X)
    items = list(X)
    if not items:
        raise DataError("Found array with 0 sample(s): X is empty.")
    return Objects(items)


def _matrix(columns: Any, X: Any, *, reset: bool) -> Any:
    """The matrix of a precomputed kernel: square at fit, then with a column for each training row."""
    if issparse(X):
        raise DataTypeError("X is sparse; the matrix of a precomputed kernel is needed as an array: X.toarray().")
    given, learnt = X if hasattr(X, "shape") else np.asarray(X), getattr(columns, "n_features_in_", None)
    shape = given.shape
    if not reset and len(shape) == 2 and shape[1] != learnt:
        _check_numbers(given)
        raise DataError(
            f"X has {shape[1]} columns; {setting('kernel', 'precomputed')} needs one for each of the {learnt} training "
            f"rows, k(new row, training row). (X has {shape[1]} features, but {type(columns).__name__} is expecting "
            f"{learnt} features as input)"
        )
    rows = checked_rows(columns, X, reset=reset)
    if not rows.finite():
        raise not_finite(rows, names_of(columns, rows.shape[1]), columns)
    matrix = rows.dense()
    if reset and matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"X has shape {matrix.shape}; {setting('kernel', 'precomputed')} needs the square matrix k(xᵢ, xⱼ) of the "
            "training rows, a row and a column for each."
        )
    return matrix


def _check_numbers(X: Any) -> None:
    """NaN is reported before a wrong shape."""
    numbers_of = np.asarray(X)
    if numbers_of.dtype.kind == "f" and not np.isfinite(numbers_of).all():
        raise DataError("Input X contains NaN or infinity; a kernel's numbers are finite.")


def check_kernel(kernel: Kernel, rows: Any) -> None:
    """A kernel of the user's own: symmetric, and an inner product as far as some rows can tell."""
    if not isinstance(kernel, CustomKernel | Matrix):
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
    if isinstance(kernel, CustomKernel):
        _check_halves(kernel, some[:half], some[half:], picked)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    if values[0] < -nearly * max(float(np.abs(values).max()), np.finfo(float).tiny):
        warnings.warn(
            f"The kernel is no inner product: of {len(some)} rows its matrix has the eigenvalue {values[0]:.3g}. "
            "The perceptron still runs, but no bound on its mistakes holds, and it may never end.",
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
            f"The kernel is not symmetric: of rows {names[i]} and {names[len(A) + j]} it is {one[i, j]:.6g}, and of "
            f"{names[len(A) + j]} and {names[i]} {other[i, j]:.6g}. An inner product is symmetric."
        )


def _check_matrix(M: Any, nearly: float) -> None:
    n = len(M)
    for lo in range(0, n, TILE_ROWS):
        for at in range(lo, n, TILE_ROWS):
            one, other = M[lo : lo + TILE_ROWS, at : at + TILE_ROWS], M[at : at + TILE_ROWS, lo : lo + TILE_ROWS].T
            apart = np.abs(one - other) > nearly * np.maximum(np.abs(one), np.abs(other)).max(initial=0)
            if apart.any():
                i, j = (int(each) for each in np.argwhere(apart)[0])
                raise KernelError(
                    f"X is not symmetric: X[{lo + i}, {at + j}] is {one[i, j]:.10g} and X[{at + j}, {lo + i}] "
                    f"{other[i, j]:.10g}. A precomputed kernel is the symmetric matrix k(xᵢ, xⱼ) of the rows to learn "
                    "from; to predict, give k(new row, training row)."
                )
