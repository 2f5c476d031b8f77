"""What part of the columns a picture shows: around the rows, inside what the model knows, or as it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fitting.closed.support import Support
from ..numerics.arrays import Floats

PAD = 0.12
"""The free part of a column's range on each side."""
HALF = 0.5
"""A whole number has a cell of its own, which reaches so far to each side."""


def domain_of(model: Any, columns: int) -> Support:
    """The numbers that a model knows in each column: its own `domain_`, or what scikit-learn's tags tell."""
    found = getattr(model, "domain_", None)
    if isinstance(found, Support):
        return found
    tags = model.__sklearn_tags__() if hasattr(model, "__sklearn_tags__") else None
    lowest = 0.0 if tags is not None and tags.input_tags.positive_only else -np.inf
    return Support(np.full(columns, lowest), np.full(columns, np.inf), np.zeros(columns, np.bool_))


def ends_of(values: Floats, domain: Support, place: int | None, part: float = PAD) -> tuple[float, float]:
    """A part of their range beyond the values on each side, no further than the column may go; None is no column."""
    low, high = float(values.min()), float(values.max())
    pad = part * (high - low if high > low else 1.0)
    if place is None:
        return low - pad, high + pad
    half = HALF if domain.whole[place] else 0.0
    return max(low - pad - half, domain.lowest[place] - half), min(high + pad + half, domain.highest[place] + half)


def known(values: Floats, domain: Support) -> Floats:
    """The nearest numbers that the model knows: in columns of whole numbers the middle of each one's cell."""
    whole = np.where(domain.whole, np.round(values), values)
    return np.clip(whole, domain.lowest, domain.highest)


def checked_limits(limits: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Two numbers for each axis, or None."""
    if limits is None:
        return None, None
    try:
        first, second = limits
        found = tuple(None if each is None else tuple(float(end) for end in each) for each in (first, second))
        right = all(each is None or len(each) == 2 for each in found)
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ValueError(
            f"limits is {limits!r}; give ((left, right), (bottom, top)), with None in place of a pair that the rows "
            "are to decide."
        )
    for name, each in zip(names, found, strict=True):
        if each is not None and not (np.isfinite(each).all() and each[0] < each[1]):
            raise ValueError(f"limits of {name!r} are {each}; two finite numbers are needed, the smaller one first.")
    return found[0], found[1]


def check_inside(ends: tuple[float, float], domain: Support, place: int, name: str, model: Any) -> None:
    """That the model knows what is asked for."""
    half = HALF if domain.whole[place] else 0.0
    low, high = domain.lowest[place] - half, domain.highest[place] + half
    if ends[0] < low or ends[1] > high:
        raise ValueError(
            f"limits of {name!r} are {ends}, and {type(model).__name__} knows that column from {low:g} to {high:g} "
            "only: keep inside."
        )
