"""A number that says how it was found and how far off it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import DataError
from ...numerics.arrays import Floats

LAST_DIGITS = 2.0**-50
"""The relative error of a sum or a closed form."""


class Estimate(float):
    """value ± error, found as `how` says; everywhere else a float.

    Of a sum or a closed form the error covers the last digits; of a quadrature it is an estimate from two rules on the
    same points; of random or given points it is one standard error.

    >>> half = Estimate(0.5, 1e-16, "sum over 2 points")
    >>> half
    0.5 ± 1e-16 (sum over 2 points)
    >>> half + 1
    1.5
    """

    __slots__ = ("error", "how")
    error: float
    how: str

    def __new__(cls, value: float, error: float, how: str) -> Estimate:
        made = super().__new__(cls, value)
        made.error, made.how = float(error), how
        return made

    @property
    def value(self) -> float:
        """The number alone."""
        return float(self)

    def minus(self, other: Estimate) -> Estimate:
        """a − b ± (error of a + error of b): as if the errors never cancelled."""
        return Estimate(float(self) - float(other), self.error + other.error, _joined(self.how, other.how))

    def __repr__(self) -> str:
        return f"{float(self):.10g} ± {self.error:.2g} ({self.how})"

    def __str__(self) -> str:
        return repr(self)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.error, self.how

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimate, (float(self), self.error, self.how)


def exact(terms: Iterable[float], how: str) -> Estimate:
    """Σ terms, to the last digits."""
    numbers = [float(term) for term in terms]
    return Estimate(math.fsum(numbers), LAST_DIGITS * math.fsum(map(abs, numbers)), how)


def _joined(first: str, second: str) -> str:
    return first if first == second else f"{first}; {second}"


# Checks of what a population is given: rows, masses, covariances, probabilities.

CLOSE = 1e-9
"""How far sums of probabilities may be from one, and matrices from symmetric, relative to their size."""


def as_rows(X: Any, name: str) -> Floats:
    """X as an n×d array of finite numbers; numbers in a line are rows of one column."""
    array = np.asarray(X, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size:
        raise DataError(f"has shape {array.shape}; rows of numbers are needed, one at least.", array=name)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise DataError(
            f"is {array[row, column]} in row {row}, column {column}; finite numbers are needed.", array=name
        )
    return array


def checked_masses(masses: Any, n: int, name: str) -> Floats:
    """n probabilities that add up to one; None makes them equal."""
    array = np.full(n, 1 / n) if masses is None else np.asarray(masses, dtype=np.float64)
    if array.shape != (n,):
        raise DataError(f"has shape {array.shape}; {n} numbers are needed, one each.", array=name)
    if not (array >= 0).all():
        place = int(np.flatnonzero(~(array >= 0))[0])
        raise DataError(f"is {array[place]}; a probability is needed.", array=name, row=place, value=array[place])
    if abs(array.sum() - 1) > CLOSE:
        raise DataError(f"add up to {array.sum():.12g}; they must add up to 1.", array=name)
    return np.asarray(array / array.sum())


def checked_covariances(covariances: Any, n: int, d: int) -> Floats:
    """n×d×d, from σ², from n of them, from one matrix or from n matrices."""
    given = np.asarray(covariances, dtype=np.float64)
    shapes = {(): given, (n,): given.reshape(-1, 1, 1) if given.ndim == 1 else given}
    if given.shape in shapes:
        full = shapes[given.shape] * np.eye(d)
    elif given.shape in ((d, d), (n, d, d)):
        full = given
    else:
        raise DataError(
            f"have shape {given.shape}; for {n} means of {d} columns give a number, {n} numbers, "
            f"a {d}×{d} matrix or {n} of them.",
            array="covariances",
        )
    full = np.array(np.broadcast_to(full, (n, d, d)))
    for i, matrix in enumerate(full):
        size = float(np.abs(matrix).max())
        if not np.isfinite(size) or np.abs(matrix - matrix.T).max() > CLOSE * size:
            raise DataError(f"Covariance {i} is not a symmetric matrix of finite numbers.")
        if np.linalg.eigvalsh(matrix)[0] < -CLOSE * size:
            raise DataError(f"Covariance {i} has a negative eigenvalue, {np.linalg.eigvalsh(matrix)[0]:.3g}.")
    return full


def checked_posterior(eta: Any, n: int, name: str = "eta", close: float = CLOSE) -> Floats:
    """n×K probabilities, from n of the second class or from n×K; a row that is none is named."""
    given = np.asarray(eta, dtype=np.float64)
    if given.ndim not in (1, 2) or len(given) != n or (given.ndim == 2 and given.shape[1] < 2):
        raise DataError(
            f"has shape {given.shape} for {n} rows; give {n} probabilities of the second class, or {n}×K.", array=name
        )
    outside = ~((given >= 0) & (given <= 1))
    if outside.any():
        place = np.argwhere(outside)[0]
        raise DataError(f"is {given[tuple(place)]} in row {place[0]}; a probability in [0, 1] is needed.", array=name)
    if given.ndim == 1:
        return np.column_stack([1 - given, given])
    off = np.abs(given.sum(axis=1) - 1) > close
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise DataError(
            f"adds up to {given[row].sum():.12g} in row {row}; probabilities of all classes add up to 1.", array=name
        )
    return given
