"""A plane through rows of any number of columns: two of the columns, or the plane in which the weights lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fitting.closed.support import Support
from ..numerics.arrays import Floats
from .box import known
from .inputs import Table, are_scores, weights_of

TINY = 1e-9
"""Of the largest: what a direction must be to count."""


@dataclass(frozen=True, eq=False)
class Plane:
    """x = origin + directionsᵀ t: the points that are drawn, and where each row falls."""

    origin: Floats
    directions: Floats
    """2 × columns."""
    points: Floats
    """t of each row, n × 2."""
    axes: tuple[str, str]
    held: dict[str, float]
    """Columns that stay at their mean, and that mean."""
    note: str
    columns: tuple[int | None, int | None]
    """The places of the columns that are the axes; None where an axis is a direction of all columns."""
    exact: bool
    """Whether the score of a linear model at a row's place in the plane is that of the row."""

    def at(self, t: Floats) -> Floats:
        """The rows that points of the plane stand for."""
        return np.asarray(self.origin + t @ self.directions)


def two_columns(table: Table, features: Any, domain: Support) -> Plane:
    """x with two columns free and all others at their means, or at what the model knows nearest to them."""
    d = len(table.names)
    if features is None:
        if d != 2:
            raise ValueError(
                f"X has {d} columns, and a picture two: name them by features=[…, …], the others are held at their "
                "mean; or ask for plane='best'."
            )
        features = (0, 1)
    chosen = table.places(features, 2)
    if len(chosen) != 2:
        raise ValueError(f"features is {features!r}; a picture of regions needs two columns.")
    mean = table.values.mean(axis=0)
    origin = known(mean, domain)
    means = bool((origin == mean)[[j for j in range(d) if j not in chosen]].all())
    origin[chosen] = 0.0
    directions = np.zeros((2, d))
    directions[[0, 1], chosen] = 1.0
    held = {table.names[j]: float(origin[j]) for j in range(d) if j not in chosen}
    names = (table.names[chosen[0]], table.names[chosen[1]])
    words, columns = _held_words(held, means), (chosen[0], chosen[1])
    return Plane(origin, directions, table.values[:, chosen], names, held, words, columns, not held)


def best_plane(table: Table, model: Any) -> Plane:
    """span(w̃, v₁): the weights per standard deviation, and the widest direction of the rows that is left over.

    Columns are centred and divided by their standard deviations. Of one row of weights the first axis is along w̃ and
    the second along the leading principal direction of what w̃ leaves; of several rows their two leading directions.
    A score that depends on the plane alone is the same at a row and at its place in the plane: so the picture is exact
    for linear models of two or three classes.
    """
    d = len(table.names)
    if d < 2:
        raise ValueError("X has one column, and the best plane needs two at least: draw it by ResponseDisplay.")
    origin, scale = table.values.mean(axis=0), table.values.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    U = (table.values - origin) / scale
    W = weights_of(model, d)
    first, left = _spanned(np.zeros((0, d)) if W is None else (W - W.mean(axis=0) if len(W) > 2 else W) * scale)
    basis = first
    if len(basis) < 2:
        rest = U - U @ basis.T @ basis
        basis = np.vstack([basis, np.linalg.svd(rest, full_matrices=False)[2][: 2 - len(basis)]])
    names = ["first direction of the weights", "second direction of the weights"]
    if len(first) == 1:
        names = ["along the weights", "widest direction left over"]
    elif not len(first):
        names = ["widest direction of the rows", "second widest direction"]
    axes = (f"{names[0]} (st. dev.)", f"{names[1]} (st. dev.)")
    note = _plane_words(len(first), left, d)
    exact = W is not None and bool(len(first)) and left < TINY and are_scores(model, table.given, table.values, W)
    return Plane(origin, basis * scale, U @ basis.T, axes, {}, note, (None, None), exact)


def _spanned(W: Floats) -> tuple[Floats, float]:
    """The two leading directions of the rows of W, signed by the last of them, and the share of W they leave out."""
    if not W.size or not W.any():
        return np.zeros((0, W.shape[1])), 0.0
    _, sizes, directions = np.linalg.svd(W, full_matrices=False)
    kept = min(2, int((sizes > TINY * sizes[0]).sum()))
    basis = directions[:kept]
    signs = np.where(basis @ W[-1] < 0, -1.0, 1.0)
    return basis * signs[:, None], float((sizes[kept:] ** 2).sum() / (sizes**2).sum())


def _plane_words(found: int, left: float, d: int) -> str:
    if not found:
        return f"the widest plane through {d} columns: the model has no weights of its columns"
    if left < TINY:
        return f"the plane of the weights through {d} columns"
    return f"the plane that holds {1 - left:.0%} of the weights of {d} columns"


def _held_words(held: dict[str, float], means: bool) -> str:
    if not held:
        return ""
    if len(held) > 3:
        return f"{len(held)} other columns held at their means" + ("" if means else ", or next to them")
    values = ", ".join(f"{name} = {value:.3g}" for name, value in held.items())
    return f"{values} (held {'at' if means else 'next to'} the mean)"
