"""One Hessian for all threads: rows are taken block by block, and threads share each product, not the rows.

Where threads take rows each of them has a sum of its own, and results wait for those before them. That is the faster
way for few columns; of 5 000 a sum has 200 MB, and five of them are more than all else together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .categorical import TableRows
from .frame import Ask, Frame, Jet, block_rows, written_out
from .mapped import Mapped

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
FROM, PANEL, PART = 512, 256, 128
"""Columns from which on sums of threads are dear; columns of one product; rows that one thread makes features of."""


def shared(X: Any, width: int) -> bool:
    """Whether a Hessian of these rows is one sum for all threads."""
    return isinstance(X, Mapped) and not isinstance(X, TableRows) and width >= FROM


class Gram:
    """Σ AᵀA, by panels of the upper triangle: the same bits for any number of threads."""

    def __init__(self, width: int, each: Each) -> None:
        self.sum, self.map = np.zeros((width, width)), each

    def add(self, A: Any, B: Any = None) -> None:
        """Add AᵀA; or AᵀB, which must be symmetric."""
        B = A if B is None else B

        def panel(lo: int) -> None:
            hi = lo + PANEL
            self.sum[lo:hi, lo:] += A[:, lo:hi].T @ B[:, lo:]

        list(self.map(panel, range(0, len(self.sum), PANEL)))

    def total(self) -> Floats:
        """The whole matrix: what is below the diagonal is what is above it."""
        H = self.sum
        for lo in range(0, len(H), PANEL):
            hi = lo + PANEL
            H[hi:, lo:hi] = H[lo:hi, hi:].T
            own = H[lo:hi, lo:hi]
            H[lo:hi, lo:hi] = np.triu(own) + np.triu(own, 1).T
        return H


def shared_jet(loss: Any, frame: Frame, ask: Ask, v: Floats, rows: Any) -> Jet:
    """Σᵢ cᵢφ(mᵢ), m = y∘Zv;  g = Zᵀ(c∘y∘φ′(m));  H = Zᵀ diag(c∘φ″(m)) Z, with one sum for H."""
    gram, size = Gram(frame.width, rows.map), block_rows(frame.width)
    buffer = np.empty((min(size, len(rows)), frame.width), "float32" if ask.steering else "float64")
    value, gradient, margin = [], np.zeros(frame.width), math.inf
    with np.errstate(invalid="ignore", over="ignore"):
        for side in rows.sides():
            for start in range(0, len(side), size):
                stop = min(start + size, len(side))
                A, signs = buffer[: stop - start], np.ones(stop - start, buffer.dtype)
                work = Work(loss, frame, v, side, start, A, signs)
                for part, pull, least in rows.map(work, range(start, stop, PART)):
                    value.append(part)
                    gradient += pull
                    margin = min(margin, least)
                gram.add(A, None if (signs >= 0).all() else signs[:, None] * A)
    return Jet(math.fsum(value), gradient, gram.total(), margin)


class Work:
    """What one thread does of a block: features, scores, slopes; √|cφ″|∘Z is left in the buffer, the signs beside."""

    def __init__(self, loss: Any, frame: Frame, v: Floats, rows: Any, start: int, A: Any, signs: Any) -> None:
        self.loss, self.frame, self.v, self.rows = loss, frame, v, rows
        self.start, self.A, self.signs = start, A, signs

    def __call__(self, lo: int) -> tuple[float, Floats, float]:
        """The value, the gradient and the least margin of some rows."""
        rows, here = self.rows, slice(lo, min(lo + PART, self.start + len(self.A)))
        with np.errstate(invalid="ignore", over="ignore"):
            Z, y = self.frame.coordinates(written_out(rows.X[here])), rows.y[here]
            cost = rows.cost[here] if rows.cost.size else np.ones(len(Z))
            m = y * (Z @ self.v)
            pull = (cost * y * self.loss.slope(m)) @ Z
            bend = cost * self.loss.curvature(m)
            Z *= np.sqrt(np.abs(bend))[:, None]
            place = slice(lo - self.start, here.stop - self.start)
            self.A[place] = Z
            self.signs[place] = np.where(bend < 0, -1.0, 1.0)
            return float(cost @ self.loss.value(m)), pull, float(m[cost > 0].min(initial=math.inf))
