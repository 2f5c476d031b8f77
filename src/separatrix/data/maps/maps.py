"""Feature maps once they are known: products of columns, Gaussians, lifted and standardised columns, chains of maps.

A map is plain numbers: `spec` says all of it, and `map_of` makes it again. How a map is learnt from rows is told in
`separatrix.features`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Integers

# What a feature map is: x ↦ Φ(x), row by row, so that any block of rows can be mapped by itself.


class FeatureMap(ABC):
    """x ↦ Φ(x)."""

    def __post_init__(self) -> None:
        for part in vars(self).values():
            if isinstance(part, np.ndarray):
                part.setflags(write=False)  # the verdict's claim shows the same numbers

    @property
    @abstractmethod
    def width_in(self) -> int:
        """How many columns x has."""

    @property
    @abstractmethod
    def width_out(self) -> int:
        """How many features there are."""

    @property
    @abstractmethod
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        """The map as plain data: for each of the maps in their order its kind and its numbers."""

    @abstractmethod
    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The features, by the names of the columns."""

    @abstractmethod
    def fill(self, X: Floats, out: Floats) -> None:
        """Φ of every row of X, written to `out`."""

    def expand(self, X: Any) -> Floats:
        """Φ of every row, in double precision."""
        X = np.asarray(X, dtype=np.float64)
        out = np.empty((len(X), self.width_out))
        with np.errstate(over="ignore", invalid="ignore"):  # who reads the features finds what is not finite
            self.fill(X, out)
        return out


# Products of columns as features: polynomials, interactions, any list of products.

