"""What proves that no linear rule makes fewer mistakes."""

from __future__ import annotations

from dataclasses import dataclass

from .verdict import Proof

PARTS = 1 << 20
"""Into so many parts the unit of the costs is divided in a packing.

The unit is the largest power of two, at most one, of which all costs are multiples.
"""


@dataclass(frozen=True)
class Cut:
    """Σᵢ λᵢyᵢ(xᵢ, 1) = 0 with λ > 0 and a row of the second class among them: no rule gets all of these rows right.

    Without an intercept it is Σᵢ λᵢyᵢxᵢ = 0. A rule that is right on all of them has a sum that is positive.
    """

    rows: tuple[int, ...]
    """Rows of X; of rows that are equal, the first."""
    multipliers: tuple[int, ...]
    """λ, whole numbers: the sum is zero in exact arithmetic."""


@dataclass(frozen=True)
class Leaf:
    """Σₖ uₖ ≤ what a rule must pay, where the uₖ of all cuts that hold a row are together no more than its cost.

    Where branching has decided rows: what the wrong ones cost is added, cuts that hold one of them are not counted, and
    the costs of the right ones do not limit u.
    """

    cuts: tuple[int, ...]
    parts: tuple[int, ...]
    """uₖ in parts of the unit, 2²⁰ each."""


@dataclass(frozen=True)
class Fork:
    """A row is right, or it is wrong: the places in `nodes` of the two cases."""

    row: int
    right: int
    wrong: int


@dataclass(frozen=True)
class FewestMistakes(Proof):
    """lower ≤ the least cost of the mistakes of any linear rule ≤ upper, which is what the rule that was kept makes.

    By cuts, of costs that are not whole: both are upper, if what was proved is within 10⁻⁹ of the least cost of a row.
    """

    lower: float
    upper: float


@dataclass(frozen=True)
class Enumeration(FewestMistakes):
    """All ways to divide the rows by a rule were counted: so many columns are not combinations of these."""

    columns: tuple[int, ...]
    """One or two columns of X; all others are combinations of them, and of a constant where there is an intercept."""


@dataclass(frozen=True)
class Covering(FewestMistakes):
    """Every rule errs on a row of each cut; what that costs at the least is bounded in each case of the branching."""

    cuts: tuple[Cut, ...]
    nodes: tuple[Fork | Leaf, ...]
    """A tree; the first is its root."""
