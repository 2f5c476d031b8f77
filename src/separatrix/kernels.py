"""Kernels: k(x, z) = φ(x)ᵀφ(z), inner products of features that are never written out.  [000 §8.2.3]

A kernel is called with two sets of rows, or of any objects, and gives a matrix: len(A) × len(B) numbers. Whatever is
called in that way will do; those here are for tables of numbers, for strings and for graphs. `Pairwise` makes one of a
function of two objects, `Counted` one of anything that can be counted in an object.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from .data import Sparse

Floats = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
NEAR = 1e-10
"""What rounding may do to a kernel of distances that is made from products; beyond it they are made one by one."""


class TableKernel(ABC):
    """A kernel of rows of numbers, dense or CSR, made from their products in double precision."""

    kind: ClassVar[str]

    def __call__(self, A: Any, B: Any) -> Floats:
        """k(a, b) of each row of A with each of B."""
        A, B = _rows(A), _rows(B)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # who asks looks at what is not finite
            return self._of(_products(A, B), A, B)

    @abstractmethod
    def _of(self, products: Floats, A: Any, B: Any) -> Floats:
        """The kernel, from xᵀz; the products may be written over."""

    @property
    def affine(self) -> tuple[float, float] | None:
        """(g, c) where k = g·xᵀz + c: then the weights themselves are at hand."""
        return None


@dataclass(frozen=True)
class Linear(TableKernel):
    """k(x, z) = xᵀz.

    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[11.0, 2.0]]
    """

    kind = "linear"

    @property
    def affine(self) -> tuple[float, float]:
        """k is xᵀz itself."""
        return 1.0, 0.0

    def _of(self, products: Floats, A: Any, B: Any) -> Floats:
        return products


@dataclass(frozen=True)
class Polynomial(TableKernel):
    """k(x, z) = (γ xᵀz + c)^degree: its features are all products of up to so many columns.

    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[144.0]]
    """

    degree: int = 2
    gamma: float = 1.0
    constant: float = 1.0
    kind = "polynomial"

    @property
    def affine(self) -> tuple[float, float] | None:
        """Of degree one: γ and c."""
        return (self.gamma, self.constant) if self.degree == 1 else None

    def _of(self, products: Floats, A: Any, B: Any) -> Floats:
        if self.gamma != 1:
            products *= self.gamma
        if self.constant:
            products += self.constant
        return _power(products, self.degree)


@dataclass(frozen=True)
class RBF(TableKernel):
    """k(x, z) = exp(−γ‖x − z‖²).

    `center` is subtracted from dense rows first. That changes nothing but rounding: near to zero there is less of it.

    >>> RBF(gamma=0.5)(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [2.0, 1.0]])).round(4).tolist()
    [[1.0, 0.1353]]
    """

    gamma: float = 1.0
    center: Any = field(default=None, repr=False, compare=False)
    kind = "rbf"

    def __call__(self, A: Any, B: Any) -> Floats:
        """exp(−γ‖a − b‖²) of each row of A with each of B."""
        A, B = _rows(A), _rows(B)
        if isinstance(A, Sparse) or isinstance(B, Sparse):
            return super().__call__(A, B)
        near = (A, B) if self.center is None else (A - self.center, B - self.center)
        if self._lost(*near) > NEAR:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                return np.exp(-self.gamma * cdist(A, B, "sqeuclidean"))  # type: ignore[no-any-return]
        return super().__call__(*near)

    def _lost(self, A: Any, B: Any) -> float:
        """By what part of itself the kernel may be wrong, if distances are made from products of these rows."""
        longest = max(_squares(A).max(initial=0.0), _squares(B).max(initial=0.0))
        moved = 0.0 if self.center is None else float(np.linalg.norm(self.center))
        return float(2 * self.gamma * EPS * (longest + np.sqrt(longest) * moved))

    def _of(self, products: Floats, A: Any, B: Any) -> Floats:
        products *= -2
        products += _squares(A)[:, None]
        products += _squares(B)
        np.maximum(products, 0, out=products)
        products *= -self.gamma
        return np.exp(products, out=products)


def _rows(A: Any) -> Any:
    """An array, or `Sparse` where scipy's rows are given."""
    if hasattr(A, "tocsr"):
        return Sparse.of(A.tocsr().astype(np.float64))
    return A if isinstance(A, Sparse) else np.asarray(A)


def _products(A: Any, B: Any) -> Floats:
    """ABᵀ in double precision."""
    if isinstance(A, Sparse) and isinstance(B, Sparse):
        made = A.scipy().astype(np.float64) @ B.scipy().astype(np.float64).T
        return np.ascontiguousarray(made.toarray())
    if isinstance(A, Sparse):
        return np.ascontiguousarray(A @ np.ascontiguousarray(B.T))
    if isinstance(B, Sparse):
        return np.ascontiguousarray((B @ np.ascontiguousarray(A.T)).T)
    return np.asarray(A, np.float64) @ np.asarray(B, np.float64).T  # type: ignore[no-any-return]


def _squares(A: Any) -> Floats:
    """‖a‖² of each row."""
    if isinstance(A, Sparse):
        return A.squares()
    return np.einsum("ij,ij->i", A, A, dtype=np.float64)  # type: ignore[no-any-return]


def _power(base: Floats, degree: int) -> Floats:
    """baseᵈ by squaring, written over the base."""
    rest: Floats | None = None
    while degree > 1:
        if degree & 1:
            rest = base.copy() if rest is None else np.multiply(rest, base, out=rest)
        np.multiply(base, base, out=base)
        degree >>= 1
    if rest is not None:
        base *= rest
    return base


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
