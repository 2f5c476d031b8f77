"""Kernels of objects that are no rows of numbers: strings, graphs, whatever can be counted or compared."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...numerics.arrays import Floats


@dataclass(frozen=True)
class Pairwise:
    """k(a, b) of a function of two objects, called for every pair: slow, and for any objects.

    >>> same_letters = Pairwise(lambda a, b: len(set(a) & set(b)))
    >>> same_letters(["abc"], ["cab", "xyz"]).tolist()
    [[3.0, 0.0]]
    """

    function: Callable[[Any, Any], float]

    def __call__(self, A: Any, B: Any) -> Floats:
        """A loop over all pairs."""
        return np.array([[self.function(a, b) for b in B] for a in A], np.float64).reshape(len(A), len(B))


@dataclass(frozen=True)
class Counted:
    """k(a, b) = Σᵤ #ᵤ(a) #ᵤ(b), #ᵤ(a) being how often u occurs in a; `counts` gives these numbers for an object.

    With `cosine` it is divided by √(k(a, a) k(b, b)), so that long objects are not like everything.

    >>> words = Counted(lambda text: Counter(text.split()))
    >>> words(["to be or not to be"], ["to do is to be", "why"]).tolist()
    [[6.0, 0.0]]
    """

    counts: Callable[[Any], Mapping[Hashable, float]]
    cosine: bool = False

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
            for name, count in self.counts(each).items():
                columns.append(names.setdefault(name, len(names)))
                values.append(float(count))
            starts.append(len(values))
        return values, columns, starts


def _wide(table: tuple[list[float], list[int], list[int]], names: Mapping[Hashable, int]) -> Any:
    return csr_array(table, shape=(len(table[2]) - 1, max(1, len(names))))


def _lengths(table: tuple[list[float], list[int], list[int]]) -> Floats:
    """√k(a, a), one for an object in which nothing was counted."""
    values, _, starts = table
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    squares = np.bincount(owner, np.square(values), len(starts) - 1)
    return np.sqrt(np.where(squares > 0, squares, 1.0))


@dataclass(frozen=True)
class _Substrings:
    """How often each substring of a length occurs."""

    length: int

    def __call__(self, text: Sequence[Any]) -> Counter[Hashable]:
        if not isinstance(text, str | bytes):
            text = tuple(text)
        return Counter(text[i : i + self.length] for i in range(len(text) - self.length + 1))


class Spectrum(Counted):
    """k(s, t) = Σᵤ #ᵤ(s) #ᵤ(t) over the substrings u of one length: the spectrum kernel of strings, or of sequences.

    >>> Spectrum(2)(["banana"], ["ananas", "cab"]).tolist()
    [[8.0, 0.0]]
    """

    def __init__(self, length: int = 3, *, cosine: bool = False) -> None:
        if not isinstance(length, int | np.integer) or length < 1:
            raise ValueError(f"length is {length!r}; substrings have a whole number of letters, one or more.")
        super().__init__(_Substrings(int(length)), cosine)

    def __repr__(self) -> str:
        return f"Spectrum({self.counts.length}, cosine={self.cosine})"  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _Neighbourhoods:
    """How often each kind of node occurs, nodes being of a kind by their label and the kinds of their neighbours."""

    rounds: int

    def __call__(self, graph: Any) -> Counter[Hashable]:
        neighbours, labels = graph if isinstance(graph, tuple) and len(graph) == 2 else (graph, {})
        if not (isinstance(neighbours, Mapping) and isinstance(labels, Mapping)):
            raise ValueError(
                "a graph is a mapping of each node to its neighbours, such as {'a': ['b'], 'b': ['a']}, or a pair of "
                f"that and a mapping of nodes to labels; it is not a {type(graph).__name__}: {graph!r:.60}"
            )
        strange = {other for each in neighbours.values() for other in each} - set(neighbours)
        if strange:
            raise ValueError(f"a graph has an edge to {next(iter(strange))!r}, which is not one of its nodes.")
        kinds = {node: str(labels.get(node, "")) for node in neighbours}
        found: Counter[Hashable] = Counter((0, kind) for kind in kinds.values())
        for number in range(1, self.rounds + 1):
            kinds = {node: _digest(kinds[node], sorted(kinds[o] for o in neighbours[node])) for node in neighbours}
            found.update((number, kind) for kind in kinds.values())
        return found


def _digest(own: str, others: list[str]) -> str:
    """A name for a node with such a neighbourhood: the same for the same, in every process."""
    return hashlib.blake2b(repr((own, others)).encode(), digest_size=12).hexdigest()


class WeisfeilerLehman(Counted):
    """k(G, H) = Σᵤ #ᵤ(G) #ᵤ(H) over kinds u of nodes, by their neighbourhoods up to so many steps away.

    A graph is a mapping of each node to its neighbours, {"a": ["b"], "b": ["a"]}; or a pair of that and of a mapping of
    nodes to labels. Graphs that differ only in the names of their nodes are the same.

    >>> triangle, path = {0: [1, 2], 1: [0, 2], 2: [0, 1]}, {0: [1], 1: [0, 2], 2: [1]}
    >>> WeisfeilerLehman(1)([triangle], [triangle, path]).tolist()
    [[18.0, 12.0]]
    """

    def __init__(self, rounds: int = 2, *, cosine: bool = False) -> None:
        if not isinstance(rounds, int | np.integer) or rounds < 0:
            raise ValueError(f"rounds is {rounds!r}; it must be a whole number, zero or more.")
        super().__init__(_Neighbourhoods(int(rounds)), cosine)

    def __repr__(self) -> str:
        return f"WeisfeilerLehman({self.counts.rounds}, cosine={self.cosine})"  # type: ignore[attr-defined]
