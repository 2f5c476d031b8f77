"""The frame of the rows, and which of their columns depend on which."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Rows
from ..data.block import block_of
from ..data.frame import Frame
from ..data.source import Source
from ..numerics.arrays import EPS, Floats
from ..numerics.linalg import Dependence, dependence, factor, independent, triangle
from .problem import NotFiniteError

SAMPLE = 4096
"""Rows whose means and deviations are the frame."""
RARE = 25
"""Rows that a column's spread must hang on for the sample to be believed."""
BLOCK = 1024
"""Rows that are put into the frame together."""
WIDE = 2000
"""The most columns of CSR rows for matrices of them: 32 MB each, and blocks of rows with their zeros beside."""
WIDE_BLOCK = 65536
"""CSR rows whose squares are added up together."""
VANISHING = 1e-140
"""Deviations whose squares lose digits, or all of themselves."""
CLEAR = 1e-8
"""The part of its square that must be a column's own to be no combination of others."""
GONE = 1e-14
"""The part of its square that a combination of others may have of its own."""


def is_wide(X: Any) -> bool:
    """Whether the rows are CSR and have so many columns that no matrix of the columns is made."""
    block = block_of(X)
    return block.by_numbers and block.shape[1] > WIDE


def wide_frame(rows: Source, lifted: bool) -> Frame:
    """No centre, and the root mean squares of all rows: a sample would miss the columns that are rare."""
    d = rows.shape[1]

    def squares(part: Rows, lo: int, hi: int) -> Floats:
        total = np.zeros(d)
        for start in range(lo, hi, WIDE_BLOCK):
            stop = min(start + WIDE_BLOCK, hi)
            total += part.block[start:stop].weighted_squares(part.cost[start:stop] if part.cost.size else None)
        return total

    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.sqrt(rows.fold(squares) / rows.weight)
    if not np.isfinite(scale).all():
        raise NotFiniteError
    some = scale > 0
    scale[~some] = np.sqrt(np.square(scale[some]).mean()) if some.any() else 1.0
    return Frame(np.zeros(d), scale, lifted)


def frame_of(rows: Source, lifted: bool, seed: int, size: int = SAMPLE) -> Frame:
    """Means and deviations of a sample of the rows; for a column that is constant there, that constant and one.

    Any centre and scale give the same minimum; these give a Hessian with a diagonal of about one.
    """
    if is_wide(rows.kind):
        return wide_frame(rows, lifted)
    sample = rows.sample(size, seed)
    center, scale = _moments(sample, lifted)
    flat = np.flatnonzero(~(scale > np.maximum(64 * EPS * np.abs(center), VANISHING)))
    if flat.size:
        low, high = (each[flat] for each in sample.block.extremes())
        if ((low != high) & (np.maximum(np.abs(low), np.abs(high)) < VANISHING)).any():
            raise NotFiniteError  # their squares vanish as those of large numbers overflow
    if lifted and flat.size:
        same = flat[low == high]
        center[same], scale[same] = low[low == high], 0.0  # exactly: what is constant must become zero, not rounding
    if not (np.isfinite(scale).all() and np.isfinite(center).all()):
        raise NotFiniteError
    scale[scale == 0] = 1.0
    return Frame(center, scale, lifted)


def _moments(rows: Rows, lifted: bool) -> tuple[Floats, Floats]:
    """Means (zero without an intercept) and root mean squares about them, by cost."""
    n, cost = len(rows), rows.costs
    weight = cost / cost.sum() if cost.any() else np.full(n, 1 / n)
    cuts = [(lo, lo + BLOCK) for lo in range(0, n, BLOCK)]
    center, square = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        for lo, hi in cuts if lifted else ():
            center += weight[lo:hi] @ rows.dense(lo, hi)
        for lo, hi in cuts:
            square += weight[lo:hi] @ np.square(rows.dense(lo, hi) - center)
    return center, np.sqrt(square)


