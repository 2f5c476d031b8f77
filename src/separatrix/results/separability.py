"""How classes lie to each other: separated, quasi-separated or overlapping, and what proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..data.block import as_others_read
from ..errors import Refusal, SettingError
from ..numerics.arrays import Floats, Indices
from ..wording import call, has
from .proofs import Proof
from .verdict import Rank, listed, plain

# Convex hulls: mixtures of rows, where two of them meet, and the corners of a hull in the plane.

FLAT = 1e-12
"""A hull is drawn as a segment if it is thinner than this part of its length."""


class SignedRows(Protocol):
    """Rows, the class of each, the class it is compared with, and its multiplier."""

    @property
    def rows(self) -> Indices: ...
    @property
    def own(self) -> Indices: ...
    @property
    def other(self) -> Indices: ...
    @property
    def multipliers(self) -> Floats: ...


def mixture(points: Floats, shares: Floats) -> Floats:
    """Σᵢ λᵢ xᵢ / Σᵢ λᵢ: the point of the hull with these shares; of no points the origin.

    >>> mixture(np.array([[0.0, 0.0], [4.0, 8.0]]), np.array([3.0, 1.0])).tolist()
    [1.0, 2.0]
    """
    if not len(points):
        return np.zeros(points.shape[1])
    return (shares / shares.sum()) @ points  # type: ignore[no-any-return]


def involved(combination: SignedRows) -> Indices:
    """The classes that a combination compares, by their places."""
    return np.union1d(combination.own, combination.other).astype(np.intp)


def crossing_point(combination: SignedRows, X: Any, of: int | None = None) -> tuple[Floats, Floats]:
    """Σ_{own = k} λx/Σλ and Σ_{other = k} λx/Σλ: a mixture of rows of class k, and one of rows compared with k.

    Rows that balance make them one point, up to rounding: there the hull of class k meets that of the others. `of` is
    k, the first class of the combination unless given; of two classes these are then the points of the first and of
    the second. Without an intercept only their directions from the origin agree: cones meet, not hulls.
    """
    k = int(involved(combination)[0]) if of is None else of
    points = rows_at(X, combination.rows)
    own, other = combination.own == k, combination.other == k
    if not (own | other).any():
        raise SettingError(
            "of", of, f"it compares {involved(combination).tolist()}.", f"Class number {k} is not in this combination;"
        )
    return mixture(points[own], combination.multipliers[own]), mixture(points[other], combination.multipliers[other])


def rows_at(X: Any, rows: Any) -> Floats:
    """Rows of a table, of a data frame or of scipy's sparse rows, as an array.

    >>> from scipy.sparse import csr_array
    >>> rows_at(csr_array([[0.0, 1.0], [2.0, 0.0]]), [1]).tolist()
    [[2.0, 0.0]]
    """
    if hasattr(X, "tocsr"):
        X, rows = X.tocsr()[rows].toarray(), slice(None)
    return np.asarray(X, dtype=np.float64)[rows]  # type: ignore[no-any-return]


def corners(points: Floats) -> Floats:
    """The corners of the convex hull of points in the plane, in order; two of a segment, one of a point.

    >>> corners(np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])).tolist()
    [[0.0, 0.0], [2.0, 2.0]]
    """
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points
    size = np.ptp(points, axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(size > 0, size, 1.0)  # columns may have any scales
    _, spread, axes = np.linalg.svd(scaled, full_matrices=False)
    if spread[1] <= FLAT * spread[0]:
        along = scaled @ axes[0]
        return points[np.sort([along.argmin(), along.argmax()])]  # type: ignore[no-any-return]
    from scipy.spatial import ConvexHull  # at need: a picture is rare

    return points[ConvexHull(scaled @ axes.T / spread).vertices]  # type: ignore[no-any-return]


KINDS = ("separated", "quasi-separated", "overlap")
INTERCEPT = "(intercept)"


class LazyMapping(Mapping[Any, Any]):
    """A mapping that is worked out when it is first looked at."""

    def __init__(self, work: Callable[[], Mapping[Any, Any]]) -> None:
        self._work: Callable[[], Mapping[Any, Any]] | None = work
        self._done: Mapping[Any, Any] = {}

    @property
    def known(self) -> bool:
        """Whether it was looked at."""
        return self._work is None

    def _read(self) -> Mapping[Any, Any]:
        if self._work is not None:
            self._done, self._work = self._work(), None  # and what the work needed may go
        return self._done

    def __getitem__(self, key: Any) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._done) if self._work is None else "(not yet asked for)"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self._read()),)


@dataclass(frozen=True)
class Combination:
    """Σᵢ λᵢ (e_own − e_other) ⊗ (xᵢ, 1) = 0, λ > 0: signed rows that balance.

    A signed row is positive where a rule gives the row a higher score for its own class than for the other; so of rows
    that balance, none can be positive unless another is negative. Without an intercept the 1 is left out.
    """

    rows: Indices
    """The rows of X."""
    own: Indices
    """The class of each row, by its place in `classes`."""
    other: Indices
    """The class it is compared with; of two classes always the other one."""
    multipliers: Floats
    """λ, up to their last digits: positive numbers nearby balance exactly."""

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Crossing(Proof):
    """Σᵢ λᵢyᵢ(xᵢ, 1) = 0, Σλ = 1: no rule is positive on all of these signed rows, so none separates the classes.

    With an intercept: a convex combination of rows of one class that is one of rows of the other.
    """

    combination: Combination
    """At most (weights + 1) signed rows, the intercept counted as a weight."""


@dataclass(frozen=True)
class SeparationProof:
    """What proves a kind of separation.

    Separated: `weights` and `intercept` alone, positive on every signed row. Overlap: `balance`, signed rows that
    span all there are and balance, so that no rule is positive on one of all rows without being negative on another.
    Quasi-separated: both, `weights` positive on the separated rows and zero on the others, and a balance of the others.
    """

    weights: Floats | None
    """w; of K classes K × columns, zero for the last. None if nothing is separated."""
    intercept: Any
    margin: float
    """The distance of the nearest of the separated rows; 0 if nothing is separated."""
    directions: Floats
    """Independent directions that are zero on every signed row that is not separated, and together all of them:
    q × (weights, then the intercept), of K classes q × K × (weights, then the intercept). Columns that are combinations
    of others are left out: zero. Empty (q = 0) for an overlap; for separated classes not needed, and empty."""
    balance: Combination | None
    """Signed rows that balance and span all signed rows that are not separated; None if all are."""
    crossing: Combination | None
    """At most (weights + 1) signed rows that balance: no rule is positive on all of them. Of two classes, a convex
    combination of rows of one that is one of rows of the other. None if the classes are separated."""
    perturbation: float
    """0 if all of this holds exactly for the numbers as they are; else the relative change of single numbers of X with
    which it does, a few units in their last place."""


@dataclass(frozen=True, eq=False)
class Separability:
    """How the classes lie to each other. `str(result)` says it; `result.check(X, y)` proves it from the data alone."""

    kind: str
    """separated: a rule gives every row's own class a strictly higher score than any other. quasi-separated: a rule
    does so for some rows and errs on none. overlap: no rule does so for any row without erring on another, so that
    maximum likelihood has a finite answer."""
    rows: Indices
    """The largest set of rows that one rule separates strictly, of K classes from all other classes, without erring on
    any other row."""
    partly: Indices
    """Of K classes: rows that are separated from some of the other classes, not from all."""
    row_names: tuple[Any, ...]
    """The names of `rows` in the index of a data frame; else their numbers."""
    coefficients: Mapping[Any, Any]
    """For each column, and for "(intercept)": what maximum likelihood makes of its coefficient: "finite", "+inf",
    "-inf", or "undetermined" where it goes to infinity either way, or the column is a combination of columns before it
    (the others are judged without it), or there are more weights than can be asked about (then `rank.rank` is None),
    or the directions of separation are so many (300) that which sign each has would take minutes.
    Of K classes such a mapping for each class but the last, whose weights are zero. For many rows that are separated it
    is worked out when first looked at; until then the result refers to X."""
    certificate: SeparationProof
    """What proves it: the rule that separates, the signed rows that balance, or both."""
    rank: Rank
    """The rank of the columns, and which of them are combinations of others: `rank.aliased`."""
    classes: tuple[Any, ...]
    """Of two, the rule gives the second a score > 0."""
    columns: tuple[str, ...]
    """Their names; x0, x1, … where they have none."""
    fit_intercept: bool
    """Whether rules with an intercept were asked about."""
    count: int = field(repr=False)
    """How many rows X had."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r}; it must be one of {', '.join(KINDS)}.")
        for array in (self.rows, self.partly):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> bool:
        """Prove the kind and the rows from the data, by code that shares nothing with what found them.

        Of the coefficients it proves which stay finite, and that signs agree with the weights; not which of the
        infinite ones have a sign. Margin and names are not looked at.
        """
        from ..audit.separation import prove  # at need: it reads this class

        return bool(prove(self, as_others_read(X), y, sample_weight))

    @property
    def infinite(self) -> tuple[str, ...]:
        """The coefficients that maximum likelihood sends to infinity, with their signs where they have one."""
        return tuple(self._sorted("+inf", "-inf", "undetermined"))

    def stays_finite(self) -> bool:
        """Whether any coefficient does."""
        return bool(self._sorted("finite"))

    def _sorted(self, *kinds: str) -> list[str]:
        """The names of the coefficients of these kinds, the columns that are combinations of others left out."""
        groups = self.coefficients.items() if len(self.classes) > 2 else [("", self.coefficients)]
        aliased = set(self.rank.aliased)
        signs = {"+inf": " → +∞", "-inf": " → −∞", "undetermined": " → ±∞", "finite": ""}
        return [
            f"{column}{f' of {label}' if len(self.classes) > 2 else ''}{signs[kind]}"
            for label, group in groups
            for column, kind in group.items()
            if kind in kinds and column not in aliased
        ]

    def __str__(self) -> str:
        sentences = [_SAYS[self.kind](self), self.coefficients_in_words(), self._rank_in_words(), self._exactness()]
        return " ".join(sentence for sentence in sentences if sentence)

    def coefficients_in_words(self) -> str:
        """Which coefficients maximum likelihood sends to infinity, and which stay finite."""
        if isinstance(self.coefficients, LazyMapping) and not self.coefficients.known:
            if not has("coefficients"):
                return f"{call('separability(X, y)')} says more."
            return "The result's `coefficients` say, when asked, which way each one goes."
        if self.kind == "overlap":
            return "Maximum likelihood has a finite answer."
        if self.rank.rank is None:
            return "Maximum likelihood has no finite answer; which way each of so many coefficients goes is not known."
        gone, stay = self._sorted("+inf", "-inf", "undetermined"), self._sorted("finite")
        end = f"{listed(stay)} stay{'s' * (len(stay) == 1)} finite." if stay else "none stays finite."
        return f"Maximum likelihood sends {listed(gone)}; {end}"

    def _rank_in_words(self) -> str:
        if not self.rank.aliased:
            return ""
        verb = "is a combination" if len(self.rank.aliased) == 1 else "are combinations"
        return f"{listed(self.rank.aliased)} {verb} of the columns before and left out."

    def _exactness(self) -> str:
        slip = self.certificate.perturbation
        return f"This holds if single numbers of X are changed by up to {slip:.1e} of themselves." if slip else ""

    def crossing_point(self, X: Any) -> tuple[Floats, Floats]:
        """Σ λx/Σλ over the crossing's rows of the first class, and over those of the second: one point of both hulls.

        The two agree up to rounding, if there is an intercept; of K classes see
        `separatrix.results.separability.crossing_point`.
        """
        if self.certificate.crossing is None:
            raise Refusal("The classes are separated, so their hulls do not meet; certificate.weights part them.")
        return crossing_point(self.certificate.crossing, X)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return plain(self)


