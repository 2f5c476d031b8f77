"""What a fit claims, for each kind of learner: what was minimised or counted, where it ended, on how many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats


@dataclass(frozen=True)
class Claim:
    """What was minimised and where the fit ended: all that is needed to check it."""

    classes: tuple[Any, ...]
    columns: tuple[str, ...]
    weights: Floats
    """For two classes one a column; for K classes K × columns."""
    intercept: Any
    fit_intercept: bool
    l2: float
    class_weight: tuple[float, ...]
    value: float
    """The mean loss, the penalty included, at the weights; of a margin ½‖w‖², b in the norm if it is lifted."""
    rows: int
    objective: str = "likelihood"
    """Or "squared": the mean of (y − p)², and of ‖y − p‖² for more than two classes. Or "margin": ½‖w‖² with every row
    on its own side, y(xᵀw + b) ≥ 1; "lifted margin": ½(‖w‖² + b²). Or "mistakes": the part of the rows whose class is
    not predicted. Or "least squares": the mean of ‖t − Wx − b‖², t one of K, or ±1 of two classes. Or "firth": minus
    Firth's penalised likelihood over C = Σᵢcᵢ; "flic": the same at Firth's own intercept, the claim's fitted again.
    Or "zero-one": the part of the costs that mistakes are, the least of any rule. Or "exponential", the mean of e⁻ᵐ of
    the margins, or "squared-hinge", that of [1 − m]₊²."""
    soft: bool = False
    """Whether the targets were probabilities: of the second class, or a row of them for every class."""
    features: Any = None
    """What the columns are of X, where they are not its own: for each map in its order, its kind and its numbers."""

    @property
    def of_likelihood(self) -> bool:
        """Whether what was minimised is minus a likelihood, with a penalty or without."""
        return self.objective in ("likelihood", "firth", "flic")


@dataclass(frozen=True, eq=False)
class KernelClaim:
    """s(x) = Σⱼ αⱼ (k(xⱼ, x) + 1) errs on this part of the rows; without an intercept there is no + 1.

    The rows xⱼ are named by their places in the rows that were learnt from: the check finds them there.
    """

    classes: tuple[Any, ...]
    kernel: Any
    """k(A, B) of two sets of rows or objects: len(A) × len(B) numbers. None where X holds these numbers itself."""
    support: NDArray[np.intp]
    coefficients: Floats
    """α: of two classes one for each row of the support, of K classes K × that."""
    fit_intercept: bool
    value: float
    """The part of the rows whose class is not predicted."""
    rows: int
    objective: str = "mistakes"
    tabular: bool = True
    """Whether X is a table of numbers, not a list of objects."""


@dataclass(frozen=True, eq=False)
class JointClaim:
    """What was minimised over θ, the scores being s_c = θ·Φ(x, c), and where the fit ended."""

    classes: tuple[Any, ...]
    feature_map: Any
    """Φ(X, c): rows × features for each class c."""
    weights: Floats
    """θ."""
    l2: float
    value: float
    """The mean loss, the penalty included; of mistakes the part of the rows whose class is not predicted."""
    rows: int
    objective: str = "likelihood"
    """Or "squared", the mean of ‖y − p‖²; or "mistakes"."""
    free: tuple[int, ...] = ()
    """The features that the penalty leaves alone."""
    class_weight: tuple[float, ...] = ()
    """Factors on the costs of the rows of each class; none: all one."""
    soft: bool = False
    """Whether the targets were probabilities."""
    tabular: bool = True
    """Whether the map is given rows of numbers; else the objects as they are."""


@dataclass(frozen=True, eq=False)
class EstimateClaim:
    """The parameters of a generative model, each a formula of the rows: the check computes them again."""

    model: str
    """Which formulas: "naive Bayes" or "Gaussian discriminant"."""
    classes: tuple[Any, ...]
    columns: tuple[str, ...]
    parameters: Mapping[str, Any]
    """By name: arrays, a row for each class where there is one for each."""
    settings: Mapping[str, Any]
    """What was chosen: families, smoothing, priors, shrinkage."""
    rows: int
    objective: str = "estimates"


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
