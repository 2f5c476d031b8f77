"""J(θ₀, θ₁) = Σᵢ cᵢ φ(yᵢ zᵢᵀθ)/Σᵢ cᵢ, its gradient and its curvature, in blocks of rows and of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...losses.margin import (
    Exponential,
    Hinge,
    LogisticSquared,
    LogLikelihood,
    MarginLoss,
    Perceptron,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from ...numerics.arrays import Floats
from ..surrogates import check_finite, shares

BLOCK = 1 << 19
"""Margins computed at a time: 4 MiB."""


class NamedLoss(NamedTuple):
    """A loss, how many times it the texts count, and what it is called."""

    loss: MarginLoss
    times: float
    title: str


NAMES = {
    "0-1": NamedLoss(ZeroOne(), 1.0, "0-1"),
    "squared": NamedLoss(Squared(), 1.0, "MSE"),
    "logistic-squared": NamedLoss(LogisticSquared(), 4.0, "LMSE"),
    "log": NamedLoss(LogLikelihood(), 1.0, "NLL"),
    "perceptron": NamedLoss(Perceptron(), 1.0, "perceptron"),
    "hinge": NamedLoss(Hinge(), 1.0, "hinge"),
    "squared-hinge": NamedLoss(SquaredHinge(), 1.0, "squared hinge"),
    "exponential": NamedLoss(Exponential(), 1.0, "exponential"),
}
"""The losses of which a surface can be asked for by name."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Rows z of two numbers, (1, x) or (x₁, x₂), their signs and what each counts."""

    Z: Floats
    sign: Floats
    """+1 for the second class, −1 for the first."""
    weight: Floats
    """As given: whole numbers stay whole, so that equal sums are equal. Rows of weight zero are not here.

    Very large ones, and those that are all less than a half, are divided by a power of two, which leaves J as it is.
    """
    lifted: bool
    """Whether z = (1, x)."""
    classes: tuple[Any, Any]

    @property
    def total(self) -> float:
        """Σc."""
        return float(self.weight.sum())

    def only(self, rows: NDArray[np.bool_]) -> Plane:
        """Some of the rows."""
        return Plane(self.Z[rows], self.sign[rows], self.weight[rows], self.lifted, self.classes)

    def in_units(self) -> tuple[Plane, Floats]:
        """z/u and u: each column divided by a power of two, so that its largest is from 1 to 2; no digit changes."""
        u = np.ldexp(1.0, np.frexp(np.abs(self.Z).max(axis=0))[1] - 1)
        return Plane(self.Z / u, self.sign, self.weight, self.lifted, self.classes), u

    def whitening(self) -> Floats:
        """T with θ = Tφ, such that the columns of ZT have mean square one, and of (1, x) no covariance."""
        share = self.weight / self.total
        if not self.lifted:
            return np.diag(1 / np.sqrt(share @ np.square(self.Z)))
        x = self.Z[:, 1]
        mean = share @ x
        spread = np.sqrt(share @ np.square(x - mean))
        return np.array([[1.0, -mean / spread], [0.0, 1 / spread]])

    def whitened(self) -> tuple[Plane, Floats]:
        """Rows of (z₁/s₁, (z₂ − ρz₁)/s₂), of mean square one and no covariance, and T with Zθ = (ZT)φ, θ = Tφ.

        They are computed one by one and not as ZT, so that equal rows stay equal and an offset costs no digits.
        """
        share = self.weight / self.total
        first, second = self.Z.T
        s1 = np.sqrt(share @ np.square(first))
        rho = (share * (first / s1)) @ (second / s1)
        rest = second - rho * first
        s2 = np.sqrt(share @ np.square(rest))
        if not (s1 > 0 and s2 > 0):
            return self, np.eye(2)
        T = np.array([[1 / s1, -rho / s2], [0.0, 1 / s2]])
        return Plane(np.column_stack([first / s1, rest / s2]), self.sign, self.weight, False, self.classes), T


