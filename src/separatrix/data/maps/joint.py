"""Joint features Φ(x, c) of a row and a class: the convention, and maps that are ready made.

A feature map is anything that can be called as `feature_map(X, c)`. It gets all rows at hand, as an array, as scipy's
CSR, or as the list of objects that the user gave, and one class c; it returns rows × p numbers, the same p for every
class. Φ of a row must depend on that row and c alone. A map may also have

- `names`, a name for each of its features, and `free`, the places of those that no penalty touches;
- `bind(classes, columns)`, which returns the map for these classes and columns; objects have no columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ...errors import DataError, SettingError, SettingTypeError
from ...numerics.arrays import Floats

INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Rowwise:
    """Φ(X, c) row by row, of a function of one row and a class."""

    phi: Callable[[Any, Any], Any]
    names: tuple[str, ...] = ()
    free: tuple[int, ...] = ()

    def __call__(self, X: Any, c: Any) -> list[Any]:
        """φ(x, c) of each row."""
        return [self.phi(x, c) for x in written_out(X)]


def rowwise(
    phi: Callable[[Any, Any], Any], *, names: Iterable[str] = (), free: Iterable[int | str] = ()
) -> Callable[[Any, Any], Any]:
    """The feature map of a function phi(x, c) of one row (or object) and a class, which returns p numbers.

    `names` are the names of the features, `free` those that a penalty leaves alone, by name or by place.

    Examples
    --------
    >>> ends = rowwise(lambda word, c: [word.endswith(c), len(word) if c == "s" else 0], names=["ending", "length"])
    >>> ends(["cats", "dog"], "s")
    [[True, 4], [False, 3]]
    """
    if not callable(phi):
        raise SettingTypeError("phi", phi, "it must be a function phi(x, c) of one row and a class.")
    names = tuple(names)
    places = []
    for each in free:
        if isinstance(each, str) and each not in names:
            problem = f"free names {each!r}, which is not a feature;"
            raise SettingError("free", each, f"names are {list(names)}.", problem)
        places.append(names.index(each) if isinstance(each, str) else int(each))
    return Rowwise(phi, names, tuple(places))


def written_out(X: Any) -> Any:
    """X with the zeros that CSR rows leave out."""
    return X.toarray() if hasattr(X, "toarray") else X


class Block(NamedTuple):
    """A run of features that some classes have in common: columns of x, then a one if there is an intercept."""

    name: str
    members: tuple[Any, ...]
    columns: tuple[int, ...]
    intercept: bool


@dataclass(frozen=True)
class Blocks:
    """Φ(x, c): in the place of each block that c is a member of, the block's columns of x; zeros elsewhere."""

    blocks: tuple[Block, ...]
    names: tuple[str, ...] = field(repr=False)
    free: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, blocks: Iterable[Block], columns: tuple[str, ...]) -> Blocks:
        """The map of these blocks; a feature is called "block: column"."""
        blocks = tuple(blocks)
        names = [
            f"{b.name}: {part}" for b in blocks for part in [*(columns[j] for j in b.columns), INTERCEPT][: _width(b)]
        ]
        free, start = [], 0
        for block in blocks:
            start += _width(block)
            free += [start - 1] * block.intercept
        return cls(blocks, tuple(names), tuple(free))

    def __call__(self, X: Any, c: Any) -> Floats:
        """Rows × p."""
        rows = np.asarray(written_out(X))
        out = np.zeros((len(rows), len(self.names)))
        for start, block in zip(self._starts, self.blocks, strict=True):
            if c in block.members:
                stop = start + len(block.columns)
                out[:, start:stop] = rows[:, list(block.columns)]
                out[:, stop : stop + block.intercept] = 1
        return out

    @cached_property
    def _starts(self) -> list[int]:
        """The first feature of each block."""
        return [0, *accumulate(map(_width, self.blocks[:-1]))]


def _width(block: Block) -> int:
    return len(block.columns) + block.intercept


@dataclass(frozen=True)
class Separate:
    """Φ(x, c) = x ⊗ e_c, with an intercept (x, 1) ⊗ e_c: weights of its own for each class.  [004 §4.5]

    The intercepts are free of penalties.
    """

    intercept: bool = True

    def bind(self, classes: tuple[Any, ...], columns: tuple[str, ...] | None) -> Blocks:
        """The map for these classes and columns."""
        columns = _needed(self, columns)
        every = tuple(range(len(columns)))
        return Blocks.of((Block(str(c), (c,), every, bool(self.intercept)) for c in classes), columns)


