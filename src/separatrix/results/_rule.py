"""What a LinearRule is made of: its fields checked, the nearest boundary of K classes, a weighted sum as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats

UNNAMED = tuple(range(2))  # an object of its own: `is` tells classes that were left out from a (0, 1) that was given


def checked_intercept(intercept: Any, weights: Floats) -> Any:
    """One number; for a matrix a read-only array of K, for which a plain 0, the default, may stand."""
    if weights.ndim == 1:
        if not isinstance(intercept, float) and np.size(intercept) != 1:
            raise ValueError(
                f"intercept is {intercept!r}; one row of weights has one: give a number, or a K×d matrix of weights."
            )
        return intercept
    left_out = np.ndim(intercept) == 0 and intercept == 0
    found = np.zeros(len(weights)) if left_out else np.array(intercept, dtype=np.float64)
    if found.shape != (len(weights),):
        raise ValueError(f"intercept is {intercept!r}; give {len(weights)} numbers, one for each row of weights.")
    found.setflags(write=False)
    return found


def checked_classes(classes: Sequence[Any], weights: Floats) -> tuple[Any, ...]:
    """Two classes; for a matrix K different ones, 0 to K − 1 where they were left out."""
    if weights.ndim == 1:
        if len(classes) != 2:
            raise ValueError(
                f"classes are {classes!r}; a rule with one row of weights tells two of them apart: "
                "give two, or a K×d matrix of weights."
            )
        return tuple(classes)
    found = tuple(range(len(weights)) if classes is UNNAMED else classes)
    if len(found) != len(weights):
        raise ValueError(f"classes are {classes!r}; give {len(weights)} of them, one for each row of weights.")
    if len(set(found)) < len(found):
        raise ValueError(f"classes are {classes!r}; one is there twice: give each row of weights its own.")
    return found


class Nearest(NamedTuple):
    """For each row: its class, the class across the nearest boundary, and the distance to that boundary."""

    winner: NDArray[np.intp]
    rival: NDArray[np.intp]
    distance: Floats


def nearest_boundary(z: Floats, W: Floats, what: str) -> Nearest:
    """min over k ≠ ŷ of (z_ŷ − zₖ)/‖w_ŷ − wₖ‖, where ŷ = argmaxₖ zₖ.

    The nearest of the K − 1 hyperplanes does bound the region, though others may not: the ball around x that touches it
    crosses none of them. Two classes with equal weights have no boundary between them. One winner is taken at a time,
    so that the K×K×d differences of the weights never exist together.
    """
    winner = z.argmax(axis=1)
    rival, distance = np.empty_like(winner), np.empty(len(z))
    for k in np.unique(winner):
        lengths = np.linalg.norm(W[k] - W, axis=1)
        others = np.flatnonzero(lengths)
        if not others.size:
            raise ValueError(f"All classes have the same weights: there is no boundary, hence no {what}.")
        rows = np.flatnonzero(winner == k)
        gaps = (z[rows, k, None] - z[np.ix_(rows, others)]) / lengths[others]
        rival[rows], distance[rows] = others[gaps.argmin(axis=1)], gaps.min(axis=1)
    return Nearest(winner, rival, distance)


def sum_as_text(weights: Floats, intercept: float, columns: Sequence[str], digits: int) -> str:
    """3·height + 4·width − 5, zeros left out."""
    terms = [(w, f"·{name}") for w, name in zip(weights, columns, strict=True) if w]
    terms += [(intercept, "")] if intercept or not terms else []
    text = "".join(f" {'−' if w < 0 else '+'} {abs(w):.{digits}g}{name}" for w, name in terms)
    return text.replace(" − ", "−", 1) if text.startswith(" −") else text[3:]
