"""Who gets what: the regions of a classifier in two columns, hatched where the votes leave it open."""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from .box import domain_of, ends_of, known
from .style import current, dress, look, plural, row_size, theme

PAD, FINE = 0.15, 301
"""The free part of a column's range on each side; points of the grid along each axis."""


class Regions(NamedTuple):
    """What is drawn: the class of every point of a grid, and whether the votes leave it open."""

    across: Floats
    up: Floats
    chosen: NDArray[np.intp]
    """Places in `classes`, up × across."""
    ambiguous: NDArray[np.bool_]
    classes: NDArray[Any]


def regions_of(model: Any, X: Any, fine: int = FINE) -> Regions:
    """The regions over a box around rows of two columns. A model without `ambiguous` has no region left open."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X has shape {rows.shape}; a picture of regions needs rows of two columns.")
    domain = domain_of(model, 2)
    across, up = (np.linspace(*ends_of(rows[:, j], domain, j, PAD), fine) for j in (0, 1))
    grid = known(np.column_stack([each.ravel() for each in np.meshgrid(across, up)]), domain)
    given = type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid
    chosen = np.searchsorted(model.classes_, model.predict(given)).reshape(fine, fine)
    open_ = model.ambiguous(given) if hasattr(model, "ambiguous") else np.zeros(len(grid), np.bool_)
    return Regions(across, up, chosen, open_.reshape(fine, fine), np.asarray(model.classes_))


@theme()
def draw(model: Any, X: Any, y: Any, *, ax: Any = None, fine: int = FINE) -> Any:
    """Draw the regions of a fitted classifier over rows of two columns, and the rows.  [003 slides 11, 12]

    A colour and a marker for each class; hatched where no class has the most votes alone, over the colour of the class
    that is predicted there all the same. Returns the axes.
    """
    found, rows, labels = regions_of(model, X, fine), np.asarray(X, dtype=np.float64), np.asarray(y)
    if labels.shape != (len(rows),):
        raise ValueError(f"y has shape {labels.shape}; a label for each of the {len(rows)} rows is needed.")
    ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")[1] if ax is None else ax
    dress(ax)
    K, worn = len(found.classes), current()
    shades = ListedColormap([look(k).colour for k in range(K)])
    ax.pcolormesh(found.across, found.up, found.chosen, cmap=shades, vmin=-0.5, vmax=K - 0.5, alpha=worn.veil, lw=0,
                  rasterized=True, shading="nearest")  # fmt: skip
    for k in range(K):
        ax.contour(found.across, found.up, found.chosen == k, levels=[0.5], colors=worn.ink, linewidths=0.9)
    if found.ambiguous.any():
        with plt.rc_context({"hatch.linewidth": 0.6, "hatch.color": worn.grey}):
            ax.contourf(found.across, found.up, found.ambiguous, levels=[0.5, 1.5], colors="none", hatches=["////"])
        ax.contour(found.across, found.up, found.ambiguous, levels=[0.5], colors=worn.grey, linewidths=0.9,
                   linestyles="--")  # fmt: skip
    for k, label in enumerate(found.classes.tolist()):
        colour, marker = look(k)
        ax.scatter(*rows[labels == label].T, s=row_size(len(rows)), c=colour, marker=marker, lw=0.3, ec=worn.paper,
                   label=str(label))  # fmt: skip
    ax.set_xlim(found.across[0], found.across[-1])
    ax.set_ylim(found.up[0], found.up[-1])
    return ax


def alt_text(model: Any, X: Any, y: Any, *, fine: int = FINE) -> str:
    """The same in words, for who cannot see it."""
    found = regions_of(model, X, fine)
    wrong = int((model.predict(X) != np.asarray(y)).sum())
    parts = [f"{label} {np.mean(found.chosen == k):.0%}" for k, label in enumerate(found.classes.tolist())]
    said = [f"Regions of {type(model).__name__} over {plural(len(np.asarray(y)))}: {', '.join(parts)} of the area."]
    share = float(found.ambiguous.mean())
    left = f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
    said.append(f"The votes leave {left} of it open." if share else "No part of it is left open.")
    said.append(f"{plural(wrong)} {'is' if wrong == 1 else 'are'} on the wrong side.")
    return " ".join(said)
