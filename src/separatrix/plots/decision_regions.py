"""The regions that a classifier gives to its classes, in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from numpy.typing import NDArray

from ..errors import DataError, SettingError
from ..fitting.closed.support import Support
from ..numerics.arrays import Floats, Indices
from .display import Display, wrapped
from .inputs import (
    check_fitted,
    check_inside,
    checked_limits,
    classes_of,
    domain_of,
    ends_of,
    known,
    labels_of,
    places_of,
    probabilities_of,
    scores_of,
    table_of,
)
from .planes import Plane, best_plane, two_columns
from .style import class_words, current, dress, legend_below, look, plural, ring_size, row_size
from .style import theme as themed

LEVELS = (0.75, 0.95)
"""Lines of equal probability."""
COARSE = 2
"""Scores are computed at every second grid point, as they may cost as much as predictions."""
MANY_RINGS = 40
"""With more rings than this each is drawn tight around its row, so that it hides no other."""
TIGHT = 2.0
"""How much wider than the mark a tight ring is, in points."""
PLANES = ("columns", "best")
"""Two columns with the others held, or the plane in which the weights lie."""


@dataclass(eq=False)
class DecisionRegionsDisplay(Display):
    """The class that a model gives every point of a plane, and the rows.  [003 slides 11, 12]

    Hatched where a reduction to two classes leaves it open: no class has the most votes alone. Rows that the model gets
    wrong have a ring. With more than two columns the picture is a slice, in which a row may fall into another region
    than the one the model puts it in; in the best plane of a linear model of two or three classes it does not.
    """

    across: Floats
    up: Floats
    chosen: Indices
    """Places in `classes`, up × across."""
    ambiguous: NDArray[np.bool_]
    probability: Floats | None
    """P of the chosen class, up × across."""
    lead: Floats | None
    """How much the score of each class leads the best other one, at points of up × across, × K: its zeros are smooth
    boundaries. None where the largest score is not what the model predicts."""
    plane: Plane
    predicted: Indices
    """The predictions for the rows themselves, not for their places in the plane."""
    truth: Indices | None
    classes: NDArray[Any]
    name: str

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, features: Any = None, plane: str = "columns",
        probabilities: bool = False, limits: Any = None, fine: int = 151, ax: Any = None,
        theme: str | None = None, **looks: Any,
    ) -> DecisionRegionsDisplay:  # fmt: skip
        """The regions of a fitted classifier over the rows of X.

        The model is any with predict(X). Without y rows are drawn as what the model takes them for. `features` are two
        names or places of columns; all others are held at their means. Or plane="best": of all columns the plane of
        the weights and of the widest direction left over. `probabilities` shades by the probability of the predicted
        class. `limits` are the ends of the picture, ((left, right), (bottom, top)) in the units of its axes; without
        them, or with None in place of a pair, it reaches a little beyond the rows, and never beyond the numbers that
        the model knows: counts begin at 0, and of a column of whole numbers each has a cell. The grid has
        `fine` points along each axis. `ax`, `theme` and `looks` go to `plot`.
        """
        check_fitted(model)
        table = table_of(X, model)
        if plane not in PLANES:
            raise SettingError("plane", plane, f"it must be one of {', '.join(map(repr, PLANES))}.")
        if plane == "best" and features is not None:
            raise SettingError(
                "features", features, "leave features out, or plane.", "plane='best' is one of all columns;"
            )
        if not isinstance(fine, int | np.integer) or fine < 3:
            raise SettingError("fine", fine, "the grid needs 3 points along each axis at least.")
        # a point of the best plane that the model does not know is the model's to refuse, not ours to move
        domain = domain_of(model if plane == "columns" else None, len(table.names))
        seen = two_columns(table, features, domain) if plane == "columns" else best_plane(table, model)
        classes = classes_of(model, X)
        truth = None if y is None else places_of(labels_of(y, table.count), classes)
        across, up = (np.linspace(*ends, fine) for ends in _ends(seen, limits, domain, model))

        def grid_of(across: Floats, up: Floats) -> Any:
            return table.like(known(seen.at(_points(across, up)), domain))

        grid = grid_of(across, up)
        shape = (fine, fine)
        chosen = places_of(model.predict(grid), classes, "The prediction")
        open_ = model.ambiguous(grid) if hasattr(model, "ambiguous") else np.zeros(fine * fine, np.bool_)
        sure = np.take_along_axis(probabilities_of(model, grid), chosen[:, None], 1) if probabilities else None
        skip = COARSE if fine % COARSE else 1  # first and last point are among them
        some = chosen.reshape(shape)[::skip, ::skip]
        lead = None if domain.whole.any() else _lead(model, grid_of(across[::skip], up[::skip]), some, len(classes))
        display = cls(
            across, up, chosen.reshape(shape), open_.reshape(shape), None if sure is None else sure.reshape(shape),
            lead, seen,
            places_of(model.predict(X), classes, "The prediction"), truth, classes, type(model).__name__,
        )  # fmt: skip
        return display.plot(ax, theme=theme, **looks)

    @property
    def wrong(self) -> NDArray[np.intp]:
        """The rows that the model gets wrong; none where y was not given."""
        return np.flatnonzero(self.predicted != self.truth) if self.truth is not None else np.empty(0, np.intp)

    @property
    def _seen(self) -> NDArray[np.bool_]:
        """Whether a row is inside the picture."""
        low, high = np.array([self.across[0], self.up[0]]), np.array([self.across[-1], self.up[-1]])
        return np.asarray(((self.plane.points >= low) & (self.plane.points <= high)).all(axis=1))

    @property
    def data(self) -> dict[str, Any]:
        """A line for each row: where it is drawn, its class, and what the model says."""
        found = {self.plane.axes[j]: self.plane.points[:, j] for j in (0, 1)}
        if self.truth is not None:
            found["class"] = self.classes[self.truth]
        return {**found, "predicted": self.classes[self.predicted]}

    @property
    def alt_text(self) -> str:
        """The shares of the area, what is left open, and how many rows are wrong."""
        area = [
            f"{class_words(label)} has {np.mean(self.chosen == k):.0%}" for k, label in enumerate(self.classes.tolist())
        ]
        ranges = [
            f"{name} from {t[0]:.3g} to {t[-1]:.3g}"
            for name, t in zip(self.plane.axes, (self.across, self.up), strict=True)
        ]
        said = [
            f"Regions of {self.name} over {plural(len(self.predicted))}, {' and '.join(ranges)}"
            f"{'; ' + self.plane.note if self.plane.note else ''}: {', '.join(area)} of the area."
        ]
        outside = int((~self._seen).sum())
        if outside:
            said.append(f"{plural(outside)} {'is' if outside == 1 else 'are'} outside the picture.")
        share = float(self.ambiguous.mean())
        if share:
            said.append(f"The votes leave {f'{share:.1%}' if share >= 0.001 else 'less than 0.1%'} of it open.")
        if self.truth is not None:
            wrong = len(self.wrong)
            said.append(f"{plural(wrong)} {'is' if wrong == 1 else 'are'} classified wrongly.")
        return " ".join(said)

    def _facts(self) -> dict[str, Any]:
        return {
            "model": self.name,
            "classes": self.classes,
            "held": self.plane.held,
            "plane": self.plane.note,
            "area": [float(np.mean(self.chosen == k)) for k in range(len(self.classes))],
            "open": float(self.ambiguous.mean()),
            "wrong": self.wrong if self.truth is not None else None,
        }

    def _draw(self, ax: Any, legend: bool, title: str | None) -> None:
        self._shade(ax)
        self._boundaries(ax)
        if self.ambiguous.any():
            _hatch(ax, self.across, self.up, self.ambiguous)
        self._rows(ax)
        ax.set_xlim(self.across[0], self.across[-1])
        ax.set_ylim(self.up[0], self.up[-1])
        ax.set_xlabel(self.plane.axes[0])
        ax.set_ylabel(self.plane.axes[1])
        note = f"\n{self.plane.note}" if self.plane.note else ""
        ax.set_title(wrapped(f"Regions of {self.name}{note}" if title is None else title), fontsize=10.5)
        if legend:
            legend_below(ax, 4)

    def _shade(self, ax: Any) -> None:
        K, veil = len(self.classes), current().veil
        box = (self.across[0], self.across[-1], self.up[0], self.up[-1])
        if self.probability is None:
            shades = ListedColormap([look(k).colour for k in range(K)])
            ax.pcolormesh(self.across, self.up, self.chosen, cmap=shades, vmin=-0.5, vmax=K - 0.5, alpha=veil, lw=0,
                          rasterized=True, shading="nearest")  # fmt: skip
            return
        colours = np.array([to_rgb(look(k).colour) for k in range(K)])[self.chosen]
        sure = np.clip((self.probability - 1 / K) / (1 - 1 / K), 0, 1)
        shown = np.concatenate([colours, (0.04 + (current().sure - 0.04) * sure)[..., None]], axis=2)
        ax.imshow(shown, extent=box, origin="lower", aspect="auto", interpolation="bilinear", zorder=0)
        lines = ax.contour(self.across, self.up, self.probability, levels=LEVELS, colors=current().grey, linewidths=0.7)
        ax.clabel(lines, fmt="%g", fontsize=8)

    def _boundaries(self, ax: Any) -> None:
        """The edges of each class: the zeros of its lead, or cell by cell where scores do not decide the class."""
        ink = current().ink
        for k in range(1 if len(self.classes) == 2 else 0, len(self.classes)):
            if not 0 < np.mean(self.chosen == k) < 1:
                continue
            field = (self.chosen == k) - 0.5 if self.lead is None else self.lead[..., k]
            skip = (len(self.across) - 1) // (field.shape[1] - 1)
            ax.contour(self.across[::skip], self.up[::skip], field, levels=[0.0], colors=ink, linewidths=1.1)

    def _rows(self, ax: Any) -> None:
        """Marks of the rows in the picture; they are whole at its rim too, where counts of zero are."""
        worn, shown, n = current(), self.predicted if self.truth is None else self.truth, len(self.predicted)
        for k, label in enumerate(self.classes.tolist()):
            colour, marker = look(k)
            which = shown == k
            words = class_words(label) if self.truth is not None else f"taken for {label}"
            if which.any():
                ax.scatter(*self.plane.points[which & self._seen].T, s=row_size(n), c=colour, marker=marker, lw=0.4,
                           ec=worn.paper, zorder=3, clip_on=False, label=f"{words} ({which.sum()})")  # fmt: skip
        if len(self.wrong):
            few, which = len(self.wrong) <= MANY_RINGS, self.wrong[self._seen[self.wrong]]
            ax.scatter(
                *self.plane.points[which].T, s=ring_size(n) if few else ring_size(n, TIGHT),
                fc="none", ec=worn.ink, lw=0.9 if few else 0.6, zorder=4, clip_on=False,
                label=f"classified wrongly ({len(self.wrong)})",
            )  # fmt: skip
        if self.ambiguous.any():
            ax.fill([], [], fc="none", ec=worn.grey, hatch="////", lw=0.9, ls="--", label="left open by the votes")


def _ends(seen: Plane, limits: Any, domain: Support, model: Any) -> list[tuple[float, float]]:
    """From where to where each axis goes."""
    found = []
    for j, (asked, place) in enumerate(zip(checked_limits(limits, seen.axes), seen.columns, strict=True)):
        if asked is not None and place is not None:
            check_inside(asked, domain, place, seen.axes[j], model)
        found.append(ends_of(seen.points[:, j], domain, place) if asked is None else asked)
    return found


def _points(across: Floats, up: Floats) -> Floats:
    return np.column_stack([each.ravel() for each in np.meshgrid(across, up)])


def _lead(model: Any, grid: Any, chosen: Indices, K: int) -> Floats | None:
    """sₖ − maxⱼ≠ₖ sⱼ of each class, where the largest score is what the model predicts; else None."""
    if not hasattr(model, "decision_function"):
        return None
    scores = scores_of(model, grid)
    if scores.shape != (chosen.size, K) or not np.array_equal(scores.argmax(axis=1), chosen.ravel()):
        return None
    best = np.sort(scores, axis=1)
    others = np.where(scores == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return np.asarray(scores - others).reshape(*chosen.shape, K)


def _hatch(ax: Any, across: Floats, up: Floats, open_: NDArray[np.bool_]) -> None:
    grey = current().grey
    with plt.rc_context({"hatch.linewidth": 0.6, "hatch.color": grey}):
        ax.contourf(across, up, open_, levels=[0.5, 1.5], colors="none", hatches=["////"])
    ax.contour(across, up, open_, levels=[0.5], colors=grey, linewidths=0.9, linestyles="--")


REGIONS_PAD = 0.15
"""How much of a column's range `draw_regions` leaves free on each side."""
FINE = 301
"""Points of its grid along each axis."""


