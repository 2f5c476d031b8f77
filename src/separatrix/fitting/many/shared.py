"""What problems over the same rows have in common: the products of the columns, and which columns vary at all."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.frame import Frame
from ...numerics.arrays import Floats
from ...numerics.threads import Map
from ..problem import Outcome

BLOCK = 2048
"""Rows in one product."""
RUN = 8192
"""Rows that one thread takes at a time."""
KEPT = 1 << 25
"""Numbers of Gram matrices that are kept for those who share them."""

Places = NDArray[np.intp] | None
"""Rows by their places in X; None: all of them."""


@dataclass(frozen=True)
class Products:
    """Σ zᵢzᵢᵀ of some rows in a frame, and the least and the largest number of each column."""

    gram: Floats
    low: NDArray[Any]
    high: NDArray[Any]
    rows: int

    def __add__(self, other: Products) -> Products:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Products(self.gram + other.gram, low, high, self.rows + other.rows)

    def varying(self, *, lifted: bool) -> NDArray[np.intp]:
        """The columns that matter: not those that an intercept makes up for, nor those of zeros."""
        matters = self.low < self.high if lifted else (self.low != 0) | (self.high != 0)
        return np.flatnonzero(matters)


def varying_columns(X: NDArray[Any], *, lifted: bool) -> NDArray[np.intp]:
    """The columns that matter, from the rows; one that differs in two of them need not be looked at further."""
    matters = X[0] != X[-1] if lifted else X[0] != 0
    same = np.flatnonzero(~matters)
    matters[same] = (X[:, same] != (X[0, same] if lifted else 0)).any(axis=0)
    return np.flatnonzero(matters)


def common_frame(frame: Frame) -> Frame:
    """The frame without the centres that are within a deviation of zero.

    Among some of the rows a column may be all but constant. Where that constant is zero it stays so, and what little
    the column has of its own is not lost beside a centre that other rows have given it.
    """
    return frame._replace(center=np.where(np.abs(frame.center) <= frame.scale, 0.0, frame.center))


class GramLibrary:
    """The products of sets of rows, those that several problems share taken once.

    A problem's products are the sum over its parts, each added up run by run, whoever asks for it: so the bits are the
    same whether they are shared or not.
    """

    def __init__(self, X: NDArray[Any], frame: Frame) -> None:
        self.X, self.frame = X, frame
        self.kept: dict[bytes, Products] = {}

    def share(self, parts: Sequence[Places], each: Map) -> None:
        """Take the products of all parts that occur more than once, as many as there is room for."""
        named = {_name(part): part for part in parts}
        often = Counter(_name(part) for part in parts)
        room = max(1, KEPT // self.frame.width**2)
        chosen = [name for name, times in often.most_common(room) if times > 1]
        jobs = [(name, run) for name in chosen for run in self._runs(named[name])]
        for (name, _), found in zip(jobs, each(lambda job: self._products(job[1]), jobs), strict=True):
            self.kept[name] = self.kept[name] + found if name in self.kept else found

    def of(self, parts: Iterable[Places]) -> Products:
        """The products of all parts together."""
        return _sum(self.kept.get(_name(part)) or _sum(map(self._products, self._runs(part))) for part in parts)

    def _runs(self, part: Places) -> Iterator[Any]:
        count = len(self.X) if part is None else len(part)
        for lo in range(0, count, RUN):
            some = slice(lo, min(lo + RUN, count))
            yield some if part is None else part[some]

    def _products(self, rows: Any) -> Products:
        X = self.X[rows]
        gram = np.zeros((self.frame.width, self.frame.width))
        for lo in range(0, len(X), BLOCK):
            Z = self.frame.coordinates(X[lo : lo + BLOCK])
            gram += Z.T @ Z
        return Products(gram, X.min(axis=0), X.max(axis=0), len(X))


def _name(part: Places) -> bytes:
    return b"" if part is None else part.tobytes()


def _sum(found: Iterable[Products]) -> Products:
    first, *others = found
    for other in others:
        first = first + other
    return first


class Scratch:
    """Memory for the rows of one fit after the other: fresh memory costs more than what is written to it."""

    def __init__(self) -> None:
        self._own = threading.local()

    def array(self, rows: int, columns: int, dtype: Any) -> NDArray[Any]:
        """An array of this shape, good until this thread asks for the next."""
        held: NDArray[Any] | None = getattr(self._own, "held", None)
        if held is None or held.size < rows * columns or held.dtype != dtype:
            held = self._own.held = np.empty(rows * columns, dtype)
        return held[: rows * columns].reshape(rows, columns)


def chosen(X: NDArray[Any], rows: Places, columns: NDArray[np.intp], scratch: Scratch | None = None) -> NDArray[Any]:
    """Some columns of some rows: a copy in C order, in `scratch` if given, or X itself if all of it is chosen."""
    whole = columns.size == X.shape[1]
    if rows is None:
        return X if whole else np.ascontiguousarray(X[:, columns])
    if (whole and scratch is None) or not X.flags.c_contiguous:
        return np.ascontiguousarray(X[rows] if whole else X[np.ix_(rows, columns)])
    from ...data.compiled.columns import chosen_kernel

    shape = len(rows), columns.size
    found = np.empty(shape, X.dtype) if scratch is None else scratch.array(*shape, X.dtype)
    chosen_kernel(X.dtype.name)(X, np.ascontiguousarray(rows), columns, found)
    return found


def with_constants(outcome: Outcome, varying: NDArray[np.intp], columns: int, l2: float) -> Outcome:
    """The outcome with all columns: of those that do not vary the weight is zero, and all their curvature l2."""
    if varying.size == columns:
        return outcome
    constant = np.setdiff1d(np.arange(columns), varying)
    found = outcome.bounds
    if found is not None:
        spread = _spread_out(found.spread[:-1], varying, columns, 1 / np.sqrt(l2))
        found = replace(found, spread=np.append(spread, found.spread[-1]))
    return replace(
        outcome,
        weights=_spread_out(outcome.weights, varying, columns),
        growth=_spread_out(outcome.growth, varying, columns),
        aliased=np.sort(np.append(varying[outcome.aliased], constant)) if outcome.ranked else outcome.aliased,
        bounds=found,
    )


def _spread_out(numbers: Floats, varying: NDArray[np.intp], columns: int, other: float = 0.0) -> Floats:
    full = np.full(columns, other)
    full[varying] = numbers
    return full
