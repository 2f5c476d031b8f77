"""Firth's penalised likelihood of a problem's rows: its independent columns, and the way back to the user's units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dger

from ...data import Rows
from ...data.block import Dense
from ...data.frame import Frame, WeightMap, block_rows
from ...numerics.arrays import EPS, Floats
from ...numerics.linalg import Dependence, triangle
from ..coordinates import CLEAR, dependence_by_rows, dependence_of, frame_of
from ..problem import NotFiniteError, Problem
from ..risk.firth import Block, Firth, FirthPoint, Read, added, in_memory

AT_ONCE = 1 << 20
"""Numbers in X of which one copy in the frame is made and kept."""


@dataclass(frozen=True)
class FirthView:
    """Rows that count in coordinates z = Tᵀ((x − c)/s, 1)_kept, those of independent columns."""

    rows: Rows
    """Only those that count; y holds the probabilities of the second class."""
    frame: Frame
    dependence: Dependence | None
    triangular: Floats | None
    """R/√C of the kept columns, where these are so nearly dependent that T = R⁻¹√C is needed; else T is one."""
    signs: Floats | None = None
    """Of labels −1 and +1, if the rows are held in memory: they are held as yᵢzᵢ, of the second class all."""
    made: Floats | None = None
    """Those, where they came with the frame: T and what is kept being one."""

    @property
    def width(self) -> int:
        """How many weights are determined."""
        return self.frame.width if self.dependence is None else self.dependence.kept.size

    @property
    def total(self) -> float:
        """C = Σᵢcᵢ."""
        return self.rows.weight

    @property
    def stray(self) -> float:
        """How many times more than one rounding a coordinate is off."""
        if self.triangular is None:
            return 1.0
        return float(np.linalg.cond(self.triangular / np.linalg.norm(self.triangular, axis=0)))

    def reach(self, v: Floats) -> float:
        """‖|R||R⁻¹v|‖: how large the terms of a score zᵀv are beside ‖z‖, the coordinates' own terms included."""
        R = self.triangular
        terms = v if R is None else np.abs(R) @ np.abs(self.inside(v))
        return math.sqrt(float(terms @ terms))

    @property
    def units(self) -> float:
        """log|A| of the kept columns as the user has them, less that of the coordinates."""
        d = self.frame.center.size
        if self.dependence is None and self.triangular is None:
            return 2 * float(np.add.reduce(np.log(self.frame.scale)))
        kept = np.arange(self.frame.width) if self.dependence is None else self.dependence.kept
        turned = 0.0 if self.triangular is None else float(np.log(np.abs(np.diag(self.triangular))).sum())
        return 2 * (float(np.log(self.frame.scale[kept[kept < d]]).sum()) + turned)

    def likelihood(self) -> Firth:
        """ℓ* of the rows; small tables are put into the frame once, large ones again and again, block by block."""
        rows = self.rows
        if rows.size > AT_ONCE:
            return Firth(self._read(), len(rows))
        if self.signs is None:
            return Firth(in_memory(self._coordinates(rows.dense()), rows.y, rows.cost), len(rows))
        Z = self.made if self.made is not None else self._coordinates(rows.dense()) * self.signs[:, None]
        return Firth(in_memory(Z, self.signs[:0], rows.cost), len(rows))

    def _read(self) -> Read:
        size = block_rows(self.frame.width)

        def block(part: Rows, lo: int, hi: int) -> Block:
            cost = part.cost[lo:hi] if part.cost.size else part.cost
            return Block(slice(lo, hi), self._coordinates(part.dense(lo, hi)), part.y[lo:hi], cost)

        def read(look: Any) -> Any:
            def run(part: Rows, lo: int, hi: int) -> tuple[Any, ...]:
                return added(look(block(part, start, min(start + size, hi))) for start in range(lo, hi, size))

            return self.rows.each(run, blas=True)

        return read

    def _coordinates(self, X: NDArray[Any]) -> Floats:
        """z of each row, column by column."""
        frame, d = self.frame, self.frame.center.size
        Z = np.empty((frame.width, len(X)))
        np.subtract(X.T, frame.center[:, None], out=Z[:d])
        Z[:d] /= frame.scale[:, None]
        Z[d:] = 1
        if self.dependence is not None:
            Z = Z[self.dependence.kept]
        if self.triangular is not None:
            Z = np.ascontiguousarray(solve_triangular(self.triangular, Z, trans="T", check_finite=False))
        return Z.T

    def inside(self, v: Floats) -> Floats:
        """v as weights of the kept columns in the frame."""
        return v if self.triangular is None else solve_triangular(self.triangular, v)  # type: ignore[no-any-return]

    def from_user(self, weights: Floats, intercept: float) -> Floats:
        """The coordinates of weights in the user's units."""
        v = self.frame.from_user(weights, intercept)
        if self.dependence is not None:
            v = v[self.dependence.kept] + self.dependence.combination @ v[self.dependence.aliased]
        return v if self.triangular is None else self.triangular @ v  # type: ignore[no-any-return]