def has_rare_column(rows: Source, frame: Frame, seed: int) -> bool:
    """Whether a column's spread hangs on few rows, (Σz²)²/Σz⁴ < 25 in a sample, which then says little about it."""
    sample = rows.sample(SAMPLE, seed)
    spread, fourth = np.zeros(frame.center.size), np.zeros(frame.center.size)
    for lo in range(0, len(sample), BLOCK):
        square = np.square(frame.coordinates(sample.dense(lo, lo + BLOCK))[:, : frame.center.size])
        spread += square.sum(axis=0)
        fourth += np.square(square, out=square).sum(axis=0)
    return bool((spread**2 <= RARE * fourth).any())


def dependence_of(rows: Source, frame: Frame, gram: Floats) -> Dependence:
    """Which weights depend on which, the intercept before the columns: from their products, or if need be by QR."""
    return dependence_by_products(rows, frame, gram) or dependence_by_rows(rows, frame)


def _order(frame: Frame) -> NDArray[np.intp]:
    d = frame.center.size
    return np.append(d, np.arange(d)) if frame.lifted else np.arange(d)


def _noise(rows: Source, frame: Frame) -> Floats:
    """The rounding of each column over all rows."""
    size = np.append(np.abs(frame.center) / frame.scale + 1, [1.0] * frame.lifted)
    return 64 * EPS * size * np.sqrt(len(rows))  # type: ignore[no-any-return]


def dependence_by_products(rows: Source, frame: Frame, gram: Floats) -> Dependence | None:
    """The dependence that XᵀX tells of, if the rows confirm every combination to the last digits; else None."""
    order, noise = _order(frame), _noise(rows, frame)
    found = independent(gram[np.ix_(order, order)], CLEAR, GONE * len(gram))
    if found is None:
        return None
    kept, aliased = np.sort(order[found[0]]), order[found[1]]
    made = factor(gram[np.ix_(kept, kept)])
    if made is None or not aliased.size:
        return None
    combination = made.solve(gram[np.ix_(kept, aliased)])
    some = np.diag(gram)[aliased] > 0  # the others are zero in every row: nothing to confirm
    for _ in range(2 if some.any() else 0):
        left, correction = _residual(rows, frame, kept, aliased[some], combination[:, some])
        if (left <= noise[aliased[some]] + noise[kept] @ np.abs(combination[:, some])).all():
            return Dependence(kept, aliased, combination)
        combination[:, some] += made.solve(correction)
    return None if some.any() else Dependence(kept, aliased, combination)


def _residual(
    rows: Source, frame: Frame, kept: NDArray[np.intp], aliased: NDArray[np.intp], combination: Floats
) -> tuple[Floats, Floats]:
    """The lengths of what the combinations leave over, and its mean products with the kept columns."""

    def run(part: Rows, lo: int, hi: int) -> NDArray[Any]:
        total = np.zeros((kept.size + 1, aliased.size))
        for start in range(lo, hi, BLOCK):
            Z = _counted(part, frame, start, min(start + BLOCK, hi))
            known = Z[:, kept]
            left = Z[:, aliased] - known @ combination
            total[0] += np.square(left).sum(axis=0)
            total[1:] += known.T @ left
        return total

    total = rows.fold(run, blas=True)
    return np.sqrt(total[0]), total[1:] / rows.weight


def dependence_by_rows(rows: Source, frame: Frame) -> Dependence:
    """The dependence by QR of all rows: the only way where they are fewer than the columns."""
    order = _order(frame)

    def blocks(part: Rows, lo: int, hi: int) -> Floats:
        return triangle(
            _counted(part, frame, start, min(start + BLOCK, hi))[:, order] for start in range(lo, hi, BLOCK)
        )

    R = triangle(rows.each(blocks, blas=True))
    found = dependence(R, _noise(rows, frame)[order])
    kept = order[found.kept]
    sort = np.argsort(kept)  # the intercept last again, as in the frame
    return Dependence(kept[sort], order[found.aliased], found.combination[sort])


def _counted(rows: Rows, frame: Frame, lo: int, hi: int) -> Floats:
    Z = frame.coordinates(rows.dense(lo, hi))
    return Z[rows.cost[lo:hi] > 0] if rows.cost.size else Z
