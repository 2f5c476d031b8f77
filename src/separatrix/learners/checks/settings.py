"""Settings, checked one by one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

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


def checked_threads(name: str, value: Any) -> int | None:
    """A number of threads, or None."""
    return None if value is None else checked_count(name, value, needed="it must be a whole number, or None.")


POSITIVE = partial(checked_number, least=0, strict=True)
NOT_NEGATIVE = partial(checked_number, least=0)


def checked_parameters(model: Any, **kinds: Callable[[str, Any], Any] | tuple[str, ...]) -> SimpleNamespace:
    """Parameters of a learner by their names, each checked as its kind demands; a tuple lists the choices.

    >>> checked_parameters(SimpleNamespace(tol=1e-6, order="cyclic"), tol=POSITIVE, order=("cyclic", "random"))
    namespace(tol=1e-06, order='cyclic')
    """
    found = {}
    for name, kind in kinds.items():
        value = getattr(model, name)
        found[name] = checked_choice(name, value, kind) if isinstance(kind, tuple) else kind(name, value)
    return SimpleNamespace(**found)


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