class Regions(NamedTuple):
    """The class of every point of a grid, and whether the votes leave it open."""

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
        raise DataError(f"has shape {rows.shape}; a picture of regions needs rows of two columns.", array="X")
    domain = domain_of(model, 2)
    across, up = (np.linspace(*ends_of(rows[:, j], domain, j, REGIONS_PAD), fine) for j in (0, 1))
    grid = known(np.column_stack([each.ravel() for each in np.meshgrid(across, up)]), domain)
    given = type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid
    chosen = np.searchsorted(model.classes_, model.predict(given)).reshape(fine, fine)
    open_ = model.ambiguous(given) if hasattr(model, "ambiguous") else np.zeros(len(grid), np.bool_)
    return Regions(across, up, chosen, open_.reshape(fine, fine), np.asarray(model.classes_))


@themed()
def draw_regions(model: Any, X: Any, y: Any, *, ax: Any = None, fine: int = FINE) -> Any:
    """Draw the regions of a fitted classifier over rows of two columns, and the rows.  [003 slides 11, 12]

    A colour and a marker for each class; hatched where no class has the most votes alone, over the colour of the class
    that is predicted there all the same. Returns the axes.
    """
    found, rows = regions_of(model, X, fine), np.asarray(X, dtype=np.float64)
    labels = labels_of(y, len(rows))
    ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")[1] if ax is None else ax
    dress(ax)
    K, worn = len(found.classes), current()
    shades = ListedColormap([look(k).colour for k in range(K)])
    ax.pcolormesh(found.across, found.up, found.chosen, cmap=shades, vmin=-0.5, vmax=K - 0.5, alpha=worn.veil, lw=0,
                  rasterized=True, shading="nearest")  # fmt: skip
    for k in range(K):
        ax.contour(found.across, found.up, found.chosen == k, levels=[0.5], colors=worn.ink, linewidths=0.9)
    if found.ambiguous.any():
        _hatch(ax, found.across, found.up, found.ambiguous)
    for k, label in enumerate(found.classes.tolist()):
        colour, marker = look(k)
        ax.scatter(*rows[labels == label].T, s=row_size(len(rows)), c=colour, marker=marker, lw=0.3, ec=worn.paper,
                   label=str(label))  # fmt: skip
    ax.set_xlim(found.across[0], found.across[-1])
    ax.set_ylim(found.up[0], found.up[-1])
    return ax


def describe_regions(model: Any, X: Any, y: Any, *, fine: int = FINE) -> str:
    """The picture of `draw_regions` in words."""
    found = regions_of(model, X, fine)
    wrong = int((model.predict(X) != np.asarray(y)).sum())
    parts = [f"{label} {np.mean(found.chosen == k):.0%}" for k, label in enumerate(found.classes.tolist())]
    said = [f"Regions of {type(model).__name__} over {plural(len(np.asarray(y)))}: {', '.join(parts)} of the area."]
    share = float(found.ambiguous.mean())
    left = f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
    said.append(f"The votes leave {left} of it open." if share else "No part of it is left open.")
    said.append(f"{plural(wrong)} {'is' if wrong == 1 else 'are'} on the wrong side.")
    return " ".join(said)
