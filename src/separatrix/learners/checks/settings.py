"""Settings, checked one by one."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ...data import Sparse
from ...data.reading import ranges
from ...errors import SettingError
from ...numerics.arrays import Floats
from ...wording import setting


def checked_number(name: str, value: Any, *, least: float, strict: bool = False) -> float:
    """A finite number that is at least (strictly: more than) `least`."""
    number = isinstance(value, numbers.Real) and math.isfinite(float(value))
    if not number or float(value) < least or (strict and float(value) == least):
        raise SettingError(name, value, f"it must be a finite number {'above' if strict else 'of at least'} {least:g}.")
    return float(value)


def checked_count(name: str, value: Any, *, needed: str = "it must be a whole number.") -> int:
    """A whole number of at least one."""
    if checked_number(name, value, least=1) % 1:
        raise SettingError(name, value, needed)
    return int(value)


def checked_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = f"one of {', '.join(map(repr, choices))}" if len(choices) > 1 else repr(choices[0])
        raise SettingError(name, value, f"it must be {allowed}.")
    return value


def checked_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(name, value, "it must be True or False.")
    return bool(value)


def checked_flags(model: Any, *names: str) -> None:
    """Settings of a learner that are True or False."""
    for name in names:
        checked_flag(name, getattr(model, name))


def checked_numbers(name: str, values: Any) -> Floats:
    """An array of finite numbers."""
    found = real_numbers(values)
    if found is None:
        raise SettingError(name, values, "it must hold numbers.")
    if not np.isfinite(found).all():
        i = int(np.argmin(np.isfinite(found.ravel())))
        problem = f"{setting(name)}[{i}] is {found.ravel()[i]}, NaN or infinity;"
        raise SettingError(name, values, "finite numbers are needed.", problem)
    return found


def real_numbers(values: Any) -> Floats | None:
    """The values as an array of real numbers; None if they are something else."""
    try:
        given = np.asarray(values)
        return None if given.dtype.kind == "c" else np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def seed_of(random_state: Any, *, needed: bool) -> int:
    """A seed; without a random_state zero, unless chance was asked for."""
    if random_state is None and not needed:
        return 0
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise SettingError("random_state", random_state, f"give an integer or None. ({error})") from None


# Rows of weight zero: they are not there, whatever they hold.

FAR = 1024.0
"""Ranges of the rows that count by which a row of weight zero may lie outside them and still be read as it is."""
FEW = 1 << 12
"""Rows that count which are looked at first."""
BLOCK = 1 << 20
"""Numbers of X that are looked at together."""


def present(X: Any, cost: Floats) -> Any:
    """X as the passes may read it, so that zero times what a row of weight zero holds is zero.

    Such a row adds nothing to a sum, unless its square overflows; but the samples that choose the units see it. Where
    one lies far from all that count, a row that counts stands in the place of each, in a copy of X: no row changes its
    place, and none of weight zero is ever seen. NaN and infinity stay, to be refused: X has to hold numbers throughout.
    """
    if not cost.size:
        return X
    counts = cost > 0
    if counts.all() or not counts.any() or not _strays(X, counts):
        return X
    return X[np.where(counts, np.arange(len(X)), int(np.argmax(counts)))]


def present_objects(objects: list[Any], cost: Floats) -> list[Any]:
    """The same of objects that are no rows of numbers: one that counts stands in the place of each that does not."""
    counts = cost > 0
    if counts.all() or not counts.any():
        return objects
    deputy = objects[int(np.argmax(counts))]
    return [each if here else deputy for each, here in zip(objects, counts, strict=True)]


def _strays(X: Any, counts: NDArray[np.bool_]) -> bool:
    """Whether a row that does not count lies far from all that do, in some column, though at a finite place."""
    least, most = _box(X, ~counts)
    for seen in (counts & (np.cumsum(counts) <= FEW), counts):  # what is near a few is near to all
        low, high = _box(X, seen)
        with np.errstate(over="ignore", invalid="ignore"):
            reach = FAR * (high - low)
            far = (least < low - reach) | (most > high + reach)
        if not far.any():
            return False
    return bool(all(np.isfinite(each).all() for each in (low, high, least, most)))


def _box(X: Any, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The least and the largest number of each column in the chosen rows, NaN where there is one."""
    if isinstance(X, Sparse):
        return _sparse_box(X[np.flatnonzero(chosen)])
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    size = max(1, BLOCK // max(1, X.shape[1]))
    for lo in range(0, len(X), size):
        here = chosen[lo : lo + size]
        if here.any():
            part = X[lo : lo + size]
            least, most = ranges(part if here.all() else part[np.flatnonzero(here)])
            low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high


def _sparse_box(X: Sparse) -> tuple[Floats, Floats]:
    """The same of CSR rows, zeros counted; without what is compiled, which few rows do not repay."""
    low, high = np.full(X.width, np.inf), np.full(X.width, -np.inf)
    np.minimum.at(low, X.named, X.numbers)
    np.maximum.at(high, X.named, X.numbers)
    some = np.bincount(X.named, minlength=X.width) < len(X)
    return np.where(some, np.minimum(low, 0.0), low), np.where(some, np.maximum(high, 0.0), high)
