"""What a fit can say for itself: how it ended, why, what proves it, what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats

STATUSES = ("optimal", "local", "separated", "quasi-separated", "not-separable", "budget", "interrupted")


class Rank(NamedTuple):
    """The rank of the columns (the intercept's counted), of how many, and which are combinations of others.

    The rank is None where a fit was stopped before it was settled, or does not depend on it.
    """

    rank: int | None
    of: int
    aliased: tuple[str, ...]


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
    """The same for F = −ℓ*/C, ℓ* = ℓ + ½ log|A| Firth's penalised likelihood; the relative gap is in units of −ℓ/C.

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
    Or "zero-one": the part of the costs that mistakes are, the least of any rule."""
    soft: bool = False
    """Whether the targets were probabilities: of the second class, or a row of them for every class."""
    features: Any = None
    """What the columns are of X, where they are not its own: for each map in its order, its kind and its numbers."""


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


@dataclass(frozen=True)
class KernelSeparation(Proof):
    """Every row's own class has a higher score than any other, by `margin` times the length of the weights or more."""

    margin: float
    """minᵢ yᵢ s(xᵢ)/‖w‖, ‖w‖² = αᵀKα; of K classes min over the other classes of (s_y − sₖ)/‖w_y − wₖ‖."""
    length: float
    """‖w‖ in the space of the features; of K classes that of all K together."""


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


@dataclass(frozen=True)
class Estimates(Proof):
    """The parameters are the ones that the rows give, to within `error` of their own size: no search was needed."""

    error: float


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


@dataclass(frozen=True)
class Verdict:
    """How a fit ended. `str(verdict)` says it in sentences; `verdict.check(X, y)` recomputes what it claims."""

    status: str
    """One of seven words: optimal, local, separated, quasi-separated, not-separable, budget, interrupted."""
    rank: Rank
    """The rank of the columns, and which of them are combinations of others: `rank.aliased`."""
    certificate: Proof | None
    """The numbers that prove it; None where nothing is proved."""
    cause: str
    """What was reached, and what stood in the way, in sentences."""
    remedy: str
    """What to do about it, where there is something to do."""
    claim: Any = field(repr=False)
    """A `Claim`; of an expansion in kernels a `KernelClaim`, of joint features a `JointClaim`, of a generative
    model an `EstimateClaim`."""
    separability: Any = field(default=None, repr=False)
    """Where maximum likelihood has no finite answer: the `Separability` that says which rows and columns are why."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is {self.status!r}; it must be one of {', '.join(STATUSES)}.")

    @property
    def ok(self) -> bool:
        """Whether the fit reached what it set out for."""
        return self.status in ("optimal", "local") or (
            self.status == "separated" and self.claim.objective == "mistakes"  # there it is the goal, not an obstacle
        )

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> bool:
        """Recompute the claim from the data and the weights alone, by code that shares nothing with the solver."""
        from ..audit.check import audit  # at need: it reads verdicts, and shares nothing else

        return bool(audit(self, X, y, sample_weight))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        kind = type(self.certificate).__name__.lower() if self.certificate else None
        return {
            "status": self.status,
            "ok": self.ok,
            "rank": {"rank": self.rank.rank, "of": self.rank.of, "aliased": list(self.rank.aliased)},
            "certificate": {"kind": kind, **plain(self.certificate)} if kind else None,
            "cause": self.cause,
            "remedy": self.remedy,
            "claim": plain(self.claim),
            "separability": plain(self.separability) if self.separability is not None else None,
        }

    def __str__(self) -> str:
        sentences = [self.cause, self._alias_sentence(), self.remedy]
        return " ".join(sentence for sentence in sentences if sentence)

    def _alias_sentence(self) -> str:
        if not self.rank.aliased:
            return ""
        names = listed(self.rank.aliased)
        verb = "is a combination" if len(self.rank.aliased) == 1 else "are combinations"
        made = isinstance(self.claim, JointClaim) or getattr(self.claim, "features", None) is not None
        what = "features" if made else "columns"
        return f"The {what} have rank {self.rank.rank} of {self.rank.of}: {names} {verb} of the others."


def listed(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """a, b and c; after `most` names, how many more."""
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def plain(record: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain numbers, strings, lists and dictionaries."""
    return {entry.name: plain_value(getattr(record, entry.name)) for entry in fields(record)}


def plain_value(value: Any) -> Any:
    """A value as JSON can hold it."""
    if callable(value) and not isinstance(value, type):
        return repr(value) if is_dataclass(value) else getattr(value, "__qualname__", type(value).__name__)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return [plain_value(each) for each in value.tolist()]
    if isinstance(value, tuple | list):
        return [plain_value(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    return (value if math.isfinite(value) else None) if isinstance(value, float) else str(value)