NONE = -1
"""In the table of a product's factors: no further factor."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Times(NamedTuple):
    """out[:, lo:hi] = x_first · (columns at … of X, or of what is there already)."""

    first: int
    inside: bool
    """Whether the other factor is a feature; else a column."""
    at: int
    lo: int
    hi: int


@dataclass(frozen=True, eq=False)
class Products(FeatureMap):
    """Φⱼ(x) = Πₖ x_{t(j, k)}: products of columns, a column as often as it is named.  [004 §4.4]"""

    columns: int
    terms: Integers
    """Features × factors: the columns of each product in ascending order, then −1."""

    @property
    def width_in(self) -> int:
        return self.columns

    @property
    def width_out(self) -> int:
        return len(self.terms)

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "products", "columns": self.columns, "terms": self.terms},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(_product_name(term, columns) for term in self._factors)

    @cached_property
    def _factors(self) -> list[tuple[int, ...]]:
        return [tuple(j for j in term if j != NONE) for term in self.terms.tolist()]

    @cached_property
    def _recipe(self) -> list[Times | tuple[int, tuple[int, ...]]]:
        """Neighbours that are one column times neighbours are made together; what is not, by itself."""
        recipe: list[Times | tuple[int, tuple[int, ...]]] = []
        place: dict[tuple[int, ...], int] = {}
        for k, term in enumerate(self._factors):
            rest = term[1:]
            if len(rest) > 1 and rest not in place:
                recipe.append((k, term))
            else:
                at, inside = (place[rest], True) if len(rest) > 1 else (rest[0] if rest else term[0], False)
                recipe.append(Times(term[0] if rest else NONE, inside, at, k, k + 1))
                if len(recipe) > 1:
                    _join(recipe)
            place[term] = k
        return recipe

    def fill(self, X: Floats, out: Floats) -> None:
        for step in self._recipe:
            if not isinstance(step, Times):
                k, term = step
                np.prod(X[:, list(term)], axis=1, out=out[:, k])
                continue
            first, inside, at, lo, hi = step
            other = (out if inside else X)[:, at : at + hi - lo]
            if first == NONE:
                out[:, lo:hi] = other
            else:
                np.multiply(X[:, first : first + 1], other, out=out[:, lo:hi])


def _join(recipe: list[Any]) -> None:
    """Make one step of the last two, if they are neighbours in all they touch."""
    last, before = recipe[-1], recipe[-2]
    if not isinstance(before, Times) or (before.first, before.inside, before.hi) != (last.first, last.inside, last.lo):
        return
    ready = not last.inside or last.at < before.lo  # what the same step makes is not there yet
    if ready and before.at + before.hi - before.lo == last.at:
        recipe[-2:] = [before._replace(hi=last.hi)]


def _product_name(term: Sequence[int], columns: Sequence[str]) -> str:
    """height·width, x0²·x1"""
    powers = {j: term.count(j) for j in dict.fromkeys(term)}
    return "·".join(columns[j] + (str(p).translate(RAISED) if p > 1 else "") for j, p in powers.items())


def monomials(columns: int, degree: int, *, distinct: bool) -> Products:
    """All x_{i₁}⋯x_{iₖ} with i₁ ≤ … ≤ iₖ and 1 ≤ k ≤ degree; distinct: i₁ < … < iₖ. No constant.

    >>> monomials(2, 2, distinct=False).names(("a", "b"))
    ('a', 'b', 'a²', 'a·b', 'b²')
    """
    choose = combinations if distinct else combinations_with_replacement
    parts = [_padded(choose(range(columns), k), degree) for k in range(1, degree + 1)]
    return Products(columns, np.concatenate(parts))


def count_of_monomials(columns: int, degree: int, *, distinct: bool) -> int:
    """C(d + g, g) − 1; distinct: Σₖ C(d, k) over 1 ≤ k ≤ g."""
    if distinct:
        return sum(math.comb(columns, k) for k in range(1, degree + 1))
    return math.comb(columns + degree, degree) - 1


def with_products(columns: int, pairs: Sequence[tuple[int, int]]) -> Products:
    """All columns, then the products of these pairs of them."""
    both = [tuple(sorted(pair)) for pair in pairs]
    return Products(columns, np.concatenate([_padded(((j,) for j in range(columns)), 2), _padded(iter(both), 2)]))


def _padded(terms: Iterator[tuple[int, ...]], width: int) -> Integers:
    listed = [(*term, *(NONE,) * (width - len(term))) for term in terms]
    return np.array(listed, dtype=np.int64).reshape(len(listed), width)


@dataclass(frozen=True, eq=False)
class Gaussians(FeatureMap):
    """φⱼ(x) = exp(−‖x − cⱼ‖²/(2sⱼ²)).  [003 slide 19]"""

    centres: Floats
    """Features × columns."""
    widths: Floats
    """s, one for each centre."""

    @property
    def width_in(self) -> int:
        return int(self.centres.shape[1])

    @property
    def width_out(self) -> int:
        return len(self.centres)

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "gaussians", "columns": self.width_in, "centres": self.centres, "widths": self.widths},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"exp(−‖x−c{j}‖²/2s²)" for j in range(self.width_out))

    def fill(self, X: Floats, out: Floats) -> None:
        from scipy.spatial.distance import cdist

        out[:] = cdist(X, self.centres, "sqeuclidean")  # by differences: offsets of the columns cost no digits
        out *= -0.5 / np.square(self.widths)
        np.exp(out, out=out)


@dataclass(frozen=True)
class LiftMap(FeatureMap):
    """x ↦ (x, 1), in which every rule goes through the origin [001 slide 14]; or x ↦ (x, ‖x‖²)."""

    columns: int
    square: bool = False

    @property
    def width_in(self) -> int:
        return self.columns

    @property
    def width_out(self) -> int:
        return self.columns + 1

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "lift", "columns": self.columns, "square": self.square},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (*columns, "‖x‖²" if self.square else "1")

    def fill(self, X: Floats, out: Floats) -> None:
        out[:, :-1] = X
        out[:, -1] = np.einsum("ij,ij->i", X, X) if self.square else 1.0


@dataclass(frozen=True, eq=False)
class StandardMap(FeatureMap):
    """zⱼ = (xⱼ − mⱼ)/sⱼ."""

    mean: Floats
    deviation: Floats
    constant: tuple[str, ...] = ()
    """The columns that have no deviation, by name."""

    @property
    def width_in(self) -> int:
        return len(self.mean)

    @property
    def width_out(self) -> int:
        return len(self.mean)

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "standard", "columns": self.width_in, "mean": self.mean, "deviation": self.deviation},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(columns)

    def fill(self, X: Floats, out: Floats) -> None:
        np.subtract(X, self.mean, out=out)
        out /= self.deviation


@dataclass(frozen=True, eq=False)
class Chain(FeatureMap):
    """Φ = Φₖ ∘ ⋯ ∘ Φ₁: the maps in their order."""

    maps: tuple[FeatureMap, ...]

    @property
    def width_in(self) -> int:
        return self.maps[0].width_in

    @property
    def width_out(self) -> int:
        return self.maps[-1].width_out

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(step for each in self.maps for step in each.spec)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        for each in self.maps:
            columns = each.names(columns)
        return tuple(columns)

    def fill(self, X: Floats, out: Floats) -> None:
        for each in self.maps[:-1]:
            X = each.expand(X)
        self.maps[-1].fill(X, out)


KINDS: dict[str, Callable[[Mapping[str, Any]], FeatureMap]] = {
    "products": lambda step: Products(int(step["columns"]), np.asarray(step["terms"], dtype=np.int64)),
    "gaussians": lambda step: Gaussians(np.asarray(step["centres"], float), np.asarray(step["widths"], float)),
    "lift": lambda step: LiftMap(int(step["columns"]), bool(step["square"])),
    "standard": lambda step: StandardMap(np.asarray(step["mean"], float), np.asarray(step["deviation"], float)),
}


def map_of(spec: Sequence[Mapping[str, Any]]) -> FeatureMap:
    """The map that a spec describes."""
    maps = tuple(KINDS[step["kind"]](step) for step in spec)
    return maps[0] if len(maps) == 1 else Chain(maps)