def view_of(problem: Problem) -> FirthView:
    """The rows that count, in a frame, with all columns taken to be independent."""
    rows, signs = problem.rows.gathered(), None
    costs, soft = rows.costs, rows.other.size > 0
    target = np.where(costs > 0, rows.cost, 0.0) / np.where(costs > 0, costs, 1.0) if soft else (rows.y + 1.0) / 2
    rows = Rows(rows.block, target, costs, rows.map, rows.compiled, rows.other[:0], rows.packed)
    if costs.size and not costs.all():
        if not rows.block[
            np.flatnonzero(costs == 0)
        ].finite():  # as in every fit: what is absent may be far, not nowhere
            raise NotFiniteError
        rows = rows.take(np.flatnonzero(costs))
    if len(rows) < rows.shape[1]:
        rows = replace(rows, block=Dense(rows.dense()))
    if not soft and rows.size <= AT_ONCE:
        signs = 2 * rows.y - 1
        found = _framed(rows, problem.lifted, signs)
        if found is not None:
            return FirthView(rows, found[0], None, None, signs, found[1])
    return FirthView(rows, frame_of(rows, problem.lifted, problem.seed), None, None, signs)


def _framed(rows: Rows, lifted: bool, signs: Floats) -> tuple[Frame, Floats] | None:
    """The frame of all rows and yᵢzᵢ at once; None where X is no array, or a column all but constant or not finite."""
    if not rows.block.at_hand:
        return None
    X, (n, d) = rows.dense(), rows.shape
    weight = rows.cost / rows.weight if rows.cost.size else None
    Z = np.empty((d + lifted, n))
    inner, center = Z[:d], np.zeros(d)
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(inner, X.T)
        inner *= signs
        if lifted:
            center = inner @ signs / n if weight is None else inner @ (signs * weight)  # of yᵢ·yᵢxᵢ, which is xᵢ
            dger(-1.0, signs, center, a=inner.T, overwrite_a=True)  # ±(x − c), with one rounding
        square = np.vecdot(inner, inner) / n if weight is None else np.square(inner) @ weight
    spread = np.sqrt(square)
    if not ((spread > 64 * EPS * np.abs(center)).all() and math.isfinite(float(np.add.reduce(spread)))):
        return None
    scale = np.exp2(np.rint(np.log2(spread)))  # so that nothing is rounded again
    if (scale != 1).any():
        inner /= scale[:, None]
    Z[d:] = signs
    return Frame(center, scale, lifted), Z.T


def settled(view: FirthView, at: FirthPoint | None) -> FirthView:
    """The view with only independent columns kept; `at` is the glance at zero, where rows are enough for one."""
    rows, frame = view.rows, view.frame
    found = (
        dependence_by_rows(rows, frame) if at is None else dependence_of(rows, frame, 4 * at.information / view.total)
    )
    return replace(view, dependence=found, made=None) if found.aliased.size else view


