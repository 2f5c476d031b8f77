"""Sums over rows: the value, gradient and Hessian of an empirical risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.frame import BLOCK as BLOCK
from ...data.frame import Ask as Ask
from ...data.frame import Frame
from ...data.frame import Jet as Jet
from ...data.frame import block_rows as block_rows
from ...data.jets import Written, bent, total_jet, user_parts, written_jet
from ...losses.margin import MarginLoss
from ...losses.penalty import Penalty
from ...numerics.arrays import Floats
from ...numerics.linalg import Root


@dataclass(frozen=True)
class Risk:
    """R(v) = (1/C) Σᵢ cᵢφ(yᵢzᵢᵀv) + g(v),  C = Σᵢcᵢ."""

    loss: MarginLoss
    rows: Any
    frame: Frame
    penalty: Penalty
    """g, in the frame."""
    active: NDArray[np.intp]
    """The columns that have a weight: all of them, unless some are combinations of others."""
    written: Written | None = None
    """The rows in the frame, where they are so few that they were written out once for all passes."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        full = self.embed(v)
        if self.written is not None:
            total = written_jet(self.loss, ask, full, *self.written)
        else:
            total = total_jet(self.loss, self.frame, ask, full, self.rows)
        weight = self.rows.weight
        hessian = None if total.hessian is None else self.penalised(total.hessian, full)
        slope = total.gradient / weight + self.penalty.gradient(full)
        return Jet(
            total.value / weight + self.penalty.value(full),
            slope if v is full else slope[self.active],
            hessian,
            total.margin,
        )

    def product(self, v: Floats, u: Floats) -> Floats:
        """H(v)u by one pass over the rows; where zeros are left out, in a frame that has no centre."""
        total = self.rows.fold(partial(bent, self.loss, self.frame, v, u))
        return total / self.rows.weight + self.penalty.curvature(v) * u  # type: ignore[no-any-return]

    def frame_parts(self, v: Floats) -> tuple[Floats, Floats]:
        """Weights, one row, and a level: those of the user, the frame's centre taken from the rows."""
        return user_parts(self.frame, v)

    def penalised(self, total: Any, full: Floats) -> Any:
        """The mean Hessian and the penalty's, from a sum over rows for all columns or the active ones.

        A sum for as many columns as have a weight is changed in place: it may be large, and nobody needs it again.
        """
        ridge = self.penalty.curvature(full)[self.active]
        if not isinstance(total, Root) and total.ndim == 1:
            return total[self.active] / self.rows.weight + ridge
        if isinstance(total, Root):
            R = (total.R if total.R.shape[1] == ridge.size else total.R[:, self.active]) / math.sqrt(self.rows.weight)
            return Root.of(np.vstack([R, np.diag(np.sqrt(ridge))[ridge > 0]]))
        hessian = total if len(total) == ridge.size else total[np.ix_(self.active, self.active)]
        hessian /= self.rows.weight
        hessian.flat[:: ridge.size + 1] += ridge
        return hessian

    def embed(self, v: Floats) -> Floats:
        """v with a zero for every column that has no weight."""
        if v.size == self.frame.width:
            return v
        full = np.zeros(self.frame.width)
        full[self.active] = v
        return full
