"""Columns in units far from one, divided by powers of two: no digit is lost, no square overflows or vanishes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats

Powers = NDArray[np.int64]

ORDINARY = 200
"""Columns whose largest number is between 2⁻²⁰⁰ and 2²⁰⁰ are left as they are."""
HIGHEST = 1023
"""The largest exponent with which weights keep all their digits."""
LOWEST = -1020
"""The smallest exponent with which weights keep all their digits."""


def powers_of(X: Floats) -> Powers:
    """For each column the power of two of its largest number, zero if that is ordinary."""
    power = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1].astype(np.int64)
    return np.where(np.abs(power) > ORDINARY, power, 0)


def divided(X: Floats, power: Powers) -> Floats:
    """The columns divided by these powers of two."""
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(X, -power), dtype=float) if power.any() else X


def loses(X: Floats) -> int | None:
    """A column whose numbers are too far apart to be divided without losing digits; None if there is none."""
    power = powers_of(X)
    with np.errstate(under="ignore"):
        lost = (np.ldexp(divided(X, power), power) != X).any(axis=0)
    return int(np.flatnonzero(lost)[0]) if lost.any() else None


def inside(power: Powers, weights: Floats, intercept: float) -> tuple[Floats, float]:
    """A rule for the columns as they were given, as one for the divided ones, times a power of two."""
    every, shift = np.append(weights, intercept), np.append(power, 0)
    if not power.any() or not every.any() or not np.isfinite(every).all():
        return weights, intercept
    common = int((np.frexp(every)[1] + shift)[every != 0].max())
    with np.errstate(under="ignore"):
        made = np.ldexp(every, shift - common)
    return made[:-1], float(made[-1])


def outside(power: Powers, weights: Floats, intercept: float) -> tuple[Floats, float] | None:
    """A rule for the divided columns, as one for those that were given; times a power of two, where it must be.

    None if weights of such different sizes cannot be written down.
    """
    if not power.any():
        return weights, intercept
    every, shift = np.append(weights, intercept), -np.append(power, 0)
    there = every != 0
    sizes = np.frexp(every[there])[1] + shift[there]
    if not len(sizes):
        return weights, intercept
    sizes = np.append(sizes, np.frexp(np.abs(every).max())[1])  # scores are about as large as this
    common = -int((sizes.max() + sizes.min()) // 2)
    if sizes.max() + common > HIGHEST or sizes.min() + common < LOWEST:
        return None
    made = np.ldexp(every, np.where(there, shift + common, 0))
    return made[:-1], float(made[-1])