def _say_separated(result: Separability) -> str:
    return (
        f"Separated: a rule puts all {len(result.rows)} rows on the side of their own class, the nearest at a distance "
        f"of {result.certificate.margin:.3g}."
    )


def _say_quasi(result: Separability) -> str:
    crossing = result.certificate.crossing
    assert crossing is not None
    return (
        f"Quasi-separated: a rule separates {separated_rows(result)} and errs on none; the others are on its boundary, "
        f"and {len(crossing)} of them show{'s' * (len(crossing) == 1)} that no rule separates all."
    )


def separated_rows(result: Separability) -> str:
    """How many rows are separated, and which; how many in part."""
    count = len(result.rows)
    whole = f"{count} row{'s' * (count != 1)} ({some_rows(result.row_names)})" if count else ""
    some = len(result.partly)
    part = f"{some} row{'s' * (some != 1)} from some of the other classes" if some else ""
    return " and ".join(each for each in (whole, part) if each)


def _say_overlap(result: Separability) -> str:
    crossing = result.certificate.crossing
    assert crossing is not None
    count = len(crossing)
    return (
        f"Overlap: no rule separates any row without erring on another; {count} row{'s' * (count != 1)} "
        f"({some_rows(sorted(crossing.rows.tolist()))}) show{'s' * (count == 1)} that none separates all."
    )


def some_rows(names: Any, most: int = 5) -> str:
    """The first names."""
    shown = ", ".join(str(name) for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{'row' if len(names) == 1 else 'rows'} {shown}{more}"


_SAYS = {"separated": _say_separated, "quasi-separated": _say_quasi, "overlap": _say_overlap}
