"""What a model made of binary classifiers claims: that each of them is what its own verdict says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from .verdict import Proof

WORST_FIRST = ("interrupted", "budget", "not-separable", "quasi-separated", "separated", "local", "optimal")


@dataclass(frozen=True, eq=False)
class ReductionClaim:
    """Classifier l, taught the rows of the classes with Mₖₗ ≠ 0 under their signs, ended as `members[l]` says."""

    classes: tuple[Any, ...]
    """Of overlapping labels, the labels."""
    code: NDArray[np.int8] | None
    """M, K × L of −1, 0 and +1; None for overlapping labels, where y has a column for each."""
    members: tuple[Any, ...]
    """The verdict of each classifier; None where it has none."""
    rows: int
    weights: Floats | None = None
    """Where the classifiers are linear and the largest of K scores decides: K × columns, made of theirs."""
    intercept: Floats | None = None
    summed: bool = True
    """Whether the score of class k is Σₗ Mₖₗsₗ; else that of its own classifier, zero where it has none."""
    constants: tuple[tuple[int, bool], ...] = ()
    """Of overlapping labels: those that all rows that count have, or none; their places, and which of the two."""
    objective: str = "members"
    """Or "mistakes", where every classifier only counts these."""


@dataclass(frozen=True)
class Members(Proof):
    """A proof for each classifier: the claim's `members` hold them."""

    statuses: tuple[str, ...]


def worst(statuses: tuple[str, ...]) -> str:
    """The status of the whole: that of the member that came least far."""
    return min(statuses, key=WORST_FIRST.index, default="optimal")