@dataclass(frozen=True)
class Shared:
    """Φ(x, c) = x ⊗ (e_c + Σ_{g ∋ c} e_g): weights for each class, and for each group weights its classes share.

    Parameters
    ----------
    groups : dict
        The classes of each group, {"dog": ["poodle", "beagle"]}. A class may be in several groups, or in none.
    intercept : bool
        Whether each class has an intercept; of classes without weights of their own their groups have one. Intercepts
        are free of penalties.
    own : True, False or list of classes
        Which classes have weights of their own: all, none, or these. A class with none and in no group has the score
        zero always.
    columns : dict
        The columns of a class or a group, by name or place: {"bird": ["wings"]}. Of those that are not named, all.

    Where a class's own weights cover the columns of its groups, sharing changes no score that can be reached, only
    which weights a penalty or a perceptron prefers.

    Examples
    --------
    >>> bound = Shared({"dog": ["poodle", "beagle"]}, columns={"poodle": ["curls"]}, own=["cat", "poodle"]).bind(
    ...     ("beagle", "cat", "poodle"), ("ears", "curls"))
    >>> bound.names[:4]
    ('dog: ears', 'dog: curls', 'dog: (intercept)', 'cat: ears')
    >>> bound([[7.0, 1.0]], "poodle").tolist()
    [[7.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]]
    """

    groups: Mapping[str, Iterable[Any]]
    intercept: bool = True
    own: Any = True
    columns: Mapping[Any, Iterable[Any]] = field(default_factory=dict)

    def bind(self, classes: tuple[Any, ...], columns: tuple[str, ...] | None) -> Blocks:
        """The map for these classes and columns."""
        columns = _needed(self, columns)
        for name, example in (("groups", '{"dog": ["poodle", "beagle"]}'), ("columns", '{"dog": ["ears"]}')):
            if not isinstance(getattr(self, name), Mapping):
                needed = f"it must be a dictionary with a list for each name, such as {example}."
                raise SettingError(name, getattr(self, name), needed)
        groups = {name: self._members(name, classes) for name in self.groups}
        own = _owners(self.own, classes)
        both = [name for name in groups if name in own]
        if both:
            raise SettingError(
                "groups", both[0], "call the group something else.", f"{both[0]!r} is a group and a class:"
            )
        strange = [block for block in self.columns if block not in groups and block not in own]
        if strange:
            problem = f"columns names {strange[0]!r}, which is neither a group nor a class with weights of its own."
            raise SettingError("columns", strange[0], "", problem)
        made = [
            Block(
                str(name), members, self._places(name, columns), bool(self.intercept) and not set(members) <= set(own)
            )
            for name, members in groups.items()
        ]
        made += [Block(str(c), (c,), self._places(c, columns), bool(self.intercept)) for c in own]
        if not sum(map(_width, made)):
            needed = "give it groups, columns or weights of the classes' own."
            raise SettingError("groups", self.groups, needed, f"{self!r} has no feature at all:")
        return Blocks.of(made, columns)

    def _members(self, name: str, classes: tuple[Any, ...]) -> tuple[Any, ...]:
        members = self.groups[name]
        if isinstance(members, str):
            raise SettingError(f"groups[{name!r}]", members, "it must be a list of classes.")
        members = tuple(members)
        for member in members:
            if member not in classes:
                problem = f"groups[{name!r}] names {member!r}, which is not a class of y;"
                raise SettingError("groups", member, f"y has the classes {list(classes)}.", problem)
        return members

    def _places(self, block: Any, columns: tuple[str, ...]) -> tuple[int, ...]:
        if block not in self.columns:
            return tuple(range(len(columns)))
        found = []
        for each in self.columns[block]:
            if isinstance(each, str) and each in columns:
                found.append(columns.index(each))
            elif isinstance(each, int | np.integer) and 0 <= each < len(columns):
                found.append(int(each))
            else:
                problem = f"columns[{block!r}] names {each!r};"
                raise SettingError("columns", each, f"X has the columns {list(columns)}.", problem)
        return tuple(found)


def _needed(given: Separate | Shared, columns: tuple[str, ...] | None) -> tuple[str, ...]:
    if columns is None:
        raise DataError(
            f"{type(given).__name__} needs rows of numbers, and X holds objects: write a map of your own, "
            "such as rowwise(phi)."
        )
    return columns


def _owners(own: Any, classes: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(own, bool | np.bool_):
        return classes if own else ()
    if isinstance(own, str) or not isinstance(own, Iterable):
        raise SettingError("own", own, "it must be True, False or a list of classes.")
    owners: tuple[Any, ...] = tuple(own)
    for each in owners:
        if each not in classes:
            problem = f"own names {each!r}, which is not a class of y;"
            raise SettingError("own", each, f"y has the classes {list(classes)}.", problem)
    return owners
