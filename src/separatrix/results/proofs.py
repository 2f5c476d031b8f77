"""What proves a verdict: bounds on the distance to a minimum, a rule that separates, cuts that every rule pays for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats


class Proof:
    """What proves a verdict."""


@dataclass(frozen=True)
class Optimality(Proof):
    """ρν < 1 proves that the minimum exists; the rest bounds how far away it is."""

    nu: float
    rho: float
    gap: float
    """Bound on the mean loss above its minimum."""
    relative_gap: float
    distance: float
    """Bound on the distance to the minimum, in the norm of the Hessian's part that was used."""
    coefficients: Floats
    """Bound on the error of each coefficient: the weights in order, then the intercept."""
    share: float
    """The part of the rows whose Hessian was used."""
    witness: Floats | None = None
    """For many columns: u with Hu ≈ g in the user's units, classes × (weights, then the intercept); of two classes one
    row."""
    sample: NDArray[np.intp] | None = None
    """Whose Hessian was used: pairs of places, from the first of some rows to the one after the last; None: all."""


@dataclass(frozen=True)
class Locality(Proof):
    """2qν < 1 proves that a local minimum exists nearby: the curvature there is positive and changes slowly."""

    nu: float
    rho: float
    gap: float
    """Bound on the mean loss above that minimum."""
    relative_gap: float
    distance: float
    """Bound on the distance to that minimum, in the norm of the Hessian."""
    coefficients: Floats
    """Bound on the error of each coefficient: the weights in order, then the intercept."""


@dataclass(frozen=True)
class PenalisedLocality(Locality):
    """A local minimum of F = −ℓ*/C, ℓ* = ℓ + ½ log|A| Firth's penalised likelihood; the relative gap in units of −ℓ/C.

    The bounds are those of Firth's own maximum, the last that of its own intercept.
    """

    mean_loss: float
    """−ℓ/C: the mean loss without the penalty, C = Σᵢcᵢ."""
    log_determinant: float
    """log|A|, A = Σᵢ cᵢpᵢ(1 − pᵢ) xᵢxᵢᵀ of the columns that are not aliased, and a one, in the user's units."""
    intercept: float
    """Firth's own; the claim's is another where it was fitted again (FLIC)."""


@dataclass(frozen=True)
class Separation(Proof):
    """Weights that give every row that counts a higher score for its own class than for any other."""

    weights: Floats
    intercept: Any
    margin: float
    """The distance of the nearest row from the boundary: with two classes the least yᵢ(xᵢᵀw + b)/‖w‖."""


@dataclass(frozen=True)
class Limit(Proof):
    """Where the likelihood goes as the weights grow along the direction u that separates some rows, w = v + tu, t → ∞.

    A row that u separates from a class has no probability of that class in the limit. What is left is the likelihood of
    v, on each row among the classes whose scores are equal under u: it has a maximum, and ρν < 1 proves where. v is
    determined up to the directions that are zero on all such rows; what stays finite does not depend on them.
    """

    weights: Floats
    """v; of K classes K × columns, zero for the last."""
    intercept: Any
    value: float
    """The mean loss in the limit, over all rows."""
    deviance: float
    """2 Σᵢ cᵢ ℓᵢ in the limit, cᵢ the costs of the rows."""
    nu: float
    rho: float
    gap: float
    """Bound on the mean loss of v above its minimum."""
    relative_gap: float
    distance: float
    """Bound on the distance to the minimum, in the norm of the Hessian."""
    coefficients: Floats
    """Bound on the error of each coefficient that stays finite, infinite for the others: the weights in order, then the
    intercept; of K classes K × that."""


@dataclass(frozen=True)
class Margin(Proof):
    """lower ≤ γ ≤ upper: the margin of the weights on all rows, and what no rule can exceed.

    Below: half the gap between the classes along w, over ‖w‖, so that the best intercept is meant; the rule's own is
    that one to its last digit. Where the intercept is in the norm, or there is none, minᵢ yᵢxᵢᵀw/‖w‖. Above: the length
    of a convex combination of signed rows; with a free intercept, half the distance of one of each class.
    """

    lower: float
    upper: float
    rows: NDArray[np.intp]
    """The rows of X that carry the weights."""
    multipliers: Floats
    """λ > 0, Σλ = 1, with a free intercept ½ in each class: the convex combination Σᵢ λᵢyᵢxᵢ, which is γ²w⋆. The dual's
    own multipliers are α = λ/γ²."""
    gap: float
    """½/lower² − ½/upper²: ½‖w‖² at least margin 1, less the dual Σα − ½‖Σαᵢyᵢxᵢ‖²."""
    relative_gap: float
    """1 − (lower/upper)²: the gap in units of ½‖w‖²."""


@dataclass(frozen=True)
class KernelSeparation(Proof):
    """Every row's own class has a higher score than any other, by `margin` times the length of the weights or more."""

    margin: float
    """minᵢ yᵢ s(xᵢ)/‖w‖, ‖w‖² = αᵀKα; of K classes min over the other classes of (s_y − sₖ)/‖w_y − wₖ‖."""
    length: float
    """‖w‖ in the space of the features; of K classes that of all K together."""


@dataclass(frozen=True)
class Estimates(Proof):
    """The parameters are the ones that the rows give, to within `error` of their own size: no search was needed."""

    error: float


@dataclass(frozen=True)
class Members(Proof):
    """A proof for each classifier: the claim's `members` hold them."""

    statuses: tuple[str, ...]


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