def turned(view: FirthView) -> FirthView:
    """The view in coordinates in which no column is nearly a combination of others: ΣcᵢZᵢZᵢᵀ = C."""

    def run(part: Rows, lo: int, hi: int) -> Floats:
        return triangle(rooted(part, start, min(start + size, hi)) for start in range(lo, hi, size))

    def rooted(part: Rows, lo: int, hi: int) -> Floats:
        Z = view._coordinates(part.dense(lo, hi))
        return Z * np.sqrt(part.cost[lo:hi])[:, None] if part.cost.size else Z

    size = block_rows(view.frame.width)
    R = triangle(view.rows.each(run, blas=True))
    return replace(view, triangular=R / math.sqrt(view.total), made=None)


def is_clear(at: FirthPoint) -> bool:
    """Whether more than 10⁻⁸ of each column's square is its own, not explained by all the others."""
    if not at.root.size:
        if not (math.isfinite(at.likelihood) and np.isfinite(at.information).all()):
            raise NotFiniteError
        return False
    return float(np.maximum.reduce(at.information.diagonal() * np.vecdot(at.root, at.root))) < 1 / CLEAR


class FirthWeightMap:
    """From coordinates to the user's units: of all weights with the same scores, the shortest."""

    def __init__(self, view: FirthView) -> None:
        self.view = view
        self.weight_map = WeightMap(view.frame, view.dependence)
        few = view.dependence is not None and len(view.rows) < view.frame.width
        self.map: tuple[Floats, Floats] | None = self._through_rows() if few else None
        self.plain = view.dependence is None and view.triangular is None
        if self.plain:
            self.to_user = view.frame.to_user  # type: ignore[method-assign]

    def to_user(self, v: Floats) -> tuple[Floats, float]:
        """Weights and intercept."""
        inside = self.view.inside(v)
        if self.map is not None:
            return self.map[0] @ inside, float((self.map[1] @ inside)[0])
        return self.weight_map.to_user(inside)

    def roughly(self, v: Floats) -> tuple[Floats, float]:
        """Weights and intercept to within rounding, for a look on the way."""
        frame = self.view.frame
        if not self.plain:
            return self.to_user(v)
        w = v[: frame.center.size] / frame.scale
        return w, float(v[-1] - frame.center @ w) if frame.lifted else 0.0

    def spread(self, inverse: Floats) -> Floats:
        """√(T M⁻¹ Tᵀ)ⱼⱼ for each weight and the intercept, T the map to the user's units."""
        if self.map is None and self.view.triangular is None:
            return self.weight_map.spread(inverse)
        T = np.array([np.append(*self.to_user(unit)) for unit in np.eye(len(inverse))]).T
        return np.sqrt(np.einsum("ij,jk,ik->i", T, inverse, T, optimize=True))  # type: ignore[no-any-return]

    def _through_rows(self) -> tuple[Floats, Floats]:
        """The map of `to_user` by the rows, which are fewer than the columns: too many directions change no score."""
        frame, found = self.view.frame, self.view.dependence
        assert found is not None
        full = np.zeros((frame.width, found.kept.size))
        full[found.kept] = np.eye(found.kept.size)
        weights = full[: frame.center.size] / frame.scale[:, None]
        centred = np.asarray(self.view.rows.dense(), np.float64) - frame.center
        shortest: Floats = np.linalg.lstsq(centred, centred @ weights, rcond=EPS * max(centred.shape))[0].astype(float)
        level = full[-1] if frame.lifted else np.zeros(found.kept.size)
        return shortest, (level - frame.center @ shortest)[None] if frame.lifted else level[None]


def aliased_columns(view: FirthView) -> NDArray[np.intp]:
    """The columns that are combinations of others and the intercept."""
    if view.dependence is None:
        return np.empty(0, np.intp)
    found = view.dependence.aliased
    return found[found < view.frame.center.size]