@dataclass(frozen=True, eq=False)
class Criterion:
    """θ ↦ times · Σᵢ cᵢ φ(yᵢ zᵢᵀθ)/Σᵢ cᵢ."""

    named: NamedLoss
    plane: Plane

    @property
    def loss(self) -> MarginLoss:
        """φ."""
        return self.named.loss

    @property
    def endless(self) -> bool:
        """Whether φ falls for ever, so that its infimum may not be attained."""
        return bool(self.loss.slope(np.float64(30.0)) < 0)

    @property
    def counts(self) -> bool:
        """Whether it counts mistakes."""
        return isinstance(self.loss, ZeroOne)

    @property
    def polyhedral(self) -> bool:
        """Whether φ = [κ − m]₊, made of two straight pieces."""
        return isinstance(self.loss, Hinge | Perceptron)

    def values(self, thetas: Floats) -> Floats:
        """J at each of m×2 points."""
        found = np.zeros(len(thetas))
        for rows in self._blocks(len(thetas)):
            wide = max(1, BLOCK // (rows.stop - rows.start))
            for i in range(0, len(thetas), wide):
                found[i : i + wide] += self._cost(thetas[i : i + wide], rows)
        return self.named.times * found

    def value(self, theta: Floats) -> float:
        """J(θ)."""
        return float(self.values(theta[None])[0])

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats]:
        """∇J = Σ c φ′ y z and ∇²J = Σ c φ″ zzᵀ, over Σc."""
        gradient, hessian = np.zeros(2), np.zeros((2, 2))
        for rows in self._blocks(1):
            V, c = self.plane.sign[rows, None] * self.plane.Z[rows], self.plane.weight[rows]
            m = V @ theta
            gradient += (c * self.loss.slope(m)) @ V
            hessian += (V.T * (c * self.loss.curvature(m))) @ V
        times = self.named.times / self.plane.total
        return times * gradient, times * hessian

    def _cost(self, thetas: Floats, rows: slice) -> Floats:
        """Σ over some rows of c φ/Σ c at some points; a mistake is ŷ ≠ y, with ŷ = +1 iff the score is > 0."""
        Z = self.plane.Z[rows]
        scores = thetas[:, :1] * Z[:, 0] + thetas[:, 1:] * Z[:, 1]  # a product of such thin matrices is no faster
        sign, c = self.plane.sign[rows], self.plane.weight[rows]
        if self.counts:
            return np.asarray(((scores > 0) != (sign > 0)) @ c / self.plane.total)
        with np.errstate(over="ignore"):
            costs = self.loss.value(scores * sign)
        return np.asarray(costs @ (c / self.plane.total))  # a mean, since a sum of values that are held may overflow

    def _blocks(self, points: int) -> list[slice]:
        long = max(1024, BLOCK // max(1, points))
        n = len(self.plane.Z)
        return [slice(i, min(n, i + long)) for i in range(0, n, long)]


LEAST = 1e-100
"""The least size of a column: squares, and products of squares, must not underflow."""
MOST = 1e100
"""The largest size of a column: they must not overflow."""
WHOLE = 2.0**40
"""Weights up to this one are not scaled: sums of whole numbers are then exact."""
LIGHTEST = 1e-100
"""The smallest weight of a row, as a part of the largest."""


def plane_of(X: Any, y: Any, sample_weight: Any) -> Plane:
    """z = (1, x) or (x₁, x₂), signs and weights; rows of weight zero left out."""
    try:
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"must hold numbers; it holds something else. ({error})", array="X") from None
    if rows.ndim != 2 or rows.shape[1] not in (1, 2) or not len(rows):
        raise DataError(
            f"has shape {rows.shape}; a surface needs rows of one column, for an intercept and a weight, or of two, "
            "for two weights. Pass the columns that you want to see: X[:, [j]].",
            array="X",
        )
    check_finite(rows)
    weight = _weights(sample_weight, len(rows))
    counts = weight > 0
    classes, place = _labels(y, counts)
    _check_sizes(rows[counts])
    lifted = rows.shape[1] == 1
    Z = np.column_stack([np.ones(len(rows)), rows]) if lifted else rows
    plane = Plane(Z[counts], 2.0 * place[counts] - 1, weight[counts], lifted, classes)
    _check_two_directions(plane)
    return plane


def _check_sizes(rows: Any) -> None:
    """Names a column whose numbers, or of a single one whose differences, are too large or too small to be squared."""
    centre = rows[0] if rows.shape[1] == 1 and np.abs(rows).max() <= MOST else 0.0
    for j, size in enumerate(np.abs(rows - centre).max(axis=0).tolist()):
        if size and not LEAST <= size <= MOST:
            what = "differ by" if rows.shape[1] == 1 and size < LEAST else "reach"
            raise DataError(
                f"X's numbers in column {j} {what} {size:.3g}; from {LEAST:g} to {MOST:g} they can be squared without "
                f"loss. Change the units: X[:, {j}] / {size:.0e}.",
                column=j,
                value=size,
            )


def _weights(sample_weight: Any, rows: int) -> Any:
    shares(sample_weight, rows)  # says what is wrong with them
    if sample_weight is None:
        return np.ones(rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    largest, lightest = weight.max(), weight[weight > 0].min()
    if lightest / largest < LIGHTEST:
        i = int(np.flatnonzero(weight == lightest)[0])
        raise DataError(
            f"is {lightest:.3g} and the largest is {largest:.3g}, more than {1 / LIGHTEST:g} times "
            "it: such a row cannot be seen beside the others. Give it weight zero, or more.",
            array="sample_weight",
            row=i,
            value=lightest,
        )
    if 0.5 <= largest <= WHOLE:
        return weight
    return np.ldexp(weight, -int(np.frexp(largest)[1]))  # a power of two rounds nothing, and only ratios count


def _labels(y: Any, counts: Any) -> tuple[tuple[Any, Any], Any]:
    y = np.asarray(y)
    if y.shape != counts.shape:
        raise DataError(f"has shape {y.shape}; a label for each of the {len(counts)} rows is needed.", array="y")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"is {y[i]}; a label is needed there, or leave the row out.", array="y", row=i, value=y[i])
    classes = np.unique(y[counts])
    if len(classes) != 2:
        raise DataError(
            f"has {len(classes)} class(es) among the rows that count, {classes.tolist()[:5]}; a surface is of two. "
            "Of more, compare one with the rest: y == label.",
            array="y",
        )
    return tuple(classes.tolist()), y == classes[1]  # type: ignore[return-value]


def _check_two_directions(plane: Plane) -> None:
    Z = plane.Z
    first = Z[np.abs(Z).sum(axis=1).argmax()]
    if not (Z[:, 0] * first[1] != Z[:, 1] * first[0]).any():
        what = (
            f"X's column is {Z[0, 1]:g} in every row" if plane.lifted else "X's two columns are multiples of each other"
        )
        raise DataError(f"{what}, so that J depends on one number only, not on θ₀ and θ₁: give another column.")
