"""Kernels of objects that are no rows of numbers: strings, graphs, whatever can be counted or compared."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats


class ObjectKernel:
    """A kernel of objects: k(A, B) takes two lists of them."""


@dataclass(frozen=True)
class Pairwise(ObjectKernel):
    """k(a, b) of a function of two objects, called for every pair: slow, and for any objects.

    >>> same_letters = Pairwise(lambda a, b: len(set(a) & set(b)))
    >>> same_letters(["abc"], ["cab", "xyz"]).tolist()
    [[3.0, 0.0]]
    """

    function: Callable[[Any, Any], float]

    def __call__(self, A: Any, B: Any) -> Floats:
        """A loop over all pairs."""
        return np.array([[self.function(a, b) for b in B] for a in A], np.float64).reshape(len(A), len(B))


class CountKernel(ObjectKernel, ABC):
    """k(a, b) = Σᵤ #ᵤ(a) #ᵤ(b), #ᵤ(a) being how often u occurs in a."""

    cosine: bool

    @abstractmethod
    def count(self, each: Any) -> Mapping[Hashable, float]:
        """#ᵤ of an object, for all u that occur in it."""

    def __call__(self, A: Any, B: Any) -> Floats:
        """One product of two sparse tables of counts."""
        names: dict[Hashable, int] = {}
        left, right = self._table(A, names), self._table(B, names)
        found: Floats = np.ascontiguousarray((_wide(left, names) @ _wide(right, names).T).toarray())
        if self.cosine:
            found /= np.outer(_lengths(left), _lengths(right))
        return found

    def _table(self, objects: Any, names: dict[Hashable, int]) -> tuple[list[float], list[int], list[int]]:
        values: list[float] = []
        columns: list[int] = []
        starts = [0]
        for each in objects:
            for name, number in self.count(each).items():
                columns.append(names.setdefault(name, len(names)))
                values.append(float(number))
            starts.append(len(values))
        return values, columns, starts


@dataclass(frozen=True)
class Counted(CountKernel):
    """k(a, b) = Σᵤ #ᵤ(a) #ᵤ(b), #ᵤ(a) being how often u occurs in a; `counts` gives these numbers for an object.

    With `cosine` it is divided by √(k(a, a) k(b, b)), so that long objects are not like everything.

    >>> words = Counted(lambda text: Counter(text.split()))
    >>> words(["to be or not to be"], ["to do is to be", "why"]).tolist()
    [[6.0, 0.0]]
    """

    counts: Callable[[Any], Mapping[Hashable, float]]
    cosine: bool = False

    def count(self, each: Any) -> Mapping[Hashable, float]:
        """What `counts` gives."""
        return self.counts(each)


def _wide(table: tuple[list[float], list[int], list[int]], names: Mapping[Hashable, int]) -> Any:
    return csr_array(table, shape=(len(table[2]) - 1, max(1, len(names))))


def _lengths(table: tuple[list[float], list[int], list[int]]) -> Floats:
    """√k(a, a), one for an object in which nothing was counted."""
    values, _, starts = table
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    squares = np.bincount(owner, np.square(values), len(starts) - 1)
    return np.sqrt(np.where(squares > 0, squares, 1.0))


@dataclass(frozen=True)
class Spectrum(CountKernel):
    """k(s, t) = Σᵤ #ᵤ(s) #ᵤ(t) over the substrings u of one length: the spectrum kernel of strings, or of sequences.

    >>> Spectrum(2)(["banana"], ["ananas", "cab"]).tolist()
    [[8.0, 0.0]]
    """

    length: int = 3
    cosine: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.length, int | np.integer) or self.length < 1:
            raise SettingError("length", self.length, "substrings have a whole number of letters, one or more.")

    def count(self, text: Sequence[Any]) -> Counter[Hashable]:
        """How often each substring of the length occurs."""
        if not isinstance(text, str | bytes):
            text = tuple(text)
        return Counter(text[i : i + self.length] for i in range(len(text) - self.length + 1))


def _digest(own: str, others: list[str]) -> str:
    """A name for a node with such a neighbourhood: the same for the same, in every process."""
    return hashlib.blake2b(repr((own, others)).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class WeisfeilerLehman(CountKernel):
    """k(G, H) = Σᵤ #ᵤ(G) #ᵤ(H) over kinds u of nodes, by their neighbourhoods up to so many steps away.

    A graph is a mapping of each node to its neighbours, {"a": ["b"], "b": ["a"]}; or a pair of that and of a mapping of
    nodes to labels. Graphs that differ only in the names of their nodes are the same.

    >>> triangle, path = {0: [1, 2], 1: [0, 2], 2: [0, 1]}, {0: [1], 1: [0, 2], 2: [1]}
    >>> WeisfeilerLehman(1)([triangle], [triangle, path]).tolist()
    [[18.0, 12.0]]
    """

    rounds: int = 2
    cosine: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.rounds, int | np.integer) or self.rounds < 0:
            raise SettingError("rounds", self.rounds, "it must be a whole number, zero or more.")

    def count(self, graph: Any) -> Counter[Hashable]:
        """How often each kind of node occurs: its label, and the kinds of its neighbours."""
        neighbours, labels = graph if isinstance(graph, tuple) and len(graph) == 2 else (graph, {})
        if not (isinstance(neighbours, Mapping) and isinstance(labels, Mapping)):
            raise DataError(
                "a graph is a mapping of each node to its neighbours, such as {'a': ['b'], 'b': ['a']}, or a pair of "
                f"that and a mapping of nodes to labels; it is not a {type(graph).__name__}: {graph!r:.60}"
            )
        strange = {other for each in neighbours.values() for other in each} - set(neighbours)
        if strange:
            raise DataError(f"a graph has an edge to {next(iter(strange))!r}, which is not one of its nodes.")
        kinds = {node: str(labels.get(node, "")) for node in neighbours}
        found: Counter[Hashable] = Counter((0, kind) for kind in kinds.values())
        for number in range(1, self.rounds + 1):
            kinds = {node: _digest(kinds[node], sorted(kinds[o] for o in neighbours[node])) for node in neighbours}
            found.update((number, kind) for kind in kinds.values())
        return found
