"""The perceptron's theory, number by number: what is a mistake, what a step does, why there cannot be many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..fitting.scan.perceptron import TIES
from ..numerics.arrays import Floats
from ..numerics.functions import sigmoid

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda z: z,
    "logistic": sigmoid,
    "step": lambda z: np.where(np.asarray(z) > 0, 1.0, 0.0)[()],
}
"""f of the delta rule, by name."""


def is_mistake(y: int, z: float, ties: str = "mistake") -> bool:
    """y ≠ f(z), f(z) = +1 if z > 0 and −1 if z < 0; at zero +1 ("positive"), −1 ("negative"), or never y.  [000 8.12]

    "positive" is the rule of 000 and 003, "negative" that of 004, "mistake" that of 001.

    >>> [is_mistake(1, 0.0, ties) for ties in ("mistake", "positive", "negative")]
    [True, False, True]
    """
    if z == 0:
        return TIES[ties][1 if y > 0 else 0]
    return (z > 0) != (y > 0)


def criterion(w: Floats, X: Floats, y: Floats) -> float:
    """L_P(w) = −Σ yᵢxᵢᵀw over the rows that are wrong: Σᵢ [−yᵢxᵢᵀw]₊.  [003 slide 22]

    A step mends its own row, and may spoil others: L_P may rise.
    """
    return float(np.maximum(0.0, -np.asarray(y) * (np.asarray(X) @ w)).sum())


def delta_step(w: Floats, x: Floats, t: float, rate: float, activation: str) -> Floats:
    """w ← w − α(f(xᵀw) − t)x, f the identity, σ or the step 1[z > 0].  [003 slide 31; 004 §4.2]

    Least squares, logistic regression and the perceptron learn by one rule, and differ in f alone. With targets t = 0
    and 1 the step's is the perceptron's, ηyx at a mistake; with −1, 1 and the sign as f it would be twice as long.
    """
    f = ACTIVATIONS[activation]
    return np.asarray(w - rate * (f(float(x @ w)) - t) * x)


def cosine(u: Floats, w: Floats) -> float:
    """cos(u, w) = uᵀw/(‖u‖‖w‖).  [000 8.14]"""
    return float(u @ w) / float(np.linalg.norm(u) * np.linalg.norm(w))


def progress(u: Floats, moved_by: Floats) -> Floats:
    """uᵀw⁽ˡ⁾ = Σ uᵀ(yx) ≥ ℓγ after each mistake, from w = 0, u of unit length: it grows at least as ℓ.  [000 8.15]"""
    return np.cumsum(moved_by @ u)


def length(moved_by: Floats) -> Floats:
    """‖w⁽ˡ⁾‖ ≤ √Σ‖x‖² ≤ √ℓ R after each mistake, from w = 0: it grows at most as √ℓ.  [000 8.16]"""
    return np.asarray(np.linalg.norm(np.cumsum(moved_by, axis=0), axis=1))


class Chain(NamedTuple):
    """ℓγ ≤ uᵀw⁽ˡ⁾ ≤ ‖w⁽ˡ⁾‖ ≤ √ℓ R, mistake by mistake: two lines that cross at ℓ = (R/γ)².  [000 §8.2; 001 slide 23]"""

    least: Floats
    progress: Floats
    length: Floats
    most: Floats


def chain(u: Floats, moved_by: Floats, gamma: float, R: float) -> Chain:
    """The chain of the proof for yx of every mistake, in order, a row each; in the lifted space, if there is one."""
    count = np.arange(1, len(moved_by) + 1)
    unit = u / np.linalg.norm(u)
    return Chain(gamma * count.astype(float), progress(unit, moved_by), length(moved_by), R * np.sqrt(count))
