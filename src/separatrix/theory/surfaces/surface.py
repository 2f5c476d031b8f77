"""J(θ₀, θ₁) on a grid, with its minima: the function that users call."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import SettingError
from ...losses.margin import MarginLoss
from ...numerics.arrays import Floats
from .line import Line
from .minima import Minimum, minima_on, minima_on_line
from .plane import NAMES, Criterion, NamedLoss, Plane, plane_of

WIDE = 4.0
"""Half the width of the range that is shown, in units of the data."""
ROOM = 1.6
"""It is at least this many times as far as the farthest minimum."""
MOST = 2001
"""The most points a side."""


@dataclass(frozen=True, eq=False)
class Slice:
    """t ↦ J with one of θ₀, θ₁ held, and its minima."""

    title: str
    fixed: str
    """The name of the one that is held."""
    at: float
    """The number that it is held at."""
    t: Floats
    """The other one."""
    values: Floats
    minima: tuple[Minimum, ...]


@dataclass(frozen=True, eq=False)
class Surface:
    """J(θ₀, θ₁): values[i, j] is J(theta0[i], theta1[j]); and the minima of J, whether or not they are grid points."""

    title: str
    """The name of the loss."""
    theta0: Floats
    """The grid points of θ₀."""
    theta1: Floats
    """The grid points of θ₁."""
    values: Floats
    """J at each of them, θ₀ down and θ₁ across."""
    minima: tuple[Minimum, ...]
    """Lowest first. Of a convex loss one; of the mistakes all cones in which they are fewest."""
    criterion: Criterion
    """J itself, as a function of θ."""

    def at(self, theta0: float, theta1: float) -> float:
        """J(θ₀, θ₁)."""
        return self.criterion.value(np.array([theta0, theta1], dtype=np.float64))

    def gradient(self, theta0: float, theta1: float) -> Floats:
        """∇J; at a kink one of its subgradients."""
        return self.criterion.derivatives(np.array([theta0, theta1], dtype=np.float64))[0]

    def hessian(self, theta0: float, theta1: float) -> Floats:
        """∇²J, where there is one."""
        return self.criterion.derivatives(np.array([theta0, theta1], dtype=np.float64))[1]

    def slice(
        self, *, theta0: float | None = None, theta1: float | None = None, over: Any = None, size: int = 401
    ) -> Slice:
        """t ↦ J(t, θ₁) or J(θ₀, t), with minima of its own.  [004 Example 4-5]

        They are found along the whole line, and the surface may fall on beside it. The curve is drawn over (low, high),
        or, with None, as far as its minima and the rows' changes of side reach.
        """
        if (theta0 is None) == (theta1 is None):
            raise SettingError(
                "theta0", theta0, "give theta0=… or theta1=…, and not both.", "slice() holds one of the two:"
            )
        held = 0 if theta0 is not None else 1
        number = _number("theta0" if held == 0 else "theta1", theta0 if held == 0 else theta1)
        point, direction = np.zeros(2), np.zeros(2)
        point[held], direction[1 - held] = number, 1.0
        line = Line(self.criterion, point, direction)
        minima = minima_on_line(line, 1 - held)
        t = _axis("over", over, _reach(line, minima, 1 - held), _size(size))
        return Slice(self.title, ("θ₀", "θ₁")[held], number, t, line.values(t), minima)

    def __str__(self) -> str:
        return "\n".join([f"{self.title} of {len(self.criterion.plane.Z)} rows", *(f"  {m}" for m in self.minima)])


def surface(
    loss: Any, X: Any, y: Any, *, theta0: Any = None, theta1: Any = None, size: int = 81, sample_weight: Any = None
) -> Surface:
    """J(θ₀, θ₁) = Σᵢ cᵢ φ(yᵢ rᵢ)/Σᵢ cᵢ, r = θ₀ + θ₁x, or r = θ₀x₁ + θ₁x₂ of two columns.  [004 Examples 4-2, 4-4, 4-5]

    The minima are found, not read off the grid. Mistakes: exactly, by sorting; they are cones, J₀₁(cθ) = J₀₁(θ) for
    c > 0. Hinge and perceptron: at the corner where folds meet. The others by Newton's steps: a convex loss from one
    start, and where `separability` says that rows are not separated there is a minimum to be found; the logistic
    squared error from every low point of this grid and of a mesh of directions and lengths, so that a valley narrower
    than both is missed. Where J falls for ever along a ray the minimum is "at infinity", and θ is a direction.

    Of the logistic squared error: with c → ∞, J(cθ) → 4·J₀₁(θ), if no row is zero in both columns; such a row costs 1
    wherever θ is. So its infimum is 4·min J₀₁ at most, and often that, at infinity: then a local minimum, or none, is
    all that a descent can find. Where rows of both classes share a place, a boundary that stays on it may be better:
    a rows of one and b of the other cost 4ab/(a + b) there.

    Along a slice far out a loss may be level as far as numbers can tell: then the minimum is a flat region. Values of
    the exponential loss are held where they would overflow; where it is least is found all the same.

    Parameters
    ----------
    loss : a loss of `separatrix.losses`, or one of the names
        "0-1", "squared" (MSE), "logistic-squared" (LMSE on the texts' scale: 4σ(−m)²), "log" (NLL), "perceptron",
        "hinge", "squared-hinge", "exponential". A loss that is given is taken as it is: LogisticSquared() is σ(−m)².
    X : rows of numbers
        Of one column, and θ₀ is the intercept; or of two, and there is none.
    y : labels of two classes
        The second in order is the positive one.
    theta0, theta1 : (low, high), an array of grid points, or None
        None is a range around 0 in units of the data, with all minima that are not at infinity inside it.
    size : int
        Points a side, where theta0 or theta1 is no array.
    sample_weight : array or None
        What each row counts.

    Examples
    --------
    >>> found = surface("log", [[-2.0], [-1.0], [0.5], [1.0], [2.0]], [0, 0, 1, 0, 1], size=41)
    >>> print(found)
    NLL of 5 rows
      minimum 0.404402 at θ = (-1.09854, 1.56549)
    """
    size = _size(size)
    criterion = Criterion(_named(loss), plane_of(X, y, sample_weight))
    minima = minima_on(criterion)
    box = _box(criterion.plane, minima)
    axes = (_axis("theta0", theta0, box[0], size), _axis("theta1", theta1, box[1], size))
    values = criterion.values(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2))
    values = values.reshape(len(axes[0]), len(axes[1]))
    if not criterion.loss.convex and not criterion.counts:
        minima = minima_on(criterion, axes, values)
    return Surface(criterion.named.title, *axes, values, minima, criterion)


def _named(loss: Any) -> NamedLoss:
    if isinstance(loss, MarginLoss):
        return NamedLoss(loss, 1.0, type(loss).__name__)
    if isinstance(loss, str) and loss in NAMES:
        return NAMES[loss]
    raise SettingError(
        "loss", loss, f"give one of {', '.join(map(repr, NAMES))}, or a loss of separatrix.losses such as Hinge()."
    )


def _size(size: Any) -> int:
    if not isinstance(size, numbers.Integral) or not 3 <= int(size) <= MOST:
        raise SettingError("size", size, f"a whole number from 3 to {MOST} of points a side is needed.")
    return int(size)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        raise SettingError(name, value, "a finite number is needed.")
    return float(value)


def _axis(name: str, given: Any, box: Any, size: int) -> Floats:
    if given is None:
        return np.linspace(box[0], box[1], size, dtype=np.float64)
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if (
        points.ndim != 1
        or not 2 <= len(points) <= MOST
        or not np.isfinite(points).all()
        or (np.diff(points) <= 0).any()
    ):
        raise SettingError(
            name, given, f"give (low, high), or up to {MOST} finite numbers, each larger than the one before."
        )
    return np.linspace(points[0], points[1], size) if len(points) == 2 else points


def _box(plane: Plane, minima: tuple[Minimum, ...]) -> Floats:
    """A range of each weight around zero: some units of the data, or more where a minimum lies farther out."""
    half = WIDE * np.abs(plane.whitening()).sum(axis=1)
    for found in minima:
        if found.cone is None and found.attained:
            half = np.maximum(half, ROOM * np.abs(found.theta))
    return np.column_stack([-half, half])


def _reach(line: Line, minima: tuple[Minimum, ...], moving: int) -> tuple[float, float]:
    t, _ = line.breaks()
    spots = np.concatenate([t, *(_ends(found, moving) for found in minima)])
    low, high = float(spots.min()), float(spots.max())
    pad = max(0.15 * (high - low), 2 / float(np.abs(line.rates).max()))
    return low - pad, high + pad


def _ends(found: Minimum, moving: int) -> Floats:
    ends = np.array(found.span if found.span is not None else [found.theta[moving]] if found.attained else [])
    return np.asarray(ends[np.isfinite(ends)])
