"""Feature maps as scikit-learn transformers: x ↦ Φ(x), in which a linear rule may be curved in x.  [003 slide 18]

Each is a transformer with named columns, for any pipeline. Given to a learner, `LogisticRegression(features=…)`, it is
applied block by block inside the fit, and the table of all features is never made.

>>> from separatrix.features import Polynomial
>>> Polynomial(2).fit([[1.0, 2.0], [3.0, 4.0]]).get_feature_names_out(["a", "b"]).tolist()
['a', 'b', 'a²', 'a·b', 'b²']
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..data.block import Block
from ..data.mapped import MappedRows
from ..data.maps.maps import FeatureMap, Gaussians, LiftMap, StandardMap, count_of_monomials, monomials, with_products
from ..data.maps.statistics import NONE, clusters, extent, grid, nearest_other, spread_of
from ..errors import DataError, SettingError
from ..numerics.arrays import Floats
from .checks.features import check_names
from .checks.rows import checked_rows, names_of, new_columns, not_finite, set_fitted
from .checks.settings import checked_choice, checked_flag, checked_numbers

BLOCK = 1 << 22
"""Features of sparse rows that are made together."""


class Transformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """x ↦ Φ(x): `fit` learns the map, `transform` applies it; `map_` is the map itself, plain numbers."""

    map_: FeatureMap
    sparse_out = False
    """Whether a sparse X stays sparse."""
    weighs = False
    """Whether `learn` takes the costs of the rows, because what it learns depends on how often a row is there."""

    def learn(self, rows: Any, columns: Sequence[str]) -> FeatureMap:
        """The map by these rows, a block."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the map from the rows of X; y is not looked at."""
        read = new_columns(type(self).__name__)
        rows = self._rows(read, X, reset=True)
        columns = names_of(read, rows.shape[1])
        found = self.learn(rows, columns)
        check_names(found.names(columns))
        set_fitted(self, read, map_=found)
        return self

    def transform(self, X: Any) -> Any:
        """Φ of every row: an array in double precision, or CSR where X is sparse and the map keeps zeros."""
        check_is_fitted(self, "map_")
        rows = self._rows(self, X, reset=False)
        mapped = MappedRows(rows, self.map_)
        if not (rows.skips_zeros and self.sparse_out):
            return self._finite(mapped, mapped.dense())
        blocks = [csr_array(self._finite(mapped, block)) for _, block in mapped.blocks(BLOCK)]
        return vstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The features by name, as `input_features` or else X at fit called the columns."""
        check_is_fitted(self, "map_")
        names = names_of(self, self.n_features_in_)
        if input_features is not None:
            given = tuple(map(str, input_features))
            if len(given) != self.n_features_in_:
                raise SettingError(
                    "input_features",
                    input_features,
                    "",
                    f"input_features should have length equal to number of features: {len(given)} names were given, "
                    f"and X had {self.n_features_in_} columns.",
                )
            if hasattr(self, "feature_names_in_") and given != names:
                raise SettingError(
                    "input_features",
                    input_features,
                    "",
                    "input_features is not equal to feature_names_in_, the columns of X at fit.",
                )
            names = given
        return np.asarray(self.map_.names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, columns: Any, X: Any, *, reset: bool) -> Block:
        rows = checked_rows(columns, X, reset=reset)
        if not rows.finite():
            raise not_finite(rows, names_of(columns, rows.shape[1]), self)
        self._check_sparse(rows)
        return rows

    def _check_sparse(self, rows: Block) -> None:
        """Refuse sparse rows, where they would lose their zeros."""

    def _finite(self, mapped: MappedRows, features: NDArray[Any]) -> NDArray[Any]:
        if not np.isfinite(features).all():
            raise not_finite(mapped, tuple(self.get_feature_names_out()), self)
        return features


MOST = 1 << 24
"""Features of one map, at most."""

SAYABLE = 10**30
"""Bytes that are still told by number."""
NARROWEST = 1e-150
"""The square of a width must not underflow."""

__all__ = ["GaussianBasis", "Interactions", "Lift", "Polynomial", "Standardise"]


class Polynomial(Transformer):
    """x ↦ x_{i₁}⋯x_{iₖ}, i₁ ≤ … ≤ iₖ, k ≤ degree: x, x², x³; or x, y, x², xy, y².  [004 §4.4]

    The constant is not among them: the learner's intercept is. Products grow fast, so the scale of x matters to all
    that looks at lengths: a penalty, a perceptron. `Standardise()` before it is one way; it is never done silently.

    Parameters
    ----------
    degree : int
        The most factors of a product.
    interactions_only : bool
        Whether no column may be in a product twice: x, y, xy.

    Examples
    --------
    >>> Polynomial(2).fit_transform([[3.0], [-1.0]]).tolist()
    [[3.0, 9.0], [-1.0, 1.0]]
    """

    sparse_out = True

    def __init__(self, degree: int = 2, *, interactions_only: bool = False) -> None:
        self.degree = degree
        self.interactions_only = interactions_only

    def learn(self, rows: Any, columns: Sequence[str]) -> FeatureMap:
        """The map: it depends on the rows through the number of their columns only."""
        degree = _whole("degree", self.degree)
        distinct = checked_flag("interactions_only", self.interactions_only)
        count, what = count_of_monomials(len(columns), degree, distinct=distinct), f"Polynomial(degree={degree})"
        _check_count(count, f"{what} of {len(columns)} columns", "lower the degree", len(rows))
        if count * degree > 8 * MOST:
            raise SettingError(
                "degree",
                self.degree,
                "",
                f"{what} of {len(columns)} columns has products of {degree} factors: lower the degree.",
            )
        return monomials(len(columns), min(degree, len(columns)) if distinct else degree, distinct=distinct)


class Interactions(Transformer):
    """x ↦ (x, xᵢxⱼ, …): the columns and the products of pairs of different columns.

    Parameters
    ----------
    pairs : None or list of pairs
        Which pairs, by the columns' names or places; None: all of them.

    Examples
    --------
    >>> Interactions([(0, 2)]).fit_transform([[1.0, 2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0, 3.0]]
    """

    sparse_out = True

    def __init__(self, pairs: Any = None) -> None:
        self.pairs = pairs

    def learn(self, rows: Any, columns: Sequence[str]) -> FeatureMap:
        """The map: it depends on the rows through their columns only."""
        d = len(columns)
        if self.pairs is None:
            _check_count(d + d * (d - 1) // 2, f"All pairs of {d} columns", "name the pairs", len(rows))
            return monomials(d, min(2, d), distinct=True)
        return with_products(d, _pairs(self.pairs, list(columns)))


class GaussianBasis(Transformer):
    """φⱼ(x) = exp(−‖x − cⱼ‖²/(2sⱼ²)): how near x is to each of some centres.  [003 slide 19]

    Distances depend on the units of the columns: put `Standardise()` before it where these differ.

    Parameters
    ----------
    centres : "k-means", "grid" or array
        Where the centres are: at `count` means of clusters; on a grid over the range of the columns, `count` points on
        each axis; or the rows of an array.
    widths : "spacing", number or array
        s: for each centre the distance to the nearest other one; one for all; one for each.
    count : int
        How many centres k-means looks for, or points on each axis of a grid. A column that is constant has one point.
    random_state : int, RandomState or None
        Where k-means starts. Of more than 4 million numbers it sees a sample of the rows.

    Examples
    --------
    >>> GaussianBasis([[0.0, 0.0]], widths=1.0).fit_transform([[0.0, 0.0], [3.0, 4.0]]).round(6).tolist()
    [[1.0], [4e-06]]
    """

    weighs = True

    def __init__(
        self, centres: Any = "k-means", *, widths: Any = "spacing", count: int = 8, random_state: Any = None
    ) -> None:
        self.centres = centres
        self.widths = widths
        self.count = count
        self.random_state = random_state

    def learn(self, rows: Any, columns: Sequence[str], cost: Floats = NONE) -> FeatureMap:
        """The map: centres and widths by these rows, means of clusters at their costs."""
        centres = self._centres(rows, len(columns), cost)
        return Gaussians(centres, self._widths(centres))

    def _centres(self, rows: Any, d: int, cost: Floats) -> Floats:
        if isinstance(self.centres, str):
            how, count = checked_choice("centres", self.centres, ("k-means", "grid")), _whole("count", self.count)
            if how == "k-means":
                return clusters(rows, count, self.random_state, cost)
            low, high = extent(rows)
            points = count ** int((low < high).sum())
            _check_count(points, f"A grid of {count} points on each of {d} axes", "take fewer points", len(rows))
            return grid(low, high, count)
        if self.centres is None:
            needed = "give 'k-means', 'grid', or an array with a row for each centre."
            raise SettingError("centres", None, needed)
        centres = checked_numbers("centres", self.centres)
        if centres.ndim != 2 or centres.shape[1] != d or not len(centres):
            raise SettingError(
                "centres",
                self.centres,
                "",
                f"centres has shape {centres.shape}; X has {d} columns: give a row of {d} numbers for each centre.",
            )
        return centres.copy()

    def _widths(self, centres: Floats) -> Floats:
        if isinstance(self.widths, str):
            checked_choice("widths", self.widths, ("spacing",))
            return nearest_other(centres)
        if self.widths is None or isinstance(self.widths, bool | np.bool_):
            raise SettingError("widths", self.widths, "give 'spacing', a positive number, or one for each centre.")
        widths = checked_numbers("widths", self.widths)
        if np.ndim(self.widths) and widths.shape != (len(centres),):
            raise SettingError(
                "widths",
                self.widths,
                "",
                f"widths has shape {widths.shape}; give one number, or one for each of the {len(centres)} centres.",
            )
        if not (widths > 0).all():
            j = int(np.flatnonzero(~(widths.ravel() > 0))[0])
            raise SettingError(
                "widths", self.widths, "", f"widths[{j}] is {widths.ravel()[j]}; a width is a positive number."
            )
        if not (widths >= NARROWEST).all():
            j = int(np.flatnonzero(~(widths.ravel() >= NARROWEST))[0])
            raise SettingError(
                "widths",
                self.widths,
                "",
                f"widths[{j}] is {widths.ravel()[j]}: its square is zero in floating point; give a larger one.",
            )
        return np.broadcast_to(widths, len(centres)).astype(np.float64)


class Lift(Transformer):
    """x ↦ (x, 1): a rule with an intercept becomes one through the origin [001 slide 14]; or x ↦ (x, ‖x‖²).

    (x, ‖x‖²) lifts the columns onto a paraboloid: rules linear there are spheres in x.

    Parameters
    ----------
    append : "one" or "square"
        What is appended: 1, or ‖x‖².

    Examples
    --------
    >>> Lift().fit_transform([[3.0, 4.0]]).tolist(), Lift("square").fit_transform([[3.0, 4.0]]).tolist()
    ([[3.0, 4.0, 1.0]], [[3.0, 4.0, 25.0]])
    """

    sparse_out = True

    def __init__(self, append: str = "one") -> None:
        self.append = append

    def learn(self, rows: Any, columns: Sequence[str]) -> FeatureMap:
        """The map: it depends on the rows through the number of their columns only."""
        return LiftMap(len(columns), checked_choice("append", self.append, ("one", "square")) == "square")


class Standardise(Transformer):
    """zⱼ = (xⱼ − mⱼ)/sⱼ, m the mean and s the deviation √(Σ(x − m)²/n) of the rows it was fitted on.

    A column that is constant there has no deviation: it is only centred, s = 1, and `constant_` names it.

    Parameters
    ----------
    centre : bool
        Whether the mean is subtracted. `transform` refuses to subtract it from a sparse X, whose zeros that would
        fill; inside a fit, where blocks are written out in any case, it may.

    Attributes
    ----------
    constant_ : tuple of the names of constant columns

    Examples
    --------
    >>> Standardise().fit_transform([[1.0, 7.0], [3.0, 7.0]]).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    map_: StandardMap
    sparse_out = weighs = True

    def __init__(self, *, centre: bool = True) -> None:
        self.centre = centre

    def learn(self, rows: Any, columns: Sequence[str], cost: Floats = NONE) -> FeatureMap:
        """The map: means and deviations of these rows, at their costs, by two passes over them."""
        centre = checked_flag("centre", self.centre)
        mean, deviation, constant = spread_of(rows, columns, cost)
        return StandardMap(mean if centre else 0 * mean, deviation, tuple(compress(columns, constant)))

    @property
    def constant_(self) -> tuple[str, ...]:
        """The columns that were constant."""
        return self.map_.constant

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.centre
        return tags

    def _check_sparse(self, rows: Block) -> None:
        if rows.skips_zeros and self.centre:
            raise DataError(
                "Standardise(centre=True) would fill the zeros of a sparse X: use Standardise(centre=False), "
                "which only divides, or X.toarray()."
            )


# ---------------------------------------------------------------------------------------------------------------------


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or value < 1:
        raise SettingError(name, value, "it must be a whole number of at least 1.")
    return int(value)


def _check_count(count: int, what: str, remedy: str, rows: int) -> None:
    if count > MOST:
        size = 8 * count * rows
        made = (
            f"{count} features, {size / 1e9:.3g} GB"
            if size < SAYABLE
            else f"some 10^{_digits(count)} features, too many"
        )
        raise DataError(
            f"{what} makes {made} for these {rows} rows; at most {MOST} can be made: {remedy}, or choose fewer columns."
        )


def _digits(count: int) -> int:
    """log₁₀ of a whole number of any size, rounded down or nearly."""
    return int((count.bit_length() - 1) * math.log10(2))


def _pairs(given: Any, columns: list[str]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise SettingError("pairs", given, "give a list of pairs of columns, [(0, 1)] say, or None for all of them.")
    for k, pair in enumerate(given):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise SettingError(
                "pairs",
                given,
                "",
                f"pairs[{k}] is {pair!r}; a pair is two columns, by name or place, and pairs a list of them: [(0, 1)].",
            )
        i, j = sorted(_column(k, each, columns) for each in pair)
        if i == j:
            raise SettingError(
                "pairs", given, "", f"pairs[{k}] is {pair!r}, one column twice: for squares use Polynomial(2)."
            )
        if (i, j) in found:
            raise SettingError(
                "pairs", given, "", f"pairs[{k}] is {pair!r}, which is there already: give each pair once."
            )
        found.append((i, j))
    if not found:
        raise SettingError("pairs", given, "", "pairs is empty: give pairs of columns, or None for all of them.")
    return found


def _column(k: int, column: Any, columns: list[str]) -> int:
    if isinstance(column, str) and column in columns:
        return columns.index(column)
    whole = isinstance(column, numbers.Integral) and not isinstance(column, bool | np.bool_)
    if whole and 0 <= column < len(columns):
        return int(column)
    few = ", ".join(map(repr, columns[:5])) + (", …" if len(columns) > 5 else "")
    raise SettingError(
        "pairs", column, "", f"pairs[{k}] names {column!r}; X has the columns {few}, or places 0 to {len(columns) - 1}."
    )
