"""A cut through a loss surface."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..theory.surfaces.minima import Minimum
from ..theory.surfaces.surface import Slice
from .loss_labels import LETTERS
from .loss_surface import MARKS
from .style import YELLOW, dress, look
from .style import theme as themed


@themed()
def draw_slice(cut: Slice, ax: Any = None, *, colour: str | None = None) -> Any:
    """The curve t ↦ J with one weight held, and its minima; returns the axes."""
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
    dress(ax)
    ax.plot(cut.t, cut.values, color=colour or look(0).colour, lw=1.8)
    moving = 0 if cut.fixed == "θ₁" else 1
    for minimum in cut.minima:
        if not minimum.attained:
            continue
        mark = MARKS[minimum.kind]
        if minimum.span is not None:
            ends = np.clip(minimum.span, cut.t[0], cut.t[-1])
            ax.plot(ends, [minimum.value] * 2, color=YELLOW, lw=6, solid_capstyle="butt", zorder=1.5)
            continue
        at = minimum.theta[moving]
        ax.plot(at, minimum.value, mark.marker, ms=mark.size * 0.8, mfc=mark.colour, mec="black", mew=1.1, zorder=4)
        ax.annotate(
            f"{at:.2f}", (at, minimum.value), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=LETTERS
        )
    ax.set_xlabel("θ₀" if moving == 0 else "θ₁")
    ax.set_ylabel(f"J at {cut.fixed} = {cut.at:g}")
    ax.set_xlim(cut.t[0], cut.t[-1])
    return ax


def describe_slice(cut: Slice) -> str:
    """The curve in words."""
    found = "; ".join(f"{m.kind} {m.value:.4g}" + _where(m, 0 if cut.fixed == "θ₁" else 1) for m in cut.minima)
    return f"{cut.title} at {cut.fixed} = {cut.at:g}: {found}."


def _where(minimum: Minimum, moving: int) -> str:
    if minimum.span is not None:
        return f" from {minimum.span[0]:.4g} to {minimum.span[1]:.4g}"
    return f" at {minimum.theta[moving]:.4g}" if minimum.attained else ""
