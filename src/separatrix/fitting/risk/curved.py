"""Passes that bring back the curvature of each row, for whoever makes of it what stands for the Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .margin import Ask, Jet, Risk


@dataclass(frozen=True)
class CurvedRisk(Risk):
    """A risk whose Hessian, asked for to steer by, is the curvature cᵢφ″(mᵢ) of each row."""

    def __call__(self, v: Floats, ask: Ask = Ask()) -> Jet:
        """The jet at v, by one pass over the rows."""
        if not ask.steering:
            return super().__call__(v, ask)
        from ...data.compiled.passes import pass_kernel

        rows, frame, d = self.rows, self.frame, self.frame.center.size
        order, curvature = rows.block.layout, np.zeros(len(rows))
        kernel = pass_kernel(self.loss, rows.block.dtype.name, order)
        w, b = v[:d] / frame.scale, float(v[-1]) if frame.lifted else 0.0

        def run(part: Any, lo: int, hi: int) -> tuple[Jet, slice, Floats]:
            gradient, bend = np.zeros(d), np.empty(hi - lo)
            value, pulls, margin = kernel(
                part.block.readable, part.y, part.cost, lo, hi, order in ("F", "A"), frame.center, w, b, gradient, bend
            )
            tail = [pulls] * frame.lifted
            return Jet(value, np.append(gradient / frame.scale, tail), None, margin), slice(lo, hi), bend

        total = Jet(0.0, np.zeros(frame.width), None, np.inf)
        for jet, place, bend in rows.each(run):
            total += jet
            curvature[place] += bend  # a row that may be of either sign has a part of each
        value = total.value / rows.weight + self.penalty.value(v)
        return Jet(value, total.gradient / rows.weight + self.penalty.gradient(v), curvature, total.margin)
