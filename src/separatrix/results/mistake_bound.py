"""How many mistakes a perceptron can make: the bound in numbers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from ..data import Sparse
from ..numerics.arrays import Floats

NUMBERS = 1 << 20
"""Numbers of X that are looked at together."""


class MistakeBound(NamedTuple):
    """made ≤ bound = ((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ), over T passes."""

    R: float
    """The length of the longest row, in the lifted space if there is an intercept."""
    gamma: float
    """The margin that u is held to."""
    D: float
    """√Σᵢdᵢ², dᵢ = max(0, γ − yᵢuᵀxᵢ): how far the rows of one pass fall short of it together."""
    bound: float
    """What the theorem allows."""
    made: int
    """The mistakes that were made."""


def mistake_bound(leads: Floats, R: float, times: Any, start: float, rate: float, made: int) -> MistakeBound:
    """The bound of a unit direction from the leads yᵢuᵀxᵢ it gives the rows, each of which came so many `times`.

    If all leads are positive, γ is the least of them, and D = 0. Else γ is what makes the bound least. `start` is ‖w₀‖.
    [001 slides 22, 25]
    """
    least = float(leads.min())
    if least > 0:
        return MistakeBound(R, least, 0.0, bound_at(leads, R, least, times, start, rate), made)
    top = float(leads.max())
    if not top > 0:  # no row at all is on its side
        return MistakeBound(R, math.nan, math.nan, math.inf, made)
    trials = np.geomspace(1e-3 * top, 1e3 * max(top, R), 61)
    values = [bound_at(leads, R, gamma, times, start, rate) for gamma in trials]
    k = int(np.argmin(values))
    near = trials[max(k - 1, 0)], trials[min(k + 1, 60)]
    low, high = math.log(near[0]), math.log(near[1])
    found = minimize_scalar(
        lambda log: bound_at(leads, R, math.exp(log), times, start, rate), bounds=(low, high), method="bounded"
    )
    gamma = math.exp(found.x) if found.fun < values[k] else float(trials[k])
    return MistakeBound(R, gamma, shortfall(leads, gamma), bound_at(leads, R, gamma, times, start, rate), made)


def shortfall(leads: Floats, gamma: Any) -> float:
    """D = √Σᵢ max(0, γ − yᵢuᵀxᵢ)²."""
    return float(np.linalg.norm(np.maximum(0.0, gamma - leads)))


def bound_at(leads: Floats, R: float, gamma: float, times: Any, start: float, rate: float) -> float:
    """((R + √T D)/γ)² + 2‖w₀‖√(1 + √T D/R)/(ηγ): a row that comes T times falls short T times, and the squares add up.

    A start w₀ ≠ 0 costs what it takes to turn it round: (ηkγ − ‖w₀‖)² ≤ ‖w₀‖² + kη²R².
    """
    D = shortfall(np.sqrt(times) * leads, np.sqrt(times) * gamma)
    turned = 2 * start * math.sqrt(1 + D / R) / (rate * gamma) if R > 0 else 0.0
    return ((R + D) / gamma) ** 2 + turned


def longest(X: Any, lifted: bool) -> float:
    """max ‖x‖, or max ‖(x, 1)‖."""
    largest = 0.0
    for rows in blocks(X):
        here = X[rows]
        squares = here.squares() if isinstance(here, Sparse) else np.einsum("ij,ij->i", here, here, dtype=np.float64)
        largest = max(largest, float(squares.max(initial=0.0)))
    return math.sqrt(largest + lifted)


def leads_of(X: Any, target: Any, U: Floats, lifted: bool) -> Floats:
    """yᵢuᵀxᵢ of each row; of K classes the least uᵧᵀxᵢ − uₖᵀxᵢ over the others. U has the intercepts last, if any."""
    found = []
    for rows in blocks(X):
        s = X[rows] @ U[:, : X.shape[1]].T + (U[:, -1] if lifted else 0.0)
        own = target[rows]
        if len(U) == 1:
            found.append(np.where(own == 1, s[:, 0], -s[:, 0]))
            continue
        mine = np.take_along_axis(s, own[:, None], 1)
        np.put_along_axis(s, own[:, None], -math.inf, 1)
        found.append(mine[:, 0] - s.max(axis=1))
    return np.concatenate(found)


def blocks(X: Any) -> list[slice]:
    """The rows, some at a time."""
    numbers = X.size / max(1, len(X)) if isinstance(X, Sparse) else X.shape[1]
    step = max(1, int(NUMBERS / max(1.0, numbers)))
    return [slice(lo, min(lo + step, len(X))) for lo in range(0, len(X), step)]
