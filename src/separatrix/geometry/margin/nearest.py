"""Wolfe's algorithm: the point of a hull, or of the difference of two, that is nearest to the origin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .flat import EPS, Flat, Foot, flat_of, foot, grown, shrunk

Indices = NDArray[np.intp]

ENOUGH = 1e-13
"""A point that lowers ‖z‖² by less than this part of it is not worth a step."""


class NearestPoint(NamedTuple):
    """z = Σᵢ λᵢcᵢ, λ > 0, Σλ = 1 in each group, the shortest there is."""

    corral: Indices
    """The points that carry z; their flat has no shorter point."""
    multipliers: Floats
    z: Floats
    zero: bool
    """Whether z is nought but for rounding."""


def nearest(points: Floats, group: Indices, corral: Indices, multipliers: Floats) -> NearestPoint:
    """argmin ‖Σᵢ λᵢcᵢ‖ with λ ≥ 0 and Σλ = 1 in each group, beginning at the corral.  [Wolfe 1976]

    Each round adds the point that lies deepest below the plane through the corral, then walks to the nearest point of
    the corral's flat and drops what the walk runs into. No corral comes twice, so it ends.
    """
    reach = float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))
    flat, here = _settle(points, group, flat_of(points, group, corral, multipliers), multipliers)
    seen, refused = {_mark(flat)}, np.zeros(len(points), dtype=bool)
    while not here.zero:
        scores, length = points @ here.z, float(np.linalg.norm(here.z))
        members = group[flat.corral]
        level = np.bincount(members, weights=scores[flat.corral]) / np.bincount(members)
        depth = np.where(refused, -np.inf, level[group] - scores)
        j = int(depth.argmax())
        if depth[j] <= max(ENOUGH * length**2, 4 * EPS * reach * length):
            break
        larger = grown(points, group, flat, j)
        found = larger and _settle(points, group, larger, np.append(here.multipliers, 0.0))
        if not found or _mark(found[0]) in seen:  # rounding: this point leads nowhere new
            refused[j] = True
            continue
        flat, here = found
        seen.add(_mark(flat))
        refused[:] = False
    return NearestPoint(flat.corral, here.multipliers, here.z, here.zero)


def _mark(flat: Flat) -> bytes:
    return np.sort(flat.corral).tobytes()


def _settle(points: Floats, group: Indices, flat: Flat, weights: Floats) -> tuple[Flat, Foot]:
    """Towards the nearest point of the corral's flat, dropping points until it lies inside the corral."""
    while True:
        here = foot(points, group, flat)
        least = 4 * EPS if here.zero else 0.0
        out = here.multipliers <= least
        if not out.any():
            return flat, here
        fall = np.maximum(weights[out] - here.multipliers[out], np.finfo(float).tiny)
        step = min(1.0, float(np.min(weights[out] / fall)))
        weights = (1 - step) * weights + step * here.multipliers
        keep = ~out | (weights > least)
        if keep.all():  # at least the point that stopped the walk leaves
            keep[np.flatnonzero(out)[weights[out].argmin()]] = False
        corral = flat.corral[keep]
        flat = shrunk(points, group, flat, keep, weights)
        weights = weights[keep][_places(corral, flat.corral)]


def _places(old: Indices, new: Indices) -> Indices:
    """Where each of the new order stands in the old."""
    order = np.argsort(old)
    return order[np.searchsorted(old, new, sorter=order)]  # type: ignore[no-any-return]
